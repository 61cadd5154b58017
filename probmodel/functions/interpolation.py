"""Interpolation between given points in models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.tracer import isbox

from probmodel.errors import Location, ModelError
from probmodel.expressions import Operation, as_expression, caller_location, of_data, settle
from probmodel.expressions.expression import apply
from probmodel.functions.linear import linear_recurrence
from probmodel.functions.recorded_calls import Formula, call
from probmodel.types import Array

_FEW = 150  # points, among more of which places are looked up,
_SMALL = 5000  # or of which there are more for all places together


def interpolate(x: Any, points: Any, values: Any, *, kind: str = "linear") -> Any:
    """Interpolate between values at given points.

    Parameters
    ----------
    x : where: a number or (n,); data, parameters or expressions
    points : increasing, from data: (k,)
    values : at the points: (k,); data, parameters or expressions
    kind : ``"linear"``, or ``"cubic"`` for the natural cubic spline

    Returns
    -------
    As ``x``. Outside the points, the value at the nearest of them.

    Raises
    ------
    ModelError
        If the points do not increase, at the latest when they are bound, or ``kind`` is unknown.

    Notes
    -----
    The result is linear in ``values``. Where ``x`` is data too, the matrix of that map is computed
    once; of more than 150 points, the two next to each place are looked up instead. A linear
    interpolant has kinks at the points: samplers that follow gradients prefer the spline where
    ``x`` is a parameter.
    """
    location = caller_location()
    if kind not in ("linear", "cubic"):
        raise ModelError(
            f"interpolate: kind is 'linear' or 'cubic'; got {kind!r}.", location=location
        )
    points = of_data("points", partial(_increasing, location=location), settle(points))
    points, x, values = as_expression(points), as_expression(x), as_expression(values)
    return apply(_INTERPOLATE, x, points, values, kind=kind)


def _evaluated(x: Array, points: Array, values: Array, kind: str) -> Any:
    """Interpolate between numbers."""
    if values.shape != points.shape or len(points) < 3:
        return of_all_points(x, points, values, kind)
    bend = None if kind == "linear" else _bend(points, values)
    return _looked_up(np, np.asarray(x, dtype=float), points, values, bend)


def of_all_points(x: Any, points: Any, values: Any, kind: str) -> Any:
    """Interpolate by the share of every interval that lies before each place: (n, k - 1)."""
    step = points[1:] - points[:-1]
    inside = np.clip(x, points[0], points[-1])
    # How far into each interval x lies: 0 before it, 1 behind it.
    share = np.clip((inside[..., None] - points[:-1]) / step, 0.0, 1.0)
    linear = values[0] + share @ (values[1:] - values[:-1])
    if kind == "linear":
        return linear
    bend = _curvature(points, step) @ values
    left, right = bend[:-1], bend[1:]
    # A cubic with these curvatures at the ends of an interval that vanishes at both.
    inner = (step**2 / 6.0) * share * (1.0 - share)
    return linear - np.sum(inner * ((2.0 - share) * left + (1.0 + share) * right), axis=-1)


def _written(shape: Callable[[Any], tuple[int, ...]], *operands: Any, kind: str) -> Any:
    """Write it with other operations: few points all at once, of many those that are next."""
    x, points, values = operands
    k = shape(points)[0]
    few = k <= _FEW or (kind == "linear" and k * prod(shape(x)) <= _SMALL)
    if few or shape(values) != (k,):
        return of_all_points(x, points, values, kind)
    if kind == "linear":
        return call(_LOOKED_UP, operands, (0, 1, 1))
    return call(_LOOKED_UP, [*operands, _bend(points, values)], (0, 1, 1, 1))


def _looked_up(xp: Any, x: Any, points: Any, values: Any, bend: Any = None) -> Any:
    """Interpolate between the two points, (..., k), that are next to each place of ``x``.

    ``bend`` are the second derivatives of a spline at the points; leading axes broadcast with those
    of x.
    """
    place = x
    while isbox(place):
        place = place._value
    if not isinstance(place, np.ndarray | float):
        raise TypeError("places must be numbers")  # what writes programs down calls it then
    i, start, step = _intervals(np.asarray(place), points)
    share = (xp.clip(x, np.min(points), np.max(points)) - start) / step
    linear = _next(values, i) + share * (_next(values, i + 1) - _next(values, i))
    if bend is None:
        return linear
    both = (2.0 - share) * _next(bend, i) + (1.0 + share) * _next(bend, i + 1)
    return linear - step**2 / 6.0 * share * (1.0 - share) * both


def _with_slopes(
    wanted: Sequence[int], x: Array, points: Array, values: Any, bend: Any = 0.0
) -> tuple[Array, Callable[[Array], tuple[Array, ...]]]:
    """Return the same, and what takes a derivative back to some arguments."""
    i, start, step = _intervals(x, points)
    first, last = np.min(points), np.max(points)
    moves, share = (x > first) & (x < last), (np.clip(x, first, last) - start) / step
    rest, spline = 1.0 - share, np.ndim(bend) > 0
    weights = {2: (rest, share)}
    rise = _next(values, i + 1) - _next(values, i)
    value, slope = _next(values, i) + share * rise, rise / step
    if spline:
        cubes = [-(step**2) / 6.0 * s * (1.0 - s**2) for s in (rest, share)]
        weights[3] = cubes[0], cubes[1]
        left, right = _next(bend, i), _next(bend, i + 1)
        value = value + cubes[0] * left + cubes[1] * right
        slope = slope + step / 6.0 * ((1 - 3 * rest**2) * left - (1 - 3 * share**2) * right)
    shapes = {2: np.shape(values), 3: np.shape(bend)}

    def spread(k: int, g: Array) -> Array:
        total = np.zeros(shapes[k])
        for n, weight in enumerate(weights[k]):
            np.add.at(total, _places(shapes[k], i + n), g * weight)
        return total

    def pull(g: Array) -> tuple[Array, ...]:
        return tuple(np.where(moves, g * slope, 0.0) if k == 0 else spread(k, g) for k in wanted)

    return value, pull


def _intervals(x: Array, points: Array) -> tuple[Array, Array, Array]:
    """Return the interval of each place, where it begins, and its length."""
    points = np.ravel(points)
    i = np.clip(np.searchsorted(points, x, side="right") - 1, 0, len(points) - 2)
    return i, points[i], points[i + 1] - points[i]


def _next(values: Any, i: Array) -> Any:
    """Take the elements at some places along the last axis."""
    return values[_places(np.shape(values), i)]


def _places(shape: tuple[int, ...], i: Array) -> tuple[Array, ...]:
    """Return the index that takes some places along the last axis."""
    *batch, _ = shape
    rank = np.ndim(i)
    axes = enumerate(batch, rank - len(batch))
    ends = ((n,) + (1,) * (rank - 1 - axis) for axis, n in axes)
    return (*(np.arange(shape[0]).reshape(shape) for shape in ends), i)


def _bend(points: Any, values: Any) -> Any:
    """Second derivatives at the points, by elimination forwards and back: (k,)."""
    step = points[1:] - points[:-1]
    slope = (values[1:] - values[:-1]) / step
    inverse = of_data("pivots", _inverse_pivots, points)
    right = 6.0 * (slope[1:] - slope[:-1]) * inverse
    before = np.concatenate([np.zeros(1), step[1:-1]])
    reduced = linear_recurrence(-before * inverse, right, 0.0)
    after = np.concatenate([step[1:-1], np.zeros(1)])
    found = linear_recurrence(np.flip(-after * inverse), np.flip(reduced), 0.0)
    return np.concatenate([np.zeros(1), np.flip(found), np.zeros(1)])


def _inverse_pivots(points: Array) -> Array:
    """Reciprocal pivots of the equations of `_curvature`, but for the two ends: (k - 2,)."""
    step = np.diff(points)
    inverse = 1.0 / (2.0 * (step[1:] + step[:-1]))
    for i in range(1, len(inverse)):
        inverse[i] = 1.0 / (1.0 / inverse[i] - step[i] ** 2 * inverse[i - 1])
    return inverse


def _increasing(points: Any, location: Location | None) -> Array:
    """Return points as numbers, if they increase."""
    given = np.asarray(points, dtype=float)
    if given.ndim != 1 or len(given) < 2:
        raise ModelError(
            f"interpolate: points must be a vector of two or more numbers; got shape "
            f"{given.shape}.",
            location=location,
        )
    late = np.diff(given) > 0
    if not late.all():
        i = int(np.argmin(late))
        raise ModelError(
            f"interpolate: points must increase; points[{i + 1}] is {given[i + 1]:g}, and "
            f"points[{i}] is {given[i]:g}. Sort the points, and the values with them.",
            location=location,
        )
    return given


def _curvature(points: Any, step: Any) -> Any:
    """Matrix from the values to the second derivatives at the points: (k, k).

    The second derivatives m of a natural spline vanish at both ends and solve
    ``h[i-1] m[i-1] + 2 (h[i-1] + h[i]) m[i] + h[i] m[i+1] = 6 (d[i] - d[i-1])``, with steps h and
    slopes d between the points.
    """
    distance = np.absolute(points[:, None] - points)
    number = np.cumsum(0.0 * points + 1.0)
    neighbour = (np.absolute(number[:, None] - number) == 1.0) * 1.0
    same = (number[:, None] == number) * 1.0
    inner = ((number > 1.0) & (number < np.max(number))) * 1.0
    beside = neighbour * distance
    across = np.sum(beside, axis=1)
    system = inner[:, None] * (beside + 2.0 * same * across) + (1.0 - inner) * same
    inverse = neighbour / (distance + same)
    slopes = 6.0 * inner[:, None] * (inverse - same * np.sum(inverse, axis=1))
    return np.linalg.solve(system, slopes)


class _LookUp:
    """The formula of many points, as programs call it."""

    with_vjp = staticmethod(_with_slopes)

    def __call__(self, *args: Any) -> Any:
        """Evaluate it, traceable by autograd."""
        return _looked_up(anp, *args)


_LOOKED_UP = Formula("interpolate", partial(_looked_up, np), _LookUp())
_INTERPOLATE = Operation(
    "interpolate", _evaluated, ("x", "points", "values"), {"kind": "linear"}, written=_written
)
