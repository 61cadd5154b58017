"""Arrays in another shape or order, and arrays put together."""

from __future__ import annotations

from itertools import count
from math import prod
from typing import Any

import numpy as np

from probmodel.expressions import Apply, Expression, as_expression
from probmodel.stan.export.code_blocks import loops
from probmodel.stan.export.code_forms import (
    AND,
    ATOM,
    CHOICE,
    NUMBERS,
    Form,
    Place,
    call,
    transposed,
)
from probmodel.stan.export.code_writer import Writer, as_number
from probmodel.stan.export.elementwise_rules import aligned, spread
from probmodel.stan.export.no_spelling import NoSpellingError

ONE = Place("", 1)


# -- transposes ------------------------------------------------------------------------------------


def _order(writer: Writer, node: Apply) -> list[int]:
    """Return which axis of the argument each axis of the result is."""
    rank = len(writer.shape(node))
    axes = list(range(rank))
    if node.operation.name == "swapaxes":
        i, j = (int(node.kwargs.get(k, d)) % rank for k, d in (("axis1", 0), ("axis2", 1)))
        axes[i], axes[j] = axes[j], axes[i]
        return axes
    given = node.kwargs.get("axes")
    return axes[::-1] if given is None else [int(a) % rank for a in given]


def transpose(writer: Writer, node: Apply) -> Form | None:
    """Return a matrix turned over its diagonal."""
    order = _order(writer, node)
    form = writer.reals(node.args[0]) if len(order) < 3 else None
    if form is None or order == sorted(order):
        return form
    return Form(transposed(form), "matrix")


def transpose_entry(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form:
    """Return an element at the place that it comes from."""
    order = _order(writer, node)
    return writer.entry(node.args[0], [places[order.index(k)] for k in range(len(order))])


# -- shapes ----------------------------------------------------------------------------------------


def reshape(writer: Writer, node: Apply) -> Form | None:
    """Return the elements, row by row, in another shape."""
    old, new = writer.shape(node.args[0]), writer.shape(node)
    if old == new and len(new) < 3:
        return writer.reals(node.args[0])
    if len(old) > 2 or len(new) > 2:
        return None
    form = writer.reals(node.args[0])
    if not new:
        return Form(f"{form.inside(ATOM)}[{', '.join('1' for _ in old)}]", "real")
    if not old:
        name = "rep_vector" if len(new) == 1 else "rep_matrix"
        return call(name, form.text, *("1" for _ in new), kind=name[4:])
    if len(new) == 1:
        flat = form.text if 1 in old else transposed(form)
        return call("to_vector", flat, kind="vector")
    sizes = [str(size) for size in writer.sizes(node)]
    if len(old) == 1:
        return call("to_matrix", form.text, *sizes, "0", kind="matrix")
    flat = call("to_vector", transposed(form)).text
    return call("to_matrix", flat, *sizes, "0", kind="matrix")


def reshape_entry(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form | None:
    """Return an element where only axes of length one come and go."""
    source = node.args[0]
    old, new = writer.shape(source), writer.shape(node)
    if [n for n in old if n != 1] != [n for n in new if n != 1]:
        return None
    kept = iter(p for p, n in zip(places, new, strict=True) if n != 1)
    return writer.entry(source, [ONE if n == 1 else next(kept) for n in old])


def reshape_statements(writer: Writer, node: Apply, name: str) -> bool:
    """Fill an array, counting through the elements of another one."""
    source = writer.define(node.args[0])
    old, new = writer.sizes(node.args[0]), writer.sizes(node)
    flat, at = writer.fresh("flat"), writer.fresh("at")
    from_, to = writer.places(len(old)), writer.places(len(new))
    total = prod(writer.shape(node))
    inner = f"{source.text}[{', '.join(map(str, from_))}]"
    outer = f"{name}[{', '.join(map(str, to))}]"
    writer.block.add(
        f"vector[{total}] {flat};",
        f"int {at} = 0;",
        *loops([p.variable for p in from_], old, [f"{at} += 1;", f"{flat}[{at}] = {inner};"]),
        f"{at} = 0;",
        *loops([p.variable for p in to], new, [f"{at} += 1;", f"{outer} = {flat}[{at}];"]),
    )
    return True


def broadcast(writer: Writer, node: Apply) -> Form | None:
    """Return an array repeated along its new axes."""
    shape, sizes = writer.shape(node), writer.sizes(node)
    form = spread(writer, node.args[0], shape, sizes)
    if form is None or form.kind not in NUMBERS or not shape:
        return form
    if len(shape) > 2:
        return None
    name = "rep_vector" if len(shape) == 1 else "rep_matrix"
    return call(name, form.text, *map(str, sizes), kind=name[4:])


def broadcast_entry(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form:
    """Return the element that is repeated."""
    return writer.entry(node.args[0], aligned(writer, node.args[0], places))


# -- other orders, by indices ----------------------------------------------------------------------


def reordered(writer: Writer, node: Apply) -> Apply | None:
    """Return a rearrangement as a subscript with indices that are known; None if it is none."""
    source = node.args[0]
    shape = writer.shape(source)
    positions = np.arange(prod(shape)).reshape(shape)
    options = {
        k: writer.value(v).tolist() if isinstance(v, Expression) else v
        for k, v in node.kwargs.items()
    }
    moved = node.operation.evaluate(positions, **options)
    if len(shape) == 1:
        return as_expression(source)[moved]
    axis = options.get("axis")
    if axis is None or isinstance(axis, tuple):
        return None
    along = node.operation.evaluate(np.arange(shape[axis]), **{**options, "axis": 0})
    return as_expression(source)[(slice(None),) * (axis % len(shape)) + (along,)]


def difference(node: Apply, rank: int) -> Any:
    """Return differences of neighbours as a difference of two slices."""
    axis = int(node.kwargs.get("axis", -1)) % rank
    before = (slice(None),) * axis
    result = as_expression(node.args[0])
    for _ in range(int(node.kwargs.get("n", 1))):
        result = result[(*before, slice(1, None))] - result[(*before, slice(None, -1))]
    return result


def triangle_entry(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form:
    """Return an element of a triangle, and zero outside it."""
    *_, row, column = places
    sign = "<=" if node.operation.name == "tril" else ">="
    limit = row + int(node.kwargs.get("k", 0))
    value = as_number(writer.entry(node.args[0], places))
    return Form(f"{column} {sign} {limit} ? {value.inside(AND)} : 0.0", "real", CHOICE)


# -- joined arrays ---------------------------------------------------------------------------------


def _joined(node: Apply) -> list[Expression]:
    arrays = node.args[0]
    if isinstance(arrays, Expression):
        raise TypeError("arrays that are joined come as a list")
    if node.kwargs.get("axis", 0) is None:
        raise NoSpellingError("np.concatenate(..., axis=None)", "Join np.ravel of each.")
    return [as_expression(array) for array in arrays]


def stack(writer: Writer, node: Apply) -> Form | None:
    """Return numbers as a vector, vectors as the rows or the columns of a matrix."""
    arrays = _joined(node)
    rank = len(writer.shape(arrays[0]))
    if rank == 0:
        return Form(f"[{', '.join(writer.scalar(a) for a in arrays)}]'", "vector")
    if rank > 1:
        return None
    columns = int(node.kwargs.get("axis", 0)) in (1, -1)
    rows = ", ".join(transposed(writer.reals(a)) for a in arrays)
    return Form(f"[{rows}]'" if columns else f"[{rows}]", "matrix")


def concatenate(writer: Writer, node: Apply) -> Form | None:
    """Return vectors or matrices one after another."""
    arrays = _joined(node)
    shapes = [writer.shape(a) for a in arrays]
    rank = len(writer.shape(node))
    if rank > 2:
        return None
    if not any(shapes):
        return Form(f"[{', '.join(writer.scalar(a) for a in arrays)}]'", "vector")
    axis = int(node.kwargs.get("axis", 0)) % rank
    kind = "vector" if rank == 1 else "matrix"
    forms = [writer.reals(array) for array in arrays]
    if len(forms) > 1 and not any(shapes[-2:]):
        last = Form(f"[{forms[-2].text}, {forms[-1].text}]'", kind)
        forms = [*forms[:-2], last]
    result = forms[-1]
    for form in reversed(forms[:-1]):
        result = call(
            "append_row" if axis == 0 else "append_col", form.text, result.text, kind=kind
        )
    return result


def join_statements(writer: Writer, node: Apply, name: str) -> bool:
    """Fill an array part by part."""
    arrays, rank = _joined(node), len(writer.shape(node))
    stacked = node.operation.name == "stack"
    axis = int(node.kwargs.get("axis", 0)) % rank
    before = count()
    start = next(before)
    for array in arrays:
        sizes = writer.sizes(array)
        places: list[Place] = list(writer.places(len(sizes)))
        entry = writer.entry(array, places)
        variables = [p.variable for p in places]
        if stacked:
            places.insert(axis, Place("", start + 1))
            start += 1
        else:
            places[axis] = places[axis] + start
            start += writer.shape(array)[axis]
        target = f"{name}[{', '.join(map(str, places))}]"
        writer.block.add(*loops(variables, sizes, [f"{target} = {entry.text};"]))
    return True
