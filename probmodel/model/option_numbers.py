"""What declarations check of bounds and sizes that are numbers, before there are data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.errors import Location, ModelError, ShapeError
from probmodel.expressions import Expression
from probmodel.types import Array


def check_bounds(kind: str, bounds: Mapping[str, Any], location: Location | None) -> None:
    """Raise a `ModelError` for the first bound that is neither symbolic nor numbers, or is NaN."""
    for key, value in bounds.items():
        if _symbolic(value):
            continue
        numbers = _as_array(value)
        if numbers.dtype.kind in "biuf" and not np.isnan(numbers).any():
            continue
        none = key in ("lower", "upper")
        raise ModelError(
            f"{kind}({key}=...) takes numbers or symbols, and no NaN; got {value!r}."
            + (" None is no bound." if none else ""),
            location=location,
            option=key,
            given=value,
        )


def check_sizes(shape: Sequence[Any] | None, location: Location | None) -> None:
    """Raise a `ShapeError` for the first size that is no symbol and no integer from 0."""
    for size in shape or ():
        if isinstance(size, Expression):
            continue
        known = _as_array(None if isinstance(size, list | tuple) else size)
        if known.ndim == 0 and known.dtype.kind in "iu" and known >= 0:
            continue
        real = ", which is a real number" if known.dtype.kind == "f" else ""
        raise ShapeError(
            f"param(shape=...) takes integers from 0, or integer data, in a tuple if there are "
            f"several axes; got {size!r}{real}.",
            location=location,
            shape=tuple(shape or ()),
        )


def _as_array(value: Any) -> Array:
    """Return what may be numbers as an array; one without numbers if it is none."""
    try:
        return np.asarray(value)
    except Exception:  # rows that differ in length, and whatever an object of a library says
        return np.asarray(None)


def _symbolic(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_symbolic, value))
    return isinstance(value, Expression)
