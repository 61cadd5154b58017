"""Unbiased estimates of (I + D)^-1 eps and log|det(I + D)| from a few products with D.

    H          Hessian of the potential at one point for each chain         a map
    C          root of the inverse mass matrix                              a map
    kappa      h² (L² - 1) / 6
    D          -kappa C'H C, symmetric; a product with H for each with D    a map
    eps        signs, +1 or -1 with probability 1/2                         (chains, dim)
    eta_k      D^k eps, shortened so that it does not grow                  (chains, dim)
    z_k        H C eta_k                                                    (chains, dim)
    N          terms of the series beyond the first: n0 + G, G geometric
    p_k        probability that N is at least k
    b          direction of eta_N: of the largest eigenvalue of D           (chains, dim)
    mu         b'D b, an estimate of that eigenvalue                        (chains,)

Where D contracts, ``(I + D)^-1 = I - D + D² - ...``. The series stops at a random N, and a term
that is reached with probability p_k weighs 1/p_k (Russian roulette). The same powers of D give mu,
by power iteration, and the products z_k are kept, so that the gradient in C takes none besides.

    Hirt, Titsias and Dellaportas (2021), "Entropy-based adaptive Hamiltonian Monte Carlo",
    eq. (12), (13) and (15), Algorithm 1 and appendix A.1.

Term k adds a second moment of about mu^(2k) / p_k, so that with ``p_k = STOP^(k - n0)`` the
variance is finite only for |mu| below sqrt(STOP) = 0.71. The published penalty starts at 0.75: in
between, rare long series give gradients without a variance, which the sampler bounds.

Deviations. Algorithm 1 prints a series without its first term, eps; appendix A.1 has it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from probmodel.adaptation.projections import Products
from probmodel.types import Array

LEAST = 3  # n0
STOP = 0.5  # probability that the series ends at each term beyond n0
CONTRACTION = 0.99  # delta', of eq. (15)
TINY = 1e-300


class Expansion(NamedTuple):
    """What the series gives.

    Attributes
    ----------
    y : (chains, dim), estimate of (I + D)^-1 eps
    curved_y : (chains, dim), H C y
    curved_eps : (chains, dim), H C eps
    direction : (chains, dim), b; zero where D eps is
    curved_direction : (chains, dim), H C b
    mu : (chains,)
    log_det : (chains,), estimate of log|det(I + D)|
    """

    y: Array
    curved_y: Array
    curved_eps: Array
    direction: Array
    curved_direction: Array
    mu: Array
    log_det: Array


def curvature_factor(step_size: float, n_steps: int) -> float:
    """Return kappa (eq. 11); zero for one leapfrog step, whose entropy is that of C alone."""
    return step_size**2 * (n_steps**2 - 1) / 6.0


def draw_signs(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return eps, of that shape."""
    return 2.0 * rng.integers(0, 2, shape) - 1.0


def draw_weights(rng: np.random.Generator, least: int = LEAST) -> Array:
    """Return `weights` of a random N."""
    return weights(least + int(rng.geometric(STOP)) - 1, least)


def weights(n: int, least: int = LEAST) -> Array:
    """Return (-1)^k / p_k for k = 0, ..., ``n``."""
    k = np.arange(n + 1)
    return (-1.0) ** k / STOP ** np.maximum(k - least, 0)


def expand(
    curve: Callable[[Array], Array], C: Products, kappa: float, eps: Array, weights: Array
) -> Expansion:
    """Sum the series; it takes as many products with H as there are weights.

    Parameters
    ----------
    curve : H v for each row of v, (chains, dim)
    C : root
    kappa : zero makes D zero
    eps : (chains, dim)
    weights : of the terms; at least two
    """
    eta, y = eps, weights[0] * eps
    curved_y, log_det = np.zeros_like(eps), np.zeros(len(eps))
    curved_eps = eps
    for k, (weight, next_weight) in enumerate(pairwise(weights)):
        z = curve(C.times(eta))
        curved_eps = z if k == 0 else curved_eps
        curved_y = curved_y + weight * z
        eta = _shortened(-kappa * C.transposed(z), eta)  # eq. (15)
        y = y + next_weight * eta
        log_det -= next_weight / (k + 1) * np.einsum("ij,ij->i", eps, eta)  # eq. (13)
    length = _lengths(eta)
    b = eta / np.maximum(length, TINY)
    Cb = C.times(b)
    curved_b = curve(Cb)
    curved_y = curved_y + weights[-1] * length * curved_b
    mu = -kappa * np.einsum("ij,ij->i", Cb, curved_b)
    return Expansion(y, curved_y, curved_eps, b, curved_b, mu, log_det)


def _shortened(new: Array, old: Array) -> Array:
    """Return ``new``, each row no longer than `CONTRACTION` times that of ``old``."""
    factor = CONTRACTION * _lengths(old) / np.maximum(_lengths(new), TINY)
    return np.asarray(new * np.minimum(1.0, factor))


def _lengths(rows: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None])
