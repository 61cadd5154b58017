"""Gaussian processes: latent on a grid, integrated out, and as sums of waves."""

from __future__ import annotations

import numpy as np

from hand_written.types import Array, Density


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


def gaussian_process_regression(x: Array, y: Array) -> Density:
    """Return the density of log length scale, log amplitude and log variance of the noise."""
    x, y = np.asarray(x, dtype=float), np.asarray(y)
    half = 0.5 * (x[:, None] - x) ** 2
    n = len(x)
    diagonal = np.arange(n)

    def density(u: Array) -> tuple[Array, Array]:
        rho, alpha, noise = np.exp(u).T
        nearness = half / (rho * rho)[:, None, None]
        smooth = np.exp(-nearness)
        smooth *= (alpha * alpha)[:, None, None]
        covariance = smooth.copy()
        covariance[:, diagonal, diagonal] += noise[:, None]
        try:
            factor = np.linalg.cholesky(covariance)
            inverse = np.linalg.inv(covariance)
        except np.linalg.LinAlgError:
            return np.full(len(u), np.nan), np.full_like(u, np.nan)
        log_root = np.log(factor[:, diagonal, diagonal]).sum(axis=1)
        dual = inverse @ y
        logp = (
            -0.5 * (dual @ y) - log_root
            + 25.0 * u[:, 0] - 4.0 * rho
            + u[:, 1] - 0.125 * alpha * alpha + u[:, 2] - 0.5 * noise * noise
        )  # fmt: skip
        # Twice the derivative in the covariance.
        slope = dual[:, :, None] * dual[:, None, :]
        slope -= inverse
        in_noise = np.einsum("cnn->c", slope)
        slope *= smooth
        grad = np.empty_like(u)
        grad[:, 0] = np.einsum("cnm,cnm->c", slope, nearness) + 25.0 - 4.0 * rho
        grad[:, 1] = slope.sum(axis=(1, 2)) + 1.0 - 0.25 * alpha * alpha
        grad[:, 2] = 0.5 * noise * in_noise + 1.0 - noise * noise
        return logp, grad

    return density


def motorcycle(time: Array, accel: Array) -> Density:
    """Return the density of both curves: intercept, log sd, log length and waves of each."""
    time, y = np.asarray(time, dtype=float), np.asarray(accel)
    boundary = 1.5
    position = (time - time.mean()) / (time.max() - time.min())
    frequency = np.pi * np.arange(1, 41) / (2 * boundary)
    waves = np.sin(frequency * (position[:, None] + boundary)) / np.sqrt(boundary)
    mean = _Curve(waves, frequency, center=-13.0, spread=36.0)
    deviation = _Curve(waves[:, :20], frequency[:20], center=0.0, spread=10.0)

    def density(x: Array) -> tuple[Array, Array]:
        first, second = x[:, :43], x[:, 43:]
        loc, state = mean.values(first)
        log_scale, log_state = deviation.values(second)
        inverse = np.exp(-log_scale)
        z = (y - loc) * inverse
        squares = z * z
        logp = -0.5 * squares.sum(axis=1) - log_scale.sum(axis=1)
        grad = np.empty_like(x)
        logp += mean.pull_back(first, state, z * inverse, grad[:, :43])
        logp += deviation.pull_back(second, log_state, squares - 1.0, grad[:, 43:])
        return logp, grad

    return density


class _Curve:
    """A sum of waves with normal weights, and the priors of its parameters.

    A row of parameters holds the intercept, log sd, log length and the standardised weights.
    """

    def __init__(self, waves: Array, frequency: Array, center: float, spread: float) -> None:
        self.waves, self.transposed = waves, np.ascontiguousarray(waves.T)
        self.quarter = 0.25 * frequency**2
        self.center, self.spread = center, spread

    def values(self, x: Array) -> tuple[Array, tuple[Array, ...]]:
        """Return the curve at all times, and what its derivatives need."""
        scales = np.exp(x[:, 1:3])
        decay = (scales[:, 1] ** 2)[:, None] * self.quarter
        amplitude = (2.0 * np.pi) ** 0.25 * scales[:, 0] * np.sqrt(scales[:, 1])
        scale = amplitude[:, None] * np.exp(-decay)
        weights = scale * x[:, 3:]
        curve = weights @ self.transposed
        curve += x[:, :1]
        return curve, (scales, decay, scale, weights)

    def pull_back(self, x: Array, state: tuple[Array, ...], slope: Array, grad: Array) -> Array:
        """Write the gradient, from the slope in the curve; return the log prior densities."""
        scales, decay, scale, weights = state
        z, sd, length = x[:, 3:], scales[:, 0], scales[:, 1]
        in_weights = slope @ self.waves
        taken = in_weights * weights
        total = taken.sum(axis=1)
        off = (x[:, 0] - self.center) / self.spread
        ratio = sd * sd / (3.0 * 36.0**2)
        rate = 0.0177 / length
        grad[:, 0] = slope.sum(axis=1) - 4.0 * off / ((3.0 + off * off) * self.spread)
        grad[:, 1] = total - 4.0 * ratio / (1.0 + ratio) + 1.0
        grad[:, 2] = 0.5 * total - 2.0 * np.einsum("cn,cn->c", taken, decay) - 1.124909 + rate
        grad[:, 3:] = in_weights * scale - z
        return (
            -2.0 * np.log1p(off * off / 3.0) - 2.0 * np.log1p(ratio) + x[:, 1]
            - 1.124909 * x[:, 2] - rate - 0.5 * np.einsum("cn,cn->c", z, z)
        )  # fmt: skip
