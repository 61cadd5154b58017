"""Eight schools: a hierarchical model of coaching effects, non-centred.

Each school's measured effect y has a known standard error sigma. The effects theta share a mean mu
and a standard deviation tau. In the centred form the posterior narrows to a funnel as tau goes to
zero. ``noncentered=True`` samples (theta - mu) / tau instead and reports theta.

    probmodel sample gallery:eight_schools --data gallery:eight_schools.json

Reference: Rubin (1981), Estimation in parallel randomized experiments; Gelman et al. (2013),
Bayesian Data Analysis, section 5.5.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import HalfCauchy, Normal


class EightSchools(Model):
    sigma = data(dims="school", lower=0)

    mu = param(Normal(0, 5))
    tau = param(HalfCauchy(5))
    theta = param(Normal(mu, tau), dims="school", noncentered=True)

    y = observed(Normal(theta, sigma), dims="school")
