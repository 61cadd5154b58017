"""Missing elements of observed data as parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probmodel.constraints import Constraint, OffsetMultiplier, Real, between
from probmodel.constraints.containment import limits
from probmodel.expressions import Expression, as_expression
from probmodel.model.declarations import Declaration, Observed, Parameter
from probmodel.model.dimensions import Dimensions
from probmodel.model.evaluation import Evaluator
from probmodel.model.parameters import FreeParameter, elaborate
from probmodel.model.values import where
from probmodel.types import Array


class Imputation(NamedTuple):
    """Data of an observed quantity that are completed by a parameter.

    Attributes
    ----------
    free : the missing elements, in the order of the data: the parameter ``<name>_missing``
    completed : the data with the missing elements in their places
    missing : which these are
    """

    free: FreeParameter
    completed: Expression
    missing: Array


def impute(
    declaration: Observed, data: Array, evaluator: Evaluator, dimensions: Dimensions
) -> Imputation:
    """Make a parameter of the missing elements of data, which are NaN.

    Its values are restricted to the support of the distribution; where that is the real line, the
    sampler starts from the mean and the spread of the elements that are there. Raises a `DataError`
    if nothing is known, and a `ModelError` if the support ties the elements of a value together, or
    a missing one has no distribution.
    """
    missing = np.isnan(data)
    if missing.all():
        raise declaration.data_error(
            f"{declaration.title} has no known value. Leave it out to bind the model without it.",
            name=declaration.name,
        )
    _refuse_flat(declaration, missing, evaluator)
    name = f"{declaration.name}_missing"
    constraint = _constraint(declaration, data, missing, evaluator)
    parameter = Parameter(None, None, int(missing.sum()), {}, constraint, None, None)
    parameter.name, parameter.location = name, declaration.location
    dimensions.coords[f"{name}_dim_0"] = positions(declaration, missing, dimensions)
    free = elaborate(parameter, evaluator, dimensions)
    known = int((~missing).sum())
    order = np.empty(data.size, dtype=np.intp)
    order[~missing.reshape(-1)] = np.arange(known)
    order[missing.reshape(-1)] = known + np.arange(data.size - known)
    completed: Any = np.concatenate([as_expression(data[~missing]), parameter])[order]
    return Imputation(free, completed.reshape(data.shape), missing)


def _refuse_flat(declaration: Observed, missing: Array, evaluator: Evaluator) -> None:
    """Raise a `ModelError` if a missing element has no distribution: the posterior is improper."""
    distribution = declaration.distribution
    shapes = map(evaluator.shape, distribution.args.values())
    flat = missing & distribution.flat_elements(missing.shape, *shapes)
    if flat.any():
        raise declaration.model_error(
            f"{declaration.title}: the element at {where(flat)} is missing, and "
            f"{distribution.name} is {distribution.flat_part}, or leave out what comes before the "
            "first complete values.",
            name=declaration.name,
        )


def positions(declaration: Declaration, chosen: Array, dimensions: Dimensions) -> Array:
    """Labels of some elements of an observed quantity, those of several axes joined to text.

    ``chosen`` may lack the last axes.
    """
    dims = (declaration.dims or ("",) * chosen.ndim)[: chosen.ndim]
    labels = [
        np.asarray(dimensions.coords.get(dim, np.arange(size)))
        for dim, size in zip(dims, chosen.shape, strict=True)
    ]
    axes = [axis[index] for axis, index in zip(labels, np.nonzero(chosen), strict=True)]
    if len(axes) == 1:
        return axes[0]
    return np.array([", ".join(map(str, index)) for index in zip(*axes, strict=True)])


def _constraint(
    declaration: Observed, data: Array, missing: Array, evaluator: Evaluator
) -> Constraint:
    """Return the support of the distribution at the missing elements."""
    support = declaration.distribution.support()
    known = limits(support)
    if known is None:
        raise declaration.model_error(
            f"{declaration.title} follows {declaration.distribution.name}, whose values are "
            f"{support.name}: single elements of them cannot be imputed. Leave out the values that "
            "are incomplete.",
            name=declaration.name,
        )
    if isinstance(support, Real):
        spread = float(data[~missing].std())
        return OffsetMultiplier(float(data[~missing].mean()), spread) if spread else support
    return between(*(_at(bound, data.shape, missing, evaluator) for bound in known))


def _at(bound: Any, shape: tuple[int, ...], missing: Array, evaluator: Evaluator) -> Any:
    """Return a bound at the missing elements."""
    if bound is None or not evaluator.shape(bound):
        return bound
    return np.broadcast_to(bound, shape)[missing]
