"""Evaluating expressions without a chain axis: data once and for all, and every shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from probmodel.constraints.triangle import ROUNDING, asymmetry_fault, fault_in_stack
from probmodel.errors import ShapeError
from probmodel.expressions import (
    OPERATIONS,
    Apply,
    Closure,
    Constant,
    Expression,
    as_expression,
    children,
    leaves,
    map_leaves,
    topological,
)
from probmodel.expressions.advice import advice_on
from probmodel.model.arithmetic import compute, not_real, number
from probmodel.model.declarations import Deterministic
from probmodel.model.indices import check_index, checked_parts, refuse_sum_of_masks
from probmodel.types import Array

_OF_SQUARES = frozenset({
    "cholesky", "inv", "solve", "det", "log_determinant", "matrix_power", "sign_of_determinant",
})  # fmt: skip


class Evaluator:
    """Values and shapes of expressions, found by evaluating each of them once.

    Quantities that depend on data alone get their value here, once. Those that depend on
    parameters are evaluated at one probing point, which gives their shape, and the pattern of
    matrices: whether they are symmetric, or triangular. Otherwise their numbers mean nothing.

    Attributes
    ----------
    misfit : the operation whose operands have shapes that do not fit, if one was met
    """

    def __init__(self) -> None:
        self._values: dict[int, Array] = {}
        self._random: set[int] = set()
        self._kept: list[Expression] = []  # keeps ids alive
        self._written: dict[int, Expression | None] = {}
        self.misfit: Apply | None = None
        self._numbers = np.random.default_rng(1)

    def define(self, symbol: Expression, value: Any, *, random: bool) -> None:
        """Give a leaf its value (data), or a probing value (``random``: a parameter)."""
        self._values[id(symbol)] = np.asarray(value)
        self._kept.append(symbol)
        if random:
            self._random.add(id(symbol))

    def probe(self, symbol: Expression, shape: tuple[int, ...]) -> None:
        """Give a free parameter its probing value: numbers without a pattern, near zero."""
        self.define(symbol, self._numbers.uniform(-0.5, 0.5, shape), random=True)

    def is_constant(self, value: Any) -> bool:
        """Whether an expression depends on data alone."""
        expression = as_expression(value)
        self._evaluate(expression)
        return id(expression) not in self._random

    def value(self, value: Any) -> Array:
        """Value of an expression of data alone, or the probing value of any other."""
        expression = as_expression(value)
        self._evaluate(expression)
        return self._values[id(expression)]

    def known(self, value: Any) -> Array | None:
        """Value of an expression of data alone; None for any other, and for None."""
        return self.value(value) if value is not None and self.is_constant(value) else None

    def shape(self, value: Any) -> tuple[int, ...]:
        """Shape of an expression, without a chain axis."""
        return tuple(self.value(value).shape)

    def behind(self, node: Expression) -> Expression:
        """Return what stands behind the name of a deterministic quantity."""
        return node.expression if isinstance(node, Deterministic) else node

    def index(self, node: Apply) -> Any:
        """Evaluate the index of a subscription, which must come from data alone.

        Raises a `DataError` if indices from data are negative, or sums of masks.
        """
        for part in checked_parts(node.args[1]):
            if isinstance(part, Apply) and part.operation.name in ("add", "subtract"):
                known = [self._values.get(id(arg)) for arg in map(as_expression, part.args)]
                # A function may have taken the part from around it, as one whole.
                refuse_sum_of_masks(node, part, [value for value in known if value is not None])
            check_index(node, part, self.value(part))
        return map_leaves(node.args[1], lambda leaf: _as_index(self.value(leaf)))

    def written_out(self, node: Apply) -> Expression | None:
        """Return what an operation is written with, now that shapes are known.

        It is None for operations that have a form of their own. Raises a `ModelError` if it cannot
        be written so, and does not come from data alone.
        """
        written = node.operation.written
        if written is None or id(node) in self._written:
            return self._written.get(id(node))
        self._evaluate(node)
        options = {
            k: map_leaves(v, lambda leaf: _as_index(self.value(leaf)))
            for k, v in node.kwargs.items()
        }
        made = written(self.shape, *map(_numbers, node.args), **options)
        if made is None and id(node) in self._random:
            raise node.model_error(
                f"{node!r} is not supported on the symbols of a model with these arguments."
                f"{advice_on(node.operation.name)}",
                expression=repr(node),
            )
        found = None
        if made is not None and made is not NotImplemented:
            found = as_expression(made)
            for part in topological([found], done=set(map(id, children(node)))):
                part.location = node.location
        self._written[id(node)] = found
        return found

    def _evaluate(self, root: Expression) -> None:
        if id(root) in self._values:
            return
        for node in topological([root], done=set(self._values)):
            self._kept.append(node)
            self._values[id(node)] = self._node_value(node)

    def _node_value(self, node: Expression) -> Array:
        if isinstance(node, Constant):
            return _constant(node)
        if not isinstance(node, Apply):
            raise node.model_error(
                f"{getattr(node, 'title', 'a symbol')} is used before it is declared."
            )
        random = any(id(child) in self._random for child in children(node))
        if random:
            self._random.add(id(node))
            self._check_static(node)
        args = map_leaves(node.args, lambda leaf: self._values[id(leaf)])
        kwargs = {
            k: self._callable(v)
            if isinstance(v, Closure)
            else map_leaves(v, lambda leaf: _as_index(self._values[id(leaf)]))
            for k, v in node.kwargs.items()
        }
        if node.operation.name == "getitem":
            args = (args[0], self.index(node))
        return self._call(node, args, kwargs, random)

    def _call(self, node: Apply, args: Any, kwargs: Any, random: bool) -> Array:
        probe = node.operation.probe if random else None
        if node.operation.name == "cholesky":
            _refuse_asymmetry(node, args[0])
        try:
            with np.errstate(all="ignore"):
                if probe is not None:
                    return np.asarray(probe(*args, **kwargs))
                return compute(node.operation, args, kwargs)
        except np.linalg.LinAlgError as error:
            if node.operation.name in _OF_SQUARES:
                _refuse_oblong(node, np.shape(args[0]))
            if random:  # at the probing point only; while sampling such a point is rejected
                solution = np.matmul(*args) if node.operation.name == "solve" else args[-1]
                return np.full(np.shape(solution), np.nan)
            raise node.data_error(
                f"{node!r}: {error}. The matrix comes from data alone; no parameter can mend it."
            ) from error
        except np.exceptions.AxisError as error:  # an IndexError, too
            raise self._misfitting(node, args, error) from error
        except IndexError as error:
            raise node.data_error(
                f"{node!r}: {error}. Indices count from 0.", expression=repr(node)
            ) from error
        except (ValueError, TypeError) as error:
            raise self._misfitting(node, args, error) from error

    def _misfitting(self, node: Apply, args: Any, error: Exception) -> ShapeError:
        self.misfit = node
        shapes = ", ".join(str(np.shape(a)) for a in _arrays(args))
        return node.shape_error(
            f"{node!r} cannot be evaluated: its operands have shapes {shapes}. The reason: "
            f"{error}.",
            expression=repr(node),
        )

    def _callable(self, closure: Closure) -> Callable[..., Array]:
        """Return a traced function as one of numbers; its body is evaluated as models are."""
        for node in closure.captured:
            self._evaluate(node)
        parts = [part for node in closure.captured for part in children(node)]
        known = [part for part in parts if id(part) in self._values]
        taken = [*known, *closure.captured]  # by its parts an index is told from a sum of masks

        def call(*values: Any) -> Array:
            inner = Evaluator()
            for symbol, value in zip(closure.arguments, values, strict=True):
                inner.define(symbol, value, random=True)
            for node in taken:
                inner.define(node, self.value(node), random=id(node) in self._random)
            return inner.value(closure.body)

        return call

    def _check_static(self, node: Apply) -> None:
        static: list[Any] = list(node.kwargs.values())
        if node.operation.name == "getitem":
            static.append(node.args[1])
        elif node.operation.static:
            static += node.args
        static += [node.args[i] for i in node.operation.from_data]
        for leaf in topological([e for arg in static for e in leaves(arg)]):
            if id(leaf) in self._random:
                what = "an index, axis, shape or point"
                if node.operation.static and node.operation.name in OPERATIONS:
                    what = f"what np.{node.operation.name} takes"
                raise node.model_error(
                    f"{node!r}: {what} must come from data, not from parameters."
                    f"{advice_on(node.operation.name)}",
                    expression=repr(node),
                )


def _constant(node: Constant) -> Array:
    try:
        value = number(node.value)
    except ValueError:
        value = np.asarray(None)
    if value.dtype.kind not in "biuf":
        raise node.model_error(f"{not_real(node.value, value)}.", value=node.value)
    return value


def _arrays(args: Any) -> Iterator[Any]:
    """Yield arrays, also those in lists."""
    for arg in args:
        yield from _arrays(arg) if isinstance(arg, list | tuple) else (arg,)


def _numbers(arg: Any) -> Any:
    """Return a list of numbers as an array, and anything else as it is."""
    return np.asarray(arg) if isinstance(arg, list | tuple) and not list(leaves(arg)) else arg


def _as_index(value: Array) -> Any:
    """Integers as Python ints, so that they can be sizes and slice ends."""
    return int(value) if value.ndim == 0 and value.dtype.kind in "iu" else value


def _refuse_oblong(node: Apply, shape: tuple[int, ...]) -> None:
    """Raise a `ShapeError` for what is no square matrix, nor a stack of these."""
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise node.shape_error(
            f"{node!r} takes square matrices; got the shape {shape}.", expression=repr(node)
        )


def _refuse_asymmetry(node: Apply, matrices: Array) -> None:
    """Raise a `ModelError` for a Cholesky factor of what is not symmetric: NumPy reads one half."""
    fault = fault_in_stack(np.asarray(matrices), lambda a: asymmetry_fault(a, ROUNDING))
    if fault:
        raise node.model_error(
            f"np.linalg.cholesky takes a symmetric matrix, of which it reads one half; got "
            f"{node.args[0]!r}, in which {fault}.",
            expression=repr(node),
        )
