"""What declarations check of bounds and sizes that are numbers, before there are data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.errors import Location, ModelError, ShapeError
from probmodel.expressions import Expression


def check_bounds(kind: str, bounds: Mapping[str, Any], location: Location | None) -> None:
    """Raise a `ModelError` for the first bound that is neither symbolic nor numbers, or is NaN."""
    for key, value in bounds.items():
        if _symbolic(value):
            continue
        try:
            numbers = np.asarray(value)
        except ValueError:  # rows that differ in length
            numbers = np.asarray(None)
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
        known = np.asarray(size) if not isinstance(size, list | tuple) else np.asarray("")
        if known.ndim == 0 and known.dtype.kind in "iu" and known >= 0:
            continue
        real = ", which is a real number" if known.dtype.kind == "f" else ""
        raise ShapeError(
            f"param(shape=...) takes integers from 0, or integer data, in a tuple if there are "
            f"several axes; got {size!r}{real}.",
            location=location,
            shape=tuple(shape or ()),
        )


def _symbolic(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_symbolic, value))
    return isinstance(value, Expression)
