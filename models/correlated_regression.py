"""Linear regression on five inputs that are nearly collinear, without an intercept.

The data are simulated so that the coefficients are strongly correlated in the posterior.

    probmodel sample gallery:correlated_regression --data gallery:correlated_regression.csv

Reference: Magnusson et al. (2024), posteriordb: testing, benchmarking and developing Bayesian
inference algorithms.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import HalfNormal, Normal


class CorrelatedRegression(Model):
    X = data(dims=("obs", "feature"))

    beta = param(Normal(0, 10), dims="feature")
    sigma = param(HalfNormal(10))

    y = observed(Normal(X @ beta, sigma), dims="obs")
