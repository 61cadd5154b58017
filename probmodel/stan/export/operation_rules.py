"""Which rule writes which operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from probmodel.expressions import Apply
from probmodel.functions.interpolation import of_all_points
from probmodel.stan.export import (
    call_rules,
    elementwise_rules,
    matrix_rules,
    recurrence_rules,
    reduction_rules,
    shape_rules,
    solver_rules,
    subscript_rules,
)
from probmodel.stan.export.code_forms import Form, Place
from probmodel.stan.export.code_writer import Writer

_REDUCTIONS = tuple(reduction_rules.NAMES)
_SHAPES = ("reshape", "ravel", "squeeze", "expand_dims")

WHOLE: dict[str, Callable[[Writer, Apply], Form | None]] = {
    **dict.fromkeys(_REDUCTIONS, reduction_rules.whole),
    "getitem": subscript_rules.whole,
    "transpose": shape_rules.transpose,
    "swapaxes": shape_rules.transpose,
    **dict.fromkeys(("reshape", "ravel", "squeeze", "expand_dims"), shape_rules.reshape),
    "pad_axes": shape_rules.reshape,
    "broadcast_to": shape_rules.broadcast,
    "stack": shape_rules.stack,
    "concatenate": shape_rules.concatenate,
    "cumsum": reduction_rules.cumsum,
    "softmax": reduction_rules.softmax,
    "log_softmax": reduction_rules.softmax,
    "matmul": matrix_rules.matmul,
    "dot": matrix_rules.matmul,
    "outer": matrix_rules.outer,
    "diag": matrix_rules.diagonal,
    "det": matrix_rules.function("determinant", "real"),
    "log_determinant": matrix_rules.function("log_determinant", "real"),
    "trace": matrix_rules.function("trace", "real"),
    "cholesky": matrix_rules.function("cholesky_decompose"),
    "inv": matrix_rules.function("inverse"),
    "solve": matrix_rules.solve,
    "call": call_rules.whole,
    "solve_newton": solver_rules.newton,
}
ENTRIES: dict[str, Callable[[Writer, Apply, tuple[Place, ...]], Form | None]] = {
    **dict.fromkeys(_REDUCTIONS, reduction_rules.entry),
    "getitem": subscript_rules.entry,
    "transpose": shape_rules.transpose_entry,
    "swapaxes": shape_rules.transpose_entry,
    **dict.fromkeys((*_SHAPES, "pad_axes"), shape_rules.reshape_entry),
    "broadcast_to": shape_rules.broadcast_entry,
    "tril": shape_rules.triangle_entry,
    "triu": shape_rules.triangle_entry,
    "matmul": matrix_rules.matmul_entry,
    "dot": matrix_rules.dot_entry,
    "call": call_rules.entry,
}
STATEMENTS: dict[str, Callable[[Writer, Apply, str], bool]] = {
    **dict.fromkeys(("reshape", "ravel"), shape_rules.reshape_statements),
    "stack": shape_rules.join_statements,
    "concatenate": shape_rules.join_statements,
    "cumsum": reduction_rules.cumsum_statements,
    "cumprod": reduction_rules.cumsum_statements,
    "softmax": reduction_rules.softmax_statements,
    "log_softmax": reduction_rules.softmax_statements,
    "segment_sum": reduction_rules.segment_statements,
    "linear_recurrence": recurrence_rules.linear,
    "matrix_recurrence": recurrence_rules.of_matrices,
    "scan": recurrence_rules.scan,
    "solve_ode": solver_rules.ode_statements,
    "call": call_rules.statements,
}


def _rewritten(writer: Writer, node: Apply) -> Any:
    """Return another expression of the same value, for what is written with other operations."""
    if node.operation.name == "diff":
        return shape_rules.difference(node, len(writer.shape(node.args[0])))
    if node.operation.name in ("flip", "roll", "repeat"):
        return shape_rules.reordered(writer, node)
    if node.operation.name == "interpolate":
        return of_all_points(*node.args, **node.kwargs)
    return writer.shared.evaluator.written_out(node)


def whole_rule(writer: Writer, node: Apply) -> Form | None:
    """Return the code of a whole operation; None if Stan has it not."""
    if node.operation.elementwise:
        return elementwise_rules.whole(writer, node) if writer.shape(node) else None
    other = _rewritten(writer, node)
    if other is not None:
        return writer.whole(other)
    rule = WHOLE.get(node.operation.name)
    return None if rule is None else rule(writer, node)


def entry_rule(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form | None:
    """Return the code of one element of a result; None if it is to be computed as a whole."""
    if node.operation.elementwise:
        return elementwise_rules.entry(writer, node, places)
    other = _rewritten(writer, node) if places else None
    if other is not None:
        return writer.entry(other, places)
    rule = ENTRIES.get(node.operation.name)
    return None if rule is None else rule(writer, node, places)


def statement_rule(writer: Writer, node: Apply, name: str) -> bool:
    """Fill a declared variable by statements; False if there is no rule for them."""
    rule = STATEMENTS.get(node.operation.name)
    return False if rule is None else rule(writer, node, name)
