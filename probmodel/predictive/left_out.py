"""Sums over the elements of parameters some of which a model that predicts leaves out.

A frame that lacks a column of the fit makes a matrix without it, and ``X @ b`` adds up the others,
as if the column were zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from probmodel.expressions import Apply, Expression
from probmodel.model.axes import namer
from probmodel.model.binding import Binding
from probmodel.model.columns import listed
from probmodel.model.declarations import Declaration
from probmodel.predictive.changed_starts import leaves_of, text_of
from probmodel.predictive.fits import FromFit
from probmodel.predictive.matching import find_labels

_PRODUCTS = {"matmul", "dot"}
_OVER_AXES = {"einsum", "tensordot", "inner", "vdot"}  # products summed over axes of any place
_SUMS = {"sum"}


def left_out(
    binding: Binding, old: Binding, nodes: Sequence[Apply], parameters: FromFit
) -> Iterator[str]:
    """Yield a warning for each sum over a dim some of whose elements in the fit are not bound.

    ``old`` is bound to the data of the fit; ``parameters`` are the values from there, after a plan
    has asked for them.
    """
    nodes = [node for node in nodes if node.operation.name in _PRODUCTS | _OVER_AXES | _SUMS]
    if not nodes or not parameters.moved:
        return
    dims_of = namer(binding.declarations, binding.evaluator, binding.dimensions.sizes)
    said = set[str]()
    for node in nodes:
        own = {dim for leaf in leaves_of(node) for dim in _moved_dims(leaf, parameters)}
        for dim in (dim for dim in _summed(node, dims_of) if dim in own - said):
            before, now = (b.dimensions.coords.get(dim) for b in (old, binding))
            if before is None or now is None:
                continue
            lost = before[find_labels(before, now) < 0]
            if len(lost):
                said.add(dim)
                yield (
                    f"predict: {text_of(node)} adds up the elements along {dim!r} that are bound "
                    f"here. Without {listed(lost)}, it is what it would be if these were zero. "
                    "Give new data all columns of the fit."
                )


def _moved_dims(leaf: Declaration, parameters: FromFit) -> tuple[str, ...]:
    return tuple(leaf.dims or ()) if str(leaf.name) in parameters.moved else ()


def _summed(node: Apply, dims_of: Any) -> list[str]:
    """Return the dims along which an operation adds up."""
    if node.operation.name in _PRODUCTS:
        first, second = (dims_of(part) for part in node.args[:2])
        found = [*first[-1:], *second[-2:][:1]]
    elif node.operation.name in _OVER_AXES:
        kept = dims_of(node)
        found = [dim for part in node.args for dim in dims_of(part) if dim not in kept]
    elif isinstance(node.args[0], Expression):
        names, axis = dims_of(node.args[0]), node.kwargs.get("axis")
        axes = range(len(names)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        found = [names[i] for i in axes if -len(names) <= i < len(names)]
    else:
        found = []
    return [dim for dim in found if dim is not None]
