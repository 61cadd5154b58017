"""Test scores of children explained by the schooling and the IQ of the mother.

The coefficients have flat priors and the standard deviation has a half-Cauchy prior.

    probmodel sample gallery:kidscore_momhsiq --data gallery:kidiq.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 3.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import HalfCauchy, Normal


class KidscoreMomhsiq(Model):
    X = data(dims=("obs", "feature"))  # 1 if the mother finished high school; her IQ

    beta = param(shape=3)
    sigma = param(HalfCauchy(2.5))

    y = observed(Normal(beta[0] + X @ beta[1:], sigma), dims="obs")
