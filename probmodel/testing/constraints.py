"""Checks of a constraint: its map there and back, its log-Jacobian, derivatives, refusals.

Each takes the constraint, the shape of a value, and how widely the unconstrained points are spread
at which it is tried; it raises AssertionError with what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd import jacobian

from probmodel.constraints import Constraint
from probmodel.density.check import check_model
from probmodel.model import Model, param
from probmodel.testing.runs import require
from probmodel.types import Array

Shape = tuple[int, ...]
Check = Callable[[Constraint, Shape, float], None]

_POINTS = 4
_STEP = 1e-6
_EXACT = 1e-10  # relative and absolute, of what rounding alone may change
_NUMERIC = 1e-6  # of first differences, and of second derivatives by them


def check_free_shape(constraint: Constraint, shape: Shape, scale: float = 1.0) -> None:
    """Require `free_shape` to keep leading axes, and to be what `forward` maps to ``shape``."""
    require(
        constraint.bijective,
        "bijective is False: there is no map to check, and no parameter can have the constraint.",
    )
    free = constraint.free_shape(shape)
    require(
        isinstance(free, tuple) and all(isinstance(n, int) for n in free),
        f"free_shape({shape}) must be a tuple of integers, is {free!r}.",
    )
    require(
        constraint.free_shape((5, *shape)) == (5, *free),
        f"free_shape must keep leading axes: that of {(5, *shape)} is "
        f"{constraint.free_shape((5, *shape))}, that of {shape} is {free}.",
    )
    require(
        len(shape) >= constraint.event_ndim,
        f"a value has at least event_ndim = {constraint.event_ndim} axes; {shape} has fewer.",
    )
    y, log_det = _mapped(constraint, _points(constraint, shape, scale)[0])
    batch = shape[: len(shape) - constraint.event_ndim]
    require(np.shape(y) == shape, f"forward must give shape {shape}, gave {np.shape(y)}.")
    require(
        np.shape(log_det) == batch,
        f"log_det must have the axes before the last event_ndim = {constraint.event_ndim} of a "
        f"value, {batch}; has {np.shape(log_det)}.",
    )
    coordinates = np.size(constraint.free_coords(np.asarray(y)))
    require(
        coordinates == prod(free) or not constraint.one_to_one,
        f"free_coords must be as many as free_shape says, {prod(free)}; are {coordinates}.",
    )


def check_there_and_back(constraint: Constraint, shape: Shape, scale: float = 1.0) -> None:
    """Require `inverse` to undo `forward`."""
    u = _points(constraint, shape, scale)
    y, _ = _mapped(constraint, u)
    back = constraint.inverse(y, *constraint.bounds)
    if constraint.one_to_one:
        _require_close(back, u, _EXACT, "inverse must undo forward")
    again, _ = _mapped(constraint, back)
    _require_close(again, y, _EXACT, "forward must undo inverse")


def check_log_det(constraint: Constraint, shape: Shape, scale: float = 1.0) -> None:
    """Require `log_det` to be that of the Jacobian of `free_coords`, exact and numerical."""
    if not constraint.one_to_one:
        return
    for u in _points(constraint, shape, scale):

        def free(v: Any, u: Array = u) -> Any:
            y = constraint.forward(anp, anp.reshape(v, u.shape), *constraint.bounds)
            return anp.reshape(constraint.free_coords(y), (-1,))

        stated = np.sum(_mapped(constraint, u)[1])
        flat = u.reshape(-1)
        steps = _STEP * np.eye(flat.size)
        numeric = np.stack([(free(flat + h) - free(flat - h)) / (2 * _STEP) for h in steps], axis=1)
        what = "log_det must be the log determinant of the Jacobian of free_coords(forward(u))"
        _require_close(stated, np.linalg.slogdet(numeric)[1], _NUMERIC, what)
        _require_close(stated, np.linalg.slogdet(jacobian(free)(flat))[1], _EXACT, what)


def check_values(constraint: Constraint, shape: Shape, scale: float = 1.0) -> None:
    """Require `check` to accept what `forward` gives, and to refuse NaN."""
    y, _ = _mapped(constraint, _points(constraint, shape, scale))
    batch = y.shape[: y.ndim - constraint.event_ndim]
    inside = np.asarray(constraint.check(y, *constraint.bounds))
    require(
        inside.shape == batch and inside.dtype == bool,
        f"check must return one Boolean for each value, shape {batch}; returned {inside.dtype} of "
        f"shape {inside.shape}.",
    )
    require(inside.all(), "check must accept what forward gives.")
    for missing in (np.full_like(y, np.nan), _with_last(y, np.nan)):
        refused = ~np.asarray(constraint.check(missing, *constraint.bounds))
        require(refused.reshape(-1)[-1], "check must refuse values with NaN.")


def check_batches(constraint: Constraint, shape: Shape, scale: float = 1.0) -> None:
    """Require leading axes to be values of their own, as many as there may be."""
    for batch in ((1,), (3,), (2, 3)):
        u = _points(constraint, (*batch, *shape), scale)[0]
        y, log_det = _mapped(constraint, u)
        for i in np.ndindex(*batch):
            alone = _mapped(constraint, u[i])
            what = "a value of several must be the one that it would be alone"
            _require_close(y[i], alone[0], 1e-13, what)
            _require_close(log_det[i], alone[1], 1e-13, what)


def check_derivatives(constraint: Constraint, shape: Shape, scale: float = 1.0) -> None:
    """Require second derivatives of `forward` and `log_det` by autograd to be right, at zero too.

    Chains may start at zero, where absolute values, for instance, would leave a kink.
    """
    point = _points(constraint, shape, scale)[0]

    def total(v: Any) -> Any:
        x = anp.reshape(v, point.shape)
        y = constraint.forward(anp, x, *constraint.bounds)
        return anp.sum(anp.sin(y)) + anp.sum(constraint.log_det(anp, x, *constraint.bounds))

    gradient, step = jacobian(total), 1e-5
    for u in (np.zeros(point.size), point.reshape(-1)):
        if not np.isfinite(_mapped(constraint, u.reshape(point.shape))[0]).all():
            continue  # not all sets have a value at zero
        steps = step * np.eye(u.size)
        numeric = np.stack([(gradient(u + h) - gradient(u - h)) / (2 * step) for h in steps])
        what = "second derivatives must be those of forward and log_det"
        _require_close(jacobian(gradient)(u), numeric, _NUMERIC, what)


def check_in_a_model(constraint: Constraint, shape: Shape, scale: float = 1.0) -> None:
    """Require that a model can have a parameter with it, whose map is written with symbols."""

    class Alone(Model):
        value = param(constraint=constraint, shape=shape or None)

    report = check_model(Alone())
    require(report.ok, f"check_model of a parameter with the constraint found:\n{report}")


CONSTRAINT_CHECKS: tuple[Check, ...] = (
    check_free_shape,
    check_there_and_back,
    check_log_det,
    check_values,
    check_batches,
    check_derivatives,
    check_in_a_model,
)


def _points(constraint: Constraint, shape: Shape, scale: float) -> Array:
    """Unconstrained points: (points, *free_shape)."""
    free = constraint.free_shape(shape)
    return np.random.default_rng(0).normal(0.0, scale, (_POINTS, *free))


def _mapped(constraint: Constraint, u: Array) -> tuple[Array, Array]:
    """Values of unconstrained points, and their log-Jacobians."""
    with np.errstate(all="ignore"):
        y = constraint.forward(np, u, *constraint.bounds)
        return np.asarray(y), np.asarray(constraint.log_det(np, u, *constraint.bounds))


def _with_last(y: Array, value: float) -> Array:
    changed = y.copy()
    changed.reshape(-1)[-1] = value
    return changed


def _require_close(actual: Any, expected: Any, tolerance: float, what: str) -> None:
    try:
        np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)
    except AssertionError as error:
        raise AssertionError(f"{what}.{error}") from None
