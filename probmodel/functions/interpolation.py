"""Interpolation between given points in models."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from probmodel.errors import Location, ModelError
from probmodel.expressions import as_expression, caller_location, of_data, settle
from probmodel.types import Array


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
    once. A linear interpolant has kinks at the points: samplers that follow gradients prefer the
    spline where ``x`` is a parameter.
    """
    location = caller_location()
    if kind not in ("linear", "cubic"):
        raise ModelError(
            f"interpolate: kind is 'linear' or 'cubic'; got {kind!r}.", location=location
        )
    points = of_data("points", partial(_increasing, location=location), settle(points))
    points, x, values = as_expression(points), as_expression(x), as_expression(values)
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
