"""Earnings explained by height, in dollars and inches, with flat priors.

A parameter without a prior is flat on its constraint. Nothing is scaled here: the coefficients are
in the tens of thousands and almost determine each other, which makes them harder to sample.

    probmodel sample gallery:earnings_height --data gallery:earnings.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 4.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import Normal


class EarningsHeight(Model):
    X = data(dims=("person", "feature"))  # height in inches; 1 for men
    height = X[:, 0]

    beta = param(shape=2)
    sigma = param(lower=0)

    earn = observed(Normal(beta[0] + beta[1] * height, sigma), dims="person")
