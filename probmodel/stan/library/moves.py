"""Functions that cut, join, repeat and reshape.

Indices and sizes are those of the program: they count from 1. Names with a colon are one meaning of
a name that has several; `overloads` says which. They raise IndexError or ValueError where indices
and sizes do not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from probmodel.stan.library.entries import (
    ANYTHING,
    CONTAINERS,
    MATRICES,
    NUMBERS,
    VECTORS,
    Move,
    number,
    same,
    wider,
)
from probmodel.stan.stan_values import MOST_ELEMENTS, Value
from probmodel.types import Array

_WHAT = ("rows", "columns")
_OF_MATRICES = ("block", "sub_row", "sub_col")
_TRANSPOSED = {"vector": "row_vector", "row_vector": "vector"}


def _part(name: str, x: Array, first: int, count: int, axis: int = 0) -> Array:
    """Cut elements, rows or columns; raise an IndexError if there are not as many."""
    length = x.shape[axis]
    if count < 0:
        raise IndexError(f"{name} needs a size of 0 or more, not {count}")
    if count and not 1 <= first <= first + count - 1 <= length:
        what = _WHAT[axis] if x.ndim == 2 and name in _OF_MATRICES else "elements"
        raise IndexError(f"{name} needs {what} {first} to {first + count - 1} of {length}")
    return x[(slice(None),) * axis + (slice(first - 1, first - 1 + count),)]


def _one(name: str, x: Array, index: int, axis: int) -> Array:
    if not 1 <= index <= x.shape[axis]:
        raise IndexError(f"{name} needs {_WHAT[axis][:-1]} {index} of {x.shape[axis]}")
    return np.take(x, index - 1, axis)


def _sized(name: str, x: Array, *sizes: int) -> Array:
    """Repeat something along new axes in front."""
    if min(sizes) < 0:
        raise ValueError(f"{name} needs sizes of 0 or more, not {min(sizes)}")
    if prod(sizes) * np.size(x) > MOST_ELEMENTS:
        raise ValueError(f"{name} of {prod(sizes) * np.size(x):,} elements takes too much memory")
    return np.broadcast_to(x, (*sizes, *np.shape(x))).copy()


def _tail(x: Array, n: int) -> Array:
    return _part("tail", x, len(x) - n + 1, n)


def _block(x: Array, i: int, j: int, rows: int, columns: int) -> Array:
    return _part("block", _part("block", x, i, rows), j, columns, axis=1)


def _joined(name: str, axis: int, *parts: Array) -> Array:
    other = 1 - axis
    a, b = parts
    if a.ndim > 1 and a.shape[other] != b.shape[other]:
        raise ValueError(
            f"{name} needs as many {_WHAT[other]}, not {a.shape[other]} and {b.shape[other]}"
        )
    return np.concatenate([a, b], axis=axis)


def _append_array(a: Array, b: Array) -> Array:
    if len(a) and len(b) and a.shape[1:] != b.shape[1:]:
        raise ValueError(f"append_array needs elements of one size, not {a.shape} and {b.shape}")
    return np.concatenate([a, b]) if len(a) and len(b) else b if len(b) else a


def _filled(x: Array, rows: int, columns: int, column_major: int = 1) -> Array:
    """Arrange elements, which matrices give column by column, in another matrix."""
    if x.size != rows * columns:
        raise ValueError(f"to_matrix needs {rows} times {columns} elements, not {x.size}")
    return x.T.reshape(-1).reshape((rows, columns), order="F" if column_major else "C")


def _diagonal_matrix(x: Array, zero: Any, one: Any) -> Array:
    out = np.full((len(x), len(x)), zero)
    np.fill_diagonal(out, x)
    return out


def _symmetrized(x: Array) -> Array:
    rows, columns = x.shape
    if rows != columns:
        raise ValueError(
            f"symmetrize_from_lower_tri needs a square matrix, not {rows} by {columns}"
        )
    return np.where(np.tri(*x.shape) > 0.0, x, x.T)


def _transposed(values: Sequence[Value]) -> str:
    return _TRANSPOSED.get(values[0].kind, "matrix")


MOVES: dict[str, Move] = {
    "head": Move(lambda x, n: _part("head", x, 1, n), same, sizes=(1,)),
    "tail": Move(_tail, same, sizes=(1,)),
    "segment": Move(lambda x, i, n: _part("segment", x, i, n), same, sizes=(1, 2)),
    "sub_col": Move(
        lambda x, i, j, n: _part("sub_col", _one("sub_col", x, j, 1), i, n), "vector",
        sizes=(1, 2, 3), ranks=MATRICES,
    ),
    "sub_row": Move(
        lambda x, i, j, n: _part("sub_row", _one("sub_row", x, i, 0), j, n), "row_vector",
        sizes=(1, 2, 3), ranks=MATRICES,
    ),
    "block": Move(_block, "matrix", sizes=(1, 2, 3, 4), ranks=MATRICES),
    "row": Move(
        lambda x, i: _one("row", x, i, 0), "row_vector", sizes=(1,), ranks=MATRICES
    ),
    "col": Move(lambda x, j: _one("col", x, j, 1), "vector", sizes=(1,), ranks=MATRICES),
    "append_row": Move(
        lambda a, b: _joined("append_row", 0, np.atleast_2d(a), np.atleast_2d(b)), "matrix",
        ranks=ANYTHING,
    ),
    "append_row:vector": Move(
        lambda a, b: _joined("append_row", 0, np.atleast_1d(a), np.atleast_1d(b)), "vector",
        ranks=range(2),
    ),
    "append_col": Move(
        lambda a, b: _joined("append_col", 1, *(x.reshape(len(x), -1) for x in (a, b))), "matrix",
        ranks=CONTAINERS,
    ),
    "append_col:row_vector": Move(
        lambda a, b: _joined("append_col", 0, np.atleast_1d(a), np.atleast_1d(b)), "row_vector",
        ranks=range(2),
    ),
    "append_array": Move(_append_array, wider),
    "reverse": Move(lambda x: x[::-1], same),
    "transpose": Move(lambda x: x.T, _transposed),
    "diagonal": Move(lambda x: np.diagonal(x).copy(), "vector", ranks=MATRICES),
    "diag_matrix": Move(_diagonal_matrix, "matrix", fills=True, ranks=VECTORS),
    "symmetrize_from_lower_tri": Move(_symmetrized, "matrix", ranks=MATRICES),
    "to_vector": Move(lambda x: x.T.reshape(-1), "vector"),
    "to_row_vector": Move(lambda x: x.T.reshape(-1), "row_vector"),
    "to_array_1d": Move(lambda x: x.reshape(-1), number),
    "to_array_1d:matrix": Move(lambda x: x.T.reshape(-1), "real"),
    "to_array_2d": Move(lambda x: x, "real"),
    "to_matrix": Move(lambda x: x, "matrix"),
    "to_matrix:vector": Move(lambda x: x[:, None], "matrix"),
    "to_matrix:row_vector": Move(lambda x: x[None, :], "matrix"),
    "to_matrix:sizes": Move(_filled, "matrix", sizes=(1, 2, 3)),
    "rep_vector": Move(
        lambda x, n: _sized("rep_vector", x, n), "vector", sizes=(1,), ranks=NUMBERS
    ),
    "rep_row_vector": Move(
        lambda x, n: _sized("rep_row_vector", x, n), "row_vector", sizes=(1,), ranks=NUMBERS
    ),
    "rep_matrix": Move(
        lambda x, m, n: _sized("rep_matrix", x, m, n), "matrix", sizes=(1, 2), ranks=NUMBERS
    ),
    "rep_matrix:vector": Move(
        lambda x, n: _sized("rep_matrix", x, n).T, "matrix", sizes=(1,), ranks=VECTORS
    ),
    "rep_matrix:row_vector": Move(
        lambda x, m: _sized("rep_matrix", x, m), "matrix", sizes=(1,), ranks=VECTORS
    ),
    "rep_array": Move(
        lambda x, size, *sizes: _sized("rep_array", x, size, *sizes), same,
        sizes=tuple(range(1, 9)), ranks=ANYTHING,
    ),
}  # fmt: skip
