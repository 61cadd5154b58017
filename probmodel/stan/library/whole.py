"""Functions of whole vectors and matrices.

Names with a colon are one meaning of a name that has several; `overloads` says which. Products by
the operator ``*`` are named by the kinds of their operands. Where a kind is `same`, a vector
becomes a vector, a row vector a row vector, and an array an array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel import functions
from probmodel.functions.component_functions import CHAIN, LOG_LIKELIHOOD, STATE_PROBABILITIES
from probmodel.functions.recorded_calls import call
from probmodel.stan.library.covariances import COVARIANCES
from probmodel.stan.library.entries import Whole, number, same
from probmodel.stan.library.matrix_functions import MATRIX_FUNCTIONS
from probmodel.stan.library.recorded import either
from probmodel.stan.library.sparse import SPARSE


def _t(x: Any) -> Any:
    return np.swapaxes(x, -1, -2)


def _last(x: Any) -> Any:
    return np.sum(x, axis=-1)


def _apply(a: Any, b: Any) -> Any:
    """Multiply matrices and vectors."""
    return np.matmul(a, b[..., None])[..., 0]


def _apply_left(a: Any, b: Any) -> Any:
    """Multiply row vectors and matrices."""
    return np.matmul(a[..., None, :], b)[..., 0, :]


def _solve(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b[..., None])[..., 0]


def _solve_right(b: Any, a: Any) -> Any:
    return _solve(_t(a), b)


def _log_sum_exp(x: Any) -> Any:
    """Logarithm of sums along the last axis; minus infinity adds nothing."""
    return functions.logsumexp(x, axis=-1)


def _max(x: Any) -> Any:
    x = np.asarray(x)
    return np.max(x, axis=-1) if x.dtype.kind in "iu" else np.max(x, axis=-1, initial=-np.inf)


def _min(x: Any) -> Any:
    x = np.asarray(x)
    return np.min(x, axis=-1) if x.dtype.kind in "iu" else np.min(x, axis=-1, initial=np.inf)


def _variance(x: Any) -> Any:
    """Sample variance; zero of a single number."""
    return np.var(x, axis=-1, ddof=1) if np.shape(x)[-1] > 1 else 0.0 * np.sum(x, axis=-1)


def _sum_of_none(x: Any) -> Any:
    return _log_sum_exp(x) if np.shape(x)[-1] else np.full(np.shape(x)[:-1], -np.inf)[()]


def _squared_distance(a: Any, b: Any) -> Any:
    return _last(np.square(a - b))


def _quadratic(a: Any, b: Any) -> Any:
    return _last(b * _apply(a, b))


def _sandwich(a: Any, b: Any) -> Any:
    return np.matmul(_t(b), np.matmul(a, b))


def _symmetric(a: Any, b: Any) -> Any:
    product = _sandwich(a, b)
    return 0.5 * (product + _t(product))


def _lower_times_own(a: Any) -> Any:
    lower = np.tril(a)
    return np.matmul(lower, _t(lower))


def _hidden_marginal(omega: Any, transition: Any, initial: Any) -> Any:
    return call(LOG_LIKELIHOOD, (_t(omega), initial, transition), CHAIN)


def _hidden_marginals(omega: Any, transition: Any, initial: Any) -> Any:
    """Return the same for many calls, which the log densities of what was seen tell."""
    return _hidden_marginal(omega + 0.0 * transition[..., :1, :1], transition, initial)


def _hidden_states(omega: Any, transition: Any, initial: Any) -> Any:
    return _t(call(STATE_PROBABILITIES, (_t(omega), initial, transition), CHAIN))


_STATISTICS: dict[str, Whole] = {
    "sum": Whole(_last, (1,), number, flat=True, single=np.sum),
    "prod": Whole(lambda x: np.prod(x, axis=-1), (1,), number, flat=True),
    "mean": Whole(lambda x: np.mean(x, axis=-1), (1,), flat=True),
    "variance": Whole(
        either(_variance, lambda x: np.var(x, axis=-1, ddof=1)), (1,), flat=True
    ),
    "sd": Whole(
        either(lambda x: np.sqrt(_variance(x)), lambda x: np.std(x, axis=-1, ddof=1)),
        (1,), flat=True,
    ),
    "max": Whole(either(_max, lambda x: np.max(x, axis=-1)), (1,), number, flat=True),
    "min": Whole(either(_min, lambda x: np.min(x, axis=-1)), (1,), number, flat=True),
    "log_sum_exp": Whole(either(_sum_of_none, _log_sum_exp), (1,), flat=True),
    "norm1": Whole(lambda x: _last(np.absolute(x)), (1,)),
    "norm2": Whole(lambda x: np.sqrt(_last(np.square(x))), (1,)),
}  # fmt: skip

_VECTORS: dict[str, Whole] = {
    "dot_product": Whole(lambda a, b: _last(a * b), (1, 1)),
    "dot_self": Whole(lambda a: _last(np.square(a)), (1,)),
    "distance": Whole(lambda a, b: np.sqrt(_squared_distance(a, b)), (1, 1)),
    "squared_distance": Whole(_squared_distance, (1, 1)),
    "columns_dot_product": Whole(lambda a, b: np.sum(a * b, axis=-2), (2, 2), "row_vector"),
    "columns_dot_product:vector": Whole(lambda a, b: _last(a * b)[..., None], (1, 1), "row_vector"),
    "columns_dot_product:row_vector": Whole(lambda a, b: a * b, (1, 1), "row_vector"),
    "rows_dot_product": Whole(lambda a, b: _last(a * b), (2, 2), "vector"),
    "rows_dot_product:vector": Whole(lambda a, b: a * b, (1, 1), "vector"),
    "rows_dot_product:row_vector": Whole(lambda a, b: _last(a * b)[..., None], (1, 1), "vector"),
    "columns_dot_self": Whole(lambda a: np.sum(np.square(a), axis=-2), (2,), "row_vector"),
    "columns_dot_self:vector": Whole(lambda a: _last(np.square(a))[..., None], (1,), "row_vector"),
    "columns_dot_self:row_vector": Whole(np.square, (1,), "row_vector"),
    "rows_dot_self": Whole(lambda a: _last(np.square(a)), (2,), "vector"),
    "rows_dot_self:vector": Whole(np.square, (1,), "vector"),
    "rows_dot_self:row_vector": Whole(lambda a: _last(np.square(a))[..., None], (1,), "vector"),
    "cumulative_sum": Whole(lambda x: np.cumsum(x, axis=-1), (1,), same),
    "softmax": Whole(lambda x: functions.softmax(x, axis=-1), (1,), same),
    "log_softmax": Whole(lambda x: functions.log_softmax(x, axis=-1), (1,), same),
    "log_mix:vector": Whole(lambda p, x: _log_sum_exp(np.log(p) + x), (1, 1)),
    "log_mix:array": Whole(lambda p, x: _last(_log_sum_exp(np.log(p)[..., None, :] + x)), (1, 2)),
}

_PRODUCTS: dict[str, Whole] = {
    "matrix*matrix": Whole(np.matmul, (2, 2), "matrix"),
    "matrix*vector": Whole(_apply, (2, 1), "vector", single=np.matmul),
    "row_vector*matrix": Whole(_apply_left, (1, 2), "row_vector", single=np.matmul),
    "row_vector*vector": Whole(lambda a, b: _last(a * b), (1, 1)),
    "vector*row_vector": Whole(lambda a, b: a[..., None] * b[..., None, :], (1, 1), "matrix"),
    "crossprod": Whole(lambda a: np.matmul(_t(a), a), (2,), "matrix"),
    "tcrossprod": Whole(lambda a: np.matmul(a, _t(a)), (2,), "matrix"),
    "multiply_lower_tri_self_transpose": Whole(_lower_times_own, (2,), "matrix"),
    "diag_pre_multiply": Whole(lambda v, a: v[..., None] * a, (1, 2), "matrix"),
    "diag_post_multiply": Whole(lambda a, v: a * v[..., None, :], (2, 1), "matrix"),
    "quad_form": Whole(_sandwich, (2, 2), "matrix"),
    "quad_form:vector": Whole(_quadratic, (2, 1)),
    "quad_form_sym": Whole(_symmetric, (2, 2), "matrix"),
    "quad_form_sym:vector": Whole(_quadratic, (2, 1)),
    "quad_form_diag": Whole(lambda a, v: v[..., None] * a * v[..., None, :], (2, 1), "matrix"),
    "trace_quad_form": Whole(lambda a, b: np.sum(b * np.matmul(a, b), axis=(-2, -1)), (2, 2)),
    "trace_quad_form:vector": Whole(_quadratic, (2, 1)),
    "trace_dot": Whole(lambda a, b: np.sum(_t(a) * b, axis=(-2, -1)), (2, 2)),
    "trace_gen_quad_form": Whole(
        lambda d, a, b: np.sum(_t(d) * _sandwich(a, b), axis=(-2, -1)), (2, 2, 2)
    ),
}

_SYSTEMS: dict[str, Whole] = {
    "inverse": Whole(np.linalg.inv, (2,), "matrix"),
    "inverse_spd": Whole(np.linalg.inv, (2,), "matrix"),
    "cholesky_decompose": Whole(np.linalg.cholesky, (2,), "matrix"),
    "mdivide_left": Whole(np.linalg.solve, (2, 2), "matrix"),
    "mdivide_left:vector": Whole(_solve, (2, 1), "vector", single=np.linalg.solve),
    "mdivide_left_spd": Whole(np.linalg.solve, (2, 2), "matrix"),
    "mdivide_left_spd:vector": Whole(_solve, (2, 1), "vector", single=np.linalg.solve),
    "mdivide_right": Whole(lambda b, a: _t(np.linalg.solve(_t(a), _t(b))), (2, 2), "matrix"),
    "mdivide_right:row_vector": Whole(_solve_right, (1, 2), "row_vector"),
    "mdivide_right_spd": Whole(lambda b, a: _t(np.linalg.solve(a, _t(b))), (2, 2), "matrix"),
    "mdivide_right_spd:row_vector": Whole(_solve_right, (1, 2), "row_vector"),
}

_HIDDEN_STATES: dict[str, Whole] = {
    "hmm_marginal": Whole(_hidden_marginals, (2, 2, 1), single=_hidden_marginal),
    "hmm_hidden_state_prob": Whole(_hidden_states, (2, 2, 1), "matrix"),
}

WHOLE: dict[str, Whole] = {
    **_STATISTICS, **_VECTORS, **_PRODUCTS, **_SYSTEMS, **_HIDDEN_STATES,
    **MATRIX_FUNCTIONS, **COVARIANCES, **SPARSE,
}  # fmt: skip
