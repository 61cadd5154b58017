"""Hirt, Titsias and Dellaportas (2021), *Entropy-based adaptive Hamiltonian Monte Carlo*.

Ten chains that learn together, means over ten runs of the smallest effective sample size (estimator
`"tfp"`, of one chain, averaged over chains) a second after the adaptation, on the authors' machine.
All but Tables 1 and 2 are plots: rows without figures say what is run. The entry 0.6 (395.2) of
Table 1 is as printed.

A method's label is ``entropy_hmc:OBJECTIVE:L`` or ``entropy_hmc:OBJECTIVE:PRECONDITIONER:L``, with
L leapfrog steps.
"""

from __future__ import annotations

from published.ranking import Ranking, of_tables
from published.row import Published

OBJECTIVES = ("gsm", "esjd", "l2hmc")
LOGISTIC_SETS = ("australian", "heart", "pima", "ripley", "german", "caravan")
BEHIND_NUTS = ("australian", "caravan")  # the two sets on which it does worse

# L, then smallest size a second and its spread for each objective: Table 1, then Table 2
_TABLE_1 = """
 1  122.3  15.5  0.1 0.01   0.1 0.01
 5  753.8  22.2  0.1 0.02   0.1 0.02
10  570.0  37.4  0.6 395.2  0.1 0.05
"""
_TABLE_2 = """
 1   63.8   3.9  0.8 1.6    0.3 0.1
 5  390.0   5.0  2.0 5.4    2.7 2.3
10  282.7   7.8  0.9 3.7    0.4 0.9
"""


def _parse(target: str, block: str) -> tuple[Published, ...]:
    """Read one of the blocks above."""
    rows = []
    for line in block.strip().split("\n"):
        steps, *numbers = line.split()
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        for objective, (value, spread) in zip(OBJECTIVES, pairs, strict=True):
            figures = {"chain min/s": (float(value), float(spread))}
            method = f"entropy_hmc:{objective}:{steps}"
            rows.append(Published("hirt-gaussians", "hirt-gaussians", target, method, figures))
    return tuple(rows)


STEPS = (1, 5, 10)
_RUN = (
    *(("hirt-gaussians", name, method) for name in ("ill_conditioned", "gauss51") for method in (
        *(f"hmc:{steps}" for steps in STEPS), "nuts",
    )),
    *(("hirt-anisotropic", "anisotropic_1000", method) for method in (
        *(f"entropy_hmc:{objective}:{steps}" for steps in STEPS for objective in OBJECTIVES),
        *(f"hmc:{steps}" for steps in STEPS), "nuts", "nuts:diag",
    )),
    *(("hirt-anisotropic", "anisotropic_10000", f"entropy_hmc:gsm:{steps}") for steps in STEPS),
    *(("hirt-iid", "iid_10", method) for method in (
        *(f"entropy_hmc:gsm:{steps}" for steps in STEPS), *(f"hmc:{steps}" for steps in STEPS),
        "nuts",
    )),
    *(("hirt-logistic", f"{name}_unit", method) for name in LOGISTIC_SETS for method in (
        *(f"entropy_hmc:gsm:{steps}" for steps in STEPS), "nuts",
    )),
    *(("hirt-cox", target, method) for target in ("cox_8", "cox_16") for method in (
        *(f"entropy_hmc:gsm:{steps}" for steps in STEPS), "rm_const_hmc", "rm_const_mala",
    )),
    *(("hirt-sv", "volatility_sp500", method) for method in (
        "entropy_hmc:gsm:tridiagonal:5", "entropy_hmc:gsm:diag:5", "hmc:5", "nuts",
    )),
    *(("hirt-banana", "banana", method) for method in (
        "entropy_hmc:gsm:realnvp:5", "entropy_hmc:gsm:dense:5", "hmc:5", "nuts",
    )),
)  # fmt: skip

HIRT_2021: tuple[Published, ...] = (
    *_parse("ill_conditioned", _TABLE_1),
    *_parse("gauss51", _TABLE_2),
    *(Published(row[0], *row, {}) for row in _RUN),
)

_GSM = "entropy_hmc:gsm:5"
_SV = "entropy_hmc:gsm:tridiagonal:5"
_BANANA = "entropy_hmc:gsm:realnvp:5"


def _by_seconds(target: str, better: str, worse: str, source: str) -> Ranking:
    """Return an order that the paper plots by seconds, smallest sizes but on the volatilities."""
    experiment = {row.target: row.paper for row in HIRT_2021}[target]
    statistic = "chain median/s" if experiment == "hirt-sv" else "chain min/s"
    return Ranking(experiment, target, better, worse, statistic, source)


HIRT_RANKINGS: tuple[Ranking, ...] = (
    *of_tables(HIRT_2021, "chain min/s"),
    *(
        _by_seconds("anisotropic_1000", _GSM, f"entropy_hmc:{other}:5", "Figure 1")
        for other in OBJECTIVES[1:]
    ),
    *(
        _by_seconds(f"{name}_unit", "nuts", _GSM, "Figures 2, 3, 12 to 17")
        if name in BEHIND_NUTS
        else _by_seconds(f"{name}_unit", _GSM, "nuts", "Figures 2, 3, 12 to 17")
        for name in LOGISTIC_SETS
    ),
    *(
        Ranking(
            "hirt-iid",
            "iid_10",
            f"entropy_hmc:gsm:{steps}",
            f"hmc:{steps}",
            "min/1000",
            "Figure 11",
        )
        for steps in STEPS[1:]
    ),
    _by_seconds("cox_8", _GSM, "rm_const_hmc", "Figure 18"),
    _by_seconds("cox_16", "rm_const_hmc", _GSM, "Figure 4"),
    _by_seconds("volatility_sp500", _SV, "entropy_hmc:gsm:diag:5", "Figure 5"),
    _by_seconds("volatility_sp500", _SV, "nuts", "Figure 5"),
    _by_seconds("banana", _BANANA, "entropy_hmc:gsm:dense:5", "Figure 6"),
    _by_seconds("banana", _BANANA, "nuts", "Figure 6"),
)
