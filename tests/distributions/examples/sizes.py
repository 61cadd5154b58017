"""Examples of any size: vectors, matrices, maps and fields, mixtures of many components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from examples.case import zero_sum
from examples.gaussian import JITTER
from probmodel import distributions as d
from probmodel.distributions import kernels

Sized = Callable[[int], tuple[Any, ...] | None]


def rising(n: int, low: float, high: float) -> Any:
    """Return n numbers in between, unevenly spaced."""
    return low + (high - low) * ((np.arange(n) + 0.7) / (n + 0.5)) ** 1.2


def shares(n: int) -> Any:
    """Return n probabilities."""
    weights = rising(n, 0.4, 2.0)
    return weights / weights.sum()


def shares_by_row(n: int) -> Any:
    return np.stack([np.roll(shares(n), i) for i in range(n)])


def normal(*shape: int) -> Any:
    return np.random.default_rng(6).standard_normal(shape)


def covariance(n: int) -> Any:
    """Return a covariance matrix of n variables, far from singular."""
    a = np.random.default_rng(7).standard_normal((n, n))
    return a @ a.T / n + 0.6 * np.eye(n)


def root(n: int) -> Any:
    return np.linalg.cholesky(covariance(n))


def correlation(n: int) -> Any:
    scale = np.sqrt(np.diagonal(covariance(n)))
    return covariance(n) / np.multiply.outer(scale, scale)


def edges(n: int) -> Any:
    """Return the edges of a row of n areas, one of them twice, some with another neighbour."""
    far = [(i, i + 3) for i in range(0, n - 3, 4)]
    return np.array([(0, 1), (1, 0), *((i, i + 1) for i in range(n - 1)), *far])


def weights(n: int) -> Any:
    matrix = np.zeros((n, n))
    for k, (i, j) in enumerate(edges(n)):
        matrix[i, j] = matrix[j, i] = 1.0 + 0.2 * k
    return matrix


def from_two(sized: Sized) -> Sized:
    """Return an example that needs two elements or more."""
    return lambda n: sized(n) if n > 1 else None


def process(*coordinates: Callable[[int], Any]) -> Sized:
    """Gaussian process at some places, or on a grid."""

    def sized(n: int) -> tuple[Any, ...]:
        places = [axis(n) for axis in coordinates]
        size = tuple(map(len, places))
        return normal(*size), np.full(size, 0.3), 1.2, 0.9, *places

    return sized


def noisy_process(*coordinates: Callable[[int], Any]) -> Sized:
    """Gaussian process with a kernel of several parts, and noise."""
    of_kernel = (1.2, 0.9, 1.5, 0.4, 0.3)

    def sized(n: int) -> tuple[Any, ...]:
        places = [axis(n) for axis in coordinates]
        size = tuple(map(len, places))
        return normal(*size), np.full(size, 0.3), *of_kernel, np.full(size, 0.5), *places

    return sized


def basis(kernel: Any, points: Any, n_basis: Callable[[int], Any]) -> Sized:
    def sized(n: int) -> tuple[Any, ...]:
        frequencies = d.HilbertSpaceGP(kernel(), points, n_basis(n), 1.3).args["frequencies"]
        return normal(len(frequencies)), 1.2, 0.9, frequencies

    return sized


def torus(kernel: Any, *others: int) -> Sized:
    def sized(n: int) -> tuple[Any, ...]:
        grid = [np.arange(size) * 0.5 for size in (n, *others)]
        distances = d.CirculantGP(kernel(1.0, 0.1), grid, jitter=JITTER).args["distances"]
        return normal(*distances.shape), 1.2, 0.3, distances

    return from_two(sized)


def counts(parameter: Callable[[int], Any]) -> Sized:
    return from_two(lambda n: (np.arange(n), n * (n - 1) / 2, parameter(n)))


LOG_ODDS: Sized = lambda n: rising(n, -1.1, 1.3)  # noqa: E731
LINE: Sized = lambda n: rising(n, 0.0, 0.6 * n)  # noqa: E731
PAIR = np.array([0.0, 0.8])
PLANE: Sized = lambda n: 2.0 * normal(n, 2)  # noqa: E731
OUTCOMES = np.array([0, 1, 3])

# Value or values first, then the parameters; None where there is no such size.
SIZED: dict[str, Sized] = {
    "Dirichlet": from_two(lambda n: (shares(n)[::-1], rising(n, 0.7, 2.5))),
    "Categorical": from_two(lambda n: (OUTCOMES % n, shares(n))),
    "CategoricalLogit": from_two(lambda n: (OUTCOMES % n, LOG_ODDS(n))),
    "Multinomial": counts(shares),
    "MultinomialLogit": counts(LOG_ODDS),
    "DirichletMultinomial": counts(lambda n: rising(n, 0.7, 2.5)),
    "OrderedLogistic": lambda n: (OUTCOMES % (n + 1), 0.4, LOG_ODDS(n)),
    "OrderedProbit": lambda n: (OUTCOMES % (n + 1), 0.4, LOG_ODDS(n)),
    "MvNormal": lambda n: (normal(n), LOG_ODDS(n), covariance(n)),
    "MvNormal cholesky": lambda n: (normal(n), LOG_ODDS(n), root(n)),
    "MvNormal precision": lambda n: (normal(n), LOG_ODDS(n), covariance(n)),
    "MvStudentT": lambda n: (normal(n), 4.5, LOG_ODDS(n), covariance(n)),
    "MvStudentT cholesky": lambda n: (normal(n), 4.5, LOG_ODDS(n), root(n)),
    "GaussianProcess ExpQuad": process(LINE),
    "GaussianProcess Exponential": process(PLANE),
    "GaussianProcess Matern32": process(LINE),
    "GaussianProcess Matern52": process(PLANE),
    "GaussianProcess Kronecker": process(LINE, lambda n: PAIR),
    "GaussianProcess dense grid": process(LINE, lambda n: PAIR),
    "GaussianProcess noise": noisy_process(LINE),
    "GaussianProcess noise grid": noisy_process(LINE, lambda n: PAIR),
    "HilbertSpaceGP ExpQuad": basis(kernels.ExpQuad, rising(5, 0.0, 3.0), lambda n: n),
    "HilbertSpaceGP Exponential": basis(kernels.Exponential, rising(5, 0.0, 3.0), lambda n: n),
    "HilbertSpaceGP Matern32": basis(kernels.Matern32, normal(5, 2), lambda n: (n, 2)),
    "HilbertSpaceGP Matern52": basis(kernels.Matern52, normal(5, 2), lambda n: (1, n)),
    "CirculantGP Exponential": torus(kernels.Exponential, 2),
    "CirculantGP Matern32": torus(kernels.Matern32),
    "CirculantGP ExpQuad": torus(kernels.ExpQuad),
    "LKJ": from_two(lambda n: (correlation(n), 2.3)),
    "LKJCholesky": from_two(lambda n: (np.linalg.cholesky(correlation(n)), 2.3)),
    "Wishart": lambda n: (covariance(n), n + 1.5, covariance(n)),
    "Wishart cholesky": lambda n: (covariance(n), n + 1.5, root(n)),
    "WishartCholesky": lambda n: (root(n), n + 1.5, root(n)),
    "WishartCholesky scale": lambda n: (root(n), n + 1.5, covariance(n)),
    "InverseWishart": lambda n: (covariance(n), n + 1.5, covariance(n)),
    "InverseWishart cholesky": lambda n: (covariance(n), n + 1.5, root(n)),
    "InverseWishartCholesky": lambda n: (root(n), n + 1.5, root(n)),
    "InverseWishartCholesky scale": lambda n: (root(n), n + 1.5, covariance(n)),
    "MatrixNormal": lambda n: (normal(n, 2), normal(n, 2), covariance(n), covariance(2)),
    "MatrixNormal mixed": lambda n: (normal(2, n), normal(2, n), covariance(2), root(n)),
    "MatrixNormal mixed otherwise": lambda n: (normal(n, 2), normal(n, 2), root(n), covariance(2)),
    "MultiGP": lambda n: (normal(2, n), covariance(n), rising(2, 0.5, 2.0)),
    "MultiGP cholesky": lambda n: (normal(n, 2), root(2), rising(n, 0.5, 2.0)),
    "CAR": from_two(lambda n: (normal(n), 1.3, 0.8, 1.0 * (weights(n) > 0), 0.4)),
    "CAR edges": from_two(lambda n: (normal(n), 1.3, 0.8, edges(n), 0.4)),
    "CAR weights": from_two(lambda n: (normal(n), 1.3, 0.8, weights(n), 0.4)),
    "ICAR": from_two(lambda n: (zero_sum(normal(n)), edges(n), 1.3)),
    "ICAR weights": from_two(lambda n: (zero_sum(normal(n)), weights(n), 1.3)),
    "BYM2": from_two(lambda n: (normal(n), 1.3, 0.7, edges(n))),
    "BYM2 pieces": lambda n: (normal(n + 2), 1.3, 0.7, edges(2)),
    "ZeroSumNormal": from_two(lambda n: (zero_sum(normal(n)), 1.3)),
    "Mixture": lambda n: (normal(3), LOG_ODDS(n), rising(n, 0.5, 1.5), shares(n)),
    "Mixture that shares": lambda n: (normal(3), LOG_ODDS(n), np.array([0.8]), shares(n)),
    "Mixture of counts": lambda n: (OUTCOMES, rising(n, 0.7, 9.0), shares(n)),
    "Mixture of vectors": lambda n: (
        normal(2, n), normal(2, n), np.stack([covariance(n), 2.0 * covariance(n)]), shares(2)
    ),
    "HiddenMarkov": lambda n: (
        normal(3), LOG_ODDS(n)[None], rising(n, 0.5, 1.5)[None], shares(n), shares_by_row(n)
    ),
    "HiddenMarkov in time": lambda n: (
        normal(n), normal(n), *(np.array([a]) for a in (0.8, 1.5, 0.5)), shares(2), shares_by_row(2)
    ),
    "Affine of AR1": lambda n: (normal(n), 0.85, 0.6, 0.3, 0.7, 1.3),
    "AR": lambda n: (normal(n + 2), rising(n, -0.2, 0.3) / n, 0.7, 0.3, -0.2, 1.4),
    "ARMA": lambda n: (normal(n + 2), rising(n, -0.2, 0.3) / n, np.array([0.5]), 0.7, 0.3),
    "ARMA of order (1, 3)": lambda n: (
        normal(n + 2), np.array([0.5]), rising(n, -0.2, 0.3) / n, 0.7, 0.3
    ),
}  # fmt: skip
# Of two components that are written out.
OF_ONE_SIZE = {"Mixture of a list", "Mixture of unlike counts"}
