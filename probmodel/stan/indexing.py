"""Elements of arrays by Stan's indices: which they are, and how they are changed.

Indices count from 1. Several of them choose a block, each along an axis of its own. An index that
differs between lanes chooses elements lane by lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from probmodel.stan.stan_values import RANKS, Value, kind_of
from probmodel.stan.traced_graph import Graph
from probmodel.types import Array


class OperationError(Exception):
    """What is wrong with an operation; whoever knows the place in the program says where."""


class MisfitError(OperationError):
    """What is wrong whatever the numbers are: a type, or how many arguments there are."""


class SizeError(OperationError):
    """Sizes do not go together, or there is no such element: wrong unless draws decide these."""


class LanesDifferError(Exception):
    """Lanes would take different ways, so that they cannot be run side by side.

    Parameters
    ----------
    lanes : (lanes,), numbers that are the same in lanes that take the same way, if that is known
    """

    def __init__(self, lanes: Array | None = None) -> None:
        super().__init__()
        self.lanes = lanes


class Between:
    """An index ``lower:upper``; None stands for either end."""

    def __init__(self, lower: Value | None, upper: Value | None) -> None:
        self.lower, self.upper = lower, upper


Indices = Sequence[Value | Between]


def select(value: Value, indices: Indices) -> Value:
    """Return the elements of a value that some indices choose."""
    kind = _kind(value, indices)
    if not any(isinstance(i, Value) and i.laned for i in indices):
        chosen = _along_axes(value.array, _plain(value, indices), value.laned)
        kind = kind_of(kind, chosen)
        source = value.source
        if source is not None:
            where = _along_axes(source[1], _plain(value, indices), value.laned)
            return Value(kind, chosen, value.traced, value.laned, (source[0], where))
        return Value(kind, chosen, value.traced, value.laned)
    where = _positions(value, indices)
    taken = _taken(value.array, where, value.laned)
    found = Value(kind_of(kind, taken), taken, value.traced, True)
    if value.source is not None:
        found.source = value.source[0], _taken(value.source[1], where, value.laned)
    return found


def known_parts(value: Value, graph: Graph) -> Value:
    """Return a value as known, where all of its elements are constants of the graph."""
    if not value.traced or np.size(value.array) == 0 or np.max(value.array) >= 0:
        return value
    if np.any(value.array == graph.missing):
        return value
    numbers = graph.numbers(value.array)
    if value.kind == "int":
        numbers = numbers.astype(np.int64)
    return Value(value.kind, numbers[()], laned=value.laned)


def changed(value: Value, indices: Indices, new: Value, graph: Graph) -> Value:
    """Return a value whose chosen elements are others: the same one, unless it may not change."""
    if not indices:
        return new
    _check_fits(value, indices, new)
    in_a_row = np.asarray(value.array).flags.c_contiguous  # as flat positions need it
    if value.shared or not in_a_row:
        value = Value(value.kind, np.array(value.array, order="C"), value.traced, value.laned)
    if new.traced and not value.traced:
        value = Value(value.kind, graph.constants(np.asarray(value.array)), True, value.laned)
    elements = graph.elements(new) if value.traced else new.array
    by_lane = any(isinstance(i, Value) and i.laned for i in indices)
    if not by_lane and new.laned and not value.laned:
        lanes = np.shape(new.array)[0]
        value = Value(value.kind, np.repeat(value.array[None], lanes, 0), value.traced, True)
    if by_lane:
        where = _positions(value, indices)
        flat = value.array.reshape(-1)
        if value.laned:
            where = where + np.arange(len(where)).reshape(-1, *(1,) * (where.ndim - 1)) * prod(
                value.shape
            )
        flat[where] = elements
        return value
    _set_along_axes(value.array, _plain(value, indices), elements, value.laned)
    return value


def _kind(value: Value, indices: Indices) -> str:
    """Return the kind of what indices choose."""
    if len(indices) > value.rank:
        raise MisfitError(
            f"{len(indices)} indices for what has {value.rank} "
            f"{'axis' if value.rank == 1 else 'axes'}"
        )
    own = [isinstance(i, Value) and not i.rank for i in indices[value.array_rank :]]
    if value.kind == "matrix":
        own += [False] * (2 - len(own))
        return {
            (False, False): "matrix",
            (True, False): "row_vector",
            (False, True): "vector",
            (True, True): "real",
        }[own[0], own[1]]
    if RANKS[value.kind] == 1 and own and own[0]:
        return "real"
    return value.kind


def _plain(value: Value, indices: Indices) -> list[Any]:
    """Return indices that are the same in all lanes as NumPy has them, counted from 0."""
    shape, found = value.shape, []
    for axis, index in enumerate(indices):
        size = shape[axis]
        if isinstance(index, Between):
            lower, upper = _ends(index, size, axis)
            found.append(slice(lower - 1, upper))
            continue
        where = _whole(index)
        _check_range(where, size, axis)
        found.append(where - 1)
    return found


def _whole(index: Value) -> Any:
    if index.traced:
        raise OperationError("an index must come from data; this one depends on parameters")
    if index.kind != "int":
        raise MisfitError(f"an index must be a whole number; got a {index.kind}")
    return index.array


def _ends(index: Between, size: int, axis: int) -> tuple[int, int]:
    """Return both ends of a range, counted from 1; an empty one is (1, 0)."""
    for end in (index.lower, index.upper):
        if end is not None and end.laned and np.ptp(end.array):
            raise LanesDifferError(_whole(end))
    lower, upper = (
        default if end is None else int(np.asarray(_whole(end)).flat[0])
        for end, default in ((index.lower, 1), (index.upper, size))
    )
    if upper < lower:
        return 1, 0
    _check_range(lower, size, axis)
    _check_range(upper, size, axis)
    return lower, upper


def _check_range(where: Any, size: int, axis: int, laned: bool = False) -> None:
    if np.ndim(where):
        outside = (where < 1) | (where > size)
        if not outside.any():
            return
        where = where[outside].flat[0]
    elif 1 <= where <= size:
        return
    raise (OperationError if laned else SizeError)(
        f"index {where} is out of range: axis {axis + 1} has {size} "
        f"{'element' if size == 1 else 'elements'}, counted from 1"
    )


def _along_axes(array: Any, indices: list[Any], laned: bool) -> Any:
    """Choose along each axis; an array that is returned shares no memory with what it is from."""
    if all(isinstance(i, int | np.integer) for i in indices):
        chosen = array[(slice(None), *indices) if laned else tuple(indices)]
        return chosen if np.ndim(chosen) == 0 else np.array(chosen)
    for axis in reversed(range(len(indices))):
        array = array[(slice(None),) * (axis + laned) + (indices[axis],)]
    return np.array(array) if np.ndim(array) else array


def _set_along_axes(array: Array, indices: list[Any], new: Any, laned: bool) -> None:
    lead = (slice(None),) * laned
    lists = [i for i in indices if isinstance(i, np.ndarray) and i.ndim]
    if not lists or len(indices) == 1:
        array[(*lead, *indices)] = new
        return
    where = np.arange(prod(array.shape)).reshape(array.shape)
    array.reshape(-1)[_along_axes(where, indices, laned)] = new


def _positions(value: Value, indices: Indices) -> Array:
    """Return the flat positions, within a lane, of what is chosen in each: (lanes, ...)."""
    shape = value.shape
    full = [*indices, *[Between(None, None)] * (len(shape) - len(indices))]
    parts: list[tuple[Array, bool]] = []
    for axis, index in enumerate(full):
        if isinstance(index, Between):
            lower, upper = _ends(index, shape[axis], axis)
            parts.append((np.arange(lower - 1, upper), False))
        else:
            where = np.asarray(_whole(index))
            _check_range(where, shape[axis], axis, index.laned)
            parts.append((where - 1, index.laned))
    axes = sum(p.ndim - laned for p, laned in parts)
    total: Any = 0
    done = 0
    for axis, (part, laned) in enumerate(parts):
        own = part.shape[laned:]
        lanes = part.shape[:1] if laned else (1,)
        before, after = (1,) * done, (1,) * (axes - done - len(own))
        total = total + part.reshape(*lanes, *before, *own, *after) * prod(shape[axis + 1 :])
        done += len(own)
    return np.asarray(total)


def _taken(array: Any, where: Array, laned: bool) -> Array:
    if not laned:
        return np.asarray(array).reshape(-1)[where]
    flat = array.reshape(len(array), -1)
    lanes = np.arange(len(flat)).reshape(-1, *(1,) * (where.ndim - 1))
    return np.asarray(flat[lanes, where])


def _check_fits(value: Value, indices: Indices, new: Value) -> None:
    if value.kind == "int" and new.kind != "int":
        raise MisfitError(f"a {new.kind} cannot be assigned to an element of whole numbers")
    if new.is_complex and not (value.is_complex or value.traced):
        raise MisfitError("a complex number cannot be assigned to an element of real numbers")
    own = []
    for axis, index in enumerate(indices):
        if isinstance(index, Between):
            lower, upper = _ends(index, value.shape[axis], axis)
            own.append(upper - lower + 1)
        elif index.rank:
            own += index.shape
    expected = (*own, *value.shape[len(indices) :])
    if new.shape != expected:
        raise SizeError(f"what is assigned has shape {new.shape}; the elements have {expected}")
