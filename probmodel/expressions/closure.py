"""Functions that users hand to solvers, traced once into expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from probmodel.errors import Location, ModelError
from probmodel.expressions.expression import Constant, Expression, Symbol, apply, as_expression
from probmodel.expressions.graph import children, topological
from probmodel.expressions.location import caller_location
from probmodel.expressions.operations import OPERATIONS


class Closure:
    """A function of some arguments, with what it uses of the model around it.

    Attributes
    ----------
    name : of the function, for messages and printing
    arguments : the symbols that stand for its arguments
    captured : the largest expressions inside it that do not depend on its arguments: they are
        computed once for all calls
    body : its result, as an expression of the arguments and of what is captured
    location : the line that handed it over
    """

    def __init__(
        self, name: str, arguments: Sequence[Symbol], body: Expression, location: Location | None
    ) -> None:
        self.name = name
        self.arguments = tuple(arguments)
        self.body = body
        self.location = location
        self.captured = tuple(_captured(self.arguments, body))


def trace(function: Callable[..., Any], names: Sequence[str], *rest: Any) -> Closure:
    """Call a function once with symbols and keep what it computes.

    It takes one symbol for each of ``names``, which change from call to call, then ``rest``, the
    same in every call. It returns an expression, or a list of numbers, which is the vector of them.
    Raises a `ModelError` if it cannot be called so, or returns nothing.
    """
    location = caller_location()
    symbols = [Symbol(n) for n in names]
    name, result = called(function, names, (*symbols, *rest), location)
    if isinstance(result, (list, tuple)):
        result = apply(OPERATIONS["stack"], list(result))
    return Closure(name, symbols, as_expression(result), location)


def called(
    function: Callable[..., Any],
    names: Sequence[str],
    args: Sequence[Any],
    location: Location | None,
) -> tuple[str, Any]:
    """Call a function of the user's; return its name and what it returns.

    Messages have the ``names`` of its first arguments and the line that handed it over. Raises a
    `ModelError` if it is no function, takes other arguments, returns nothing or uses a name of the
    class body.
    """
    name = getattr(function, "__name__", type(function).__name__)
    if not callable(function) or isinstance(function, Expression):
        raise ModelError(
            f"expected a function of ({', '.join(names)}, ...); got {name}.",
            location=location,
            given=function,
        )
    try:
        result = function(*args)
    except NameError as error:
        raise ModelError(
            f"{name}: {error}. A function does not see the names of the class body around it: hand "
            "them over as further arguments.",
            location=location,
            function=name,
        ) from error
    except TypeError as error:
        if isinstance(error, ModelError) or error.__traceback__ is None:
            raise
        if error.__traceback__.tb_next is not None:  # it was called, and failed inside
            raise
        further = len(args) - len(names)
        takes = ", ".join([*names, *(f"argument {i + 1}" for i in range(further))])
        raise ModelError(
            f"{name} is called with ({takes}): {error}.", location=location, function=name
        ) from error
    if result is None:
        raise ModelError(
            f"{name} returns nothing; it must return its result.", location=location, function=name
        )
    return name, result


def _captured(arguments: Sequence[Symbol], body: Expression) -> list[Expression]:
    """Expressions that do not depend on the arguments but are used by some that do."""
    order = topological([body])
    dependent = {id(symbol) for symbol in arguments}
    for node in order:
        if any(id(child) in dependent for child in children(node)):
            dependent.add(id(node))
    used = [child for node in order if id(node) in dependent for child in children(node)]
    found: dict[int, Expression] = {}
    for node in [*used, body]:
        if id(node) not in dependent and not isinstance(node, Constant):
            found.setdefault(id(node), node)
    return list(found.values())
