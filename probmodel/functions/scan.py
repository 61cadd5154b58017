"""Nonlinear recurrences in models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.errors import ModelError
from probmodel.expressions import OPERATIONS, Apply, as_expression, caller_location, trace


def scan(
    function: Callable[..., Any],
    initial: Any,
    *sequences: Any,
    length: Any = None,
    args: tuple[Any, ...] = (),
) -> Any:
    """Run a recurrence: ``state = function(state, *elements, *args)``, and return all states.

    Parameters
    ----------
    function : of the state, one element of each sequence, and ``args``, to the next state of the
        same shape. It is called once, with symbols.
    initial : the state before the first step: a number, or an array, or a list of numbers
    *sequences : data, parameters or expressions, of which each step takes one element of the first
        axis: (T, ...)
    length : number of steps T; needed where there are no sequences, from data
    args : whatever else the function takes: data, parameters, expressions

    Returns
    -------
    (T, *shape of the state), the states after each step; the initial one is not among them.

    Raises
    ------
    ModelError
        If the function makes no sense, or there is neither a sequence nor a length.

    Notes
    -----
    The steps follow each other, for all chains at once: this is for short recurrences that are not
    linear. For linear ones `linear_recurrence` and `matrix_recurrence` are cheaper.
    """
    if not sequences and length is None:
        raise ModelError(
            "scan needs a sequence, or length=: the number of steps.", location=caller_location()
        )
    if isinstance(initial, (list, tuple)):
        initial = np.stack(initial)
    names = ("state", *(f"element {i + 1}" for i in range(len(sequences))))
    closure = trace(function, names, *args)
    operands = (as_expression(initial), [as_expression(s) for s in sequences], *closure.captured)
    return Apply(OPERATIONS["scan"], operands, {"function": closure, "length": length})
