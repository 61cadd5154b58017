"""Mass matrix adaptation of `fisher_hmc`, from the scores and draws of its trajectories.

    x, g      draws and their scores                                        (chains, dim)
    s         score increments over trajectories, sqrt(alpha) (g(y) - g(x)) (chains, dim)
    F         Fisher matrix, the covariance of scores                       (dim, dim)
    R         root of the inverse of the sum of signals, A = R R'           (dim, dim)
    C         root of the inverse mass matrix                               see `numerics.roots`
    Sigma     covariance of the draws of a window                           (dim, dim)
    U, e      eigenvectors and eigenvalues of C^-1 Sigma C'^-1              (dim, dim), (dim,)

A dense C begins as R, scaled so that the entries of C'g have mean square one over the trajectories
so far; later ones weigh more. (The scores at one time are too few where chains and parameters are
few.) By the information inequality F^-1 is the smallest covariance that these scores allow: for a
posterior that is not normal, some directions are wider, in which trajectories would take long.
Where a window of draws shows that beyond chance, C is widened by e^(1/4), which makes the inverse
mass matrix along those directions the geometric mean of F^-1 and Sigma; that is the best choice for
a normal density fitted to both (Seyboldt, Carlson and Carpenter, 2026, arXiv:2603.18845). Distances
between chains count little, because chains in different modes would widen C by the distance between
the modes.

The diagonal and the low-rank kind take that geometric mean for all directions, from the draws and
the scores of a window, as `adaptation.low_rank` says; their memory is O(dim) a draw kept. Chains
that lie further apart than they travel are moved towards each other first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probmodel.adaptation.fisher_root import downdate, kept, winsorised
from probmodel.adaptation.low_rank import halves, low_rank, scales
from probmodel.adaptation.welford import Moments, add_batch, no_moments
from probmodel.numerics.roots import Root, transposed_times
from probmodel.samplers.base import Info, State
from probmodel.samplers.langevin.fisher_warmup import FORGETTING, LONGEST_SIGNAL
from probmodel.types import Array

BEYOND_CHANCE = 1.5  # times the largest eigenvalue that as many independent draws would show
ENOUGH = 2  # draws a dimension, for directions to be compared
TRAVELLED = 4.0  # times the variance within chains, for the whole variance at most
MANY_ROWS = 2048  # draws of a window, from which on ever fewer are kept
AT_ONCE = 8  # transitions of which a dense shape learns at a time
LARGEST_SHARE = 4.0  # times the median over chains, for what one chain contributes
NO_SUMS = np.zeros((1, 1))  # of whatever number of chains and parameters
NO_SQUARES = np.ones(1)
FEWEST_ROWS = 20  # of which something is learned
FEWEST_TIMES = 10  # of a window, for what lies between chains to be compared with what they travel


class Seen(NamedTuple):
    """A transition: its end and the scores there, those at both ends, and its outcome."""

    x: Array
    grad: Array
    before: Array
    after: Array
    accept_prob: Array
    finite: Array


class DenseShape(NamedTuple):
    """A dense root, learned from score increments and the draws of a window.

    Attributes
    ----------
    R : (dim, dim)
    n : number of updates of R
    moments : of the draws of the window
    sums : (chains, dim), of each chain's
    squares : (chains,), mean square of each chain's scores whitened by R; later trajectories weigh
        more
    waiting : transitions not used for adaptation yet; several are used at once, which takes a
        fraction of the time
    times : transitions that there have been
    """

    R: Array
    n: int
    moments: Moments
    sums: Array = NO_SUMS
    squares: Array = NO_SQUARES
    waiting: tuple[Seen, ...] = ()
    times: int = 0

    def learn(self, state: State, info: Info, count: int) -> DenseShape:
        """Take in a transition of all chains."""
        before, after = info.previous.grad, info.proposal.grad
        finite = np.isfinite(info.proposal.logp)
        seen = Seen(state.x, state.grad, before, after, info.accept_prob, finite)
        shape = self._replace(waiting=(*self.waiting, seen), times=count + 1)
        return shape.learned() if len(shape.waiting) == AT_ONCE else shape

    def learned(self) -> DenseShape:
        """Learn from the transitions that are waiting."""
        if not self.waiting:
            return self
        seen = Seen(*map(np.array, zip(*self.waiting, strict=True)))
        rates = learning_rate(self.n + np.arange(len(self.waiting) + 1))
        keep = kept(rates[1:], rates[:-1])
        with np.errstate(over="ignore", invalid="ignore"):
            weight = seen.accept_prob * (bounded(self.squares) / self.squares)
            signals = np.sqrt(weight)[:, :, None] * (seen.after - seen.before)
        share = np.broadcast_to(_left(keep)[:, None], weight.shape)[seen.finite]
        signals = winsorised(signals[seen.finite], LONGEST_SIGNAL) * np.sqrt(share)[:, None]
        R = downdate(self.R, signals, float(np.prod(keep)))
        n, x = self.n + len(keep), seen.x.reshape(-1, len(R))
        squares = self._squares(R / np.sqrt(rates[-1]), seen.grad)  # R R' is gamma / the mean
        moments, sums = add_batch(self.moments, x), self.sums + seen.x.sum(axis=0)
        return DenseShape(R, n, moments, sums, squares)

    def _squares(self, R: Array, grad: Array) -> Array:
        """Return the mean squares with those of some times: (times, chains, dim)."""
        found = mean_squares(R, grad.reshape(-1, len(R))).reshape(grad.shape[:2])
        found = np.where((found > 0.0) & (found < np.inf), found, self.squares)
        rates = learning_rate(self.times - len(grad) + 1 + np.arange(len(grad)))
        past = 1.0 - rates
        return np.asarray(np.prod(past) * self.squares + (rates * _left(past)) @ found)

    def root(self, state: State, previous: Root) -> Root:
        """Root of the inverse mass matrix, at the end of a window, of what has been learned."""
        C = self.R / np.sqrt(learning_rate(self.n) * np.mean(bounded(self.squares)))
        n, dim = self.moments.n, len(C)
        if n < ENOUGH * dim:
            return C
        D = np.linalg.inv(C)
        with np.errstate(over="ignore", invalid="ignore"):
            whitened = D @ (self.moments.scatter / n) @ D.T
            away = (self.sums * (len(self.sums) / n) - self.moments.mean) @ D.T
        if not (np.isfinite(whitened).all() and np.isfinite(away).all()):
            return C
        e, U = np.linalg.eigh(whitened)
        between = np.mean(np.square(away @ U), axis=0)
        e = np.minimum(e, TRAVELLED * (e - between))
        edge = BEYOND_CHANCE * (1.0 + np.sqrt(dim / n)) ** 2
        return np.asarray(C @ (U * np.where(e > edge, np.abs(e) ** 0.25, 1.0)))

    def next_window(self) -> DenseShape:
        """Forget the draws, not the scores."""
        return self._replace(moments=no_moments(len(self.R)), sums=NO_SUMS)

    def restarted(self, rows: Array) -> DenseShape:
        """Take the squares of the chains that others go on from, and forget all draws.

        A chain that begins again did not travel from where it was.
        """
        shape = self.learned()
        return shape.next_window()._replace(squares=shape.squares[rows])


class SampledShape(NamedTuple):
    """A diagonal root, or one of low rank beside a diagonal, from the draws of a window.

    Attributes
    ----------
    rank : whether there is more than a diagonal
    rows : draws and their scores, (chains, dim) each
    """

    rank: bool
    rows: tuple[tuple[Array, Array], ...] = ()

    def learn(self, state: State, info: Info, count: int) -> SampledShape:
        """Take in a transition of all chains, or leave it out where there are many."""
        stride = 1 + len(self.rows) * len(state.x) // MANY_ROWS
        return self if count % stride else self._replace(rows=(*self.rows, (state.x, state.grad)))

    def learned(self) -> SampledShape:
        """Return itself: nothing is waiting."""
        return self

    def root(self, state: State, previous: Root) -> Root:
        """Root of the inverse mass matrix, at the end of a window."""
        if len(self.rows) * len(state.x) < FEWEST_ROWS:
            return previous
        x, grad = (np.stack(part) for part in zip(*self.rows, strict=True))
        if not (np.isfinite(x).all() and np.isfinite(grad).all()):
            return previous
        half = halves(np.ones(x.shape[:2], dtype=bool))
        x, grad = (part.reshape(-1, x.shape[-1]) for part in (together(x), grad))
        return low_rank(x, grad, half) if self.rank else scales(x, grad)

    def next_window(self) -> SampledShape:
        """Forget the draws."""
        return SampledShape(self.rank)

    def restarted(self, rows: Array) -> SampledShape:
        """Forget the draws."""
        return self.next_window()


Shape = DenseShape | SampledShape


def together(x: Array) -> Array:
    """Move chains towards each other that lie further apart than they travel: (n, chains, dim).

    In each direction in which means of chains differ, the whole variance becomes `TRAVELLED` times
    that within chains, if it is more; after fewer than `FEWEST_TIMES`, when none has gone far, it
    stays as it is.
    """
    if len(x) < FEWEST_TIMES:
        return x
    means = x.mean(axis=0)
    own, away = x - means, means - means.mean(axis=0)
    scale = np.sqrt(np.mean(np.square(own), axis=(0, 1)))
    scale[scale == 0.0] = 1.0
    U, s, V = np.linalg.svd(away / scale, full_matrices=False)
    within = np.mean(np.square(own / scale @ V.T), axis=(0, 1))
    longest = np.sqrt((TRAVELLED - 1.0) * within * len(means))
    return x - (U * np.maximum(s - longest, 0.0)) @ V * scale


def dense_shape(R: Array, n: int, chains: int) -> DenseShape:
    """Begin with R after ``n`` updates."""
    return DenseShape(R, n, no_moments(len(R)), squares=np.ones(chains))


def scaled(root: Array, state: State) -> Array:
    """Scale a root, (dim, dim) or (dim,), so that the entries of C'g have mean square one."""
    square = float(np.mean(mean_squares(root, state.grad)))
    return np.asarray(root / np.sqrt(square)) if 0.0 < square < np.inf else root


def mean_squares(root: Array, grad: Array) -> Array:
    """Mean square of the entries of C'g, for each score."""
    with np.errstate(over="ignore"):
        whitened = transposed_times(root, grad)
        return np.asarray(np.vecdot(whitened, whitened) / whitened.shape[1])


def bounded(squares: Array) -> Array:
    """Bound what chains contribute: those in a far narrower place would decide alone."""
    return np.minimum(squares, LARGEST_SHARE * median(squares))


def median(values: Array) -> float:
    """Median of a few numbers, for which `np.median` would take ten times as long."""
    ordered, half = np.sort(values), len(values) // 2
    return float(ordered[half] + ordered[-1 - half]) / 2.0


def _left(keep: Array) -> Array:
    """Return what is left of each of some values in the end, if each one scales those before."""
    return np.asarray(np.cumprod(np.append(keep, 1.0)[:0:-1])[::-1])


def learning_rate(n: Any) -> Any:
    """Weight of the n-th of so many in a mean in which signal i of n weighs i^`FORGETTING`."""
    return (1.0 + FORGETTING) / (n + FORGETTING)
