"""Wang, Mohamed and de Freitas (2013), *Adaptive Hamiltonian and Riemann manifold samplers*.

Effective sample sizes (estimator `"geyer"`) by leapfrog steps after the burn-in; ten runs of one
chain each from different starting points. Logistic regressions and Cox process, 1000 + 5000
iterations, are shown as plots only (Figures 2 and 3). Table 1, 10,000 + 20,000 iterations, has no
unit, so that its ratios are what can be compared. Rows without figures say what is run.

``rmhmc`` has the fixed step of Girolami and Calderhead (2011), 0.5; ``rmhmc:steered`` a step
that its warm-up steers to an acceptance of 0.8, which the paper did not compare with. ``hmc:fixed``
is a baseline of ours, in the middle of what `ahmc` chooses from. Figure 1 has 1000 draws of
``hmc:STEP:L``, each accepted "around 0.7"; the first of the three has "good behavior and low
auto-correlation".
"""

from __future__ import annotations

import numpy as np

from published.ranking import Ranking
from published.row import Published

LOGISTIC_SETS = ("australian", "german", "heart", "pima", "ripley")
METHODS = ("ahmc", "nuts", "hmc:fixed", "armhmc", "rmhmc", "rmhmc:steered")
FIGURE_1 = ("hmc:0.16:40", "hmc:0.16:50", "hmc:0.15:50")

# Table 1, effective size by leapfrog steps: smallest, median, largest, with standard deviations
TABLE_1 = {
    "ahmc": {"min": (1.3, 0.1), "median": (6.9, 0.7), "max": (14.9, 1.4)},
    "nuts": {"min": (0.7, 0.3), "median": (3.5, 1.6), "max": (9.0, 2.8)},
}

_RUN = (
    *(("wang-figure2", f"{name}_wide", method) for name in LOGISTIC_SETS for method in METHODS),
    *(("wang-figure3", "cox_joint_64", method) for method in ("ahmc", "nuts", "hmc:fixed")),
    *(("wang-figure3", "cox_16", method) for method in METHODS),
    *(("wang-figure3", "cox_64", method) for method in ("armhmc", "rmhmc")),
    *(("wang-table1", "volatility_2000", method) for method in ("ahmc", "nuts", "hmc:fixed")),
    *(("wang-bnn", "dexter", method) for method in ("ahmc", "nuts")),
)

WANG_2013: tuple[Published, ...] = (
    *(
        Published("wang-figure1", "wang-figure1", "gauss2d_99", method, {"accept": (0.7, np.nan)})
        for method in FIGURE_1
    ),
    *(Published(row[0], *row, {}) for row in _RUN),
)

_FIGURE_1 = tuple(
    Ranking("wang-figure1", "gauss2d_99", FIGURE_1[0], other, "min/1000 steps", "Figure 1")
    for other in FIGURE_1[1:]
)

_FIGURE_2 = tuple(
    Ranking("wang-figure2", f"{name}_wide", *pair, "min/1000 steps", "Figure 2")
    for name in LOGISTIC_SETS
    for pair in (("ahmc", "nuts"), ("armhmc", "rmhmc"))
)
_FIGURE_3 = (
    Ranking("wang-figure3", "cox_joint_64", "ahmc", "nuts", "min/1000 steps", "Figure 3"),
    Ranking("wang-figure3", "cox_16", "ahmc", "nuts", "min/1000 steps", "Figure 3, at 64 x 64"),
    Ranking("wang-figure3", "cox_16", "armhmc", "rmhmc", "min/1000 steps", "Figure 3, at 64 x 64"),
    Ranking("wang-figure3", "cox_64", "armhmc", "rmhmc", "min/1000 steps", "Figure 3"),
)
_TABLE_1 = tuple(
    Ranking(
        "wang-table1", "volatility_2000", "ahmc", "nuts", f"{name}/1000", "Table 1",
        TABLE_1["ahmc"][name][0] / TABLE_1["nuts"][name][0],
    )
    for name in ("min", "median", "max")
)  # fmt: skip

# Almost all of the points of Figure 3, and typically those of Figure 2, are in this order.
WANG_RANKINGS: tuple[Ranking, ...] = (*_FIGURE_1, *_FIGURE_2, *_FIGURE_3, *_TABLE_1)

# Table 2, errors on the test texts of Dexter: key -> name and error
DEXTER_ERRORS: dict[str, tuple[str, float]] = {
    "expert": ("HMC tuned by experts", 0.0510),
    "mean": ("AHMC, mean of eight networks", 0.0498),
    "median": ("AHMC, median of eight networks", 0.0458),
    "winner": ("winning entry, Dirichlet diffusion trees", 0.0390),
    "vote": ("AHMC, majority vote", 0.0355),
}
