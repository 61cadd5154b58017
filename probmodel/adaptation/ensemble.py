"""Ensemble proposal: a normal distribution fitted to the points, and the choice of the one to drop.

    theta_1..theta_N   points of an ensemble; theta_(N+1) is a proposed one   (chains, N + 1, dim)
    S_-n               the N points without theta_n
    q_n                proposal density at theta_n, fitted to S_-n            (chains, N + 1)
    m, e_n, T          mean of all N + 1 points, theta_n - m, sum of e_n e_n'
    g                  (N + 1) / N
    h_n                leverage of theta_n, e_n' T^-1 e_n
    lambda_n           q_n over the density of theta_n: the weight with which it leaves

Zhu (2019), "Sample adaptive MCMC", Algorithm 1, lines 4 to 7. Leaving theta_n out changes the
scatter by one rank: S_-n has the scatter T - g e_n e_n', and theta_n - mean(S_-n) = g e_n. So all
q_n follow from one T, by the matrix determinant lemma and the Sherman-Morrison formula:

    log q_n = -1/2 log(1 - g h_n) - 1/2 (N - 1) g^2 h_n / (1 - g h_n) + constant.

The diagonal proposal is a mixture of normals whose variances are those of the ensemble times 1/2,
1 and 2, with equal weights, as in section 4 of the paper. It divides the scatter by N, the full one
by N - 1, as the paper's code does. Either may have fat tails besides, see `fat_tails`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.adaptation.fat_tails import draw_mixture, log_mixture
from probmodel.numerics.linalg import cholesky, solve_rows
from probmodel.types import Array

WIDTHS = np.array([0.5, 1.0, 2.0])  # variances of the mixture, over those of the ensemble
ONE_WIDTH = np.ones(1)  # those of a single normal
FLAT = 1e-13  # deviations over the mean, or shares of variance unexplained, that are rounding
NEAREST = 1e-12  # least 1 - g h_n: below it the other points are degenerate up to rounding
FEWEST = 2000  # weights from which a tail is estimated
STRETCHES = 32  # of all chains, at least 4 a chain, whose means show dependence at long lags


class FullFit(NamedTuple):
    """A normal distribution fitted to the N points of each ensemble.

    Attributes
    ----------
    mean : (chains, dim)
    root : (chains, dim, dim)
        Cholesky factor of the scatter, the sum of e_n e_n'; NaN where the points span no volume.
    e : (chains, N, dim)
        Points less their mean.
    """

    mean: Array
    root: Array
    e: Array

    def draw(self, rng: np.random.Generator, tails: float = 0.0) -> Array:
        """Points of the proposal, of which a share ``tails`` is fat-tailed: (chains, dim)."""
        root = self.root / np.sqrt(self.e.shape[1] - 1)
        offset = (root @ rng.standard_normal(self.mean.shape)[:, :, None])[:, :, 0]
        return self.mean + draw_mixture(rng, tails, offset, offset, root)


def full_fit(points: Array) -> FullFit:
    """Fit a normal distribution to each ensemble, (chains, N, dim)."""
    size, mean = points.shape[1], points.mean(axis=1)
    e = points - mean[:, None]
    scatter = np.swapaxes(e, 1, 2) @ e
    root = cholesky(scatter)
    total, own = (np.diagonal(a, axis1=1, axis2=2) for a in (scatter, root))
    rounding = np.maximum(FLAT * total, size * np.square(FLAT * mean))
    root[~(own * own > rounding).all(axis=1)] = np.nan
    return FullFit(mean, root, e)


def diagonal_root(points: Array) -> tuple[Array, Array]:
    """Mean and standard deviations of each ensemble: (chains, dim) each.

    The deviations of an ensemble are NaN if one of them is zero up to rounding.
    """
    mean, sd = points.mean(axis=1), points.std(axis=1)
    return mean, np.where((sd > FLAT * np.abs(mean)).all(axis=1, keepdims=True), sd, np.nan)


def diagonal_draw(
    rng: np.random.Generator, points: Array, tails: float = 0.0, widths: Array = WIDTHS
) -> Array:
    """Points of the diagonal proposal, of which a share ``tails`` is fat-tailed: (chains, dim).

    The others are from a mixture of normals with ``widths`` times the ensemble's variances.
    """
    mean, sd = diagonal_root(points)
    normal = sd * rng.standard_normal(mean.shape)
    width = widths[rng.integers(len(widths), size=len(mean))]
    return mean + draw_mixture(rng, tails, np.sqrt(width)[:, None] * normal, normal, sd)


def full_log_fit(fit: FullFit, point: Array, tails: float = 0.0) -> Array:
    """Return log q_n of the full proposal, up to a constant of the chain: (chains, N + 1).

    A share ``tails`` of it is fat-tailed, see `fat_tails`, the rest normal. The last is that of
    ``point``, (chains, dim). NaN for the chains whose N points span no volume. With u the new point
    less the mean of the others, S = L L' their scatter, and z = L^-1 u,

        T = S + c u u',  c = N / (N + 1),      h_n = |w_n|^2 - c (w_n'z)^2 / (1 + c |z|^2),

    where w_n is L^-1 times theta_n less the mean of all.
    """
    size = fit.e.shape[1]
    c, share = size / (size + 1), 1.0 / (size + 1)
    e = np.concatenate([fit.e, (point - fit.mean)[:, None]], axis=1)
    w = solve_rows(fit.root, e.copy())
    ww, wz = np.einsum("cnd,cnd->cn", w, w), (w @ w[:, -1, :, None])[:, :, 0]
    zz = ww[:, -1:]
    ww = ww - 2.0 * share * wz + share * share * zz  # the mean of all is u / (N + 1) away
    wz = wz - share * zz
    leverage = ww - c * wz * wz / (1.0 + c * zz)
    g = 1.0 / c
    left = np.maximum(1.0 - g * leverage, NEAREST)
    squares = (size - 1) * g * g * leverage / left
    log_fit = -0.5 * (np.log(left) + squares)
    if not tails:
        return log_fit
    own = (size - 1) * _own_squares(e - share * e[:, -1:])[0]
    return log_fit + log_mixture(tails, 0.0, squares, own)


def diagonal_log_fit(points: Array, tails: float = 0.0, widths: Array = WIDTHS) -> Array:
    """Return log q_n of the diagonal proposal, up to a constant of the chain: (chains, N + 1).

    A share ``tails`` of it is fat-tailed, see `fat_tails`, the rest a mixture of ``widths``.
    NaN for the chains whose points agree in a coordinate.
    """
    size, dim = points.shape[1] - 1, points.shape[2]
    with np.errstate(divide="ignore", invalid="ignore"):
        own, left = _own_squares(points - points.mean(axis=1, keepdims=True))
        own *= size
        squares, log_scale = np.sum(own, axis=2), 0.5 * np.sum(np.log(left), axis=2)
        c = widths[:, None, None]
        terms = -0.5 * dim * np.log(c) - 0.5 * squares * (1.0 / c - 1.0)
        body = np.logaddexp.reduce(terms, axis=0) - np.log(len(widths))
        fitted = log_mixture(tails, body, squares, own) - log_scale - 0.5 * squares
    flat = np.isnan(diagonal_root(points)[1]).any(axis=1, keepdims=True)
    return np.where(flat, np.nan, fitted)


def _own_squares(e: Array) -> tuple[Array, Array]:
    """Squared distance of each point from the mean of the others, over their scatter.

    ``e`` are the points less the mean of all. Returns the squares in each coordinate by itself, and
    1 - g h_n there: (chains, N + 1, dim) each.
    """
    g = e.shape[1] / (e.shape[1] - 1)
    with np.errstate(invalid="ignore"):
        h = e * e / np.sum(e * e, axis=1, keepdims=True)
    left = np.maximum(1.0 - g * h, NEAREST)
    return g * g * h / left, left


def choose(rng: np.random.Generator, log_lambda: Array) -> tuple[Array, Array]:
    """Pick the point that leaves, by the Gumbel-max trick, and the log odds that it is an old one.

    A row that is not finite, for want of a log density or of a fit, keeps its old points.

    Parameters
    ----------
    rng : one number is drawn per entry, whatever its fate
    log_lambda : (chains, N + 1), the proposed point last

    Returns
    -------
    Index of the point that leaves, and the log odds of its not being the proposed one:
    (chains,) each.
    """
    gumbel = rng.gumbel(size=log_lambda.shape)
    possible = np.asarray(np.isfinite(log_lambda).all(axis=1))
    log_lambda = np.where(possible[:, None], log_lambda, 0.0)
    leaves = np.argmax(log_lambda + gumbel, axis=1)
    log_odds = np.logaddexp.reduce(log_lambda[:, :-1], axis=1) - log_lambda[:, -1]
    last = log_lambda.shape[1] - 1
    return np.where(possible, leaves, last), np.where(possible, log_odds, -np.inf)


def overstatement(series: Array, short: int) -> float:
    """Factor by which dependence at long lags lowers effective sizes: (chains, draws) -> ().

    The mean of a stretch of m independent draws varies by 1/m of a draw. How much more it does is
    compared between stretches of ``short`` draws and quarters of a chain, or less if the chains
    are few. It is 1 for chains so short that these are no longer.
    """
    chains, draws = series.shape
    long = draws // max(4, STRETCHES // chains)
    if long < 2 * short:
        return 1.0
    slow, fast = (_excess(series, length) for length in (long, short))
    return slow / fast if fast > 0.0 else 1.0


def tail_index(log_weights: Array) -> float:
    """Hill's estimate of the tail index of weights, from the largest hundredth of them.

    Weights whose tail index is above one have no mean. NaN for fewer than `FEWEST` weights.

    Hill (1975), "A simple general approach to inference about the tail of a distribution".
    """
    ordered = np.sort(log_weights[np.isfinite(log_weights)])
    if len(ordered) < FEWEST:
        return np.nan
    largest = ordered[-len(ordered) // 100 :]
    return float(np.mean(largest) - ordered[-len(largest) - 1])


def _excess(series: Array, length: int) -> float:
    """Variance of the means of stretches of that length, times the length."""
    count = series.shape[1] // length
    means = series[:, : count * length].reshape(-1, length).mean(axis=1)
    return float(length * np.var(means, ddof=1))
