"""Overdispersed germination of seeds: a beta-binomial regression, plate effects integrated out.

A plate's probability has a beta distribution around its mean, and ``BetaBinomial`` integrates it
out. This leaves five parameters instead of one for each plate. ``rho`` is the correlation between
two seeds of a plate; with ``rho`` at zero the model is the binomial regression.

    probmodel sample gallery:seeds_beta_binomial --data gallery:seeds.csv

Reference: Crowder (1978), Beta-binomial Anova for proportions. Applied Statistics 27.
"""

from scipy.special import expit

from probmodel import Model, data, observed, param
from probmodel.distributions import Beta, BetaBinomial, Normal


class SeedsBetaBinomial(Model):
    seed_type = data(dims="plate")  # 1 for Orobanche aegyptiaca 73, 0 for 75
    root_extract = data(dims="plate")  # 1 for cucumber, 0 for bean
    total = data(dims="plate", dtype=int, lower=0)

    alpha = param(Normal(0, 5))
    beta_seed = param(Normal(0, 5))
    beta_root = param(Normal(0, 5))
    beta_both = param(Normal(0, 5))
    rho = param(Beta(1, 9))

    fixed = beta_seed * seed_type + beta_root * root_extract + beta_both * seed_type * root_extract
    mean = expit(alpha + fixed)
    precision = (1 - rho) / rho
    germinated = observed(
        BetaBinomial(total, mean * precision, (1 - mean) * precision), dims="plate"
    )
