"""Examples of distributions of correlation matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special, stats

from examples.case import BAD_SCALE, Case, symmetric
from probmodel import distributions as d

SIZE = 3
MATRICES = np.array(
    [
        np.eye(SIZE),
        [[1.0, 0.5, -0.2], [0.5, 1.0, 0.3], [-0.2, 0.3, 1.0]],
        [[1.0, -0.7, 0.1], [-0.7, 1.0, 0.4], [0.1, 0.4, 1.0]],
        [[1.0, 0.2, 0.6], [0.2, 1.0, -0.1], [0.6, -0.1, 1.0]],
    ]
)
ROOTS = np.linalg.cholesky(MATRICES)


def log_constant(eta: float, size: int) -> float:
    """Log of the normalising constant by vines: eq. (16) of Lewandowski et al. (2009)."""
    left = size - np.arange(1, size)
    shape = eta + 0.5 * (left - 1)
    return np.sum(left * ((2 * eta - 2 + left) * np.log(2.0) + special.betaln(shape, shape)))


def correlation_density(matrix: Any, eta: float) -> float:
    return (eta - 1) * np.linalg.slogdet(matrix)[1] - log_constant(eta, len(matrix))


def factor_density(root: Any, eta: float) -> float:
    """Density of the product, with the Jacobian of the product."""
    powers = len(root) - 1 - np.arange(len(root))
    return correlation_density(root @ root.T, eta) + np.sum(powers * np.log(np.diag(root)))


def factor_law(draws: Any, eta: float) -> Any:
    """Partial correlations given what stands to the left: independent symmetric betas."""
    row, column = np.tril_indices(SIZE, -1)
    left = 1.0 - np.cumsum(draws**2, axis=-1) + draws**2
    partial = draws[:, row, column] / np.sqrt(left[:, row, column])
    shape = eta + 0.5 * (SIZE - 2 - column)
    return stats.norm.ppf(stats.beta(shape, shape).cdf(0.5 * (1.0 + partial)))


def off_diagonal(a: Any) -> Any:
    """Return the symmetric part of a change, without its diagonal."""
    return symmetric(a) * (1.0 - np.eye(SIZE))


CASES: dict[str, Case] = {
    "LKJCholesky": Case(
        d.LKJCholesky(1.0),
        [(2.3,), (0.6,)],
        ROOTS,
        factor_density,
        {0: BAD_SCALE},
        outside=[ROOTS[1] * [1.0, -1.0, 1.0]],
        law=factor_law,
        tangent={0: lambda a: np.tril(a, -1)},
    ),
    "LKJ": Case(
        d.LKJ(1.0),
        [(2.3,), (0.6,)],
        MATRICES,
        correlation_density,
        {0: BAD_SCALE},
        outside=[[[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]]],
        law=lambda draws, eta: factor_law(np.linalg.cholesky(draws), eta),
        tangent={0: off_diagonal},
    ),
}

NOT_NONCENTERED = {"LKJCholesky", "LKJ"}
NOT_INFORMED = {"LKJCholesky": ["eta"], "LKJ": ["eta"]}
