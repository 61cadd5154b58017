"""Test scores of children explained by the IQ of the mother.

The input is not centred, so intercept and slope are strongly correlated.

    probmodel sample gallery:kidscore_momiq --data gallery:kidiq.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 3.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import HalfCauchy, Normal


class KidscoreMomiq(Model):
    X = data(dims=("obs", "feature"))  # 1 if the mother finished high school; her IQ
    mom_iq = X[:, 1]

    beta = param(shape=2)
    sigma = param(HalfCauchy(2.5))

    y = observed(Normal(beta[0] + beta[1] * mom_iq, sigma), dims="obs")
