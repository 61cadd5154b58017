"""The normal distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.distributions.base import Summed, reduce_to, row_dot, row_sum
from probmodel.distributions.location_scale import LocationScale
from probmodel.distributions.normal_log_scale import NormalLogScale
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

    link_forms: ClassVar = {("scale", "exp"): NormalLogScale}

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
        """Work out what a constant location and scale, or data and scale, settle beforehand."""
        value, loc, scale = known
        if scale is None or (value is None) == (loc is None):
            return self.summed
        return _FixedScale(0 if value is None else 1, loc if value is None else value, scale)

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
    """

    def __init__(self, position: int, center: Any, scale: Any) -> None:
        self.position = position
        self.center = np.asarray(center, dtype=float)
        self.centered = not np.any(center)
        scale = np.asarray(scale, dtype=float)
        self.unit = bool(np.all(scale == 1.0))
        self.precision = 1.0 / (scale * scale)
        self.log_constant = -np.log(scale) - 0.5 * LOG_2PI

    def __call__(self, wanted: Sequence[int], *args: Array) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivative in the argument that varies."""
        x = args[self.position]
        residual = x if self.centered else x - self.center
        batch = np.broadcast_shapes(residual.shape, self.log_constant.shape)
        weighted = residual if self.unit else residual * self.precision
        if weighted.shape != residual.shape:
            residual = np.broadcast_to(residual, weighted.shape)
        logp = row_sum(self.log_constant, batch) - 0.5 * row_dot(residual, weighted)
        if not wanted:
            return logp, []
        return logp, [reduce_to(x, -weighted, batch, 0)]
