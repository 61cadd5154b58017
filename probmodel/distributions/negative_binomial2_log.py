"""The negative binomial distribution, by the logarithm of its mean and dispersion."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import IntegerInterval, Positive, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Summed, Thunk
from probmodel.distributions.domain import where_valid
from probmodel.distributions.sums import reduce_to, row_sum
from probmodel.special import digamma, expit, log1p_exp, logistic, product
from probmodel.special.counts import (
    log_ways_base,
    log_ways_kernel,
    poisson_counts,
    precision_slope,
)
from probmodel.special.rising import rising_slope
from probmodel.types import Array

# Above this precision the slope in it is summed term by term.
_LARGE = 1e5


class NegativeBinomial2Log(Distribution):
    r"""Negative binomial distribution with the logarithm of the mean as a parameter.

    .. math:: P(y) = \binom{y + \phi - 1}{y} \frac{e^{y t}}{(1 + e^t)^{y + \phi}}, \quad
              t = \eta - \log \phi, \quad y = 0, 1, \dots

    Parameters
    ----------
    eta : logarithm :math:`\eta` of the mean :math:`\mu`; minus infinity is that of a mean of zero
    phi : precision :math:`\phi > 0`; the variance is :math:`\mu + \mu^2 / \phi`

    Notes
    -----
    Stan: ``neg_binomial_2_log(eta, phi)``. SciPy: ``nbinom(phi, phi / (exp(eta) + phi))``. One
    number per batch element.
    """

    parameters: ClassVar = {"eta": Parameter(Real()), "phi": Parameter(Positive())}
    discrete = True

    def support(self) -> Constraint:
        """Whole numbers from zero up."""
        return IntegerInterval(0, None)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the terms of `log_base`: batch shape."""
        eta, phi = params
        phi = where_valid(xp, phi > 0, phi)
        t = eta - xp.log(phi)
        ways = log_ways_kernel(phi, value)
        return ways - product(value, log1p_exp(-t)) - phi * log1p_exp(t)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Return ``-log(y!)`` of counts that are not large; minus infinity for what is no count."""
        return log_ways_base(value)

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives of `log_kernel` with respect to value, log mean and precision."""
        eta, phi = params
        t = eta - xp.log(phi)

        return (
            lambda: digamma(value + phi) - log1p_exp(-t),
            lambda: value * expit(-t) - phi * expit(t),
            lambda: precision_slope(
                xp, value, phi, log1p_exp(t), expit(t), (value / phi) * expit(-t) - expit(t)
            ),
        )

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the log mean: that on the precision, orthogonal, is an infinite sum."""
        eta, phi = params
        return {("eta", "eta"): lambda: phi * expit(eta - np.log(phi))}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        eta, phi = params
        return poisson_counts(rng, np.exp(eta) / phi * rng.standard_gamma(phi, shape))

    def prepared(self, known: Sequence[Any]) -> Summed:
        """Count how often each known value occurs: gamma functions are of different values only."""
        value, eta, phi = known
        if value is None or eta is not None:
            return self.summed
        return _FixedCounts(self, np.asarray(value, dtype=float), phi)

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of `log_kernel` per chain, with partials, from one exponential."""
        eta, phi = params
        t = eta - np.log(phi)
        softplus, softplus_negative, share, rest = logistic(t)
        terms = log_ways_kernel(phi, value) - value * softplus_negative - phi * softplus
        batch = terms.shape
        logp = row_sum(terms, batch)
        if not isfinite(np.dot(logp, logp)):  # some mean may be zero
            logp = row_sum(self.log_kernel(np, value, eta, phi), batch)
        in_eta = value * rest - phi * share
        slopes = (
            lambda: digamma(value + phi) - softplus_negative,
            lambda: in_eta,
            lambda: precision_slope(np, value, phi, softplus, share, in_eta / phi),
        )
        args = (value, eta, phi)
        return logp, [reduce_to(args[i], slopes[i](), batch, 0) for i in wanted]


class _FixedCounts:
    """Sum of log probabilities of known counts, as a function of log mean and precision.

    ``phi`` is the precision if data decides it, else None.
    """

    def __init__(self, general: NegativeBinomial2Log, value: Array, phi: Any) -> None:
        self.general = general
        self.value = value
        self.distinct, self.times = np.unique(value, return_counts=True)
        # The gamma functions of a known precision, unless it has elements that the counts lack.
        self.constant = None
        if phi is not None and np.broadcast_shapes(np.shape(phi), value.shape) == value.shape:
            self.constant = np.sum(np.broadcast_to(log_ways_kernel(phi, value), value.shape))

    def __call__(
        self, wanted: Sequence[int], value: Array, eta: Array, phi: Array
    ) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivatives in the log mean and the precision."""
        chains = len(eta) if eta.ndim > 1 else 0
        alike = np.shape(phi) == (chains,) + (1,) * (eta.ndim - 1)
        # The sum over distinct counts cancels for large precisions, which are nearly Poisson.
        usable = (alike and np.max(phi) < _LARGE) or self.constant is not None
        if eta.shape[1:] != self.value.shape or not chains or not usable:
            return self.general.summed(wanted, value, eta, phi)
        t = eta - np.log(phi)
        softplus, softplus_negative, share, rest = logistic(t)
        in_eta = self.value * rest - phi * share
        terms = self.value * softplus_negative + phi * softplus
        logp = -np.add.reduce(terms.reshape(chains, -1), axis=1)
        if not isfinite(np.dot(logp, logp)):
            return self.general.summed(wanted, value, eta, phi)
        if self.constant is not None:
            return logp + self.constant, [in_eta for _ in wanted]
        column = phi.reshape(chains, 1)
        logp = logp + log_ways_kernel(column, self.distinct) @ self.times
        return logp, [
            in_eta if i == 1 else self._in_phi(column, softplus, in_eta).reshape(phi.shape)
            for i in wanted
        ]

    def _in_phi(self, column: Array, softplus: Array, in_eta: Array) -> Array:
        """Return the derivative in one precision per chain: (chains,)."""
        chains = len(column)
        gammas = rising_slope(column, self.distinct) @ self.times
        rest = softplus.reshape(chains, -1) + in_eta.reshape(chains, -1) / column
        return np.asarray(gammas - rest.sum(axis=1))
