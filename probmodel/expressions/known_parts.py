"""An expression as a sum of known arrays, each times an unknown number: ``s**2 * A + t * B``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from probmodel.expressions.expression import Apply, Constant, Expression, as_expression
from probmodel.types import Array

# A number that is unknown, (), or one for each matrix of a stack, (..., 1, 1), and what it is a
# factor of.
Part = tuple[Expression, Array]

# Functions that are linear in their first argument, whatever the others are.
_LINEAR = frozenset(
    {
        "transpose", "swapaxes", "moveaxis", "reshape", "ravel", "expand_dims", "squeeze",
        "broadcast_to", "repeat", "tile", "flip", "roll", "getitem", "diag", "diagonal", "tril",
        "triu",
    }
)  # fmt: skip
_BILINEAR = frozenset({"multiply", "matmul", "dot", "kron", "outer"})
_SAME = 1e-14  # relative difference between a matrix and a multiple of another
_DEEPEST = 40  # operations on top of each other; a longer formula is not a short sum


class Values(Protocol):
    """What is known of expressions."""

    def is_constant(self, value: Any) -> bool:
        """Whether data alone decide an expression."""

    def value(self, value: Any) -> Array:
        """Return the value of what data alone decide."""

    def shape(self, value: Any) -> tuple[int, ...]:
        """Return the shape of an expression."""

    def behind(self, node: Expression) -> Expression:
        """Return what stands behind a name that was given to an expression."""


def known_parts(node: Expression, values: Values, depth: int = 0) -> list[Part] | None:
    """Return the parts that an expression is the sum of, or None where it is no such sum."""
    node = values.behind(node)
    if values.is_constant(node):
        return [(Constant(1.0), np.asarray(values.value(node), dtype=float))]
    shape = values.shape(node)
    if _is_factor(shape):
        return [(node[0] if shape == (1,) else node, np.ones(shape[-2:]))]
    if not isinstance(node, Apply) or depth > _DEEPEST:
        return None

    def parts(argument: Any) -> list[Part] | None:
        return known_parts(as_expression(argument), values, depth + 1)

    name = node.operation.name
    if name in ("add", "subtract"):
        left, right = map(parts, node.args)
        if left is None or right is None:
            return None
        sign = 1.0 if name == "add" else -1.0
        return _spread([*left, *((c, sign * known) for c, known in right)], shape)
    if name == "negative":
        of = parts(node.args[0])
        return None if of is None else [(c, -known) for c, known in of]
    if name in _BILINEAR:
        left, right = map(parts, node.args)
        return _product(node, left, right, values)
    if name == "divide":
        return _product(node, parts(node.args[0]), _reciprocal(node.args[1], values), values)
    if name in _LINEAR:
        return _mapped(node, parts(node.args[0]), values)
    return None


def _spread(parts: list[Part], shape: tuple[int, ...]) -> list[Part] | None:
    """Give the parts of a sum its shape."""
    if any(np.ndim(known) > 2 for _, known in parts) and len(shape) <= 2:
        return None
    return [(c, np.broadcast_to(known, shape[-2:])) for c, known in parts]


def _reciprocal(node: Any, values: Values) -> list[Part] | None:
    """Return the parts of one over a known array or an unknown number."""
    divisor = as_expression(node)
    if values.is_constant(divisor):
        return [(Constant(1.0), 1.0 / np.asarray(values.value(divisor), dtype=float))]
    return [(1.0 / divisor, np.ones(()))] if not values.shape(divisor) else None


def _is_factor(shape: tuple[int, ...]) -> bool:
    """Whether an array is one number, or one for each matrix of a stack."""
    return shape in ((), (1,)) or shape[-2:] == (1, 1)


def _product(
    node: Apply, left: list[Part] | None, right: list[Part] | None, values: Values
) -> list[Part] | None:
    """Return the parts of a product: each part of one side with each of the other."""
    if left is None or right is None:
        return None
    function = np.multiply if node.operation.name == "divide" else node.operation.evaluate
    if function is not np.multiply and any(values.shape(c) for c, _ in (*left, *right)):
        return None
    return [
        (_times(c, d), np.asarray(function(known, other)))
        for c, known in left
        for d, other in right
    ]


def _times(c: Expression, d: Expression) -> Expression:
    """Return the product of two numbers, without ones."""
    if isinstance(c, Constant):
        return d
    return c if isinstance(d, Constant) else c * d


def _mapped(node: Apply, parts: list[Part] | None, values: Values) -> list[Part] | None:
    """Return the parts of a linear function."""
    if parts is None or any(values.shape(c) for c, _ in parts):
        return None
    return [
        (c, values.value(Apply(node.operation, (known, *node.args[1:]), node.kwargs)))
        for c, known in parts
    ]


def sum_of_known(
    matrix: Expression, values: Values, read: Callable[[Array], Array]
) -> list[Part] | None:
    """Return one or two known matrices and their factors; None where it takes more, or others.

    ``read`` makes what counts of each: its lower triangle, say.
    """
    size = values.shape(matrix)[-2:]
    parts = known_parts(matrix, values)
    if parts is None or size == (1, 1):
        return None
    terms: list[Part] = []
    for factor, known in parts:
        if known.shape != size or not np.isfinite(known).all():
            return None
        counts = read(known)
        for i, (other, of_other) in enumerate(terms):
            ratio = _ratio(counts, of_other)
            if ratio is not None:
                terms[i] = other + ratio * factor, of_other
                break
        else:
            if counts.any():
                terms.append((factor, counts))
    return terms if len(terms) in (1, 2) else None


def _ratio(a: Array, b: Array) -> float | None:
    """Return the number that turns the matrix b into a, or None if there is none."""
    ratio = float(np.vdot(a, b) / np.vdot(b, b))
    return ratio if np.all(np.abs(a - ratio * b) <= _SAME * np.abs(a)) else None
