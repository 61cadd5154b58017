"""Regressions with one normal or binary outcome."""

from __future__ import annotations

import numpy as np

from hand_written.types import Array, Density


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
    X = np.asarray(getattr(X, "values", X))
    scales = np.array([100.0, *[10.0] * X.shape[1]])
    return _regression_with_priors(X, np.asarray(y), scales, largest=10.0)


def autoregression(y: Array) -> Density:
    """Return the density of intercept, five coefficients and log standard deviation."""
    y = np.asarray(y)
    past = np.stack([y[4:-1], y[3:-2], y[2:-3], y[1:-4], y[:-5]], axis=1)
    return _regression_with_priors(past, y[5:], np.full(6, 10.0), largest=2.5)


def _regression_with_priors(X: Array, y: Array, scales: Array, largest: float) -> Density:
    """Return the density with normal coefficients and a half-Cauchy standard deviation."""
    X = np.column_stack([np.ones(len(X)), X])
    transposed = np.ascontiguousarray(X.T)
    n = len(y)
    precision = 1.0 / scales**2

    def density(x: Array) -> tuple[Array, Array]:
        beta, log_sigma = x[:, :-1], x[:, -1]
        residual = y - beta @ transposed
        squares = np.einsum("cn,cn->c", residual, residual)
        weight = np.exp(-2.0 * log_sigma)
        ratio = np.exp(2.0 * log_sigma) / largest**2
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


def nes(
    real_ideo: Array,
    race_adj: Array,
    age_discrete: Array,
    educ1: Array,
    gender: Array,
    income: Array,
    partyid7: Array,
) -> Density:
    """Return the density of nine coefficients and the log standard deviation, all flat."""
    age = np.asarray(age_discrete)
    columns = [np.ones(len(age)), real_ideo, race_adj, age == 2, age == 3, age == 4]
    X = np.column_stack([*columns, educ1, gender, income])
    transposed = np.ascontiguousarray(X.T)
    y, n = np.asarray(partyid7), len(age)

    def density(x: Array) -> tuple[Array, Array]:
        log_sigma = x[:, -1]
        residual = y - x[:, :-1] @ transposed
        weight = np.exp(-2.0 * log_sigma)
        squares = weight * np.einsum("cn,cn->c", residual, residual)
        grad = np.empty_like(x)
        grad[:, :-1] = weight[:, None] * (residual @ X)
        grad[:, -1] = squares + (1.0 - n)
        return (1.0 - n) * log_sigma - 0.5 * squares, grad

    return density


def kilpisjarvi(
    x: Array, pmualpha: Array, psalpha: Array, pmubeta: Array, psbeta: Array, y: Array
) -> Density:
    """Return the density of intercept, slope and log standard deviation."""
    years, y = np.asarray(x, dtype=float), np.asarray(y)
    n = len(y)
    center = np.array([float(pmualpha), float(pmubeta)])
    precision = 1.0 / np.array([float(psalpha), float(psbeta)]) ** 2

    def density(x: Array) -> tuple[Array, Array]:
        log_sigma = x[:, 2]
        residual = y - x[:, :1] - x[:, 1:2] * years
        weight = np.exp(-2.0 * log_sigma)
        squares = weight * np.einsum("cn,cn->c", residual, residual)
        off = x[:, :2] - center
        pull = off * precision
        logp = (1.0 - n) * log_sigma - 0.5 * squares - 0.5 * np.einsum("cn,cn->c", off, pull)
        grad = np.empty_like(x)
        grad[:, 0] = weight * residual.sum(axis=1)
        grad[:, 1] = weight * (residual @ years)
        grad[:, :2] -= pull
        grad[:, 2] = squares + (1.0 - n)
        return logp, grad

    return density
