"""Autoregression of order five, given its first five values.

Slices of the data are the values one to five steps before. The first five values explain others
and are not explained themselves, so the likelihood of the rest is written as a ``potential``.

    probmodel sample models/autoregression.py --data models/data/autoregression.csv

Reference: Stan User's Guide, Time-series models, "Autoregressive models".
"""

import numpy as np

from probmodel import Model, data, param, potential
from probmodel.distributions import HalfCauchy, Normal


class Autoregression(Model):
    y = data(dims="time")
    past = np.stack([y[4:-1], y[3:-2], y[2:-3], y[1:-4], y[:-5]], axis=1)

    alpha = param(Normal(0, 10))
    beta = param(Normal(0, 10), shape=5)
    sigma = param(HalfCauchy(2.5))

    error = (y[5:] - alpha - past @ beta) / sigma
    likelihood = potential(-0.5 * error**2 - np.log(sigma))
