"""Ordered probit regression."""

from __future__ import annotations

import numpy as np

from probmodel.distributions.scalar.ordered_regression import OrderedCategories
from probmodel.numerics.special.cutpoints import log_ndtr_interval, ndtr_interval_slope
from probmodel.types import Array


class OrderedProbit(OrderedCategories):
    r"""One of K ordered categories of a normal latent variable.

    .. math:: P(y) = \Phi(c_{y + 1} - \eta) - \Phi(c_y - \eta), \quad y = 0, \dots, K - 1

    with :math:`c_0 = -\infty`, the cutpoints :math:`c_1 < \dots < c_{K - 1}` and
    :math:`c_K = \infty`.

    Parameters
    ----------
    eta : linear predictor :math:`\eta`, a number
    cutpoints : increasing, (K - 1,), without the two infinities

    Notes
    -----
    Categories count from zero. Stan: ``ordered_probit(eta, cutpoints)``, counting from one. SciPy:
    none; a difference of ``norm.cdf``. It is fast where all observations share one vector of
    cutpoints. An intercept in ``eta`` would only shift the cutpoints: leave it out.

    References
    ----------
    McKelvey and Zavoina (1975), A statistical model for the analysis of ordinal level dependent
    variables.
    """

    log_interval = staticmethod(log_ndtr_interval)
    interval_slope = staticmethod(ndtr_interval_slope)

    @staticmethod
    def draw_noise(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw standard normal variates."""
        return rng.standard_normal(shape)
