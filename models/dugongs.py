"""Length of sea cows by age: a nonlinear growth curve towards a limit.

The mean is the formula ``limit - gap * decay**age``; any formula of parameters and data can be a
mean. It tends to ``limit`` with age, and is ``gap`` below it at birth.

    probmodel sample gallery:dugongs --data gallery:dugongs.csv

Reference: Ratkowsky (1983), Nonlinear Regression Modeling; Carlin and Gelfand (1991), An iterative
Monte Carlo method for nonconjugate Bayesian analysis; BUGS Examples Volume II, "Dugongs".
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import HalfNormal, Normal


class Dugongs(Model):
    age = data(dims="animal", lower=0)  # years

    limit = param(Normal(0, 10), lower=0)  # metres
    gap = param(Normal(0, 10), lower=0)
    decay = param(lower=0, upper=1)
    sigma = param(HalfNormal(1))

    length = observed(Normal(limit - gap * decay**age, sigma), dims="animal")
