"""Derivative rules that use the static shapes of a program, as Python source.

Autograd's own rules work out on every call whether an operand was broadcast, which costs several
times the arithmetic of a small array. A recorded program knows it beforehand. Only the
operations that models are full of stand here; all others run autograd's rules. Both are compared
in the tests.

A rule is an expression in ``{g}``, the derivative of the result; ``{y}``, the result; ``{a}``
and ``{b}``, the first and second operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import autograd.numpy as anp

from probmodel import special
from probmodel.density import primitives as own

Shape = tuple[int, ...]

_ELEMENTWISE: dict[Any, tuple[str, ...]] = {
    anp.add: ("{g}", "{g}"),
    anp.subtract: ("{g}", "-{g}"),
    anp.multiply: ("{g} * {b}", "{g} * {a}"),
    anp.divide: ("{g} / {b}", "-{g} * {y} / {b}"),
    anp.logaddexp: ("{g} * exp({a} - {y})", "{g} * exp({b} - {y})"),
    anp.negative: ("-{g}",),
    anp.exp: ("{g} * {y}",),
    anp.log: ("{g} / {a}",),
    anp.log1p: ("{g} / (1.0 + {a})",),
    anp.sqrt: ("{g} * 0.5 / {y}",),
    anp.square: ("{g} * (2.0 * {a})",),
    anp.tanh: ("{g} * (1.0 - {y} * {y})",),
    anp.absolute: ("{g} * sign({a})",),
    special.expit: ("{g} * ({y} - {y} * {y})",),
}
_STRUCTURAL: dict[Any, str] = {
    own.insert_axes: "{g}.reshape({a}.shape)",
    own.reshape_rows: "{g}.reshape({a}.shape)",
    own.linear_map: "{g} @ {b}.T",
}


def source_rules(
    function: Any,
    argnums: Sequence[int],
    shapes: Sequence[Shape],
    result: Shape,
    kwargs: dict[str, Any],
) -> list[str] | None:
    """Return one expression per active argument of a step, or None to run autograd's rule.

    Parameters
    ----------
    function : the primitive of the step
    argnums : positions of the arguments that derivatives flow to
    shapes : their shapes, without the chain axis
    result : shape of the result, without the chain axis
    kwargs : options of the call
    """
    if not argnums:
        return None
    if function in _ELEMENTWISE:
        rules = _ELEMENTWISE[function]
        return [_reduced(rules[i], shape, result) for i, shape in zip(argnums, shapes, strict=True)]
    if function in _STRUCTURAL and tuple(argnums) == (0,):
        return [_STRUCTURAL[function]]
    if function is own.affine_map:
        parts = {0: "{g} @ {b}.T", 2: "add_reduce({g}, axis=1)"}
        return [parts[i] for i in argnums]
    if function is anp.sum and result == () and not kwargs.get("keepdims"):
        column = "(-1" + ", 1" * len(shapes[0]) + ")"
        return ["broadcast_to({g}.reshape(" + column + "), {a}.shape)"]
    return None


def _reduced(rule: str, operand: Shape, result: Shape) -> str:
    """Add the sum over the axes along which an operand is broadcast."""
    axes = tuple(i + 1 for i, (m, n) in enumerate(zip(operand, result, strict=True)) if m != n)
    return f"add_reduce({rule}, axis={axes}, keepdims=True)" if axes else rule
