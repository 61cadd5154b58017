"""The Pareto distribution of the second type."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Lower, Positive, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_inside, where_valid
from probmodel.distributions.noncentered_forms import OfStandardExponential
from probmodel.distributions.tail_probabilities import AboveZero, Sides
from probmodel.numerics.special import log1m_exp
from probmodel.types import Array


class ParetoType2(OfStandardExponential, AboveZero):
    r"""Pareto distribution of the second type (Lomax, where :math:`\mu = 0`).

    .. math:: p(y) = \frac{\alpha}{\lambda}
              \Bigl(1 + \frac{y - \mu}{\lambda}\Bigr)^{-\alpha - 1}, \quad y \ge \mu

    Parameters
    ----------
    mu : smallest value :math:`\mu`
    scale : scale :math:`\lambda > 0`
    alpha : shape :math:`\alpha > 0`; the mean is infinite up to 1

    Notes
    -----
    Stan: ``pareto_type_2(mu, lambda, alpha)``, whose ``lambda`` is ``scale`` here. SciPy:
    ``lomax(alpha, mu, scale)``. The non-centred form takes an exponential value.
    """

    noncentered_is_affine: ClassVar = False
    start = 0
    parameters: ClassVar = {
        "mu": Parameter(Real()),
        "scale": Parameter(Positive()),
        "alpha": Parameter(Positive()),
    }

    def support(self) -> Constraint:
        """Numbers from ``mu`` up."""
        return Lower(self.args["mu"])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithms are NaN for negative parameters."""
        mu, scale, alpha = params
        logp = xp.log(alpha) - xp.log(scale) - (alpha + 1.0) * xp.log1p((value - mu) / scale)
        return where_inside(value >= mu, logp)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on scale and shape; the end of the support has none."""
        _, scale, alpha = params
        return {
            ("scale", "scale"): lambda: alpha / (scale * scale * (alpha + 2.0)),
            ("scale", "alpha"): lambda: -1.0 / (scale * (alpha + 1.0)),
            ("alpha", "alpha"): lambda: 1.0 / (alpha * alpha),
        }

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        _, scale, alpha = params
        u = alpha * xp.log1p(y / where_valid(scale > 0, scale))
        return lambda: log1m_exp(u), lambda: -u

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Shift and stretch the exponential, less one, of an exponential value."""
        mu, scale, alpha = params
        return mu + scale * xp.expm1(z / alpha)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Undo the map through a logarithm."""
        mu, scale, alpha = params
        return np.asarray(alpha * np.log1p((value - mu) / scale))
