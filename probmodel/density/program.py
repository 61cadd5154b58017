"""A straight-line program of array operations, recorded once and replayed.

The graph of a bound model never changes, so the order of its operations is worked out once.
A value is one pass forwards over the list of steps. A gradient adds one pass backwards with the
derivative rules that autograd registers (`autograd.core.primitive_vjps`), both written out once
as a Python function: the same rules as autograd's tracer, without its boxes and its sorting on
every call. Higher derivatives run the tracer itself over the same steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import primitive_vjps
from autograd.extend import defvjp_argnums, primitive

from probmodel.density.codegen import compile_gradient
from probmodel.density.reference import Ref
from probmodel.density.rules import source_rules
from probmodel.distributions.base import Distribution
from probmodel.types import Array


class Step:
    """One operation: a function, the slots of its arguments, constants in between.

    Attributes
    ----------
    primitive : the function as autograd knows it
    gradient_function : what is called where derivatives follow
    maker : autograd's rule; None for functions without derivative
    rules : derivatives as source, where static shapes allow it
    argnums, sources : positions and slots of the arguments that derivatives flow to
    with_vjp : what gives value and derivatives by one pass of autograd through a formula, or None
    """

    is_density = False

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], out: Ref
    ) -> None:
        self.primitive = function
        self.function = getattr(function, "fun", function)  # without autograd's dispatch
        self.gradient_function = self.function
        self.maker = primitive_vjps.get(function)
        self.constants = [None if isinstance(a, Ref) else a for a in args]
        self.inputs = [(i, a.slot) for i, a in enumerate(args) if isinstance(a, Ref)]
        active = [(i, a) for i, a in enumerate(args) if isinstance(a, Ref) and a.active]
        self.argnums = tuple(i for i, _ in active)
        self.sources = tuple(ref.slot for _, ref in active)
        self.with_vjp = getattr(function, "with_vjp", None) if active else None
        self.kwargs = kwargs
        self.out = out.slot
        self.rules = source_rules(function, self.argnums, args, out.shape, kwargs)

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


class DensityStep(Step):
    """A distribution's summed log density, whose closed-form partials come with its value."""

    is_density = True

    def __init__(self, distribution: Distribution, args: Sequence[Any], out: Ref) -> None:
        super().__init__(density_primitive(distribution), args, {}, out)
        self.gradient_function = distribution.prepared(self.constants)


def density_primitive(distribution: Distribution) -> Callable[..., Any]:
    """Register a distribution's summed log density with autograd, to any order."""

    @primitive
    def summed(*args: Any) -> Array:
        return distribution.summed((), *args)[0]

    event_ndims = distribution.event_ndims

    def make_vjp(argnums: Sequence[int], ans: Any, args: Any, kwargs: Any) -> Callable[..., Any]:
        thunks = distribution.partials(anp, *args)

        def vjp(g: Any) -> Any:
            return tuple(_reduce(g, thunks[i](), args, event_ndims, i) for i in argnums)

        return vjp

    defvjp_argnums(summed, make_vjp)
    return summed


def _reduce(g: Any, partial: Any, args: Any, event_ndims: Sequence[int], i: int) -> Any:
    """Chain rule for one argument, summed over the axes along which it was broadcast."""
    shapes = [anp.shape(a) for a in args]
    batch = np.broadcast_shapes(
        *(s[: len(s) - e] for s, e in zip(shapes, event_ndims, strict=True))
    )
    event = shapes[i][len(shapes[i]) - event_ndims[i] :]
    full = batch + event
    ones = np.ones(full)
    weighted = ones * partial * anp.reshape(g, anp.shape(g) + (1,) * (len(full) - 1))
    axes = tuple(k for k, (m, n) in enumerate(zip(shapes[i], full, strict=True)) if m != n)
    return anp.sum(weighted, axis=axes, keepdims=True) if axes else weighted


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
        self.steps.append(DensityStep(distribution, args, out))
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

    @cached_property
    def sum_and_gradient(self) -> Callable[..., tuple[Array, list[Array | None]]]:
        """Function of the inputs: the sum of the outputs, and its gradient for each input.

        The sum is one number a chain; a derivative is None for an input that no output needs.
        """
        return compile_gradient(self)

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
