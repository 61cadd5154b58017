"""Which axes of an operation's operands become which axes of its result.

An axis that is left out of a rule has no name, and what has no name fits everything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from probmodel.expressions import OPERATIONS
from probmodel.model.declarations import Declaration


class Axis(NamedTuple):
    """The name of an axis, and the declaration that it comes from.

    Attributes
    ----------
    dim : the name
    declaration : where it comes from
    second : whether it is a second name of another axis there, which fits every axis
    """

    dim: str
    declaration: Declaration
    second: bool = False


Names = tuple[Axis | None, ...]


class Operand(NamedTuple):
    """An array as the rules see it: one name, or None, for each of its axes."""

    names: Names
    shape: tuple[int, ...]

    def part(self, axes: slice) -> Operand:
        """Return some of its axes."""
        return Operand(self.names[axes], self.shape[axes])


Meet = Callable[[Sequence[Operand]], Names]

MASK = object()  # stands for an array of Booleans in an index


@dataclass(frozen=True)
class Call:
    """One call of an operation.

    Attributes
    ----------
    operands : the arrays that it is given
    options : its other arguments
    ndim : axes of the result
    meet : returns the names of arrays that broadcast; raises a `ShapeError` where two names differ
    """

    operands: list[Operand]
    options: Mapping[str, Any]
    ndim: int
    meet: Meet

    @property
    def names(self) -> Names:
        """Names of the first operand."""
        return self.operands[0].names


def _reduced(call: Call) -> Names:
    names, axis = call.names, call.options.get("axis")
    if axis is None:
        return (None,) * call.ndim
    dropped = {a % len(names) for a in (axis if isinstance(axis, tuple) else (axis,))}
    if call.options.get("keepdims"):
        return _without(names, dropped)
    return tuple(name for i, name in enumerate(names) if i not in dropped)


def _without(names: Names, axes: set[int]) -> Names:
    """Forget the names of some axes."""
    return tuple(None if i in axes else name for i, name in enumerate(names))


def _changed_along(axis: Any) -> Callable[[Call], Names]:
    """Return the rule of an operation that moves or removes elements along an axis."""

    def rule(call: Call) -> Names:
        along = call.options.get("axis", axis)
        if along is None:
            return (None,) * call.ndim
        axes = along if isinstance(along, tuple) else (along,)
        return _without(call.names, {a % len(call.names) for a in axes})

    return rule


def _cumulative(call: Call) -> Names:
    flat = call.options.get("axis") is None and len(call.names) > 1
    return (None,) if flat else call.names


def _product(call: Call) -> Names:
    a, b = call.operands
    if not a.shape or not b.shape:
        return call.meet([a, b])
    row = max(len(b.shape) - 2, 0)
    call.meet([a.part(slice(-1, None)), b.part(slice(row, row + 1))])
    batch = call.meet([a.part(slice(-2)), b.part(slice(-2))])
    return (*batch, *a.names[-2:-1], *(b.names[-1:] if len(b.shape) > 1 else ()))


def _dot(call: Call) -> Names:
    return _product(call) if max(len(o.shape) for o in call.operands) <= 2 else ()


def _outer(call: Call) -> Names:
    return tuple(o.names[0] if len(o.shape) == 1 else None for o in call.operands)


def _diagonal(call: Call) -> Names:
    return call.names * 2 if len(call.names) == 1 else call.names[:1]


def _transposed(call: Call) -> Names:
    axes = call.options.get("axes")
    return call.names[::-1] if axes is None else tuple(call.names[a] for a in axes)


def _swapped(call: Call) -> Names:
    names = list(call.names)
    first, second = call.options["axis1"], call.options["axis2"]
    names[first], names[second] = names[second], names[first]
    return tuple(names)


def _raveled(call: Call) -> Names:
    return call.names if len(call.names) == 1 else (None,)


def _expanded(call: Call) -> Names:
    axis = call.options.get("axis", 0)
    new = {a % call.ndim for a in (axis if isinstance(axis, tuple) else (axis,))}
    rest = iter(call.names)
    return tuple(None if i in new else next(rest) for i in range(call.ndim))


def _squeezed(call: Call) -> Names:
    operand = call.operands[0]
    axis = call.options.get("axis")
    given = range(len(operand.shape)) if axis is None else np.atleast_1d(axis)
    gone = {int(a) % len(operand.shape) for a in given}
    kept = [i for i, n in enumerate(operand.shape) if n != 1 or i not in gone]
    return tuple(operand.names[i] for i in kept)


def _broadcast(call: Call) -> Names:
    return (None,) * (call.ndim - len(call.names)) + call.names


def _joined(call: Call) -> Names:
    axis = call.options.get("axis", 0)
    if axis is None:
        return (None,)
    axis %= call.ndim
    # Along the joined axis there is nothing to compare; a number is an axis of length one.
    parts = [o for o in call.operands if o.shape]
    if not parts:
        return (None,)
    return call.meet([Operand(_without(o.names, {axis}), _one_along(o.shape, axis)) for o in parts])


def _one_along(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], 1, *shape[axis + 1 :])


def _stacked(call: Call) -> Names:
    names = list(call.meet(call.operands))
    names.insert(call.options.get("axis", 0) % call.ndim, None)
    return tuple(names)


def _segments(call: Call) -> Names:
    x, groups = call.operands
    call.meet([x.part(slice(1)), groups])
    return (None, *x.names[1:])


def _everything(call: Call) -> Names:
    return call.meet(call.operands)


def _called(call: Call) -> Names:
    """Meet the batch axes of what a method of a distribution is given; others have no rule."""
    if not hasattr(call.options["function"], "distribution"):
        return ()
    given = zip(call.operands, call.options["event_ndims"], strict=True)
    return call.meet([o.part(slice(max(len(o.shape) - e, 0))) for o, e in given])


_RULES: dict[str, Callable[[Call], Names]] = {
    **{name: _everything for name, op in OPERATIONS.items() if op.elementwise},
    **dict.fromkeys(("sum", "mean", "prod", "max", "min", "var", "std", "logsumexp"), _reduced),
    **dict.fromkeys(("softmax", "log_softmax", "round"), lambda call: call.names),
    **dict.fromkeys(("flip", "roll", "repeat"), _changed_along(None)),
    **dict.fromkeys(("tril", "triu"), lambda call: call.names),
    "diff": _changed_along(-1),
    **dict.fromkeys(("cumsum", "cumprod"), _cumulative),
    "segment_sum": _segments,
    "matmul": _product,
    "dot": _dot,
    "outer": _outer,
    "diag": _diagonal,
    "transpose": _transposed,
    "swapaxes": _swapped,
    "ravel": _raveled,
    "expand_dims": _expanded,
    "squeeze": _squeezed,
    "broadcast_to": _broadcast,
    "pad_axes": _broadcast,
    "concatenate": _joined,
    "stack": _stacked,
    "linear_recurrence": _everything,
    "call": _called,
}


def result_names(operation: str, call: Call) -> Names:
    """Return the names of the axes of a result; none where there is no rule."""
    rule = _RULES.get(operation)
    return rule(call) if rule is not None else ()


def index_names(operand: Operand, index: tuple[Any, ...], meet: Meet) -> Names:
    """Return the names of the axes of ``operand[index]``, whose arrays are operands themselves.

    A slice of everything keeps the name, and an array of integers brings its own. With a mask
    there are none.
    """
    used = sum(not (i is None or i is Ellipsis) for i in index)
    if any(i is MASK for i in index):
        return ()
    if not any(i is Ellipsis for i in index):
        index = (*index, Ellipsis)
    names = iter(operand.names)
    parts: list[Names] = []
    arrays: list[tuple[int, Operand]] = []
    for i in index:
        if i is None:
            parts.append((None,))
        elif i is Ellipsis:
            parts.append(tuple(next(names) for _ in range(len(operand.shape) - used)))
        elif isinstance(i, slice):
            name = next(names)
            parts.append((name if all(p is None for p in (i.start, i.stop, i.step)) else None,))
        else:
            next(names)
            arrays.append((len(parts), i))
            parts.append(())
    if any(o.shape for _, o in arrays):
        return _with_arrays(parts, arrays, meet)
    return tuple(name for part in parts for name in part)


def _with_arrays(parts: list[Names], arrays: list[tuple[int, Operand]], meet: Meet) -> Names:
    """Put the axes that arrays bring where NumPy does: first, unless the arrays are neighbours."""
    brought = meet([operand for _, operand in arrays])
    places = [place for place, _ in arrays]
    together = places[-1] - places[0] == len(places) - 1
    if not together:
        return (*brought, *(name for part in parts for name in part))
    parts = [*parts]
    parts[places[0]] = brought
    return tuple(name for part in parts for name in part)
