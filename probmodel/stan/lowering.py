"""From the graph to expressions of the modelling language: equal steps of one place become one.

A step's level is the longest way to it from the parameters. Steps of one level and one place in
the program, with operands of the same shapes, are computed at once, as one operation on arrays.
What they take from others is chosen by indices that are known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from probmodel.errors import ProbmodelError
from probmodel.expressions import Expression
from probmodel.stan.complaints import Sources, complaint, placed
from probmodel.stan.element_uses import Uses
from probmodel.stan.forward_sums import Forward, forward_of
from probmodel.stan.rolled_loops import FEWEST, Repeated, repeated, scanned
from probmodel.stan.step_groups import together
from probmodel.stan.traced_graph import Graph, Step, aligned
from probmodel.types import Array

_CACHED = 100_000  # elements: longer requests for the same elements are not recognised
_FEW = 60  # groups: programs of no more are left as they are
_CONSTANTS = -2  # in the place of the number of a piece
_WORTH = 40  # steps that a scan must save


class CycleError(Exception):
    """What is asked for is needed to compute itself."""


class Lowering:
    """Makes expressions of elements.

    Parameters
    ----------
    graph : whose elements these are
    roots : arrays of all elements that will be asked for
    leaf : returns the expression of a leaf, by its name
    sources : the text of the program, by file, for messages
    """

    def __init__(
        self,
        graph: Graph,
        roots: Sequence[Any],
        leaf: Callable[[str], Expression],
        sources: Sources | None = None,
    ) -> None:
        self._graph, self._leaf, self._sources = graph, leaf, sources or {}
        steps = graph.steps
        sizes = np.array([prod(s.shape) for s in steps], dtype=np.int64)
        self._owner = np.repeat(np.arange(len(steps)), sizes)
        self._piece = np.full(graph.size, -1)
        self._offset = np.zeros(graph.size, dtype=np.int64)
        self._pieces: list[tuple[Any, tuple[int, ...]]] = []
        self._made: dict[Any, Any] = {}
        self._done: set[int] = set()
        self._scans: dict[int, Repeated] = {}  # by group
        self._forward: dict[int, Forward] = {}  # by the first step of a scan
        needed = self._needed(roots)
        self._group(needed, [])
        if len(self._groups) > _FEW:
            scans, needed = self._settled(needed, roots)
            if scans:
                self._group(needed, scans)
        self._same = graph.same()

    # -- which steps are computed together ---------------------------------------------------------

    def _needed(self, roots: Sequence[Any]) -> Array:
        """Return which steps are asked for, directly or not."""
        owner, steps = self._owner, self._graph.steps
        needed = np.zeros(len(steps), dtype=bool)
        for root in roots:
            needed[owner[_elements(root)]] = True
        for i in range(len(steps) - 1, -1, -1):
            if needed[i]:
                for operand in steps[i].operands:
                    if isinstance(operand, int):
                        if operand >= 0:
                            needed[owner[operand]] = True
                    else:
                        needed[owner[_elements(operand)]] = True
        return needed

    def _settled(self, needed: Array, roots: Sequence[Any]) -> tuple[list[Repeated], Array]:
        """Return what scans compute, and which steps are needed for them too.

        A scan repeats all of its step, also where nothing asks for what comes of it, as at the last
        of the times. What only that takes is asked for here.
        """
        while True:
            self._forward.clear()
            scans = self._recurrences(needed, roots)
            asked = [*roots, *(part.externals() for part in scans)]
            more = self._needed(asked)
            if not np.any(more & ~needed):
                return scans, needed
            needed, roots = more, asked

    def _recurrences(self, needed: Array, roots: Sequence[Any]) -> list[Repeated]:
        """Return what scans compute: of the longest loops first, and none inside another."""
        uses = Uses.of(self._graph, np.flatnonzero(needed), roots)
        runs: dict[int, int] = {}
        for loop in self._graph.loops:
            runs[id(loop.node)] = runs.get(id(loop.node), 0) + 1
        found: list[Repeated] = []
        taken = np.zeros(len(self._graph.steps), dtype=bool)
        for loop in sorted(self._graph.loops, key=lambda loop: loop.starts[0] - loop.starts[-1]):
            starts = loop.starts
            steps = starts[-1] - starts[0]
            if len(starts) <= FEWEST or steps < _WORTH * runs[id(loop.node)]:
                continue
            if taken[starts[0] : starts[-1]].any() or not needed[starts[0] : starts[-1]].any():
                continue
            parts = repeated(self._graph, loop, uses)
            for part in parts:
                forward = forward_of(part, self._graph, uses)
                if forward is not None:
                    self._forward[part.first] = forward
                taken[part.first : part.first + part.steps * part.length] = True
            found += parts
        return sorted(found, key=lambda part: part.first)

    def _group(self, needed: Array, scans: Sequence[Repeated]) -> None:
        """Find the group of each step, the steps of each group, and its level."""
        steps = self._graph.steps
        self._group_of = np.full(len(steps), -1)
        self._groups: list[list[int]] = []
        self._levels: list[int] = []
        self._scans.clear()
        level = np.full(len(steps), -1)
        keys: dict[Any, int] = {}
        needed = needed.copy()
        needed[[forward.step for forward in self._forward.values()]] = False  # with their scans
        at = 0
        for part in scans:
            stop = part.first + part.steps * part.length
            self._add(np.arange(at, part.first), needed, level, keys)
            inside = np.arange(part.first, stop)
            place = (inside - part.first) % part.steps
            self._add(inside[~part.dependent[place]], needed, level, keys)
            self._add_scan(part, inside[part.inside[place]], level)
            self._add(inside[(part.dependent & ~part.inside)[place]], needed, level, keys)
            at = stop
        self._add(np.arange(at, len(steps)), needed, level, keys)

    def _deepest(self, operand: Any, level: Array) -> int:
        if isinstance(operand, int):
            return int(level[self._owner[operand]]) if operand >= 0 else -1
        inside = _elements(operand)
        return int(level[self._owner[inside]].max()) if inside.size else -1

    def _add(self, where: Array, needed: Array, level: Array, keys: dict[Any, int]) -> None:
        steps = self._graph.steps
        for i in where[needed[where]].tolist():
            step = steps[i]
            own = 1 + max((self._deepest(o, level) for o in step.operands), default=-1)
            level[i] = own
            key = self._key(i, step, own)
            if key not in keys:
                keys[key] = len(self._groups)
                self._groups.append([])
                self._levels.append(own)
            self._group_of[i] = keys[key]
            self._groups[keys[key]].append(i)

    def _add_scan(self, part: Repeated, where: Array, level: Array) -> None:
        own = 1 + self._deepest(part.externals(), level)
        if part.first in self._forward:
            where = np.append(where, self._forward[part.first].step)
        level[where] = own
        self._group_of[where] = len(self._groups)
        self._scans[len(self._groups)] = part
        self._groups.append(where.tolist())
        self._levels.append(own)

    def _key(self, i: int, step: Step, level: int) -> Any:
        if step.operation is None or not step.operation.batched:
            return i
        shapes = tuple(
            np.shape(o)[int(lane) :] for o, lane in zip(step.operands, step.laned, strict=True)
        )
        return step.operation, step.keywords, id(step.place), level, shapes

    # -- expressions -------------------------------------------------------------------------------

    def expression(self, elements: Any) -> Any:
        """Return an expression of elements, or an array if all are constants."""
        elements = np.asarray(elements)
        flat = elements.reshape(-1)
        computed = flat[flat >= 0]
        if not computed.size:
            return self._graph.numbers(elements)
        key = (elements.shape, flat.tobytes()) if flat.size <= _CACHED else None
        if key not in self._made:
            self._require(computed)
            found = self._chosen(flat, elements.shape)
            if key is None:
                return found
            self._made[key] = found
        return self._made[key]

    def _require(self, elements: Array) -> None:
        """Compute the groups that some elements are of, and those that these need."""
        wanted: set[int] = set()
        todo = np.unique(self._group_of[self._owner[elements]]).tolist()
        while todo:
            group = todo.pop()
            if group in wanted or self._is_made(group):
                continue
            wanted.add(group)
            for operand in self._operands(group):
                inside = _elements(operand)
                todo += np.unique(self._group_of[self._owner[inside]]).tolist()
        for group in sorted(wanted, key=lambda g: self._levels[g]):
            if not self._is_made(group):  # leaves come first, and may have made it
                self._make(group)

    def _operands(self, group: int) -> list[Any]:
        """Return what a group needs."""
        if group in self._scans:
            return [self._scans[group].externals()]
        return [o for i in self._groups[group] for o in self._graph.steps[i].operands]

    def _is_made(self, group: int) -> bool:
        return group in self._done

    def _make(self, group: int) -> None:
        if group in self._scans:
            self._make_scan(self._scans[group])
        else:
            self._make_group(group)
        self._done.add(group)

    def _make_group(self, group: int) -> None:
        steps = [self._graph.steps[i] for i in self._groups[group]]
        operation = steps[0].operation
        if operation is None:
            self._keep(steps, self._leaf(dict(steps[0].keywords)["name"]), steps[0].shape)
            return
        operands, laned, count, place = together(steps, self._same)
        arrays = aligned(operation, operands, laned)
        given = [self.expression(array) for array in arrays]
        found = self._result(steps[0], laned, given)
        own = steps[0].shape[int(any(steps[0].laned)) :]
        self._keep(steps, found, (count, *own) if any(laned) else own, place)

    def _result(self, step: Step, laned: Sequence[bool], given: Sequence[Any]) -> Any:
        """Compute an operation; what goes wrong does so at its place in the program."""
        assert step.operation is not None
        place = None if step.place is None else step.place.place
        try:
            return step.operation(laned, *given, **dict(step.keywords))
        except ProbmodelError as error:
            raise placed(error, place, self._sources) from error
        except (ValueError, TypeError, IndexError, ArithmeticError) as error:
            message = f"{step.operation.name}: {error}."
            raise complaint(message, place, self._sources) from error

    def _make_scan(self, part: Repeated) -> None:
        if part.first in self._forward:
            forward = self._forward[part.first]
            self._keep(
                [self._graph.steps[forward.step]], forward.log_likelihood(self.expression), ()
            )
            return
        states = scanned(part, self.expression, Lowering)
        width = len(part.new)
        piece = len(self._pieces)
        self._pieces.append((states, (part.length, width)))
        found = np.flatnonzero(part.slots >= 0)
        for i in range(part.length):
            where = part.base + i * part.size + found
            self._piece[where] = piece
            self._offset[where] = i * width + part.slots[found]

    def _keep(
        self, steps: Sequence[Step], found: Any, shape: tuple[int, ...], place: Array | None = None
    ) -> None:
        """Remember where the elements of steps are; ``place`` says in which lane each is."""
        piece = len(self._pieces)
        self._pieces.append((found, shape))
        size = prod(shape)
        elements = np.concatenate([np.arange(s.start, s.start + prod(s.shape)) for s in steps])
        number = np.arange(len(elements))
        if place is not None:
            own = prod(shape[1:])
            number = place[number // own] * own + number % own
        number = number % size
        self._piece[elements], self._offset[elements] = piece, number
        first = np.empty(size, dtype=np.int64)
        first[number[::-1]] = elements[::-1]
        self._same[elements] = first[number]

    def _chosen(self, flat: Array, shape: tuple[int, ...]) -> Any:
        """Choose elements of what is computed, and of constants, in an order."""
        pieces = np.where(flat >= 0, self._piece[np.maximum(flat, 0)], _CONSTANTS)
        assert np.all(pieces != -1), "an element that nothing computes"
        first = pieces[0]
        if first >= 0 and np.all(pieces == first):
            return self._of_one(int(first), self._offset[flat], shape)
        parts, order = [], np.empty(len(flat), dtype=np.int64)
        done = 0
        for piece in np.unique(pieces):
            where = np.flatnonzero(pieces == piece)
            if piece == _CONSTANTS:
                numbers = self._graph.numbers(flat[where])
                parts.append(numbers)
                order[where] = done + np.arange(len(where))
                done += len(where)
                continue
            used, place = np.unique(self._offset[flat[where]], return_inverse=True)
            parts.append(self._of_one(int(piece), used, (len(used),)))
            order[where] = done + place
            done += len(used)
        joined = np.concatenate(parts)
        if len(order) == done and np.array_equal(order, np.arange(done)):
            return joined if len(shape) == 1 else np.reshape(joined, shape)
        return joined[order.reshape(shape)]

    def _of_one(self, piece: int, offsets: Array, shape: tuple[int, ...]) -> Any:
        """Choose elements of one expression."""
        found, own = self._pieces[piece]
        if not isinstance(found, Expression):
            return np.broadcast_to(found, own).reshape(-1)[offsets].reshape(shape)
        size = prod(own)
        if len(offsets) == size and np.array_equal(offsets, np.arange(size)):
            return found if shape == own else np.reshape(found, shape)
        if not shape and len(own) <= 1:
            return found[int(offsets[0])] if own else found
        if not own:
            return np.broadcast_to(found, shape)
        key = ("flat", piece)
        if key not in self._made:
            self._made[key] = found if len(own) == 1 else np.reshape(found, (size,))
        vector = self._made[key]
        if not shape:
            return vector[int(offsets[0])]
        start = int(offsets[0])
        if len(shape) == 1 and np.array_equal(offsets, start + np.arange(len(offsets))):
            return vector[start : start + len(offsets)]
        return vector[offsets.reshape(shape)]


def _elements(operand: Any) -> Array:
    """Return the elements of an operand that are no constants."""
    flat = np.asarray(operand).reshape(-1)
    return flat[flat >= 0]
