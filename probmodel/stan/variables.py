"""Variables of a program: how they are declared, and what is assigned to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from probmodel.errors import DataError
from probmodel.stan.data import declared_shape, stored_kind
from probmodel.stan.function_calls import Calls
from probmodel.stan.indexing import changed
from probmodel.stan.operators import Frame, as_complex
from probmodel.stan.stan_values import MOST_ELEMENTS, Tuple, Value, type_text, unset
from probmodel.stan.syntax import nodes as n


class Variables(Calls):
    """Declarations and assignments."""

    def shape(self, type_: n.Type, frame: Frame) -> tuple[int, ...]:
        """Return the shape that a declaration gives, axes of the array first."""
        shape = declared_shape(type_, self.sizes(type_, frame))
        if prod(shape) > MOST_ELEMENTS:
            self.fail(f"a variable of shape {shape} takes too much memory.", type_, DataError)
        return shape

    def sizes(self, type_: n.Type, frame: Frame) -> list[Any]:
        """Return the sizes of a type, those of the array first; of a tuple, then its elements'."""
        given = [s for s in (*type_.array, *type_.sizes) if s is not None]
        own = [self.sizes(item, frame) for item in type_.items]
        return [*(self._size(size, frame) for size in given), *own]

    def _size(self, node: n.Expression, frame: Frame) -> int:
        size = self.whole(node, frame, "a size")
        if size < 0:
            self.fail(f"a size must be 0 or above; got {size}.", node, DataError)
        return size

    def _declare(self, node: n.Declare, frame: Frame) -> None:
        if node.name in frame:
            self.fail(f"{node.name!r} is declared twice.", node)
        frame[node.name] = self.declared(node.type, frame)
        if node.value is not None:
            new = self.evaluate(node.value, frame)
            frame[node.name] = self.conform(new, frame[node.name], node.name, node)

    def declared(self, type_: n.Type, frame: Frame) -> Any:
        """Return a variable that was not assigned."""
        if type_.kind == "tuple":
            if not type_.array:
                return Tuple([self.declared(item, frame) for item in type_.items])
            inner = n.Type(type_.place, "tuple", items=type_.items)
            shape = tuple(self._size(s, frame) for s in type_.array if s is not None)
            return _nested(shape, lambda: self.declared(inner, frame))
        shape, kind = self.shape(type_, frame), stored_kind(type_.kind)
        if self.lanes is not None:
            return Value(kind, unset(type_.kind, (self.lanes, *shape)), laned=True)
        return Value(kind, unset(type_.kind, shape)[()])

    def conform(self, new: Any, old: Any, name: str, node: n.Node) -> Any:
        """Return what is assigned to a variable, as the variable's type has it."""
        if isinstance(old, Tuple):
            if not isinstance(new, Tuple) or len(new.items) != len(old.items):
                self.misfit(f"{name} is a {type_text(old)}; got a {type_text(new)}.", node)
            pairs = zip(new.items, old.items, strict=True)
            return Tuple([self.conform(a, b, name, node) for a, b in pairs])
        if isinstance(old, list):
            if not isinstance(new, list) or len(new) != len(old):
                self.misfit(f"{name} is an array of {len(old)} tuples; got something else.", node)
            return [self.conform(a, b, name, node) for a, b in zip(new, old, strict=True)]
        if not isinstance(new, Value):
            self.misfit(f"{name} is a {type_text(old)}; got a {type_text(new)}.", node)
        if new.kind == "int" and old.kind in ("real", "complex"):
            new = self.real(new)
        if old.is_complex:
            new = as_complex(new)
        if new.kind != old.kind or (new.is_complex and not old.is_complex):
            self.misfit(f"{name} is a {type_text(old)}; it is assigned a {type_text(new)}.", node)
        if new.shape != old.shape:
            said = f"{name} has shape {old.shape}; what is assigned to it has {new.shape}."
            self.fail(said, node, wrong="size")
        if old.laned and not new.laned:
            lanes = len(old.array)
            array = np.repeat(np.asarray(new.array)[None], lanes, 0)
            return Value(new.kind, array, new.traced, True)
        return new

    def _assign(self, node: n.Assign, frame: Frame) -> None:
        new = self.evaluate(node.value, frame)
        if node.operator:
            old = self.value(node.target, frame)
            with self.at(node):
                new = self.operate(node.operator, old, new, node)
        self._set(node.target, new, frame, node)

    def _set(self, target: n.Expression, new: Any, frame: Frame, node: n.Node) -> None:
        if isinstance(target, n.Name):
            old = self.lookup(target, frame)
            frame[target.name] = self.conform(new, old, target.name, node)
        elif isinstance(target, n.Index):
            self._set_elements(target, new, frame, node)
        elif isinstance(target, n.Field):
            whole = self.looked_into(target.base, frame)
            old = self.looked_into(target, frame)
            items = list(whole.items)
            items[target.position - 1] = self.conform(new, old, f".{target.position}", node)
            self._set(target.base, Tuple(items), frame, node)
        elif isinstance(target, n.TupleOf) and isinstance(new, Tuple):
            if len(target.items) != len(new.items):
                self.misfit(f"{len(target.items)} variables take {len(new.items)} values.", node)
            for part, value in zip(target.items, new.items, strict=True):
                self._set(part, value, frame, node)
        else:
            self.misfit("only variables and their elements can be assigned to.", node)

    def _set_elements(self, target: n.Index, new: Any, frame: Frame, node: n.Node) -> None:
        plain = isinstance(target.base, n.Name)
        old = self.looked_into(target.base, frame)
        indices = self.indices(target, frame)
        if isinstance(old, list):
            self._set(target.base, self._replaced(old, indices, new, node), frame, node)
            return
        if not isinstance(new, Value) or not isinstance(old, Value):
            self.misfit(f"a {type_text(new)} is no element of a {type_text(old)}.", node)
        if new.kind == "int" and old.kind != "int":
            new = self.real(new)
        with self.at(node):
            found = changed(old, indices, new, self.graph)
        if plain:
            frame[target.base.name] = found  # type: ignore[union-attr]
        else:
            self._set(target.base, found, frame, node)

    def _replaced(
        self, values: list[Any], indices: Sequence[Any], new: Any, node: n.Node
    ) -> list[Any]:
        """Return an array of tuples with another one in a place."""
        where = self.place_in(values, indices[0], node)
        found = list(values)
        if len(indices) > 1:
            new = self._replaced(found[where], indices[1:], new, node)
        found[where] = self.conform(new, found[where], f"element {where + 1}", node)
        return found


def _nested(shape: tuple[int, ...], made: Callable[[], Any]) -> Any:
    return [_nested(shape[1:], made) for _ in range(shape[0])] if shape else made()
