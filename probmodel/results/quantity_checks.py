"""Checks of the quantities: did the chains agree, and are there enough draws."""

from __future__ import annotations

import math

import numpy as np

from probmodel.errors import beyond
from probmodel.results.findings import MOST_NAMED, Finding, listed, share, worst
from probmodel.results.quantities import Quantities
from probmodel.types import Array

RHAT_LIMIT = 1.01
ESS_LIMIT = 400.0
_SEPARATION_RHAT = 1.1  # from here on it is worth asking whether chains sit in different places
_SEPARATION_GAP = 3.0  # distance between groups of chains, in standard deviations within chains
_LARGEST_FACTOR = 20.0  # beyond this, more draws are no advice


def check_not_finite(found: Quantities) -> list[Finding]:
    """Look for quantities with draws that are NaN or infinite."""
    bad = np.isnan(found.convergence.ess_bulk)
    counts = np.zeros(len(bad))
    for index in np.flatnonzero(bad):
        counts[index] = np.count_nonzero(~np.isfinite(found.row(int(index))))
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
    return [Finding("not_finite_draws", message, names)]


def check_rhat(found: Quantities) -> list[Finding]:
    """Look for quantities on which chains, or halves of chains, disagree."""
    rhat = found.convergence.rhat
    flagged = rhat > RHAT_LIMIT
    if not flagged.any():
        return []
    top = worst(rhat, flagged, highest=True)
    names = tuple(found.names[i] for i in top)
    what = listed(names, [_rhat_text(rhat[i]) for i in top], int(flagged.sum()))
    message = (
        f"R-hat above {RHAT_LIMIT} for {_count(flagged)}: {what}. The chains have not converged "
        "to the same distribution: raise warmup and draws; if that does not help, reparameterise "
        "the model or standardise its data."
    )
    return [Finding("rhat", message, names)]


def check_ess(found: Quantities, draws: int) -> list[Finding]:
    """Look for quantities with too few effective draws, in the bulk or in the tails."""
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
            f"Their {unsure} are uncertain: {_more_draws(draws, float(ess[top[0]]))}."
        )
        findings.append(Finding(kind, message, names))
    return findings


def check_separation(found: Quantities, lp: Array | None = None) -> list[Finding]:
    """Look for groups of chains that stay in different places: several modes, perhaps.

    Parameters
    ----------
    found : the quantities
    lp : (chains, draws), log densities
    """
    apart = []
    for index in np.flatnonzero(found.convergence.rhat > _SEPARATION_RHAT):
        gap, upper = _gap(found.row(int(index)))
        if gap > _SEPARATION_GAP:
            apart.append((gap, int(index), upper))
    if not apart:
        return []
    apart.sort(key=lambda entry: -entry[0])
    _, widest, upper = apart[0]
    # Other quantities that tell the same chains apart.
    alike = [i for _, i, other in apart if (other == upper).all() or (other != upper).all()]
    row, names = found.row(widest), [found.names[i] for i in alike]
    low, high = row[~upper].mean(), row[upper].mean()
    others = listed(names[1:MOST_NAMED], [""] * len(names[1:MOST_NAMED]), len(names) - 1)
    message = (
        f"Chains sit in different places and do not cross: {names[0]} is near {low:.3g} in "
        f"{_chains(~upper)} and near {high:.3g} in {_chains(upper)}"
        f"{f', and so for {others}' if others else ''}.{_nats(lp, upper)} The posterior may have "
        "several modes, whose weights these draws do not show: constrain parameters that can "
        "swap (an ordered vector), or give inits in the region that is meant."
    )
    return [Finding("separated_chains", message, tuple(names[:MOST_NAMED]))]


def _nats(lp: Array | None, upper: Array) -> str:
    """Say how far apart the log densities of two groups of chains are."""
    difference = 0.0 if lp is None else float(lp[upper].mean() - lp[~upper].mean())
    if difference == 0.0 or not math.isfinite(difference):
        return ""
    word = "higher" if difference > 0.0 else "lower"
    return f" The log density of the latter is {abs(difference):.3g} {word} on average."


def _gap(row: Array) -> tuple[float, Array]:
    """Widest gap between chain means, in standard deviations within chains, and who is above.

    The gap is 0 when chains drift: then they are still on their way, not at different modes.
    """
    half = row.shape[1] // 2
    means = row.mean(axis=1)
    deviation = float(np.sqrt(row.var(axis=1).mean()))
    drift = np.abs(row[:, :half].mean(axis=1) - row[:, half:].mean(axis=1)).max()
    ordered = np.sort(means)
    gaps = np.diff(ordered)
    at = int(gaps.argmax())
    upper = means > 0.5 * (ordered[at] + ordered[at + 1])
    if deviation == 0.0 or drift > deviation:
        return 0.0, upper
    return float(gaps[at]) / deviation, upper


def _chains(members: Array) -> str:
    """``"chains 0, 2"``, or their number when there are many."""
    numbers = np.flatnonzero(members)
    if len(numbers) > 6:
        return f"{len(numbers)} chains"
    return f"chain{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _more_draws(draws: int, ess: float) -> str:
    factor = 1.2 * ESS_LIMIT / max(ess, 1e-300)
    if factor > _LARGEST_FACTOR:
        return "far more draws would be needed; raise warmup, reparameterise, or try another method"
    digits = 10.0 ** max(0, math.floor(math.log10(draws * factor)) - 1)
    return f"raise draws to about {math.ceil(draws * factor / digits) * int(digits)}"


def _count(flagged: Array) -> str:
    return f"{int(flagged.sum())} of {len(flagged)} quantities"


def _rhat_text(rhat: float) -> str:
    if rhat >= 1.1:
        return f"{rhat:.2f}" if rhat < 100 else "> 100"
    return beyond(rhat, RHAT_LIMIT, 3)
