"""Checks of the quantities: did the chains agree, and are there enough draws."""

from __future__ import annotations

import math

import numpy as np

from probmodel.errors import beyond
from probmodel.results.convergence import ESS_LIMIT, RHAT_LIMIT
from probmodel.results.findings import Finding, listed, share, worst
from probmodel.results.quantities import Quantities
from probmodel.types import Array

_LARGEST_FACTOR = 20.0  # beyond this, more draws are no advice

_RHAT_ADVICE = (
    ": raise warmup and draws; if that does not help, reparameterise the model or standardise its "
    "data."
)


def check_not_finite(found: Quantities) -> list[Finding]:
    """Look for quantities with draws that are NaN or infinite."""
    bad = np.isnan(found.convergence.ess_bulk)
    counts, infinite = np.zeros((2, len(bad)))
    for index in np.flatnonzero(bad):
        row = found.row(int(index))
        counts[index] = np.count_nonzero(~np.isfinite(row))
        infinite[index] = np.count_nonzero(np.isinf(row))
    flagged = counts > 0
    if not flagged.any():
        return []
    top = worst(counts, flagged, highest=True)
    total = found.row(int(top[0])).size
    names = tuple(found.names[i] for i in top)
    what = listed(names, [f"in {share(counts[i], total)}" for i in top], int(flagged.sum()))
    message = (
        f"{_count(flagged)} with draws that are not finite: {what}. Their diagnostics and "
        "summaries are not defined; look for overflow or a division by zero in how they are "
        "computed."
    )
    if infinite.any():
        message += " A parameter that is infinite has no proper posterior: give it a proper prior."
    return [Finding("not_finite_draws", message, names)]


def check_rhat(found: Quantities, restarted: int = 0, modes: bool = False) -> list[Finding]:
    """Look for quantities on which chains, or halves of chains, disagree.

    So many chains restarted in the warm-up, which may have been wrong. Where modes were found, more
    draws are no advice.
    """
    rhat = found.convergence.rhat
    flagged = rhat > RHAT_LIMIT
    if not flagged.any():
        return []
    top = worst(rhat, flagged, highest=True)
    names = tuple(found.names[i] for i in top)
    what = listed(names, [_rhat_text(rhat[i]) for i in top], int(flagged.sum()))
    message = (
        f"R-hat above {RHAT_LIMIT} for {_count(flagged)}: {what}. The chains have not converged "
        f"to the same distribution{'; see the modes.' if modes else _RHAT_ADVICE}"
    )
    if restarted:
        chains = "1 chain" if restarted == 1 else f"{restarted} chains"
        message += (
            f" {chains} restarted in the warm-up from where others were: restarts=False shows "
            "what they find by themselves."
        )
    return [Finding("rhat", message, names)]


def check_ess(found: Quantities, draws: int, modes: bool = False) -> list[Finding]:
    """Look for quantities with too few effective draws, in the bulk or in the tails.

    Where modes were found, more draws are no advice.
    """
    findings = []
    for kind, word, ess in (
        ("ess_bulk", "bulk", found.convergence.ess_bulk),
        ("ess_tail", "tail", found.convergence.ess_tail),
    ):
        flagged = ess < ESS_LIMIT
        if not flagged.any():
            continue
        top = worst(ess, flagged, highest=False)
        names = tuple(found.names[i] for i in top)
        what = listed(names, [beyond(ess[i], ESS_LIMIT, 0) for i in top], int(flagged.sum()))
        unsure = "means and medians" if word == "bulk" else "intervals"
        message = (
            f"{word.capitalize()} ESS below {ESS_LIMIT:.0f} for {_count(flagged)}: {what}. "
            f"Their {unsure} are uncertain"
            f"{'; see the modes.' if modes else _more_draws(draws, float(ess[top[0]]))}"
        )
        findings.append(Finding(kind, message, names))
    return findings


def _more_draws(draws: int, ess: float) -> str:
    factor = 1.2 * ESS_LIMIT / max(ess, 1e-300)
    if factor > _LARGEST_FACTOR:
        return (
            ": far more draws would be needed; raise warmup, reparameterise, or try another method."
        )
    digits = 10.0 ** max(0, math.floor(math.log10(draws * factor)) - 1)
    return f": raise draws to about {math.ceil(draws * factor / digits) * int(digits)}."


def _count(flagged: Array) -> str:
    return f"{int(flagged.sum())} of {len(flagged)} quantities"


def _rhat_text(rhat: float) -> str:
    if rhat >= 1.1:
        return f"{rhat:.2f}" if rhat < 100 else "> 100"
    return beyond(rhat, RHAT_LIMIT, 3)
