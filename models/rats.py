"""Growth of 30 young rats: lines whose intercepts and slopes vary together.

Each rat has its own line. The lines come from a bivariate normal distribution whose correlation
has an LKJ prior. Ages are centred at 22 days, where the weights are known best. Five weights
determine a rat's line well, so `infer` samples the lines nearly as they are written, centred.

    probmodel sample gallery:rats --data gallery:rats.json

Reference: Gelfand et al. (1990), Illustration of Bayesian inference in normal data models using
Gibbs sampling, JASA 85; BUGS Examples Volume II, "Birats".
"""

from probmodel import Model, data, deterministic, observed, param
from probmodel.distributions import HalfNormal, LKJCholesky, MvNormal, Normal


class Rats(Model):
    day = data(dims="week")

    mean = param(Normal([250, 6], [100, 5]), dims="line")  # weight at 22 days in grams; grams a day
    spread = param(HalfNormal([50, 5]), dims="line")
    root = param(LKJCholesky(2.0), shape=(2, 2))
    correlation = deterministic((root @ root.T)[0, 1])
    effect = param(MvNormal(mean, cholesky=spread[:, None] * root), dims=("rat", "line"))
    sigma = param(HalfNormal(20))

    growth = effect[:, :1] + effect[:, 1:] * (day - 22)
    weight = observed(Normal(growth, sigma), dims=("rat", "week"))
    birth_weight = deterministic(mean[0] - 22 * mean[1])
