"""3604 trees in a rain forest: a Cox process with elevation and slope of the ground as covariates.

Trees are counted in squares of 50 m by 50 m. Two terms model what the covariates do not explain. A
Gaussian process, written as a sum of sine waves, varies over several squares. Clumps within a
square, for instance of seeds that fell near their tree, make the counts negative binomial. Without
these terms the model would treat trees as independent, and the coefficients would look far too
certain.

    probmodel sample gallery:bei --data gallery:bei_10x20.npz

The waves are those of ``HilbertSpaceGP``, written out so that their weights are normal parameters
and can take ``information``. The data determine slow waves well and fast waves poorly, so neither
centred nor non-centred weights are easy to sample: with ``noncentered=True`` trajectories diverge
and the chains disagree. Where many trees are expected, a square's count has an expected
information of about ``phi`` on its log mean.

Reference: Moller and Waagepetersen (2007), Modern statistics for spatial point processes,
Scandinavian Journal of Statistics 34; Riutort-Mayol et al. (2023), Practical Hilbert space
approximate Bayesian Gaussian processes for probabilistic programming; data of Hubbell, Foster and
Condit.
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import HalfNormal, LogNormal, NegativeBinomial2Log, Normal


class Bei(Model):
    place = data(dims=("square", "axis"))  # centre: metres to the east and to the north
    area = data(lower=0)  # of a square, in square metres
    elevation = data(dims="square")  # metres
    gradient = data(dims="square")
    high = (elevation - np.mean(elevation)) / 10
    steep = (gradient - np.mean(gradient)) * 10

    # 15 by 10 waves on a box of 1600 m by 1000 m, with the plot in its middle.
    east = np.pi * np.arange(1, 16)[:, None] / 1600
    north = np.pi * np.arange(1, 11) / 1000
    along = np.sin(east * (place[:, 0, None, None] + 300))
    across = np.sin(north * (place[:, 1, None, None] + 250))
    waves = (along * across).reshape((-1, 150)) / np.sqrt(800 * 500)
    frequency = np.sqrt(east**2 + north**2).reshape(-1)

    amplitude = param(HalfNormal(2))
    length = param(LogNormal(np.log(200), 0.3))  # metres
    phi = param(LogNormal(0, 0.5))  # larger with fewer clumps
    scale = amplitude * np.sqrt(2 * np.pi) * length * np.exp(-((length * frequency / 2) ** 2))
    weights = param(Normal(0, scale), information=phi * np.sum(waves**2, axis=0))

    alpha = param(Normal(-5, 2))  # log of trees per square metre
    beta_elevation = param(Normal(0, 1))  # per ten metres
    beta_gradient = param(Normal(0, 1))  # per tenth
    log_mean = np.log(area) + alpha + beta_elevation * high + beta_gradient * steep
    count = observed(NegativeBinomial2Log(log_mean + waves @ weights, phi), dims="square")
