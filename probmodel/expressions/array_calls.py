"""Functions of NumPy whose calls are recorded with other functions than they are written with.

What needs no shapes is here. What is written with others once shapes are known is in
`compositions`. Those that record an operation of their own take ``record``, which makes a node from
its name, operands and options.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from probmodel.errors import ModelError
from probmodel.expressions.location import call_error

Record = Callable[..., Any]
_NEAR_ZERO = 0.01  # below it the terms of sinc's series that are left out are below 1e-18


# -- by other functions ----------------------------------------------------------------------------


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
        raise call_error(
            "np.trapezoid of a symbol integrates along the last axis. Exchange the axes of y "
            f"before, np.swapaxes(y, {axis!r}, -1), and those of x if it has more than one.",
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


# -- by operations ---------------------------------------------------------------------------------


class Slogdet(NamedTuple):
    """Sign of a determinant, and logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


def _slogdet(record: Record, a: Any) -> Slogdet:
    log = record("log_determinant", a)
    return Slogdet(record("sign_of_determinant", a, log), log)


def _einsum(record: Record, subscripts: Any, *operands: Any, optimize: Any = True) -> Any:
    if not isinstance(subscripts, str):
        raise call_error(
            'np.einsum of symbols takes the letters of axes as text, np.einsum("ij,j->i", A, b).',
            given=subscripts,
        )
    return record("einsum", *operands, subscripts=subscripts)


def _parts(name: str) -> Callable[..., Any]:
    def split(record: Record, ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
        sections: Any = indices_or_sections
        try:
            if not isinstance(sections, int | np.integer):
                sections = [int(i) for i in sections]
            count = len(sections) + 1 if isinstance(sections, list) else int(sections)
        except (TypeError, ModelError) as error:
            raise call_error(
                f"np.{name} of a symbol takes the number of parts, or the places where to cut, "
                f"as whole numbers; got {indices_or_sections!r}. Slices take places from data, "
                "as in a[:n] and a[n:].",
                given=indices_or_sections,
            ) from error
        cut = {"sections": sections, "axis": axis}
        return [record(name, ary, part=part, **cut) for part in range(count)]

    return split


def _clip(
    record: Record,
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Any:
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    if low is None or high is None:
        a = a if low is None else np.maximum(a, low)
        return a if high is None else np.minimum(a, high)
    return record("clip", a, low, high)


def _full_like(record: Record, a: Any, fill_value: Any, dtype: Any = None) -> Any:
    if dtype is None:
        return record("full_like", a, fill_value)
    kind = np.dtype(dtype).kind
    if kind != "f" and not (kind in "iu" and isinstance(fill_value, int | np.integer)):
        raise call_error(
            f"An array like a symbol holds floating-point numbers, or whole ones that are given "
            f"as such; got {fill_value!r} and dtype={dtype!r}.",
            dtype=dtype,
        )
    return record("full_like", a, fill_value, dtype=np.dtype(dtype))


def _zeros_like(record: Record, a: Any, dtype: Any = None) -> Any:
    return _full_like(record, a, 0, dtype)


def _ones_like(record: Record, a: Any, dtype: Any = None) -> Any:
    return _full_like(record, a, 1, dtype)


# -- the table -------------------------------------------------------------------------------------

_BY_OTHERS: dict[Any, Callable[..., Any]] = {
    np.hypot: _hypot,
    np.radians: _radians,
    np.deg2rad: _radians,
    np.degrees: _degrees,
    np.rad2deg: _degrees,
    np.cbrt: _cbrt,
    np.sinc: _sinc,
    np.trapezoid: _trapezoid,
    np.append: _append,
    np.matrix_transpose: _matrix_transpose,
    np.linalg.matrix_transpose: _matrix_transpose,
}
_RECORDED: dict[Any, Callable[..., Any]] = {
    np.linalg.slogdet: _slogdet,
    np.einsum: _einsum,
    np.split: _parts("split"),
    np.array_split: _parts("array_split"),
    np.clip: _clip,
    np.full_like: _full_like,
    np.zeros_like: _zeros_like,
    np.ones_like: _ones_like,
}
ARRAY_CALLS = frozenset({*_BY_OTHERS, *_RECORDED})


def array_call(function: Any, record: Record, args: Any, kwargs: Any) -> Any:
    """Call one of the functions in the table; a `ModelError` says that it takes other arguments."""
    own = _BY_OTHERS.get(function) or partial(_RECORDED[function], record)
    signature = inspect.signature(own)
    parameters = [str(p.replace(annotation=p.empty)) for p in signature.parameters.values()]
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        name = function.__name__
        raise call_error(
            f"np.{name} of a symbol takes {', '.join(parameters)}; {error}.", function=name
        ) from error
    return own(*args, **kwargs)
