"""Linear regression with weak priors.

The data are test scores of 434 children, explained by whether the mother finished high school and
by her IQ.

    probmodel sample gallery:linear_regression --data gallery:kidiq.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 3.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import HalfCauchy, Normal


class LinearRegression(Model):
    X = data(dims=("obs", "feature"))

    alpha = param(Normal(0, 100))
    beta = param(Normal(0, 10), dims="feature")
    sigma = param(HalfCauchy(10))

    y = observed(Normal(alpha + X @ beta, sigma), dims="obs")
