"""Leaf weight of mesquite bushes explained by the logarithms of six measurements.

``np.concatenate`` combines the logged inputs with the indicator, which stays as it is.

    probmodel sample gallery:mesquite --data gallery:mesquite.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 4.
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import LogNormal


class Mesquite(Model):
    # Two diameters, heights of canopy and bush, density of stems; 1 for the second group.
    X = data(dims=("bush", "feature"), lower=0)
    inputs = np.concatenate([np.log(X[:, :5]), X[:, 5:]], axis=1)

    beta = param(shape=7)
    sigma = param(lower=0)

    weight = observed(LogNormal(beta[0] + inputs @ beta[1:], sigma), dims="bush")
