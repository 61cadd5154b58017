"""Operations element by element on arrays that broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from probmodel.expressions import Apply, as_expression
from probmodel.stan.export.code_forms import ATOM, Form, Place, call, transposed
from probmodel.stan.export.code_writer import Writer
from probmodel.stan.export.no_spelling import NoSpellingError
from probmodel.stan.export.scalar_rules import ELEMENTWISE, FUNCTIONS, PAIRED, of_arrays
from probmodel.stan.export.subscript_rules import Range, as_column, parts_of

_WITH_ARRAYS = {
    *FUNCTIONS, *PAIRED, "add", "subtract", "multiply", "divide", "power", "negative", "positive",
}  # fmt: skip


def entry(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form:
    """Return one element."""
    rule = ELEMENTWISE.get(node.operation.name)
    if rule is None:
        raise NoSpellingError(f"{node.operation.name}(...)", "Write it out with other functions.")
    return rule([writer.entry(arg, aligned(writer, arg, places)) for arg in node.args])


def aligned(writer: Writer, arg: Any, places: Sequence[Place]) -> tuple[Place, ...]:
    """Return the place in an argument that broadcasts."""
    shape = writer.shape(arg)
    own = places[len(places) - len(shape) :]
    return tuple(Place("", 1) if n == 1 else p for n, p in zip(shape, own, strict=True))


def whole(writer: Writer, node: Apply) -> Form | None:
    """Return vectors and matrices combined, where Stan has the operation."""
    name = node.operation.name
    if name not in _WITH_ARRAYS or any(len(writer.shape(arg)) > 2 for arg in node.args):
        return None
    if name == "multiply":
        scaled = _scaled(writer, *node.args)
        if scaled is not None:
            return scaled
    parts = [spread(writer, arg, writer.shape(node), writer.sizes(node)) for arg in node.args]
    if any(part is None for part in parts):
        return None
    return of_arrays(name, [part for part in parts if part is not None])


def _scaled(writer: Writer, left: Any, right: Any) -> Form | None:
    """Return the rows of a matrix times the elements of a vector, or its columns."""
    for vector, matrix in ((left, right), (right, left)):
        if len(writer.shape(matrix)) != 2 or min(writer.shape(matrix)) == 1:
            continue
        column = as_column(writer, vector)
        if column is not None and writer.shape(column)[0] == writer.shape(matrix)[0]:
            parts = writer.reals(column).text, writer.reals(matrix).text
            return call("diag_pre_multiply", *parts, kind="matrix")
        if writer.shape(vector) == writer.shape(matrix)[1:]:
            parts = writer.reals(matrix).text, writer.reals(vector).text
            return call("diag_post_multiply", *parts, kind="matrix")
    return None


def spread(
    writer: Writer, value: Any, shape: tuple[int, ...], sizes: Sequence[Place]
) -> Form | None:
    """Return an array with the shape that it broadcasts to; numbers stay as they are."""
    node = as_expression(value)
    own = writer.shape(node)
    if own == shape:
        return writer.reals(node)
    if not own:
        return writer.whole(node)
    if len(shape) == 1:
        return call(
            "rep_vector", writer.entry(node, [Place("", 1)]).text, str(sizes[0]), kind="vector"
        )
    if len(shape) != 2:
        return None
    rows, columns = map(str, sizes)
    if own == shape[1:]:
        return call("rep_matrix", transposed(writer.reals(node)), rows, kind="matrix")
    if own == (shape[0], 1):
        column = as_column(writer, node)
        text = _only_column(writer, node) if column is None else writer.reals(column).text
        return call("rep_matrix", text, columns, kind="matrix")
    if own == (1, shape[1]):
        return call("rep_matrix", f"{writer.reals(node).inside(ATOM)}[1]", rows, kind="matrix")
    at = [Place("", 1)] * len(own)
    return call("rep_matrix", writer.entry(node, at).text, rows, columns, kind="matrix")


def _only_column(writer: Writer, node: Any) -> str:
    """Return the column of a matrix that has one."""
    if isinstance(node, Apply) and node.operation.name == "getitem":
        source = node.args[0]
        if len(writer.shape(source)) == 2 and writer.block.find(source) is not None:
            rows, chosen = parts_of(writer, node)[:2]
            if isinstance(rows, Range) and rows.is_all and isinstance(chosen, Range):
                return f"{writer.reals(source).inside(ATOM)}[, {chosen.start}]"
    return f"{writer.reals(node).inside(ATOM)}[, 1]"
