"""The beta distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, UnitInterval
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Summed, Thunk
from probmodel.distributions.domain import where_valid
from probmodel.special import betaln, digamma, trigamma
from probmodel.types import Array


class Beta(Distribution):
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
        return powers - betaln(alpha, beta)

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
            lambda: xp.log(value) - digamma(alpha) + digamma(alpha + beta),
            lambda: xp.log1p(-value) - digamma(beta) + digamma(alpha + beta),
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


class _FixedShapes:
    """Sum of beta log densities with known shapes, as a function of the value."""

    def __init__(self, alpha: float, beta: float) -> None:
        self.powers = alpha - 1.0, beta - 1.0
        self.log_normaliser = float(betaln(alpha, beta))

    def __call__(
        self, wanted: Sequence[int], value: Array, *params: Any
    ) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivative in the value."""
        a, b = self.powers
        terms = a * np.log(value) + b * np.log1p(-value) - self.log_normaliser
        logp = terms if terms.ndim == 1 else terms.reshape(len(terms), -1).sum(axis=1)
        return logp, [a / value - b / (1.0 - value)] if wanted else []
