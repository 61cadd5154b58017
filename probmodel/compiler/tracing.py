"""From a bound model to a program: what one chain's log density and gradient are made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from math import prod
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np
from autograd.tracer import isbox

from probmodel import linalg, special
from probmodel.compiler import formulas as _formulas  # noqa: F401 - fills the table of symbols
from probmodel.compiler.called_parts import CALLED, called_density
from probmodel.compiler.differentiation import (
    NotDifferentiableError,
    alone,
    gradient_of,
    taken,
)
from probmodel.compiler.symbols import ASKED, Symbol, positions
from probmodel.distributions.base import Distribution
from probmodel.distributions.sums import batch_shape
from probmodel.expressions import Apply, Expression, map_leaves, topological
from probmodel.model.binding import Binding
from probmodel.model.declarations import Deterministic
from probmodel.model.links import linked
from probmodel.model.terms import Term
from probmodel.recurrences import linear_recurrence


class Program(NamedTuple):
    """What one chain computes.

    Attributes
    ----------
    x : the input, (dim,)
    outputs : the log density, and its gradient: symbols, or numbers that are known
    """

    x: Symbol
    outputs: tuple[Any, Any]


def traced(binding: Binding) -> Program:
    """Write down the log density of a bound model, and its gradient.

    Raises
    ------
    NotTraceableError
        If it has something that no operation of a program stands for.
    """
    dim = sum(prod(free.free_shape) for free in binding.free)
    x = Symbol("input", (), np.zeros(dim))
    called: set[int] = set()
    while True:
        trace = _Trace(binding, called)
        try:
            with np.errstate(all="ignore"):
                return Program(x, gradient_of(trace.log_density, x))
        except NotDifferentiableError as error:
            part = trace.parts.get(error.node)
            if part is None or part in called:
                raise error.cause from None
            called.add(part)


class _Trace:
    """Evaluates a bound model on what autograd follows.

    Parameters
    ----------
    binding : the bound model
    called : the ``id`` of terms and expressions whose derivatives cannot be written down: they are
        called

    Attributes
    ----------
    parts : by nodes of autograd's, the term or expression that was written down with them
    """

    def __init__(self, binding: Binding, called: Collection[int]) -> None:
        self._binding, self._evaluator = binding, binding.evaluator
        self._called, self.parts = called, dict[Any, int]()
        declared = binding.declarations
        self._aliases: dict[int, Expression] = {
            **{id(f.declaration): f.value for f in binding.free},
            **{id(d): d.expression for d in declared.values() if isinstance(d, Deterministic)},
            **{id(declared[name]): data.completed for name, data in binding.imputed.items()},
        }
        self._values: dict[int, Any] = {}

    def log_density(self, x: Any) -> Any:
        """Add up the terms."""
        start = 0
        for free in self._binding.free:
            stop = start + prod(free.free_shape)
            where = positions((stop,))[start:].reshape(free.free_shape)
            self._values[id(free.free)] = taken(x, where)
            start = stop
        return sum((self._term(term) for term in self._binding.terms), 0.0)

    def _term(self, term: Term) -> Any:
        if term.distribution is None:
            return anp.sum(self.value(term.expression))
        distribution, params = linked(term.distribution, term.params)
        operands = _aligned([self.value(e) for e in (term.expression, *params)],
                            distribution.event_ndims)  # fmt: skip
        kernel = self._written(
            term,
            lambda: _kernel(distribution, operands),
            lambda: called_density(distribution, operands),
        )
        return kernel + _base(distribution, operands)

    def _written(self, part: Any, plainly: Callable[[], Any], by_call: Callable[[], Any]) -> Any:
        """Write a part of the model down; as a call, where nothing else stands for it."""
        if id(part) in self._called:
            return by_call()
        try:
            with alone():
                found = plainly()
        except Exception:  # a formula may do anything to what it is given
            return by_call()
        pending = [found._node] if isbox(found) else []
        while pending:
            node = pending.pop()
            if node not in self.parts:
                self.parts[node] = id(part)
                pending += node.parents
        return found

    def value(self, expression: Expression) -> Any:
        """Return the value of an expression: a box of autograd's, or an array that is known."""
        for node in topological([expression], done=set(self._values)):
            if id(node) not in self._values:
                self._values[id(node)] = self._node(node)
        return self._values[id(expression)]

    def _node(self, node: Expression) -> Any:
        if self._evaluator.is_constant(node):
            return self._evaluator.value(node)
        if id(node) in self._aliases:
            return self.value(self._aliases[id(node)])
        assert isinstance(node, Apply), f"{node!r} has no value"
        name = node.operation.name
        options = {key: map_leaves(value, self._static) for key, value in node.kwargs.items()}
        if name == "getitem":
            x = self.value(node.args[0])
            return taken(x, positions(np.shape(x))[self._evaluator.index(node)])
        operands = [map_leaves(arg, self.value) for arg in node.args]
        if name not in CALLED:
            return OPERATIONS[name](*operands, **options)

        def by_call() -> Any:
            return CALLED[name](self._evaluator.shape(node), *operands, **options)

        if name not in OPERATIONS:
            return by_call()
        return self._written(node, lambda: OPERATIONS[name](*operands, **options), by_call)

    def _static(self, leaf: Expression) -> Any:
        value = self._evaluator.value(leaf)
        return int(value) if value.ndim == 0 else value


def _aligned(operands: Sequence[Any], event_ndims: Sequence[int]) -> list[Any]:
    """Give the value and the parameters of a distribution axes that broadcast."""
    ranks = [np.ndim(o) - e for o, e in zip(operands, event_ndims, strict=True)]
    return [
        np.asarray(o, dtype=float)
        if isinstance(o, np.ndarray)
        else anp.reshape(o, (1,) * (max(ranks) - rank) + np.shape(o))
        for o, rank in zip(operands, ranks, strict=True)
    ]


def _kernel(distribution: Distribution, operands: Sequence[Any]) -> Any:
    """Sum of a log density over the elements of a batch, but for what data alone decide."""
    own = type(distribution).__module__.startswith("probmodel.distributions")
    with ASKED.for_the_worst() if own else nullcontext():
        kernel = distribution.log_kernel(anp, *operands)
    batch = batch_shape(operands, distribution.event_ndims)
    return anp.sum(kernel) * (prod(batch) // max(1, prod(np.shape(kernel))))


def _base(distribution: Distribution, operands: Sequence[Any]) -> float:
    """Return the part that data alone decide."""
    value, *params = operands
    if not isinstance(value, np.ndarray):
        return 0.0
    known = [p if isinstance(p, np.ndarray) else np.zeros(np.shape(p)) for p in params]
    batch = batch_shape(operands, distribution.event_ndims)
    return float(np.sum(np.broadcast_to(distribution.log_base(value, *known), batch)))


# -- operations of the language --------------------------------------------------------------------


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


def _concatenate(arrays: Sequence[Any], axis: int = 0) -> Any:
    parts = [a if np.ndim(a) else anp.reshape(a, (1,)) for a in arrays]
    return anp.concatenate(parts, axis)


def _stack(arrays: Sequence[Any], axis: int = 0) -> Any:
    return anp.concatenate([anp.expand_dims(a, axis % (np.ndim(a) + 1)) for a in arrays], axis)


def _triangle(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda m, k=0: m * function(np.ones(np.shape(m)), k=k)


def _diag(v: Any) -> Any:
    if np.ndim(v) == 2:
        return taken(v, np.diagonal(positions(np.shape(v))))
    return anp.reshape(v, (-1, 1)) * np.eye(len(v))


def _dot(a: Any, b: Any) -> Any:
    return anp.matmul(a, b) if np.ndim(a) and np.ndim(b) else a * b


def _call(*args: Any, function: Callable[..., Any], event_ndims: Any, primitive: Any = None) -> Any:
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
    while (n := np.shape(a)[-1]) > 1:
        where = positions(np.shape(a))
        if n % 2:
            rest = rest * taken(a, where[..., -1])
        a = taken(a, where[..., : n // 2]) * taken(a, where[..., n // 2 : n - n % 2])
    kept = tuple(1 if i in inner else n for i, n in enumerate(shape))
    product = anp.reshape(a, kept) * anp.reshape(rest, kept if np.ndim(rest) else ())
    return product if keepdims else anp.reshape(product, tuple(shape[i] for i in outer))


def _linear_recurrence(coefficient: Any, input: Any, initial: Any = 0.0) -> Any:
    """Solve along the first axis of what coefficient and input broadcast to."""
    rank = max(np.ndim(coefficient), np.ndim(input))
    if np.ndim(initial) == rank - 1:
        initial = anp.expand_dims(initial, 0)
    return linear_recurrence(coefficient, input, initial, -rank)


_SAME = (
    "add subtract multiply divide power negative absolute square sqrt reciprocal sign exp exp2 "
    "expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh "
    "arccosh arctanh maximum minimum logaddexp floor ceil remainder less less_equal greater "
    "greater_equal equal not_equal logical_and logical_or logical_not isnan isfinite sum max min "
    "cumsum matmul"
)
_OWN = "gammaln expit logit log_expit erf erfc ndtr log_ndtr where"
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
    "positive": lambda x: x,
    "clip": _clip,
    "prod": _prod,
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
    "trace": lambda a: anp.sum(taken(a, np.diagonal(positions(np.shape(a))))),
    "concatenate": _concatenate,
    "stack": _stack,
    "call": _call,
    "pad_axes": _pad_axes,
    "linear_recurrence": _linear_recurrence,
}  # fmt: skip
