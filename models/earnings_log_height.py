"""The logarithm of earnings explained by height.

A normal model of log earnings is a ``LogNormal`` model of earnings.

    probmodel sample gallery:earnings_log_height --data gallery:earnings.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 4.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import LogNormal


class EarningsLogHeight(Model):
    X = data(dims=("person", "feature"))  # height in inches; 1 for men
    height = X[:, 0]

    beta = param(shape=2)
    sigma = param(lower=0)

    earn = observed(LogNormal(beta[0] + beta[1] * height, sigma), dims="person")
