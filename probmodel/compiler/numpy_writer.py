"""The source of a NumPy program: a line for each operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.compiler import numpy_functions as own
from probmodel.compiler.numpy_source import (
    Source,
    cut_source,
    shape_source,
    sizes_source,
    strided_source,
)
from probmodel.compiler.patterns import affine, padded, regular
from probmodel.compiler.schedule import ordered
from probmodel.compiler.symbols import ELEMENTWISE, Symbol
from probmodel.types import Array

_OPERATORS = {
    "add": "{} + {}", "subtract": "{} - {}", "multiply": "{} * {}", "divide": "{} / {}",
    "negative": "-{}", "reciprocal": "one / {}",
}  # fmt: skip
_TRUTHS = frozenset(
    {
        "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and",
        "logical_or", "logical_not", "isnan", "isfinite", "isinf",
    }
)  # fmt: skip
_REDUCTIONS = {"sum": "add_reduce", "max": "maximum_reduce", "min": "minimum_reduce"}
_FEW = 512  # elements that a product with ones adds up faster than a sum


class Writer(Source):
    """Writes a function of the inputs."""

    def function(self, outputs: Sequence[Any]) -> str:
        """Return the source of ``run``, a function of the inputs that returns the outputs."""
        symbols = list(ordered(o for o in outputs if isinstance(o, Symbol)))
        skipped = _only_added_up(symbols, outputs)
        solved = Counter(s.args[0] for s in symbols if s.op == "solve" and _is_factor(s.args[0]))
        self._inverted = {x for x, count in solved.items() if count > 1}
        for symbol in symbols:
            if symbol.op != "input" and symbol not in skipped:
                self._write(symbol)
        results, seen = [], set()
        for output in outputs:
            results.append(self._result(output, id(output) in seen))
            seen.add(id(output))
        arguments = ", ".join(self._variables[x] for x in self._inputs)
        body = [f"n = len({self._variables[self._inputs[0]]})", *self._statements()]
        returned = f"return ({', '.join(results)}{',' * bool(results)})"
        lines = "\n".join(f"    {line}" for line in [*body, returned])
        return f"def run({arguments}):\n{lines}\n"

    def _write(self, symbol: Symbol) -> None:
        if symbol.op in ELEMENTWISE:
            text = self._elementwise(symbol)
        else:
            text = getattr(self, f"_{symbol.op.lower().replace(' ', '_')}")(symbol)
        self._variables[symbol] = f"v{len(self._variables)}"
        if text != self._variables[symbol]:
            self._let(self._variables[symbol], text)
        self._uses = []

    def _elementwise(self, symbol: Symbol) -> str:
        name, rank = symbol.op, symbol.ndim
        if name.startswith("logical"):
            texts = [self._truth(a, rank) for a in symbol.args]
        elif name == "where":
            condition, *others = symbol.args
            texts = [self._truth(condition, rank), *(self._operand(a, rank) for a in others)]
        else:
            texts = [self._operand(a, rank) for a in symbol.args]
        if name in _TRUTHS:
            self._truths.add(symbol)
        if all(not isinstance(a, Symbol) or not a.ndim or a in self._solid for a in symbol.args):
            self._solid.add(symbol)
        if name in _OPERATORS:
            return _OPERATORS[name].format(*texts)
        if name == "expit":
            e = self._exp_of_most(texts[0])
            return f"{e} / (one + {e})"
        if name == "logaddexp" and any(_is(a, 0.0) for a in symbol.args):
            x = texts[1 if _is(symbol.args[0], 0.0) else 0]
            return f"{self._function('softplus', own.softplus)}({x}, {self._exp_of_most(x)})"
        return f"{self._function(name, own.elementwise(name))}({', '.join(texts)})"

    def _exp_of_most(self, name: str) -> str:
        function = self._function("exp_of_most", own.exp_of_most)
        return self._variant(name, "e", f"{function}({name})")

    def _view(self, symbol: Symbol) -> str:
        (source,), index = symbol.args, symbol.index
        name = self._raw(source, 0)
        if source in self._truths:
            self._truths.add(symbol)
        pattern = regular(index)
        if pattern is None:
            self._solid.add(symbol)
            flat = name if source.ndim == 1 else f"{name}.reshape(n, {source.size})"
            return f"{flat}.take({self._constant(index)}, 1)"
        if index.size == source.size and np.array_equal(index.reshape(-1), np.arange(index.size)):
            if source in self._solid:
                self._solid.add(symbol)
            return f"{name}.reshape({sizes_source(index.shape)})"
        if source.ndim == 1 and index.ndim < 2 and pattern.shape == index.shape:
            cut = cut_source(pattern)
            if cut is not None:
                return f"{name}[:, {cut}]"
        if source not in self._solid:
            name = f"ascontiguousarray({name})"
        text = strided_source(name, pattern, source.size, symbol in self._truths)
        if pattern.shape == index.shape:
            return text
        return f"{text}.reshape({sizes_source(index.shape)})"

    def _sum(self, symbol: Symbol) -> str:
        (x,), axes = symbol.args, symbol.index
        everything = len(axes) == x.ndim
        factors = _factors(symbol)
        if everything or x in self._solid:
            self._solid.add(symbol)
        if factors is not None:
            a, b = factors
            if not everything:
                return f"vecdot({self._operand(a, x.ndim)}, {self._operand(b, x.ndim)})"
            known = next((f for f in factors if not isinstance(f, Symbol)), None)
            if known is None:
                return f"vecdot({self._rows(a)}, {self._rows(b)})"
            return f"{self._rows(a if known is b else b)} @ {self._rows(known)}"
        if everything and x.size <= _FEW:
            ones = self._known_ones(x.size)
            return f"{self._rows(x)} @ {ones}"
        return self._reduced(symbol)

    def _known_ones(self, size: int) -> str:
        name = f"ones_{size}"
        self.names.setdefault(name, np.ones(size))
        return name

    def _reduced(self, symbol: Symbol) -> str:
        (x,), axes = symbol.args, tuple(a + 1 for a in symbol.index)
        over = str(axes[0] if len(axes) == 1 else axes)
        return f"{_REDUCTIONS[symbol.op]}({self._operand(x, 0)}, {over})"

    _max = _min = _reduced

    def _matmul(self, symbol: Symbol) -> str:
        matrix, vector = symbol.args
        self._solid.add(symbol)
        turned = self._known("T", matrix, np.ascontiguousarray(matrix.T))
        return f"{self._operand(vector, 1)} @ {turned}"

    def _recurrence(self, symbol: Symbol) -> str:
        (x, *ratios), rank, direction = symbol.args, symbol.ndim, symbol.index
        if len(ratios) == 1 and _is(ratios[0], 1.0):
            text = self._batched(x)
            if direction == 1:
                return f"add_accumulate({text}, {rank})"
            return f"add_accumulate({text}[..., ::-1], {rank})[..., ::-1]"
        constant = [padded(a.shape, rank)[-1] == 1 for a in ratios]
        name = "recurrence"
        if all(constant):
            name = "constant_recurrence"
        elif len(ratios) == 1:
            name = "varying_recurrence"
        texts = [self._batched(x)]
        for a in ratios:
            if isinstance(a, Symbol):
                texts.append(self._operand(a, rank))
            else:
                texts.append(self._known("axes", a, a.reshape(padded(a.shape, rank + 1))))
        return f"{self._function(name, getattr(own, name))}({direction}, {', '.join(texts)})"

    def _factor(self, symbol: Symbol) -> str:
        return f"{self._function('factor', own.factor)}({self._batched(symbol.args[0])})"

    def _solve(self, symbol: Symbol) -> str:
        lower, b = symbol.args
        if isinstance(lower, Symbol) and lower in self._inverted:
            name = self._variables[lower]
            inverse = self._function("inverse", own.inverse)
            text = self._variant(name, "inverse", f"{inverse}({name})")
            turned = ".swapaxes(2, 3)" if symbol.index else ""
            return f"matmul({text}{turned}, {self._operand(b, 3)})"
        if not isinstance(lower, Symbol) and len(lower) == 1:
            text = self._known("matrix", lower, lower[0])
        else:
            text = self._batched(lower)
        solve = self._function("solve", own.solve)
        return f"{solve}({text}, {self._batched(b)}, {bool(symbol.index)})"

    def _product(self, symbol: Symbol) -> str:
        return f"matmul({', '.join(self._operand(a, 3) for a in symbol.args)})"

    def _equations(self, symbol: Symbol) -> str:
        texts = ", ".join(map(self._batched, symbol.args))
        return f"{self._function('equations', own.equations)}({texts})"

    def _determinant(self, symbol: Symbol) -> str:
        determinant = self._function("determinant", own.determinant)
        return f"{determinant}({self._batched(symbol.args[0])}, {bool(symbol.index)})"

    def _hidden_markov(self, symbol: Symbol) -> str:
        texts = ", ".join(map(self._batched, symbol.args))
        return f"{self._function('hidden_markov', own.hidden_markov)}({texts})"

    def _call(self, symbol: Symbol) -> str:
        name = f"{symbol.op}_{len(self._lines)}"
        texts = ", ".join(map(self._batched, symbol.args))
        return f"{self._function(name, symbol.index)}({texts})"

    _scan = _call

    def _place(self, symbol: Symbol) -> str:
        out, size = f"v{len(self._variables)}", symbol.size
        parts = sorted(zip(symbol.args, symbol.index, strict=True), key=lambda part: -part[1].size)
        written, assigned = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
        statements = []
        for x, index in parts:
            present, counts = np.unique(index, return_counts=True)
            fresh = not written[present].any()
            written[present] = True
            assigned[present] |= fresh
            statements.append((x, index, "=" if fresh else "+=", bool(counts.max() > 1)))
        make = "empty" if assigned.all() else "zeros"
        self._let(out, f"{make}((n, {size}))")
        for x, index, sign, repeated in statements:
            self._put(out, x, index, sign, size, repeated)
        self._solid.add(symbol)
        self._uses.append(out)
        return out if symbol.ndim == 1 else f"{out}.reshape({sizes_source(symbol.shape)})"

    def _put(self, out: str, x: Any, index: Array, sign: str, size: int, repeated: bool) -> None:
        """Put a part in its places."""
        text = self._operand(x, index.ndim)
        if repeated:
            if np.shape(x) != index.shape or not isinstance(x, Symbol):
                text = f"broadcast_to({text}, {shape_source(index.shape)})"
            if index.ndim != 1:
                text = f"{text}.reshape(n, {index.size})"
            flat = index.reshape(-1)
            present = np.unique(flat)
            adder = self._known("sums", index, own.adder(flat))
            text, index = f"{adder}({text})", present
        target = self._target(out, index, size)
        self._uses.append(out)
        self._let("", f"{target} {sign} {text}")

    def _target(self, out: str, index: Array, size: int) -> str:
        pattern = affine(index)
        if pattern is None:
            return f"{out}[:, {self._constant(index)}]"
        cut = cut_source(pattern) if index.ndim < 2 else None
        if cut is not None:
            return f"{out}[:, {cut}]"
        return f"{strided_source(out, pattern, size, False)}[...]"

    def _result(self, output: Any, again: bool) -> str:
        """Return an output, an array of its own."""
        if not isinstance(output, Symbol):
            return f"full({shape_source(np.shape(output))}, {self._constant(np.asarray(output))})"
        name = self._used(self._variables[output])
        if output in self._truths:
            return f"{name}.astype(float)"
        if again or output.op in ("input", "view", "call", "scan"):
            return f"array({name})"
        return f"ascontiguousarray({name})"


def _factors(total: Symbol) -> tuple[Any, Any] | None:
    """Return two arrays whose products are added up, over all axes or the last one."""
    (x,) = total.args
    if x.op not in ("multiply", "square"):
        return None
    a, b = x.args if x.op == "multiply" else x.args * 2
    if len(total.index) == x.ndim:
        return (a, b) if a.shape == b.shape == x.shape else None
    along = total.index == (x.ndim - 1,) and all(f.shape[-1:] == x.shape[-1:] for f in (a, b))
    return (a, b) if along else None


def _only_added_up(symbols: Sequence[Symbol], outputs: Sequence[Any]) -> set[Symbol]:
    """Return the products that nothing but sums of products needs."""
    uses = Counter(a for s in symbols for a in s.args if isinstance(a, Symbol))
    uses.update(o for o in outputs if isinstance(o, Symbol))
    summed = Counter(s.args[0] for s in symbols if s.op == "sum" and _factors(s) is not None)
    return {x for x, n in summed.items() if uses[x] == n}


def _is_factor(x: Any) -> bool:
    return isinstance(x, Symbol) and x.op == "factor"


def _is(x: Any, number: float) -> bool:
    return not isinstance(x, Symbol) and not x.ndim and float(x) == number
