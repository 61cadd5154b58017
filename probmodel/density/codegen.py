"""Straight-line Python source for a program's gradient.

Interpreting a list of steps costs a few microseconds a step, which is most of the cost of a small
model. The same steps written out as one Python function cost a fraction of that. The source of a
model's gradient can be read: ``as_posterior(model).gradient_source``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from probmodel.density.program import Program, Step

_HELPERS = {
    "exp": np.exp,
    "sign": np.sign,
    "broadcast_to": np.broadcast_to,
    "add_reduce": np.add.reduce,
    "ones": np.ones,
    "shape": np.shape,
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
    exec(compile(source, "<gradient of a model>", "exec"), names)
    function: Callable[..., tuple[Any, list[Any]]] = names["gradient"]
    return function


def compile_values(program: Program) -> Callable[..., Any]:
    """Return a function of the inputs that computes the one output of a program."""
    source, names = _Writer(program).write_values()
    exec(compile(source, "<function of a model>", "exec"), names)
    function: Callable[..., Any] = names["value"]
    return function


class _Writer:
    """Writes one function: values forwards (``v3``), derivatives backwards (``g3``)."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names: dict[str, Any] = dict(_HELPERS)
        self.lines: list[str] = []
        self.known: set[int] = set()  # slots whose derivative has been written
        self.roots = {o.slot for o in program.outputs if _is_ref(o)}

    def write(self) -> tuple[str, dict[str, Any]]:
        inputs = ", ".join(f"v{ref.slot}" for ref in self.program.inputs)
        for i, step in enumerate(self.program.steps):
            self._forward(i, step)
        for i, step in reversed(list(enumerate(self.program.steps))):
            self._backward(i, step)
        grads = ", ".join(self._input_gradient(ref.slot) for ref in self.program.inputs)
        lines = [*self.lines, f"return {self._total()}, [{grads}]"]
        body = "\n".join(f"    {line}" for line in lines)
        return f"def gradient({inputs}):\n{body}\n", self.names

    def write_values(self) -> tuple[str, dict[str, Any]]:
        """Write the function that computes the one output, which varies."""
        inputs = ", ".join(f"v{ref.slot}" for ref in self.program.inputs)
        for i, step in enumerate(self.program.steps):
            args = ", ".join(self._arguments(i, step))
            self.names[f"f{i}"] = step.function
            self.names[f"o{i}"] = step.kwargs
            options = f", **o{i}" if step.kwargs else ""
            self.lines.append(f"v{step.out} = f{i}({args}{options})")
        (output,) = self.program.outputs
        body = "\n".join(f"    {line}" for line in [*self.lines, f"return v{output.slot}"])
        return f"def value({inputs}):\n{body}\n", self.names

    def _total(self) -> str:
        constant = float(sum(np.sum(o) for o in self.program.outputs if not _is_ref(o)))
        parts = [f"v{o.slot}" for o in self.program.outputs if _is_ref(o)]
        return " + ".join([*parts, repr(constant)] if constant or not parts else parts)

    def _input_gradient(self, slot: int) -> str:
        ones = f"ones(shape(v{slot}))"
        if slot in self.known:
            return f"g{slot} + 1.0" if slot in self.roots else f"g{slot}"
        return ones if slot in self.roots else "None"

    def _arguments(self, i: int, step: Step) -> list[str]:
        names = []
        slots = dict(step.inputs)
        for position, constant in enumerate(step.constants):
            if position in slots:
                names.append(f"v{slots[position]}")
            else:
                name = f"k{i}_{position}"
                self.names[name] = constant
                names.append(name)
        return names

    def _forward(self, i: int, step: Step) -> None:
        args = ", ".join(self._arguments(i, step))
        self.names[f"f{i}"] = step.gradient_function
        if step.is_density:
            self.lines.append(f"v{step.out}, p{i} = f{i}({step.argnums}, {args})")
            return
        if step.with_vjp is not None:
            self.names[f"f{i}"] = step.with_vjp
            self.lines.append(f"v{step.out}, t{i} = f{i}({step.argnums}, {args})")
            return
        if step.kwargs:
            self.names[f"o{i}"] = step.kwargs
            args += f", **o{i}"
        self.lines.append(f"v{step.out} = f{i}({args})")

    def _backward(self, i: int, step: Step) -> None:
        root = step.out in self.roots
        if not step.sources or not (root or step.out in self.known):
            return
        parts = self._derivatives(i, step, self._cotangent(step.out, root))
        for slot, part in zip(step.sources, parts, strict=True):
            self.lines.append(f"g{slot} = g{slot} + {part}" if slot in self.known
                              else f"g{slot} = {part}")  # fmt: skip
            self.known.add(slot)

    def _cotangent(self, slot: int, root: bool) -> str | None:
        """Name the derivative of the sum of outputs with respect to a slot; None stands for 1."""
        if root and slot in self.known:
            self.lines.append(f"g{slot} = g{slot} + 1.0")
        return f"g{slot}" if slot in self.known else None

    def _derivatives(self, i: int, step: Step, g: str | None) -> Sequence[str]:
        if step.is_density:
            partials = [f"p{i}[{k}]" for k in range(len(step.sources))]
            if g is None:
                return partials
            self.names["weigh"] = weigh
            return [f"weigh({g}, {partial})" for partial in partials]
        if g is None:
            g = f"g{step.out}"
            self.lines.append(f"{g} = ones(shape(v{step.out}))")
        args = self._arguments(i, step)
        if step.rules is not None:
            operands = {"a": args[0], "b": args[1] if len(args) > 1 else ""}
            return [f"({rule.format(g=g, y=f'v{step.out}', **operands)})" for rule in step.rules]
        if step.with_vjp is not None:
            self.lines.append(f"d{i} = t{i}({g})")
            return [f"d{i}[{k}]" for k in range(len(step.sources))]
        self.names[f"m{i}"] = step.maker
        options = f"o{i}" if step.kwargs else "{}"
        call = f"m{i}({step.argnums}, v{step.out}, ({', '.join(args)},), {options})({g})"
        self.lines.append(f"d{i} = tuple({call})")
        return [f"d{i}[{k}]" for k in range(len(step.sources))]


def weigh(g: Any, partial: Any) -> Any:
    """Multiply a partial derivative by one number for each chain."""
    return partial * g.reshape(g.shape + (1,) * (partial.ndim - 1))


def _is_ref(output: Any) -> bool:
    from probmodel.density.program import Ref

    return isinstance(output, Ref)
