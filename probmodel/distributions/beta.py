"""The beta distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import autograd.numpy as anp
import numpy as np
from autograd.tracer import getval

from probmodel.constraints import Positive, UnitInterval
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import InformationMatrix, Parameter, Summed, Thunk
from probmodel.distributions.domain import where_valid
from probmodel.distributions.free_scale import FreeScale
from probmodel.distributions.sums import row_sum
from probmodel.special import trigamma, where
from probmodel.special.rising import log_beta, rising_excess, rising_slope
from probmodel.types import Array


class Beta(FreeScale):
    r"""Beta distribution.

    .. math:: p(y) = y^{\alpha - 1} (1 - y)^{\beta - 1} / B(\alpha, \beta), \quad 0 < y < 1

    Parameters
    ----------
    alpha, beta : shapes :math:`\alpha, \beta > 0`

    Notes
    -----
    Stan: ``beta(alpha, beta)``. SciPy: ``beta(alpha, beta)``. One number per batch element.
    """

    parameters: ClassVar = {"alpha": Parameter(Positive()), "beta": Parameter(Positive())}

    def support(self) -> Constraint:
        """Numbers between zero and one."""
        return UnitInterval()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithms are NaN outside the unit interval."""
        alpha, beta = params
        alpha = where_valid(xp, alpha > 0, alpha)
        beta = where_valid(xp, beta > 0, beta)
        powers = (alpha - 1.0) * xp.log(value) + (beta - 1.0) * xp.log1p(-value)
        return powers - log_beta(alpha, beta)

    def prepared(self, known: Sequence[Any]) -> Summed:
        """Work out the normaliser of known shapes beforehand."""
        value, alpha, beta = known
        if value is not None or np.ndim(alpha) or np.ndim(beta) or alpha is None or beta is None:
            return self.summed
        return _FixedShapes(float(alpha), float(beta))

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to value and both shapes."""
        alpha, beta = params
        return (
            lambda: (alpha - 1.0) / value - (beta - 1.0) / (1.0 - value),
            lambda: _slope(alpha, beta, value, 1.0 - value, xp.log(value)),
            lambda: _slope(beta, alpha, 1.0 - value, value, xp.log1p(-value)),
        )

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on both shapes."""
        alpha, beta = params
        return {
            ("alpha", "alpha"): lambda: trigamma(alpha) - trigamma(alpha + beta),
            ("alpha", "beta"): lambda: -trigamma(alpha + beta),
            ("beta", "beta"): lambda: trigamma(beta) - trigamma(alpha + beta),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        alpha, beta = params
        return np.asarray(rng.beta(alpha, beta, shape))

    def free_location_scale(self) -> tuple[Any, Any]:
        """Of the log odds: ``alpha log(p) + beta log(1 - p)`` is their log density."""
        alpha, beta = self.args["alpha"], self.args["beta"]
        return np.log(alpha / beta), np.sqrt(1.0 / alpha + 1.0 / beta)


class _FixedShapes:
    """Sum of beta log densities with known shapes, of values ``loc + scale * y``, ``scale > 0``."""

    def __init__(self, alpha: float, beta: float, loc: float = 0.0, scale: float = 1.0) -> None:
        self.shapes, self.frame = (alpha, beta), (loc, scale)
        self.loc, self.scale = np.array(loc), np.array(scale)
        self.is_unit = self.frame == (0.0, 1.0)
        self.a, self.b = np.array(alpha - 1.0), np.array(beta - 1.0)
        log_stretch = (alpha + beta - 1.0) * np.log(scale)
        self.log_normaliser = np.array(log_beta(alpha, beta) + log_stretch)

    def stretched(self, loc: float, scale: float) -> Summed:
        """Return the sum for values that are shifted and stretched once more."""
        inner_loc, inner_scale = self.frame
        return _FixedShapes(*self.shapes, loc + scale * inner_loc, scale * inner_scale)

    def __call__(
        self, wanted: Sequence[int], value: Array, *params: Any
    ) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivative in the value."""
        above = value if self.is_unit else value - self.loc
        below = self.scale - above
        log_below = np.log1p(-value) if self.is_unit else np.log(below)
        terms = self.a * np.log(above) + self.b * log_below - self.log_normaliser
        logp = row_sum(terms, terms.shape)
        return logp, [self.a / above - self.b / below] if wanted else []


def _slope(shape: Any, other: Any, part: Any, rest: Any, log_part: Any) -> Any:
    """Return the derivative of the log density in one shape, the exponent of ``part``.

    That is ``log(part)`` less its expectation. Of the expectation, the logarithm of the mean share
    is taken together with ``log(part)``: for large shapes they are nearly the same.
    """
    share = (part * other - rest * shape) / shape
    far = log_part + rising_slope(shape, other)
    near = abs(getval(share)) < 0.5
    logs = anp.log1p(where(near, share, 0.0))
    return where(near, logs + rising_excess(shape, other), far)
