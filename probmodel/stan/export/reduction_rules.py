"""Sums, means, products and extremes, over all axes or along one."""

from __future__ import annotations

from math import prod
from typing import Any

from probmodel.expressions import Apply
from probmodel.stan.export.code_blocks import loops
from probmodel.stan.export.code_forms import ATOM, PREFIX, PRODUCT, Form, Place, call, trimmed
from probmodel.stan.export.code_writer import Writer
from probmodel.stan.export.no_spelling import NoSpellingError

NAMES = {
    "sum": "sum", "mean": "mean", "prod": "prod", "max": "max", "min": "min", "var": "variance",
    "std": "sd", "logsumexp": "log_sum_exp",
}  # fmt: skip


def whole(writer: Writer, node: Apply) -> Form | None:
    """Return the reduction of all elements, as a number."""
    source, name = node.args[0], node.operation.name
    shape = writer.shape(source)
    if not shape:
        return writer.whole(source)
    if prod(writer.shape(node)) != 1 or len(_axes(node, len(shape))) != len(shape):
        return None
    form = writer.whole(source)
    if form.kind == "vectors" or (
        form.kind == "ints" and (len(shape) > 1 or name in ("var", "std"))
    ):
        if len(shape) > 2:
            return _over_all(writer, node)
        form = writer.reals(source)
    if len(shape) > 2:
        return _over_all(writer, node)
    return _at_rank(_reduced(node, form.text, form.kind, prod(shape)), len(writer.shape(node)))


def _over_all(writer: Writer, node: Apply) -> Form:
    """Add up more than two axes one after another."""
    source = writer.define(node.args[0])
    if node.operation.name not in ("sum", "mean"):
        raise NoSpellingError(
            f"np.{node.operation.name} over three axes", "Reduce one axis at a time."
        )
    sizes = writer.sizes(node.args[0])
    block = writer.shared.constants if writer.is_constant(node) else writer.block
    places, total = writer.places(len(sizes)), block.declare(writer.shared.names, "total")
    at = f"{source.text}[{', '.join(map(str, places))}]"
    block.add(f"real {total} = 0;")
    block.add(*loops([p.variable for p in places], sizes, [f"{total} += {at};"]))
    if node.operation.name == "mean":
        return Form(f"{total} / {prod(writer.shape(node.args[0]))}", "real", PRODUCT)
    return Form(total, "real")


def _at_rank(form: Form, rank: int) -> Form | None:
    """Return a number with axes of length one, where these were kept."""
    if rank > 2:
        return None
    return (form, Form(f"[{form.text}]'", "vector"), Form(f"[[{form.text}]]", "matrix"))[rank]


def _reduced(node: Apply, text: str, kind: str, size: int) -> Form:
    name = node.operation.name
    stan = NAMES[name]
    whole = kind == "ints" and name in ("sum", "prod", "max", "min")
    form = call(stan, text, kind="int" if whole and name != "prod" else "real")
    if name in ("var", "std"):
        ddof = int(node.kwargs.get("ddof", 0))
        if ddof != 1:
            share = f"{size - 1}.0 / {size - ddof}"
            factor = share if name == "var" else f"sqrt({share})"
            return Form(f"{form.text} * {factor}", "real", PRODUCT)
    return form


def _axes(node: Apply, rank: int) -> list[int]:
    axis: Any = node.kwargs.get("axis")
    if axis is None:
        return list(range(rank))
    given = axis if isinstance(axis, tuple | list) else (axis,)
    return sorted(int(a) % rank for a in given)


def entry(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form | None:
    """Return the reduction of one row, one column, or what else lies along an axis."""
    source = node.args[0]
    rank = len(writer.shape(source))
    axes = _axes(node, rank)
    if len(axes) == rank or rank < 2:
        return None
    if len(axes) > 1:
        raise NoSpellingError(
            f"np.{node.operation.name} over several axes", "Reduce one axis at a time."
        )
    axis = axes[0]
    own = [p for k, p in enumerate(places) if not node.kwargs.get("keepdims") or k != axis]
    form = writer.named(source)
    index = [*map(str, own[:axis]), "", *map(str, own[axis:])]
    text = f"{form.inside(ATOM)}[{trimmed(', '.join(index))}]"
    return _reduced(node, text, form.kind, writer.shape(source)[axis])


def cumsum(writer: Writer, node: Apply) -> Form | None:
    """Return running totals of a vector."""
    if len(writer.shape(node.args[0])) != 1:
        return None
    form = writer.whole(node.args[0])
    if form.kind not in ("ints", "vector"):
        form = writer.reals(node.args[0])
    return call("cumulative_sum", form.text, kind=form.kind)


def softmax(writer: Writer, node: Apply) -> Form | None:
    """Return shares, or their logarithms, of a vector."""
    if len(writer.shape(node)) != 1:
        return None
    return call(node.operation.name, writer.reals(node.args[0]).text, kind="vector")


def softmax_statements(writer: Writer, node: Apply, name: str) -> bool:
    """Fill a matrix with shares, or their logarithms, along one axis."""
    stan, source = node.operation.name, node.args[0]
    sizes, axis = writer.sizes(node), node.kwargs.get("axis", -1)
    if axis is None or len(sizes) > 2:
        raise NoSpellingError(f"{stan} of such an array", "Take it of a vector or of a matrix.")
    form = writer.define(source) if writer.block.find(source) is None else writer.reals(source)
    at = writer.places(1)[0]
    rows = int(axis) in (1, -1)
    index, turned = (f"{at}", "'") if rows else (f", {at}", "")
    step = f"{name}[{index}] = {stan}({form.text}[{index}]{turned}){turned};"
    writer.block.add(*loops([at.variable], sizes[:1] if rows else sizes[1:], [step]))
    return True


def segment_statements(writer: Writer, node: Apply, name: str) -> bool:
    """Fill an array with the sums of the elements of each group."""
    source, groups = node.args
    own = str(getattr(groups, "name", ""))
    if own in writer.shared.from_one:
        codes = writer.whole(groups).text
    else:
        numbers = writer.value(groups).astype("int64") + 1
        codes = writer.shared.given(None, numbers, "group", "counts from 1").text
    sizes, inner = writer.sizes(node), writer.sizes(source)
    zero = writer.places(len(sizes))
    places = writer.places(len(inner))
    value = writer.entry(source, places)
    cell = ", ".join([f"{codes}[{places[0]}]", *map(str, places[1:])])
    target = f"{name}[{', '.join(map(str, zero))}]"
    writer.block.add(
        *loops([p.variable for p in zero], sizes, [f"{target} = 0;"]),
        *loops([p.variable for p in places], inner, [f"{name}[{cell}] += {value.text};"]),
    )
    return True


def cumsum_statements(writer: Writer, node: Apply, name: str) -> bool:
    """Fill an array with running totals along one axis."""
    axis = node.kwargs.get("axis")
    if axis is None:
        if len(writer.shape(node.args[0])) > 1:
            raise NoSpellingError("a running total over all axes", "Give it an axis.")
        axis = 0
    sizes = writer.sizes(node)
    axis = int(axis) % len(sizes)
    places = list(writer.places(len(sizes)))
    value = writer.entry(node.args[0], places)
    here = ", ".join(map(str, places))
    variable = places[axis].variable
    before = ", ".join(str(p + -1 if k == axis else p) for k, p in enumerate(places))
    start, sign = ("0.0", "+") if node.operation.name == "cumsum" else ("1.0", "*")
    step = f"{name}[{here}] = {value.inside(PREFIX)} {sign} "
    step += f"({variable} > 1 ? {name}[{before}] : {start});"
    writer.block.add(*loops([p.variable for p in places], sizes, [step]))
    return True
