"""Values of parameters for a trial of a program's generated quantities, before there are draws.

They are of the type that is declared. What they are does not matter to the trial: it looks for what
is wrong whatever the numbers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.stan.operators import Frame
from probmodel.stan.solver_calls import HigherOrder
from probmodel.stan.syntax import nodes as n
from probmodel.types import Array

_FACTORS = ("cov_matrix", "corr_matrix", "cholesky_factor_cov", "cholesky_factor_corr")
MOST_LOOKED_UP = 5_000  # variables, in a trial: loops of many rounds end there


class EnoughError(Exception):
    """A trial has seen as much as it may."""


class Trial(HigherOrder):
    """Runs programs up to a limit, so that a trial costs little beside the run for the draws."""

    _looked_up = 0

    def lookup(self, node: n.Name, frame: Frame) -> Any:
        """Return a variable, to be looked into; raise `EnoughError` at the limit."""
        self._looked_up += 1
        if self._looked_up > MOST_LOOKED_UP:
            raise EnoughError
        return super().lookup(node, frame)


def plausible(type_: n.Type, shape: Sequence[int]) -> Array:
    """Return values of a shape, of a type that is no tuple."""
    kind, length = type_.kind, shape[-1] if shape else 1
    if kind in _FACTORS or (kind == "matrix" and shape[-1] == shape[-2]):
        return np.broadcast_to(np.eye(shape[-2], length), shape).copy()
    if kind in ("ordered", "positive_ordered"):
        return np.broadcast_to(np.arange(1.0, length + 1), shape).copy()
    if kind in ("simplex", "row_stochastic_matrix"):
        return np.full(shape, 1.0 / max(length, 1))
    if kind == "column_stochastic_matrix":
        return np.full(shape, 1.0 / max(shape[-2], 1))
    if kind == "unit_vector":
        return np.full(shape, max(length, 1) ** -0.5)
    if kind.startswith("sum_to_zero"):
        return np.zeros(shape)
    return np.full(shape, 0.5)
