"""Test scores of children in four groups, by whether and when the mother worked.

Comparisons such as ``mom_work == 2`` turn groups coded 1 to 4 into indicators. The first group is
the baseline.

    probmodel sample gallery:kidscore_mom_work --data gallery:kidiq_work.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 3.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import Normal


class KidscoreMomWork(Model):
    mom_work = data(dims="obs", dtype=int, lower=1, upper=4)

    beta = param(shape=4)
    sigma = param(lower=0)

    mean = (
        beta[0] + beta[1] * (mom_work == 2) + beta[2] * (mom_work == 3) + beta[3] * (mom_work == 4)
    )
    y = observed(Normal(mean, sigma), dims="obs")
