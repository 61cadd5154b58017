"""Forms of distributions that cost less: by the scale of a link, or by known directions."""

from __future__ import annotations

from collections.abc import Iterator

from probmodel.distributions.base import Distribution
from probmodel.expressions import Apply, Constant, Expression, as_expression
from probmodel.expressions.known_parts import Values


def cheapest_form(
    distribution: Distribution, params: tuple[Expression, ...], values: Values
) -> tuple[Distribution, tuple[Expression, ...]]:
    """Swap a distribution for the form that costs least: `linked`, or by known directions."""
    return linked(*distribution.with_known_directions(params, values))


def along_known_directions(
    distribution: Distribution, values: Values, triangular: bool = False
) -> Distribution:
    """Return a distribution with matrices that vary along known directions given by these.

    Parameters are those of `Distribution.with_known_directions`.
    """
    args = tuple(as_expression(arg) for arg in distribution.args.values())
    return distribution.with_known_directions(args, values, triangular)[0]


def linked(
    distribution: Distribution, params: tuple[Expression, ...]
) -> tuple[Distribution, tuple[Expression, ...]]:
    """Swap a distribution for the form that takes its parameter on the linked scale.

    ``Poisson(np.exp(e))`` is ``PoissonLog(e)``: cheaper, and exact where ``exp`` overflows.
    """
    for i, name in enumerate(distribution.parameters):
        node = params[i]
        if not isinstance(node, Apply):
            continue
        for link, argument in _links(node):
            form = distribution.link_forms.get((name, link))
            if form is not None:
                changed = (*params[:i], argument, *params[i + 1 :])
                return form(*changed), changed
    return distribution, params


_MOVES = ("getitem", "reshape", "broadcast_to")


def _links(node: Apply) -> Iterator[tuple[str, Expression]]:
    """Yield the functions that an expression is of something, the most special first.

    Some elements of a function of something are that function of some elements.
    """
    if node.operation.name in _MOVES and isinstance(node.args[0], Apply):
        for name, argument in _links(node.args[0]):
            yield name, Apply(node.operation, (argument, *node.args[1:]), node.kwargs)
        return
    argument = as_expression(node.args[0]) if node.args else node
    name = node.operation.name
    half = _doubled(argument)
    if half is not None:
        yield f"{name} of half", half
    yield name, argument


def _doubled(node: Expression) -> Expression | None:
    """Return e where an expression is e / 2 or 0.5 * e."""
    if not isinstance(node, Apply) or len(node.args) != 2:
        return None
    a, b = (arg.value if isinstance(arg, Constant) else arg for arg in node.args)
    if node.operation.name == "divide" and isinstance(b, (int, float)) and b == 2:
        return as_expression(a)
    if node.operation.name == "multiply":
        for factor, other in ((a, b), (b, a)):
            if isinstance(factor, (int, float)) and factor == 0.5:
                return as_expression(other)
    return None
