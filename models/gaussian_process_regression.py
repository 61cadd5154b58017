"""Gaussian process regression: a smooth curve and its noise, with the curve integrated out.

The observations are jointly normal; their covariance is an expression of inputs and parameters.
Each point shares the noise with itself alone. Here sigma is the variance of the noise.

    probmodel sample gallery:gaussian_process_regression --data gallery:gp_regression.csv

Reference: Stan User's Guide, Gaussian processes, "Gaussian process regression".
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import Gamma, HalfNormal, MvNormal


class GaussianProcessRegression(Model):
    x = data(dims="point")

    rho = param(Gamma(25, 4))
    alpha = param(HalfNormal(2))
    sigma = param(HalfNormal(1))

    gap = x[:, None] - x
    covariance = alpha**2 * np.exp(-0.5 * (gap / rho) ** 2) + sigma * (gap == 0)
    y = observed(MvNormal(0 * x, covariance=covariance), dims="point")
