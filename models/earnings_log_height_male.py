"""The logarithm of earnings explained by height and sex.

Indexing picks single columns of the input matrix; ``X @ beta`` uses all of them at once.

    probmodel sample gallery:earnings_log_height_male --data gallery:earnings.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 4.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import LogNormal


class EarningsLogHeightMale(Model):
    X = data(dims=("person", "feature"))  # height in inches; 1 for men

    beta = param(shape=3)
    sigma = param(lower=0)

    earn = observed(LogNormal(beta[0] + X @ beta[1:], sigma), dims="person")
