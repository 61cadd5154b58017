"""The Dirichlet distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Simplex
from probmodel.constraints.sum_to_zero import zero_sum_basis
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.domain import SUM_TOLERANCE, where_inside, where_valid
from probmodel.distributions.log_powers import log_power
from probmodel.distributions.scalar.normal import Normal
from probmodel.expressions import call_of
from probmodel.numerics.special import gammaln, trigamma
from probmodel.types import Array


class Dirichlet(Distribution):
    r"""Dirichlet distribution on the simplex.

    .. math:: p(y) = \frac{\Gamma(\sum_k \alpha_k)}{\prod_k \Gamma(\alpha_k)}
              \prod_k y_k^{\alpha_k - 1}, \quad \sum_k y_k = 1

    Parameters
    ----------
    concentration : :math:`\alpha_k > 0`, (K,)

    Notes
    -----
    The value is a vector of length K of probabilities; the density is with respect to all but one
    of them. Stan: ``dirichlet(concentration)``. SciPy: ``dirichlet(concentration)``.
    """

    parameters: ClassVar = {"concentration": Parameter(Positive(), event_ndim=1)}
    domain = Simplex()
    event_ndim = 1
    takes_pseudo_data = "elements"

    @property
    def stand_in(self) -> Distribution:
        r"""Normal coordinates with the mode of the density and its curvature there.

        The density of the coordinates u of centred logarithms z is :math:`\sum \alpha_k z_k -
        \sum \alpha_k \log \sum e^{z_k}`: its mode is at :math:`z = \log \alpha`, centred, where
        minus the inverse of the second derivatives is that of :math:`1 / \alpha`. Correlations
        are left to the sampler.
        """
        (alpha,) = self.args.values()
        return Normal(call_of(_mode, (alpha,), (1,)), call_of(_spread, (alpha,), (1,)))

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; the logarithm is NaN for negative elements."""
        (alpha,) = params
        alpha = where_valid(alpha > 0, alpha)
        terms = log_power(xp, alpha - 1.0, value) - gammaln(alpha)
        logp = xp.sum(terms, axis=-1) + gammaln(xp.sum(alpha, axis=-1))
        return where_inside(abs(xp.sum(value, axis=-1) - 1.0) < SUM_TOLERANCE, logp)

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information on the concentration: batch shape."""
        (alpha,), (change,) = params, changes
        if change is None:
            return 0.0
        total = xp.sum(change + np.zeros(alpha.shape[-1]), axis=-1)
        own = xp.sum(trigamma(alpha) * change * change, axis=-1)
        return own - trigamma(np.sum(alpha, axis=-1)) * total * total

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw vectors of probabilities: ``shape`` ends with their length."""
        (alpha,) = params
        # In logarithms, G(a) = G(a + 1) U^(1/a): small shapes would underflow otherwise.
        log_gammas = np.log(rng.standard_gamma(np.add(alpha, 1.0), shape))
        with np.errstate(divide="ignore"):  # an element of concentration zero is zero
            log_gammas = log_gammas - rng.standard_exponential(shape) / alpha
        gammas = np.exp(log_gammas - log_gammas.max(axis=-1, keepdims=True))
        return np.asarray(gammas / gammas.sum(axis=-1, keepdims=True))


def _mode(xp: Any, alpha: Any) -> Any:
    return xp.log(alpha) @ zero_sum_basis(alpha.shape[-1]).T


def _spread(xp: Any, alpha: Any) -> Any:
    return xp.sqrt((1.0 / alpha) @ zero_sum_basis(alpha.shape[-1]).T ** 2)
