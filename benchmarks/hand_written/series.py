"""A series in time whose variance changes."""

from __future__ import annotations

import numpy as np

from hand_written.types import Array, Density


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
