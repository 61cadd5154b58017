"""The normal distribution given the logarithm of its scale."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Summed, Thunk
from probmodel.distributions.sums import reduce_to, row_dot, row_sum
from probmodel.special import LOG_2PI
from probmodel.types import Array


class NormalLogScale(Distribution):
    r"""Normal distribution whose standard deviation is ``exp(log_scale)``.

    .. math:: \log p(y) = -\tfrac12 \log 2\pi - s - \tfrac12 (y - \mu)^2 e^{-2 s}

    The form that `Normal` takes when its scale is an exponential, as in stochastic volatility
    models: it saves a logarithm and a division per element and cannot divide by zero.

    Parameters
    ----------
    loc : mean :math:`\mu`
    log_scale : logarithm :math:`s` of the standard deviation

    Notes
    -----
    Stan: ``normal(loc, exp(log_scale))``. SciPy: ``norm(loc, exp(log_scale))``.
    """

    parameters: ClassVar = {"loc": Parameter(Real()), "log_scale": Parameter(Real())}

    def support(self) -> Constraint:
        """All real numbers."""
        return Real()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        loc, log_scale = params
        z = (value - loc) * xp.exp(-log_scale)
        return -0.5 * z * z - log_scale - 0.5 * LOG_2PI

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to value, location and log scale."""
        loc, log_scale = params
        inverse = xp.exp(-log_scale)
        z = (value - loc) * inverse
        return (lambda: -z * inverse, lambda: z * inverse, lambda: z * z - 1.0)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on location and log scale."""
        _, log_scale = params
        return {
            ("loc", "loc"): lambda: np.exp(-2.0 * log_scale),
            ("log_scale", "log_scale"): lambda: np.asarray(2.0),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        loc, log_scale = params
        return np.asarray(loc + np.exp(log_scale) * rng.standard_normal(shape))

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of the log density per chain, with partials, from one exponential."""
        loc, log_scale = params
        inverse = np.exp(-np.asarray(log_scale))
        z = (value - loc) * inverse
        batch = np.shape(z)
        logp = -0.5 * row_dot(z, z) - row_sum(log_scale, batch) - row_sum(0.5 * LOG_2PI, batch)
        partials = []
        for i in wanted:
            full = z * z - 1.0 if i == 2 else z * inverse
            partial = reduce_to((value, loc, log_scale)[i], full, batch, 0)
            partials.append(-partial if i == 0 else partial)
        return logp, partials

    def prepared(self, known: Sequence[Any]) -> Summed:
        """Square the residuals of known data and location once."""
        value, loc, log_scale = known
        if value is None or loc is None or log_scale is not None:
            return self.summed
        return _FixedResidual(np.asarray(value - loc, dtype=float))

    def base(self) -> Distribution:
        """Return the standard normal."""
        return NormalLogScale(0.0, 0.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Shift and stretch a standard normal value."""
        loc, log_scale = params
        return loc + xp.exp(log_scale) * z


class _FixedResidual:
    """Sum of normal log densities of known residuals, as a function of the log scale."""

    def __init__(self, residual: Array) -> None:
        self.squares = residual * residual

    def __call__(
        self, wanted: Sequence[int], value: Any, loc: Any, log_scale: Array
    ) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivative in the log scale."""
        weight = -2.0 * log_scale
        np.exp(weight, out=weight)
        terms = weight * self.squares
        batch = terms.shape
        constant = 0.5 * LOG_2PI * prod(batch[1:])
        logp = -0.5 * row_sum(terms, batch) - row_sum(log_scale, batch) - constant
        if not wanted:
            return logp, []
        terms -= 1.0
        return logp, [reduce_to(log_scale, terms, batch, 0)]
