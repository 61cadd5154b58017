"""Leaf weight of mesquite bushes explained by the volume of the canopy.

The one input is computed from three columns of the data.

    probmodel sample gallery:mesquite_volume --data gallery:mesquite.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 4.
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import LogNormal


class MesquiteVolume(Model):
    # Two diameters, heights of canopy and bush, density of stems; 1 for the second group.
    X = data(dims=("bush", "feature"), lower=0)
    volume = X[:, 0] * X[:, 1] * X[:, 2]

    beta = param(shape=2)
    sigma = param(lower=0)

    weight = observed(LogNormal(beta[0] + beta[1] * np.log(volume), sigma), dims="bush")
