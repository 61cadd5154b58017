"""Examples of series: autoregressions, moving averages, changing variances, hidden states."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from examples.case import BAD_SCALE, Case, normal_vector, symmetric
from probmodel import distributions as d

TIMES = 6
BAD_PAIR = [np.full(2, np.nan)]


def solved(matrix: Any, shift: Any, scales: Any) -> Any:
    """Mean and covariance of y with ``matrix @ y = shift + scales * z``."""
    inverse = np.linalg.inv(matrix)
    return inverse @ shift, inverse @ np.diag(np.asarray(scales) ** 2) @ inverse.T


def lagged(coefficients: Any, start: int = 0) -> Any:
    """Matrix of ``y[t] - sum_k coefficients[k] y[t-1-k]`` for times from ``start`` on."""
    matrix = np.eye(TIMES)
    for t in range(start, TIMES):
        for k in range(min(t, len(coefficients))):
            matrix[t, t - 1 - k] -= coefficients[k]
    return matrix


def ar_moments(coefficients: Any, sigma: float, intercept: float, loc: float, scale: float) -> Any:
    p = len(coefficients)
    shift, scales = np.full(TIMES, intercept), np.full(TIMES, sigma)
    shift[:p], scales[:p] = loc, scale
    return solved(lagged(coefficients, p), shift, scales)


def walk_moments(sigma: float, initial_scale: float, drift: float, initial_loc: float) -> Any:
    shift, scales = np.full(TIMES, drift), np.full(TIMES, sigma)
    shift[0], scales[0] = initial_loc, initial_scale
    return solved(lagged([1.0]), shift, scales)


def arma_moments(phi: Any, theta: Any, sigma: float, mean: float) -> Any:
    """By the matrices of the two sides of the equation, with nothing before the start."""
    averaged = np.linalg.solve(lagged(phi), lagged(-np.asarray(theta)))
    return np.full(TIMES, mean), sigma**2 * averaged @ averaged.T


def standardised(series: Any, mean: Any, omega: Any, alpha: Any, beta: Any, variance: Any) -> Any:
    """Deviations in their standard deviations, and these, by a loop over time."""
    z, scales = np.empty(np.shape(series)), np.empty(np.shape(series))
    for t in range(np.shape(series)[-1]):
        deviation = series[..., t] - mean
        scales[..., t] = np.sqrt(variance)
        z[..., t] = deviation / scales[..., t]
        variance = omega + alpha * deviation**2 + beta * variance
    return z, scales


def garch_reference(series: Any, *params: Any) -> float:
    z, scales = standardised(series, *params)
    return float(np.sum(stats.norm.logpdf(z) - np.log(scales)))


def dlm_moments(F: Any, G: Any, V: Any, W: Any, m0: Any, C0: Any) -> Any:
    """Mean and covariance of all values, from those of all states, by a loop over time."""
    n, times = np.shape(F)[1], 4
    mean, covariance = np.empty((times, n)), np.empty((times, n, times, n))
    m, C, states = np.asarray(m0), np.asarray(C0), []
    for t in range(times):
        m, C = G @ m, G @ C @ G.T + W
        states.append(C)
        mean[t] = F.T @ m
        for s in range(t + 1):
            between = F.T @ np.linalg.matrix_power(G, t - s) @ states[s] @ F
            covariance[t, :, s], covariance[s, :, t] = between, between.T
        covariance[t, :, t] += V
    return mean.reshape(-1), covariance.reshape(times * n, times * n)


ROOTS = np.random.default_rng(8).standard_normal((6, 2, 2))
COVARIANCES = ROOTS @ np.swapaxes(ROOTS, -1, -2) + 0.3 * np.eye(2)
SYSTEMS = np.random.default_rng(9).standard_normal((4, 2, 2))
STARTS = (np.array([0.3, -0.4]), np.array([-1.0, 0.5]))
BAD_SQUARE = [np.full((2, 2), np.nan)]


CASES: dict[str, Case] = {
    "GaussianDLM": normal_vector(
        d.GaussianDLM(SYSTEMS[0], SYSTEMS[1], np.eye(2), np.eye(2), STARTS[0], np.eye(2)),
        [
            (SYSTEMS[0], 0.7 * SYSTEMS[1], *COVARIANCES[:2], STARTS[0], COVARIANCES[2]),
            (SYSTEMS[2], 0.7 * SYSTEMS[3], *COVARIANCES[3:5], STARTS[1], COVARIANCES[5]),
        ],
        dlm_moments,
        (4, 2),
        invalid={
            0: BAD_SQUARE,
            1: BAD_SQUARE,
            2: [np.array([[1.0, 2.0], [2.0, 1.0]]) - 50.0 * np.eye(2), *BAD_SQUARE],
            3: BAD_SQUARE,
            4: [np.full(2, np.nan)],
            5: BAD_SQUARE,
        },
        tangent={3: symmetric, 4: symmetric, 6: symmetric},
    ),
    "AR": normal_vector(
        d.AR(np.array([0.5, 0.2]), 1.0, initial=d.Normal(0.0, 1.0)),
        [
            (np.array([0.6, -0.4]), 0.7, 0.3, -0.2, 1.4),
            (np.array([-0.3, 0.9]), 1.3, -0.5, 0.6, 0.8),
        ],
        ar_moments,
        (TIMES,),
        invalid={0: BAD_PAIR, 1: BAD_SCALE, 2: [np.nan], 3: [np.nan], 4: BAD_SCALE},
    ),
    "RandomWalk": normal_vector(
        d.RandomWalk(1.0, 1.0),
        [(0.7, 1.6, 0.3, -0.4), (1.4, 0.5, -0.2, 0.8)],
        walk_moments,
        (TIMES,),
        invalid={0: BAD_SCALE, 1: BAD_SCALE, 2: [np.nan], 3: [np.nan]},
    ),
    "ARMA": normal_vector(
        d.ARMA(np.array([0.5, 0.2]), np.array([0.3]), 1.0),
        [
            (np.array([0.6, -0.4]), np.array([0.5]), 0.7, 0.3),
            (np.array([-0.3, 0.4]), np.array([-0.8]), 1.3, -0.5),
        ],
        arma_moments,
        (TIMES,),
        invalid={0: BAD_PAIR, 1: [np.full(1, np.nan)], 2: BAD_SCALE, 3: [np.nan]},
    ),
    "ARMA of order (1, 3)": normal_vector(
        d.ARMA(np.array([0.5]), np.array([0.3, 0.2, 0.1]), 1.0),
        [
            (np.array([0.9]), np.array([0.5, -0.3, 0.2]), 0.7, 0.3),
            (np.array([-0.3]), np.array([-0.8, 0.4, 0.6]), 1.3, -0.5),
        ],
        arma_moments,
        (TIMES,),
        invalid={0: [np.full(1, np.nan)], 1: [np.full(3, np.nan)], 2: BAD_SCALE, 3: [np.nan]},
    ),
    "GARCH": Case(
        d.GARCH(0.0, 0.5, 0.2, 0.3, 1.0),
        [(0.3, 0.4, 0.5, 0.3, 0.9), (-0.2, 0.9, 0.1, 0.8, 2.0)],
        np.random.default_rng(5).standard_normal((4, TIMES)),
        garch_reference,
        {0: [np.nan], 1: BAD_SCALE, 2: [-0.1, np.nan], 3: [-0.1, np.nan], 4: BAD_SCALE},
        law=lambda draws, *params: standardised(draws, *params)[0],
    ),
}
NOT_NONCENTERED = {"GARCH", "GaussianDLM"}
NOT_INFORMED = {
    "GaussianDLM": ["F", "G", "V", "W", "m0", "C0"],
    "AR": ["coefficients", "sigma", "intercept", "initial.loc", "initial.scale"],
    "RandomWalk": ["sigma", "initial_scale", "drift", "initial_loc"],
    "ARMA": ["phi", "theta", "sigma", "mean"],
    "ARMA of order (1, 3)": ["phi", "theta", "sigma", "mean"],
    "GARCH": ["mean", "omega", "alpha", "beta", "initial_variance"],
}
