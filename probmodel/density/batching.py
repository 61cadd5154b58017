"""How each operation of the language runs on a batch of chains.

All of that is decided here, once, from the static shapes: a rule receives the recorder, the shape
of the result without the chain axis, and the operands, and emits steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel import linalg, matrices
from probmodel.compiler.scans import Scan
from probmodel.density import (
    arithmetic,
    differential,
    equations,
    linear_recurrences,
    products,
    shapes,
)
from probmodel.density import primitives as own
from probmodel.density.alignment import (
    Operand,
    Rule,
    Shape,
    align,
    batched,
    first_ref,
    shape_of,
)
from probmodel.density.batched_function import BatchedFunction
from probmodel.density.program import Recorder
from probmodel.density.reference import Ref


def _call(
    recorder: Recorder,
    shape: Shape,
    *operands: Operand,
    function: Callable[..., Any],
    event_ndims: tuple[int, ...],
    primitive: Callable[..., Any] | None,
) -> Ref:
    """Run a formula as one step; its derivative traces the formula if it is no primitive."""
    ranks = [len(shape_of(o)) - e for o, e in zip(operands, event_ndims, strict=True)]
    rank = max(ranks)
    aligned = [
        align(recorder, o, rank + e) if isinstance(o, Ref) else o
        for o, e in zip(operands, event_ndims, strict=True)
    ]
    return recorder.emit(primitive or own.formula(function), *aligned, shape=shape)


def _solver(make: Callable[..., Callable[..., Any]]) -> Rule:
    """Make the rule of an operation that takes a function."""

    def rule(
        recorder: Recorder, shape: Shape, initial: Operand, *captured: Operand, **options: Any
    ) -> Ref:
        return _solved(recorder, shape, make, [initial], captured, options)

    return rule


def _scan(
    recorder: Recorder,
    shape: Shape,
    initial: Operand,
    sequences: Sequence[Operand],
    *captured: Operand,
    **options: Any,
) -> Ref:
    def make(shape: Shape, state: Shape, kinds: Any, *, function: Any, length: Any) -> Any:
        elements = [shape_of(s)[1:] for s in sequences]
        step = BatchedFunction(function, [shape[1:], *elements], kinds).step
        made = Scan(step, shape[0], len(sequences))

        def run(initial: Any, *rest: Any) -> Any:
            flat = np.broadcast_to(initial, (len(initial), *shape[1:])).reshape(len(initial), -1)
            return made(flat, *rest).reshape(len(initial), *shape)

        return run

    leading = [initial, *sequences]
    return _solved(recorder, shape, make, leading, captured, options)


def _solved(
    recorder: Recorder,
    shape: Shape,
    make: Callable[..., Callable[..., Any]],
    leading: list[Operand],
    captured: Sequence[Operand],
    options: dict[str, Any],
) -> Ref:
    kinds = [c.shape if isinstance(c, Ref) else c for c in captured]
    solver = make(shape, shape_of(leading[0]), kinds, **options)
    like = first_ref([*leading, *captured])
    operands = [batched(recorder, o, like) for o in leading]
    varying = [c for c in captured if isinstance(c, Ref)]
    return recorder.emit(solver, *operands, *varying, shape=shape)


RULES: dict[str, Rule] = {
    "call": _call,
    **{name: arithmetic.elementwise(name) for name in arithmetic.PRIMITIVES},
    "add": arithmetic.add,
    "subtract": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "divide": arithmetic.divide,
    "positive": arithmetic.positive,
    "power": arithmetic.power,
    "clip": arithmetic.clip,
    "sum": arithmetic.total,
    "mean": arithmetic.mean,
    "prod": arithmetic.product,
    "max": arithmetic.reduction(anp.max),
    "min": arithmetic.reduction(anp.min),
    "var": arithmetic.var,
    "std": arithmetic.std,
    "cumsum": arithmetic.cumsum,
    "diff": arithmetic.diff,
    "matmul": products.matmul,
    "dot": products.dot,
    "outer": products.outer,
    "cholesky": products.matrix_function(linalg.cholesky),
    "inv": products.matrix_function(matrices.inv),
    "solve": products.solve,
    "linear_recurrence": linear_recurrences.linear,
    "matrix_recurrence": linear_recurrences.matrix,
    "tril": products.triangle(np.tril),
    "triu": products.triangle(np.triu),
    "diag": products.diag,
    "trace": products.trace,
    "transpose": shapes.transpose,
    "swapaxes": shapes.swapaxes,
    "reshape": shapes.to_shape,
    "ravel": shapes.to_shape,
    "expand_dims": shapes.to_shape,
    "squeeze": shapes.to_shape,
    "pad_axes": shapes.to_shape,
    "broadcast_to": shapes.broadcast_to,
    "repeat": shapes.repeat,
    "flip": shapes.flip,
    "roll": shapes.roll,
    "concatenate": shapes.concatenate,
    "stack": shapes.stack,
    "getitem": shapes.getitem,
    "solve_ode": _solver(differential.ode_solver),
    "solve_newton": _solver(equations.newton_solver),
    "scan": _scan,
}
