"""Functions of arrays that the modelling language records as calls, and those it cannot record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from probmodel.errors import ModelError
from probmodel.expressions import Expression
from probmodel.functions.recorded_calls import Formula, call

Function = Callable[..., Any]


def symbolic(values: Sequence[Any]) -> bool:
    """Whether one of the values is a symbol."""
    return any(isinstance(value, Expression) for value in values)


def either(numbers: Function, symbols: Function) -> Function:
    """Join a function of numbers and one that symbols answer to."""
    return lambda *args: (symbols if symbolic(args) else numbers)(*args)


def called(name: str, function: Function, ranks: Sequence[int], numbers: Sequence[int] = ()) -> Any:
    """Make a function that autograd can differentiate one of arrays and symbols.

    It is printed with a name, and is of arrays, whose shapes it may use, with ``ranks`` axes each.
    ``numbers`` are arguments in which it has no derivative, so that they must be numbers.
    """
    formula = Formula(name, function)

    def checked(*args: Any) -> Any:
        for i in numbers:
            if isinstance(args[i], Expression):
                raise ModelError(
                    f"{name} has no derivative in its argument {i + 1}, which must come from data "
                    "alone; here parameters decide it.",
                    function=name,
                )
        return call(formula, args, ranks)

    return checked


def of_numbers(name: str, function: Function) -> Function:
    """Make a function refuse symbols, because it has no derivative."""

    def checked(*args: Any) -> Any:
        if symbolic(args):
            raise ModelError(
                f"{name} has no derivative here: its arguments must come from data alone, or stand "
                "in generated quantities; here parameters decide one of them.",
                function=name,
            )
        return function(*args)

    return checked
