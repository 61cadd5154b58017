"""Fat tails of a normal proposal: a Student t distribution with a small share, as a safeguard.

    m, Sigma, s   mean and covariance of a normal distribution N, and its standard deviations
    z_j           (x_j - m_j) / s_j                                       coordinates, standardised
    Q             (x - m)' Sigma^-1 (x - m)                               squared distance
    nu            degrees of freedom
    T_d           log density of Student's t over that of N, in d dimensions

A weight of points, target over proposal, is bounded only where the proposal's tails are at least as
heavy as the target's (Zhu, 2019, section 3: "a mixture proposal distribution, with the main
distribution and a fat-tailed distribution with a small mixing proportion"). Two kinds of tails are
heavy in practice: all coordinates at once, as those of a multivariate t, and those of one
coordinate, whatever the others. Half of the fat-tailed part is for either:

    T(x) = 1/2 t_nu(x; m, Sigma) + 1/2 mean_j N(x) t_nu(z_j) / N(z_j),

whose second term draws coordinate j from a t and the others from N, given coordinate j.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from probmodel.types import Array

FREEDOM = 1.0  # nu: a Cauchy distribution, whose tails no target with a mean exceeds


def log_ratio(dim: int, squares: Array) -> Array:
    """T_d at squared distances from the mean."""
    half = 0.5 * (FREEDOM + dim)
    return np.asarray(_constant(dim) - half * np.log1p(squares / FREEDOM) + 0.5 * squares)


def log_mean_ratio(squares: Array) -> Array:
    """Logarithm of the mean of exp(T_1) over the last axis, by one exponential an entry."""
    largest = squares.max(axis=-1, keepdims=True)
    scaled = np.exp(0.5 * (squares - largest)) * (1.0 + squares / FREEDOM) ** (-0.5 * (FREEDOM + 1))
    return np.asarray(_constant(1) + 0.5 * largest[..., 0] + np.log(scaled.mean(axis=-1)))


def _constant(dim: int) -> float:
    """Part of T_d that does not depend on the distance."""
    half = 0.5 * (FREEDOM + dim)
    return float(gammaln(half) - gammaln(0.5 * FREEDOM) - 0.5 * dim * np.log(0.5 * FREEDOM))


def log_mixture(weight: float, body: Array | float, squares: Array, own: Array) -> Array:
    """Log density of ``(1 - weight) body + weight T``, over that of the normal distribution.

    Parameters
    ----------
    weight : from 0 to below 1
    body : (...), log density over that of the normal distribution
    squares : (...), Q
    own : (..., dim), squares of z
    """
    if not weight:
        return np.zeros_like(squares) + body
    dim = own.shape[-1]
    with np.errstate(invalid="ignore"):  # NaN where there is no fit
        fat = np.logaddexp(log_ratio(dim, squares), log_mean_ratio(own)) - np.log(2.0)
        return np.logaddexp(np.log1p(-weight) + body, np.log(weight) + fat)


def draw_mixture(
    rng: np.random.Generator, weight: float, body: Array, normal: Array, root: Array
) -> Array:
    """Draw from the mixture, less its mean: (chains, dim).

    Parameters
    ----------
    rng : its numbers do not depend on ``weight``
    weight : share of the fat-tailed part
    body, normal : (chains, dim), draws of the two distributions of `log_mixture`, less the mean
    root : (chains, dim, dim), L with Sigma = L L'; or s, (chains, dim), where it is diagonal
    """
    chains, dim = normal.shape
    row, j = np.arange(chains), rng.integers(dim, size=chains)
    kind = rng.random((chains, 1))
    longer = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, chains))
    t = rng.standard_normal(chains) * longer  # z_j, of Student's distribution
    if root.ndim == 2:
        column = np.zeros_like(normal)
        column[row, j] = root[row, j]
    else:
        column = (root @ root[row, j, :, None])[:, :, 0]
        column /= np.sqrt(column[row, j])[:, None]
    single = normal + column * (t - normal[row, j] / column[row, j])[:, None]
    fat = np.where(kind < 0.5 * weight, normal * longer[:, None], single)
    return np.where(kind < weight, fat, body)
