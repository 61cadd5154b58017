"""The programs of a bound model: its log density, terms, derivatives and values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.tracing import (
    Program,
    Scope,
    Trace,
    dimension,
    evaluated,
    gradient_of_terms,
    traced,
)
from probmodel.expressions import Expression
from probmodel.geometry.hessians import curvature
from probmodel.model import Model
from probmodel.model.binding import Binding
from probmodel.model.parameters import FreeParameter
from probmodel.types import Array

_MOST_KEPT = 1 << 24  # bytes of the data, of which programs may hold copies
_LARGEST = 2.0**62  # from which on results are no integers of 64 bits, as `model.arithmetic` has it


class Gradients:
    """A density and its gradient, written down when they are first asked for.

    Parameters
    ----------
    trace : writes them down
    exact : whether results must not depend on earlier calls, see `compiler.machine.Machine`
    codes : machine code of them, by the lanes, as far as it was made
    """

    def __init__(
        self, trace: Callable[[], Program], exact: bool = False, codes: dict[int, Any] | None = None
    ) -> None:
        self._trace, self.exact = trace, exact
        self.codes: dict[int, Any] = {} if codes is None else codes

    @cached_property
    def gradient(self) -> Program:
        """Both, for one chain."""
        return self._trace()

    @cached_property
    def by_numpy(self) -> NumpyProgram:
        """The same, of unconstrained points: (n, dim) -> (n,), (n, dim)."""
        return NumpyProgram(self.gradient)


class Programs(Gradients):
    """What a bound model computes, each written down when it is first asked for.

    Parameters
    ----------
    binding : the bound model

    Attributes
    ----------
    saved : functions that evaluate variables, by their names, as far as they were made
    """

    def __init__(self, binding: Binding) -> None:
        super().__init__(lambda: traced(binding))
        self._binding = binding
        self._dim = dimension(binding)
        self.saved: dict[tuple[str, ...], Callable[[Array], list[Array]]] = {}
        self._priors: dict[str, NumpyProgram] = {}
        self._codes_of_value: dict[int, Any] = {}

    @classmethod
    def of(cls, model: Model) -> Programs:
        """Return those of a model as it was declared, which it keeps unless its data are large."""
        binding = model._binding
        if sum(array.nbytes for array in binding.data.values()) > _MOST_KEPT:
            return cls(binding)
        programs: Programs = model._kept.setdefault("programs", cls(binding))
        return programs

    @property
    def value(self) -> Gradients:
        """The log density alone: the point itself stands where its gradient would be."""

        def alone() -> Program:
            (x,), (logp, _) = self.gradient
            return Program((x,), (logp, x))

        return Gradients(alone, exact=True, codes=self._codes_of_value)

    @cached_property
    def terms(self) -> NumpyProgram:
        """The terms of the log density, (n,) each."""
        return self.evaluating(lambda t: [t.term(term) for term in self._binding.terms])

    @cached_property
    def curvature(self) -> NumpyProgram:
        """Slopes and Hessian products, from points and directions: (n, dim) each."""
        return curvature(self._binding, lambda t: sum(map(t.term, self._binding.terms), 0.0))

    def prior(self, free: FreeParameter) -> NumpyProgram:
        """Return the prior of a parameter and its gradient, of unconstrained points."""
        if free.name not in self._priors:
            program = gradient_of_terms(self._binding, free.terms)
            self._priors[free.name] = NumpyProgram(program)
        return self._priors[free.name]

    def values(self, expressions: Sequence[Expression]) -> Callable[[Array], list[Array]]:
        """Return a function that evaluates expressions, with the types that they have."""
        types = [self._binding.evaluator.value(e).dtype for e in expressions]
        program = self.evaluating(lambda trace: [trace.value(e) for e in expressions])
        return lambda x: [typed(v, t) for v, t in zip(program(x), types, strict=True)]

    def evaluating(self, function: Callable[[Trace], Sequence[Any]]) -> NumpyProgram:
        """Return a function of unconstrained points that evaluates what a trace is asked for."""

        def values(trace: Trace, x: Any) -> Sequence[Any]:
            trace.place(self._binding, x)
            return function(trace)

        return NumpyProgram(evaluated(Scope.of(self._binding), values, [(self._dim,)]))


def typed(values: Array, kind: Any) -> Array:
    """Return values of a type; as they are, where they are no such integers.

    Truth values become 0 and 1: ArviZ computes differences of draws, which NumPy has not for bools.
    """
    kind = np.dtype(int) if np.dtype(kind) == bool else kind
    if np.dtype(kind).kind in "iu" and not np.all(np.abs(values) < _LARGEST):
        return values
    return values.astype(kind, copy=False)
