"""NumPy's functions of arrays, for symbols: they become few operations, see `symbols`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from probmodel.compiler.symbols import (
    FUNCTIONS,
    RARE_CASES,
    REDUCTIONS,
    NotTraceableError,
    Symbol,
    place,
    positions,
    record,
    spread,
    value_of,
    view,
)
from probmodel.types import Array

# Products of unknown matrices: element by element if so many are added up, or there are so few at
# all; not with more, which BLAS does faster.
FEW, SMALL, LARGE = 4, 64, 64**3


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(ndim))
    return tuple(sorted(a % ndim for a in (axis if isinstance(axis, (tuple, list)) else (axis,))))


def _reduction(name: str) -> Callable[..., Any]:
    function: Any = getattr(np, name)

    def reduce(x: Any, axis: Any = None, dtype: Any = None, out: Any = None,
               keepdims: bool = False) -> Any:  # fmt: skip
        if not isinstance(x, Symbol):
            raise NotTraceableError(f"np.{name} of a list")
        if not x.size:
            return function(x.value, axis=axis, keepdims=keepdims)
        axes = _axes(axis, x.ndim)
        kept = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
        if prod(kept) == x.size:
            total = x
        elif name == "sum" and x.ndim == 1 and (inner := _weighted(np.ones(x.size), x)) is not None:
            total = inner
        else:
            total = Symbol(name, (x,), function(x.value, axis=axes), axes)
        shape = kept if keepdims else tuple(n for i, n in enumerate(x.shape) if i not in axes)
        return total if total.shape == shape else np.reshape(total, shape)

    return reduce


def _weighted(weights: Array, x: Symbol) -> Any:
    """Return the sum of a vector with weights, where it is a known matrix times another one.

    None where it is not. The other one is multiplied by one known row.
    """
    if x.op == "matmul":
        return np.reshape(np.sum((weights @ x.args[0]) * x.args[1]), (1,))
    if x.op == "negative":
        return _weighted(-weights, x.args[0])
    if x.op == "multiply":
        for known, other in (x.args, x.args[::-1]):
            if not isinstance(known, Symbol) and np.shape(other) == x.shape:
                return _weighted(weights * known, other)
    return None


def cumsum(x: Any, axis: Any = None) -> Any:
    """Add up along an axis, and keep the sums on the way."""
    if axis is None:
        return recurrence(np.reshape(x, (-1,)), 1.0)
    return np.moveaxis(recurrence(np.moveaxis(x, axis, -1), 1.0), -1, axis)


def recurrence(x: Any, *a: Any) -> Any:
    """Solve ``y[t] = x[t] + sum_k a_k[t] y[t-1-k]`` along the last axis, from zeros.

    A series that is turned round is run through from its end.
    """
    shape = np.broadcast_shapes(np.shape(x), *map(np.shape, a))
    series = [spread(s, shape) for s in (x, *a)]
    if shape[-1] == 1:
        return series[0]
    turned = next((s for s in series if isinstance(s, Symbol) and s.op == "view"), None)
    if turned is not None and turned.index[..., 0].flat[0] > turned.index[..., 1].flat[0]:
        return _scan([s[..., ::-1] for s in series], -1)[..., ::-1]
    return _scan(series, 1)


def _scan(series: Sequence[Any], direction: int) -> Symbol:
    driven, *ratios = (np.array(value_of(s), dtype=float)[..., ::direction] for s in series)
    if len(ratios) == 1 and np.all(ratios[0] == 1.0):
        value = np.cumsum(driven, axis=-1)
    else:
        value = driven.copy()
        for t in range(1, value.shape[-1]):
            for k, ratio in enumerate(ratios[:t]):
                value[..., t] += ratio[..., t] * value[..., t - 1 - k]
    return Symbol("recurrence", tuple(series), value[..., ::direction], direction)


def matmul(a: Any, b: Any) -> Any:
    """Matrix product; sums of products where both are unknown."""
    ranks = np.ndim(a), np.ndim(b)
    if 0 in ranks:
        raise NotTraceableError("products with numbers")
    if not (np.size(a) and np.size(b)):
        return np.matmul(value_of(a), value_of(b))
    if ranks[1] == 1:
        return _times(a, b) if ranks[0] == 2 else np.sum(a * b, axis=-1)
    if ranks[0] == 1:
        return matmul(np.swapaxes(b, -1, -2), a)
    if ranks == (2, 2) and np.shape(b)[1] == 1:
        return np.reshape(_times(a, np.reshape(b, (-1,))), (-1, 1))
    if ranks == (2, 2) and np.shape(a)[0] == 1:
        return np.reshape(_times(np.transpose(b), np.reshape(a, (-1,))), (1, -1))
    left, right = np.expand_dims(a, -1), np.expand_dims(b, -3)
    shape = np.broadcast_shapes(np.shape(left), np.shape(right))
    *batch, rows, inner, columns = shape
    if prod(shape) > LARGE:
        raise NotTraceableError("products of large matrices")
    if inner <= FEW or prod(shape) <= SMALL:
        return np.sum(left * right, axis=-2)
    return on_stacks("product", batch, [(a, (rows, inner)), (b, (inner, columns))], np.matmul)


def on_stacks(
    op: str,
    batch: Sequence[int],
    operands: Sequence[tuple[Any, tuple[int, int]]],
    function: Callable[..., Any],
    index: Any = None,
) -> Any:
    """Write down an operation on stacks of matrices, of which each has its shape."""
    stack = prod(batch)
    args = tuple(np.reshape(spread(x, (*batch, *shape)), (stack, *shape)) for x, shape in operands)
    with np.errstate(all="ignore"):
        value = np.asarray(function(*map(value_of, args)), dtype=float)
    return np.reshape(Symbol(op, args, value, index), (*batch, *value.shape[1:]))


def _times(matrix: Any, vector: Any) -> Any:
    if isinstance(matrix, Symbol):
        return np.sum(matrix * vector, axis=1)
    matrix = np.asarray(matrix, dtype=float)
    parts = [(matrix @ known, v) for known, v in _columns(vector, matrix.shape[1]) or ()]
    multiplied = [known for known, v in parts if isinstance(v, Symbol)]
    if not parts or sum(map(np.count_nonzero, multiplied)) > np.count_nonzero(matrix):
        return _product(matrix, vector)
    return sum((_product(known, v) for known, v in parts), 0.0)


def _product(matrix: Array, vector: Any) -> Any:
    if not isinstance(vector, Symbol):
        return matrix @ vector
    if matrix.shape[1] == 1:
        return matrix[:, 0] * vector
    return Symbol("matmul", (matrix, vector), matrix @ vector.value)


def _columns(x: Any, size: int) -> list[tuple[Array, Any]] | None:
    """Return known matrices and the vectors that they multiply, of which a vector is the sum.

    None where it is no such sum. A known matrix times ``y - X @ beta`` takes as many columns as
    beta has elements, once X is multiplied.
    """
    if not isinstance(x, Symbol):
        return [(np.broadcast_to(x, size)[:, None], np.ones(1))]
    if x.size == 1 and size > 1:
        return [(np.ones((size, 1)), np.reshape(x, (1,)))]
    if x.op == "matmul":
        return [x.args]
    if x.op == "view" and np.all(x.index == x.index.flat[0]):
        return [(np.ones((size, 1)), view(x.args[0], x.index.reshape(-1)[:1]))]
    if x.op == "negative":
        return _scaled(-1.0, _columns(x.args[0], size))
    if x.op in ("add", "subtract"):
        left, right = (_columns(a, size) for a in x.args)
        right = _scaled(1.0 if x.op == "add" else -1.0, right)
        return None if left is None or right is None else left + right
    if x.op == "multiply":
        for known, other in (x.args, x.args[::-1]):
            if not isinstance(known, Symbol):
                return _scaled(known, _columns(other, size))
    return None


def _scaled(
    factor: float | Array, columns: list[tuple[Array, Any]] | None
) -> list[tuple[Array, Any]] | None:
    """Scale the rows of known matrices."""
    if columns is None:
        return None
    return [(np.reshape(factor, (-1, 1)) * known, v) for known, v in columns]


def concatenate(parts: Sequence[Any], axis: int = 0) -> Any:
    """Join arrays along an axis."""
    shapes = [np.shape(part) for part in parts]
    axis %= len(shapes[0])
    length = sum(shape[axis] for shape in shapes)
    shape = (*shapes[0][:axis], length, *shapes[0][axis + 1 :])
    where, total, known, start = positions(shape), None, np.zeros(shape), 0
    for part, own in zip(parts, shapes, strict=True):
        cut = (slice(None),) * axis + (slice(start, start + own[axis]),)
        if isinstance(part, Symbol):
            placed = place(part, where[cut], shape)
            total = placed if total is None else total + placed
        else:
            known[cut] = part
        start += own[axis]
    if total is None:
        return known
    return total + known if known.any() else total


def stack(parts: Sequence[Any], axis: int = 0) -> Any:
    """Join arrays along a new axis."""
    return concatenate([np.expand_dims(part, axis) for part in parts], axis)


def _moving(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a view of a function of NumPy that moves elements about."""

    def moved(x: Any, *args: Any, **kwargs: Any) -> Any:
        return view(x, function(positions(np.shape(x)), *args, **kwargs))

    return moved


def where(condition: Any, x: Any, y: Any) -> Any:
    """Choose element by element."""
    return record("where", np.where, (condition, x, y))


def _mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    total = np.sum(x, axis=axis, keepdims=keepdims)
    return total * (prod(np.shape(total)) / x.size)


def _clip(x: Any, low: Any, high: Any) -> Any:
    x = x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def _like(number: float) -> Callable[..., Any]:
    return lambda x, *args, **kwargs: np.full(np.shape(x), number)


def _question(answer: Any) -> Callable[..., Any]:
    def asked(*args: Any, **kwargs: Any) -> Any:
        if not RARE_CASES.always:
            raise NotTraceableError("a formula asks about values that are not known")
        return answer

    return asked


def _extreme(name: str, worst: float) -> Callable[..., Any]:
    reduce, asked = _reduction(name), _question(worst)

    def extreme(x: Any, *args: Any, initial: Any = None, **kwargs: Any) -> Any:
        return reduce(x, *args, **kwargs) if initial is None else asked()

    return extreme


def _broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    return tuple(spread(a, shape) for a in arrays)


REDUCTIONS.update(
    {np.add: _reduction("sum"), np.maximum: _reduction("max"), np.minimum: _reduction("min")}
)
_OWN: dict[Any, Callable[..., Any]] = {
    np.matmul: matmul,
    np.shape: lambda x: x.shape,
    np.ndim: lambda x: x.ndim,
    np.size: lambda x: x.size,
    np.result_type: lambda *_: np.dtype(float),
    np.iscomplexobj: lambda _: False,
    np.sum: _reduction("sum"),
    np.mean: _mean,
    np.max: _extreme("max", np.inf),
    np.min: _extreme("min", -np.inf),
    np.any: _question(True),
    np.all: _question(False),
    np.broadcast_arrays: _broadcast_arrays,
    np.cumsum: cumsum,
    np.where: where,
    np.clip: _clip,
    np.concatenate: concatenate,
    np.stack: stack,
    np.dot: lambda a, b: matmul(a, b) if np.ndim(a) and np.ndim(b) else a * b,
    np.outer: lambda a, b: np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1)),
    np.zeros_like: _like(0.0),
    np.ones_like: _like(1.0),
    **{
        function: _moving(function)
        for function in (
            np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims,
            np.squeeze, np.broadcast_to, np.repeat, np.flip, np.roll, np.atleast_1d, np.diagonal,
            np.tile, np.take,
        )
    },
}  # fmt: skip
FUNCTIONS.update(_OWN)
