"""Tails: transitions that begin far out, and how they fare beside those that begin in the middle.

    F      distribution of the draws of one quantity, from all chains
    alpha  mean acceptance probability of transitions that begin at draws of that quantity
              below F^-1(0.01): lower tail;  above F^-1(0.99): upper tail;  between the quartiles

Where steps are too long for a tail, proposals from there are rejected, and those to there as well:
chains seldom come, and stay for long when they do. Draws that are missing in all chains show in no
R-hat and in no effective sample size; what shows is the ratio of alpha in the tail to alpha in the
middle. It has to be below `FALLEN` by more than chance explains.

A chain that stays at a place begins there many times with the same fate. That counts as often, as
the time that chains spend out there does, but the standard error is that of so many independent
transitions as there are places. Where iterations are thinned out, a transition begins somewhat
after the draw that precedes it, so that a difference between tail and middle looks smaller. Members
of an ensemble, which move by turns, are not judged.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from probmodel.results.convergence import screening_stride
from probmodel.results.findings import Finding, listed, worst
from probmodel.results.quantities import Quantities, slabs
from probmodel.threads import shared
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.inference.sample_run import SampleRun
    from probmodel.samplers.base import Sampler

OUTER = 0.01  # probability of a tail
FALLEN = 0.4  # where tails are right the ratio is mostly above 0.6; 0.42 is the least that was seen
_LEAST = 20  # transitions from a tail, fewer of which tell nothing
_PLACES = 5  # places where they begin, likewise
_TELLING = 8  # coordinates that tell whether a chain has moved
_ERRORS = 2.0  # standard errors of alpha in a tail by which it has to be lower


class Tail(NamedTuple):
    """One tail of one quantity.

    Attributes
    ----------
    ratio : alpha of the transitions that begin there over alpha in the middle
    error : its standard error, as far as alpha in the tail has one
    bound : the quantile from which on it is the tail
    """

    ratio: float
    error: float
    bound: float

    @property
    def fallen(self) -> bool:
        """Whether transitions fare far worse there."""
        return self.ratio + _ERRORS * self.error < FALLEN


def check_tails(run: SampleRun, found: Quantities, sampler: Sampler) -> list[Finding]:
    """Look for quantities whose tails are seldom entered or left."""
    rate = run.stats.get("acceptance_rate")
    if rate is None or not np.isfinite(rate).all() or sampler.coupling == "ensemble":
        return []
    first, stride = _first_times(run.x), screening_stride(*rate.shape)

    def of_rows(slab: Array) -> list[tuple[Tail, Tail]]:
        rows = np.array(slab, dtype=np.float64, order="C")
        return [_screened(row, rate, first, stride) for row in rows]

    sides = list(itertools.chain(*shared(of_rows, slabs(found.blocks))))
    at = np.array([pair[0].ratio > pair[1].ratio for pair in sides], dtype=int)
    low = [pair[side] for pair, side in zip(sides, at, strict=True)]
    flagged = np.array([tail.fallen for tail in low], dtype=bool)
    if not flagged.any():
        return []
    top = worst(np.array([tail.ratio for tail in low]), flagged, highest=False)
    names = tuple(found.names[i] for i in top)
    texts = [
        f"{'above' if at[i] else 'below'} {low[i].bound:.3g} ({low[i].ratio:.2f})" for i in top
    ]
    message = (
        "In the tails transitions are accepted far less often than in the middle, for "
        f"{listed(names, texts, int(flagged.sum()))}: the outermost 1 % of the draws, with the "
        "ratio of the two acceptance rates in brackets. The tails are visited too seldom, which "
        "R-hat and ESS do not show, so that tail probabilities and quantiles may be wrong. "
        f"{_advice(sampler)}"
    )
    return [Finding("tails", message, names)]


def _first_times(x: Array) -> Array:
    """Whether the place of a draw differs from that of the draw before: (chains, draws).

    Of many coordinates a few tell: where only others change, errors come out somewhat too large.
    """
    few = x[:, :, np.unique(np.linspace(0, x.shape[2] - 1, _TELLING).astype(int))]
    first = np.ones(x.shape[:2], dtype=bool)
    first[:, 1:] = (few[:, 1:] != few[:, :-1]).any(axis=2)
    return first


def _screened(row: Array, rate: Array, first: Array, stride: int) -> tuple[Tail, Tail]:
    """Do what `tails` does, where every so many transitions do not tell that all is well."""
    if stride > 1:
        found = tails(row, rate, first, stride)
        if all(FALLEN < tail.ratio - _ERRORS * tail.error < np.inf for tail in found):
            return found
    return tails(row, rate, first)


def tails(row: Array, rate: Array, first: Array, stride: int = 1) -> tuple[Tail, Tail]:
    """Compare the lower and the upper tail of one quantity, (chains, draws), with its middle.

    ``rate`` is the acceptance of the transitions that ended at the draws, one in ``stride``;
    ``first`` tells whether the place of a draw differs from that of the draw before. The ratio of a
    tail is infinite where too few transitions begin there.
    """
    nothing = Tail(np.inf, 0.0, np.nan)
    start, fate, new = (a[:, ::stride] for a in (row[:, :-1], rate[:, 1:], first[:, :-1]))
    if start.size * OUTER < _LEAST or not np.isfinite(row).all():
        return nothing, nothing
    levels = (OUTER, 0.25, 0.75, 1.0 - OUTER)
    at = row if stride == 1 else start
    ranks = [int(level * (at.size - 1)) for level in levels]
    lower, left, right, upper = np.partition(at, ranks, axis=None)[ranks]
    middle = fate[(start > left) & (start < right)]
    typical = float(middle.mean()) if middle.size >= _LEAST else 0.0

    def compared(outside: Array, bound: float) -> Tail:
        places = np.count_nonzero(new[outside])
        if np.count_nonzero(outside) < _LEAST or places < _PLACES or typical == 0.0:
            return nothing
        own = fate[outside] / typical
        return Tail(float(own.mean()), float(own.std() / np.sqrt(places)), bound)

    return compared(start < lower, float(lower)), compared(start > upper, float(upper))


def _advice(sampler: Sampler) -> str:
    target = sampler.aim
    shorter = "step_size" if target is None else f"a higher target_accept; it was {target:g}"
    advice = f"Take shorter steps ({shorter}) and compare, or give heavy tails a stronger prior."
    if sampler.name == "fisher_hmc":
        return advice
    return f"Use the default method, which shortens steps where they are too long. {advice}"
