"""Errors of the preconditioner of FisherMALA, by a second program: Titsias (2023), Figures 1, 2."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class FrobeniusErrors(NamedTuple):
    """Error of the learned preconditioner, by number of updates of the root.

    The error is ``|A - S|_F`` of the learned A and the covariance S, each divided by the mean of
    its diagonal. Means over 10 chains learning alone, and of one group of 10 chains learning
    together, by a second program of ours for the same algorithm (the paper has figures only: 1 and
    2). For AdaMALA, whose preconditioner is the running covariance, only the error at the end
    is known.
    """

    target_norm: float
    alone: tuple[float, ...]
    pooled: tuple[float, ...]
    ada_mala: float

    def of(self, mode: str) -> tuple[float, ...]:
        """Return the errors to compare a mode of learning with."""
        if mode == "ada_mala":
            return (np.nan,) * (len(FROBENIUS_UPDATES) - 1) + (self.ada_mala,)
        return self.alone if mode == "alone" else self.pooled


FROBENIUS_UPDATES = (100, 500, 1000, 2000, 5000, 10_000, 19_500)
FROBENIUS: dict[str, FrobeniusErrors] = {
    "gp100": FrobeniusErrors(
        68.70,
        alone=(65.4, 48.9, 42.3, 28.0, 8.6, 1.98, 0.55),
        pooled=(51.2, 40.1, 22.2, 0.76, 0.21, 0.21, 0.16),
        ada_mala=7.9,
    ),
    "inhomogeneous": FrobeniusErrors(
        13.38,
        alone=(6.33, 2.93, 3.41, 1.98, 1.07, 0.73, 0.51),
        pooled=(3.40, 1.19, 1.14, 0.61, 0.34, 0.23, 0.16),
        ada_mala=41.0,
    ),
}
