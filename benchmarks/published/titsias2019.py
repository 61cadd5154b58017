"""Titsias and Dellaportas (2019), *Gradient-based adaptive MCMC*, Table 1.

One chain, 20,000 + 20,000 iterations (NUTS 500 + 20,000), means over 10 repeats of acceptance rate
and effective sample sizes (estimator `"geyer"`), and mean and standard deviation of the smallest
one a second of warm-up and sampling, on the authors' machine. Of three numbers of leapfrog steps
the paper shows the best, ``hmc:20`` and ``hmc:10``. It gives no acceptance rate of NUTS but "above
0.7". Results on other data are in a supplement that we have not: rows without figures say what is
run, in the table ``td19-others``.
"""

from __future__ import annotations

from published.ranking import Ranking, of_tables
from published.row import NO_SPREAD, Published

# target method, acceptance, smallest, median, largest, smallest a second and its deviation
_ROWS = """
neal100 gad_mala       0.556  1413.4  1987.4  2580.8 161.70 15.07
neal100 gad_mala_exact 0.541   922.2  2006.3  2691.1  92.34  7.11
neal100 gad_rwm        0.254    27.5    66.9   126.9   3.95  0.66
neal100 am             0.257     8.7    48.6   829.1   3.71  0.87
neal100 rwm            0.261     2.9     8.4  2547.6   1.31  0.06
neal100 mala           0.530     2.9    10.0 12489.2   0.95  0.03
neal100 hmc:20         0.694   306.1  1537.8 19732.4   6.17  3.35
neal100 nuts               - 18479.6 20000.0 20000.0  51.28  1.64
caravan gad_mala       0.621   228.1   750.3  1114.7   9.94  2.64
caravan gad_mala_exact 0.494    66.6   508.3  1442.7   0.70  0.16
caravan gad_rwm        0.234     5.3    34.3   104.5   0.23  0.06
caravan am             0.257     3.2    11.8    62.5   0.16  0.01
caravan rwm            0.242     3.0     9.3    52.5   0.20  0.03
caravan mala           0.543     4.4    28.3   326.0   0.19  0.05
caravan hmc:10         0.711   248.3  2415.7 19778.7   1.10  0.12
caravan nuts               -  7469.5 20000.0 20000.0   5.29  0.38
"""


def _parse(line: str) -> Published:
    """Read one line of the block above."""
    target, method, acceptance, smallest, median, largest, rate, spread = line.split()
    sizes = {"max": largest, "median": median, "min": smallest}
    figures = {name: (float(value), NO_SPREAD) for name, value in sizes.items()}
    if acceptance != "-":
        figures["accept"] = (float(acceptance), NO_SPREAD)
    figures["min/s"] = (float(rate), float(spread))
    return Published("td19", "td19-1", target, method, figures)


OTHER_SETS = ("ripley", "pima", "heart", "australian", "german", "mnist")
METHODS = (
    "gad_mala", "gad_mala_exact", "gad_rwm", "am", "rwm", "mala", "hmc:5", "hmc:10", "hmc:20",
    "nuts",
)  # fmt: skip
_NOT_BEST = (
    ("neal100", "hmc:5"),
    ("neal100", "hmc:10"),
    ("caravan", "hmc:5"),
    ("caravan", "hmc:20"),
)

TITSIAS_2019: tuple[Published, ...] = (
    *(_parse(line) for line in _ROWS.strip().split("\n")),
    *(Published("td19", "td19-1", *row, {}) for row in _NOT_BEST),
    *(
        Published("td19", "td19-others", name, method, {})
        for name in OTHER_SETS
        for method in METHODS
    ),
)

TITSIAS_2019_RANKINGS: tuple[Ranking, ...] = tuple(of_tables(TITSIAS_2019, "min"))

# Figure 1: weight of the entropy that gad_rwm ends with, by the acceptance rate it aims at
FIGURE_1_BETA: dict[float, float] = {0.25: 7.4, 0.4: 2.2}
