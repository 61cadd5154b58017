"""Stochastic volatility, with the shocks of the log variance as parameters in place of its path.

The same model as stochastic_volatility.py, on the same data. One day says little about the
variance of that day, so that persistence phi and spread sigma of the log variance decide how its
path may look: given them, the path has a scale of its own for each pair of values, which no sampler
learns. The shocks that drive the path are standard normal whatever phi and sigma are.

    probmodel sample models/stochastic_volatility_noncentered.py --data models/data/sp500_500.csv

Reference: Kim, Shephard and Chib (1998), Stochastic volatility: likelihood inference and
comparison with ARCH models; Papaspiliopoulos, Roberts and Skold (2007), A general framework for the
parametrization of hierarchical models.
"""

import numpy as np

from probmodel import Model, observed, param
from probmodel.distributions import AR1, Affine, Beta, Cauchy, HalfCauchy, Normal


class StochasticVolatility(Model):
    mu = param(Cauchy(0, 2))
    phi = param(Affine(Beta(20, 1.5), loc=-1, scale=2))
    sigma = param(HalfCauchy(1))
    h = param(AR1(phi, sigma), dims="day", noncentered=True)

    y = observed(Normal(0, np.exp((mu + h) / 2)), dims="day")
