"""Observations in groups: known groups, and groups summed out."""

from __future__ import annotations

import numpy as np

from hand_written.types import Array, Density


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


def gaussian_mixture(y: Array) -> Density:
    """Return the density of the first mean, the log gap, two log scales, and log odds."""
    y = np.asarray(y)
    n = len(y)

    def density(x: Array) -> tuple[Array, Array]:
        log_scale, odds = x[:, 2:4], x[:, 4]
        gap, inverse = np.exp(x[:, 1]), np.exp(-log_scale)
        means = np.stack([x[:, 0], x[:, 0] + gap], axis=1)
        e = np.exp(-np.abs(odds))
        theta = np.where(odds >= 0.0, 1.0, e) / (1.0 + e)
        log_rest = -np.log1p(e) - np.maximum(odds, 0.0)  # log(1 - theta)
        log_theta = log_rest + odds

        first = (y - means[:, :1]) * inverse[:, :1]
        second = (y - means[:, 1:]) * inverse[:, 1:]
        squares = first * first
        shift = log_scale[:, 0] - log_scale[:, 1] - odds
        # The log ratio of the second component's density to the first's.
        ratio = 0.5 * (squares - second * second) + shift[:, None]
        far = np.exp(-np.abs(ratio))
        softplus = np.log1p(far)
        share = np.where(ratio >= 0.0, 1.0, far) / (1.0 + far)  # of the second component
        softplus += np.maximum(ratio, 0.0)

        # Sums of each component's residuals and their squares, weighted by its share.
        weighted = share * second
        in_second, squares_second = weighted.sum(axis=1), np.einsum("cn,cn->c", weighted, second)
        weighted = first - share * first
        in_first, squares_first = weighted.sum(axis=1), np.einsum("cn,cn->c", weighted, first)
        count = share.sum(axis=1)

        prior = 0.25 * means
        scaled = 0.25 * np.exp(2.0 * log_scale)
        logp = (
            n * (log_theta - log_scale[:, 0]) - 0.5 * squares.sum(axis=1) + softplus.sum(axis=1)
            - 0.5 * (means * prior + scaled).sum(axis=1)
            + 5.0 * (log_theta + log_rest) + x[:, 1:4].sum(axis=1)
        )  # fmt: skip
        in_first = in_first * inverse[:, 0] - prior[:, 0]
        in_second = in_second * inverse[:, 1] - prior[:, 1]
        grad = np.empty_like(x)
        grad[:, 0] = in_first + in_second
        grad[:, 1] = in_second * gap + 1.0
        grad[:, 2] = squares_first - (n - count) - scaled[:, 0] + 1.0
        grad[:, 3] = squares_second - count - scaled[:, 1] + 1.0
        grad[:, 4] = n + 5.0 - count - (n + 10.0) * theta
        return logp, grad

    return density
