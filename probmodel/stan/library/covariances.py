"""Covariance matrices of Gaussian processes, by Stan's names.

The points are numbers or vectors, one set or two, and the length scale is a number, or an array
with one for each coordinate. Each function has an entry for each of these cases: ``name:numbers``,
``name:vectors``, ``name:vectors,scales``, and the same with ``two `` before the points.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.stan.library.entries import Whole
from probmodel.stan.library.recorded import symbolic

Correlation = Callable[..., Any]


def _wide(x: Any) -> Any:
    """Give a number for each of many calls two axes more."""
    return x[..., None, None] if symbolic([x]) or np.ndim(x) else x


def _differences(x: Any, y: Any) -> Any:
    return x[..., :, None] - y[..., None, :]


def _squares(x: Any, y: Any, scale: Any = None) -> Any:
    """Squared distances of vectors (..., n, k) and (..., m, k): (..., n, m)."""
    apart = x[..., :, None, :] - y[..., None, :, :]
    if scale is not None:
        apart = apart / scale[..., None, None, :]
    return np.sum(np.square(apart), axis=-1)


def _root(square: Any) -> Any:
    """Return square roots, with a slope of zero at zero."""
    positive = square > 0.0
    return np.where(positive, np.sqrt(np.where(positive, square, 1.0)), 0.0)


def _exp_quad(square: Any) -> Any:
    return np.exp(-0.5 * square)


def _exponential(square: Any) -> Any:
    return np.exp(-_root(square))


def _matern32(square: Any) -> Any:
    t = math.sqrt(3.0) * _root(square)
    return (1.0 + t) * np.exp(-t)


def _matern52(square: Any) -> Any:
    t = math.sqrt(5.0) * _root(square)
    return (1.0 + t + (5.0 / 3.0) * square) * np.exp(-t)


def _isotropic(name: str, correlation: Correlation) -> dict[str, Whole]:
    """Make the entries of a function of the distance alone."""

    def of_squares(squares: Any, sigma: Any, scale: Any) -> Any:
        return _wide(sigma * sigma) * correlation(squares * _wide(1.0 / (scale * scale)))

    def numbers(x: Any, y: Any, sigma: Any, scale: Any) -> Any:
        return of_squares(np.square(_differences(x, y)), sigma, scale)

    def vectors(x: Any, y: Any, sigma: Any, scale: Any) -> Any:
        return of_squares(_squares(x, y), sigma, scale)

    def scaled(x: Any, y: Any, sigma: Any, scale: Any) -> Any:
        return _wide(sigma * sigma) * correlation(_squares(x, y, scale))

    return {
        **_of_points(f"{name}:numbers", numbers, 1, (0, 0)),
        **_of_points(f"{name}:vectors", vectors, 2, (0, 0)),
        **_of_points(f"{name}:vectors,scales", scaled, 2, (0, 1)),
    }


def _of_points(
    name: str, function: Callable[..., Any], rank: int, ranks: tuple[int, ...]
) -> dict[str, Whole]:
    """Make the entries for one set of points and for two."""
    head, tail = name.split(":")
    return {
        name: Whole(lambda x, *args: function(x, x, *args), (rank, *ranks), "matrix"),
        f"{head}:two {tail}": Whole(function, (rank, rank, *ranks), "matrix"),
    }


def _periodic(distance: Any, sigma: Any, scale: Any, period: Any) -> Any:
    wave = np.sin(math.pi * distance / _wide(period)) / _wide(scale)
    return _wide(sigma * sigma) * np.exp(-2.0 * np.square(wave))


def _periodic_numbers(x: Any, y: Any, sigma: Any, scale: Any, period: Any) -> Any:
    return _periodic(_differences(x, y), sigma, scale, period)


def _periodic_vectors(x: Any, y: Any, sigma: Any, scale: Any, period: Any) -> Any:
    return _periodic(_root(_squares(x, y)), sigma, scale, period)


def _dot_numbers(x: Any, y: Any, sigma: Any) -> Any:
    return _wide(sigma * sigma) + x[..., :, None] * y[..., None, :]


def _dot_vectors(x: Any, y: Any, sigma: Any) -> Any:
    return _wide(sigma * sigma) + np.matmul(x, np.swapaxes(y, -1, -2))


COVARIANCES: dict[str, Whole] = {
    **_isotropic("gp_exp_quad_cov", _exp_quad),
    **_isotropic("cov_exp_quad", _exp_quad),
    **_isotropic("gp_exponential_cov", _exponential),
    **_isotropic("gp_matern32_cov", _matern32),
    **_isotropic("gp_matern52_cov", _matern52),
    **_of_points("gp_periodic_cov:numbers", _periodic_numbers, 1, (0, 0, 0)),
    **_of_points("gp_periodic_cov:vectors", _periodic_vectors, 2, (0, 0, 0)),
    **_of_points("gp_dot_prod_cov:numbers", _dot_numbers, 1, (0,)),
    **_of_points("gp_dot_prod_cov:vectors", _dot_vectors, 2, (0,)),
}
