"""Log densities in formulas: what is checked of them, and which are terms by themselves."""

from __future__ import annotations

from probmodel.distributions.base import Distribution
from probmodel.distributions.sums import batch_shape
from probmodel.expressions import Apply, Expression, as_expression, topological
from probmodel.model.checks import check_arguments, check_pattern, spread
from probmodel.model.declarations import (
    Declaration,
    Deterministic,
    Parameter,
    Potential,
    expressions_of,
)
from probmodel.model.evaluation import Evaluator
from probmodel.model.terms import Term


def check_density_calls(declaration: Declaration, evaluator: Evaluator, done: set[int]) -> None:
    """Check the distributions whose log densities a declaration uses, and the values.

    It is bound, so that the evaluator knows its expressions. Those whose ``id`` is in ``done`` were
    checked before; it is updated. Raises a `ModelError` or `ShapeError` if a parameter cannot be
    what data make it, or a discrete value depends on parameters.
    """
    for node in topological(expressions_of(declaration), done=done):
        distribution = distribution_of(node)
        _check_formula(declaration, evaluator, node)
        if isinstance(node, Apply) and distribution is not None:
            check_arguments(declaration, distribution, evaluator)
            if distribution.event_ndim == 2:
                value = evaluator.value(node.args[0])
                check_pattern(declaration, distribution, "value", distribution.support(), value)
            if distribution.discrete:
                _check_discrete(declaration, distribution, node)


def _check_formula(declaration: Declaration, evaluator: Evaluator, node: Expression) -> None:
    """Check the arguments of a function that takes probabilities."""
    if not isinstance(node, Apply) or node.operation.name != "call":
        return
    for checked in getattr(node.kwargs["function"], "checked", ()):
        given = as_expression(checked.given)
        value = evaluator.value(given)
        varies = not evaluator.is_constant(given)
        objection = checked.objection(value, varies, evaluator.value(node))
        if objection:
            raise node.model_error(f"{declaration.title}: {objection}.", value=value)


def term_of(potential: Potential, evaluator: Evaluator) -> Term:
    """Return the term of a potential: that of a distribution, where it is one log density."""
    name, expression, node = str(potential.name), potential.expression, potential.elements
    distribution = distribution_of(node, "log_density")
    if distribution is None:
        return Term(name, "potential", expression)
    assert isinstance(node, Apply)
    value, shape = node.args[0], evaluator.shape(node.args[0])
    full = spread(distribution, shape, evaluator)
    shapes = [evaluator.value(a) for a in (value, *full.args.values())]
    if batch_shape(shapes, full.event_ndims) != shape[: len(shape) - full.event_ndim]:
        return Term(name, "potential", expression)
    return Term.of_distribution(name, "potential", full, value)


def distribution_of(node: Expression, method: str = "") -> Distribution | None:
    """Return the distribution whose method an expression is, of that name if one is given."""
    if not isinstance(node, Apply) or node.operation.name != "call":
        return None
    function = node.kwargs["function"]
    if method and function.__name__ != method:
        return None
    distribution: Distribution | None = getattr(function, "distribution", None)
    return distribution


def _check_discrete(declaration: Declaration, distribution: Distribution, node: Apply) -> None:
    values = node.args[: node.kwargs["function"].values]
    value = next((v for v in values if depends_on_parameters(v)), None)
    if value is None:
        return
    raise node.model_error(
        f"{declaration.title}: {node.kwargs['function'].__name__} of {distribution.name} takes "
        f"whole numbers that come from data; {value!r} depends on parameters, which are "
        "continuous. Sum over the values that it may have, as in docs/modelling-language.md.",
        distribution=distribution.name,
    )


def depends_on_parameters(expression: Expression) -> bool:
    """Whether a parameter is among what an expression is made of."""
    pending, done = [expression], set[int]()
    while pending:
        for node in topological([pending.pop()], done=done):
            if isinstance(node, Parameter):
                return True
            if isinstance(node, Deterministic):
                pending.append(node.expression)
    return False
