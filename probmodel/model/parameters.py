"""From a declared parameter to its unconstrained symbol, constraint and density terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from probmodel.constraints import Constraint, OffsetMultiplier, Real, between
from probmodel.constraints.base import bound_text
from probmodel.constraints.containment import lies_in, limits
from probmodel.distributions.base import Distribution
from probmodel.distributions.links import along_known_directions
from probmodel.errors import ModelError
from probmodel.expressions import Constant, Expression, FreeSymbol, as_expression, call_of
from probmodel.model.checks import check_distribution, implied_sizes, spread
from probmodel.model.declarations import Parameter
from probmodel.model.dimensions import Dimensions
from probmodel.model.evaluation import Evaluator
from probmodel.model.ordered_bounds import ordered_within
from probmodel.model.pseudo_data import PseudoData, check_information, frame_of
from probmodel.model.terms import Term


@dataclass(frozen=True)
class FreeParameter:
    """A parameter as the sampler sees it, and the way back.

    Attributes
    ----------
    declaration : what the user declared
    free : the unconstrained symbol; sampling moves its value
    value : the parameter on the user's scale, as an expression of ``free``
    constraint : the map between the two; `Real` for a non-centred parameter
    frame : the distribution whose location and scale standardise the value, if one does
    link : the map from what the frame standardises to the value; `Real` if that is the value
    bounds : the constraint's bounds as expressions
    shape, free_shape : shapes of ``value`` and ``free``
    terms : its prior and the log-Jacobian of the map
    """

    declaration: Parameter
    free: FreeSymbol
    value: Expression
    constraint: Constraint
    frame: Distribution | None
    link: Constraint
    bounds: tuple[Expression, ...]
    shape: tuple[int, ...]
    free_shape: tuple[int, ...]
    terms: list[Term]

    @property
    def name(self) -> str:
        """The parameter's name."""
        return str(self.declaration.name)


def elaborate(
    declaration: Parameter,
    evaluator: Evaluator,
    dimensions: Dimensions,
    pseudo_data: PseudoData | None = None,
) -> FreeParameter:
    """Choose a parameter's shape and constraint, and write its value and density terms.

    ``pseudo_data`` standardises a parameter whose declaration leaves that open. Raises a
    `ModelError` or `ShapeError` if the declaration contradicts its prior.
    """
    shape = _declared_shape(declaration, evaluator, dimensions)
    if declaration.prior is not None:
        shape = check_distribution(declaration, declaration.prior, shape, evaluator)
    shape = shape or ()
    frame = frame_of(declaration, evaluator, free_link, pseudo_data)
    constraint = choose_constraint(declaration, evaluator, frame)
    if 0 in shape:
        return _empty(declaration, evaluator, shape)
    _check_event(declaration, constraint, shape)
    link: Constraint = Real()
    if frame is not None and declaration.prior is not frame:
        link = free_link(declaration, evaluator)
    free_shape = constraint.free_shape(link.free_shape(shape))
    free = FreeSymbol(f"unconstrained {declaration.name}", free_shape, declaration.location)
    evaluator.probe(free, free_shape)
    if frame is not None:
        check_information(declaration, link.free_shape(shape), evaluator)
        parts = _standardised(declaration, frame, link, constraint, free, shape, evaluator)
    else:
        parts = _constrained(declaration, constraint, free, shape, evaluator)
    value, bounds, terms = parts
    _check_value_shape(declaration, evaluator.shape(value), shape)
    evaluator.define(declaration, evaluator.value(value), random=True)
    for term in terms:
        evaluator.shape(term.expression)
    return FreeParameter(
        declaration, free, value, constraint, frame, link, bounds, shape, free_shape, terms
    )


def _empty(declaration: Parameter, evaluator: Evaluator, shape: tuple[int, ...]) -> FreeParameter:
    """Return a parameter without elements: it has no coordinates and no terms."""
    free = FreeSymbol(f"unconstrained {declaration.name}", shape, declaration.location)
    value = Constant(np.zeros(shape), declaration.location)
    for symbol in (free, declaration):
        evaluator.define(symbol, np.zeros(shape), random=True)
    return FreeParameter(declaration, free, value, Real(), None, Real(), (), shape, shape, [])


def _declared_shape(
    declaration: Parameter, evaluator: Evaluator, dimensions: Dimensions
) -> tuple[int, ...] | None:
    if declaration.declared_shape is None:
        prior = declaration.prior
        dimensions.complete_last(declaration, lambda: implied_sizes(declaration, prior, evaluator))
        values = declaration.constraint or (Real() if prior is None else prior.support())
        if values.square:
            dimensions.complete_square(declaration)
        return dimensions.shape(declaration)
    sizes = [evaluator.value(size) for size in declaration.declared_shape]
    for size, given in zip(sizes, declaration.declared_shape, strict=True):
        if size.ndim or size.dtype.kind not in "iu" or size < 0 or not evaluator.is_constant(given):
            real = size.dtype.kind == "f" and evaluator.is_constant(given)
            hint = ", which is a real number: sizes are data(dtype=int)" if real else ""
            raise declaration.shape_error(
                f"{declaration.title}: shape= takes integers from 0, or integer data; got "
                f"{given!r}{hint}.",
                shape=declaration.declared_shape,
            )
    return tuple(int(size) for size in sizes)


def _standardised(
    declaration: Parameter,
    frame: Distribution,
    link: Constraint,
    constraint: Constraint,
    free: FreeSymbol,
    shape: tuple[int, ...],
    evaluator: Evaluator,
) -> tuple[Expression, tuple[Expression, ...], list[Term]]:
    """Write the value as ``link`` of ``frame``'s location and scale, applied to what is free."""
    name, prior = str(declaration.name), declaration.prior
    standardised, bounds, terms = _map(declaration, constraint, free)
    inner = link.free_shape(shape)
    full = spread(frame, inner, evaluator)
    if frame is prior:
        full = along_known_directions(full, evaluator, triangular=True)
    args = [as_expression(arg) for arg in full.args.values()]
    if full.event_ndim == 0:
        value = as_expression(full.noncentered(np, standardised, *args))
    else:
        operands, primitive = (standardised, *args), full.noncentered_primitive
        value = call_of(full.noncentered, operands, full.event_ndims, primitive)
    if prior is None or prior is frame:
        of_free = Term.of_distribution(name, "prior", frame.base(), standardised)
        return value, bounds, [of_free, *terms]
    batch = len(inner) - frame.event_ndim
    known = [evaluator.value(arg) if evaluator.is_constant(arg) else arg for arg in args]
    log_det = as_expression(full.noncentered_log_det(np, inner[batch:], *known))
    if batch:
        log_det = log_det + np.zeros(inner[:batch])  # once for each element
    value, _, of_link = _map(declaration, link, value)
    of_value = Term.of_distribution(
        name, "prior", spread(full.prior_form or prior, shape, evaluator), declaration
    )
    return value, bounds, [of_value, Term(name, "jacobian", log_det), *of_link, *terms]


def _constrained(
    declaration: Parameter,
    constraint: Constraint,
    free: FreeSymbol,
    shape: tuple[int, ...],
    evaluator: Evaluator,
) -> tuple[Expression, tuple[Expression, ...], list[Term]]:
    value, bounds, terms = _map(declaration, constraint, free)
    if declaration.prior is not None:
        full = spread(declaration.prior, shape, evaluator)
        prior = Term.of_distribution(str(declaration.name), "prior", full, declaration)
        terms = [prior, *terms]
    return value, bounds, terms


def _map(
    declaration: Parameter, constraint: Constraint, free: Expression
) -> tuple[Expression, tuple[Expression, ...], list[Term]]:
    """Write the constrained value of ``free``, and the log-Jacobian where it is not constant."""
    bounds = tuple(as_expression(bound) for bound in constraint.bounds)
    if isinstance(constraint, Real):
        return free, bounds, []
    if isinstance(free, FreeSymbol) or not constraint.event_ndim:
        log_det = as_expression(constraint.log_det(np, free, *bounds))
        value = as_expression(constraint.forward(np, free, *bounds))
    else:  # no symbol tells the size of what a frame makes
        log_det = as_expression(call_of(constraint.log_det, (free,), (constraint.event_ndim,)))
        value = as_expression(call_of(constraint.forward, (free,), (constraint.event_ndim,)))
    return value, bounds, [Term(str(declaration.name), "jacobian", log_det)]


def choose_constraint(
    declaration: Parameter, evaluator: Evaluator, frame: Distribution | None = None
) -> Constraint:
    """Return the constraint of a parameter: its own, or its prior's support cut by its bounds.

    Where a ``frame`` standardises the parameter, it is that of the standardised value. Raises a
    `ModelError` if bounds and support contradict each other.
    """
    prior = declaration.prior
    if frame is not None:
        return frame.base().support()
    support = prior.support() if prior is not None else Real()
    if declaration.constraint is not None:
        constraint = _own_constraint(declaration, declaration.constraint, support, evaluator)
        _check_order(declaration, *_known_limits(constraint, evaluator))
        return _open_where_infinite(constraint, evaluator)
    bounds = declaration.bounds
    if "offset" in bounds or "multiplier" in bounds:
        return _offset_multiplier(declaration, support)
    if bounds:
        return _cut(declaration, support, evaluator)
    if not support.bijective:
        raise declaration.model_error(
            f"{declaration.title}: no map onto the support of {_prior_name(declaration)} "
            f"({support.name}) is known; give constraint=."
        )
    return _open_where_infinite(support, evaluator)


def _known_limits(constraint: Constraint, evaluator: Evaluator) -> list[Any]:
    """Return the two limits of an interval, as arrays where data decide them; else nothing."""
    return [
        evaluator.value(bound) if bound is not None and evaluator.is_constant(bound) else bound
        for bound in limits(constraint) or ()
    ]


def _open_where_infinite(constraint: Constraint, evaluator: Evaluator) -> Constraint:
    """Return an interval with the bounds that data give, where some of these are infinite."""
    known = _known_limits(constraint, evaluator)
    partly = any(isinstance(bound, np.ndarray) and np.isinf(bound).any() for bound in known)
    return between(*known) if partly else constraint


def _check_order(declaration: Parameter, lower: Any = None, upper: Any = None) -> None:
    """Refuse bounds between which there is no number."""
    low = lower if isinstance(lower, np.ndarray) else np.asarray(-np.inf)
    high = upper if isinstance(upper, np.ndarray) else np.asarray(np.inf)
    if np.any(low >= high):
        raise declaration.model_error(
            f"{declaration.title}: its lower bound, {bound_text(low, 'an array')}, is not below "
            f"its upper bound, {bound_text(high, 'an array')}."
        )


def free_link(declaration: Parameter, evaluator: Evaluator) -> Constraint:
    """Return the map from the free scale of a parameter as declared; known bounds are numbers."""
    link = choose_constraint(declaration, evaluator)
    known = limits(link) if declaration.bounds else None
    if known is None or not all(bound is None or evaluator.is_constant(bound) for bound in known):
        return link
    return between(*(bound if bound is None else evaluator.value(bound) for bound in known))


def _own_constraint(
    declaration: Parameter, constraint: Constraint, support: Constraint, evaluator: Evaluator
) -> Constraint:
    if not constraint.bijective:
        raise declaration.model_error(
            f"{declaration.title}: the constraint {constraint.name} cannot be sampled; it is only "
            "a check.",
            constraint=constraint.name,
        )
    constraint = ordered_within(constraint, support, evaluator)
    if not lies_in(constraint, support):
        advice = (
            "Values under a constraint must lie inside the support. Constrain a quantity whose "
            "support is larger, and transform it, such as expit(a) for probabilities; or choose "
            "another prior."
        )
        raise _contradiction(declaration, f"constraint {constraint.name}", support, advice)
    return constraint


def _offset_multiplier(declaration: Parameter, support: Constraint) -> Constraint:
    bounds = declaration.bounds
    if not isinstance(support, Real) or "lower" in bounds or "upper" in bounds:
        raise _contradiction(declaration, "offset and multiplier", support)
    return OffsetMultiplier(bounds.get("offset", 0.0), bounds.get("multiplier", 1.0))


def _cut(declaration: Parameter, support: Constraint, evaluator: Evaluator) -> Constraint:
    known, given = limits(support), declaration.bounds
    if known is None:
        raise _contradiction(declaration, "lower and upper bounds", support)
    lower, upper = given.get("lower", known[0]), given.get("upper", known[1])

    def inside(bound: Any, limit: Any, nearer: Callable[[Any, Any], Any]) -> Any:
        """Cut a bound by the support where one of them depends on other parameters."""
        if bound is limit or bound is None or limit is None:
            return bound
        ends = as_expression(bound), as_expression(limit)
        return bound if all(map(evaluator.is_constant, ends)) else nearer(*ends)

    low, high, least, most = map(evaluator.known, (lower, upper, *known))
    outside = (
        (low is not None and high is not None and np.any(low >= high))
        or (low is not None and least is not None and np.any(low < least))
        or (high is not None and most is not None and np.any(high > most))
    )
    _check_order(declaration, low if "lower" in given else None, high if "upper" in given else None)
    if outside:
        shown = ", ".join(f"{k}={v!r}" for k, v in given.items())
        raise _contradiction(declaration, shown, support)
    lower, upper = inside(lower, known[0], np.maximum), inside(upper, known[1], np.minimum)
    return _open_where_infinite(between(lower, upper), evaluator)


def _contradiction(
    declaration: Parameter,
    given: str,
    support: Constraint,
    advice: str = "Bounds must lie inside the support, lower below upper.",
) -> ModelError:
    return declaration.model_error(
        f"{declaration.title}: {given} contradicts the prior {_prior_name(declaration)}, whose "
        f"support is {support.name}. {advice}",
        support=support.name,
    )


def _prior_name(declaration: Parameter) -> str:
    return declaration.prior.name if declaration.prior else "flat"


def _check_event(declaration: Parameter, constraint: Constraint, shape: tuple[int, ...]) -> None:
    if len(shape) < constraint.event_ndim:
        raise declaration.shape_error(
            f"{declaration.title}: {constraint.name} needs a shape with {constraint.event_ndim} "
            f"axes or more, got {shape}; give dims= or shape=.",
            shape=shape,
        )
    if constraint.square and shape[-1] != shape[-2]:
        raise declaration.shape_error(
            f"{declaration.title}: {constraint.name} needs a shape that ends with two equal sizes, "
            f"got {shape}.",
            shape=shape,
        )


def _check_value_shape(
    declaration: Parameter, given: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    if given != shape:
        raise declaration.shape_error(
            f"{declaration.title} has shape {shape}, but its bounds or the parameters of its prior "
            f"make {given}.",
            expected=shape,
            shape=given,
        )
