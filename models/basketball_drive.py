"""When does a basketball player drive to the hoop? Two series that share one hidden state.

In each of two states, the inverse of the player's speed and his distance to the hoop have
exponential distributions, each with its own rate. They are independent given the state, so the
model adds their log densities under each state. ``hmm_log_likelihood`` sums out the state paths.

    probmodel sample gallery:basketball_drive --data gallery:basketball_drive.json

Chains that start far from the prior may end in another mode, where the states mean something else.

Reference: Imad and Betancourt (2018), Tagging basketball events with HMM in Stan.
"""

import numpy as np

from probmodel import Model, data, param, potential
from probmodel.constraints import PositiveOrdered
from probmodel.distributions import Dirichlet, Exponential, Normal
from probmodel.functions import component_log_densities, hmm_log_likelihood


class BasketballDrive(Model):
    u = data(dims="time", lower=0)  # one over the speed
    v = data(dims="time", lower=0)  # distance to the hoop
    alpha = data(dims=("state", "next_state"), lower=0)

    theta1 = param(Dirichlet(alpha[0]))  # transitions from the first state
    theta2 = param(Dirichlet(alpha[1]))
    phi = param(Normal([0, 3], 1), constraint=PositiveOrdered())
    rate = param(Normal([0, 3], 1), constraint=PositiveOrdered())

    seen = component_log_densities(Exponential(phi), u) + component_log_densities(
        Exponential(rate), v
    )
    start = np.array([0.5, 0.5])
    likelihood = potential(hmm_log_likelihood(seen, start, np.stack([theta1, theta2])))
