"""Operations of the modelling language, in terms of operations on symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.compiler import formulas as _formulas  # noqa: F401 - fills the table of symbols
from probmodel.compiler.called_parts import dot_of_stacks, solve_in_stacks
from probmodel.compiler.differentiation import placed, taken
from probmodel.compiler.symbols import RARE_CASES, positions
from probmodel.distributions.base import Distribution
from probmodel.numerics import linalg, special, square_matrices
from probmodel.numerics.recurrences import linear_recurrence, matrix_recurrence
from probmodel.numerics.special import bessel
from probmodel.numerics.special import exponential_sums as sums


def asked_of(distribution: Distribution) -> AbstractContextManager[None]:
    """Let formulas of this package ask about all elements; others may not."""
    own = type(distribution).__module__.startswith("probmodel.distributions")
    return RARE_CASES.included() if own else nullcontext()


def _mean(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    total = anp.sum(a, axis=axis, keepdims=keepdims)
    return total * (prod(np.shape(total)) / prod(np.shape(a)))


def _var(a: Any, axis: Any = None, keepdims: bool = False, ddof: int = 0) -> Any:
    away = a - _mean(a, axis, True)
    total = anp.sum(anp.square(away), axis=axis, keepdims=keepdims)
    return total / (prod(np.shape(a)) / prod(np.shape(total)) - ddof)


def _std(*args: Any, **kwargs: Any) -> Any:
    """Square root of `_var`, whose slope is taken to be zero where elements are equal."""
    var = _var(*args, **kwargs)
    zero = anp.equal(var, 0.0)
    return special.where(zero, 0.0, anp.sqrt(special.where(zero, 1.0, var)))


def _diff(a: Any, n: int = 1, axis: int = -1) -> Any:
    for _ in range(n):
        where = positions(np.shape(a))
        length = np.shape(a)[axis]
        later = np.take(where, np.arange(1, length), axis)
        a = taken(a, later) - taken(a, np.take(where, np.arange(length - 1), axis))
    return a


def _moving(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make the form of a NumPy function that moves elements about."""
    return lambda x, *args, **kwargs: taken(x, function(positions(np.shape(x)), *args, **kwargs))


def _concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Any:
    if axis is None:
        return anp.concatenate([anp.reshape(a, (-1,)) for a in arrays], 0)
    parts = [a if np.ndim(a) else anp.reshape(a, (1,)) for a in arrays]
    return anp.concatenate(parts, axis)


def _stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    return anp.concatenate([anp.expand_dims(a, axis % (np.ndim(a) + 1)) for a in arrays], axis)


def _triangle(function: Callable[..., Any]) -> Callable[..., Any]:
    def triangle(m: Any, k: int = 0) -> Any:
        shape = np.shape(m)
        kept = np.flatnonzero(function(np.ones(shape), k=k))
        return placed(taken(m, kept), kept, shape)

    return triangle


def _diag(v: Any, k: int = 0) -> Any:
    if np.ndim(v) == 2:
        return taken(v, np.diagonal(positions(np.shape(v))))
    shape = len(v), len(v)
    return placed(v, np.diagonal(positions(shape)), shape)


def _dot(a: Any, b: Any) -> Any:
    """Multiply as `numpy.dot` does: every row of one stack by every matrix of another."""
    if not (np.ndim(a) and np.ndim(b)):
        return a * b
    return anp.matmul(a, b) if np.ndim(a) < 2 or np.ndim(b) < 3 else dot_of_stacks(a, b, anp.matmul)


def _call(*args: Any, function: Callable[..., Any], event_ndims: Any, primitive: Any = None) -> Any:
    form = getattr(function, "form", None)  # the distribution whose method it is
    with nullcontext() if form is None else asked_of(form):
        return function(anp, *args)


def _pad_axes(x: Any, least: int, ndim: int) -> Any:
    rank = np.ndim(x)
    return x if rank < least else anp.reshape(x, (1,) * (ndim - rank) + np.shape(x))


def _clip(a: Any, a_min: Any, a_max: Any) -> Any:
    a = a if a_min is None else anp.maximum(a, a_min)
    return a if a_max is None else anp.minimum(a, a_max)


def _prod(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Multiply pairs of elements, then pairs of products."""
    shape = np.shape(a)
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    inner = tuple(i % len(shape) for i in axes)
    outer = [i for i in range(len(shape)) if i not in inner]
    where = np.transpose(positions(shape), [*outer, *inner])
    a = taken(a, where.reshape(*(shape[i] for i in outer), -1))
    rest: Any = 1.0
    if not np.shape(a)[-1]:
        a = np.ones((*np.shape(a)[:-1], 1))
    while (n := np.shape(a)[-1]) > 1:
        where = positions(np.shape(a))
        if n % 2:
            rest = rest * taken(a, where[..., -1])
        a = taken(a, where[..., : n // 2]) * taken(a, where[..., n // 2 : n - n % 2])
    kept = tuple(1 if i in inner else n for i, n in enumerate(shape))
    product = anp.reshape(a, kept) * anp.reshape(rest, kept if np.ndim(rest) else ())
    return product if keepdims else anp.reshape(product, tuple(shape[i] for i in outer))


def _cumprod(a: Any, axis: Any = None) -> Any:
    """Multiply up to each element, from one: the recurrence has slopes at zeros, too."""
    first = a if axis is not None else anp.reshape(a, (-1,))
    x = anp.swapaxes(first, axis or 0, -1)
    y = linear_recurrence(x, np.zeros(np.shape(x)), np.ones((*np.shape(x)[:-1], 1)), -1)
    return anp.swapaxes(y, axis or 0, -1)


def _rint(x: Any) -> Any:
    """Round to the nearest whole number, halves to even ones."""
    below = anp.floor(x)
    part = x - below
    up = special.where(anp.equal(part, 0.5), anp.remainder(below, 2.0), anp.greater(part, 0.5))
    return below + up


def _round(a: Any, decimals: int = 0) -> Any:
    return _rint(a) if decimals == 0 else _rint(a * 10.0**decimals) / 10.0**decimals


def _segment_sum(x: Any, groups: Any, count: Any) -> Any:
    shape = (int(count), *np.shape(x)[1:])
    return placed(x, positions(shape)[np.asarray(groups, dtype=np.int64)], shape)


def _det(a: Any) -> Any:
    """Return determinants, of matrices of up to three rows element by element."""
    n = np.shape(a)[-1]
    if n > 3:
        return square_matrices.det(a)
    if n == 1:
        return a[..., 0, 0]
    minors = [a[..., -2, j] * a[..., -1, k] - a[..., -2, k] * a[..., -1, j] for j, k in _PAIRS[n]]
    if n == 2:
        return minors[0]
    return a[..., 0, 0] * minors[0] - a[..., 0, 1] * minors[1] + a[..., 0, 2] * minors[2]


def _log_determinant(a: Any) -> Any:
    if np.shape(a)[-1] > 3:
        return square_matrices.log_abs_det(a)
    return anp.log(anp.absolute(_det(a)))


def _matrix_recurrence(matrix: Any, x: Any, initial: Any = 0.0) -> Any:
    return matrix_recurrence(matrix, x, initial + np.zeros(np.shape(x)[1:]))


def _linear_recurrence(coefficient: Any, input: Any, initial: Any = 0.0) -> Any:
    """Solve along the first axis of what coefficient and input broadcast to."""
    rank = max(np.ndim(coefficient), np.ndim(input))
    if np.ndim(initial) == rank - 1:
        initial = anp.expand_dims(initial, 0)
    return linear_recurrence(coefficient, input, initial, -rank)


_PAIRS = {2: [(0, 1)], 3: [(1, 2), (0, 2), (0, 1)]}  # columns of the minors of the first row
_SAME = (
    "add subtract multiply divide power negative absolute square sqrt reciprocal sign exp exp2 "
    "expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh "
    "arccosh arctanh maximum minimum floor ceil remainder less less_equal greater "
    "greater_equal equal not_equal logical_and logical_or logical_not isnan isfinite sum max min "
    "cumsum matmul"
)
_OWN = (
    "gammaln expit logit log_expit erf erfc erfinv ndtr log_ndtr ndtri betaln xlogy xlog1py where"
)
OPERATIONS: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(anp, name) for name in _SAME.split()},
    **{name: getattr(special, name) for name in _OWN.split()},
    **{
        name: _moving(getattr(np, name))
        for name in (
            "transpose", "swapaxes", "reshape", "ravel", "expand_dims", "squeeze", "broadcast_to",
            "repeat", "flip", "roll",
        )
    },
    "psi": special.digamma,
    "i0e": bessel.i0e,
    "i1e": bessel.i1e,
    "positive": lambda x: x,
    "clip": _clip,
    "prod": _prod,
    "cumprod": _cumprod,
    "rint": _rint,
    "round": _round,
    "logaddexp": sums.logaddexp,
    "logsumexp": sums.log_of_sum,
    "softmax": sums.shares,
    "log_softmax": sums.log_shares,
    "log1m_exp": sums.log_of_complement,
    "log_diff_exp": sums.log_of_difference,
    "segment_sum": _segment_sum,
    "det": _det,
    "log_determinant": _log_determinant,
    "inv": square_matrices.inv,
    "solve": lambda a, b: solve_in_stacks(a, b, square_matrices.solve),
    "mean": _mean,
    "var": _var,
    "std": _std,
    "diff": _diff,
    "dot": _dot,
    "outer": lambda a, b: anp.reshape(a, (-1, 1)) * anp.reshape(b, (1, -1)),
    "tril": _triangle(np.tril),
    "triu": _triangle(np.triu),
    "diag": _diag,
    "cholesky": linalg.cholesky,
    "trace": lambda a: anp.sum(taken(a, np.diagonal(positions(np.shape(a)))), axis=-1),
    "concatenate": _concatenate,
    "stack": _stack,
    "call": _call,
    "pad_axes": _pad_axes,
    "linear_recurrence": _linear_recurrence,
    "matrix_recurrence": _matrix_recurrence,
}  # fmt: skip
