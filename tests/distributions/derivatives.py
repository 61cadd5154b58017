"""Log densities and their derivatives as models have them: by compiled programs, in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.tracing import Scope, differentiated
from probmodel.distributions.base import Distribution
from probmodel.expressions import Constant
from probmodel.model.evaluation import Evaluator
from probmodel.model.terms import Term


def arrays(*args: Any) -> list[Any]:
    return [np.asarray(a, dtype=float) for a in args]


def program(dist: Distribution, wanted: Sequence[int], *args: Any) -> NumpyProgram:
    """Return the program of a term of a model, which sums over the elements of a batch.

    It takes the wanted arguments, with one row for each chain, and returns the log density and its
    derivatives in them. The value has position 0; the other arguments are known.
    """
    leaves = [Constant(0.0) for _ in args]
    term = Term("y", "likelihood", leaves[0], dist, tuple(leaves[1:]))

    def total(trace: Any, *moving: Any) -> Any:
        now = dict(enumerate(arrays(*args))) | dict(zip(wanted, moving, strict=True))
        for i, leaf in enumerate(leaves):
            trace.define(leaf, now[i])
        return trace.term(term)

    shapes = [np.shape(args[i]) for i in wanted]
    return NumpyProgram(differentiated(Scope(Evaluator(), {}), total, shapes))


def evaluated(dist: Distribution, wanted: Sequence[int], *args: Any) -> tuple[Any, list[Any]]:
    """Sum of log densities, and its derivatives in the wanted arguments."""
    rows = [np.asarray(args[i], dtype=float)[None] for i in wanted]
    logp, *slopes = program(dist, wanted, *args)(*rows)
    return logp[0], [slope[0] for slope in slopes]


def moving(dist: Distribution) -> list[int]:
    """Positions of the arguments that are not data, and not whole numbers."""
    specs = dist.parameters.values()
    held = [dist.discrete, *(s.known or not s.constraint.bijective for s in specs)]
    return [i for i, is_held in enumerate(held) if not is_held]


def slopes(dist: Distribution, *args: Any) -> list[Any]:
    """Derivatives of the sum of log densities in the arguments, value first, that may move."""
    return evaluated(dist, moving(dist), *args)[1]
