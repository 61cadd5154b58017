"""Modes: places that chains never leave, or seldom.

    f_k      density between the k-th and the next of `SHARES` + 1 quantiles of the draws
    valley   k with the smallest f_k over the lower of the highest densities on either side
    p        share of the draws above the middle c of the valley
    X        how often chains cross c, over the number 2 p (1 - p) that is expected of as many
             independent draws
    n        how often chains go from one of the two highest densities beyond the other

Only quantities are looked at of which R-hat says that chains disagree. If each chain stays where it
is, and their means fall into groups far apart, these are named. If chains do cross, but seldom, and
hardly any draw lies between two places, these are named: a chain's share of the draws at each says
little of its probability. Components of a mixture whose labels can swap are the usual cause. Chains
that hardly move at all leave valleys between them too; so n has to be `FEWEST` at least. Where the
posterior has a symmetry, see `symmetries`, the finding says so, and whether it explains the modes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np

from probmodel.results.angles import across_the_end
from probmodel.results.findings import MOST_NAMED, Finding, listed, share
from probmodel.results.quantities import Quantities
from probmodel.results.symmetries import DISAGREE, symmetry
from probmodel.types import Array, Posterior

_GAP = 3.0  # distance between groups of chains, in standard deviations within chains
_VALLEY = 0.2  # density between two modes, over that at either of them
_SELDOM = 0.3  # crossings, over those of independent draws
_MOST = 100  # quantities that are searched for modes
SHARES = 50  # of equally many draws, between quantiles
FEWEST = 6  # n
NARROWEST = 1e-3  # of the distance between quantiles, in that of the outermost ones
_ADVICE = (
    "constrain parameters that can swap (an ordered vector), give inits in the region that is "
    "meant, or sample all of them with method='tempering', if all priors are proper."
)
_SEVERAL = f"The posterior may have several modes, whose weights these draws do not show: {_ADVICE}"
_CAN_SWAP = (
    "If elements of a parameter can swap, as the components of a mixture can, their summaries mean "
    f"nothing: {_ADVICE}"
)


def check_modes(
    found: Quantities, posterior: Posterior, draws: Mapping[str, Array], lp: Array | None = None
) -> list[Finding]:
    """Look for places that chains do not leave, else for places between which they seldom cross.

    ``draws`` map names to (chains, draws, *shape), and ``lp`` are log densities; the density that
    was sampled may have symmetries.
    """
    disagree = [found.names[i] for i in np.flatnonzero(found.convergence.rhat > DISAGREE)]
    remedy = partial(_remedy, lambda: symmetry(posterior, draws, disagree))
    angle = partial(across_the_end, posterior, draws)
    return _check_separation(found, lp, remedy, angle) or _check_crossings(found, remedy)


def _remedy(symmetric: Callable[[], tuple[str, bool]], otherwise: str) -> str:
    """Say what to do: about a symmetry, about more than that, or what is said ``otherwise``."""
    text, explained = symmetric()
    if not text:
        return otherwise
    return text if explained else f"{text}: {_ADVICE}"


class Modes(NamedTuple):
    """Two modes of a quantity, and how often chains go from one to the other.

    Attributes
    ----------
    low, high : where the density is highest on either side
    upper : share of the draws at the higher one
    crossings : n, over all chains
    """

    low: float
    high: float
    upper: float
    crossings: int


def _check_crossings(found: Quantities, remedy: Callable[[str], str]) -> list[Finding]:
    """Look for quantities with two modes between which chains seldom cross."""
    rhat = found.convergence.rhat
    disagree = sorted(np.flatnonzero(rhat > DISAGREE), key=lambda i: -rhat[i])[:_MOST]
    modes = {found.names[i]: two_modes(found.row(int(i))) for i in disagree}
    several = {name: pair for name, pair in modes.items() if pair is not None}
    if not several:
        return []
    names = tuple(several)[:MOST_NAMED]
    places = "; ".join(
        f"{name} near {pair.low:.3g} in {share(1.0 - pair.upper, 1.0)} of the draws and near "
        f"{pair.high:.3g} in {share(pair.upper, 1.0)}, crossed {pair.crossings} times"
        for name, pair in ((name, several[name]) for name in names)
    )
    more = f"; and {len(several) - len(names)} more" if len(several) > len(names) else ""
    message = (
        "The posterior has modes between which chains seldom cross, so that their weights are "
        f"uncertain: {places}{more}. {remedy(_CAN_SWAP)}"
    )
    return [Finding("several_modes", message, names)]


def two_modes(row: Array) -> Modes | None:
    """Find two modes of a quantity, (chains, draws), if chains seldom cross between them."""
    q = np.quantile(row, np.linspace(0.0, 1.0, SHARES + 1))
    if not (np.isfinite(q[[0, -1]]).all() and q[1] < q[-2]):
        return None
    middle = 0.5 * (q[1:] + q[:-1])
    f = 1.0 / np.maximum(np.diff(q), NARROWEST * (q[-2] - q[1]))
    below, above = np.maximum.accumulate(f), np.maximum.accumulate(f[::-1])[::-1]
    ratio = f[1:-1] / np.minimum(below[:-2], above[2:])
    k = int(np.argmin(ratio)) + 1
    low, high = middle[np.argmax(f[:k])], middle[k + 1 + np.argmax(f[k + 1 :])]
    upper = row > middle[k]
    p = float(np.mean(upper))
    crossings = np.count_nonzero(upper[:, 1:] != upper[:, :-1])
    seldom = crossings < _SELDOM * 2.0 * p * (1.0 - p) * upper[:, 1:].size
    passages = sum(_passages(chain, low, high) for chain in row)
    if ratio[k - 1] < _VALLEY and seldom and passages >= FEWEST:
        return Modes(float(low), float(high), p, passages)
    return None


def _passages(chain: Array, low: float, high: float) -> int:
    """Count how often a chain goes from one value beyond another, either way."""
    side = np.where(chain >= high, 1, np.where(chain <= low, -1, 0))
    side = side[side != 0]
    return int(np.count_nonzero(side[1:] != side[:-1]))


def _check_separation(
    found: Quantities,
    lp: Array | None,
    remedy: Callable[[str], str],
    angle: Callable[[str, Array, float], str],
) -> list[Finding]:
    """Look for groups of chains that stay in different places."""
    apart = []
    for index in np.flatnonzero(found.convergence.rhat > DISAGREE):
        gap, upper = _gap(found.row(int(index)))
        if gap > _GAP:
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
        f"{f', and so for {others}' if others else ''}.{_nats(lp, upper)} "
        f"{angle(names[0], row, float(high - low)) or remedy(_SEVERAL)}"
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
