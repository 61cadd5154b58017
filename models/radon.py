"""Radon in houses: a regression whose intercept varies by county.

The data are log radon levels of 919 houses in 85 counties of Minnesota. The predictors are the
floor of the measurement (0 the basement, 1 the first floor) and the logarithm of the uranium in the
soil of the county. Counties have few houses, some only one, so their intercepts shrink towards the
regression on uranium.

    probmodel sample gallery:radon --data gallery:radon.json

With the labels of the counties, a fit can predict for new houses, in old and new counties: see
"Predicting at new data" in docs/prediction.md.

Reference: Gelman and Hill (2007), Data Analysis Using Regression and Multilevel Models, ch. 12.
"""

from probmodel import Model, data, deterministic, observed, param
from probmodel.distributions import HalfNormal, Normal


class Radon(Model):
    uranium = data(dims="county")
    home = data(dims="house", dtype=int, lower=0)
    floor = data(dims="house", lower=0, upper=1)

    mu = param(Normal(0, 5))
    gamma = param(Normal(0, 2))
    tau = param(HalfNormal(1))
    effect = param(Normal(0, tau), dims="county")
    beta = param(Normal(0, 2))
    sigma = param(HalfNormal(2))

    level = deterministic((mu + gamma * uranium + effect)[home] + beta * floor, dims="house")
    y = observed(Normal(level, sigma), dims="house")
