"""How each operation of the language runs on a batch of chains.

NumPy aligns trailing axes and the chain axis leads, so a per-chain scalar (c,) against n data
must become (c, 1). All of that is decided here, once, from the static shapes: a rule receives
the operands (a `Ref` carries a chain axis, an array does not) and emits steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import primitive_vjps

from probmodel import linalg, special
from probmodel.density import matrices
from probmodel.density import primitives as own
from probmodel.density.program import Recorder, Ref
from probmodel.expressions import OPERATIONS
from probmodel.types import Array

Operand = Any  # Ref, array, or a list of them
Shape = tuple[int, ...]
Rule = Callable[..., Operand]


def align(recorder: Recorder, operand: Operand, rank: int) -> Operand:
    """Give a batched operand ``rank`` axes behind its chain axis; constants align by themselves."""
    if not isinstance(operand, Ref):
        array = np.asarray(operand)
        return array.item() if array.ndim == 0 else array
    missing = rank - len(operand.shape)
    if missing == 0:
        return operand
    shape = (1,) * missing + operand.shape
    return recorder.emit(own.insert_axes, operand, missing, shape=shape)


def batched(recorder: Recorder, operand: Operand, like: Ref) -> Ref:
    """Give a constant the chain axis; leave a `Ref` as it is."""
    if isinstance(operand, Ref):
        return operand
    array = np.asarray(operand, dtype=np.float64)
    return recorder.emit(own.repeat_for_chains, array, like, shape=array.shape)._replace(
        active=False
    )


def shape_of(operand: Operand) -> Shape:
    """Shape of an operand without the chain axis."""
    return operand.shape if isinstance(operand, Ref) else np.shape(operand)


def first_ref(operands: list[Operand]) -> Ref:
    """Return one batched operand; there is one wherever a rule is called."""
    return next(o for o in operands if isinstance(o, Ref))


# -- elementwise ---------------------------------------------------------------------------------

_PRIMITIVES: dict[str, Callable[..., Any]] = {
    name: getattr(anp, name)
    for name, operation in OPERATIONS.items()
    if operation.elementwise and hasattr(anp, name) and name != "positive"
}
_PRIMITIVES |= {
    "where": own.where,
    "gammaln": special.gammaln,
    "psi": special.digamma,
    "expit": special.expit,
    "logit": special.logit,
    "log_expit": special.log_expit,
    "erf": special.erf,
    "erfc": special.erfc,
    "ndtr": special.ndtr,
    "log_ndtr": special.log_ndtr,
}


# Their derivative is zero wherever they have one. Anything else without a rule is an error.
_FLAT = {
    "sign",
    "floor",
    "ceil",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "equal",
    "not_equal",
    "logical_and",
    "logical_or",
    "logical_not",
    "isnan",
    "isfinite",
}


def _elementwise(name: str) -> Rule:
    function = _PRIMITIVES[name]
    assert (function in primitive_vjps) != (name in _FLAT), f"no derivative rule for {name}"

    def rule(recorder: Recorder, shape: Shape, *operands: Operand) -> Ref:
        aligned = [align(recorder, o, len(shape)) for o in operands]
        return recorder.emit(function, *aligned, shape=shape)

    return rule


def _positive(recorder: Recorder, shape: Shape, x: Ref) -> Ref:
    return x


# -- reductions ----------------------------------------------------------------------------------


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes behind the chain axis, of an ``axis`` argument without it."""
    if axis is None:
        return tuple(range(1, rank + 1))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(a % rank + 1 for a in axes)


def _reduction(function: Callable[..., Any]) -> Rule:
    assert function in primitive_vjps

    def rule(
        recorder: Recorder, shape: Shape, x: Ref, axis: Any = None, keepdims: bool = False
    ) -> Ref:
        if not x.shape:
            return x
        axes = _axes(axis, len(x.shape))
        chosen: Any = axes[0] if len(axes) == 1 else axes
        return recorder.emit(function, x, axis=chosen, keepdims=keepdims, shape=shape)

    return rule


_sum = _reduction(anp.sum)


def _mean(
    recorder: Recorder, shape: Shape, x: Ref, axis: Any = None, keepdims: bool = False
) -> Ref:
    total = _sum(recorder, shape, x, axis, keepdims)
    return recorder.emit(anp.multiply, total, 1.0 / _count(x, axis), shape=shape)


def _var(
    recorder: Recorder,
    shape: Shape,
    x: Ref,
    axis: Any = None,
    keepdims: bool = False,
    ddof: int = 0,
) -> Ref:
    kept = {a - 1 for a in _axes(axis, len(x.shape))}
    full = tuple(1 if i in kept else n for i, n in enumerate(x.shape))
    mean = _mean(recorder, full, x, axis, keepdims=True)
    squares = recorder.emit(
        anp.square, recorder.emit(anp.subtract, x, mean, shape=x.shape), shape=x.shape
    )
    total = _sum(recorder, shape, squares, axis, keepdims)
    return recorder.emit(anp.multiply, total, 1.0 / (_count(x, axis) - ddof), shape=shape)


def _std(recorder: Recorder, shape: Shape, x: Ref, **options: Any) -> Ref:
    return recorder.emit(anp.sqrt, _var(recorder, shape, x, **options), shape=shape)


def _count(x: Ref, axis: Any) -> int:
    """How many elements a reduction joins."""
    return int(np.prod([x.shape[a - 1] for a in _axes(axis, len(x.shape))], dtype=int))


def _cumsum(recorder: Recorder, shape: Shape, x: Ref, axis: Any = None) -> Ref:
    if axis is None:
        x = recorder.emit(own.reshape_rows, x, shape, shape=shape)
        axis = 0
    return recorder.emit(anp.cumsum, x, axis=axis % len(x.shape) + 1, shape=shape)


def _diff(recorder: Recorder, shape: Shape, x: Ref, n: int = 1, axis: int = -1) -> Ref:
    return recorder.emit(anp.diff, x, n=n, axis=axis % len(x.shape) + 1, shape=shape)


# -- products ------------------------------------------------------------------------------------


def _matmul(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    if rank_a == 1 and rank_b == 1:
        first, second = (a, b) if isinstance(a, Ref) else (b, a)
        return recorder.emit(own.row_dot, first, second, shape=())
    if not isinstance(a, Ref) and rank_a == 2 and rank_b == 1:
        return recorder.emit(own.linear_map, b, np.asarray(a, dtype=float).T, shape=shape)
    if not isinstance(b, Ref) and rank_b == 2 and rank_a == 1:
        return recorder.emit(own.linear_map, a, np.asarray(b, dtype=float), shape=shape)
    rank = max(rank_a, rank_b, 2)
    left = align(recorder, _as_matrix(recorder, a, rank_a, column=False), rank)
    right = align(recorder, _as_matrix(recorder, b, rank_b, column=True), rank)
    full = shape
    full = (*full[:-1], 1, full[-1]) if rank_a == 1 else full
    full = (*full, 1) if rank_b == 1 else full
    product = recorder.emit(anp.matmul, left, right, shape=full)
    return recorder.emit(own.reshape_rows, product, shape, shape=shape)


def _as_matrix(recorder: Recorder, operand: Operand, rank: int, *, column: bool) -> Operand:
    """Turn a vector into a one-column or one-row matrix."""
    if rank != 1:
        return operand if isinstance(operand, Ref) else np.asarray(operand, dtype=float)
    n = shape_of(operand)[0]
    shape = (n, 1) if column else (1, n)
    if isinstance(operand, Ref):
        return recorder.emit(own.reshape_rows, operand, shape, shape=shape)
    return np.asarray(operand, dtype=float).reshape(shape)


def _dot(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    if not shape_of(a) or not shape_of(b):
        return _elementwise("multiply")(recorder, shape, a, b)
    return _matmul(recorder, shape, a, b)


def _outer(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    n, m = shape
    column = _reshaped(recorder, a, (n, 1))
    row = _reshaped(recorder, b, (1, m))
    return recorder.emit(anp.multiply, column, row, shape=shape)


def _reshaped(recorder: Recorder, operand: Operand, shape: Shape) -> Operand:
    if isinstance(operand, Ref):
        return recorder.emit(own.reshape_rows, operand, shape, shape=shape)
    return np.reshape(operand, shape)


# -- matrices ------------------------------------------------------------------------------------


def _matrix_function(function: Callable[..., Any]) -> Rule:
    def rule(recorder: Recorder, shape: Shape, a: Ref) -> Ref:
        return recorder.emit(function, a, shape=shape)

    return rule


def _solve(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    right = _as_matrix(recorder, b, len(shape_of(b)), column=True)
    like = first_ref([a, b])
    left = batched(recorder, a, like)
    right = batched(recorder, right, like)
    solution = recorder.emit(matrices.solve, left, right, shape=shape_of(right))
    return recorder.emit(own.reshape_rows, solution, shape, shape=shape)


def _triangle(function: Callable[..., Any]) -> Rule:
    def rule(recorder: Recorder, shape: Shape, m: Ref, k: int = 0) -> Ref:
        mask = function(np.ones(shape), k=k)
        return recorder.emit(anp.multiply, m, mask, shape=shape)

    return rule


def _diag(recorder: Recorder, shape: Shape, v: Ref) -> Ref:
    if len(v.shape) == 2:
        n = np.arange(shape[0])
        return _getitem(recorder, shape, v, (n, n))
    column = recorder.emit(own.reshape_rows, v, (*v.shape, 1), shape=(*v.shape, 1))
    return recorder.emit(anp.multiply, column, np.eye(v.shape[0]), shape=shape)


def _trace(recorder: Recorder, shape: Shape, a: Ref) -> Ref:
    diagonal = _diag(recorder, (min(a.shape),), a)
    return _sum(recorder, shape, diagonal)


# -- shapes --------------------------------------------------------------------------------------


def _to_shape(recorder: Recorder, shape: Shape, x: Ref, /, **_: Any) -> Ref:
    return recorder.emit(own.reshape_rows, x, shape, shape=shape)


def _transpose(recorder: Recorder, shape: Shape, a: Ref, axes: Any = None) -> Ref:
    rank = len(a.shape)
    order = tuple(range(rank))[::-1] if axes is None else tuple(i % rank for i in axes)
    return recorder.emit(anp.transpose, a, (0, *(i + 1 for i in order)), shape=shape)


def _swapaxes(recorder: Recorder, shape: Shape, a: Ref, axis1: int = 0, axis2: int = 1) -> Ref:
    order = list(range(len(a.shape)))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return _transpose(recorder, shape, a, tuple(order))


def _broadcast_to(recorder: Recorder, shape: Shape, array: Ref, /, **_: Any) -> Ref:
    aligned = align(recorder, array, len(shape))
    return recorder.emit(own.spread_rows, aligned, shape, shape=shape)


def _repeat(recorder: Recorder, shape: Shape, a: Ref, repeats: Any = 1, axis: Any = None) -> Ref:
    if axis is None:
        a = _to_shape(recorder, (int(np.prod(a.shape, dtype=int)),), a)
        axis = 0
    index = np.repeat(np.arange(a.shape[axis]), repeats)
    return _take(recorder, shape, a, index, axis)


def _take(recorder: Recorder, shape: Shape, a: Ref, index: Array, axis: int) -> Ref:
    before = (slice(None),) * (axis % len(a.shape))
    return _getitem(recorder, shape, a, (*before, index))


def _flip(recorder: Recorder, shape: Shape, m: Ref, axis: Any = None) -> Ref:
    flipped = {a - 1 for a in _axes(axis, len(m.shape))}
    index = tuple(
        slice(None, None, -1) if i in flipped else slice(None) for i in range(len(m.shape))
    )
    return _getitem(recorder, shape, m, index)


def _roll(recorder: Recorder, shape: Shape, a: Ref, shift: int = 0, axis: Any = None) -> Ref:
    if axis is None:
        flat = _to_shape(recorder, (int(np.prod(a.shape, dtype=int)),), a)
        return _to_shape(recorder, shape, _roll(recorder, flat.shape, flat, shift, 0))
    index = np.roll(np.arange(a.shape[axis]), shift)
    return _take(recorder, shape, a, index, axis)


def _concatenate(recorder: Recorder, shape: Shape, arrays: list[Operand], axis: int = 0) -> Ref:
    like = first_ref(list(arrays))
    parts = []
    for part in arrays:
        ref = batched(recorder, np.atleast_1d(part) if not isinstance(part, Ref) else part, like)
        parts.append(ref if ref.shape else _to_shape(recorder, (1,), ref))
    return recorder.emit(anp.concatenate_args, axis % len(shape) + 1, *parts, shape=shape)


def _stack(recorder: Recorder, shape: Shape, arrays: list[Operand], axis: int = 0) -> Ref:
    like = first_ref(list(arrays))
    axis = axis % len(shape)
    parts = []
    for part in arrays:
        ref = batched(recorder, part, like)
        parts.append(_to_shape(recorder, (*ref.shape[:axis], 1, *ref.shape[axis:]), ref))
    return recorder.emit(anp.concatenate_args, axis + 1, *parts, shape=shape)


# -- indexing ------------------------------------------------------------------------------------


def _getitem(recorder: Recorder, shape: Shape, x: Operand, index: Any) -> Ref:
    """Index behind the chain axis. ``index`` is made of constants."""
    entries = index if isinstance(index, tuple) else (index,)
    arrays = [i for i in entries if isinstance(i, (np.ndarray, list))]
    if not arrays:
        return recorder.emit(own.basic_index, x, (slice(None), *entries), shape=shape)
    if any(np.asarray(a).dtype == bool for a in arrays):
        mask_axes = [np.nonzero(a) if np.asarray(a).dtype == bool else (a,) for a in entries]
        return _getitem(recorder, shape, x, tuple(i for axes in mask_axes for i in axes))
    if len(entries) == 1 and len(x.shape) == 1:
        size = x.shape[0]
        plan = own.Gather(np.asarray(arrays[0]) % size, size)
        return recorder.emit(own.gather, x, plan, shape=shape)
    source, target = _chain_axis(entries, x.shape)
    return recorder.emit(own.fancy_index, x, (slice(None), *entries), source, target, shape=shape)


def _chain_axis(entries: tuple[Any, ...], shape: Shape) -> tuple[int, int]:
    """Where NumPy puts the chain axis when arrays index a batch, and where it belongs.

    NumPy puts the axes of separated index arrays in front of all others, the chain axis too.
    """
    probe = np.broadcast_to(0, (2, *shape))
    marked = np.broadcast_to(np.arange(2).reshape(2, *(1,) * len(shape)), probe.shape)
    result = marked[(slice(None), *entries)]
    varying = [
        axis
        for axis in range(result.ndim)
        if result.shape[axis] == 2
        and not np.array_equal(np.take(result, 0, axis), np.take(result, 1, axis))
    ]
    return (varying[0] if varying else 0), 0


# -- formulas ------------------------------------------------------------------------------------


def _call(
    recorder: Recorder,
    shape: Shape,
    *operands: Operand,
    function: Callable[..., Any],
    event_ndims: tuple[int, ...],
) -> Ref:
    """Run a formula as one step; its derivative traces the formula."""
    ranks = [len(shape_of(o)) - e for o, e in zip(operands, event_ndims, strict=True)]
    rank = max(ranks)
    aligned = [
        align(recorder, o, rank + e) if isinstance(o, Ref) else o
        for o, e in zip(operands, event_ndims, strict=True)
    ]
    return recorder.emit(own.formula(function), *aligned, shape=shape)


RULES: dict[str, Rule] = {
    "call": _call,
    **{name: _elementwise(name) for name in _PRIMITIVES},
    "positive": _positive,
    "sum": _sum,
    "mean": _mean,
    "prod": _reduction(anp.prod),
    "max": _reduction(anp.max),
    "min": _reduction(anp.min),
    "var": _var,
    "std": _std,
    "cumsum": _cumsum,
    "diff": _diff,
    "matmul": _matmul,
    "dot": _dot,
    "outer": _outer,
    "cholesky": _matrix_function(linalg.cholesky),
    "inv": _matrix_function(matrices.inv),
    "solve": _solve,
    "tril": _triangle(np.tril),
    "triu": _triangle(np.triu),
    "diag": _diag,
    "trace": _trace,
    "transpose": _transpose,
    "swapaxes": _swapaxes,
    "reshape": _to_shape,
    "ravel": _to_shape,
    "expand_dims": _to_shape,
    "squeeze": _to_shape,
    "broadcast_to": _broadcast_to,
    "repeat": _repeat,
    "flip": _flip,
    "roll": _roll,
    "concatenate": _concatenate,
    "stack": _stack,
    "getitem": _getitem,
}
