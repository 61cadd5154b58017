"""Leaf weight of mesquite bushes explained by volume, area and shape of the canopy, and height.

``np.stack`` combines inputs computed from the data.

    probmodel sample gallery:mesquite_shape --data gallery:mesquite.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 4.
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import LogNormal


class MesquiteShape(Model):
    # Two diameters, heights of canopy and bush, density of stems; 1 for the second group.
    X = data(dims=("bush", "feature"), lower=0)
    area = X[:, 0] * X[:, 1]
    shape = X[:, 0] / X[:, 1]
    sizes = np.log(np.stack([area * X[:, 2], area, shape, X[:, 3]], axis=1))

    beta = param(shape=6)
    sigma = param(lower=0)

    mean = beta[0] + sizes @ beta[1:5] + beta[5] * X[:, 5]
    weight = observed(LogNormal(mean, sigma), dims="bush")
