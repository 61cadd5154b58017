"""Batching rules of elementwise functions and reductions."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import primitive_vjps

from probmodel import special
from probmodel.density import primitives as own
from probmodel.density.alignment import Operand, Rule, Shape, align, shape_of
from probmodel.density.program import Recorder
from probmodel.density.reference import Ref
from probmodel.expressions import OPERATIONS

PRIMITIVES: dict[str, Callable[..., Any]] = {
    name: getattr(anp, name)
    for name, operation in OPERATIONS.items()
    if operation.elementwise and hasattr(anp, name) and name != "positive"
}
PRIMITIVES |= {
    "where": special.where,
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


def elementwise(name: str) -> Rule:
    """Make the rule of an elementwise function of NumPy or SciPy."""
    function = PRIMITIVES[name]
    assert (function in primitive_vjps) != (name in _FLAT), f"no derivative rule for {name}"

    def rule(recorder: Recorder, shape: Shape, *operands: Operand) -> Ref:
        aligned = [align(recorder, o, len(shape)) for o in operands]
        return recorder.emit(function, *aligned, shape=shape)

    return rule


# Elements for each chain from which work saved on each repays one more call.
_MANY = 32


def _unchanged(shape: Shape, operand: Operand, other: Operand, neutral: float) -> bool:
    """Whether an operation with the other operand, a neutral number, leaves an operand as it is.

    Not so for what no derivative flows through: a comparison times 1 is a number no longer Boolean.
    """
    is_neutral = not isinstance(other, Ref) and np.ndim(other) == 0 and other == neutral
    return is_neutral and _is_real(operand) and operand.shape == shape


def _is_real(operand: Operand) -> bool:
    """Whether an operand varies and is surely made of floating-point numbers."""
    return isinstance(operand, Ref) and operand.active


def add(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    """Sum."""
    for operand, other in ((a, b), (b, a)):
        if _unchanged(shape, operand, other, 0.0):
            return operand
    return elementwise("add")(recorder, shape, a, b)


def subtract(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    """Difference."""
    if _unchanged(shape, a, b, 0.0):
        return a
    if _unchanged(shape, b, a, 0.0):
        return recorder.emit(anp.negative, b, shape=shape)
    return elementwise("subtract")(recorder, shape, a, b)


def multiply(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    """Product."""
    for operand, other in ((a, b), (b, a)):
        if _unchanged(shape, operand, other, 1.0):
            return operand
    return elementwise("multiply")(recorder, shape, a, b)


def divide(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    """Quotient; what divides many elements is inverted once, as a product costs much less."""
    if _unchanged(shape, a, b, 1.0):
        return a
    if _is_real(b) and prod(shape) >= _MANY * max(prod(b.shape), 1):
        inverse = recorder.emit(anp.reciprocal, b, shape=b.shape)
        return multiply(recorder, shape, a, inverse)
    return elementwise("divide")(recorder, shape, a, b)


def clip(
    recorder: Recorder, shape: Shape, x: Operand, low: Operand = None, high: Operand = None
) -> Operand:
    """Maximum with the lower bound, then minimum with the upper one; each may vary, or be None."""
    for name, bound in (("maximum", low), ("minimum", high)):
        if bound is None:
            continue
        if isinstance(x, Ref) or isinstance(bound, Ref):
            wide = np.broadcast_shapes(shape_of(x), shape_of(bound))
            x = elementwise(name)(recorder, wide, x, bound)
        else:
            x = getattr(np, name)(x, bound)
    return x


_POWERS = {2.0: "square", 0.5: "sqrt", -1.0: "reciprocal"}


def power(recorder: Recorder, shape: Shape, base: Operand, exponent: Operand) -> Ref:
    """Raise to a power; the common constant ones have cheaper functions of their own."""
    constant = not isinstance(exponent, Ref) and np.ndim(exponent) == 0
    simple = constant and (_is_real(base) or float(exponent) != -1.0)
    name = _POWERS.get(float(exponent), "power") if simple else "power"
    operands = (base,) if name != "power" else (base, exponent)
    return elementwise(name)(recorder, shape, *operands)


def positive(recorder: Recorder, shape: Shape, x: Ref) -> Ref:
    """Return ``x`` itself."""
    return x


def reduced_axes(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes behind the chain axis, of an ``axis`` argument without it."""
    if axis is None:
        return tuple(range(1, rank + 1))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(a % rank + 1 for a in axes)


def reduction(function: Callable[..., Any]) -> Rule:
    """Make the rule of a function that joins the elements of some axes."""
    assert function in primitive_vjps

    def rule(
        recorder: Recorder, shape: Shape, x: Ref, axis: Any = None, keepdims: bool = False
    ) -> Ref:
        if not x.shape:
            return x
        axes = reduced_axes(axis, len(x.shape))
        chosen: Any = axes[0] if len(axes) == 1 else axes
        return recorder.emit(function, x, axis=chosen, keepdims=keepdims, shape=shape)

    return rule


total = reduction(anp.sum)


def product(
    recorder: Recorder, shape: Shape, x: Ref, axis: Any = None, keepdims: bool = False
) -> Ref:
    """Product of the elements of some axes."""
    if not x.shape:
        return x
    axes = reduced_axes(axis, len(x.shape))
    return recorder.emit(own.product, x, axes, keepdims, shape=shape)


def mean(recorder: Recorder, shape: Shape, x: Ref, axis: Any = None, keepdims: bool = False) -> Ref:
    """Sum, divided by the number of elements."""
    summed = total(recorder, shape, x, axis, keepdims)
    return recorder.emit(anp.multiply, summed, 1.0 / _count(x, axis), shape=shape)


def var(
    recorder: Recorder,
    shape: Shape,
    x: Ref,
    axis: Any = None,
    keepdims: bool = False,
    ddof: int = 0,
) -> Ref:
    """Mean squared distance from the mean."""
    kept = {a - 1 for a in reduced_axes(axis, len(x.shape))}
    full = tuple(1 if i in kept else n for i, n in enumerate(x.shape))
    centre = mean(recorder, full, x, axis, keepdims=True)
    squares = recorder.emit(
        anp.square, recorder.emit(anp.subtract, x, centre, shape=x.shape), shape=x.shape
    )
    summed = total(recorder, shape, squares, axis, keepdims)
    return recorder.emit(anp.multiply, summed, 1.0 / (_count(x, axis) - ddof), shape=shape)


def std(recorder: Recorder, shape: Shape, x: Ref, **options: Any) -> Ref:
    """Square root of the variance."""
    variance = var(recorder, shape, x, **options)
    if _count(x, options.get("axis")) == 1 and not options.get("ddof"):
        return variance  # zero, and flat, unlike its square root
    return recorder.emit(anp.sqrt, variance, shape=shape)


def _count(x: Ref, axis: Any) -> int:
    """How many elements a reduction joins."""
    return int(np.prod([x.shape[a - 1] for a in reduced_axes(axis, len(x.shape))], dtype=int))


def cumsum(recorder: Recorder, shape: Shape, x: Ref, axis: Any = None) -> Ref:
    """Return running sums."""
    if axis is None:
        x = recorder.emit(own.reshape_rows, x, shape, shape=shape)
        axis = 0
    return recorder.emit(anp.cumsum, x, axis=axis % len(x.shape) + 1, shape=shape)


def diff(recorder: Recorder, shape: Shape, x: Ref, n: int = 1, axis: int = -1) -> Ref:
    """Differences of neighbours."""
    return recorder.emit(anp.diff, x, n=n, axis=axis % len(x.shape) + 1, shape=shape)
