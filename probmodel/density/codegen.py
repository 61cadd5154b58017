"""Straight-line Python source for a program's gradient.

Interpreting a list of steps costs a few microseconds a step, which is most of the cost of a small
model. The same steps written out as one Python function cost a fraction of that. The source of a
model's gradient can be read: ``as_posterior(model).gradient_source``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.density.numbers import compiled
from probmodel.density.reference import Ref
from probmodel.density.rules import Rule, Scaled
from probmodel.density.source import operation_source
from probmodel.distributions.sums import row_total

if TYPE_CHECKING:
    from probmodel.density.program import Program, Step

_HELPERS = {
    "exp": np.exp,
    "sin": np.sin,
    "cos": np.cos,
    "sign": np.sign,
    "vecdot": np.vecdot,
    "broadcast_to": np.broadcast_to,
    "concatenate": np.concatenate,
    "row_total": row_total,
    "add_reduce": np.add.reduce,
    "add_accumulate": np.add.accumulate,
    "ones": np.ones,
    "zeros": np.zeros,
    "full": np.full,
    "inf": np.inf,
    "nan": np.nan,
}


def gradient_source(program: Program) -> tuple[str, dict[str, Any]]:
    """Return the source of ``gradient(*inputs)`` and the constants it refers to.

    The function returns the sum of the outputs and a list with the derivative for each input, or
    None where there is none.
    """
    return _Writer(program).write()


def compile_gradient(program: Program) -> Callable[..., tuple[Any, list[Any]]]:
    """Return the function of `gradient_source`."""
    source, names = gradient_source(program)
    return _made("gradient", source, names)


def compile_values(program: Program) -> Callable[..., Any]:
    """Return a function of the inputs that computes the one output of a program."""
    source, names = _Writer(program).write_values()
    return _made("value", source, names)


def _made(name: str, source: str, names: dict[str, Any]) -> Callable[..., Any]:
    """Run the source of a function, and return the function."""
    code, numbers = compiled(source, f"<{name} of a model>")
    names.update(numbers)
    exec(code, names)
    function: Callable[..., Any] = names[name]
    return function


class _Writer:
    """Writes one function: values forwards (``v3``), derivatives backwards (``g3``).

    A derivative is put together from what its steps contribute. Contributions that are the same
    number everywhere (``uniform``) and arrays times a number (``arrays``) are kept apart until
    their sum is needed.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names: dict[str, Any] = dict(_HELPERS)
        self.lines: list[str] = []
        self.uniform: dict[int, float] = {}
        self.arrays: dict[int, Scaled] = {}
        self.owned: set[int] = set()  # slots whose derivative may be changed in place
        for output in program.outputs:
            if isinstance(output, Ref):
                self._add(output.slot, Scaled(1.0, None))

    def write(self) -> tuple[str, dict[str, Any]]:
        """Write the function of the value and the derivatives."""
        for i, step in enumerate(self.program.steps):
            self._forward(i, step)
        for i, step in reversed(list(enumerate(self.program.steps))):
            self._backward(i, step)
        grads = ", ".join(self._input_gradient(ref.slot) for ref in self.program.inputs)
        return self._function("gradient", f"{self._total()}, [{grads}]"), self.names

    def write_values(self) -> tuple[str, dict[str, Any]]:
        """Write the function that computes the one output, which varies."""
        for i, step in enumerate(self.program.steps):
            self._value(i, step, step.function)
        (output,) = self.program.outputs
        return self._function("value", f"v{output.slot}"), self.names

    def _function(self, name: str, result: str) -> str:
        inputs = ", ".join(f"v{ref.slot}" for ref in self.program.inputs)
        body = "\n".join(f"    {line}" for line in [*self.lines, f"return {result}"])
        return f"def {name}({inputs}):\n{body}\n"

    def _total(self) -> str:
        outputs = self.program.outputs
        constant = float(sum(np.sum(o) for o in outputs if not isinstance(o, Ref)))
        parts = [f"v{o.slot}" for o in outputs if isinstance(o, Ref)]
        return " + ".join([*parts, repr(constant)] if constant or not parts else parts)

    def _input_gradient(self, slot: int) -> str:
        uniform, part = self.uniform.get(slot), self.arrays.get(slot)
        if part is None:
            return "None" if uniform is None else _filled(slot, uniform)
        text = _times(part.number, part.array)
        return f"{text} + {uniform!r}" if uniform else text

    def _arguments(self, i: int, step: Step) -> list[str]:
        slots = dict(step.inputs)
        return [
            f"v{slots[position]}" if position in slots else self._constant(i, position, constant)
            for position, constant in enumerate(step.constants)
        ]

    def _constant(self, i: int, position: int, constant: Any) -> str:
        """Name a constant; a number stands for itself."""
        if isinstance(constant, (int, float)) and isfinite(constant):
            return repr(constant) if isinstance(constant, int) else repr(float(constant))
        name = f"k{i}_{position}"
        self.names[name] = constant
        return name

    def _forward(self, i: int, step: Step) -> None:
        args = ", ".join(self._arguments(i, step))
        if step.is_density:
            self.names[f"f{i}"] = step.gradient_function
            self.lines.append(f"v{step.out}, p{i} = f{i}({step.argnums}, {args})")
        elif step.with_vjp is not None:
            self.names[f"f{i}"] = step.with_vjp
            self.lines.append(f"v{step.out}, t{i} = f{i}({step.argnums}, {args})")
        else:
            self._value(i, step, step.gradient_function)

    def _value(self, i: int, step: Step, function: Any) -> None:
        """Write the value of a step, by its source or by a call."""
        args = self._arguments(i, step)
        source = operation_source(step.primitive, step.constants, args, step.kwargs)
        if source is None:
            self.names[f"f{i}"] = function
            if step.kwargs:
                self.names[f"o{i}"] = step.kwargs
                args.append(f"**o{i}")
            source = f"f{i}({', '.join(args)})"
        self.lines.append(f"v{step.out} = {source}")

    def _backward(self, i: int, step: Step) -> None:
        if not step.sources or not (step.out in self.uniform or step.out in self.arrays):
            return
        parts = self._derivatives(i, step, self._cotangent(step.out))
        for slot, part in zip(step.sources, parts, strict=True):
            self._add(slot, part)

    def _add(self, slot: int, part: Scaled) -> None:
        """Add to the derivative of a slot."""
        if part.place:
            self._add_at(slot, part)
        elif part.array is None:
            self.uniform[slot] = self.uniform.get(slot, 0.0) + part.number
        elif slot not in self.arrays:
            self._assign(slot, part)
        else:
            self._join(slot, self.arrays[slot], part)

    def _assign(self, slot: int, part: Scaled) -> None:
        """Make an array the derivative of a slot."""
        if not _is_name(part.array):
            self.lines.append(f"g{slot} = {part.array}")
            part = Scaled(part.number, f"g{slot}")
        self.arrays[slot] = part

    def _join(self, slot: int, first: Scaled, second: Scaled) -> None:
        """Add two arrays; numbers that they share stay apart."""
        self.owned.discard(slot)
        if abs(first.number) == abs(second.number):
            sign = "+" if first.number == second.number else "-"
            text, number = f"{first.array} {sign} {second.array}", first.number
        else:
            left, right = (_times(part.number, part.array) for part in (first, second))
            text, number = f"{left} + {right}", 1.0
        self.lines.append(f"g{slot} = {text}")
        self.arrays[slot] = Scaled(number, f"g{slot}")

    def _add_at(self, slot: int, part: Scaled) -> None:
        """Add to some elements, in an array that belongs to this slot alone."""
        assign = slot not in self.arrays
        if assign:
            self.lines.append(f"g{slot} = zeros(v{slot}.shape)")
        elif slot not in self.owned:
            held = self.arrays[slot]
            self.lines.append(f"g{slot} = {held.number!r} * {held.array}")
        self.arrays[slot] = Scaled(1.0, f"g{slot}")
        self.owned.add(slot)
        text = repr(part.number) if part.array is None else _times(part.number, part.array)
        self.lines.append(f"g{slot}{part.place} {'=' if assign else '+='} {text}")

    def _cotangent(self, slot: int) -> Scaled:
        """Return the derivative of the sum of outputs with respect to a slot."""
        uniform, part = self.uniform.get(slot, 0.0), self.arrays.get(slot)
        if part is None:
            return Scaled(uniform, None)
        if uniform:
            self.lines.append(f"g{slot} = {_times(part.number, part.array)} + {uniform!r}")
            return Scaled(1.0, f"g{slot}")
        return part

    def _derivatives(self, i: int, step: Step, g: Scaled) -> Sequence[Scaled]:
        if step.is_density:
            return [self._weighed(g, f"p{i}[{k}]") for k in range(len(step.sources))]
        if step.rules is not None:
            parts = self._by_rules(i, step, step.rules, g)
            if None in parts:
                parts = self._by_rules(i, step, step.rules, Scaled(1.0, self._array(step.out, g)))
            return [part for part in parts if part is not None]
        array = self._array(step.out, g)
        if step.with_vjp is not None:
            self.lines.append(f"d{i} = t{i}({array})")
        else:
            self.names[f"m{i}"] = step.maker
            options, args = f"o{i}" if step.kwargs else "{}", ", ".join(self._arguments(i, step))
            call = f"m{i}({step.argnums}, v{step.out}, ({args},), {options})({array})"
            self.lines.append(f"d{i} = tuple({call})")
        return [Scaled(1.0, f"d{i}[{k}]") for k in range(len(step.sources))]

    def _by_rules(
        self, i: int, step: Step, rules: Sequence[Rule], g: Scaled
    ) -> list[Scaled | None]:
        args = self._arguments(i, step)
        names = {"y": f"v{step.out}", "a": args[0], "b": args[1] if len(args) > 1 else ""}
        return [rule(g, names) for rule in rules]

    def _weighed(self, g: Scaled, partial: str) -> Scaled:
        """Multiply a partial derivative by one number for each chain."""
        if g.array is None:
            return Scaled(g.number, partial)
        self.names["weigh"] = weigh
        return Scaled(g.number, f"weigh({g.array}, {partial})")

    def _array(self, slot: int, g: Scaled) -> str:
        """Write a derivative as one array, and name it."""
        if g.array is not None and g.number == 1.0:
            return g.array
        text = _filled(slot, g.number) if g.array is None else _times(g.number, g.array)
        self.lines.append(f"g{slot} = {text}")
        return f"g{slot}"


def _is_name(text: str | None) -> bool:
    """Whether an expression is a variable, or an element of a tuple."""
    return text is not None and re.fullmatch(r"\w+(\[\d+\])?", text) is not None


def _times(number: float, array: str | None) -> str:
    """Multiply an array by a number."""
    if number == 1.0:
        return str(array)
    return f"-({array})" if number == -1.0 else f"{number!r} * ({array})"


def _filled(slot: int, number: float) -> str:
    """Fill an array like a value with a number."""
    return f"ones(v{slot}.shape)" if number == 1.0 else f"full(v{slot}.shape, {number!r})"


def weigh(g: Any, partial: Any) -> Any:
    """Multiply a partial derivative by one number for each chain."""
    return partial * g.reshape(g.shape + (1,) * (partial.ndim - 1))
