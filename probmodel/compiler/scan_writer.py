"""Machine code of recurrences: a loop over the times that calls a function of the step."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.compiler.control import INT
from probmodel.compiler.lanes import DOUBLE
from probmodel.compiler.symbols import Symbol

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission


class ScanWriter:
    """Writes one recurrence; see `scans`."""

    def __init__(self, emission: Emission, symbol: Symbol) -> None:
        self.e, self.b, self.symbol = emission, emission.b, symbol
        self.scan = symbol.index
        self._step = emission.inner(*self.scan.flat)
        self._start = emission.scratch(self._step.memory)
        emission.calls += [call.moved(self._start) for call in self._step.calls]

    def write(self) -> None:
        """Put what is the same at all times in the memory of the step, and repeat it."""
        e, b, scan, n = self.e, self.b, self.scan, self.scan.size
        readers = [e.reader(a) for a in self.symbol.args]
        sizes = [prod(shape) for shape in scan.step.shapes]
        starts = [INT(int(start)) for start in np.cumsum([0, *sizes])]
        end = INT(scan.length * n)

        def give(i: int, first: Any) -> None:
            """Let the step have elements of what is given, from one on."""
            self._each(
                sizes[i], lambda k: self._give(b.add(starts[i], k), readers[i](b.add(first, k)))
            )

        for i in (0, *range(1 + scan.sequences, len(sizes))):
            give(i, INT(0))
        self._each(scan.added, lambda k: e.put(self.symbol, b.add(end, k), e.splat(0.0)))
        with e.count_to(INT(scan.length), down=scan.back) as t:
            for i in range(1, 1 + scan.sequences):
                give(i, b.mul(t, INT(sizes[i])))
            b.call(self._step.function, [e.pointer_at(self._start, DOUBLE)])

            def keep(k: Any) -> None:
                value = self._result(k)
                self._give(k, value)
                e.put(self.symbol, b.add(b.mul(t, INT(n)), k), value)

            def add(k: Any) -> None:
                at = b.add(end, k)
                total = b.fadd(e.get(self.symbol, at), self._result(b.add(INT(n), k)))
                e.put(self.symbol, at, total)

            self._each(n, keep)
            self._each(scan.added, add)

    def _each(self, size: int, function: Callable[[Any], None]) -> None:
        if size:
            with self.e.count_to(INT(size)) as k:
                function(k)

    def _give(self, i: Any, value: Any) -> None:
        self.e.store_at(self._start + self._step.places[0], i, value)

    def _result(self, i: Any) -> Any:
        return self.e.load_at(self._start + self._step.places[2], i)
