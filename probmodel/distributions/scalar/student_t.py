"""Student's t distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import autograd.numpy as anp
import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.domain import where_valid
from probmodel.distributions.scalar.location_scale import LOG_2, conditional
from probmodel.distributions.tail_probabilities import in_lower_tail
from probmodel.numerics.special import inverse_expm1, log1m_exp, trigamma, where
from probmodel.numerics.special.incomplete_beta import beta_hazard, log_betainc, log_betainc_slope
from probmodel.numerics.special.rising import log_ratio_gap, log_rising, rising_excess
from probmodel.types import Array

# Above these degrees of freedom the closed form of the information on them cancels.
_MANY = 50.0
# Values nearer to the centre have the distribution function of this one.
_LEAST = 1e-150


class StudentT(Distribution):
    r"""Student's t distribution.

    .. math:: p(y) = \frac{\Gamma((\nu + 1) / 2)}{\Gamma(\nu / 2) \sqrt{\nu \pi}\, \sigma}
              \Bigl\{1 + \frac{1}{\nu} \Bigl(\frac{y - \mu}{\sigma}\Bigr)^2\Bigr\}^{-(\nu + 1) / 2}

    Parameters
    ----------
    df : degrees of freedom :math:`\nu > 0`
    loc : location :math:`\mu`
    scale : scale :math:`\sigma > 0`, not the standard deviation

    Notes
    -----
    Stan: ``student_t(df, loc, scale)``. SciPy: ``t(df, loc, scale)``.

    References
    ----------
    Lange, Little and Taylor (1989), Robust statistical modeling using the t distribution: the
    information.
    """

    parameters: ClassVar = {
        "df": Parameter(Positive()),
        "loc": Parameter(Real(), default=0.0),
        "scale": Parameter(Positive(), default=1.0),
    }
    domain = Real()
    symmetric = True
    takes_pseudo_data = "elements"

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        return _log_kernel(value, *params)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on degrees of freedom, location and scale."""
        df, _, scale = params
        return {
            **tail_information(df, scale),
            ("loc", "loc"): lambda: (df + 1.0) / ((df + 3.0) * scale * scale),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        df, loc, scale = params
        return np.asarray(loc + scale * rng.standard_t(df, shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        return _log_cdf(x, *params)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        df, loc, scale = params
        return _log_cdf(-x, df, -loc, scale)

    def log_mass_between(self, xp: Any, low: Any, high: Any, *params: Any) -> Any:
        """Log probability of values between two ends, in the lower tail."""
        return in_lower_tail(xp, self, low, high, *params)

    def base(self) -> Distribution:
        """Return the member with location zero and unit scale."""
        return StudentT(self.args["df"], 0.0, 1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Shift and stretch a standard value."""
        _, loc, scale = params
        return loc + scale * z

    def noncentered_log_det(self, xp: Any, event: tuple[int, ...], *params: Any) -> Any:
        """Return the logarithm of the scale."""
        return xp.log(params[2])

    def informed(self, information: Any, value: Any = 0.0) -> StudentT:
        """Return the member that is nearer to the observations, and narrower."""
        df, loc, scale = self.args.values()
        return StudentT(df, *conditional(loc, scale, information, value))


def log_normalizer(xp: Any, df: Any) -> Any:
    """Logarithm of the standard density at zero."""
    return log_rising(0.5 * df, 0.5) - 0.5 * xp.log(np.pi * df)


def slope_in_df(df: Any, squares: Any, tail: Any) -> Any:
    """Return the derivative of the log density in the degrees of freedom, of order ``df**-2``.

    ``squares`` are ``z^2`` and ``tail`` is ``log(1 + z^2 / df)``. Terms of order ``1 / df``, which
    cancel, are taken out by hand.
    """
    share = squares / (df + squares)
    half = 0.5 * df
    # log(1 + 1 / df) - 1 / df, of the gamma functions' slopes.
    gammas = rising_excess(half, 0.5) + log_ratio_gap(1.0 / df, anp.log1p(1.0 / df))
    return 0.5 * (gammas + log_ratio_gap(-share, -tail) + share / df)


def slope_in_scale(df: Any, z: Any, scale: Any) -> Any:
    """Return the derivative of the log density in the scale."""
    return (z - 1.0) * (z + 1.0) / (1.0 + z * z / df) / scale


def tail_information(df: Array, scale: Array) -> InformationMatrix:
    """Information on degrees of freedom and scale, the same in the absolute value of ``z``."""
    return {
        ("df", "df"): lambda: _information_in_df(df),
        ("df", "scale"): lambda: -2.0 / ((df + 1.0) * (df + 3.0) * scale),
        ("scale", "scale"): lambda: 2.0 * df / ((df + 3.0) * scale * scale),
    }


def _information_in_df(df: Array) -> Array:
    """Information on the degrees of freedom, of order ``df**-4`` for many of them.

    Its trigamma functions are as large as ``1 / df``. For many degrees of freedom their asymptotic
    series takes their place, of which the first terms cancel against the rational part exactly.
    """
    many = df > _MANY
    few = np.minimum(df, _MANY)
    trigammas = 0.25 * (trigamma(0.5 * few) - trigamma(0.5 * few + 0.5))
    closed = trigammas - (few + 5.0) / (2.0 * few * (few + 1.0) * (few + 3.0))
    r = 1.0 / np.maximum(df, _MANY)
    s = r * r
    remainder = r * s * s * (-0.5 + s * (1.5 + s * (-8.5 + s * 77.5)))
    series = remainder + 0.5 * s * s * (7.0 + 3.0 * r) / ((1.0 + r) * (1.0 + 3.0 * r))
    return np.where(many, series, closed)


def _formula(xp: Any, value: Any, *params: Any) -> Any:
    """Log density: batch shape."""
    df, loc, scale = params
    z = (value - loc) / scale
    return log_normalizer(xp, df) - xp.log(scale) - 0.5 * (df + 1.0) * xp.log1p(z * z / df)


def _slopes(xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
    """Return derivatives with respect to value, degrees of freedom, location and scale."""
    df, loc, scale = params
    z = (value - loc) / scale
    weight = (df + 1.0) / (df + z * z)
    slope = -z * weight / scale
    return (
        lambda: slope,
        lambda: slope_in_df(df, z * z, xp.log1p(z * z / df)),
        lambda: -slope,
        lambda: slope_in_scale(df, z, scale),
    )


# The derivative in many degrees of freedom is of order df**-2, a difference of terms of order 1.
_log_kernel = closed_form(_formula, _slopes)


def log_odds(df: Any, z: Any) -> Any:
    """Log odds of the beta variable ``df / (df + z**2)``, with shapes ``df / 2`` and 1/2."""
    size = abs(z)
    return anp.log(df) - 2.0 * anp.log(where(size < _LEAST, _LEAST, size))


def _formula_of_cdf(xp: Any, x: Any, *params: Any) -> Any:
    """Log probability of values up to ``x``: half of that of a beta variable, or all but that."""
    df, loc, scale = params
    z = (x - loc) / where_valid(scale > 0, scale)
    df = where_valid(df > 0, df)
    tail = log_betainc(0.5 * df, 0.5, log_odds(df, z)) - LOG_2
    return where(z < 0, tail, log1m_exp(-tail))


def _slopes_of_cdf(xp: Any, x: Any, *params: Any) -> Sequence[Thunk]:
    """Return derivatives with respect to value, degrees of freedom, location and scale."""
    df, loc, scale = params
    z = (x - loc) / scale

    def in_x() -> Any:
        return xp.exp(_formula(xp, x, *params) - _log_cdf(x, *params))

    def in_df() -> Any:
        args = 0.5 * df, 0.5, log_odds(df, z)
        slope = 0.5 * log_betainc_slope(False, 0, *args) + beta_hazard(False, *args) / df
        odds = inverse_expm1(LOG_2 - log_betainc(*args))
        return where(z < 0, slope, -odds * slope)

    return in_x, in_df, lambda: -in_x(), lambda: -z * in_x()


# At the centre the derivative of the log odds has no bound.
_log_cdf = closed_form(_formula_of_cdf, _slopes_of_cdf)
