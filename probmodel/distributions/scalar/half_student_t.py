"""The half-t distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import NonNegative, Positive
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.domain import where_inside, where_valid
from probmodel.distributions.scalar.free_scale import FreeScale
from probmodel.distributions.scalar.location_scale import LOG_2
from probmodel.distributions.scalar.student_t import (
    log_normalizer,
    log_odds,
    slope_in_df,
    slope_in_scale,
    tail_information,
)
from probmodel.distributions.tail_probabilities import Sides
from probmodel.numerics.special.incomplete_beta import log_betainc, log_betaincc
from probmodel.types import Array


class HalfStudentT(FreeScale):
    r"""Absolute value of a Student t variable with location zero.

    .. math:: p(y) = \frac{2\, \Gamma((\nu + 1) / 2)}{\Gamma(\nu / 2) \sqrt{\nu \pi}\, \sigma}
              \Bigl(1 + \frac{y^2}{\nu \sigma^2}\Bigr)^{-(\nu + 1) / 2}, \quad y \ge 0

    Parameters
    ----------
    df : degrees of freedom :math:`\nu > 0`
    scale : scale :math:`\sigma > 0`

    Notes
    -----
    Stan: ``student_t(df, 0, scale)`` on a parameter with ``<lower=0>`` (up to the constant 2).
    SciPy: none; ``t(df, 0, scale)`` doubled.

    References
    ----------
    Gelman (2006), Prior distributions for variance parameters in hierarchical models.
    """

    parameters: ClassVar = {"df": Parameter(Positive()), "scale": Parameter(Positive())}
    domain = NonNegative()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        return _log_kernel(value, *params)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on degrees of freedom and scale."""
        return tail_information(*params)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        df, scale = params
        return np.asarray(scale * np.abs(rng.standard_t(df, shape)))

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        df, scale = _valid(*params)
        args = 0.5 * df, 0.5, log_odds(df, y / scale)
        return lambda: log_betaincc(*args), lambda: log_betainc(*args)

    def base(self) -> Distribution:
        """Return the member of unit scale."""
        return HalfStudentT(self.args["df"], 1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Stretch a value of unit scale."""
        return params[1] * z

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the logarithm: between those of the half-Cauchy and of the half-normal."""
        df = self.args["df"]
        return np.log(self.args["scale"]), np.sqrt(0.5 + 0.5 / df)


def _valid(df: Any, scale: Any) -> tuple[Any, Any]:
    return where_valid(df > 0, df), where_valid(scale > 0, scale)


def _formula(xp: Any, value: Any, *params: Any) -> Any:
    """Log density: batch shape."""
    df, scale = params
    z = value / scale
    tail = 0.5 * (df + 1.0) * xp.log1p(z * z / df)
    logp = LOG_2 + log_normalizer(xp, df) - xp.log(scale) - tail
    return where_inside(value >= 0, logp)


def _slopes(xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
    """Return derivatives with respect to value, degrees of freedom and scale."""
    df, scale = params
    z = value / scale
    weight = (df + 1.0) / (df + z * z)
    return (
        lambda: -z * weight / scale,
        lambda: slope_in_df(df, z * z, xp.log1p(z * z / df)),
        lambda: slope_in_scale(df, z, scale),
    )


# The derivative in many degrees of freedom is of order df**-2, a difference of terms of order 1.
_log_kernel = closed_form(_formula, _slopes)
