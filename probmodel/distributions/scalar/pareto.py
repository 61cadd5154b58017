"""The Pareto distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Lower, Positive
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_inside
from probmodel.distributions.noncentered_forms import OfStandardExponential
from probmodel.distributions.tail_probabilities import AboveZero, Sides
from probmodel.numerics.special import log1m_exp
from probmodel.types import Array


class Pareto(OfStandardExponential, AboveZero):
    r"""Pareto distribution (of the first type): a power law from a smallest value on.

    .. math:: p(y) = \alpha\, y_{\min}^\alpha / y^{\alpha + 1}, \quad y \ge y_{\min}

    Parameters
    ----------
    y_min : smallest value :math:`y_{\min} > 0`
    alpha : shape :math:`\alpha > 0`; the mean is infinite up to 1

    Notes
    -----
    Stan: ``pareto(y_min, alpha)``. SciPy: ``pareto(alpha, 0, y_min)``. The non-centred form takes
    an exponential value.
    """

    noncentered_is_affine: ClassVar = False
    start = 0
    parameters: ClassVar = {"y_min": Parameter(Positive()), "alpha": Parameter(Positive())}

    def support(self) -> Constraint:
        """Numbers from ``y_min`` up."""
        return Lower(self.args["y_min"])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithms are NaN for negative parameters."""
        y_min, alpha = params
        logp = xp.log(alpha) - xp.log(value) - alpha * xp.log(value / y_min)
        return where_inside(value >= y_min, logp)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the shape; the end of the support has none."""
        _, alpha = params
        return {("alpha", "alpha"): lambda: 1.0 / (alpha * alpha)}

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        y_min, alpha = params
        u = alpha * xp.log1p(y / y_min)
        return lambda: log1m_exp(u), lambda: -u

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Exponential of an exponential value, shrunk by the shape."""
        y_min, alpha = params
        return y_min * xp.exp(z / alpha)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Standardise the logarithm."""
        y_min, alpha = params
        return np.asarray(alpha * np.log(value / y_min))
