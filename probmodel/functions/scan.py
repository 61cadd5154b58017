"""Nonlinear recurrences in models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.expressions import OPERATIONS, Apply, as_expression, call_error, trace


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
    Machine code repeats the step in a loop. NumPy, which computes the first gradients and the
    values of what is saved, takes the steps one after another, for all chains or draws at once.
    """
    if not sequences and length is None:
        raise call_error("scan needs a sequence, or length=: the number of steps.")
    if isinstance(initial, (list, tuple)):
        initial = np.stack(initial)
    names = ("state", *(f"element {i + 1}" for i in range(len(sequences))))
    closure = trace(function, names, *args)
    operands = (as_expression(initial), [as_expression(s) for s in sequences], *closure.captured)
    return Apply(OPERATIONS["scan"], operands, {"function": closure, "length": length})
