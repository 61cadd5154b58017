"""Explosions in coal mines, 1851 to 1962: a Poisson rate whose logarithm is a random walk.

The rate changes every year instead of once; ``sigma``, the size of the changes, is estimated. The
expected information of a year's count on its log rate is the expected count, 1.7 on average.
``information=1.7`` standardises the walk by this and by sigma, which makes the sampled coordinates
nearly independent.

    probmodel sample gallery:coal_random_walk --data gallery:coal.json

Reference: Jarrett (1979), A note on the intervals between coal-mining disasters, Biometrika 66;
Papaspiliopoulos, Roberts and Skold (2007), A general framework for the parametrization of
hierarchical models.
"""

import numpy as np

from probmodel import Model, deterministic, observed, param
from probmodel.distributions import HalfNormal, PoissonLog, RandomWalk


class CoalRandomWalk(Model):
    sigma = param(HalfNormal(0.5))
    walk = param(RandomWalk(sigma, initial_scale=2.0), dims="year", information=1.7)

    rate = deterministic(np.exp(walk), dims="year")  # explosions per year
    disasters = observed(PoissonLog(walk), dims="year")
