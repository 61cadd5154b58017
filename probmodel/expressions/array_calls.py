"""Functions of NumPy whose calls are recorded in another form than they are written in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from probmodel.errors import ModelError
from probmodel.expressions.expression import Apply
from probmodel.expressions.location import caller_location
from probmodel.expressions.operations import OPERATIONS
from probmodel.expressions.written_out import WRITTEN_OUT


def _recorded(name: str, *operands: Any, **options: Any) -> Apply:
    return Apply(OPERATIONS[name], operands, options)


class Slogdet(NamedTuple):
    """Sign of a determinant, and logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


def _slogdet(a: Any) -> Slogdet:
    log = _recorded("log_determinant", a)
    return Slogdet(_recorded("sign_of_determinant", a, log), log)


def _einsum(subscripts: Any, *operands: Any, optimize: Any = True) -> Any:
    if not isinstance(subscripts, str):
        raise ModelError(
            'np.einsum of symbols takes the letters of axes as text, np.einsum("ij,j->i", A, b).',
            location=caller_location(),
            given=subscripts,
        )
    return _recorded("einsum", *operands, subscripts=subscripts)


def _parts(name: str) -> Callable[..., Any]:
    def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
        sections: Any = indices_or_sections
        try:
            if not isinstance(sections, int | np.integer):
                sections = [int(i) for i in sections]
            count = len(sections) + 1 if isinstance(sections, list) else int(sections)
        except (TypeError, ModelError) as error:
            raise ModelError(
                f"np.{name} of a symbol takes the number of parts, or the places where to cut, "
                f"as whole numbers; got {indices_or_sections!r}. Slices take places from data, "
                "as in a[:n] and a[n:].",
                location=caller_location(),
                given=indices_or_sections,
            ) from error
        cut = {"sections": sections, "axis": axis}
        return [_recorded(name, ary, part=part, **cut) for part in range(count)]

    return split


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    if low is None or high is None:
        a = a if low is None else np.maximum(a, low)
        return a if high is None else np.minimum(a, high)
    return _recorded("clip", a, low, high)


def _full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    if dtype is None:
        return _recorded("full_like", a, fill_value)
    kind = np.dtype(dtype).kind
    if kind != "f" and not (kind in "iu" and isinstance(fill_value, int | np.integer)):
        raise ModelError(
            f"An array like a symbol holds floating-point numbers, or whole ones that are given "
            f"as such; got {fill_value!r} and dtype={dtype!r}.",
            location=caller_location(),
            dtype=dtype,
        )
    return _recorded("full_like", a, fill_value, dtype=np.dtype(dtype))


def _zeros_like(a: Any, dtype: Any = None) -> Any:
    return _full_like(a, 0, dtype)


def _ones_like(a: Any, dtype: Any = None) -> Any:
    return _full_like(a, 1, dtype)


WRITTEN_OUT.update(
    {
        np.linalg.slogdet: _slogdet,
        np.einsum: _einsum,
        np.split: _parts("split"),
        np.array_split: _parts("array_split"),
        np.clip: _clip,
        np.full_like: _full_like,
        np.zeros_like: _zeros_like,
        np.ones_like: _ones_like,
    }
)
