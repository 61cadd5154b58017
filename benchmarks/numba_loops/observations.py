"""Loops over observations, in one pass where sums allow it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = Any


def eight_schools(jit: Any, exp: Any, log1p: Any) -> Any:
    """Return the maker of the density of mu, log tau and the standardised effects."""

    @jit
    def density(x: Array, y: Array, precision: Array) -> tuple[Array, Array]:
        chains, n = len(x), len(y)
        logp, grad = np.empty(chains), np.empty_like(x)
        for c in range(chains):
            mu, tau = x[c, 0], exp(x[c, 1])
            total = in_mu = in_tau = 0.0
            for i in range(n):
                z = x[c, 2 + i]
                residual = y[i] - mu - tau * z
                slope = residual * precision[i]
                total += residual * slope + z * z
                in_mu += slope
                in_tau += slope * z
                grad[c, 2 + i] = tau * slope - z
            ratio = tau * tau / 25.0
            logp[c] = x[c, 1] - 0.5 * total - mu * mu / 50.0 - math.log1p(ratio)
            grad[c, 0] = in_mu - mu / 25.0
            grad[c, 1] = tau * in_tau - 2.0 * ratio / (1.0 + ratio) + 1.0
        return logp, grad

    def of(y: Array, sigma: Array) -> Any:
        y, precision = np.asarray(y, dtype=float), np.asarray(sigma, dtype=float) ** -2.0
        return lambda x: density(x, y, precision)

    return of


def logistic_regression(jit: Any, exp: Any, log1p: Any) -> Any:
    """Return the maker of the density of intercept and slopes with standard normal priors."""

    @jit
    def density(x: Array, columns: Array, half: Array) -> tuple[Array, Array]:
        (chains, dim), n = x.shape, columns.shape[1]
        logp, grad, eta = np.empty(chains), np.empty_like(x), np.empty(n)
        for c in range(chains):
            eta[:] = x[c, 0]
            for j in range(1, dim):
                slope = x[c, j]
                for i in range(n):
                    eta[i] += slope * columns[j, i]
            total = in_alpha = 0.0
            for i in range(n):
                size = abs(eta[i])
                e = exp(-size)
                total += 0.5 * size + log1p(e)
                pull = 0.5 * math.copysign((1.0 - e) / (1.0 + e), eta[i])
                eta[i] = pull
                in_alpha += pull
            grad[c, 0] = half[0] - in_alpha - x[c, 0]
            prior = x[c, 0] * (0.5 * x[c, 0] - half[0])
            for j in range(1, dim):
                pulled = 0.0
                for i in range(n):
                    pulled += columns[j, i] * eta[i]
                grad[c, j] = half[j] - pulled - x[c, j]
                prior += x[c, j] * (0.5 * x[c, j] - half[j])
            logp[c] = -total - prior
        return logp, grad

    def of(X: Array, y: Array) -> Any:
        columns = np.ascontiguousarray(np.column_stack([np.ones(len(X)), X]).T)
        half = columns @ (np.asarray(y, dtype=float) - 0.5)
        return lambda x: density(x, columns, half)

    return of


def stochastic_volatility(jit: Any, exp: Any, log1p: Any) -> Any:
    """Return the maker of the density of mu, log odds of (phi + 1) / 2, log sigma, and h."""

    @jit
    def density(x: Array, squared: Array) -> tuple[Array, Array]:
        chains, n = len(x), len(squared)
        logp, grad = np.empty(chains), np.empty_like(x)
        for c in range(chains):
            mu, log_sigma, h, g = x[c, 0], x[c, 2], x[c, 3:], grad[c, 3:]
            u = 1.0 / (1.0 + math.exp(-x[c, 1]))
            v = 1.0 / (1.0 + math.exp(x[c, 1]))
            log_u, log_v = math.log(u), math.log(v)
            phi, weight, stationary = u - v, math.exp(-2.0 * log_sigma), 4.0 * u * v
            first, last = h[0], h[n - 1] - phi * h[n - 2]
            e = squared[0] * exp(-mu - first)
            likelihood = first + e
            slopes = e - 1.0
            after = h[1] - phi * first
            g[0] = 0.5 * (e - 1.0) + weight * (phi * after - stationary * first)
            cross = squares = 0.0
            for t in range(1, n - 1):
                step, after = h[t] - phi * h[t - 1], h[t + 1] - phi * h[t]
                e = squared[t] * exp(-mu - h[t])
                likelihood += h[t] + e
                slopes += e - 1.0
                g[t] = 0.5 * (e - 1.0) + weight * (phi * after - step)
                squares += step * step
                cross += step * h[t - 1]
            e = squared[n - 1] * exp(-mu - h[n - 1])
            likelihood += h[n - 1] + e + n * mu
            slopes += e - 1.0
            g[n - 1] = 0.5 * (e - 1.0) - weight * last
            cross += last * h[n - 2]
            quadratic = squares + last * last + stationary * first * first
            ratio = math.exp(2.0 * log_sigma)
            logp[c] = (
                20.5 * log_u + 2.0 * log_v - 0.5 * (likelihood + weight * quadratic)
                - (n - 1) * log_sigma - math.log1p(0.25 * mu * mu) - math.log1p(ratio)
            )  # fmt: skip
            grad[c, 0] = 0.5 * slopes - 0.5 * mu / (1.0 + 0.25 * mu * mu)
            in_phi = weight * (phi * first * first + cross) - phi / stationary
            grad[c, 1] = 0.5 * stationary * in_phi + 20.0 * v - 1.5 * u
            grad[c, 2] = weight * quadratic - n - 2.0 * ratio / (1.0 + ratio) + 1.0
        return logp, grad

    def of(y: Array) -> Any:
        squared = np.asarray(y, dtype=float) ** 2
        return lambda x: density(x, squared)

    return of


def gaussian_mixture(jit: Any, exp: Any, log1p: Any) -> Any:
    """Return the maker of the density of first mean, log gap, two log scales, and log odds."""

    @jit
    def density(x: Array, y: Array) -> tuple[Array, Array]:
        chains, n = len(x), len(y)
        logp, grad = np.empty(chains), np.empty_like(x)
        for c in range(chains):
            mean, gap, odds = x[c, 0], math.exp(x[c, 1]), x[c, 4]
            other, precise, sharp = mean + gap, math.exp(-x[c, 2]), math.exp(-x[c, 3])
            shift = x[c, 2] - x[c, 3] - odds
            total = count = in_first = in_second = squares_first = squares_second = 0.0
            for i in range(n):
                first, second = (y[i] - mean) * precise, (y[i] - other) * sharp
                square = first * first
                ratio = 0.5 * (square - second * second) + shift
                far = exp(-abs(ratio))
                near = 1.0 / (1.0 + far)
                share = near if ratio >= 0.0 else far * near  # of the second component
                rest = far * near if ratio >= 0.0 else near
                total += log1p(far) + max(ratio, 0.0) - 0.5 * square
                count += share
                in_first += rest * first
                in_second += share * second
                squares_first += rest * square
                squares_second += share * second * second
            theta = 1.0 / (1.0 + math.exp(-odds))
            log_theta, log_rest = math.log(theta), math.log1p(-theta)
            wide, narrow = 0.25 / (precise * precise), 0.25 / (sharp * sharp)
            prior = 0.25 * (mean * mean + other * other) + wide + narrow
            logp[c] = (
                n * (log_theta - x[c, 2]) + total - 0.5 * prior
                + 5.0 * (log_theta + log_rest) + x[c, 1] + x[c, 2] + x[c, 3]
            )  # fmt: skip
            in_other = in_second * sharp - 0.25 * other
            grad[c, 0] = in_first * precise - 0.25 * mean + in_other
            grad[c, 1] = in_other * gap + 1.0
            grad[c, 2] = squares_first - (n - count) - wide + 1.0
            grad[c, 3] = squares_second - count - narrow + 1.0
            grad[c, 4] = n + 5.0 - count - (n + 10.0) * theta
        return logp, grad

    def of(y: Array) -> Any:
        y = np.asarray(y, dtype=float)
        return lambda x: density(x, y)

    return of
