"""Weights of particles: how effective they are, and which particles are taken by them.

    w_n    weights, of N particles                  (chains, N)
    ESS    (sum w)^2 / sum w^2

Kong, Liu and Wong (1994), "Sequential imputations and Bayesian missing data problems", JASA 89, for
ESS; Carpenter, Clifford and Fearnhead (1999), "Improved particle filter for nonlinear problems",
IEE Proceedings 146, for systematic resampling.
"""

from __future__ import annotations

import numpy as np

from probmodel.types import Array

HALVINGS = 60  # of the interval in which the logarithm of the next rise is
SMALLEST = -690.0  # of that logarithm


def normalised(log_w: Array) -> tuple[Array, Array]:
    """Return weights that sum to one, (chains, N), and the log of the mean weight: (chains,)."""
    top = log_w.max(axis=1, keepdims=True)
    w = np.exp(log_w - top)
    total = w.sum(axis=1)
    return w / total[:, None], top[:, 0] + np.log(total / log_w.shape[1])


def effective(weights: Array) -> Array:
    """Return ESS of weights that sum to one: (chains, N) -> (chains,)."""
    return np.asarray(1.0 / np.sum(weights**2, axis=1))


def next_rise(log_likelihood: Array, left: Array, share: float) -> Array:
    """Return by how much beta may rise until a share of the particles is effective: (chains,).

    Particles without a likelihood, of (chains, N), do not count; ``left``, (chains,), is the most
    it may rise.
    """
    n = np.isfinite(log_likelihood).sum(axis=1)

    def too_far(rise: Array) -> Array:
        with np.errstate(invalid="ignore"):
            log_w = np.where(np.isfinite(log_likelihood), rise[:, None] * log_likelihood, -np.inf)
        return effective(normalised(log_w)[0]) < share * n

    low, high = np.full_like(left, SMALLEST), np.log(np.maximum(left, np.exp(SMALLEST)))
    far = too_far(left)
    for _ in range(HALVINGS if far.any() else 0):
        middle = 0.5 * (low + high)
        beyond = too_far(np.exp(middle))
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.where(far, np.exp(low), left)


def resampled(weights: Array, v: Array) -> Array:
    """Return which particles are taken, by systematic resampling: (chains, N), in order."""
    chains, n = weights.shape
    edges = np.cumsum(weights, axis=1)
    edges /= edges[:, -1:]
    at = (np.arange(n) + v[:, None]) / n
    offset = 2.0 * np.arange(chains)[:, None]  # all chains in one sorted search
    found = np.searchsorted((edges + offset).ravel(), (at + offset).ravel())
    return np.clip(found.reshape(chains, n) - n * np.arange(chains)[:, None], 0, n - 1)
