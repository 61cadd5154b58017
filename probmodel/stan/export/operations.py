"""Which rule writes which operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from probmodel.expressions import Apply
from probmodel.stan.export import (
    elementwise,
    indexing,
    matrices,
    recorded_calls,
    recurrences,
    reductions,
    shaping,
    solvers,
)
from probmodel.stan.export.forms import Form, Place, call
from probmodel.stan.export.writer import Writer

_REDUCTIONS = tuple(reductions.NAMES)

WHOLE: dict[str, Callable[[Writer, Apply], Form | None]] = {
    **dict.fromkeys(_REDUCTIONS, reductions.whole),
    "getitem": indexing.whole,
    "transpose": shaping.transpose,
    "swapaxes": shaping.transpose,
    **dict.fromkeys(("reshape", "ravel", "squeeze", "expand_dims"), shaping.reshape),
    "pad_axes": shaping.reshape,
    "broadcast_to": shaping.broadcast,
    "stack": shaping.stack,
    "concatenate": shaping.concatenate,
    "cumsum": reductions.cumsum,
    "matmul": matrices.matmul,
    "dot": matrices.matmul,
    "outer": matrices.outer,
    "diag": matrices.diagonal,
    "trace": lambda w, n: call("trace", w.reals(n.args[0]).text),
    "cholesky": matrices.function("cholesky_decompose"),
    "inv": matrices.function("inverse"),
    "solve": matrices.solve,
    "call": recorded_calls.whole,
    "solve_newton": solvers.newton,
}
ENTRIES: dict[str, Callable[[Writer, Apply, tuple[Place, ...]], Form | None]] = {
    **dict.fromkeys(_REDUCTIONS, reductions.entry),
    "getitem": indexing.entry,
    "transpose": shaping.transpose_entry,
    "swapaxes": shaping.transpose_entry,
    **dict.fromkeys(
        ("reshape", "ravel", "squeeze", "expand_dims", "pad_axes"), shaping.reshape_entry
    ),
    "broadcast_to": shaping.broadcast_entry,
    "tril": shaping.triangle_entry,
    "triu": shaping.triangle_entry,
    "matmul": matrices.matmul_entry,
    "dot": matrices.matmul_entry,
    "call": recorded_calls.entry,
}
STATEMENTS: dict[str, Callable[[Writer, Apply, str], bool]] = {
    **dict.fromkeys(("reshape", "ravel"), shaping.reshape_statements),
    "stack": shaping.join_statements,
    "concatenate": shaping.join_statements,
    "cumsum": reductions.cumsum_statements,
    "linear_recurrence": recurrences.linear,
    "matrix_recurrence": recurrences.of_matrices,
    "scan": recurrences.scan,
    "solve_ode": solvers.ode_statements,
    "call": recorded_calls.statements,
}


def _rewritten(writer: Writer, node: Apply) -> Any:
    """Return another expression of the same value, for what is written with other operations."""
    if node.operation.name == "diff":
        return shaping.difference(node, len(writer.shape(node.args[0])))
    if node.operation.name in ("flip", "roll", "repeat"):
        return shaping.reordered(writer, node)
    return None


def whole_rule(writer: Writer, node: Apply) -> Form | None:
    """Return the code of a whole operation; None if Stan has it not."""
    if node.operation.elementwise:
        return elementwise.whole(writer, node) if writer.shape(node) else None
    other = _rewritten(writer, node)
    if other is not None:
        return writer.whole(other)
    rule = WHOLE.get(node.operation.name)
    return None if rule is None else rule(writer, node)


def entry_rule(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form | None:
    """Return the code of one element of a result; None if it is to be computed as a whole."""
    if node.operation.elementwise:
        return elementwise.entry(writer, node, places)
    other = _rewritten(writer, node) if places else None
    if other is not None:
        return writer.entry(other, places)
    rule = ENTRIES.get(node.operation.name)
    return None if rule is None else rule(writer, node, places)


def statement_rule(writer: Writer, node: Apply, name: str) -> bool:
    """Fill a declared variable by statements; False if there is no rule for them."""
    rule = STATEMENTS.get(node.operation.name)
    return False if rule is None else rule(writer, node, name)
