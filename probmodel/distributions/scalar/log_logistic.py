"""The log-logistic distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.domain import where_inside
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.scalar.logistic import Logistic
from probmodel.distributions.tail_probabilities import Sides
from probmodel.numerics.special import log1p_exp, log_expit
from probmodel.types import Array


class LogLogistic(FreeScale):
    r"""Log-logistic distribution: the logarithm of the value is logistic.

    .. math:: p(y) = \frac{\beta}{\alpha} \Bigl(\frac{y}{\alpha}\Bigr)^{\beta - 1}
              \Bigl\{1 + \Bigl(\frac{y}{\alpha}\Bigr)^\beta\Bigr\}^{-2}, \quad y > 0

    Parameters
    ----------
    alpha : scale :math:`\alpha > 0`, the median
    beta : shape :math:`\beta > 0`; moments of order :math:`\beta` and above are infinite

    Notes
    -----
    Stan: ``loglogistic(alpha, beta)``. SciPy: ``fisk(beta, 0, alpha)``.
    """

    noncentered_is_affine: ClassVar = False
    parameters: ClassVar = {"alpha": Parameter(Positive()), "beta": Parameter(Positive())}
    domain = Positive()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        _, beta = params
        z = _log_odds(xp, value, *params)
        logp = xp.log(beta) + z - xp.log(value) - 2.0 * log1p_exp(z)
        return where_inside(value > 0, logp)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on scale and shape: that of the logarithm, by which they are orthogonal."""
        alpha, beta = params
        in_loc, in_scale = Logistic.standard_information
        return {
            ("alpha", "alpha"): lambda: in_loc * (beta / alpha) ** 2,
            ("beta", "beta"): lambda: in_scale / (beta * beta),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        return np.asarray(self.noncentered(np, rng.logistic(size=shape), *params))

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        z = _log_odds(xp, y, *params)
        return lambda: log_expit(z), lambda: log_expit(-z)

    def base(self) -> Distribution:
        """Return the standard logistic."""
        return Logistic(0.0, 1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Exponential of a stretched logistic value, stretched again."""
        alpha, beta = params
        return alpha * xp.exp(z / beta)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Standardise the logarithm."""
        return np.asarray(_log_odds(np, value, *params))

    def free_location_scale(self) -> tuple[Any, Any]:
        """Location and scale of the logarithm, which is logistic."""
        alpha, beta = self.args["alpha"], self.args["beta"]
        return np.log(alpha), 1.0 / beta


def _log_odds(xp: Any, value: Any, alpha: Any, beta: Any) -> Any:
    """Log odds that a variate is below ``value``: the logistic value it stands for."""
    return beta * (xp.log(value) - xp.log(alpha))
