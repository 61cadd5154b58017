"""Functions that are written down, and run over rows, as primitives of autograd."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp_argnums, primitive

from probmodel.compiler.differentiation import gradient_of, taken
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.simplify import in_memory, shared
from probmodel.compiler.symbols import Symbol, positions
from probmodel.compiler.tracing import Program, Scope, Trace, evaluated
from probmodel.types import Array


class OverRows:
    """A function that is written down, over rows; autograd differentiates it any number of times.

    Parameters
    ----------
    scope : of the expressions that the function asks a trace for
    function : of a `Trace`, and of what is given, to an array
    shapes : of what is given, for one row

    Attributes
    ----------
    scope, function, shapes : as given
    """

    def __init__(
        self, scope: Scope, function: Callable[..., Any], shapes: Sequence[tuple[int, ...]]
    ) -> None:
        self.scope, self.function, self.shapes = scope, function, list(shapes)
        ends = np.cumsum([0, *(prod(shape) for shape in shapes)])
        self._cuts = [slice(a, b) for a, b in pairwise(ends)]

    @cached_property
    def program(self) -> Program:
        """The function, for one row."""
        return evaluated(self.scope, lambda *args: [self.function(*args)], self.shapes)

    @cached_property
    def compiled(self) -> NumpyProgram:
        """The function, over rows."""
        return NumpyProgram(self.program)

    @cached_property
    def flat(self) -> tuple[Symbol, Symbol]:
        """The function as a program of one vector, all that is given, to a vector."""
        shapes = self.shapes
        ends = [int(end) for end in np.cumsum([0, *map(prod, shapes)])]

        def function(trace: Trace, x: Any) -> list[Any]:
            places = (positions(x.shape)[a:b] for a, b in pairwise(ends))
            parts = [taken(x, p.reshape(s)) for p, s in zip(places, shapes, strict=True)]
            return [anp.reshape(self.function(trace, *parts), (-1,))]

        (x,), outputs = evaluated(self.scope, function, [(ends[-1],)])
        (result,) = shared(outputs)
        return x, in_memory(result, np.size(result))

    def __call__(self, *rows: Any) -> Any:
        """Return values, (rows, *shape), of what leads with rows; autograd may follow."""
        return _values(self, *rows)

    def pulled(self, weight: Any, *rows: Any) -> list[Any]:
        """Return derivatives of the sum of ``weight`` times the results, one for each input."""
        flat = self.derivatives(*rows, weight)
        return [
            anp.reshape(flat[:, cut], (-1, *shape))
            for cut, shape in zip(self._cuts, self.shapes, strict=True)
        ]

    @cached_property
    def derivatives(self) -> OverRows:
        """Derivatives in all that is given, side by side; what is given last is the weight."""
        return self.derivatives_in(range(len(self.shapes)))

    def derivatives_in(self, wanted: Sequence[int]) -> OverRows:
        """Return derivatives in some of what is given, side by side, as `derivatives`."""

        def slopes(trace: Trace, *given: Any) -> Any:
            *own, weight = given

            def weighted(*moving: Any) -> Any:
                full = list(own)
                for i, x in zip(wanted, moving, strict=True):
                    full[i] = x
                return anp.sum(self.function(trace, *full) * weight)

            parts = gradient_of(weighted, *(own[i] for i in wanted))[1]
            return anp.concatenate([anp.reshape(part, (-1,)) for part in parts])

        (result,) = self.program.outputs
        return OverRows(self.scope, slopes, [*self.shapes, np.shape(result)])


@primitive
def _values(function: OverRows, *rows: Array) -> Array:
    return function.compiled(*rows)[0]


def _pull(argnums: Sequence[int], ans: Any, args: Sequence[Any], kwargs: Any) -> Any:
    function, *rows = args

    def pull(g: Any) -> tuple[Any, ...]:
        slopes = function.pulled(g, *rows)
        return tuple(slopes[i - 1] for i in argnums)

    return pull


defvjp_argnums(_values, _pull)
