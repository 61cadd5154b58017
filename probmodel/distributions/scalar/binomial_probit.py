"""The binomial distribution given the normal quantile of its probability."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from probmodel.constraints import IntegerInterval, Real
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.scalar.bernoulli_probit import probit_information
from probmodel.distributions.scalar.count_families import BinomialFamily
from probmodel.numerics.special import log_ndtr, product
from probmodel.types import Array


class BinomialProbit(BinomialFamily):
    r"""Number of successes in a number of trials, by the normal quantile of their probability.

    .. math:: P(y) = \binom{n}{y} \Phi(\eta)^y \Phi(-\eta)^{n - y}, \quad y = 0, \dots, n

    The form that `Binomial` takes when its probability is ``ndtr(eta)``.

    Parameters
    ----------
    n : number of trials, a whole number
    eta : normal quantile :math:`\eta` of the probability

    Notes
    -----
    Stan: ``binomial(n, Phi(eta))``. SciPy: ``binom(n, ndtr(eta))``.
    """

    parameters: ClassVar = {"n": Parameter(IntegerInterval(0, None)), "eta": Parameter(Real())}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability without the binomial coefficient: batch shape."""
        n, eta = params
        return product(value, log_ndtr(eta)) + product(n - value, log_ndtr(-eta))

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the quantile."""
        n, eta = params
        return {("eta", "eta"): lambda: n * probit_information(eta)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw counts of shape ``shape``."""
        n, eta = params
        return np.asarray(rng.binomial(np.asarray(n).astype(np.int64), ndtr(eta), shape))
