"""A straight-line program of array operations on all chains, recorded once and replayed.

Values are one pass over the list of steps. Second derivatives run autograd's tracer over them.
Gradients are the business of `compiler`, whose programs are of one chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from autograd.core import primitive_vjps

from probmodel.density.reference import Ref
from probmodel.distributions.base import Distribution
from probmodel.distributions.sums import summed
from probmodel.types import Array


class Step:
    """One operation: a function, the slots of its arguments, constants in between.

    Attributes
    ----------
    primitive : the function as autograd knows it
    function : the same without autograd's dispatch
    """

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], out: Ref
    ) -> None:
        self.primitive = function
        self.function = getattr(function, "fun", function)
        self.constants = [None if isinstance(a, Ref) else a for a in args]
        self.inputs = [(i, a.slot) for i, a in enumerate(args) if isinstance(a, Ref)]
        self.kwargs = kwargs
        self.out = out.slot

    def arguments(self, env: list[Any]) -> list[Any]:
        """Put the values of the slots between the constants."""
        args = self.constants.copy()
        for position, slot in self.inputs:
            args[position] = env[slot]
        return args

    def value(self, env: list[Any]) -> None:
        """Compute the value."""
        env[self.out] = self.function(*self.arguments(env), **self.kwargs)

    def trace(self, env: list[Any]) -> None:
        """Compute the value with autograd's boxes."""
        env[self.out] = self.primitive(*self.arguments(env), **self.kwargs)


def _key(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Return what tells equal steps, or None for steps with constants that are not numbers."""
    if all(isinstance(a, (Ref, int, float)) for a in args):
        # Written out, as True equals 1 and -0.0 equals 0.0.
        known = tuple(a if isinstance(a, Ref) else repr(a) for a in args)
        return function, known, tuple(sorted(kwargs.items()))
    return None


class Recorder:
    """Collects the steps of a program."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.inputs: list[Ref] = []
        self._slots = 0
        self.row_size = 0  # numbers that a row of the values of all steps is made of
        self._known: dict[Any, Ref] = {}
        self.made: dict[int, tuple[Callable[..., Any], tuple[Any, ...]]] = {}  # by slot

    def _new(self, shape: tuple[int, ...], active: bool = True) -> Ref:
        self._slots += 1
        self.row_size += prod(shape)
        return Ref(self._slots - 1, shape, active)

    def input(self, shape: tuple[int, ...], active: bool = True) -> Ref:
        """Add an input of the program, of this shape for each chain."""
        ref = self._new(shape, active)
        self.inputs.append(ref)
        return ref

    def emit(
        self, function: Callable[..., Any], *args: Any, shape: tuple[int, ...], **kwargs: Any
    ) -> Ref:
        """Add a step and return its result. ``function`` is a primitive of autograd.

        A step that stands there already is not added again.
        """
        key = _key(function, args, kwargs)
        if key in self._known:
            return self._known[key]
        differentiable = function in primitive_vjps  # comparisons and rounding are not
        active = differentiable and any(isinstance(a, Ref) and a.active for a in args)
        out = self._new(shape, active)
        self.steps.append(Step(function, args, kwargs, out))
        self.made[out.slot] = function, args
        if key is not None:
            self._known[key] = out
        return out

    def emit_density(self, distribution: Distribution, args: Sequence[Any]) -> Ref:
        """Add the summed log density of a distribution: one number for each chain."""
        out = self._new(())
        self.steps.append(Step(partial(summed, distribution), args, {}, out))
        return out

    def finish(self, outputs: Sequence[Ref | Array]) -> Program:
        """Return the program that computes ``outputs``, without steps they do not need."""
        needed = {o.slot for o in outputs if isinstance(o, Ref)}
        steps = []
        for step in reversed(self.steps):
            if step.out in needed:
                needed.update(slot for _, slot in step.inputs)
                steps.append(step)
        return Program(self.inputs, steps[::-1], list(outputs), self._slots, self.row_size)


class Program:
    """A recorded computation of outputs from inputs, each leading with the chain axis.

    Parameters
    ----------
    inputs : one reference per input
    steps : in order of execution
    outputs : references, or constants that no input touches
    slots : how many values the program keeps
    numbers : that a row of all these values is made of
    """

    def __init__(
        self,
        inputs: Sequence[Ref],
        steps: Sequence[Step],
        outputs: Sequence[Any],
        slots: int,
        numbers: int = 0,
    ) -> None:
        self.inputs = list(inputs)
        self.steps = list(steps)
        self.outputs = list(outputs)
        self._slots, self.numbers = slots, numbers

    def values(self, inputs: Sequence[Array]) -> list[Array]:
        """Return the outputs: (chains, *shape) each."""
        env = self._environment(inputs)
        for step in self.steps:
            step.value(env)
        chains = len(inputs[0])
        return [
            env[o.slot] if isinstance(o, Ref) else np.broadcast_to(o, (chains, *np.shape(o)))
            for o in self.outputs
        ]

    def traced(self, inputs: Sequence[Any]) -> list[Any]:
        """Return the outputs, traceable by autograd; constants as they are."""
        env = self._environment(inputs)
        for step in self.steps:
            step.trace(env)
        return [env[o.slot] if isinstance(o, Ref) else o for o in self.outputs]

    def traced_sum(self, inputs: Sequence[Any]) -> Any:
        """Return the sum of the outputs, traceable by autograd."""
        total = 0.0
        for output in self.traced(inputs):
            total = total + output
        return total

    def _environment(self, inputs: Sequence[Any]) -> list[Any]:
        env: list[Any] = [None] * self._slots
        for ref, value in zip(self.inputs, inputs, strict=True):
            env[ref.slot] = value
        return env
