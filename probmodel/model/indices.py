"""Checks of indices that come from data.

NumPy counts negative indices from the end. In data they nearly always stand for a category that is
missing, as in the codes of ``pd.factorize``, or for a 0 in data that count from 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from probmodel.expressions import Apply, Expression, leaves
from probmodel.model.values import where
from probmodel.types import Array


def check_index(node: Apply, part: Any, index: Array) -> None:
    """Refuse one part of a subscript if it cannot be meant.

    The `DataError`, which shows the subscription ``node``, says that it is negative, or not of
    whole numbers. ``part`` is what stands in the brackets, ``index`` its value.
    """
    if index.dtype.kind == "f":
        raise node.data_error(
            f"{node!r}: the index {_name(part)} is not of whole numbers. Declare it as "
            "data(dtype=int).",
            expression=repr(node),
        )
    bad = index < 0 if index.dtype.kind == "i" else np.zeros((), dtype=bool)
    if bad.any():
        raise node.data_error(
            f"{node!r}: the index {_name(part)} is {index[bad].flat[0]} at {where(bad)} "
            f"({int(bad.sum())} negative in all). Indices count from 0, and those from data do not "
            "count backwards. A code of -1 (pandas) is a missing category: leave those rows out, "
            "or give them a category of their own. Data that count from 1 must not hold a 0.",
            expression=repr(node),
            index=index,
            count=int(bad.sum()),
        )


def refuse_sum_of_masks(node: Apply, part: Apply, operands: Sequence[Array]) -> None:
    """Raise a `DataError` if truth values are added up: they count, and are no mask any more."""
    if operands and all(operand.dtype == bool for operand in operands):
        raise node.data_error(
            f"{node!r}: the index {_name(part)} is a sum of masks, which counts how many hold. "
            "Write `a | b`, `a & b` or `~a` to join masks.",
            expression=repr(node),
        )


def checked_parts(subscript: Any) -> Iterator[Any]:
    """Yield the parts of a subscript that are data: symbols, and arrays from outside the model.

    Slices, whose ends may count backwards, and numbers that are written out, also in a list, are
    not.
    """
    for part in subscript if isinstance(subscript, tuple) else (subscript,):
        if isinstance(part, Expression | list):
            yield from leaves(part)
        elif np.ndim(part):
            yield np.asarray(part)


def _name(part: Any) -> str:
    return repr(part) if isinstance(part, Expression) else "given as an array"
