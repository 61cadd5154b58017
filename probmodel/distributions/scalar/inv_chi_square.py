"""The inverse chi-squared distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_inside, where_valid
from probmodel.distributions.scalar.location_scale import LOG_2
from probmodel.distributions.tail_probabilities import AboveZero, Sides
from probmodel.numerics.special import gammaln, trigamma
from probmodel.numerics.special.incomplete_gamma import log_gammainc, log_gammaincc
from probmodel.types import Array


class InvChiSquare(AboveZero):
    r"""Inverse chi-squared distribution: the reciprocal of the value is chi-squared.

    .. math:: p(y) = \frac{2^{-\nu / 2}}{\Gamma(\nu / 2)} y^{-\nu / 2 - 1} e^{-1 / (2 y)},
              \quad y > 0

    Parameters
    ----------
    df : degrees of freedom :math:`\nu > 0`; the mean is :math:`1 / (\nu - 2)`

    Notes
    -----
    The inverse gamma distribution with shape :math:`\nu / 2` and scale 1/2; `ScaledInverseChi2` has
    a scale besides. Stan: ``inv_chi_square(df)``. SciPy: ``invgamma(df / 2, 0, 0.5)``.
    """

    parameters: ClassVar = {"df": Parameter(Positive())}
    domain = Positive()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        (df,) = params
        shape = 0.5 * where_valid(df > 0, df)
        powers = -(shape + 1.0) * xp.log(value) - shape * LOG_2
        return where_inside(value > 0, powers - 0.5 / value - gammaln(shape))

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the degrees of freedom: that of the reciprocal."""
        (df,) = params
        return {("df", "df"): lambda: 0.25 * trigamma(0.5 * df)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        (df,) = params
        return np.asarray(0.5 / rng.standard_gamma(0.5 * df, shape))

    def log_sides(self, xp: Any, y: Any, *params: Any) -> Sides:
        """Log probabilities of less and of more than ``y``."""
        (df,) = params
        shape = 0.5 * where_valid(df > 0, df)
        return lambda: log_gammaincc(shape, 0.5 / y), lambda: log_gammainc(shape, 0.5 / y)
