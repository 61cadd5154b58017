"""Robust regression: Student's t errors with unknown degrees of freedom.

Some people report a few hundred dollars a year, almost five standard deviations below others of
their height and sex. With normal errors, as in earnings_log_height_male.py, these outliers pull the
line and inflate sigma. With t errors they weigh less. A small ``df`` means many outliers, a large
one nearly normal errors.

    probmodel sample gallery:robust_regression --data gallery:earnings_logarithms.csv

Reference: Lange, Little and Taylor (1989), Robust statistical modeling using the t distribution,
JASA 84; prior of df from Juarez and Steel (2010), Model-based clustering of non-Gaussian panel
data; data of Gelman and Hill (2007).
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import Gamma, HalfNormal, Normal, StudentT


class RobustRegression(Model):
    X = data(dims=("person", "feature"))
    centred = X - np.mean(X, axis=0)

    df = param(Gamma(2, 0.1))
    alpha = param(Normal(10, 5))
    beta = param(Normal(0, 1), dims="feature")
    sigma = param(HalfNormal(2))

    log_earn = observed(StudentT(df, alpha + centred @ beta, sigma), dims="person")
