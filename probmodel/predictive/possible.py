"""Whether values of parameters that come from elsewhere are possible in a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.density.forward import Forward
from probmodel.density.reference import Ref
from probmodel.errors import DataError
from probmodel.expressions import as_expression
from probmodel.model.parameters import FreeParameter, limits
from probmodel.types import Array


def support_of(free: FreeParameter) -> Constraint:
    """Return the set that values of a parameter lie in, on the scale of the model."""
    prior = free.declaration.prior
    if free.declaration.frame is not None and prior is not None:
        return prior.support()
    return free.constraint


def in_part(known: Array, event: int) -> bool:
    """Whether a value with so many event axes has known elements and others."""
    axes = tuple(range(known.ndim - event, known.ndim))
    return bool((known.any(axis=axes) & ~known.all(axis=axes)).any())


def check_event(free: FreeParameter, values: Array, known: Array) -> None:
    """Refuse vectors and matrices that picking their elements by label has made impossible.

    Parameters
    ----------
    free : a parameter
    values : (draws, *shape)
    known : which elements count: shape

    Raises
    ------
    DataError
        If those that are known as a whole violate the constraint of the parameter.
    """
    support = support_of(free)
    event = support.event_ndim
    if not event or in_part(known, event):
        return
    whole = known.all(axis=tuple(range(known.ndim - event, known.ndim)))
    if np.all(support.check(values) | ~whole):
        return
    raise DataError(
        f"{free.declaration.title} ({support.name}): the elements that are picked from the fit by "
        "their labels make no such value, as some are left out or in another order. Bind the model "
        "to all labels of the fit, in the order there.",
        location=free.declaration.location,
        name=free.name,
    )


def check_bounds(forward: Forward, free: FreeParameter, value: Ref, known: Array) -> Ref:
    """Let a run refuse values outside the bounds of a parameter; values on them are let pass.

    Parameters
    ----------
    forward : the run
    free : a parameter, whose bounds may depend on new data or other parameters
    value : its values
    known : which elements count: shape

    Raises
    ------
    DataError
        When it runs.
    """
    low, high = limits(support_of(free)) or (None, None)
    bounds = {k: v for k, v in (("lower", low), ("upper", high)) if v is not None}
    if not bounds:
        return value
    names = list(bounds)

    def check(values: Array, *edges: Any) -> Array:
        for name, edge in zip(names, edges, strict=True):
            outside = (values < edge if name == "lower" else values > edge) & known
            if outside.any():
                first = values[outside][0]
                limit = np.broadcast_to(edge, values.shape)[outside][0]
                raise DataError(
                    f"{free.declaration.title} has {name}={limit:g} here, and values of the fit "
                    f"lie beyond, such as {first:g}. The bounds must be those of the fit where its "
                    "elements are: look at the data that they come from.",
                    location=free.declaration.location,
                    name=free.name,
                    bound=name,
                )
        return values

    edges = forward.aligned([as_expression(b) for b in bounds.values()], len(free.shape))
    return forward.apply(check, [value, *edges], free.shape)
