"""GARCH(1, 1): the variance of a day's return depends on the previous return and variance.

The data are 945 daily log returns of the pound against the dollar in per cent. ``beta1`` is bounded
by ``1 - alpha1``, so the variance is stationary. The first day has the stationary variance, which
is an expression of the parameters.

    probmodel sample gallery:garch --data gallery:pound_dollar.csv

Reference: Bollerslev (1986), Generalized autoregressive conditional heteroskedasticity, Journal of
Econometrics 31; Stan User's Guide, "Modeling temporal heteroscedasticity"; data of Harvey, Ruiz and
Shephard (1994).
"""

from probmodel import Model, observed, param
from probmodel.distributions import GARCH, HalfNormal, Normal


class Garch(Model):
    mu = param(Normal(0, 1))
    alpha0 = param(HalfNormal(1))
    alpha1 = param(lower=0, upper=1)
    beta1 = param(lower=0, upper=1 - alpha1)

    stationary = alpha0 / (1 - alpha1 - beta1)
    y = observed(GARCH(mu, alpha0, alpha1, beta1, initial_variance=stationary), dims="day")
