"""Sums of logarithms, as the logarithm of a product: one for a whole loop.

The product is kept near one; the powers of two that it lost are counted beside it. Its relative
error is what adding up logarithms would leave absolutely. Few likelihoods have no such sum: that of
mixtures is one over observations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.compiler.exponentials import LN2_HIGH, LN2_LOW
from probmodel.compiler.lanes import Lanes
from probmodel.compiler.schedule import ordered
from probmodel.compiler.symbols import Symbol

if TYPE_CHECKING:
    from probmodel.compiler.emission import Emission

_MODERATE = 2.0**900  # numbers from its reciprocal on may be multiplied
_MANY = 16  # elements of a sum, at least


def with_log_sums(outputs: Sequence[Any]) -> list[Any]:
    """Return outputs whose sums of logarithms that nothing else needs are "log sum"."""
    symbols = list(ordered(o for o in outputs if isinstance(o, Symbol)))
    rewriting = _Rewriting(symbols)
    for symbol in symbols:
        rewriting.write(symbol)
    return [rewriting.new(o) for o in outputs]


class _Rewriting:
    """Symbols of the new program, by those of the old one."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._uses = Counter(a for s in symbols for a in s.args if isinstance(a, Symbol))
        self._new: dict[Symbol, Symbol] = {}

    def new(self, x: Any) -> Any:
        """Return what stands for an operand."""
        return self._new.get(x, x) if isinstance(x, Symbol) else x

    def write(self, symbol: Symbol) -> None:
        """Write one operation, whose operands are written."""
        if symbol.op == "sum" and symbol.size == 1:
            (x,) = symbol.args
            if x.size >= _MANY and self._has_log(x):
                self._new[symbol] = self._total(x, symbol)
                return
        self._new[symbol] = symbol.with_args(tuple(map(self.new, symbol.args)))

    def _has_log(self, x: Symbol) -> bool:
        """Whether a logarithm that nothing else needs is a summand of an operand."""
        if self._uses[x] != 1 or x.op not in ("log", "add", "subtract"):
            return False
        own = [a for a in x.args if isinstance(a, Symbol) and a.shape == x.shape]
        return len(own) == len(x.args) and (x.op == "log" or any(map(self._has_log, own)))

    def _total(self, x: Symbol, total: Symbol) -> Symbol:
        """Return the sum over all elements of an operand, logarithms apart."""
        value, axes = np.full(total.shape, np.sum(x.value)), total.index
        if not self._has_log(x):
            return Symbol("sum", (self.new(x),), value, axes)
        if x.op == "log":
            return Symbol("log sum", tuple(map(self.new, x.args)), value, axes)
        return Symbol(x.op, tuple(self._total(a, total) for a in x.args), value)


class LogSum:
    """A sum of logarithms in a loop.

    Parameters
    ----------
    emission : where the loop is written, which comes next
    """

    def __init__(self, emission: Emission) -> None:
        self._e = emission
        self._product, self._twos, self._rare = map(emission.variable, (1.0, 0.0, 0.0))

    def add(self, number: Any) -> None:
        """Add the logarithm of a number."""
        e, w = self._e, self._e.arithmetic
        x = Lanes(w, number)
        moderate = (x > 1.0 / _MODERATE) & (x < _MODERATE)
        with e.b.if_then(w.any(~moderate), likely=False):
            own = w.select(moderate, 0.0, w.call("log", x))
            self._set(self._rare, self._get(self._rare) + own)
        twos, product, _ = w.split(self._get(self._product) * w.select(moderate, x, 1.0))
        self._set(self._product, product)
        self._set(self._twos, self._get(self._twos) + twos)

    def total(self) -> Any:
        """Return the sum, after the loop."""
        w = self._e.arithmetic
        twos = self._get(self._twos)
        log = w.call("log", self._get(self._product))
        return (w.fma(twos, LN2_HIGH, w.fma(twos, LN2_LOW, log)) + self._get(self._rare)).value

    def _get(self, place: Any) -> Lanes:
        return Lanes(self._e.arithmetic, self._e.b.load(place))

    def _set(self, place: Any, value: Lanes) -> None:
        self._e.b.store(value.value, place)
