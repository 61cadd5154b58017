"""Values of parameters as points of unconstrained space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.constraints import Real
from probmodel.errors import InitializationError
from probmodel.expressions import as_expression
from probmodel.model.parameters import FreeParameter
from probmodel.types import Array


def unconstrained_value(density: Any, x: Array, free: FreeParameter, given: Any) -> Array:
    """Return the unconstrained value of one parameter, given those declared before it in ``x``.

    One number stands for all elements. Raises an `InitializationError` if the value has the wrong
    shape, or lies outside the support or on its boundary.
    """
    value = _broadcast(free, given)
    bounds = [bound[0] for bound in density.values_at(x[None], free.bounds)]
    standard = _standardised(density, x[None], free, value[None])[0]
    with np.errstate(all="ignore"):
        unconstrained = np.asarray(free.constraint.inverse(standard, *bounds)).reshape(-1)
    inside = np.asarray(free.constraint.check(standard, *bounds))
    if not inside.all() or not np.isfinite(unconstrained).all():
        raise InitializationError(
            f"inits[{free.name!r}] lies outside its support ({free.constraint.name}), or on "
            f"its boundary: got {value.reshape(-1)[:5]}.",
            name=free.name,
            value=value,
        )
    return unconstrained


def unconstrained_draws(density: Any, draws: Mapping[str, Array]) -> Array:
    """Return the unconstrained points of draws of all parameters: name -> (n, *shape) to (n, dim).

    Not finite where a value has been rounded to the boundary of its support.
    """
    rows = len(next(iter(draws.values())))
    x = np.zeros((rows, density.dim))
    for free, cut in density._blocks:
        value = _standardised(density, x, free, draws[free.name].reshape(rows, *free.shape))
        bounds = density.values_at(x, free.bounds)
        x[:, cut] = _inverse(free, value, bounds).reshape(rows, -1)
    return x


def _inverse(free: FreeParameter, values: Array, bounds: Sequence[Array]) -> Array:
    """Undo the constraint: (n, *shape) -> (n, *free_shape)."""
    constraint = free.constraint
    with np.errstate(all="ignore"):
        if isinstance(constraint, Real):
            return values
        if not constraint.event_ndim:
            aligned = (
                b.reshape((-1, *(1,) * (values.ndim - b.ndim), *b.shape[1:])) for b in bounds
            )
            return np.asarray(constraint.inverse(values, *aligned))
        rows = zip(values, *bounds, strict=True)
        return np.stack([np.asarray(constraint.inverse(*row)) for row in rows])


def _standardised(density: Any, x: Array, free: FreeParameter, values: Array) -> Array:
    """Return values on the scale of what is free, where a distribution standardises them."""
    if free.frame is None:
        return values
    args = density.values_at(x, [as_expression(arg) for arg in free.frame.args.values()])
    with np.errstate(all="ignore"):  # what is not inside becomes NaN
        values = free.link.inverse(values, *free.link.bounds)
        rows = zip(values, *args, strict=True)
        return np.stack([np.asarray(free.frame.standardise(*row)) for row in rows])


def _broadcast(free: FreeParameter, given: Any) -> Array:
    try:
        value = np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise InitializationError(
            f"inits[{free.name!r}] must be a number or an array of numbers; got {given!r}.",
            name=free.name,
            given=given,
        ) from error
    try:
        return np.broadcast_to(value, free.shape)
    except ValueError as error:
        raise InitializationError(
            f"inits[{free.name!r}] has shape {value.shape}; expected {free.shape}.",
            name=free.name,
            shape=value.shape,
        ) from error
