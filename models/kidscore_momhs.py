"""Test scores of children explained by whether the mother finished high school.

A regression on a group indicator: two means and one standard deviation for both groups.

    probmodel sample gallery:kidscore_momhs --data gallery:kidiq.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 3.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import HalfCauchy, Normal


class KidscoreMomhs(Model):
    X = data(dims=("obs", "feature"))  # 1 if the mother finished high school; her IQ
    mom_hs = X[:, 0]

    beta = param(shape=2)
    sigma = param(HalfCauchy(2.5))

    y = observed(Normal(beta[0] + beta[1] * mom_hs, sigma), dims="obs")
