"""A mixture of two normal distributions, with the component labels summed out.

Ordered means prevent label switching. The component of an observation is discrete, so it is not a
parameter: ``Mixture`` sums it out.

    probmodel sample gallery:gaussian_mixture --data gallery:gaussian_mixture.csv

Reference: Betancourt (2017), Identifying Bayesian mixture models; Stan User's Guide, Finite
mixtures.
"""

import numpy as np

from probmodel import Model, observed, param
from probmodel.constraints import Ordered
from probmodel.distributions import Beta, HalfNormal, Mixture, Normal


class GaussianMixture(Model):
    mu = param(Normal(0, 2), constraint=Ordered(), shape=2)
    sigma = param(HalfNormal(2), shape=2)
    theta = param(Beta(5, 5))  # weight of the first component, the one with the smaller mean

    y = observed(Mixture(np.stack([theta, 1 - theta]), Normal(mu, sigma)), dims="obs")
