"""Gaussian process regression: a smooth curve and its noise, with the curve integrated out.

The observations are a smooth process plus noise. `predict` draws new observations at other points,
or with noise=False the curve itself. Here sigma is the variance of the noise.

    probmodel sample gallery:gaussian_process_regression --data gallery:gp_regression.csv

Reference: Stan User's Guide, Gaussian processes, "Gaussian process regression".
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import Gamma, GaussianProcess, HalfNormal, kernels


class GaussianProcessRegression(Model):
    x = data(dims="point")

    rho = param(Gamma(25, 4))
    alpha = param(HalfNormal(2))
    sigma = param(HalfNormal(1))

    curve = GaussianProcess(kernels.ExpQuad(alpha, rho), x, noise=np.sqrt(sigma), jitter=0.0)
    y = observed(curve, dims="point")
