"""Hamiltonian moves of points in groups, each group at an inverse temperature of its own.

    x        points                                                     (groups, n, dim)
    beta     inverse temperatures                                       (groups,)
    s        scores, the gradients of log pi_beta                       (groups, n, dim)
    F        their second moments, E[s s'], or the diagonal of these    (groups, dim, dim)
    C        root of the inverse mass matrix, C C' = F^-1               (groups, dim, dim)
    p        whitened momenta, N(0, I)                                  (groups, n, dim)
    epsilon  step sizes                                                 (groups,)

A normal density has F^-1 as its covariance, and then all directions oscillate alike. Between far
modes F keeps the scale of a mode, where a covariance would have that of their distance.

Titsias (2023), "Optimal preconditioning and Fisher adaptive Langevin sampling", section 3, for the
choice of F.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probmodel.samplers.metropolis import placed, select
from probmodel.types import Array

DENSE = 100  # dimensions, up to which C is dense
QUARTER = 1.5  # length of a trajectory: about a quarter of an oscillation
LONGEST = 16  # steps of a trajectory


class Points(NamedTuple):
    """Points with their log density, score and log likelihood: (groups, n) or (groups, n, dim)."""

    x: Array
    logp: Array
    score: Array
    log_likelihood: Array


class Noise(NamedTuple):
    """What is random in a move: momenta, (groups, n, dim), and uniform numbers, (groups, n)."""

    momenta: Array
    u: Array


def evaluate(density: Any, x: Array, beta: Array) -> Points:
    """Evaluate points, all at once."""
    groups, n, dim = x.shape
    with np.errstate(all="ignore"):  # trajectories that run away are marked
        found = density.tempered(x.reshape(-1, dim), np.repeat(beta, n))
    shape = groups, n
    return Points(
        x, found.logp.reshape(shape), found.grad.reshape(x.shape),
        found.log_likelihood.reshape(shape),
    )  # fmt: skip


def move(
    density: Any,
    start: Points,
    beta: Array,
    root: Array,
    step_size: Array,
    n_steps: Array,
    noise: Noise,
) -> tuple[Points, Array]:
    """Make one trajectory from every point, of ``n_steps``, (groups,); accept its end or stay.

    A point without a density moves to any that has one. Returns the points, and the probabilities
    by which the ends were accepted: (groups, n).
    """
    epsilon = step_size[:, None, None]
    with np.errstate(all="ignore"):  # trajectories that run away are marked
        p = noise.momenta + 0.5 * epsilon * _transposed_times(root, start.score)
        end = start
        for step in range(1, int(n_steps.max()) + 1):
            on = n_steps >= step
            last = (n_steps == step)[on, None, None]
            some = Points(*(part[on] for part in end))
            some = evaluate(density, some.x + epsilon[on] * _times(root[on], p[on]), beta[on])
            kick = np.where(last, 0.5, 1.0) * epsilon[on]
            p[on] += kick * _transposed_times(root[on], some.score)
            end = some if on.all() else placed(end, on, some)
        kinetic = 0.5 * np.sum(noise.momenta**2 - p**2, axis=2)
        log_ratio = np.where(np.isneginf(start.logp), np.inf, end.logp - start.logp + kinetic)
        probability = np.exp(np.minimum(0.0, log_ratio))
    probability = np.where(np.isfinite(end.logp) & ~np.isnan(probability), probability, 0.0)
    return select(noise.u < probability, end, start), probability


def second_moments(score: Array) -> Array:
    """Return F of scores: (groups, n, dim)."""
    weight = np.full(score.shape[:2], 1.0 / score.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        if score.shape[2] > DENSE:
            return np.einsum("gn,gni,gni->gi", weight, score, score)
        return np.swapaxes(score, 1, 2) @ (weight[:, :, None] * score)


def root_of(moments: Array, n: float) -> Array:
    """Return C for moments of ``n`` scores; correlations that so few cannot tell are shrunk."""
    dim = moments.shape[1]
    if moments.ndim == 2:
        return 1.0 / np.sqrt(_positive(moments))
    diagonal = _positive(np.diagonal(moments, axis1=1, axis2=2))
    scale = 1.0 / np.sqrt(diagonal)
    with np.errstate(all="ignore"):
        correlation = moments * scale[:, :, None] * scale[:, None, :] * (n / (n + dim))
    correlation[~np.isfinite(correlation).all(axis=(1, 2))] = 0.0  # squares that overflow
    correlation[:, np.arange(dim), np.arange(dim)] = 1.0
    lower = np.linalg.cholesky(correlation)
    root = scale[:, :, None] * np.swapaxes(np.linalg.inv(lower), 1, 2)
    # Products are rounded as the memory lies: what is written to a file and read is to do the same.
    return np.ascontiguousarray(root)


def drawn_steps(rng: np.random.Generator, step_size: Array) -> Array:
    """Draw the steps of trajectories: (groups,), each from half of a length to the length."""
    most = np.clip(np.ceil(QUARTER / step_size), 1, LONGEST).astype(int)
    return rng.integers((most + 1) // 2, most + 1)


def _positive(diagonal: Array) -> Array:
    """Return the diagonal of F with no zeros, which scores of a flat density have."""
    return np.where((diagonal > 0.0) & np.isfinite(diagonal), diagonal, 1.0)


def _times(root: Array, v: Array) -> Array:
    """Return C v of every point."""
    return v * root[:, None] if root.ndim == 2 else v @ np.swapaxes(root, 1, 2)


def _transposed_times(root: Array, v: Array) -> Array:
    """Return C'v of every point."""
    return v * root[:, None] if root.ndim == 2 else v @ root


def whitened(root: Array, v: Array) -> Array:
    """Return C^-1 v of every point."""
    if root.ndim == 2:
        return v / root[:, None]
    return np.swapaxes(np.linalg.solve(root, np.swapaxes(v, 1, 2)), 1, 2)


def halves(part: Array) -> Array:
    """Split populations in two: (chains, N, ...) to (2 chains, N / 2, ...)."""
    chains, n = part.shape[:2]
    return part.reshape(2 * chains, n // 2, *part.shape[2:])


def whole(part: Array) -> Array:
    """Put halves together again."""
    groups, n = part.shape[:2]
    return part.reshape(groups // 2, 2 * n, *part.shape[2:])


def crossed_roots(score: Array) -> Array:
    """Return what moves each half of the particles by, learned from the other half."""
    split = halves(score)
    root = root_of(second_moments(split), split.shape[1])
    return root.reshape(len(score), 2, *root.shape[1:])[:, ::-1].copy()
