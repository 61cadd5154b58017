"""Operations that take a function: how one of them is evaluated, and the shape of its result.

``function`` has been traced; here it is called with numbers, one problem at a time. How a batch of
chains runs is said in `probmodel.density`, in `differential` and `equations`, and in
`numerics.recurrences`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.types import Array

_STEP = 1e-6


def ode(initial: Any, *captured: Any, function: Callable[..., Any], times: Any, **how: Any) -> Any:
    """Solve an initial value problem."""
    from probmodel.numerics.solvers.runge_kutta import Tolerances, solve
    from probmodel.numerics.solvers.tableau import METHODS

    initial = np.asarray(initial, dtype=float)
    tolerances = Tolerances(how["rtol"], how["atol"], how["max_steps"])
    tableau = METHODS[how["method"]]()
    return solve(_OneProblem(function), tableau, initial[None], times, tolerances).y[0]


def ode_shape(initial: Any, *captured: Any, function: Any, times: Any, **how: Any) -> Any:
    """Call the right-hand side once, and return zeros of the solution's shape."""
    initial = np.asarray(initial, dtype=float)
    if initial.ndim != 1:
        raise ValueError(f"the initial state must be a vector; got shape {initial.shape}")
    if np.ndim(times) != 1:
        raise ValueError(f"times must be a vector; got shape {np.shape(times[1:])}")
    late = np.diff(times) > 0
    if not late.all():
        first = int(np.argmin(late))
        before = f"times[{first - 1}]" if first else "t0"
        raise ValueError(
            f"t0 and times must increase strictly; times[{first}] is {times[first + 1]:g}, and "
            f"{before} is {times[first]:g}. Of times that recur, give each once, and index the "
            "solution"
        )
    _check_shape(function(np.asarray(times[0]), initial), initial, "slope")
    return np.zeros((len(times) - 1, *initial.shape))


def newton(guess: Any, *captured: Any, function: Any, tolerance: float, max_steps: int) -> Any:
    """Solve a system of equations."""
    from probmodel.numerics.solvers.newton_iteration import find_roots

    def values(x: Array) -> Array:
        return np.asarray(function(x[0]), dtype=float)[None]

    def jacobian(x: Array) -> Array:
        return _differences(values, x)

    start = np.asarray(guess, dtype=float)[None]
    return find_roots(values, jacobian, start, tolerance, max_steps)[0]


def newton_shape(guess: Any, *captured: Any, function: Any, **how: Any) -> Any:
    """Call the function once, and return zeros of the root's shape."""
    guess = np.asarray(guess, dtype=float)
    if guess.ndim != 1:
        raise ValueError(f"the guess must be a vector; got shape {guess.shape}")
    _check_shape(function(guess), guess, "equation")
    return np.zeros(guess.shape)


def scan(initial: Any, sequences: Any, *captured: Any, function: Any, length: Any) -> Any:
    """Run a recurrence, over the sequences unless its length is given."""
    length = _length(sequences, length)
    state, states = np.asarray(initial, dtype=float), []
    for i in range(length):
        state = np.asarray(function(state, *(np.asarray(s)[i] for s in sequences)))
        states.append(state)
    return np.stack(states)


def scan_shape(initial: Any, sequences: Any, *captured: Any, function: Any, length: Any) -> Any:
    """Take one step, and return zeros of the shape of all states."""
    length = _length(sequences, length)
    state = np.asarray(initial, dtype=float)
    for sequence in sequences:
        if np.ndim(sequence) == 0 or len(sequence) != length:
            raise ValueError(
                f"every sequence needs {length} elements along its first axis; got shape "
                f"{np.shape(sequence)}. Hand over what is the same at every step by args=(...)"
            )
    _check_shape(function(state, *(np.asarray(s)[0] for s in sequences)), state, "new value")
    return np.zeros((length, *state.shape))


def _length(sequences: Any, length: Any) -> int:
    if length is None:
        return len(np.atleast_1d(sequences[0]))
    if np.ndim(length) or int(length) != length or length < 1:
        raise ValueError(f"length must be a whole number of at least 1; got {length}")
    return int(length)


def _check_shape(result: Any, state: Array, what: str) -> None:
    if np.shape(result) != state.shape:
        raise ValueError(
            f"the function returns shape {np.shape(result)} for a state of shape {state.shape}; "
            f"it must return one {what} for each element of the state"
        )


class _OneProblem:
    """A right-hand side for one state, as a system of one chain."""

    autonomous = False

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, t: Array, y: Array) -> Array:
        """Slope: (1,), (1, n) -> (1, n)."""
        return np.asarray(self._function(t[0], y[0]), dtype=float)[None]

    def jacobian(self, t: Array, y: Array) -> Array:
        """Differences, which Newton's method makes do with: (1, n, n)."""
        return _differences(lambda state: self(t, state), y)


def _differences(function: Callable[[Array], Array], x: Array) -> Array:
    """Central differences of a function of one row: (1, n) -> (1, n, n)."""
    columns = []
    for i in range(x.shape[-1]):
        step = _STEP * np.maximum(1.0, np.abs(x[:, i]))
        move = np.zeros_like(x)
        move[:, i] = step
        columns.append((function(x + move) - function(x - move)) / (2.0 * step))
    return np.stack(columns, axis=-1)
