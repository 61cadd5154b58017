"""Integrals over one variable in models."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from probmodel.errors import ModelError
from probmodel.expressions import Apply, Expression, called, caller_location
from probmodel.types import Array

_STEPS = 32  # per unit of the substituted variable


def integrate_1d(
    function: Callable[..., Any], lower: Any, upper: Any, *args: Any, rtol: float = 1e-6
) -> Any:
    r"""Integrate :math:`\int_a^b f(x)\, dx` by double-exponential quadrature.

    Parameters
    ----------
    function : ``f(x, *args)``, called once with all points: it maps (N,) element by element to
        (N,), or to (..., N) for several integrals, where ``args`` then end with an axis of length 1
    lower, upper : limits: numbers, data, parameters or expressions; ``-np.inf`` and ``np.inf`` as
        numbers. Those of several integrals end with an axis of length 1
    *args : whatever else the function takes: data, parameters, expressions
    rtol : how far the result may lie from the one with half as many points, relative to the
        integral of ``abs(f)``. Its own error is about the square of that, for smooth functions.

    Returns
    -------
    A number, or (...,). NaN where ``rtol`` is not met: the sampler rejects the point.

    Raises
    ------
    ModelError
        If the limits or the tolerance make no sense, or the function cannot be called so.

    Notes
    -----
    The substitutions are tanh-sinh between finite limits, exp-sinh to one infinite limit and
    sinh-sinh between two. Singularities at the limits do no harm as long as the integral exists;
    those inside, and jumps, do: split the integral there. So do several waves and narrow peaks; a
    peak that is zero at all points, which lie up to a fortieth of the range apart, is missed. Add
    up integrals from ``edges[:-1, None]`` to ``edges[1:, None]``. On an infinite range f should be
    of about unit scale, or be integrated in a variable in which it is. There are some 200 points.
    Stan: ``integrate_1d``.

    References
    ----------
    Takahasi and Mori (1974), Double exponential formulas for numerical integration, Publications of
    the Research Institute for Mathematical Sciences 9.
    """
    location = caller_location()
    if isinstance(rtol, bool) or not isinstance(rtol, (int, float)) or not 0.0 < rtol < 1.0:
        raise ModelError(
            f"integrate_1d: rtol must be a number between 0 and 1; got {rtol!r}.",
            location=location, rtol=rtol,
        )  # fmt: skip
    for limit in (lower, upper):
        if isinstance(limit, Expression):
            _check_axes(limit, args, location)
            continue
        array = np.asarray(limit)
        if array.dtype.kind not in "iuf" or array.shape[-1:] not in ((), (1,)):
            got = f"shape {array.shape}" if array.dtype.kind in "iuf" else repr(limit)
            raise ModelError(
                "integrate_1d takes a number for each limit, or, for several integrals, an array "
                f"that ends with an axis of length 1, such as a[:, None]; got {got}.",
                location=location, limit=limit,
            )  # fmt: skip
    if isinstance(lower, list | tuple) or isinstance(upper, list | tuple):
        lower, upper = (x if isinstance(x, Expression) else np.asarray(x) for x in (lower, upper))
    if _is_number(lower) and _is_number(upper) and not lower < upper:
        raise ModelError(
            f"integrate_1d needs lower < upper; got {lower} and {upper}.",
            location=location, lower=lower, upper=upper,
        )  # fmt: skip
    points, weights = _substituted(lower, upper)
    _, values = called(function, ["x"], (points, *args), location)
    terms = values * weights
    fine = np.sum(terms, axis=-1)
    coarse = 2.0 * np.sum(terms[..., ::2], axis=-1)
    size = np.sum(np.absolute(terms), axis=-1)
    result: Any = np.where(np.absolute(fine - coarse) <= rtol * size, fine, np.nan)
    if isinstance(result, Apply):
        result.doubt = (
            f"integrate_1d, whose points are too few for rtol={rtol:g} (split the range where f "
            "bends often or has a narrow peak)"
        )
    return result


def points_between(lower: Any, upper: Any) -> int:
    """Return how many points there are between limits; any that are no numbers count as finite."""
    return len(_substituted(*(x if _is_infinite(x) else 0.0 for x in (lower, upper)))[1])


def _substituted(lower: Any, upper: Any) -> tuple[Any, Any]:
    """Points between the limits, and their weights."""
    below, above = _is_infinite(lower), _is_infinite(upper)
    if below and above:
        return _whole_line()
    if above or below:
        distance, weights = _half_line()
        return (lower + distance if above else upper - distance), weights
    share, weights = _interval()
    length = upper - lower
    return lower + length * share, length * weights


def _check_axes(limit: Expression, args: tuple[Any, ...], location: Any) -> None:
    """Refuse a declared vector, whose elements would be paired with the points."""
    dims = getattr(limit, "dims", None)
    if dims is None or len(dims) != 1:
        return
    name = getattr(limit, "name", None) or "limit"
    others = ", and so each argument that has one number for each" if args else ""
    raise ModelError(
        f"integrate_1d: the limit {name!r} is a vector along {dims[0]!r}. For an integral of each "
        f"element write {name}[:, None]{others}: the points of the integrals are the last axis.",
        location=location, limit=name, dims=dims,
    )  # fmt: skip


def _is_number(limit: Any) -> bool:
    return isinstance(limit, (int, float, np.number)) and not isinstance(limit, bool)


def _is_infinite(limit: Any) -> bool:
    return _is_number(limit) and bool(np.isinf(limit))


def _grid(reach: float) -> tuple[Array, Array]:
    """Equidistant t, an even number of steps, with pi/2 sinh(t)."""
    half = 2 * int(np.ceil(reach * _STEPS / 2))
    t = np.arange(-half, half + 1) / _STEPS
    return t, 0.5 * np.pi * np.sinh(t)


@cache
def _interval() -> tuple[Array, Array]:
    """Shares of the way from the lower to the upper limit, and weights."""
    t, s = _grid(3.1)
    share = 1.0 / (1.0 + np.exp(-2.0 * s))
    weights = 0.25 * np.pi * np.cosh(t) / np.cosh(s) ** 2 / _STEPS
    return share, weights


@cache
def _half_line() -> tuple[Array, Array]:
    t, s = _grid(4.0)
    distance = np.exp(s)
    return distance, 0.5 * np.pi * np.cosh(t) * distance / _STEPS


@cache
def _whole_line() -> tuple[Array, Array]:
    t, s = _grid(3.5)
    return np.sinh(s), 0.5 * np.pi * np.cosh(t) * np.cosh(s) / _STEPS
