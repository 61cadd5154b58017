"""First-passage times of Brownian motion between two barriers, as autograd primitives.

``g(u, w)`` is the density, at the time ``u``, of reaching 0 before 1 from ``w``, without drift.
With its derivatives ``G_n`` in ``w`` it satisfies the heat equation ``dG_n/du = G_{n+2} / 2``, so
that the ratios ``R_n = G_n / g`` are differentiated by each other:
``dR_n/dw = R_{n+1} - R_n R_1`` and ``dR_n/du = (R_{n+2} - R_n R_2) / 2``.

References
----------
Navarro and Fuss (2009), Fast and accurate calculations for first-passage times in Wiener diffusion
models, eqs. 5 and 6: the two series, of which one is good early and the other late.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from autograd.extend import defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f

from probmodel.numerics.special import LOG_2PI, differentiable
from probmodel.types import Array

# Where the series change, both are exact to rounding with these terms, derivatives included.
_SWITCH = 0.5
_IMAGES = np.arange(-4, 5)
_WAVES = np.arange(1, 9)


def passage_series(u: Any, w: Any, top: int) -> tuple[Any, list[Any]]:
    """Logarithm of ``g``, and the ratios ``R_1`` to ``R_top``, at positive times ``u``.

    Starting points ``w`` lie between 0 and 1, and broadcast against them.
    """
    early, late = np.minimum(u, _SWITCH), np.maximum(u, _SWITCH)
    is_early = u < _SWITCH
    log_early, sums_early = _images(early, w, top)
    log_late, sums_late = _waves(late, w, top)
    sums = [np.where(is_early, a, b) for a, b in zip(sums_early, sums_late, strict=True)]
    log_g = np.where(is_early, log_early, log_late) + np.log(sums[0])
    return log_g, [s / sums[0] for s in sums[1:]]


def _images(u: Any, w: Any, top: int) -> tuple[Any, list[Any]]:
    """Log scale and scaled ``G_n`` by images, with Hermite polynomials: for early times."""
    root = np.sqrt(u)
    distance = (w[..., None] + 2.0 * _IMAGES) / root[..., None]
    share = np.exp(-2.0 * _IMAGES * (w[..., None] + _IMAGES) / u[..., None])
    last, current = 1.0, distance
    sums = []
    for n in range(top + 1):
        sums.append((-1.0) ** n * np.sum(current * share, axis=-1) / root**n)
        last, current = current, distance * current - (n + 1.0) * last
    return -0.5 * LOG_2PI - np.log(u) - 0.5 * w * w / u, sums


def _waves(u: Any, w: Any, top: int) -> tuple[Any, list[Any]]:
    """Log scale and scaled ``G_n`` by sines: for late times."""
    rate = np.pi * _WAVES
    share = _WAVES * np.exp(-0.5 * np.pi**2 * (_WAVES**2 - 1.0) * u[..., None])
    angle = rate * w[..., None]
    sines = (np.sin(angle), np.cos(angle))
    sums = []
    for n in range(top + 1):
        sign = -1.0 if n % 4 in (2, 3) else 1.0
        sums.append(sign * np.sum(share * rate**n * sines[n % 2], axis=-1))
    return np.log(np.pi) - 0.5 * np.pi**2 * u, sums


@differentiable
def log_passage(u: Any, w: Any) -> Any:
    """Logarithm of ``g``."""
    return passage_series(np.asarray(u, dtype=float), np.asarray(w, dtype=float), 0)[0]


@differentiable
def passage_ratio(n: int, u: Any, w: Any) -> Any:
    """Ratio ``R_n``, for ``n`` >= 1."""
    return passage_series(np.asarray(u, dtype=float), np.asarray(w, dtype=float), n)[1][n - 1]


def passage_given_first(u: Array, w: Array) -> Array:
    """Ratio of ``g`` to the density of reaching 0 at ``u`` without the other barrier: at most 1."""
    first = -0.5 * LOG_2PI + np.log(w) - 1.5 * np.log(u) - 0.5 * w * w / u
    return np.exp(passage_series(u, w, 0)[0] - first)


defvjp(
    log_passage,
    lambda ans, u, w: unbroadcast_f(u, lambda g: 0.5 * g * passage_ratio(2, u, w)),
    lambda ans, u, w: unbroadcast_f(w, lambda g: g * passage_ratio(1, u, w)),
)
defvjp(
    passage_ratio,
    lambda ans, n, u, w: unbroadcast_f(
        u, lambda g: 0.5 * g * (passage_ratio(n + 2, u, w) - ans * passage_ratio(2, u, w))
    ),
    lambda ans, n, u, w: unbroadcast_f(
        w, lambda g: g * (passage_ratio(n + 1, u, w) - ans * passage_ratio(1, u, w))
    ),
    argnums=(1, 2),
)
