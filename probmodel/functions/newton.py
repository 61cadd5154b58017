"""Roots of equations in models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.expressions import OPERATIONS, Apply, as_expression, call_error, trace


def solve_newton(
    function: Callable[..., Any],
    guess: Any,
    *args: Any,
    tolerance: float = 1e-9,
    max_steps: int = 100,
) -> Any:
    """Solve a system of equations ``function(x, *args) = 0``.

    Parameters
    ----------
    function : of x (n,) and ``args`` to n numbers: a vector, or a list. It is called once, with
        symbols.
    guess : where to start: (n,), or a list of n numbers
    *args : whatever else the function takes: data, parameters, expressions
    tolerance : the largest component of the function at a root, in absolute value
    max_steps : of Newton's method

    Returns
    -------
    (n,). NaN where no root was found: the sampler rejects the point.

    Raises
    ------
    ModelError
        If the function or a setting makes no sense.

    Notes
    -----
    Newton's method with steps that are halved until they lead downhill, from the same guess
    everywhere: where there are several roots, the guess decides which is found, and the result may
    jump. Where equation i depends on no unknown but the one at i, as the function shows, each is
    solved by itself. Gradients are those of the implicit function; none flow to the guess. Stan:
    ``solve_newton``.
    """
    if not tolerance > 0 or not isinstance(max_steps, int) or max_steps < 1:
        raise call_error(
            f"solve_newton: tolerance must be positive and max_steps a whole number of at least 1; "
            f"got {tolerance!r} and {max_steps!r}."
        )
    if isinstance(guess, (list, tuple)):
        guess = np.stack(guess)
    closure = trace(function, ("x",), *args)
    options = {"function": closure, "tolerance": tolerance, "max_steps": max_steps}
    operands = (as_expression(guess), *closure.captured)
    return Apply(OPERATIONS["solve_newton"], operands, options)
