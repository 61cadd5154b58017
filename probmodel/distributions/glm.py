"""Generalised linear models under the names that Stan gives them.

Each is a spelling of an existing distribution: a model fuses ``alpha + x @ beta`` with its
likelihood however it is written. ``x`` is the design matrix, (n, p); ``alpha`` the intercept, a
number or one for each row; ``beta`` the coefficients, (p,). The argument order is Stan's.
"""

from __future__ import annotations

from typing import Any

from probmodel.distributions.scalar.bernoulli_logit import BernoulliLogit
from probmodel.distributions.scalar.binomial_logit import BinomialLogit
from probmodel.distributions.scalar.categorical_logit import CategoricalLogit
from probmodel.distributions.scalar.negative_binomial2_log import NegativeBinomial2Log
from probmodel.distributions.scalar.normal import Normal
from probmodel.distributions.scalar.ordered_logistic import OrderedLogistic
from probmodel.distributions.scalar.poisson_log import PoissonLog

# Their names are those of distributions, which they stand for.
# ruff: noqa: N802


def NormalIdGLM(x: Any, alpha: Any, beta: Any, sigma: Any) -> Normal:
    """Return the linear regression ``normal_id_glm``, with standard deviation ``sigma``."""
    return Normal(alpha + x @ beta, sigma)


def BernoulliLogitGLM(x: Any, alpha: Any, beta: Any) -> BernoulliLogit:
    """Return the logistic regression of outcomes 0 and 1 ``bernoulli_logit_glm``."""
    return BernoulliLogit(alpha + x @ beta)


def BinomialLogitGLM(n: Any, x: Any, alpha: Any, beta: Any) -> BinomialLogit:
    """Return the logistic regression of successes in ``n`` trials ``binomial_logit_glm``."""
    return BinomialLogit(n, alpha + x @ beta)


def PoissonLogGLM(x: Any, alpha: Any, beta: Any) -> PoissonLog:
    """Return the regression of counts ``poisson_log_glm``."""
    return PoissonLog(alpha + x @ beta)


def NegBinomial2LogGLM(x: Any, alpha: Any, beta: Any, phi: Any) -> NegativeBinomial2Log:
    """Return the regression of overdispersed counts ``neg_binomial_2_log_glm``."""
    return NegativeBinomial2Log(alpha + x @ beta, phi)


def CategoricalLogitGLM(x: Any, alpha: Any, beta: Any) -> CategoricalLogit:
    """Return the regression of categories 0 to K - 1 ``categorical_logit_glm``.

    Parameters
    ----------
    x : design matrix, (n, p)
    alpha : intercept of each category, (K,)
    beta : coefficients, (p, K)
    """
    return CategoricalLogit(alpha + x @ beta)


def OrderedLogisticGLM(x: Any, beta: Any, cutpoints: Any) -> OrderedLogistic:
    """Return the regression of ordered categories 0 to K - 1 ``ordered_logistic_glm``."""
    return OrderedLogistic(x @ beta, cutpoints)
