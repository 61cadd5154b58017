"""Autoregression of order five, conditional on its first five values.

Each value is regressed on the five before it. The first five values are inputs only. The process
need not be stationary.

    probmodel sample gallery:autoregression --data gallery:autoregression.csv

Reference: Stan User's Guide, Time-series models, "Autoregressive models".
"""

from probmodel import Model, observed, param
from probmodel.distributions import AR, HalfCauchy, Normal


class Autoregression(Model):
    alpha = param(Normal(0, 10))
    beta = param(Normal(0, 10), shape=5)
    sigma = param(HalfCauchy(2.5))

    y = observed(AR(beta, sigma, intercept=alpha), dims="time")
