"""Stochastic volatility: returns whose log variance follows a stationary autoregression.

Shown on daily log returns of the S&P 500 in per cent, less their mean: ten years, or the last
500 days.

    probmodel sample gallery:stochastic_volatility --data gallery:sp500_500.csv

The persistence phi and the spread sigma of the log variance decide how its path may look, so that
neither the path nor the shocks that drive it have a scale of their own, which a sampler could
learn. One day's return by itself tells the log variance of that day with an expected information
of 1/2, whatever that variance is. ``information=0.5`` samples the path standardised by that and by
what phi and sigma say: given them, its coordinates are nearly independent standard normals.

Reference: Kim, Shephard and Chib (1998), Stochastic volatility: likelihood inference and
comparison with ARCH models; priors as in Hirt, Titsias and Dellaportas (2021), section 4.4;
Papaspiliopoulos, Roberts and Skold (2007), A general framework for the parametrization of
hierarchical models.
"""

import numpy as np

from probmodel import Model, observed, param
from probmodel.distributions import AR1, Affine, Beta, Cauchy, HalfCauchy, Normal


class StochasticVolatility(Model):
    mu = param(Cauchy(0, 2))
    phi = param(Affine(Beta(20, 1.5), loc=-1, scale=2))
    sigma = param(HalfCauchy(1))
    h = param(AR1(phi, sigma, mean=mu), dims="day", information=0.5)

    y = observed(Normal(0, np.exp(h / 2)), dims="day")
