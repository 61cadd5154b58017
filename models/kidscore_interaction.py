"""Children's test scores: the mother's schooling and IQ, centred, and their interaction.

Expressions of data alone, here the centred inputs, are computed once, when data are bound.

    probmodel sample gallery:kidscore_interaction --data gallery:kidiq.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 3.
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import Normal


class KidscoreInteraction(Model):
    X = data(dims=("obs", "feature"))  # 1 if the mother finished high school; her IQ
    centred = X - np.mean(X, axis=0)
    product = centred[:, 0] * centred[:, 1]

    beta = param(shape=4)
    sigma = param(lower=0)

    mean = beta[0] + centred @ beta[1:3] + beta[3] * product
    y = observed(Normal(mean, sigma), dims="obs")
