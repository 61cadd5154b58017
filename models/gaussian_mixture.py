"""A mixture of two normal distributions, with its groups summed out.

Ordered means keep the two components from swapping. The group of an observation is discrete, so
it is not a parameter: ``np.logaddexp`` adds up the densities of both on the log scale.

    probmodel sample models/gaussian_mixture.py --data models/data/gaussian_mixture.csv

Reference: Betancourt (2017), Identifying Bayesian mixture models; Stan User's Guide, Finite
mixtures.
"""

import numpy as np

from probmodel import Model, data, param, potential
from probmodel.constraints import Ordered
from probmodel.distributions import Beta, HalfNormal, Normal


class GaussianMixture(Model):
    y = data(dims="obs")

    mu = param(Normal(0, 2), constraint=Ordered(), shape=2)
    sigma = param(HalfNormal(2), shape=2)
    theta = param(Beta(5, 5))  # weight of the first component, the one with the smaller mean

    first = np.log(theta / sigma[0]) - 0.5 * ((y - mu[0]) / sigma[0]) ** 2
    second = np.log((1 - theta) / sigma[1]) - 0.5 * ((y - mu[1]) / sigma[1]) ** 2
    mixture = potential(np.logaddexp(first, second))
