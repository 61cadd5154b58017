"""Machine code of recurrences: a loop over the times that calls a function of the step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from probmodel.compiler.control import INT
from probmodel.compiler.part_writer import Part
from probmodel.compiler.symbols import Symbol

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission


class ScanWriter:
    """Writes one recurrence; see `scans`."""

    def __init__(self, emission: Emission, symbol: Symbol) -> None:
        self.e, self.b, self.symbol = emission, emission.b, symbol
        self.scan = symbol.index
        self.step = Part(emission, self.scan.step)

    def write(self) -> None:
        """Tell the step what is the same at all times, and repeat it."""
        e, b, scan, step = self.e, self.b, self.scan, self.step
        readers = [e.reader(a) for a in self.symbol.args]
        n, added, end = INT(scan.size), INT(scan.added), INT(scan.length * scan.size)
        for i in (0, *range(1 + scan.sequences, len(readers))):
            step.give_all(i, readers[i])
        with e.count_to(added) as k:
            e.put(self.symbol, b.add(end, k), e.splat(0.0))
        with e.count_to(INT(scan.length), down=scan.back) as t:
            for i in range(1, 1 + scan.sequences):
                step.give_all(i, readers[i], b.mul(t, INT(step.sizes[i])))
            step.run()
            with e.count_to(n) as k:
                value = step.result(k)
                step.give(0, k, value)
                e.put(self.symbol, b.add(b.mul(t, n), k), value)
            with e.count_to(added) as k:
                at = b.add(end, k)
                total = b.fadd(e.get(self.symbol, at), step.result(b.add(n, k)))
                e.put(self.symbol, at, total)
