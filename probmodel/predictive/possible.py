"""Whether values of parameters that come from elsewhere are possible in a model."""

from __future__ import annotations

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.constraints.containment import limits
from probmodel.model.evaluation import Evaluator
from probmodel.model.parameters import FreeParameter
from probmodel.types import Array


def support_of(free: FreeParameter) -> Constraint:
    """Return the set that values of a parameter lie in, on the scale of the model."""
    prior = free.declaration.prior
    if free.frame is not None and prior is not None:
        return prior.support()
    return free.constraint


def in_part(known: Array, event: int) -> bool:
    """Whether a value with so many event axes has known elements and others."""
    axes = tuple(range(known.ndim - event, known.ndim))
    return bool((known.any(axis=axes) & ~known.all(axis=axes)).any())


def check_event(free: FreeParameter, values: Array, known: Array) -> None:
    """Refuse vectors and matrices that picking their elements by label has made impossible.

    The values are (draws, *shape); ``known`` tells which elements count. Raises a `DataError` if
    those that are known as a whole violate the constraint of the parameter.
    """
    support = support_of(free)
    event = support.event_ndim
    if not event or in_part(known, event):
        return
    whole = known.all(axis=tuple(range(known.ndim - event, known.ndim)))
    if np.all(support.check(values) | ~whole):
        return
    raise free.declaration.data_error(
        f"{free.declaration.title} ({support.name}): the elements that are picked from the fit by "
        "their labels make no such value, as some are left out or in another order. Bind the model "
        "to all labels of the fit, in the order there.",
        name=free.name,
    )


def check_bounds(free: FreeParameter, evaluator: Evaluator, values: Array, known: Array) -> None:
    """Refuse values outside the bounds that data give a parameter; values on them are let pass.

    Bounds that depend on other parameters are not looked at: the fit need not hold these. The
    values are (draws, *shape); ``known`` tells which elements count. Raises a `DataError` if one
    lies outside.
    """
    low, high = limits(support_of(free)) or (None, None)
    for name, bound, beyond in (("lower", low, np.less), ("upper", high, np.greater)):
        if bound is None or not evaluator.is_constant(bound):
            continue
        edge = evaluator.value(bound)
        outside = beyond(values, edge) & known
        if outside.any():
            limit = np.broadcast_to(edge, values.shape)[outside][0]
            raise free.declaration.data_error(
                f"{free.declaration.title} has {name}={limit:g} here, and values of the fit lie "
                f"beyond, such as {values[outside][0]:g}. The bounds must be those of the fit "
                "where its elements are: look at the data that they come from.",
                name=free.name,
                bound=name,
            )
