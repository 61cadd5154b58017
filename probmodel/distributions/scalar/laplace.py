"""The Laplace distribution."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.distributions.scalar.location_scale import LOG_2, LocationScale
from probmodel.numerics.special import where
from probmodel.types import Array


class Laplace(LocationScale):
    r"""Laplace (double exponential) distribution.

    .. math:: p(y) = \frac{1}{2 \sigma} \exp\{-|y - \mu| / \sigma\}

    Parameters
    ----------
    loc : mean and median :math:`\mu`
    scale : scale :math:`\sigma > 0`; the standard deviation is :math:`\sqrt 2\, \sigma`

    Notes
    -----
    Stan: ``double_exponential(loc, scale)``. SciPy: ``laplace(loc, scale)``.
    """

    symmetric = True
    standard_information: ClassVar = (1.0, 1.0)

    @staticmethod
    def log_standard(xp: Any, z: Any) -> Any:
        """Log density of the standard Laplace."""
        return -LOG_2 - xp.abs(z)

    @staticmethod
    def draw_standard(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw standard Laplace variates."""
        return np.asarray(rng.laplace(size=shape))

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        loc, scale = params
        return _log_below(xp, (x - loc) / scale)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        loc, scale = params
        return _log_below(xp, (loc - x) / scale)


def _log_below(xp: Any, z: Any) -> Any:
    """Log of the standard distribution function, without overflow on either side."""
    # `where` has the right derivative at z = 0, where `minimum` has half of it.
    tail = where(z < 0, z, 0.0) - LOG_2
    return where(z < 0, tail, xp.log1p(-0.5 * xp.exp(-where(z < 0, 0.0, z))))
