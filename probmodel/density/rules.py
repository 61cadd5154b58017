"""Derivative rules that use the static shapes of a program, as Python source.

Autograd's own rules work out on every call whether an operand was broadcast, which costs several
times the arithmetic of a small array. A recorded program knows it beforehand. Only the
operations that models are full of stand here; all others run autograd's rules. Both are compared
in the tests.

A rule takes the derivative of a result and returns that of one operand, as a `Scaled`: numbers
are kept apart from arrays and multiplied together while the source is written, so that signs and
constant factors cost no pass over the data. Expressions are in ``{g}``, the derivative of the
result; ``{y}``, the result; ``{a}`` and ``{b}``, the first and second operand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np

from probmodel import special
from probmodel.density import primitives as own
from probmodel.density.reference import Ref
from probmodel.density.source import index_source

Shape = tuple[int, ...]
Names = Mapping[str, str]


class Scaled(NamedTuple):
    """A derivative, as source: a number times an array.

    Attributes
    ----------
    number : the factor
    array : an expression, or None for ones
    place : index at which it belongs in the operand's derivative, which is zero elsewhere; empty
        for all of it
    """

    number: float
    array: str | None
    place: str = ""


# What a rule makes of the result's derivative; None if it needs that as an array.
Rule = Callable[[Scaled, Names], Scaled | None]


class Slope(NamedTuple):
    """Derivative of an elementwise function in one operand: ``number * times / over``."""

    number: float = 1.0
    times: str = ""
    over: str = ""


_SAME = Slope()
_ELEMENTWISE: dict[Any, tuple[Slope, ...]] = {
    anp.add: (_SAME, _SAME),
    anp.subtract: (_SAME, Slope(-1.0)),
    anp.multiply: (Slope(times="{b}"), Slope(times="{a}")),
    anp.divide: (Slope(over="{b}"), Slope(-1.0, times="{y}", over="{b}")),
    anp.logaddexp: (Slope(times="exp({a} - {y})"), Slope(times="exp({b} - {y})")),
    anp.negative: (Slope(-1.0),),
    anp.exp: (Slope(times="{y}"),),
    anp.expm1: (Slope(times="({y} + 1.0)"),),
    anp.log: (Slope(over="{a}"),),
    anp.log1p: (Slope(over="({a} + 1.0)"),),
    anp.sqrt: (Slope(0.5, over="{y}"),),
    anp.square: (Slope(2.0, times="{a}"),),
    anp.reciprocal: (Slope(-1.0, times="{y} * {y}"),),
    anp.sin: (Slope(times="cos({a})"),),
    anp.cos: (Slope(-1.0, times="sin({a})"),),
    anp.tanh: (Slope(times="(1.0 - {y} * {y})"),),
    anp.absolute: (Slope(times="sign({a})"),),
    special.expit: (Slope(times="({y} - {y} * {y})"),),
}


def source_rules(
    function: Any, argnums: Sequence[int], args: Sequence[Any], result: Shape, kwargs: Any
) -> list[Rule] | None:
    """Return one rule per active argument of a step, or None to run autograd's.

    Parameters
    ----------
    function : the primitive of the step
    argnums : positions of the arguments that derivatives flow to
    args : its arguments: references, which have shapes without the chain axis, and constants
    result : shape of the result, without the chain axis
    kwargs : options of the call
    """
    if not argnums:
        return None
    if function in _ELEMENTWISE:
        slopes = _ELEMENTWISE[function]
        return [_Elementwise(slopes[i], i, args, result) for i in argnums]
    if function is anp.concatenate_args:
        return _pieces(argnums, args)
    if function is own.row_dot:
        return [_row_dot(args, i) for i in argnums]
    make = _OF_FIRST.get(function)
    rule = make(args, result, kwargs) if make and tuple(argnums) == (0,) else None
    return None if rule is None else [rule]


class _Elementwise:
    """Rule of an elementwise function, summed over the axes along which an operand is broadcast.

    Parameters
    ----------
    slope : the derivative
    position : of the operand
    args : both operands, or the only one
    result : shape of the result
    """

    def __init__(self, slope: Slope, position: int, args: Sequence[Any], result: Shape) -> None:
        operand = args[position].shape
        self.number, self.times, self.over = _with_numbers(slope, args)
        self.axes = tuple(
            i + 1 for i, (m, n) in enumerate(zip(operand, result, strict=True)) if m != n
        )
        self.count = prod(result) // max(prod(operand), 1)
        # Divided by the operand itself, which is constant along those axes, after the sum.
        self.late = self.over == ("{a}", "{b}")[position]
        used = self.times + self.over
        # A derivative that is just the other operand must not be made of truth values.
        self.is_real = all(
            _is_real(arg) for name, arg in zip(("{a}", "{b}"), args, strict=False) if name in used
        )
        self.is_full = "{y}" in used or any(
            name in used and isinstance(arg, Ref) and arg.shape == result
            for name, arg in zip(("{a}", "{b}"), args, strict=False)
        )
        self.is_total = self.axes == tuple(range(1, len(result) + 1))
        self.is_dot = self.is_total and len(result) == 1 and self.times in ("{a}", "{b}", "{y}")

    def __call__(self, g: Scaled, names: Names) -> Scaled | None:
        """Return the derivative of the operand."""
        number, times, over = self.number * g.number, *self._named(names)
        if g.array is None and not (times or over):
            return Scaled(number * self.count, None)
        if g.array is None and not self.is_full:
            return None
        if g.array is not None and self.is_dot:
            array = f"vecdot({g.array}, {times})[:, None]"
            return Scaled(number, f"{array} / {over}" if over else array)
        array = " * ".join(factor for factor in (g.array, times) if factor)
        if not array:
            array, number = repr(number), 1.0
        elif g.array is None and not self.is_real:
            array = f"({array} * 1.0)"
        if over and not self.late:
            array = f"{array} / {over}"
        if self.axes:
            if self.is_total:
                array = f"row_total({array})[:{', None' * len(self.axes)}]"
            else:
                array = f"add_reduce({array}, axis={self.axes}, keepdims=True)"
        return Scaled(number, f"{array} / {over}" if over and self.late else array)

    def _named(self, names: Names) -> tuple[str, str]:
        return self.times.format(**names), self.over.format(**names)


def _is_real(arg: Any) -> bool:
    """Whether an argument is surely made of floating-point numbers."""
    return arg.active if isinstance(arg, Ref) else np.asarray(arg).dtype.kind == "f"


def _with_numbers(slope: Slope, args: Sequence[Any]) -> Slope:
    """Multiply the number of a slope by operands that are numbers themselves."""
    number, times, over = slope
    for name, arg in zip(("{a}", "{b}"), args, strict=False):
        if isinstance(arg, (int, float)):
            if times == name:
                number, times = number * arg, ""
            if over == name and arg != 0:
                number, over = number / arg, ""
    return Slope(number, times, over)


def _moved(expression: str) -> Rule:
    """Make a rule that moves elements about: all stay equal if they are."""

    def rule(g: Scaled, names: Names) -> Scaled:
        if g.array is None:
            return g
        return Scaled(g.number, expression.format(g=g.array, **names))

    return rule


def _linear(expression: str) -> Rule:
    """Make a rule that is linear in an array."""

    def rule(g: Scaled, names: Names) -> Scaled | None:
        return None if g.array is None else Scaled(g.number, expression.format(g=g.array, **names))

    return rule


def _row_dot(args: Sequence[Any], position: int) -> Rule:
    """Rule of an inner product for each chain."""
    other = "{b}" if position == 0 else "{a}"
    varies = isinstance(args[1 - position], Ref) and args[1 - position].active

    def rule(g: Scaled, names: Names) -> Scaled | None:
        if g.array is None:
            return Scaled(g.number, other.format(**names)) if varies else None
        return Scaled(g.number, f"{g.array}[:, None] * {other.format(**names)}")

    return rule


def _sum_squares(operand: Shape) -> Rule:
    """Rule of a sum of squares for each chain."""
    column = "[:" + ", None" * len(operand) + "]"

    def rule(g: Scaled, names: Names) -> Scaled:
        array = names["a"] if g.array is None else f"{g.array}{column} * {names['a']}"
        return Scaled(2.0 * g.number, array)

    return rule


def _pieces(argnums: Sequence[int], args: Sequence[Any]) -> list[Rule]:
    """Rules of joining arrays along an axis: each takes its piece."""
    axis, *parts = args
    ends, before = {}, 0
    for i, part in enumerate(parts, start=1):
        ends[i] = (before, before + part.shape[axis - 1])
        before = ends[i][1]
    lead = ":, " * axis
    return [_moved("{g}[" + f"{lead}{ends[i][0]}:{ends[i][1]}" + "]") for i in argnums]


def _index(args: Sequence[Any], result: Shape, kwargs: Any) -> Rule | None:
    """Rule of a basic index: the derivative belongs at its place."""
    place = index_source(args[1])
    return None if place is None else lambda g, names: Scaled(g.number, g.array, place)


def _sum(args: Sequence[Any], result: Shape, kwargs: Any) -> Rule:
    """Rule of a sum over some axes."""
    axis, operand = kwargs["axis"], args[0].shape
    axes = axis if isinstance(axis, tuple) else (axis,)
    kept = ", ".join("1" if i in axes else str(n) for i, n in enumerate(operand, start=1))
    return _moved("broadcast_to({g}.reshape((len({g}), " + kept + ")), {a}.shape)")


def _cumsum(args: Sequence[Any], result: Shape, kwargs: Any) -> Rule:
    """Rule of running sums: running sums from the other end."""
    axis = kwargs["axis"]
    back = "[" + ":, " * axis + "::-1]"
    return _linear("add_accumulate({g}" + back + f", axis={axis})" + back)


def _spread(args: Sequence[Any], result: Shape, kwargs: Any) -> Rule:
    """Rule of repeating along axes of length one."""
    return _Elementwise(_SAME, 0, args, result)


def _transpose(args: Sequence[Any], result: Shape, kwargs: Any) -> Rule:
    """Rule of a permutation of axes."""
    order = args[1]
    return _moved("{g}.transpose(" + str(tuple(order.index(i) for i in range(len(order)))) + ")")


_OF_FIRST: dict[Any, Callable[[Sequence[Any], Shape, Any], Rule | None]] = {
    own.insert_axes: lambda *_: _moved("{g}.reshape({a}.shape)"),
    own.reshape_rows: lambda *_: _moved("{g}.reshape({a}.shape)"),
    own.linear_map: lambda *_: _linear("{g} @ {b}.T"),
    own.gather: lambda *_: _linear("{b}.scatter({g})"),
    own.sum_squares: lambda args, *_: _sum_squares(args[0].shape),
    own.basic_index: _index,
    own.spread_rows: _spread,
    anp.sum: _sum,
    anp.cumsum: _cumsum,
    anp.transpose: _transpose,
}
