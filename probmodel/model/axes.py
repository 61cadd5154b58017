"""Named axes through the expressions of a bound model.

Dims of equal size that stand for different things must not meet element by element: NumPy would
pair their elements by position, and nobody would notice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.errors import Location, ShapeError
from probmodel.expressions import Apply, Closure, Expression, map_leaves, topological
from probmodel.model.axis_rules import MASK, Axis, Call, Names, Operand, index_names, result_names
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    Potential,
)
from probmodel.model.evaluation import Evaluator

# Parameters that hold one number for each element of a value with an event axis.
_ALONG_EVENT = frozenset({"loc", "mean", "concentration", "p", "logits"})


def check_axes(
    declarations: Mapping[str, Declaration], evaluator: Evaluator, sizes: Mapping[str, int]
) -> dict[str, tuple[str | None, ...]]:
    """Return the dim along each axis of each declaration, as far as it is known.

    Those without dims of their own have the dims of what they are made of, potentials those of the
    elements that they add up.

    Axes of length one and axes without a name fit everything. So do those with a dim that is
    declared only beside another dim of the same size, which is a second name for it: that of the
    other axis of a square matrix. A deterministic quantity takes the dims that it is declared with.
    Raises a `ShapeError` where axes with different dims meet element by element.
    """
    walk = _Walk(evaluator, _second_names(declarations.values(), sizes))
    names = {name: walk.declare(declaration) for name, declaration in declarations.items()}
    return {name: _dims(found) for name, found in names.items()}


def differing_dims(
    node: Apply, declarations: Iterable[Declaration], evaluator: Evaluator, sizes: Mapping[str, int]
) -> ShapeError | None:
    """Return the error that names the dims which meet in an operation that cannot be evaluated.

    The declarations are those before it; ``evaluator`` and ``sizes`` are of what is known so far.
    """
    if not node.operation.elementwise:
        return None
    declarations = list(declarations)
    walk = _Walk(evaluator, _second_names(declarations, sizes))
    try:
        for declaration in declarations:
            walk.declare(declaration)
        walk.meet(node)
    except ShapeError as error:
        return error
    return None


def namer(
    declarations: Mapping[str, Declaration], evaluator: Evaluator, sizes: Mapping[str, int]
) -> Callable[[Any], tuple[str | None, ...]]:
    """Return a function that gives the dims along the axes of an expression, as `check_axes`."""
    walk = _Walk(evaluator, _second_names(declarations.values(), sizes))
    for declaration in declarations.values():
        walk.declare(declaration)
    return lambda value: _dims(walk.operand(value).names)


def _dims(names: Names) -> tuple[str | None, ...]:
    """Return the dims of axes; none of those that have a second name."""
    return tuple(None if axis is None or axis.second else axis.dim for axis in names)


def _second_names(declarations: Iterable[Declaration], sizes: Mapping[str, int]) -> set[str]:
    """Dims that never occur but beside another one of the same size."""
    beside: dict[str, bool] = {}
    for declaration in declarations:
        dims = declaration.dims or ()
        for dim in dims:
            has_twin = any(d != dim and sizes.get(d) == sizes.get(dim) for d in dims)
            beside[dim] = beside.get(dim, True) and has_twin
    return {dim for dim, always in beside.items() if always}


class _Walk:
    """Goes through the declarations in order and names the axes of every expression."""

    def __init__(self, evaluator: Evaluator, second_names: set[str]) -> None:
        self._evaluator = evaluator
        self._second_names = second_names
        self._names: dict[int, Names] = {}

    def declare(self, declaration: Declaration) -> Names:
        """Name the axes of a declaration and check what it is made of."""
        if isinstance(declaration, Potential):
            return self._known(declaration, self.operand(declaration.elements).names)
        if isinstance(declaration, Deterministic):
            names = self.operand(declaration.expression).names
            return self._known(declaration, self._declared(declaration) or names)
        shape = self._evaluator.shape(declaration)
        own = Operand(self._declared(declaration) or (None,) * len(shape), shape)
        if isinstance(declaration, Observed):
            own = self._distributed(declaration, declaration.distribution, own)
        elif isinstance(declaration, Parameter):
            if declaration.prior is not None:
                own = self._distributed(declaration, declaration.prior, own)
            parts = [*declaration.bounds.items(), ("information", declaration.information)]
            if declaration.constraint is not None:
                parts += [("constraint", bound) for bound in declaration.constraint.bounds]
            self._fit_all(declaration, parts, own)
        elif isinstance(declaration, Data):
            self._fit_all(
                declaration, [("lower", declaration.lower), ("upper", declaration.upper)], own
            )
        return self._known(declaration, own.names)

    def meet(self, node: Apply) -> Names:
        """Return the names of what the operands of an elementwise operation broadcast to."""
        return self._meet(node, node.location, [self.operand(arg) for arg in node.args])

    def _known(self, declaration: Declaration, names: Names) -> Names:
        self._names[id(declaration)] = names
        return names

    def _declared(self, declaration: Declaration) -> Names:
        return tuple(
            Axis(dim, declaration, dim in self._second_names) for dim in declaration.dims or ()
        )

    def operand(self, value: Any) -> Operand:
        """Names and sizes of the axes of an argument."""
        if not isinstance(value, Expression):
            shape = np.shape(map_leaves(value, self._evaluator.value))
            return Operand((None,) * len(shape), shape)
        if id(value) not in self._names:
            for node in topological([value], done=set(self._names)):
                self._names[id(node)] = self._node_names(node)
        return Operand(self._names[id(value)], self._evaluator.shape(value))

    def _node_names(self, node: Expression) -> Names:
        ndim = len(self._evaluator.shape(node))
        names = self._result_names(node, ndim) if isinstance(node, Apply) else ()
        return names if len(names) == ndim else (None,) * ndim

    def _result_names(self, node: Apply, ndim: int) -> Names:
        """Names of the axes of a result, or nothing where they are not known."""
        other = self._evaluator.written_out(node)
        if other is not None:
            return self.operand(other).names
        name, args = node.operation.name, node.args
        meet = partial(self._meet, node, node.location)
        if name == "getitem":
            index = args[1] if isinstance(args[1], tuple) else (args[1],)
            return index_names(self.operand(args[0]), tuple(map(self._index, index)), meet)
        if name in ("concatenate", "stack"):
            if isinstance(args[0], Expression):
                return ()
            args = tuple(args[0])
        if any(isinstance(v, Closure) for v in node.kwargs.values()):
            return ()
        options = {k: map_leaves(v, self._option) for k, v in node.kwargs.items()}
        return result_names(name, Call([*map(self.operand, args)], options, ndim, meet))

    def _index(self, part: Any) -> Any:
        """Return one part of an index: an array as an operand, anything else as it is."""
        if part is None or part is Ellipsis or isinstance(part, slice):
            return part
        values = np.asarray(map_leaves(part, self._evaluator.value))
        return MASK if values.dtype.kind == "b" else self.operand(part)

    def _option(self, leaf: Expression) -> Any:
        return self._evaluator.value(leaf).tolist()

    def _distributed(
        self, declaration: Declaration, distribution: Distribution, own: Operand
    ) -> Operand:
        """Check the parameters of a distribution; returns its value with the names they bring."""
        for (name, spec), arg in zip(
            distribution.parameters.items(), distribution.args.values(), strict=True
        ):
            given = self.operand(arg)
            start = max(len(given.shape) - spec.event_ndim, 0)
            what = f"{declaration.title}, the {name} of its {distribution.name}"
            meet = partial(self._meet, what, declaration.location, tables=Declaration)
            if spec.event_ndim == distribution.event_ndim == 1 and (
                name.rpartition(".")[2] in _ALONG_EVENT
            ):
                own = Operand(meet([own, given]), own.shape)
            else:
                batch = len(own.shape) - distribution.event_ndim
                names = meet([own.part(slice(batch)), given.part(slice(start))])
                own = Operand((*names, *own.names[batch:]), own.shape)
        return own

    def _fit_all(
        self, declaration: Declaration, parts: Iterable[tuple[str, Any]], own: Operand
    ) -> None:
        """Check bounds and the like against the quantity that they belong to."""
        for name, part in parts:
            if part is not None:
                what = f"{declaration.title}, its {name}"
                self._meet(what, declaration.location, [own, self.operand(part)])

    def _meet(
        self,
        what: Any,
        location: Location | None,
        operands: Sequence[Operand],
        tables: Any = Data | Observed,
    ) -> Names:
        """Return the names of what arrays broadcast to, aligned at their last axes.

        ``tables`` are the kinds of declarations whose second names stand for columns that rows
        must not meet; those of parameters, such as correlations, stand for the rows again.
        """
        ndim = max(len(o.shape) for o in operands)
        found: list[Axis | None] = [None] * ndim
        second: list[Axis | None] = [None] * ndim
        lengths = [1] * ndim
        for operand in operands:
            for i, axis, size in _aligned(operand, ndim):
                if axis.second:
                    second[i] = axis
                    continue
                if found[i] is None:
                    found[i], lengths[i] = axis, size
                first = found[i] or axis
                if first.dim != axis.dim:
                    raise _conflict(what, location, (first, axis), (lengths[i], size))
        for operand in operands:
            lacking = ndim - len(operand.shape)
            for i, axis, size in _aligned(operand, ndim):
                column = second[i]
                if column is None or axis.second or not isinstance(column.declaration, tables):
                    continue
                if any(row is not None and row.dim == axis.dim for row in found[:lacking]):
                    raise _conflict(what, location, (column, axis), (size, size))
        return tuple(name or other for name, other in zip(found, second, strict=True))


def _aligned(operand: Operand, ndim: int) -> Iterator[tuple[int, Axis, int]]:
    """Yield the axes of an operand that have a name and elements, with their places."""
    lacking = ndim - len(operand.shape)
    for i, (axis, size) in enumerate(zip(operand.names, operand.shape, strict=True), lacking):
        if axis is not None and size > 1:
            yield i, axis, size


def _conflict(
    what: Any, location: Location | None, axes: tuple[Axis, Axis], sizes: tuple[int, int]
) -> ShapeError:
    place = what if isinstance(what, str) else repr(what)
    one, other = (f"{a.dim!r} of {a.declaration.title} ({a.declaration.location})" for a in axes)
    first, second = sizes
    trouble = (
        f"Both happen to have {first} elements, which would be paired by their position"
        if first == second
        else f"They have {first} and {second} elements, which cannot be paired"
    )
    return ShapeError(
        f"{place}: the dim {one} meets the dim {other}. {trouble}. If they are the same "
        "things, declare both with one dim; if each element of one belongs to one of the other, "
        "index by codes, as in a[code]; for all pairs, put an axis in between, as in "
        f"a[:, None] + b. {_other_ways(axes)}",
        location=location,
        dims=tuple(axis.dim for axis in axes),
        sizes=sizes,
    )


def _other_ways(axes: tuple[Axis, Axis]) -> str:
    met, axis = axes
    if not met.second:
        return "deterministic(x, dims=...) gives an axis another name."
    return (
        f"In {met.declaration.name} a row has the dim {axis.dim!r}, and a column {met.dim!r}: "
        "a[:, None] is one number for each row, a[None, :] one for each column."
    )
