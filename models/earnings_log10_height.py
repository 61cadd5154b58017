"""Earnings on the log10 scale, explained by height.

If log10(earn) is normal with mean m and standard deviation s, then the natural logarithm is normal
with mean log(10) * m and standard deviation log(10) * s.

    probmodel sample gallery:earnings_log10_height --data gallery:earnings.csv

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 4.
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import LogNormal


class EarningsLog10Height(Model):
    X = data(dims=("person", "feature"))  # height in inches; 1 for men
    height = X[:, 0]

    beta = param(shape=2)
    sigma = param(lower=0)

    unit = np.log(10)
    earn = observed(LogNormal(unit * (beta[0] + beta[1] * height), unit * sigma), dims="person")
