"""Functions of arrays as operations of the modelling language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from probmodel.constraints import Constraint
from probmodel.errors import ModelError, ShapeError
from probmodel.expressions import OPERATIONS, Expression, call_of, caller_location, leaves
from probmodel.expressions.expression import apply
from probmodel.types import Array


class Checked(NamedTuple):
    """An argument of a function, and what it must be where data decide it.

    Attributes
    ----------
    title : of the function and the argument
    given : number, array or expression
    constraint : that its values satisfy
    as_many : whether its last axis is as long as that of the function's value
    """

    title: str
    given: Any
    constraint: Constraint
    as_many: bool = False

    def objection(self, value: Array, varies: bool = False, found: Array | None = None) -> str:
        """Say what is wrong with a value; nothing if nothing is. Only lengths matter if it varies.

        ``found`` is the value of the function, if that is known. Axes that are missing altogether
        are left to the function.
        """
        if self.as_many and found is not None and value.shape[-1:] != found.shape[-1:]:
            got = value.shape[-1] if value.ndim else "a number"
            return f"{self.title} must be {found.shape[-1]} numbers; got {got}"
        if value.ndim < self.constraint.event_ndim:
            return ""
        bounds = self.constraint.bounds
        if varies or not isinstance(bounds, tuple):
            return ""
        bad = ~np.asarray(self.constraint.check(value, *bounds))
        if not bad.any():
            return ""
        scalar = self.constraint.event_ndim == 0
        fault = f"got {value[bad].flat[0]}" if scalar else self.constraint.fault(value[bad][0])
        return f"{self.title} must be {self.constraint.name}; {fault}"


class Formula:
    """A function of arrays as the language records it: called with xp first.

    Parameters
    ----------
    name : as it is printed
    evaluate : the function, without xp
    primitive : the same as an autograd primitive, if autograd is not to trace it

    Attributes
    ----------
    checked : arguments that are checked when a model is bound: symbols, and lengths
    """

    def __init__(
        self, name: str, evaluate: Callable[..., Any], primitive: Callable[..., Any] | None = None
    ) -> None:
        self.__name__ = name
        self.evaluate = evaluate
        self.primitive = primitive
        self.checked: Sequence[Checked] = ()

    def checking(self, arguments: Sequence[Checked]) -> Formula:
        """Return the same formula for arguments that are checked.

        Raises a `ModelError` if one that is given as numbers is not what it must be.
        """
        for argument in arguments:
            if not list(leaves(argument.given)):
                objection = argument.objection(np.asarray(argument.given))
                if objection:
                    raise ModelError(f"{objection}.", location=caller_location())
        found = copy(self)
        found.checked = [c for c in arguments if isinstance(c.given, Expression) or c.as_many]
        return found

    def __call__(self, xp: Any, *args: Any) -> Any:
        """Evaluate the function."""
        return self.evaluate(*args)


def call(formula: Any, args: Sequence[Any], event_ndims: Sequence[int]) -> Any:
    """Record a call of a formula if an argument is symbolic, else evaluate it.

    The formula is called with xp first, see `Formula`; each argument has so many event axes. Raises
    a `ShapeError` if arrays do not fit each other.
    """
    if any(isinstance(arg, Expression) for arg in args):
        return call_of(formula, args, event_ndims, formula.primitive)
    arrays = [np.asarray(arg, dtype=float) for arg in args]
    try:
        with np.errstate(all="ignore"):
            return formula(np, *arrays)
    except ValueError as error:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise ShapeError(
            f"{formula.__name__} was given arrays of shapes {shapes}: {str(error).strip()}.",
            location=caller_location(),
        ) from error


def operate(name: str, *operands: Any, **options: Any) -> Any:
    """Record an operation of the language if an operand is symbolic, else evaluate it."""
    operation = OPERATIONS[name]
    if any(isinstance(leaf, Expression) for leaf in leaves([*operands, *options.values()])):
        return apply(operation, *operands, **options)
    with np.errstate(all="ignore"):
        return operation.evaluate(*map(np.asarray, operands), **options)
