"""Functions of what is known when the program is run: sizes, orders of data, constants.

`SIZES` are functions of values, whatever decides their elements. `OF_DATA` are functions of NumPy
arrays and Python's whole numbers, with the kind of what they return; arguments must be known. They
raise ValueError where arguments make no sense.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.stan.library.entries import Kind, same
from probmodel.stan.stan_values import MOST_ELEMENTS, Value, integer
from probmodel.types import Array


def _rows(x: Value) -> Value:
    return integer({"vector": x.shape[-1], "row_vector": 1}.get(x.kind, x.shape[-2:][0]))


def _columns(x: Value) -> Value:
    return integer(1 if x.kind == "vector" else x.shape[-1])


def _size(x: Value) -> Value:
    """Return the length of an array, and the number of elements of anything else."""
    return integer(x.shape[0] if x.array_rank else math.prod(x.shape))


# Functions of sizes: `shape` and `kind` of a value are known, whatever decides its elements.
SIZES: dict[str, Callable[..., Value]] = {
    "rows": _rows,
    "cols": _columns,
    "size": _size,
    "num_elements": lambda x: integer(math.prod(x.shape)),
    "dims": lambda x: Value("int", np.array(x.shape, dtype=np.int64)),
}


def _checked(name: str, n: int) -> int:
    if n < 0:
        raise ValueError(f"{name} needs a size of 0 or more, not {n}")
    if n > MOST_ELEMENTS:
        raise ValueError(f"{name} of {n:,} elements takes too much memory")
    return int(n)


def _full(name: str, value: Any) -> Callable[..., Array]:
    return lambda n: np.full(_checked(name, n), value)


def _one_hot(name: str, one: Any) -> Callable[..., Array]:
    def make(n: int, k: int) -> Array:
        if not 1 <= k <= n:
            raise ValueError(f"{name} needs an index between 1 and {n}, not {k}")
        return np.where(np.arange(1, n + 1) == k, one, type(one)(0))

    return make


def _spaced(name: str) -> Callable[..., Array]:
    """Return a function of equidistant numbers; a single one is the upper end."""

    def make(n: int, low: Any, high: Any) -> Array:
        _checked(name, n)
        return np.linspace(low, high, n) if n != 1 else np.array([high], dtype=float)

    return make


def _spaced_whole(n: int, low: int, high: int) -> Array:
    """Return equidistant whole numbers; where there are fewer than ``n``, each several times."""
    _checked("linspaced_int_array", n)
    gap = high - low
    if gap < 0:
        raise ValueError(f"linspaced_int_array needs bounds in order, not {low} and {high}")
    if n <= 1:
        return np.full(n, high, dtype=np.int64)
    if gap < n - 1:
        return low + np.arange(n) // ((n + gap) // (gap + 1))
    return low + np.arange(n) * (gap // (n - 1))


def _uniform_simplex(n: int) -> Array:
    if n < 1:
        raise ValueError(f"uniform_simplex needs a size of 1 or more, not {n}")
    return np.full(n, 1.0 / n)


def _order(x: Array, sign: int) -> Array:
    return np.argsort(sign * x, kind="stable") + 1


def _rank(x: Array, i: int) -> int:
    """Return how many elements are less than number ``i``."""
    if not 1 <= i <= len(x):
        raise ValueError(f"rank needs an index between 1 and {len(x)}, not {i}")
    return int(np.sum(x < x[i - 1]))


def _quantile(x: Array, p: Any) -> Any:
    if len(x) == 0 or np.any(np.isnan(x)):
        raise ValueError("quantile needs numbers, one at least")
    if np.any(np.less(p, 0.0) | np.greater(p, 1.0)):
        raise ValueError(f"quantile needs probabilities between 0 and 1, not {p}")
    return np.quantile(x, p)


def _qr(x: Array, complete: bool) -> tuple[Array, Array]:
    """Return the factors whose diagonal is not negative."""
    q, r = np.linalg.qr(x, mode="complete" if complete else "reduced")
    sign = np.where(np.diagonal(r) < 0.0, -1.0, 1.0)
    n = len(sign)
    q[:, :n] *= sign
    r[:n] *= sign[:, None]
    return q, r


def _schur(x: Array, part: int) -> Any:
    """Return the triangular or the unitary factor of a matrix."""
    from scipy import linalg

    return linalg.schur(x, output="complex")[part]


def _row_starts(x: Array) -> Array:
    return 1 + np.concatenate([[0], np.cumsum(np.count_nonzero(x, axis=1))])


# Functions of arrays of numbers, whose values data must decide: of NumPy arrays, and their kind.
OF_DATA: dict[str, tuple[Callable[..., Any], Kind]] = {
    "sort_asc": (lambda x: np.sort(x), same),
    "sort_desc": (lambda x: np.sort(x)[::-1], same),
    "sort_indices_asc": (lambda x: _order(x, 1), "int"),
    "sort_indices_desc": (lambda x: _order(x, -1), "int"),
    "rank": (_rank, "int"),
    "quantile": (_quantile, "real"),
    "zeros_vector": (_full("zeros_vector", 0.0), "vector"),
    "zeros_row_vector": (_full("zeros_row_vector", 0.0), "row_vector"),
    "zeros_array": (_full("zeros_array", 0.0), "real"),
    "zeros_int_array": (_full("zeros_int_array", 0), "int"),
    "ones_vector": (_full("ones_vector", 1.0), "vector"),
    "ones_row_vector": (_full("ones_row_vector", 1.0), "row_vector"),
    "ones_array": (_full("ones_array", 1.0), "real"),
    "ones_int_array": (_full("ones_int_array", 1), "int"),
    "one_hot_vector": (_one_hot("one_hot_vector", 1.0), "vector"),
    "one_hot_row_vector": (_one_hot("one_hot_row_vector", 1.0), "row_vector"),
    "one_hot_array": (_one_hot("one_hot_array", 1.0), "real"),
    "one_hot_int_array": (_one_hot("one_hot_int_array", 1), "int"),
    "linspaced_vector": (_spaced("linspaced_vector"), "vector"),
    "linspaced_row_vector": (_spaced("linspaced_row_vector"), "row_vector"),
    "linspaced_array": (_spaced("linspaced_array"), "real"),
    "linspaced_int_array": (_spaced_whole, "int"),
    "uniform_simplex": (_uniform_simplex, "vector"),
    "identity_matrix": (lambda n: np.eye(_checked("identity_matrix", n)), "matrix"),
    "qr_Q": (lambda x: _qr(x, True)[0], "matrix"),
    "qr_R": (lambda x: _qr(x, True)[1], "matrix"),
    "qr_thin_Q": (lambda x: _qr(x, False)[0], "matrix"),
    "qr_thin_R": (lambda x: _qr(x, False)[1], "matrix"),
    "svd_U": (lambda x: np.linalg.svd(x, full_matrices=False)[0], "matrix"),
    "svd_V": (lambda x: np.linalg.svd(x, full_matrices=False)[2].T, "matrix"),
    "eigenvalues": (lambda x: np.linalg.eig(x)[0].astype(complex), "vector"),
    "eigenvectors": (lambda x: np.linalg.eig(x)[1].astype(complex), "matrix"),
    "complex_schur_decompose_t": (lambda x: _schur(x, 0), "matrix"),
    "complex_schur_decompose_u": (lambda x: _schur(x, 1), "matrix"),
    "fft": (lambda x: np.fft.fft(x), "vector"),
    "inv_fft": (lambda x: np.fft.ifft(x), "vector"),
    "fft2": (lambda x: np.fft.fft2(x), "matrix"),
    "inv_fft2": (lambda x: np.fft.ifft2(x), "matrix"),
    "csr_extract_w": (lambda x: x[x != 0.0], "vector"),
    "csr_extract_v": (lambda x: np.nonzero(x)[1] + 1, "int"),
    "csr_extract_u": (_row_starts, "int"),
}

# Functions without arguments.
CONSTANTS: dict[str, float] = {
    "pi": math.pi,
    "e": math.e,
    "sqrt2": math.sqrt(2.0),
    "log2": math.log(2.0),
    "log10": math.log(10.0),
    "machine_precision": float(np.finfo(float).eps),
    "epsilon": float(np.finfo(float).eps),
    "positive_infinity": math.inf,
    "negative_infinity": -math.inf,
    "not_a_number": math.nan,
}
