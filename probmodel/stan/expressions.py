"""Expressions of a program: their values, once data are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from probmodel.errors import DataError, nearest
from probmodel.stan.complaints import Sources
from probmodel.stan.indexing import Between, LanesDifferError, SizeError, known_parts, select
from probmodel.stan.operators import (
    AND,
    AS_NUMBER,
    BY_ELEMENT,
    COMPARISONS,
    NEGATE,
    NOT,
    OR,
    PRODUCTS,
    Frame,
    container,
    restricted,
    truncated_quotient,
)
from probmodel.stan.recording import Recording
from probmodel.stan.side_by_side import mentioned
from probmodel.stan.stan_values import Tuple, Value, integer, share, type_text
from probmodel.stan.syntax import nodes as n
from probmodel.stan.whole_expressions import is_whole

_MOST_CHOICES = 20  # elements among which parameters decide


class Expressions(Recording):
    """What expressions evaluate to, given the variables around them.

    Parameters
    ----------
    sources : the text of the program, by file
    """

    functions: dict[str, list[n.Function]]  # of the program, by name
    by_draws = False  # whether lanes have decided a size, or what is run
    _calls = 0  # of functions of the program, inside each other

    def __init__(self, sources: Sources) -> None:
        super().__init__(sources)
        self._dispatch: dict[type, Callable[[Any, Frame], Any]] = {
            n.Number: self._number, n.Text: self._text, n.Name: self._name, n.Index: self._index,
            n.Call: self.call, n.Unary: self._unary, n.Binary: self._binary,
            n.Ternary: self._ternary, n.ArrayOf: self._array, n.RowOf: self._row,
            n.TupleOf: self._tuple, n.Field: self._field,
        }  # fmt: skip

    def call(self, node: n.Call, frame: Frame) -> Any:
        """Return what a function returns."""
        raise NotImplementedError

    def evaluate(self, node: n.Expression, frame: Frame) -> Any:
        """Return the value of an expression: a `Value`, a `Tuple`, or text."""
        return self._dispatch[type(node)](node, frame)

    def value(self, node: n.Expression, frame: Frame) -> Value:
        """Return the value of an expression that is a number or an array."""
        found = self._dispatch[type(node)](node, frame)
        if not isinstance(found, Value):
            self.misfit(f"expected a number or an array; got a {type_text(found)}.", node)
        return found

    def condition(self, node: n.Expression, frame: Frame) -> Value:
        """Return the value of an expression that is one number, which decides something."""
        value = self.value(node, frame)
        if value.rank or value.kind not in ("int", "real"):
            self.misfit(f"a condition is one number; got a {type_text(value)}.", node)
        self.by_draws = self.by_draws or value.laned
        return value

    def whole(self, node: n.Expression, frame: Frame, what: str) -> int:
        """Return a whole number that data decide, the same in all lanes."""
        return int(self.common(self.whole_value(node, frame, what), node, what))

    def whole_value(self, node: n.Expression, frame: Frame, what: str) -> Value:
        """Return the value of an expression that is a whole number."""
        value = self.value(node, frame)
        if value.kind != "int" or value.rank:
            self.misfit(f"{what} must be a whole number; got a {type_text(value)}.", node)
        return value

    def common(self, value: Value, node: n.Node, what: str) -> Any:
        """Return the numbers of a value that data decide, the same in all lanes."""
        if value.traced:
            self.fail(f"{what} must come from data; this depends on parameters.", node)
        if value.laned:
            self.by_draws = True
            if np.any(value.array != value.array[:1]):
                raise LanesDifferError(value.array if value.array.ndim == 1 else None)
            return value.array[0]
        return value.array

    def _number(self, node: n.Number, frame: Frame) -> Value:
        kind = {int: "int", float: "real", complex: "complex"}[type(node.value)]
        return Value(kind, node.value)

    def _text(self, node: n.Text, frame: Frame) -> str:
        return node.value

    def lookup(self, node: n.Name, frame: Frame) -> Any:
        """Return a variable, to be looked into."""
        if node.name not in frame:
            names = [name for name in frame if isinstance(name, str)]
            self.fail(f"{node.name!r} is not declared here.{nearest(node.name, names)}", node)
        return frame[node.name]

    def _name(self, node: n.Name, frame: Frame) -> Any:
        value = share(self.lookup(node, frame))
        if isinstance(value, Value) and self._side_by_side and value.laned:
            return known_parts(self.complete(value), self.graph)
        return value

    def complete(self, value: Any) -> Any:
        """Return a value whose elements were all set in their lanes.

        Raises a `LanesDifferError` if some are what earlier iterations of a loop leave, so that
        lanes depend on others.
        """
        looked = isinstance(value, Value) and value.traced and value.laned and self._side_by_side
        if looked and np.any(value.array == self.graph.missing):
            raise LanesDifferError
        return value

    def looked_into(self, node: n.Expression, frame: Frame) -> Any:
        """Return a value of which elements are asked for or set."""
        if isinstance(node, n.Name):
            return self.lookup(node, frame)
        if isinstance(node, n.Field):
            return self._part(node, frame)
        return (
            self._chosen(node, frame) if isinstance(node, n.Index) else self.evaluate(node, frame)
        )

    def _index(self, node: n.Index, frame: Frame) -> Any:
        found = self.complete(self._chosen(node, frame))
        return found if isinstance(found, Value) else share(found)

    def _chosen(self, node: n.Index, frame: Frame) -> Any:
        value, indices = self.looked_into(node.base, frame), self.indices(node, frame)
        if isinstance(value, list):  # an array of tuples
            return self._element_of_list(value, indices, node)
        if not isinstance(value, Value):
            self.misfit(f"a {type_text(value)} has no elements to index.", node)
        with self.at(node):
            return known_parts(self._selected(value, indices, node), self.graph)

    def _selected(self, value: Value, indices: Sequence[Value | Between], node: n.Index) -> Value:
        """Return elements; where parameters decide an index, one of few, a choice of these.

        An index out of range, which Stan rejects, makes NaN.
        """
        axes = [i for i, index in enumerate(indices) if _is_decided(index)]
        size = value.shape[axes[0]] if axes and axes[0] < value.rank else 0
        if not 0 < size <= _MOST_CHOICES:
            return select(value, indices)
        own, places = list(indices), [integer(i + 1) for i in range(size)]
        index = own[axes[0]]
        assert isinstance(index, Value)
        own[axes[0]] = places[0]
        first = self._selected(value, own, node)
        found = Value(first.kind, np.full(first.shape, np.nan)[()])
        for place in places:
            own[axes[0]] = place
            one = self.complete(self._selected(value, own, node))
            holds = self.apply(COMPARISONS["=="], [index, place], "int", node)
            found = self.choose(holds, one, found, node)
        return found

    def _element_of_list(self, values: list[Any], indices: Any, node: n.Index) -> Any:
        found: Any = values
        for index in indices:
            if not isinstance(found, list):
                self.misfit("there are more indices than axes.", node)
            found = found[self.place_in(found, index, node)]
        return found

    def place_in(self, values: list[Any], index: Value | Between, node: n.Node) -> int:
        """Return the place, from 0, that an index of an array of tuples means."""
        if isinstance(index, Between) or index.rank:
            self.misfit("an array of tuples takes one index at a time.", node)
        where = int(self.common(index, node, "an index"))
        if not 1 <= where <= len(values):
            self.fail(f"index {where} is out of range: there are {len(values)}.", node)
        return where - 1

    def indices(self, node: n.Index, frame: Frame) -> list[Value | Between]:
        """Evaluate indices."""
        found: list[Value | Between] = []
        for index in node.indices:
            if isinstance(index, n.Slice):
                ends = [
                    None if e is None else self.value(e, frame) for e in (index.lower, index.upper)
                ]
                self.by_draws = self.by_draws or any(e is not None and e.laned for e in ends)
                found.append(Between(*ends))
            else:
                found.append(self.value(index, frame))
        return found

    def _field(self, node: n.Field, frame: Frame) -> Any:
        return share(self._part(node, frame))

    def _part(self, node: n.Field, frame: Frame) -> Any:
        """Return an element of a tuple, to be looked into."""
        value = self.looked_into(node.base, frame)
        if not isinstance(value, Tuple):
            self.misfit(
                f"a {type_text(value)} has no element .{node.position}: it is no tuple.", node
            )
        if not 1 <= node.position <= len(value.items):
            self.misfit(
                f"the tuple has {len(value.items)} elements, and no .{node.position}.", node
            )
        return value.items[node.position - 1]

    def _unary(self, node: n.Unary, frame: Frame) -> Value:
        value = self.value(node.operand, frame)
        if node.operator == "-":
            with self.at(node):
                return self.apply(NEGATE, [value], value.kind, node)
        if node.operator == "+":
            return value
        if node.operator == "!":
            return self.apply(NOT, [value], "int", node)
        if value.kind not in ("vector", "row_vector", "matrix") or value.array_rank:
            self.misfit(
                f"only vectors and matrices are transposed; got a {type_text(value)}.", node
            )
        if value.kind == "matrix":
            return value.like(np.swapaxes(value.array, -1, -2))
        return value.like(value.array, {"vector": "row_vector", "row_vector": "vector"}[value.kind])

    def _binary(self, node: n.Binary, frame: Frame) -> Value:
        if node.operator in ("&&", "||"):
            return self._logical(node, frame)
        left, right = self.value(node.left, frame), self.value(node.right, frame)
        with self.at(node):
            return self.operate(node.operator, left, right, node)

    def operate(self, operator: str, left: Value, right: Value, node: n.Node) -> Value:
        """Return what an infix operator makes of two values."""
        if operator in COMPARISONS:
            if left.rank or right.rank:
                kinds = f"{type_text(left)} and {type_text(right)}"
                self.misfit(f"{operator} compares numbers; got {kinds}.", node)
            return self.apply(COMPARISONS[operator], [left, right], "int", node)
        whole = left.kind == right.kind == "int"
        if operator in ("%", "%/%") or (operator == "/" and whole):
            return self._whole_quotient(operator, left, right, node)
        if operator == "*" and (left.kind, right.kind) in PRODUCTS:
            return self.product(left, right, node)
        if operator == "/" and right.kind == "matrix" and left.kind in ("matrix", "row_vector"):
            return self.named("mdivide_right", [left, right], node)
        if operator == "\\":
            return self.named("mdivide_left", [left, right], node)
        if operator in "*/" and left.rank and right.rank:
            self.misfit(
                f"{type_text(left)} {operator} {type_text(right)} is not defined; element by "
                f"element it is .{operator}",
                node,
            )
        operation = BY_ELEMENT["." + operator if operator in "*/" else operator]
        kind = container(left, right)
        if whole and operator in ("^", ".^"):
            kind = "real"
        if whole and operator == "+" and left.traced and right.traced:
            left = self.apply(AS_NUMBER, [left], "int", node)
        return self.apply(operation, [left, right], kind, node)

    def product(self, left: Value, right: Value, node: n.Node) -> Value:
        """Return a matrix product."""
        inner = not (left.array_rank or right.array_rank or right.kind == "row_vector")
        if inner and left.shape[-1] != right.shape[0]:
            sizes = " and ".join(" x ".join(map(str, v.shape)) for v in (left, right))
            raise SizeError(f"{left.kind} * {right.kind}: sizes do not go together: {sizes}")
        return self.named(f"{left.kind}*{right.kind}", [left, right], node)

    def named(self, name: str, values: list[Value], node: n.Node) -> Value:
        """Return what a function of the tables makes of values."""
        raise NotImplementedError

    def _whole_quotient(self, operator: str, left: Value, right: Value, node: n.Node) -> Value:
        if not left.kind == right.kind == "int":
            self.misfit(f"{operator} takes whole numbers; got {left.kind} and {right.kind}.", node)
        if left.traced or right.traced:
            self.fail("whole numbers that depend on parameters are not divided here.", node)
        if np.any(np.asarray(right.array) == 0):
            self.fail("a whole number is divided by zero.", node, DataError)
        remainder = operator == "%"
        laned = left.laned or right.laned
        found = (np.fmod if remainder else truncated_quotient)(left.array, right.array)
        return Value("int", found, laned=laned)

    def _logical(self, node: n.Binary, frame: Frame) -> Value:
        left = self.condition(node.left, frame)
        decides = node.operator == "||"
        if left.known:
            if bool(left.array) == decides:
                return integer(int(decides))
            right = self.condition(node.right, frame)
            if right.known:
                return integer(int(bool(right.array)))
            return self.apply(COMPARISONS["!="], [right, integer(0)], "int", node)
        right = self.condition(node.right, frame)
        return self.apply(OR if decides else AND, [left, right], "int", node)

    def _ternary(self, node: n.Ternary, frame: Frame) -> Any:
        condition = self.condition(node.condition, frame)
        both = None if condition.traced else self.both_cases(node, condition, frame)
        if both is not None:
            return both
        if condition.known:
            return self._case(node, bool(condition.array), frame)
        if not condition.traced:
            return self._ternary_by_lane(node, condition, frame)
        with self.guarded(condition):
            then = self.value(node.then, frame)
        with self.guarded(self.apply(NOT, [condition], "int", node)):
            otherwise = self.value(node.otherwise, frame)
        with self.at(node):
            return self.choose(condition, then, otherwise, node)

    def both_cases(self, node: n.Ternary, condition: Value, frame: Frame) -> Any:
        """Return a choice of both values, if a condition on data is such; None if not."""
        return None

    def _case(self, node: n.Ternary, holds: bool, frame: Frame) -> Any:
        """Return one of both values, as real if the other one is, which is not computed."""
        taken, other = (node.then, node.otherwise)[:: 1 if holds else -1]
        value = self.evaluate(taken, frame)
        if isinstance(value, Value) and not is_whole(other, frame, self.functions):
            return self.real(value)
        return value

    def _ternary_by_lane(self, node: n.Ternary, condition: Value, frame: Frame) -> Any:
        truth = np.asarray(condition.array, dtype=bool)
        if truth.all() or not truth.any():
            return self._case(node, bool(truth.all()), frame)
        parts = []
        for chosen, branch in ((truth, node.then), (~truth, node.otherwise)):
            with self.in_lanes(chosen):
                parts.append(self.value(branch, restricted(frame, chosen, mentioned(branch))))
        return self.by_lane(truth, *parts)

    def _array(self, node: n.ArrayOf, frame: Frame) -> Any:
        items = [self.evaluate(item, frame) for item in node.items]
        if not items:
            self.misfit("an empty array {} has no type; declare one of size 0.", node)
        if not isinstance(items[0], Value):
            return items
        with self.at(node):
            return self.stacked(items)

    def _row(self, node: n.RowOf, frame: Frame) -> Value:
        items = [self.value(item, frame) for item in node.items]
        if not items:
            return Value("row_vector", np.zeros(0))
        with self.at(node):
            found = self.stacked(items)
        rows = dict.fromkeys(("int", "real", "complex"), "row_vector") | {"row_vector": "matrix"}
        kind = rows.get(found.kind)
        if kind is None:
            self.misfit(f"[...] takes numbers or row vectors; got a {found.kind}.", node)
        found = self.real(found)
        return Value(kind, found.array, found.traced, found.laned)

    def _tuple(self, node: n.TupleOf, frame: Frame) -> Tuple:
        return Tuple([self.evaluate(item, frame) for item in node.items])


def _is_decided(index: Value | Between) -> bool:
    """Whether an index is a whole number that parameters decide."""
    return isinstance(index, Value) and index.traced and index.kind == "int" and not index.rank
