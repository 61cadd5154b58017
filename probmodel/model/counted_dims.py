"""Which data of a model are indices, and which dim they count: seen in the expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from probmodel.expressions import Apply, Expression, topological
from probmodel.model.declarations import Data, Declaration, Observed, Parameter, expressions_of

_ELEMENTWISE = frozenset({
    "add", "subtract", "multiply", "true_divide", "divide", "negative", "power", "exp", "log",
    "sqrt", "square", "abs", "absolute", "tanh", "log1p", "expm1", "expit", "log_expit", "logit",
    "ndtr", "log_ndtr", "logaddexp", "maximum", "minimum", "where", "less", "less_equal",
    "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_not",
})  # fmt: skip


def counted_dims(kind: Any) -> dict[str, str]:
    """Return data that are used as indices, or as groups of sums, with the dim that they count."""
    return counted_in(kind._declarations)


def counted_in(declared: Mapping[str, Declaration]) -> dict[str, str]:
    """Return the same of declarations by name."""
    declarations = declared.values()
    found = dict(_summed(declarations))
    return found | dict(_counted([e for d in declarations for e in expressions_of(d)]))


def indices(kind: Any) -> frozenset[str]:
    """Return data that are used as indices, also of what has no dims."""
    roots = [e for d in kind._declarations.values() for e in expressions_of(d)]
    return frozenset(name for _, _, name in _indexed(roots))


def _counted(roots: Sequence[Expression]) -> Iterator[tuple[str, str]]:
    for target, axis, name in _indexed(roots):
        dims = _dims_of(target) or ()
        if axis < len(dims):
            yield name, dims[axis]


def _indexed(roots: Sequence[Expression]) -> Iterator[tuple[Expression, int, str]]:
    """Yield what is indexed, along which axis, and by which datum."""
    for node in topological(roots):
        if isinstance(node, Apply) and node.operation.name == "getitem":
            target, index = node.args
            for axis, part in enumerate(index if isinstance(index, tuple) else (index,)):
                name = _numbers_of(part)
                if name is not None:
                    yield target, axis, name


def _numbers_of(part: Any) -> str | None:
    """Return the datum whose numbers are an index: ``region`` in ``region[store]``, too."""
    if isinstance(part, Data):
        return part.name
    while isinstance(part, Apply) and part.operation.name == "getitem":
        part = part.args[0]
    return part.name if isinstance(part, Data) and len(part.dims or ()) == 1 else None


def _summed(declarations: Iterable[Declaration]) -> Iterator[tuple[str, str]]:
    """Yield the groups of `segment_sum`, with the dim of what the sums are combined with."""
    groups: dict[int, frozenset[str]] = {}
    dims: dict[int, tuple[str, ...]] = {}
    for node in topological([e for d in declarations for e in expressions_of(d)]):
        if isinstance(node, Declaration) and not getattr(node, "declared_shape", None):
            dims[id(node)] = tuple(node.dims or ())
        elif isinstance(node, Apply) and node.operation.name == "segment_sum":
            by = node.args[1]
            groups[id(node)] = frozenset({by.name} if isinstance(by, Data) and by.name else ())
        elif isinstance(node, Apply) and node.operation.name in _ELEMENTWISE:
            found = frozenset().union(*(groups.get(id(part), ()) for part in node.args))
            known = {own for part in node.args if (own := dims.get(id(part)))}
            groups[id(node)], dims[id(node)] = found, known.pop() if len(known) == 1 else ()
            yield from _pairs(found, dims[id(node)])
    for declaration in declarations:
        if isinstance(declaration, Parameter | Observed):
            for part in expressions_of(declaration):
                yield from _pairs(groups.get(id(part), ()), tuple(declaration.dims or ()))


def _pairs(groups: Iterable[str], dims: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if len(dims) == 1:
        yield from ((name, dims[0]) for name in groups)


def _dims_of(target: Any) -> tuple[str, ...] | None:
    """Return the dims of a declaration, or of what is computed of some element by element.

    None where that cannot be told.
    """
    if isinstance(target, Declaration):
        return None if getattr(target, "declared_shape", None) else tuple(target.dims or ())
    if isinstance(target, Apply) and target.operation.name == "getitem":
        return _dims_of_picked(*target.args)
    if not isinstance(target, Apply) or target.operation.name not in _ELEMENTWISE:
        return None
    parts = [_dims_of(part) for part in target.args if isinstance(part, Expression)]
    known = {dims for dims in parts if dims}
    if None in parts or len(known) > 1:
        return None
    return known.pop() if known else ()


def _dims_of_picked(target: Any, index: Any) -> tuple[str, ...] | None:
    """Return the dims of picked elements: those of the index, and of the axes that are left."""
    dims, picked = _dims_of(target), _dims_of(index)
    return picked + dims[1:] if dims and picked else None
