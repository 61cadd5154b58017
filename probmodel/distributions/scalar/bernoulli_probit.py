"""The Bernoulli distribution given the normal quantile of its probability."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Real
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.scalar.count_families import BernoulliFamily
from probmodel.numerics.special import LOG_2PI, log_ndtr
from probmodel.types import Array


class BernoulliProbit(BernoulliFamily):
    r"""Success or failure, with the normal quantile of the probability of success as the parameter.

    .. math:: P(y) = \Phi(\eta)^y \Phi(-\eta)^{1 - y}, \quad y \in \{0, 1\}

    The form that `Bernoulli` takes when its probability is ``ndtr(eta)``, which is one where eta
    exceeds 8.3, so that failures would be impossible there.

    Parameters
    ----------
    eta : normal quantile :math:`\eta` of the probability

    Notes
    -----
    Stan: ``bernoulli(Phi(eta))``. SciPy: ``bernoulli(ndtr(eta))``.
    """

    parameters: ClassVar = {"eta": Parameter(Real())}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log probability: batch shape."""
        (eta,) = params
        return log_ndtr((2.0 * value - 1.0) * eta)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the quantile."""
        (eta,) = params
        return {("eta", "eta"): lambda: probit_information(eta)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw zeros and ones of shape ``shape``."""
        (eta,) = params
        return (rng.standard_normal(shape) < eta).astype(np.int64)


def probit_information(eta: Array) -> Array:
    """Information of one trial on the normal quantile of its probability (NumPy)."""
    return np.exp(-LOG_2PI - eta * eta - log_ndtr(eta) - log_ndtr(-eta))
