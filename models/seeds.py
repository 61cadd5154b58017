"""Germination of seeds on 21 plates: a binomial regression with a random effect for each plate.

Plates under the same conditions vary more than a binomial distribution allows. ``effect`` models
this extra variation on the log-odds scale.

    probmodel sample gallery:seeds --data gallery:seeds.csv

Reference: Crowder (1978), Beta-binomial Anova for proportions, Applied Statistics 27; Breslow and
Clayton (1993), Approximate inference in generalized linear mixed models, JASA 88; BUGS Examples
Volume I, "Seeds".
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import BinomialLogit, HalfNormal, Normal


class Seeds(Model):
    seed_type = data(dims="plate")  # 1 for Orobanche aegyptiaca 73, 0 for 75
    root_extract = data(dims="plate")  # 1 for cucumber, 0 for bean
    total = data(dims="plate", dtype=int, lower=0)

    alpha = param(Normal(0, 5))
    beta_seed = param(Normal(0, 5))
    beta_root = param(Normal(0, 5))
    beta_both = param(Normal(0, 5))
    sigma = param(HalfNormal(1))
    effect = param(Normal(0, sigma), dims="plate")

    fixed = beta_seed * seed_type + beta_root * root_extract + beta_both * seed_type * root_extract
    germinated = observed(BinomialLogit(total, alpha + fixed + effect), dims="plate")
