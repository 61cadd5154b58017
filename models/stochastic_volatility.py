"""Stochastic volatility: returns whose log variance follows a stationary autoregression.

Shown on daily log returns of the S&P 500 in per cent, less their mean: ten years, or the last
500 days.

    probmodel sample models/stochastic_volatility.py --data models/data/sp500_500.csv

This posterior is hard. At the default lengths the run ends with warnings: the chains disagree about
the persistence phi and the spread sigma, and the summary is not to be trusted. Ten times the
warm-up, or ten times the iterations after it, did not suffice either.

Reference: Kim, Shephard and Chib (1998), Stochastic volatility: likelihood inference and
comparison with ARCH models; priors as in Hirt, Titsias and Dellaportas (2021), section 4.4.
"""

import numpy as np

from probmodel import Model, observed, param
from probmodel.distributions import AR1, Affine, Beta, Cauchy, HalfCauchy, Normal


class StochasticVolatility(Model):
    mu = param(Cauchy(0, 2))
    phi = param(Affine(Beta(20, 1.5), loc=-1, scale=2))
    sigma = param(HalfCauchy(1))
    h = param(AR1(phi, sigma), dims="day")

    y = observed(Normal(0, np.exp((mu + h) / 2)), dims="day")
