"""Sizes of expressions as a program writes them: by the names of dims where these are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.expressions import Apply, Expression
from probmodel.model.evaluation import Evaluator
from probmodel.stan.export.code_forms import Place

Places = tuple[Place, ...]


class Sizes:
    """Sizes of the axes of expressions; numbers where nothing else is known.

    Parameters
    ----------
    evaluator : of the model
    """

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._known: dict[int, Places] = {}

    def tell(self, node: Expression, places: Places) -> None:
        """Say what the sizes of an expression are."""
        self._known[id(node)] = places

    def of(self, node: Expression) -> Places:
        """Return the sizes of an expression."""
        if id(node) in self._known:
            return self._known[id(node)]
        shape = self._evaluator.shape(node)
        places = self._found(node, shape) if isinstance(node, Apply) and shape else ()
        if len(places) != len(shape):
            places = tuple(Place("", size) for size in shape)
        self._known[id(node)] = places
        return places

    def _of(self, value: Any) -> Places:
        return self.of(value) if isinstance(value, Expression) else literal(np.shape(value))

    def _found(self, node: Apply, shape: tuple[int, ...]) -> Places:
        name, args = node.operation.name, node.args
        if node.operation.elementwise or name == "pad_axes":
            return self._met(args, shape)
        if name == "getitem":
            return self._indexed(node, shape)
        if name in ("matmul", "dot"):
            left, right = self._of(args[0]), self._of(args[1])
            return left[:-1] + (right[1:] if len(right) < 3 else right[2:])
        if name == "transpose" and not node.kwargs:
            return self._of(args[0])[::-1]
        if name == "cumsum" and len(shape) == 1:
            return self._of(args[0]) if len(self._of(args[0])) == 1 else ()
        if name in ("cholesky", "inv"):
            return self._of(args[0])
        if name in ("sum", "mean", "max", "min", "prod", "std", "var"):
            return self._reduced(node)
        return ()

    def _reduced(self, node: Apply) -> Places:
        axis, inner = node.kwargs.get("axis"), self._of(node.args[0])
        if not isinstance(axis, int) or node.kwargs.get("keepdims"):
            return ()
        axis %= len(inner)
        return inner[:axis] + inner[axis + 1 :]

    def _met(self, args: Any, shape: tuple[int, ...]) -> Places:
        """Sizes of what arrays broadcast to: the first that has a name, along each axis."""
        found = list(literal(shape))
        for arg in args:
            sizes = self._of(arg)
            given = self._evaluator.shape(arg)
            for back in range(1, min(len(sizes), len(shape)) + 1):
                if given[-back] == shape[-back] and not found[-back].variable:
                    found[-back] = sizes[-back]
        return tuple(found)

    def _indexed(self, node: Apply, shape: tuple[int, ...]) -> Places:
        """Sizes after slices with known ends, new axes, and one array of indices."""
        parts = node.args[1] if isinstance(node.args[1], tuple) else (node.args[1],)
        inner = list(zip(self._of(node.args[0]), self._evaluator.shape(node.args[0]), strict=True))
        found: list[Place] = []
        for part in parts:
            if part is Ellipsis or isinstance(part, np.ndarray | list):
                return ()
            if part is None:
                found.append(Place("", 1))
                continue
            place, size = inner.pop(0)
            if isinstance(part, slice):
                found.append(self._sliced(part, place, size))
            elif isinstance(part, Expression) and self._evaluator.shape(part):
                if self._evaluator.value(part).dtype.kind == "b":
                    return ()
                found += self.of(part)
        return tuple(found) + tuple(place for place, _ in inner)

    def _sliced(self, part: slice, place: Place, size: int) -> Place:
        ends = [part.start, part.stop, part.step]
        if any(isinstance(end, Expression) for end in ends) or part.step not in (None, 1):
            values = [int(self._evaluator.value(e)) if e is not None else None for e in ends]
            return Place("", len(range(*slice(*values).indices(size))))
        start, stop, _ = part.indices(size)
        if part.stop is not None and part.stop >= 0:
            return Place("", max(stop - start, 0))
        return place + (stop - size - start)


def literal(shape: Any) -> Places:
    """Sizes as numbers."""
    return tuple(Place("", int(size)) for size in shape)
