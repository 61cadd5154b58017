"""Examples of maps: autoregressions over neighbouring areas."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from examples.case import BAD_SCALE, Case, normal_vector, zero_sum
from probmodel import distributions as d

EDGES = np.array([[0, 1], [2, 1], [1, 3], [3, 0], [4, 3], [1, 2]])  # one of them twice
SIZE = 5
WEIGHTS = np.zeros((SIZE, SIZE))
WEIGHTS[tuple(EDGES.T)] = 1.0
WEIGHTS = np.maximum(WEIGHTS, WEIGHTS.T)
HEAVY = WEIGHTS.copy()
HEAVY[0, 1] = HEAVY[1, 0] = 2.5
# A triangle, a pair and an isolated area.
PIECES = np.array([[0, 1], [1, 2], [2, 0], [3, 5]])
PIECES_SIZE = 7


def laplacian(weights: Any) -> Any:
    return np.diag(weights.sum(axis=1)) - weights


def matrix_of(adjacency: Any, size: int = SIZE) -> Any:
    """Weights of a graph by a plain loop over its edges."""
    if adjacency.shape == (size, size):
        return adjacency
    weights = np.zeros((size, size))
    for i, j in adjacency:
        weights[i, j] = weights[j, i] = 1.0
    return weights


def car(adjacency: Any) -> Case:
    def moments(tau: float, alpha: float, adjacency: Any, mean: float) -> Any:
        weights = matrix_of(adjacency)
        precision = tau * (np.diag(weights.sum(axis=1)) - alpha * weights)
        return np.full(SIZE, mean), np.linalg.inv(precision)

    return normal_vector(
        d.CAR(1.0, 0.5, adjacency),
        [(1.3, 0.8, adjacency, 0.4), (0.6, -0.4, adjacency, -0.3)],
        moments,
        (SIZE,),
        invalid={0: BAD_SCALE, 1: [1.0, -1.0, 1.2, -1.2, np.nan]},
        fixed=(3,),
    )


def structured(weights: Any) -> Any:
    """Scaled covariance of a structured effect, component by component, by pseudo-inverses."""
    covariance = np.eye(len(weights))
    reached = np.linalg.matrix_power(np.eye(len(weights)) + weights, len(weights)) > 0
    for nodes in {tuple(np.flatnonzero(row)) for row in reached}:
        if len(nodes) > 1:
            own = np.linalg.pinv(laplacian(weights)[np.ix_(nodes, nodes)])
            covariance[np.ix_(nodes, nodes)] = own / stats.gmean(np.diagonal(own))
    return covariance


def bym2(adjacency: Any, size: int) -> Case:
    def moments(sigma: float, rho: float, adjacency: Any) -> Any:
        R = structured(matrix_of(adjacency, size))
        return np.zeros(size), sigma**2 * ((1 - rho) * np.eye(size) + rho * R)

    return normal_vector(
        d.BYM2(1.0, 0.5, adjacency),
        [(1.3, 0.7, adjacency), (0.6, 0.2, adjacency)],
        moments,
        (size,),
        invalid={0: BAD_SCALE, 1: [-0.1, 1.1, 1.0, np.nan]},
        fixed=(3,),
    )


def on_plane(dist: Any, params: Any, covariance: Any, **more: Any) -> Case:
    """Case of a normal vector that sums to zero."""
    basis = np.linalg.svd(np.ones((1, SIZE)))[2][1:]
    values = zero_sum(np.random.default_rng(5).standard_normal((4, SIZE)))

    def reference(value: Any, *p: Any) -> float:
        return stats.multivariate_normal(np.zeros(SIZE), covariance(*p), True).logpdf(value)

    def law(draws: Any, *p: Any) -> Any:
        root = np.linalg.cholesky(basis @ covariance(*p) @ basis.T)
        return np.linalg.solve(root, basis @ draws.T).T

    return Case(
        dist, params, values, reference, law=law,
        tangent={0: zero_sum}, **more,
    )  # fmt: skip


def icar(adjacency: Any) -> Case:
    return on_plane(
        d.ICAR(adjacency),
        [(adjacency, 1.3), (adjacency, 0.6)],
        lambda a, scale: scale**2 * np.linalg.pinv(laplacian(matrix_of(a))),
        invalid={1: BAD_SCALE},
        fixed=(1,),
    )


CASES: dict[str, Case] = {
    "CAR": car(WEIGHTS),
    "CAR edges": car(EDGES),
    "CAR weights": car(HEAVY),
    "ICAR": icar(EDGES),
    "ICAR weights": icar(HEAVY),
    "BYM2": bym2(EDGES, SIZE),
    "BYM2 pieces": bym2(PIECES, PIECES_SIZE),
    "ZeroSumNormal": on_plane(
        d.ZeroSumNormal(1.0),
        [(1.3,), (0.6,)],
        lambda scale: scale**2 * (np.eye(SIZE) - 1.0 / SIZE),
        invalid={0: BAD_SCALE},
    ),
}
NOT_NONCENTERED: set[str] = set()
NOT_INFORMED = {
    "BYM2": ["sigma", "rho"],
    "BYM2 pieces": ["sigma", "rho"],
    "ZeroSumNormal": ["scale"],
}
