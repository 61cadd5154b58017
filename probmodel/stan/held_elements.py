"""What variables hold when an iteration begins: elements that data choose from.

In ``v[i[t]] = f(v[j[t]])``, with ``i`` and ``j`` from data, what an iteration takes was computed a
varying number of iterations ago. Yet it is always one of the elements that ``v`` holds by then.
With these as a state, all iterations are alike: they choose from the state, by data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from probmodel.stan.loop_iterations import Iterations
from probmodel.types import Array

NOW, HELD, OUTSIDE = "now", "held", "outside"
_MOST = 16  # sources that an operand is chosen from


class IrregularError(Exception):
    """Iterations are not alike."""


class Choice(NamedTuple):
    """An operand that has another source in different iterations.

    Attributes
    ----------
    sources : kinds and places: an element of the same iteration (``NOW``, its place there), what
        is held at its beginning (``HELD``, the position), or what the loop does not compute
        (``OUTSIDE``, -1)
    which : of the sources, in each iteration: (length,)
    elements : that are taken: (length,)
    """

    sources: list[tuple[str, int]]
    which: Array
    elements: Array


class Held:
    """Contents of variables at the beginning of each iteration.

    Parameters
    ----------
    of : the iterations
    contents : elements of variables by name, at each beginning, and after the last iteration;
        floats are numbers that a variable holds at first, in each lane; variables that are not
        there at all of these times are left out
    """

    def __init__(self, of: Iterations, contents: Sequence[dict[str, Array]]) -> None:
        self._of = of
        self._constants: dict[int, int] = {}  # by the bits of their numbers
        begun = [self._begun(contents[0], contents[1]), *contents[1:]]
        names = [n for n in begun[0] if len({len(c.get(n, ())) for c in begun}) == 1]
        rows = [np.concatenate([np.zeros(0, int), *(c[n] for n in names)]) for c in begun]
        self._at = self._canonical(np.stack(rows))
        self._lowest = int(self._at.min(initial=0))
        self._span = of.graph.size - self._lowest
        keys = self._keys(self._at[:-1]).reshape(-1)
        self._order = np.argsort(keys, kind="stable")
        self._sorted = keys[self._order]

    def _begun(self, first: dict[str, Array], second: dict[str, Array]) -> dict[str, Array]:
        """Return what is held at first, with numbers as constants, one for each lane."""
        found = {}
        for name, elements in first.items():
            if elements.dtype.kind != "f":
                found[name] = elements
            elif name in second and len(elements) and len(second[name]) % len(elements) == 0:
                constants = self._of.graph.constants(elements)
                found[name] = np.tile(constants, len(second[name]) // len(elements))
        return found

    def _canonical(self, elements: Array) -> Array:
        """Return elements with one constant for all that are the same number."""
        graph, elements = self._of.graph, np.asarray(elements, dtype=np.int64)
        constant = (elements < 0) & (elements != graph.missing)
        if not constant.any():
            return elements
        own = elements[constant]
        bits = np.asarray(graph.numbers(own), dtype=float).view(np.int64)
        for key, element in zip(bits.tolist(), own.tolist(), strict=True):
            self._constants.setdefault(key, element)
        found = elements.copy()
        found[constant] = [self._constants[key] for key in bits.tolist()]
        return found

    def _keys(self, elements: Array) -> Array:
        """Return numbers of elements, other ones at each time: (length, n)."""
        times = np.arange(self._of.length)[:, None]
        return times * self._span + np.asarray(elements, dtype=np.int64) - self._lowest

    def first(self, position: int) -> int:
        """Return what is held at a position when the first iteration begins."""
        return int(self._at[0, position])

    def next(self, position: int) -> Choice:
        """Return where what is held at a position after each iteration comes from."""
        return self.choice(self._at[1:, position])

    def choice(self, elements: Array) -> Choice:
        """Return where elements come from, one for each iteration.

        Raises an `IrregularError` if there are too many sources.
        """
        of, elements = self._of, self._canonical(elements)
        which = np.full(of.length, -1)
        sources: list[tuple[str, int]] = []
        offset = elements - of.base - np.arange(of.length) * of.size
        now = (offset >= 0) & (offset < of.size)
        for place in np.unique(offset[now]).tolist():
            which[now & (offset == place)] = len(sources)
            sources.append((NOW, place))
        positions = self._positions(elements, which < 0)
        match = (self._at[:-1, positions] == elements[:, None]) & (which < 0)[:, None]
        while match.any():
            best = int(np.argmax(match.sum(axis=0)))
            which[match[:, best]] = len(sources)
            sources.append((HELD, int(positions[best])))
            match &= (which < 0)[:, None]
        if np.any(which < 0):
            which[which < 0] = len(sources)
            sources.append((OUTSIDE, -1))
        if len(sources) > _MOST:
            raise IrregularError
        return Choice(sources, which, elements)

    def _positions(self, elements: Array, wanted: Array) -> Array:
        """Return positions at which the elements of some iterations are found, each at one."""
        known = wanted & (elements >= self._lowest)
        keys = self._keys(elements[:, None])[known, 0]
        if not self._sorted.size:
            return np.zeros(0, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)
        found = self._order[at[self._sorted[at] == keys]]
        return np.unique(found % self._at.shape[1])
