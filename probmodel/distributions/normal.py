"""The normal distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.distributions.base import Summed
from probmodel.distributions.location_scale import LocationScale, is_number
from probmodel.distributions.normal_log_scale import NormalLogScale
from probmodel.distributions.normal_log_variance import NormalLogVariance
from probmodel.distributions.sums import HALF, reduce_to, row_dot, row_sum
from probmodel.special import LOG_2PI, log_ndtr
from probmodel.types import Array


class Normal(LocationScale):
    r"""Normal distribution.

    .. math:: p(y) = \frac{1}{\sqrt{2\pi}\,\sigma} \exp\{-(y - \mu)^2 / (2 \sigma^2)\}

    Parameters
    ----------
    loc : mean :math:`\mu`
    scale : standard deviation :math:`\sigma > 0`

    Notes
    -----
    Stan: ``normal(loc, scale)``. SciPy: ``norm(loc, scale)``. One number per batch element.
    """

    link_forms: ClassVar = {
        ("scale", "exp"): NormalLogScale,
        ("scale", "exp of half"): NormalLogVariance,
    }

    symmetric = True
    standard_information: ClassVar = (1.0, 2.0)

    @staticmethod
    def log_standard(xp: Any, z: Any) -> Any:
        """Log density of the standard normal."""
        return -0.5 * z * z - 0.5 * LOG_2PI

    @staticmethod
    def slope_standard(xp: Any, z: Any) -> Any:
        """Return the derivative of `log_standard`."""
        return -z

    @staticmethod
    def draw_standard(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw standard normal variates."""
        return rng.standard_normal(shape)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        loc, scale = params
        return log_ndtr((x - loc) / scale)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        loc, scale = params
        return log_ndtr((loc - x) / scale)

    def prepared(self, known: Sequence[Any]) -> Summed:
        """Work out what a constant scale, or known data, settle beforehand."""
        value, loc, scale = known
        if scale is None and value is not None and loc is None:
            return _FixedData(self)
        if scale is None or (value is None) == (loc is None):
            return self.summed
        return _FixedScale(0 if value is None else 1, loc if value is None else value, scale)

    @classmethod
    def fixed(cls, loc: Any, scale: Any, extra: float = 0.0) -> Summed:
        """Return the sum with known parameters, as a function of the value."""
        return _FixedScale(0, loc, scale, extra)

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of the log density per chain, with partials, from one standardised value."""
        loc, scale = params
        z = (value - loc) / scale
        batch = np.shape(z)
        squares = row_dot(z, z)
        logp = -0.5 * squares - row_sum(np.log(scale) + 0.5 * LOG_2PI, batch)
        if not wanted:
            return logp, []
        slope = z / scale
        partials = []
        for i in wanted:
            if i == 2 and np.ndim(scale) == z.ndim and scale.size == len(scale) == len(z):
                n = z.size // max(len(z), 1)
                partials.append((squares.reshape(scale.shape) - n) / scale)
            else:
                full = -slope if i == 0 else slope if i == 1 else (z * z - 1.0) / scale
                partials.append(reduce_to((value, loc, scale)[i], full, batch, 0))
        return logp, partials


class _FixedScale:
    """Sum of normal log densities of a known scale; value or location is known too.

    Parameters
    ----------
    position : of the argument that varies, 0 for the value and 1 for the location
    center : the one that is known; value and location are symmetric
    scale : standard deviation
    extra : added to every element
    """

    def __init__(self, position: int, center: Any, scale: Any, extra: float = 0.0) -> None:
        self.position = position
        self.center = np.asarray(center, dtype=float)
        self.centered = is_number(center, 0.0)
        scale = np.asarray(scale, dtype=float)
        self.minus_precision = np.asarray(-1.0 / (scale * scale))
        self.unit = is_number(scale, 1.0)
        self.log_constant = extra - np.log(scale) - 0.5 * LOG_2PI
        self.constants: dict[tuple[int, ...], Any] = {}  # by event shape

    def __call__(self, wanted: Sequence[int], *args: Array) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivative in the argument that varies."""
        x = args[self.position]
        residual = x if self.centered else x - self.center
        slope = -residual if self.unit else residual * self.minus_precision
        shape = slope.shape
        if residual.shape != shape:
            residual = np.broadcast_to(residual, shape)
        constant = self.constants.get(shape[1:])
        if constant is None:
            constant = self.constants[shape[1:]] = np.asarray(row_sum(self.log_constant, shape))
        logp = constant + HALF * row_dot(residual, slope)
        if not wanted:
            return logp, []
        return logp, [slope if slope.shape == x.shape else reduce_to(x, slope, shape, 0)]


class _FixedData:
    """Sum of normal log densities of known data, with one scale for each chain."""

    def __init__(self, general: Normal) -> None:
        self.general = general

    def __call__(
        self, wanted: Sequence[int], value: Array, loc: Array, scale: Array
    ) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivatives in location and scale."""
        residual = value - loc
        if residual.shape != loc.shape or scale.shape != (len(loc), *(1,) * (loc.ndim - 1)):
            return self.general.summed(wanted, value, loc, scale)
        precision = 1.0 / (scale * scale)
        count = residual.size // max(len(residual), 1)
        weighted_squares = row_dot(residual, residual).reshape(scale.shape) * precision
        logp = -0.5 * weighted_squares - count * (np.log(scale) + 0.5 * LOG_2PI)
        slopes = [
            residual * precision if i == 1 else (weighted_squares - count) / scale for i in wanted
        ]
        return logp.reshape(len(logp)), slopes
