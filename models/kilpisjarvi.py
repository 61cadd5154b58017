"""Summer temperatures at Kilpisjarvi over 62 years: a trend in uncentred years.

The input is the year plus 2000, a number near 4000. So intercept and slope have a posterior
correlation of -0.99999, although the model is a simple regression.

    probmodel sample gallery:kilpisjarvi --data gallery:kilpisjarvi.json

Reference: Gelman et al. (2013), Bayesian Data Analysis, demonstrations by A. Vehtari; posteriordb.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import Normal


class Kilpisjarvi(Model):
    x = data(dims="year")
    pmualpha = data()
    psalpha = data(lower=0)
    pmubeta = data()
    psbeta = data(lower=0)

    alpha = param(Normal(pmualpha, psalpha))
    beta = param(Normal(pmubeta, psbeta))
    sigma = param(lower=0)

    y = observed(Normal(alpha + beta * x, sigma), dims="year")
