"""Functions of matrices that ask for their shapes, as calls of the modelling language."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.numerics import linalg
from probmodel.numerics.square_matrices import det, expm, log_abs_det
from probmodel.stan.library.entries import Whole
from probmodel.stan.library.recorded import called


def _diagonal(a: Any) -> Any:
    n = np.arange(min(np.shape(a)[-2:]))
    return a[..., n, n]


def _trace(a: Any) -> Any:
    return anp.sum(_diagonal(a), axis=-1)


def _add_diagonal(a: Any, d: Any) -> Any:
    """Add a vector to the diagonal."""
    rows, columns = np.shape(a)[-2:]
    return a + np.eye(rows, columns) * anp.expand_dims(d, -1 if rows < columns else -2)


def _add_number(a: Any, d: Any) -> Any:
    """Add a number to the diagonal."""
    return a + np.eye(*np.shape(a)[-2:]) * anp.reshape(d, (*np.shape(d), 1, 1))


def _of_factor(lower: Any) -> Any:
    """Inverse of a matrix, from its Cholesky factor."""
    inverse = linalg.solve_lower(lower, np.eye(np.shape(lower)[-1]))
    return anp.matmul(linalg.transpose(inverse), inverse)


def _power(a: Any, n: Any) -> Any:
    """Multiply a matrix by itself, in about as many products as ``n`` has binary digits."""
    n = int(n)
    if n < 0:
        raise ValueError(f"matrix_power needs a power of 0 or more, not {n}")
    product: Any = None
    while n:
        if n % 2:
            product = a if product is None else np.matmul(product, a)
        n //= 2
        a = np.matmul(a, a) if n else a
    return _identity(a) if product is None else product


_identity = called("identity", lambda a: np.eye(np.shape(a)[-1]) + 0.0 * a, (2,))


def _solve_lower_right(b: Any, lower: Any) -> Any:
    """Solve ``x L = b``."""
    return linalg.transpose(linalg.solve_lower(lower, linalg.transpose(b), transposed=True))


_RECORDED: dict[str, tuple[Callable[..., Any], tuple[int, ...], str]] = {
    "add_diag": (_add_diagonal, (2, 1), "matrix"),
    "add_diag:number": (_add_number, (2, 0), "matrix"),
    "determinant": (det, (2,), "real"),
    "log_determinant": (log_abs_det, (2,), "real"),
    "log_determinant_spd": (
        lambda a: 2.0 * anp.sum(anp.log(_diagonal(linalg.cholesky(a))), axis=-1), (2,), "real"
    ),
    "chol2inv": (_of_factor, (2,), "matrix"),
    "generalized_inverse": (anp.linalg.pinv, (2,), "matrix"),
    "mdivide_left_tri_low": (linalg.solve_lower, (2, 2), "matrix"),
    "mdivide_left_tri_low:vector": (
        lambda lower, b: linalg.solve_lower(lower, b[..., None])[..., 0], (2, 1), "vector"
    ),
    "mdivide_right_tri_low": (_solve_lower_right, (2, 2), "matrix"),
    "mdivide_right_tri_low:row_vector": (
        lambda b, lower: linalg.solve_lower(lower, b[..., None], transposed=True)[..., 0],
        (1, 2), "row_vector",
    ),
    "matrix_exp": (expm, (2,), "matrix"),
    "matrix_exp_multiply": (lambda a, b: anp.matmul(expm(a), b), (2, 2), "matrix"),
    "scale_matrix_exp_multiply": (
        lambda t, a, b: anp.matmul(expm(anp.reshape(t, (*np.shape(t), 1, 1)) * a), b),
        (0, 2, 2), "matrix",
    ),
    "singular_values": (lambda a: anp.linalg.svd(a, full_matrices=False)[1], (2,), "vector"),
    "eigenvalues_sym": (lambda a: anp.linalg.eigh(a)[0], (2,), "vector"),
    "eigenvectors_sym": (lambda a: anp.linalg.eigh(a)[1], (2,), "matrix"),
}  # fmt: skip
MATRIX_FUNCTIONS: dict[str, Whole] = {
    "trace": Whole(called("trace", _trace, (2,)), (2,), single=np.trace),
    "matrix_power": Whole(_power, (2, 0), "matrix", sizes=(1,)),
    **{
        name: Whole(called(name.partition(":")[0], function, ranks), ranks, kind)
        for name, (function, ranks, kind) in _RECORDED.items()
    },
}
