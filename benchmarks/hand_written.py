"""The gallery's log posterior densities with gradients, written by hand in NumPy.

Each function takes the model's data and returns a function of unconstrained points, (chains,
dim), that gives (chains,) log densities up to a constant and (chains, dim) gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any
Density = Callable[[Array], tuple[Array, Array]]


def logistic_regression(X: Array, y: Array) -> Density:
    """Return the density of intercept and slopes with standard normal priors."""
    X = np.column_stack([np.ones(len(X)), X])
    transposed = np.ascontiguousarray(X.T)
    y = np.asarray(y, dtype=float)
    half = X.T @ (y - 0.5)

    def density(x: Array) -> tuple[Array, Array]:
        eta = x @ transposed
        e = np.exp(-np.abs(eta))
        log1p = np.log1p(e)
        # log p(y | eta) = (y - 1/2) eta - |eta| / 2 - log(1 + exp(-|eta|))
        logp = x @ half - (0.5 * np.abs(eta) + log1p).sum(axis=1) - 0.5 * (x * x).sum(axis=1)
        tanh_half = np.copysign((1.0 - e) / (1.0 + e), eta)
        return logp, half - (0.5 * tanh_half) @ X - x

    return density


def linear_regression(X: Array, y: Array) -> Density:
    """Return the density of intercept, slopes and log standard deviation."""
    X, y = np.asarray(getattr(X, "values", X)), np.asarray(y)
    X = np.column_stack([np.ones(len(X)), X])
    transposed = np.ascontiguousarray(X.T)
    n = len(y)
    precision = 1.0 / np.array([100.0, *[10.0] * (X.shape[1] - 1)]) ** 2

    def density(x: Array) -> tuple[Array, Array]:
        beta, log_sigma = x[:, :-1], x[:, -1]
        residual = y - beta @ transposed
        squares = np.einsum("cn,cn->c", residual, residual)
        weight = np.exp(-2.0 * log_sigma)
        ratio = np.exp(2.0 * log_sigma) / 100.0
        logp = (
            -0.5 * weight * squares
            - n * log_sigma
            - 0.5 * (beta * beta) @ precision
            - np.log1p(ratio)
            + log_sigma
        )
        grad = np.empty_like(x)
        grad[:, :-1] = weight[:, None] * (residual @ X) - beta * precision
        grad[:, -1] = weight * squares - n - 2.0 * ratio / (1.0 + ratio) + 1.0
        return logp, grad

    return density


def eight_schools(y: Array, sigma: Array) -> Density:
    """Return the density of mu, log tau and the standardised effects."""
    y, sigma = np.asarray(y, dtype=float), np.asarray(sigma, dtype=float)
    precision = 1.0 / sigma**2

    def density(x: Array) -> tuple[Array, Array]:
        mu, log_tau, z = x[:, 0], x[:, 1], x[:, 2:]
        tau = np.exp(log_tau)
        residual = y - mu[:, None] - tau[:, None] * z
        slope = residual * precision
        ratio = tau * tau / 25.0
        logp = (
            -0.5 * (residual * slope).sum(axis=1)
            - 0.5 * (z * z).sum(axis=1)
            - mu * mu / 50.0
            - np.log1p(ratio)
            + log_tau
        )
        grad = np.empty_like(x)
        grad[:, 0] = slope.sum(axis=1) - mu / 25.0
        grad[:, 1] = tau * (slope * z).sum(axis=1) - 2.0 * ratio / (1.0 + ratio) + 1.0
        grad[:, 2:] = tau[:, None] * slope - z
        return logp, grad

    return density


def stochastic_volatility(y: Array) -> Density:
    """Return the density of mu, the log odds of (phi + 1) / 2, log sigma, and h."""
    squared = np.asarray(y) ** 2
    n = len(squared)

    def density(x: Array) -> tuple[Array, Array]:
        mu, a, log_sigma, h = x[:, 0], x[:, 1], x[:, 2], x[:, 3:]
        u = 0.5 + 0.5 * np.tanh(0.5 * a)
        phi, weight = 2.0 * u - 1.0, np.exp(-2.0 * log_sigma)
        log_u, log_v = np.log(u), np.log1p(-u)
        shifted = mu[:, None] + h
        e = squared * np.exp(-shifted)
        step = h[:, 1:] - phi[:, None] * h[:, :-1]
        stationary = 4.0 * u * (1.0 - u)  # 1 - phi^2
        first = h[:, 0]
        quadratic = np.einsum("cn,cn->c", step, step) + stationary * first * first
        ratio = np.exp(2.0 * log_sigma)
        logp = (
            -0.5 * (shifted + e).sum(axis=1)
            - n * log_sigma + 0.5 * (log_u + log_v) - 0.5 * weight * quadratic
            + 20.0 * log_u + 1.5 * log_v
            - np.log1p(0.25 * mu * mu) - np.log1p(ratio) + log_sigma
        )  # fmt: skip
        slope = 0.5 * (e - 1.0)
        grad = np.empty_like(x)
        grad[:, 0] = slope.sum(axis=1) - 0.5 * mu / (1.0 + 0.25 * mu * mu)
        cross = np.einsum("cn,cn->c", step, h[:, :-1])
        in_phi = -phi / stationary + weight * (phi * first * first + cross)
        grad[:, 1] = in_phi * 0.5 * stationary + 20.0 * (1.0 - u) - 1.5 * u
        grad[:, 2] = weight * quadratic - n - 2.0 * ratio / (1.0 + ratio) + 1.0
        scaled = weight[:, None] * step
        slope[:, 0] -= weight * stationary * first
        slope[:, 1:] -= scaled
        slope[:, :-1] += phi[:, None] * scaled
        grad[:, 3:] = slope
        return logp, grad

    return density


def log_gaussian_cox(y: Array, northing: Array, easting: Array, share: Array) -> Density:
    """Return the density of the log intensity on the grid."""
    variance, length = 1.91, 10 / 33
    points = np.stack(np.meshgrid(northing, easting, indexing="ij"), axis=-1).reshape(-1, 2)
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    covariance = variance * (np.exp(-distance / length) + 1e-8 * np.eye(len(points)))
    precision = np.linalg.inv(covariance)
    mean = np.log(126) - variance / 2
    counts = np.asarray(y, dtype=float).reshape(-1)
    share = float(share)

    def density(x: Array) -> tuple[Array, Array]:
        centred = x - mean
        pull = centred @ precision
        intensity = share * np.exp(x)
        logp = x @ counts - intensity.sum(axis=1) - 0.5 * np.einsum("cn,cn->c", centred, pull)
        return logp, counts - intensity - pull

    return density


HAND_WRITTEN: dict[str, Callable[..., Density]] = {
    "logistic_regression": logistic_regression,
    "linear_regression": linear_regression,
    "eight_schools": eight_schools,
    "stochastic_volatility_centered": stochastic_volatility,
    "log_gaussian_cox": log_gaussian_cox,
}
