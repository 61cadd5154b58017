"""Functions of matrices that ask for their shapes, as calls of the modelling language."""

from __future__ import annotations

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


def _log_det_spd(a: Any) -> Any:
    return 2.0 * anp.sum(anp.log(_diagonal(linalg.cholesky(a))), axis=-1)


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


def _solve_lower_vector(lower: Any, b: Any) -> Any:
    return linalg.solve_lower(lower, b[..., None])[..., 0]


def _solve_lower_right(b: Any, lower: Any) -> Any:
    """Solve ``x L = b``."""
    return linalg.transpose(linalg.solve_lower(lower, linalg.transpose(b), transposed=True))


def _solve_lower_right_vector(b: Any, lower: Any) -> Any:
    return linalg.solve_lower(lower, b[..., None], transposed=True)[..., 0]


def _singular_values(a: Any) -> Any:
    return anp.linalg.svd(a, full_matrices=False)[1]


def _scaled_exponential(t: Any, a: Any, b: Any) -> Any:
    return anp.matmul(expm(anp.reshape(t, (*np.shape(t), 1, 1)) * a), b)


def _made(name: str, function: Any, ranks: tuple[int, ...], kind: str = "matrix") -> Whole:
    return Whole(called(name, function, ranks), ranks, kind)


MATRIX_FUNCTIONS: dict[str, Whole] = {
    "trace": Whole(called("trace", _trace, (2,)), (2,), single=np.trace),
    "add_diag": _made("add_diag", _add_diagonal, (2, 1)),
    "add_diag:number": _made("add_diag", _add_number, (2, 0)),
    "determinant": _made("determinant", det, (2,), "real"),
    "log_determinant": _made("log_determinant", log_abs_det, (2,), "real"),
    "log_determinant_spd": _made("log_determinant_spd", _log_det_spd, (2,), "real"),
    "chol2inv": _made("chol2inv", _of_factor, (2,)),
    "generalized_inverse": _made("generalized_inverse", anp.linalg.pinv, (2,)),
    "mdivide_left_tri_low": _made("mdivide_left_tri_low", linalg.solve_lower, (2, 2)),
    "mdivide_left_tri_low:vector": _made(
        "mdivide_left_tri_low", _solve_lower_vector, (2, 1), "vector"
    ),
    "mdivide_right_tri_low": _made("mdivide_right_tri_low", _solve_lower_right, (2, 2)),
    "mdivide_right_tri_low:row_vector": _made(
        "mdivide_right_tri_low", _solve_lower_right_vector, (1, 2), "row_vector"
    ),
    "matrix_exp": _made("matrix_exp", expm, (2,)),
    "matrix_exp_multiply": _made(
        "matrix_exp_multiply", lambda a, b: anp.matmul(expm(a), b), (2, 2)
    ),
    "scale_matrix_exp_multiply": _made("scale_matrix_exp_multiply", _scaled_exponential, (0, 2, 2)),
    "matrix_power": Whole(_power, (2, 0), "matrix", sizes=(1,)),
    "singular_values": _made("singular_values", _singular_values, (2,), "vector"),
    "eigenvalues_sym": _made("eigenvalues_sym", lambda a: anp.linalg.eigh(a)[0], (2,), "vector"),
    "eigenvectors_sym": _made("eigenvectors_sym", lambda a: anp.linalg.eigh(a)[1], (2,)),
}
