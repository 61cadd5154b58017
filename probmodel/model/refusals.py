"""What came instead of numbers, and what to do about it."""

from __future__ import annotations

import datetime
import numbers
import re
from collections.abc import Iterator, KeysView, ValuesView
from typing import Any, NamedTuple

import numpy as np

from probmodel.expressions import Expression
from probmodel.model.containers import is_missing
from probmodel.types import Array

_REAL = numbers.Real | np.bool_
_CATEGORIES = "Code categories as integers 0, 1, ... (np.unique(x, return_inverse=True))."
_NUMBERS = "Convert them to numbers: pd.to_numeric(x), or np.asarray(x).astype(float)."
_BESIDE_NUMBERS = (
    'Convert them: pd.to_numeric(x, errors="coerce"), which has NaN for what is no number.'
)
_MARKS = frozenset({"na", "n/a", "null", "none", "missing", "", ".", "-", "?"})
_MISSING = (
    "Where a value is missing, write NaN, or leave the cell of a CSV file empty. Missing values of "
    "observed(..., missing='impute') are imputed."
)
_DATES = 'Give times as numbers, such as days since the first: (t - t[0]) / np.timedelta64(1, "D").'
DATES_AS_TEXT = "dates that are written as text"
_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T].*)?")
_DURATIONS = 'Divide them by a unit: t / np.timedelta64(1, "D").'
_COMPLEX = "Give the real and the imaginary part as two data: z.real, z.imag."
_LIST = "Write list(...) around it."
_SPARSE = (
    "Give x.toarray(), or its entries with their rows and columns as three data; the product with "
    "a vector b is segment_sum(value * b[column], row, n_rows)."
)

_BY_KIND = {
    "U": ("text", _CATEGORIES),
    "S": ("text", _CATEGORIES),
    "M": ("dates", _DATES),
    "m": ("durations", _DURATIONS),
    "c": ("complex numbers", _COMPLEX),
    "V": ("records of several fields", "Give each field as a datum of its own: x['field']."),
}
_BY_TYPE: tuple[tuple[Any, str, str], ...] = (
    (str | bytes, "text", _CATEGORIES),
    (datetime.date | datetime.time | np.datetime64, "dates", _DATES),
    (datetime.timedelta | np.timedelta64, "durations", _DURATIONS),
    (Expression, "a symbol of a model", "Data are numbers, given when the model is bound."),
    (set | frozenset, "a set, whose elements have no order", "Give a list or an array."),
)


def what_came(array: Array) -> tuple[str, str]:
    """Say what an array that is not of numbers holds, and what to write instead."""
    if (text := numbers_as_text(array)) is not None:
        beside = _MISSING if text.only_missing else _BESIDE_NUMBERS
        return text.found, beside if text.odd else _NUMBERS
    if dates_as_text(array):
        return DATES_AS_TEXT, f"Read them, t = np.array(t, dtype='datetime64[s]'). {_DATES}"
    if array.dtype.kind in _BY_KIND:
        return _BY_KIND[array.dtype.kind]
    item = _odd_one(array)
    if item is None:
        return "None", "Give its value; what is observed may be left out."
    for kind, found, advice in _BY_TYPE:
        if isinstance(item, kind):
            return found, advice
    if isinstance(item, int) and not _fits(item):
        return "integers beyond 64 bits", "Give them as floating-point numbers, or in larger units."
    if isinstance(item, numbers.Complex) and not isinstance(item, numbers.Real):
        return "complex numbers", _COMPLEX
    if isinstance(item, numbers.Number):
        return f"dtype {array.dtype}", "Write np.asarray(x, dtype=float)."
    if isinstance(item, Iterator | KeysView | ValuesView):
        return f"a {type(item).__name__}, whose elements come one by one", _LIST
    if hasattr(item, "tocoo"):
        return "a sparse matrix", _SPARSE
    return f"a {type(item).__name__}", "Give a number, an array or a list of numbers."


class NumbersAsText(NamedTuple):
    """Numbers of which some or all are written as text.

    Attributes
    ----------
    found : what there is, in words
    odd : the text that is no number
    """

    found: str
    odd: list[str | bytes]

    @property
    def only_missing(self) -> bool:
        """Whether all text that is no number stands for missing values, as NA does."""
        return all(isinstance(text, str) and text.strip().lower() in _MARKS for text in self.odd)


def numbers_as_text(array: Array) -> NumbersAsText | None:
    """Return what text an array has in the place of numbers; None if it has none of this kind.

    It has where most values are numbers or read as such, which would become ranks as categories, or
    where all text beside numbers stands for missing values.
    """
    items = [item for item in array.reshape(-1).tolist() if not is_missing(item)]
    texts = [item for item in items if isinstance(item, str | bytes)]
    if not texts or not all(isinstance(item, _REAL | str | bytes) for item in items):
        return None
    odd = [text for text in texts if not _is_number(text)]
    if not odd:
        return NumbersAsText("numbers that are written as text", odd)
    found, n_numbers = NumbersAsText(f"numbers and the text {odd[0]!r}", odd), len(items) - len(odd)
    return found if n_numbers > len(odd) or (n_numbers and found.only_missing) else None


def dates_as_text(array: Array) -> bool:
    """Whether all values are text of the form 2024-01-31, with a time or without."""
    items = array.reshape(-1).tolist()
    texts = [item for item in items if isinstance(item, str)]
    return len(texts) == len(items) > 0 and all(map(_DATE.fullmatch, texts))


def _is_number(item: str | bytes) -> bool:
    try:
        return float(item) is not None
    except ValueError:
        return False


def _odd_one(array: Array) -> Any:
    """Return an element that is no number; else an integer beyond 64 bits; else any number."""
    items = array.reshape(-1).tolist()
    odd = [item for item in items if not (isinstance(item, _REAL) or is_missing(item))]
    big = [i for i in items if isinstance(i, int) and not _fits(i)]
    known = [item for item in items if not is_missing(item)]
    return next(iter([*odd, *big, *known]), None)


def _fits(item: int) -> bool:
    """Whether 64 bits hold an integer."""
    return -(2**63) <= item < 2**63


def filled_objects(array: Array) -> Array:
    """Return numbers of an array of objects, NaN where some are missing; else the array itself."""
    if array.dtype != object or array.ndim == 0:
        return array
    items = array.reshape(-1).tolist()
    missing = [is_missing(item) for item in items]
    real = all(gone or isinstance(i, _REAL) for gone, i in zip(missing, items, strict=True))
    if not real or not any(missing):
        return array
    numeric = [np.nan if gone else float(i) for gone, i in zip(missing, items, strict=True)]
    return np.array(numeric).reshape(array.shape)


def boxed(value: Any) -> Array:
    """Return an array of no axes that holds an object."""
    box = np.empty((), dtype=object)
    box[()] = value
    return box
