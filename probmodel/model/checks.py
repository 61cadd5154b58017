"""Checks of a distribution against the shapes and the data that it is bound to."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.constraints.triangle import fault_in_stack
from probmodel.distributions.base import Distribution, Parameter
from probmodel.errors import ShapeError
from probmodel.expressions import as_expression
from probmodel.model.declarations import Declaration, Observed
from probmodel.model.evaluation import Evaluator
from probmodel.model.values import where
from probmodel.types import Array

Shape = tuple[int, ...]


def check_distribution(
    declaration: Declaration, distribution: Distribution, shape: Shape | None, evaluator: Evaluator
) -> Shape:
    """Check a distribution's parameters and return the full shape of its value.

    ``shape`` is what dims or data say; None means it follows from the parameters. Raises a
    `ModelError` if a parameter known from data has an impossible value, and a `ShapeError` if the
    parameters do not fit each other or the declared shape.
    """
    params, batch = check_arguments(declaration, distribution, evaluator)
    event_ndim = distribution.event_ndim
    event = distribution.event_shape(*params) if event_ndim else ()
    if shape is None:
        shape = batch + _known_event(declaration, distribution, event)
    elif len(shape) < event_ndim:
        raise declaration.shape_error(
            f"{declaration.title}: a {distribution.name} value has {event_ndim} axes or more; "
            f"the declared shape is {shape}.",
            shape=shape,
        )
    own = shape[: len(shape) - event_ndim]
    if not _broadcasts_to(batch, own):
        raise _too_many_axes(declaration, distribution, shape, own, params)
    if 0 in shape:
        return shape
    _probe(declaration, distribution, shape, params)
    _check_event(declaration, distribution, shape[len(own) :], event, params)
    _check_together(declaration, distribution, shape[len(own) :], evaluator)
    return shape


def implied_sizes(
    declaration: Declaration, distribution: Distribution | None, evaluator: Evaluator
) -> tuple[int | None, ...]:
    """Return sizes of the last axes of a value that the arguments of its distribution decide.

    None stands for an axis of length one that broadcasts, which fits any size. Raises a
    `ModelError` or `ShapeError` if a parameter is impossible, or the parameters do not fit each
    other.
    """
    if distribution is None:
        return ()
    params, batch = check_arguments(declaration, distribution, evaluator)
    event = distribution.event_shape(*params) if distribution.event_ndim else ()
    return () if event is None else (*(None if n == 1 else n for n in batch), *event)


def check_arguments(
    declaration: Declaration, distribution: Distribution, evaluator: Evaluator
) -> tuple[list[Array], Shape]:
    """Check the parameters of a distribution, and return their values and batch shape.

    Raises a `ModelError` if what data decide is impossible, or depends on parameters and must not,
    and a `ShapeError` if a parameter lacks axes, or the parameters do not fit each other.
    """
    params = [evaluator.value(arg) for arg in distribution.args.values()]
    _check_constants(declaration, distribution, params, evaluator)
    return params, _batch_shape(declaration, distribution, params)


def spread(distribution: Distribution, shape: Shape, evaluator: Evaluator) -> Distribution:
    """Return a distribution that has vectors where it was given numbers for all their elements.

    ``shape`` is that of its value.
    """
    event = shape[len(shape) - distribution.event_ndim :]
    short = {
        name: (1,) * (spec.event_ndim - len(event)) + event
        for (name, arg), spec in zip(
            distribution.args.items(), distribution.parameters.values(), strict=True
        )
        if spec.spreads and not evaluator.shape(arg)
    }
    if not short:
        return distribution
    full = copy(distribution)
    changed = {n: as_expression(full.args[n]) + np.zeros(size) for n, size in short.items()}
    full.args = {**full.args, **changed}
    return full


def check_observed(declaration: Observed, data: Array, evaluator: Evaluator) -> None:
    """Raise a `DataError` for the first datum outside its distribution's support."""
    distribution = declaration.distribution
    support = distribution.support_for(*map(evaluator.shape, distribution.args.values()))
    if not all(evaluator.is_constant(bound) for bound in support.bounds):
        return
    bounds = [evaluator.value(bound) for bound in support.bounds]
    inside = np.asarray(support.check(data, *bounds))
    if not inside.all():
        bad, there = ~inside, ""
        value = data[bad].flat[0] if bad.shape == data.shape else data[bad][0]
        if bad.shape == data.shape and any(bound.ndim for bound in bounds):
            first = np.unravel_index(int(bad.argmax()), bad.shape)
            bounds = [np.broadcast_to(bound, bad.shape)[first] for bound in bounds]
            there = " there"
        raise declaration.data_error(
            f"{declaration.title} follows {declaration.distribution.name}, whose values are "
            f"{_set_name(support, bounds)}{there}; got {value} at {where(bad)} "
            f"({int(bad.sum())} such in all). {distribution.remedy}".rstrip(),
            name=declaration.name,
            count=int(bad.sum()),
        )


def _set_name(support: Constraint, bounds: Sequence[Array]) -> str:
    """Return a support in words, with its bounds as data decide them."""
    evaluated = copy(support)
    evaluated.bounds = tuple(bounds)
    return evaluated.name


def _check_constants(
    declaration: Declaration,
    distribution: Distribution,
    params: Sequence[Array],
    evaluator: Evaluator,
) -> None:
    for (name, arg), spec, value in zip(
        distribution.args.items(), distribution.parameters.values(), params, strict=True
    ):
        if value.ndim < spec.event_ndim and not (spec.spreads and value.ndim == 0):
            noun = _noun(spec.event_ndim)
            raise distribution.shape_error(
                f"{declaration.title}: {distribution.name}'s {name} must be "
                f"{'an' if noun[0] == 'a' else 'a'} {noun}; got shape {value.shape}.",
                parameter=name,
                shape=value.shape,
            )
        varies = not evaluator.is_constant(arg)
        if varies:
            _check_varying(declaration, distribution, name, arg)
            check_pattern(declaration, distribution, name, spec.constraint, value)
        if varies or not isinstance(spec.constraint.bounds, tuple):
            continue
        inside = np.asarray(spec.constraint.check(value, *spec.constraint.bounds))
        if not inside.all():
            raise distribution.model_error(
                f"{declaration.title}: {distribution.name}'s {name} must be "
                f"{spec.constraint.name}{_fault(spec, value, ~inside)}.",
                parameter=name,
                value=value,
            )


def _fault(spec: Parameter, value: Array, bad: Array) -> str:
    """Say what came instead of possible values of a parameter, and where."""
    if spec.event_ndim == 0:
        return f"; got {value[bad].flat[0] if value.ndim else value:g} at {where(bad)}"
    fault = spec.constraint.fault(value[bad][0]) if bad.ndim == value.ndim - spec.event_ndim else ""
    place = f" (the one at {where(bad)})" if bad.ndim else ""
    return f"; {fault}{place}" if fault else ""


def _check_together(
    declaration: Declaration, distribution: Distribution, event: Shape, evaluator: Evaluator
) -> None:
    """Ask whether what data decide makes sense together, and for values of this size."""
    known = map(evaluator.known, distribution.args.values())
    objection = distribution.objection(event, *known)
    if objection:
        raise distribution.model_error(
            f"{declaration.title}: {distribution.name}'s {objection}.",
            distribution=distribution.name,
        )


def check_pattern(
    declaration: Declaration,
    distribution: Distribution,
    name: str,
    constraint: Constraint,
    value: Array,
) -> None:
    """Raise a `ModelError` for matrices of parameters that are not symmetric, or triangular."""
    if constraint.event_ndim != 2:
        return
    fault = fault_in_stack(value, constraint.pattern_fault)
    if fault:
        raise distribution.model_error(
            f"{declaration.title}: {distribution.name}'s {name} must be {constraint.name}; "
            f"{fault} at some values of the parameters.",
            parameter=name,
            value=value,
        )


def _check_varying(
    declaration: Declaration, distribution: Distribution, name: str, arg: Any
) -> None:
    """Raise a `ModelError` for an argument that depends on parameters and must not."""
    spec = distribution.parameters[name]
    if spec.known:
        wanted, given = "must come from data", f"{arg!r}, which depends on parameters."
    elif spec.constraint.integer:
        wanted = "is a whole number and must come from data"
        given = f"{arg!r}, which the sampler would move continuously."
    else:
        return
    raise distribution.model_error(
        f"{declaration.title}: {distribution.name}'s {name} {wanted}; got {given}", parameter=name
    )


def _batch_shape(
    declaration: Declaration, distribution: Distribution, params: Sequence[Array]
) -> Shape:
    shapes = [
        _batch_of(spec, p) for p, spec in zip(params, distribution.parameters.values(), strict=True)
    ]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise distribution.shape_error(
            f"{declaration.title}: the parameters of {distribution.name} do not fit together: "
            f"{_describe(distribution, params)}.",
            shapes=shapes,
        ) from error


def _too_many_axes(
    declaration: Declaration,
    distribution: Distribution,
    shape: Shape,
    own: Shape,
    params: Sequence[Array],
) -> ShapeError:
    """Make the error of parameters with more axes than there are values, which have shape own."""
    batch = _batch_shape(declaration, distribution, params)
    message = f"{declaration.title} has shape {shape}, "
    if distribution.event_ndim:
        specs = zip(distribution.args, distribution.parameters.values(), params, strict=True)
        name, spec, value = next(
            part for part in specs if not _broadcasts_to(_batch_of(part[1], part[2]), own)
        )
        hint = distribution.batch_hint if len(_batch_of(spec, value)) > len(own) else ""
        whole = "series" if distribution.sequential else _noun(distribution.event_ndim)
        message += (
            f"and {name} of {distribution.name} is one {_noun(spec.event_ndim)} for "
            f"{'each' if own else 'a whole'} {whole}; got shape {value.shape}. {hint}"
        )
    else:
        message += (
            f"but the parameters of its {distribution.name} have "
            f"{_describe(distribution, params)}, which make {batch}: they do not match it, or "
            "would pair every element with every other. Bring the parameters to "
            f"shape {own}; x.reshape(-1) drops an axis of length 1."
        )
    return declaration.shape_error(message.rstrip(), expected=own, given=batch)


def _batch_of(spec: Parameter, value: Array) -> Shape:
    """Return the shape of a parameter's value without the axes that one value has."""
    shape: Shape = value.shape[: value.ndim - spec.event_ndim]
    return shape


def _noun(axes: int) -> str:
    """Say what has so many axes."""
    return {0: "number", 1: "vector", 2: "matrix"}.get(axes, f"array of {axes} axes")


def _known_event(
    declaration: Declaration, distribution: Distribution, event: Shape | None
) -> Shape:
    if event is None:
        raise declaration.shape_error(
            f"{declaration.title}: the size of a {distribution.name} does not follow from its "
            "parameters; give dims= or shape=."
        )
    return event


def _check_event(
    declaration: Declaration,
    distribution: Distribution,
    given: Shape,
    expected: Shape | None,
    params: Sequence[Array],
) -> None:
    if expected is not None and given != expected:
        raise declaration.shape_error(
            f"{declaration.title}: each value has shape {given}, but the parameters of its "
            f"{distribution.name}, {_describe(distribution, params)}, are those of values of shape "
            f"{expected}.",
            expected=expected,
            given=given,
        )


def _broadcasts_to(batch: Shape, shape: Shape) -> bool:
    try:
        return np.broadcast_shapes(batch, shape) == shape
    except ValueError:
        return False


def _describe(distribution: Distribution, params: Sequence[Array]) -> str:
    return ", ".join(
        f"{name} of shape {value.shape}"
        for name, value in zip(distribution.args, params, strict=True)
        if value.ndim
    )


def _probe(
    declaration: Declaration, distribution: Distribution, shape: Shape, params: Sequence[Array]
) -> None:
    """Evaluate the density once, so that whatever shapes it refuses are refused here."""
    value = np.zeros(shape, dtype=np.int64 if distribution.discrete else np.float64)
    try:
        with np.errstate(all="ignore"):
            distribution.log_kernel(np, value, *params)
    except (ValueError, IndexError) as error:
        raise declaration.shape_error(
            f"{declaration.title} of shape {shape} does not fit the parameters of "
            f"{distribution.name}: {_describe(distribution, params)}. The reason: {error}.",
            shape=shape,
        ) from error
