"""Stochastic gradient ascent on the generalised speed measure of a proposal.

    L         root of the proposal's covariance         (dim, dim) lower triangular, or (dim,)
    l, r      rows of the gradient's outer products     (rows, dim) each: the gradient is sum l r'
    beta      weight of the proposal's entropy          ()
    V         running mean of squared gradients         the shape of L
    eta       learning rate                             ()

The measure of a proposal is ``E[min(0, log ratio)] + beta entropy``: large for proposals that are
both accepted and spread out. The gradient of its first term is a sum of outer products that the
sampler supplies; that of the entropy, ``log det L``, is diagonal.

    Titsias and Dellaportas (2019), "Gradient-based adaptive Markov chain Monte Carlo", section 2
    and Algorithm 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.types import Array

FORGET = 0.9  # what a running mean of squares keeps
SHRINK = 0.9  # of L, where no proposal was finite
SMALLEST_BETA, LARGEST_BETA = 1e-4, 100.0
LARGEST = 1e75  # of an entry of a factor: products of four are still finite


class SpeedMeasure(NamedTuple):
    """Root of the covariance, mean squared gradient (None before the first), weight of entropy."""

    L: Array
    V: Array | None
    beta: float


def ratio_gradient(left: Array, right: Array, chains: int, diagonal: bool) -> Array:
    """Mean over ``chains`` of the outer products of rows, as far as L has entries.

    Parameters
    ----------
    left, right : (rows, dim); rows that belong to one chain may stand apart
    chains : the chains that the mean is over, those with a ratio of one or more included
    diagonal : whether L is diagonal
    """
    left, right = (np.clip(rows, -LARGEST, LARGEST) for rows in (left, right))
    if diagonal:
        return np.asarray(np.einsum("ij,ij->j", left, right) / chains)
    return np.tril(left.T @ right) / chains


def ascend(measure: SpeedMeasure, gradient: Array, rate: float, floor: float) -> SpeedMeasure:
    """Move L one RMSProp step up, the entropy's part added to ``gradient``.

    The diagonal is kept above ``floor``: entropy is infinitely steep at zero, and a step could
    jump over it.
    """
    L, V, beta = measure
    if L.ndim == 1:
        G = gradient + beta / L
    else:
        G = gradient.copy()
        G.flat[:: len(L) + 1] += beta / np.diagonal(L)
    squares = G * G
    V = squares if V is None else FORGET * V + (1.0 - FORGET) * squares
    return SpeedMeasure(floored(L + rate * G / (1.0 + np.sqrt(V)), floor), V, beta)


def shrunk(measure: SpeedMeasure, floor: float) -> SpeedMeasure:
    """Shorten all moves, where not one proposal was finite: there is no gradient to follow."""
    return measure._replace(L=floored(SHRINK * measure.L, floor))


def floored(L: Array, floor: float) -> Array:
    """Return L with a diagonal of at least ``floor``."""
    if L.ndim == 1:
        return np.maximum(L, floor)
    L = L.copy()
    L.flat[:: len(L) + 1] = np.maximum(np.diagonal(L), floor)
    return L


def weigh_entropy(beta: float, accepted: float, target: float, rate: float) -> float:
    """``beta <- beta [1 + rate (a - target)]``, between `SMALLEST_BETA` and `LARGEST_BETA`.

    The upper limit is that of Hirt, Titsias and Dellaportas (2021), Algorithm 1; the paper of 2019
    has none. Without it beta grows for as long as L is on its way to scales far above where it
    started, by many powers of ten, and does not come back before L has gone far beyond them.
    """
    return min(max(SMALLEST_BETA, beta * (1.0 + rate * (accepted - target))), LARGEST_BETA)
