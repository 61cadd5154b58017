"""The improper flat distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Real
from probmodel.distributions.base import Distribution
from probmodel.types import Array


class Flat(Distribution):
    r"""Improper distribution of constant density.

    .. math:: \log p(y) = 0

    Notes
    -----
    Stan: a parameter without a sampling statement. SciPy: none. It cannot be drawn from.
    """

    parameters: ClassVar = {}
    domain = Real()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Zero, or NaN where the value is not finite."""
        return 0.0 * value

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Raise: there is nothing to draw from.

        Raises
        ------
        ModelError
            Always.
        """
        raise self.model_error(
            "Flat is improper and cannot be sampled: give the parameter a proper prior.",
            distribution=self.name,
        )
