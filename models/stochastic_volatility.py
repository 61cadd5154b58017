"""Stochastic volatility: returns whose log variance follows a stationary autoregression.

The data are daily log returns of the S&P 500 in per cent, less their mean: ten years, or the last
500 days.

    probmodel sample gallery:stochastic_volatility --data gallery:sp500_500.csv

The path of the log variance depends on its persistence phi and its spread sigma. So neither the
path nor its shocks have a fixed scale that the warm-up could adapt to. The expected information of
a day's return on that day's log variance is 1/2, whatever the variance. ``information=0.5``
standardises the path by this and by its prior given phi and sigma. Given phi and sigma, the sampled
coordinates are then nearly independent standard normals.

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
