"""NumPy's functions that are written out with others when they are called with symbols."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.errors import ModelError
from probmodel.expressions.location import caller_location

_NEAR_ZERO = 0.01  # below it the terms of sinc's series that are left out are below 1e-18


def _hypot(x1: Any, x2: Any) -> Any:
    return np.sqrt(np.square(x1) + np.square(x2))


def _radians(x: Any) -> Any:
    return x * (np.pi / 180.0)


def _degrees(x: Any) -> Any:
    return x * (180.0 / np.pi)


def _cbrt(x: Any) -> Any:
    return np.sign(x) * np.absolute(x) ** (1.0 / 3.0)


def _sinc(x: Any) -> Any:
    """Return ``sin(pi x) / (pi x)``; its slope at zero, too, is that of the function."""
    y = np.pi * x
    near = np.absolute(y) < _NEAR_ZERO
    away = np.where(near, 1.0, y)
    square = np.square(np.where(near, y, 0.0))
    series = 1.0 - square / 6.0 * (1.0 - square / 20.0 * (1.0 - square / 42.0))
    return np.where(near, series, np.sin(away) / away)


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """Integrate along the last axis; how many axes ``x`` has need not be known."""
    if axis != -1:
        raise ModelError(
            "np.trapezoid of a symbol integrates along the last axis. Exchange the axes of y "
            f"before, np.swapaxes(y, {axis!r}, -1), and those of x if it has more than one.",
            location=caller_location(),
            axis=axis,
        )
    y = np.stack(y) if isinstance(y, list | tuple) else y
    step = dx if x is None else np.diff(x)
    return np.sum(step * (y[..., 1:] + y[..., :-1]), axis=-1) / 2.0


def _append(arr: Any, values: Any, axis: int | None = None) -> Any:
    if axis is None and not isinstance(values, list | tuple):
        return np.concatenate([np.ravel(arr), np.ravel(values)])
    return np.concatenate([arr, values], axis=axis)


def _matrix_transpose(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


_WRITTEN_OUT: dict[str, Callable[..., Any]] = {
    "hypot": _hypot,
    "radians": _radians,
    "deg2rad": _radians,
    "degrees": _degrees,
    "rad2deg": _degrees,
    "cbrt": _cbrt,
    "sinc": _sinc,
    "trapezoid": _trapezoid,
    "append": _append,
    "matrix_transpose": _matrix_transpose,
}
WRITTEN_OUT: dict[Any, Callable[..., Any]] = {
    **{getattr(np, name): function for name, function in _WRITTEN_OUT.items()},
    np.linalg.matrix_transpose: _matrix_transpose,
}


def written_out(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call one of these functions.

    Raises
    ------
    ModelError
        If it takes other arguments.
    """
    signature = inspect.signature(function)
    parameters = [str(p.replace(annotation=p.empty)) for p in signature.parameters.values()]
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ModelError(
            f"np.{name} of a symbol takes {', '.join(parameters)}; {error}.",
            location=caller_location(),
            function=name,
        ) from error
    return function(*args, **kwargs)
