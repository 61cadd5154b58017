"""Sparse matrices in Stan's form: numbers by rows, their columns, and where each row starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.stan.library.entries import Whole
from probmodel.types import Array


def _rows(m: int, n: int, v: Array, u: Array) -> tuple[Array, Array]:
    """Return where each row starts among the numbers, and how many it has.

    Raises a ValueError if the parts do not belong together.
    """
    v, u = np.asarray(v), np.asarray(u)
    if len(u) != m + 1 or u[0] != 1 or u[-1] != len(v) + 1 or np.any(np.diff(u) < 0):
        raise ValueError(
            f"row starts u must be {m + 1} numbers that rise from 1 to {len(v) + 1}, one more than "
            f"there are columns in v"
        )
    if len(v) and not (v.min() >= 1 and v.max() <= n):
        raise ValueError(f"columns v must be between 1 and {n}")
    return u[:-1] - 1, np.diff(u)


def _times_vector(m: Any, n: Any, w: Any, v: Any, u: Any, b: Any) -> Any:
    """Add up the products of each row; short rows are filled up with nothing."""
    starts, counts = _rows(int(m), int(n), v, u)
    width = int(np.max(counts, initial=0))
    if width == 0:
        return np.zeros(int(m)) + 0.0 * np.sum(b, axis=-1, keepdims=True)
    inside = np.arange(width) < counts[:, None]
    places = np.where(inside, starts[:, None] + np.arange(width), 0)
    columns = np.asarray(v)[places] - 1
    terms = w[..., places] * b[..., columns]
    return np.sum(terms if inside.all() else terms * inside, axis=-1)


def _dense(m: Any, n: Any, w: Any, v: Any, u: Any) -> Any:
    _, counts = _rows(int(m), int(n), v, u)
    rows = np.repeat(np.arange(int(m)), counts)
    places = np.zeros((int(m), int(n)), dtype=np.int64)
    inside = np.zeros((int(m), int(n)))
    places[rows, np.asarray(v) - 1] = np.arange(len(v))
    inside[rows, np.asarray(v) - 1] = 1.0
    return w[..., places] * inside if len(v) else inside


SPARSE: dict[str, Whole] = {
    "csr_matrix_times_vector": Whole(
        _times_vector, (0, 0, 1, 1, 1, 1), "vector", sizes=(0, 1, 3, 4)
    ),
    "csr_to_dense_matrix": Whole(_dense, (0, 0, 1, 1, 1), "matrix", sizes=(0, 1, 3, 4)),
}
