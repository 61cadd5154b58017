"""Functions of arrays as operations of the modelling language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from probmodel.expressions import OPERATIONS, Apply, Expression, as_expression, leaves
from probmodel.expressions.expression import apply


class Formula:
    """A function of arrays as the language records it: called with xp first.

    Parameters
    ----------
    name : as it is printed
    evaluate : the function, without xp
    primitive : the same as an autograd primitive, if autograd is not to trace it
    """

    def __init__(
        self, name: str, evaluate: Callable[..., Any], primitive: Callable[..., Any] | None = None
    ) -> None:
        self.__name__ = name
        self.evaluate = evaluate
        self.primitive = primitive

    def __call__(self, xp: Any, *args: Any) -> Any:
        """Evaluate the function."""
        return self.evaluate(*args)


def call(formula: Any, args: Sequence[Any], event_ndims: Sequence[int]) -> Any:
    """Record a call of a formula if an argument is symbolic, else evaluate it.

    Parameters
    ----------
    formula : called with xp first; ``primitive`` as in `Formula`
    args : numbers, arrays or expressions
    event_ndims : number of event axes of each
    """
    if any(isinstance(arg, Expression) for arg in args):
        options = {
            "function": formula,
            "event_ndims": tuple(event_ndims),
            "primitive": formula.primitive,
        }
        return Apply(OPERATIONS["call"], tuple(map(as_expression, args)), options)
    with np.errstate(all="ignore"):
        return formula(np, *(np.asarray(arg, dtype=float) for arg in args))


def operate(name: str, *operands: Any, **options: Any) -> Any:
    """Record an operation of the language if an operand is symbolic, else evaluate it."""
    operation = OPERATIONS[name]
    if any(isinstance(leaf, Expression) for leaf in leaves([*operands, *options.values()])):
        return apply(operation, *operands, **options)
    with np.errstate(all="ignore"):
        return operation.evaluate(*map(np.asarray, operands), **options)
