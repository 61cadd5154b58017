"""Differential equations in models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.expressions import OPERATIONS, Apply, as_expression, call_error, trace
from probmodel.numerics.solvers.tableau import METHODS


def solve_ode(
    function: Callable[..., Any],
    initial: Any,
    t0: Any,
    times: Any,
    *args: Any,
    method: str = "rk45",
    rtol: float = 1e-6,
    atol: float = 1e-6,
    max_steps: int = 2000,
) -> Any:
    r"""Solve :math:`dy/dt = f(t, y)`, :math:`y(t_0) = y_0`, and return y at some times.

    Parameters
    ----------
    function : ``f(t, y, *args)``: time, state (n,) and the further arguments to the slope of each
        element of the state; a list of n numbers, or a vector. It is called once, with symbols.
    initial : state at ``t0``: (n,), or a list of n numbers
    t0 : initial time, a number or a datum
    times : later times, increasing; from data: (T,), or one number
    *args : whatever else the function takes: data, parameters, expressions. (A function does not
        see the names of the class body in which it is written.)
    method : ``"rk45"``, explicit (Dormand and Prince), or ``"esdirk43"``, implicit (Kennedy and
        Carpenter), for stiff systems
    rtol, atol : the error of a step is kept below ``atol + rtol * abs(y)``
    max_steps : of one solution

    Returns
    -------
    (T, n). A solution that is not finite or needs more than ``max_steps`` steps is NaN: the sampler
    rejects the point.

    Raises
    ------
    ModelError
        If the function or a setting makes no sense.

    Notes
    -----
    Every chain has a step size of its own. Gradients are those of the computed solution, by the
    adjoint of the steps taken; they are exact up to rounding, and as accurate as the solution.
    Stan: ``ode_rk45_tol`` and ``ode_bdf_tol``, with the same order of arguments.

    References
    ----------
    Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I.
    Kennedy and Carpenter (2003), Applied Numerical Mathematics 44.
    """
    _check_settings(method, rtol, atol, max_steps)
    if isinstance(initial, (list, tuple)):
        initial = np.stack(initial)
    closure = trace(function, ("t", "y"), *args)
    grid = np.concatenate([as_expression(t0), as_expression(times)])
    operands = (as_expression(initial), *closure.captured)
    options = {"method": method, "rtol": rtol, "atol": atol, "max_steps": max_steps}
    return Apply(OPERATIONS["solve_ode"], operands, {"function": closure, "times": grid, **options})


def _check_settings(method: str, rtol: float, atol: float, max_steps: int) -> None:
    if method not in METHODS:
        raise call_error(
            f"solve_ode has no method {method!r}. Its methods: {', '.join(METHODS)}.", method=method
        )
    for name, value in (("rtol", rtol), ("atol", atol), ("max_steps", max_steps)):
        whole = name == "max_steps"
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            kind = "a whole number" if whole else "a number"
        elif value > 0:
            continue
        else:
            kind = "positive"
        raise call_error(f"solve_ode: {name} must be {kind}; got {value!r}.", setting=name)
