"""3604 trees in a rain forest: a Cox process with elevation and slope of the ground as covariates.

Trees are counted in squares of 50 m by 50 m. What the covariates leave out comes in two sizes. A
Gaussian process takes up what is wider than some squares; ``HilbertSpaceGP`` writes it as a sum of
waves with few weights. Clumps within a square, of seeds that fell near their tree for instance, make
the counts negative binomial. Without the two, trees would count as independent, and the coefficients
would look far more certain than they are.

    probmodel sample models/bei.py --data models/data/bei_10x20.npz

Reference: Moller and Waagepetersen (2007), Modern statistics for spatial point processes,
Scandinavian Journal of Statistics 34; Riutort-Mayol et al. (2023), Practical Hilbert space
approximate Bayesian Gaussian processes for probabilistic programming; data of Hubbell, Foster and
Condit.
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import (
    HalfNormal,
    HilbertSpaceGP,
    LogNormal,
    NegativeBinomial2Log,
    Normal,
    kernels,
)


class Bei(Model):
    place = data(dims=("square", "axis"))  # centre: metres to the east and to the north
    area = data(lower=0)  # of a square, in square metres
    elevation = data(dims="square")  # metres
    gradient = data(dims="square")
    high = (elevation - np.mean(elevation)) / 10
    steep = (gradient - np.mean(gradient)) * 10

    alpha = param(Normal(-5, 2))  # log of trees a square metre
    beta_elevation = param(Normal(0, 1))  # for ten metres
    beta_gradient = param(Normal(0, 1))  # for a tenth
    amplitude = param(HalfNormal(2))
    length = param(LogNormal(np.log(150), 0.4), lower=100)
    process = HilbertSpaceGP(
        kernels.ExpQuad(amplitude, length), place, n_basis=(14, 11), boundary=(1.6, 2.8)
    )
    weights = param(process, noncentered=True)
    phi = param(LogNormal(0, 1))  # the fewer clumps, the larger

    fixed = alpha + beta_elevation * high + beta_gradient * steep
    log_mean = np.log(area) + fixed + process.basis(place) @ weights
    count = observed(NegativeBinomial2Log(log_mean, phi), dims="square")
