"""Stochastic volatility: returns whose log variance follows a stationary autoregression.

Shown on daily log returns of the S&P 500 in per cent, less their mean: ten years, or the last
500 days.

    probmodel sample models/stochastic_volatility.py --data models/data/sp500_500.csv

This posterior is hard: the run ends with warnings that the chains disagree about the persistence
phi and the spread sigma. stochastic_volatility_noncentered.py is the same model in parameters that
suit it better.

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
