"""Stochastic volatility, with the path of the log variance written centred.

This is the model of stochastic_volatility.py, on the same data, in the form that most tools use.
Here h is the log variance less its mean.

    probmodel sample gallery:stochastic_volatility_centered --data gallery:sp500_500.csv

This form is hard to sample as it is written: with `standardise=False` the run ends with warnings
about the persistence phi and the spread sigma. By default `infer` standardises h. Use the model to
compare methods and tools.

Reference: as in stochastic_volatility.py.
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
