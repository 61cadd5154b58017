"""The common operations of a program as Python source, cheaper than a call of their function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import autograd.numpy as anp

from probmodel.density import primitives as own

Texts = Sequence[str]

_OPERATORS: dict[Any, str] = {
    anp.add: "{0} + {1}",
    anp.subtract: "{0} - {1}",
    anp.multiply: "{0} * {1}",
    anp.divide: "{0} / {1}",
    anp.negative: "-{0}",
    own.linear_map: "{0} @ {1}",
    own.gather: "{1}.gather({0})",
}


def operation_source(
    function: Any, args: Sequence[Any], texts: Texts, kwargs: Mapping[str, Any]
) -> str | None:
    """Return an operation as source, or None if its function has to be called.

    Parameters
    ----------
    function : the primitive
    args : its arguments: None for those that vary, and constants
    texts : the same as source
    kwargs : options of the call
    """
    if kwargs:
        name = _ALONG_AXES.get(function)
        options = ", ".join(f"{key}={value!r}" for key, value in kwargs.items())
        return None if name is None else f"{name}({texts[0]}, {options})"
    if function in _OPERATORS:
        return _OPERATORS[function].format(*texts)
    make = _SOURCES.get(function)
    return None if make is None else make(args, texts)


_ALONG_AXES: dict[Any, str] = {anp.sum: "add_reduce", anp.cumsum: "add_accumulate"}


def index_source(entries: Sequence[Any]) -> str | None:
    """Return a basic index as source, ``[:, 0]``; None if something else is in it."""
    texts = [_entry(entry) for entry in entries]
    return None if None in texts else f"[{', '.join(str(t) for t in texts)}]"


def _entry(entry: Any) -> str | None:
    if entry is None:
        return "None"
    if entry is Ellipsis:
        return "..."
    if isinstance(entry, slice):
        bounds = (entry.start, entry.stop, entry.step)
        start, stop, step = ("" if b is None else str(int(b)) for b in bounds)
        return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
    try:
        return str(entry.__index__())
    except (AttributeError, TypeError):
        return None


def _indexed(args: Sequence[Any], texts: Texts) -> str | None:
    place = index_source(args[1])
    return None if place is None else texts[0] + place


def _reshaped(args: Sequence[Any], texts: Texts) -> str:
    sizes = "".join(f", {n}" for n in args[1])
    return f"{texts[0]}.reshape((len({texts[0]}),{sizes[1:]}))"


_SOURCES: dict[Any, Callable[[Sequence[Any], Texts], str | None]] = {
    own.basic_index: _indexed,
    own.insert_axes: lambda args, texts: f"{texts[0]}[:{', None' * args[1]}]",
    own.reshape_rows: _reshaped,
    anp.transpose: lambda args, texts: f"{texts[0]}.transpose({tuple(args[1])})",
    anp.concatenate_args: lambda args, texts: f"concatenate(({', '.join(texts[1:])},), {args[0]})",
}
