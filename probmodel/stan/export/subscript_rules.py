"""Subscripts: indices count from 1 in Stan, and slices include their end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from probmodel.expressions import Apply, Expression
from probmodel.model.declarations import Data
from probmodel.stan.export.code_forms import ATOM, Form, Place, call, transposed, trimmed
from probmodel.stan.export.code_writer import Writer, element
from probmodel.types import Array


class Single(NamedTuple):
    """A whole number, from 1: it takes an axis away."""

    place: Place


class Range(NamedTuple):
    """A slice with steps of one, from 1, with both its ends."""

    start: Place
    stop: Place
    is_all: bool


class New(NamedTuple):
    """A new axis of length one."""


class Codes(NamedTuple):
    """An array of whole numbers, from 1; ``steps`` says whether it stands for a slice."""

    form: Form
    rank: int
    steps: bool = False


Part = Single | Range | New | Codes


def parts_of(writer: Writer, node: Apply) -> list[Part]:
    """Return the parts of a subscript, one for each axis of what is indexed, and new axes."""
    given = node.args[1] if isinstance(node.args[1], tuple) else (node.args[1],)
    source = node.args[0]
    shape, sizes = writer.shape(source), writer.sizes(source)
    masks = [_mask_rank(writer, part) for part in given]
    used = sum(
        rank or (part is not None and part is not Ellipsis)
        for part, rank in zip(given, masks, strict=True)
    )
    found: list[Part] = []
    axis = 0
    for part, rank in zip(given, masks, strict=True):
        if part is Ellipsis:
            for _ in range(len(shape) - used):
                found.append(Range(Place("", 1), sizes[axis], True))
                axis += 1
        elif part is None:
            found.append(New())
        elif rank:
            found += [_codes(writer, None, c) for c in np.nonzero(_value(writer, part))]
            axis += rank
        else:
            found.append(_part(writer, part, shape[axis], sizes[axis]))
            axis += 1
    found += [Range(Place("", 1), size, True) for size in sizes[axis:]]
    return found


def _value(writer: Writer, part: Any) -> Array:
    return np.asarray(writer.value(part) if isinstance(part, Expression) else part)


def _mask_rank(writer: Writer, part: Any) -> int:
    """Return how many axes a mask takes; 0 for anything else."""
    if part is None or part is Ellipsis or isinstance(part, slice):
        return 0
    value = _value(writer, part)
    return value.ndim if value.dtype.kind == "b" else 0


def _part(writer: Writer, part: Any, size: int, place: Place) -> Part:
    if isinstance(part, slice):
        ends = [None if e is None else int(_value(writer, e)) for e in _ends(part)]
        known = slice(*ends)
        start, stop, step = known.indices(size)
        if step != 1 or stop <= start:
            return _codes(writer, None, np.arange(start, stop, step))._replace(steps=True)
        first = (
            Place("", start + 1) if ends[0] is None or ends[0] >= 0 else place + (start + 1 - size)
        )
        literal = ends[1] is not None and 0 <= ends[1] < size
        last = Place("", stop) if literal else place + (stop - size)
        return Range(first, last, start == 0 and stop == size)
    value = _value(writer, part)
    if not value.ndim:
        k = int(value)
        if isinstance(part, Data) and k >= 0:
            return Single(Place(str(writer.whole(part).text), not _shifted(writer, part)))
        return Single(Place("", k + 1) if k >= 0 else place + (k + 1))
    return _codes(writer, part, value)


def _ends(part: slice) -> tuple[Any, Any, Any]:
    return part.start, part.stop, part.step


def _shifted(writer: Writer, part: Data) -> bool:
    return str(part.name) in writer.shared.from_one


def _codes(writer: Writer, part: Any, value: Array) -> Codes:
    """Return indices as data: those of the model if they count from 1, else new ones."""
    if isinstance(part, Data) and _shifted(writer, part):
        return Codes(writer.whole(part), value.ndim)
    source = part if isinstance(part, Expression) else None
    form = writer.shared.given(source, value.astype(np.int64) + 1, "index", "counts from 1")
    return Codes(form, value.ndim)


# -- as a whole ------------------------------------------------------------------------------------


def whole(writer: Writer, node: Apply) -> Form | None:
    """Return a subscript in brackets, where the result is what Stan makes of it."""
    parts = parts_of(writer, node)
    source = node.args[0]
    rank = len(writer.shape(source))
    kept = [part for part in parts if not isinstance(part, New)]
    if len(kept) < len(parts):
        return _new_axis(writer, node, parts)
    if rank > 2 or sum(map(_is_array, parts)) > 1:
        return None
    if any(isinstance(part, Codes) and part.rank != 1 for part in parts):
        return None
    form = writer.whole(source)
    if form.kind == "row_vector" and rank == 1:
        return _of_row(form, parts[0])
    if form.kind == "vectors" and not _keeps_kind(parts):
        form = writer.reals(source)
    if all(isinstance(part, Range) and part.is_all for part in parts):
        return form
    index = ", ".join(_text(part) for part in parts)
    text = f"{form.inside(ATOM)}[{trimmed(index)}]"
    if rank == 1 or form.kind == "ints":
        return Form(text, form.kind)
    if isinstance(parts[0], Single):
        return Form(text, "vector") if form.kind == "vectors" else Form(f"{text}'", "vector")
    return Form(text, "vector" if isinstance(parts[1], Single) else form.kind)


def _is_array(part: Part) -> bool:
    """Whether a part is an array of indices, which is paired with others."""
    return isinstance(part, Codes) and not part.steps


def _of_row(form: Form, part: Part) -> Form:
    """Return a part of a row of a matrix."""
    if isinstance(part, Range) and part.is_all:
        return form
    return Form(element(form, [Place(_text(part))]).text, form.kind)


def _keeps_kind(parts: Sequence[Part]) -> bool:
    """Whether a subscript of an array of vectors is a vector or such an array again."""
    return isinstance(parts[0], Single) or (isinstance(parts[1], Range) and parts[1].is_all)


def _text(part: Part) -> str:
    if isinstance(part, Single):
        return str(part.place)
    if isinstance(part, Codes):
        return part.form.text
    assert isinstance(part, Range)
    return "" if part.is_all else f"{part.start}:{part.stop}"


def _new_axis(writer: Writer, node: Apply, parts: Sequence[Part]) -> Form | None:
    """Return a vector as a matrix of one column or one row."""
    source = node.args[0]
    plain = all(isinstance(p, New) or (isinstance(p, Range) and p.is_all) for p in parts)
    if not plain or len(parts) != 2:
        if len(writer.shape(node)) == 1 and not writer.shape(source):
            return Form(f"[{writer.scalar(source)}]'", "vector")
        return None
    form = writer.reals(source)
    if isinstance(parts[1], New):
        return call("to_matrix", form.text, *map(str, writer.sizes(node)), kind="matrix")
    return Form(f"[{transposed(form)}]", "matrix")


def as_column(writer: Writer, node: Any) -> Any:
    """Return what an expression is a column of, as in ``x[:, None]``; None if it is not."""
    if not isinstance(node, Apply) or node.operation.name not in ("getitem", "expand_dims"):
        return None
    if len(writer.shape(node)) != 2 or len(writer.shape(node.args[0])) != 1:
        return None
    if node.operation.name == "expand_dims":
        return node.args[0] if node.kwargs.get("axis", 0) in (1, -1) else None
    parts = parts_of(writer, node)
    plain = isinstance(parts[0], Range) and parts[0].is_all and isinstance(parts[1], New)
    return node.args[0] if plain else None


# -- element by element ----------------------------------------------------------------------------


def entry(writer: Writer, node: Apply, places: tuple[Place, ...]) -> Form | None:
    """Return the element of what is indexed that an element of the result is."""
    parts = parts_of(writer, node)
    arrays = [k for k, part in enumerate(parts) if _is_array(part)]
    rank = max((p.rank for p in parts if isinstance(p, Codes) and not p.steps), default=0)
    if arrays and rank > 1 and len(arrays) > 1:
        return None
    advanced = [k for k, p in enumerate(parts) if _is_array(p) or isinstance(p, Single)]
    apart = arrays and advanced != list(range(advanced[0], advanced[-1] + 1))
    pending = list(places)
    codes: tuple[Place, ...] = ()
    if apart:
        codes, pending = tuple(pending[:rank]), pending[rank:]
    inner: list[Place] = []
    for k, part in enumerate(parts):
        if isinstance(part, New):
            pending.pop(0)
        elif isinstance(part, Single):
            inner.append(part.place)
        elif isinstance(part, Range):
            inner.append(pending.pop(0) + (part.start.offset - 1))
            if part.start.variable:
                return None
        elif part.steps:
            inner.append(Place(element(part.form, [pending.pop(0)]).text))
        else:
            if not apart and k == arrays[0]:
                codes, pending = tuple(pending[:rank]), pending[rank:]
            inner.append(Place(element(part.form, codes[rank - part.rank :]).text))
    return writer.entry(node.args[0], inner)
