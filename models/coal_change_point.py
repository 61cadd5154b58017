"""Explosions in coal mines, 1851 to 1962: a Poisson rate that changes once, in an unknown year.

The change year is discrete, so the model sums it out. ``log_weight`` is the log likelihood if the
early rate ends with a given year, for each year; the potential sums the likelihoods. Cumulative
sums of the data replace a loop. ``probability`` is the probability of each year given the rates.
Its posterior mean is the posterior of the year, more precise than counts of sampled years.

    probmodel sample gallery:coal_change_point --data gallery:coal.json

Reference: Jarrett (1979), A note on the intervals between coal-mining disasters, Biometrika 66;
Carlin, Gelfand and Smith (1992), Hierarchical Bayesian analysis of changepoint problems, Applied
Statistics 41; Stan User's Guide, "Change point models".
"""

import numpy as np

from probmodel import Model, data, deterministic, param, potential
from probmodel.distributions import Exponential


class CoalChangePoint(Model):
    disasters = data(dims="year", dtype=int, lower=0)

    early = param(Exponential(1))  # explosions per year
    late = param(Exponential(1))

    years = np.cumsum(disasters >= 0)  # 1, 2, 3, ...: years with the early rate
    total = np.cumsum(disasters)
    log_early = total * np.log(early) - years * early
    log_late = (total[-1] - total) * np.log(late) - (years[-1] - years) * late
    log_weight = log_early + log_late

    largest = np.max(log_weight)
    weight = np.exp(log_weight - largest)
    likelihood = potential(largest + np.log(np.sum(weight)))
    probability = deterministic(weight / np.sum(weight), dims="year")
