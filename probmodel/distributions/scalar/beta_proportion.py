"""The beta distribution by its mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, UnitInterval
from probmodel.distributions.base import InformationMatrix, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.domain import where_valid
from probmodel.distributions.log_powers import power_slope
from probmodel.distributions.scalar.beta import beta_log_density
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.tail_probabilities import Sides
from probmodel.numerics.special import logit, trigamma, where
from probmodel.numerics.special.incomplete_beta import log_betainc, log_betaincc
from probmodel.numerics.special.rising import log_gap, log_ratio, log_ratio_gap
from probmodel.types import Array


class BetaProportion(FreeScale):
    r"""Beta distribution by its mean, for regressions of proportions.

    .. math:: p(y) = y^{\mu \kappa - 1} (1 - y)^{(1 - \mu) \kappa - 1}
              / B(\mu \kappa, (1 - \mu) \kappa), \quad 0 < y < 1

    Parameters
    ----------
    mu : mean :math:`0 < \mu < 1`
    kappa : precision :math:`\kappa > 0`; the variance is :math:`\mu (1 - \mu) / (1 + \kappa)`

    Notes
    -----
    Stan: ``beta_proportion(mu, kappa)``. SciPy: ``beta(mu * kappa, (1 - mu) * kappa)``.
    """

    parameters: ClassVar = {"mu": Parameter(UnitInterval()), "kappa": Parameter(Positive())}
    domain = UnitInterval()
    end = 1.0

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithms are NaN outside the unit interval."""
        return _log_kernel(value, *params)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on mean and precision: that on both shapes, by the chain rule."""
        mu, kappa = params
        rest = 1.0 - mu
        in_alpha, in_beta = trigamma(mu * kappa), trigamma(rest * kappa)
        return {
            ("mu", "mu"): lambda: kappa * kappa * (in_alpha + in_beta),
            ("mu", "kappa"): lambda: kappa * (mu * in_alpha - rest * in_beta),
            ("kappa", "kappa"): lambda: (
                mu * mu * in_alpha + rest * rest * in_beta - trigamma(kappa)
            ),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        mu, kappa = params
        return np.asarray(rng.beta(mu * kappa, (1.0 - mu) * kappa, shape))

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        args = *_shapes(*params), logit(y)
        return lambda: log_betainc(*args), lambda: log_betaincc(*args)

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the log odds, as `Beta` has them."""
        mu, kappa = self.args["mu"], self.args["kappa"]
        return np.log(mu / (1.0 - mu)), 1.0 / np.sqrt(kappa * mu * (1.0 - mu))


def _shapes(mu: Any, kappa: Any) -> tuple[Any, Any]:
    mu = where_valid((mu > 0) & (mu < 1), mu)
    kappa = where_valid(kappa > 0, kappa)
    return mu * kappa, (1.0 - mu) * kappa


def _formula(xp: Any, value: Any, *params: Any) -> Any:
    """Log density: batch shape; the logarithms are NaN outside the unit interval."""
    return beta_log_density(xp, value, *_shapes(*params))


def _slopes(xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
    """Return derivatives with respect to value, mean and precision."""
    mu, kappa = params
    alpha, beta = mu * kappa, (1.0 - mu) * kappa
    rest, gap = 1.0 - mu, value - mu

    # Digamma functions are logarithms less `log_gap`, which for a large precision is small: the
    # logarithms are put together as those of ratios to the mean.
    def in_mu() -> Any:
        odds = log_ratio(gap, value * rest, (1.0 - value) * mu)
        return kappa * (odds + log_gap(alpha) - log_gap(beta))

    def in_kappa() -> Any:
        own = mu * log_ratio_gap(gap / mu, xp.log(value) - xp.log(mu))
        other = rest * log_ratio_gap(-gap / rest, xp.log1p(-value) - xp.log1p(-mu))
        return own + other + mu * log_gap(alpha) + rest * log_gap(beta) - log_gap(kappa)

    def in_value() -> Any:
        end = (value == 0.0) | (value == 1.0)  # where the ratio of zeros is no number
        inside = where(end, 0.5, value)
        slope = (kappa * (mu - inside) + (2.0 * inside - 1.0)) / inside / (1.0 - inside)
        at_end = power_slope(alpha - 1.0, value) - power_slope(beta - 1.0, 1.0 - value)
        return where(end, at_end, slope)

    return (in_value, in_mu, in_kappa)


# For a large precision the logarithm of a share and its mean are nearly equal.
_log_kernel = closed_form(_formula, _slopes)
