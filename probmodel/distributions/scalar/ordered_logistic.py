"""Ordered logistic regression."""

from __future__ import annotations

import numpy as np

from probmodel.distributions.scalar.ordered_regression import OrderedCategories
from probmodel.numerics.special.cutpoints import expit_interval_slope, log_expit_interval
from probmodel.types import Array


class OrderedLogistic(OrderedCategories):
    r"""One of K ordered categories, with proportional odds.

    .. math:: P(y) = \operatorname{logit}^{-1}(c_{y + 1} - \eta)
              - \operatorname{logit}^{-1}(c_y - \eta), \quad y = 0, \dots, K - 1

    with :math:`c_0 = -\infty`, the cutpoints :math:`c_1 < \dots < c_{K - 1}` and
    :math:`c_K = \infty`.

    Parameters
    ----------
    eta : linear predictor :math:`\eta`, a number
    cutpoints : increasing, (K - 1,), without the two infinities

    Notes
    -----
    Categories count from zero. Stan: ``ordered_logistic(eta, cutpoints)``, counting from one.
    SciPy: none; a difference of ``logistic.cdf``. It is fast where all observations share one
    vector of cutpoints. An intercept in ``eta`` would only shift the cutpoints: leave it out.

    References
    ----------
    McCullagh (1980), Regression models for ordinal data.
    """

    log_interval = staticmethod(log_expit_interval)
    interval_slope = staticmethod(expit_interval_slope)

    @staticmethod
    def draw_noise(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw standard logistic variates."""
        return np.asarray(rng.logistic(size=shape))
