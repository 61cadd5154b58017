"""A hidden Markov model: a series that switches between two levels.

Each observation has the level of a hidden state, which is a Markov chain. ``HiddenMarkov`` sums out
all state paths. Ordered levels prevent label switching.

    probmodel sample gallery:hidden_markov --data gallery:hidden_markov.csv

Reference: Stan User's Guide, Time-series models, "Hidden Markov models".
"""

import numpy as np

from probmodel import Model, deterministic, observed, param
from probmodel.constraints import PositiveOrdered
from probmodel.distributions import Dirichlet, HiddenMarkov, Normal
from probmodel.functions import component_log_densities, state_probabilities


class TwoLevels(Model):
    theta1 = param(Dirichlet(np.ones(2)))  # transitions from the first state
    theta2 = param(Dirichlet(np.ones(2)))
    mu = param(Normal([3, 10], 1), constraint=PositiveOrdered())

    start = np.array([0.5, 0.5])
    change = np.stack([theta1, theta2])
    y = observed(HiddenMarkov(start, change, Normal(mu, 1)), dims="time")

    seen = component_log_densities(Normal(mu, 1), y)
    state = deterministic(state_probabilities(seen, start, change))  # given the whole series
