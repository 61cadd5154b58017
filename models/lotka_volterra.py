"""Predator and prey: hares and lynxes in Canada, 1900 to 1920, by the Lotka-Volterra equations.

The differential equation is a Python function of time, state and parameters. ``solve_ode`` returns
its solution at the times of the data. Pelt counts have multiplicative errors.

    probmodel sample gallery:lotka_volterra --data gallery:lynx_hare.json

Many chains first find a mode of negligible weight, where the populations hardly oscillate and noise
explains everything. Those chains restart in the warm-up, from the positions of others.

Reference: Carpenter (2018), Predator-prey population dynamics: the Lotka-Volterra model in Stan;
data of the Hudson's Bay Company.
"""

import numpy as np

from probmodel import Model, data, deterministic, observed, param
from probmodel.distributions import LogNormal, Normal
from probmodel.functions import solve_ode


def predator_prey(t, z, theta):
    hare, lynx = z[0], z[1]
    return [(theta[0] - theta[1] * lynx) * hare, (theta[3] * hare - theta[2]) * lynx]


class LotkaVolterra(Model):
    ts = data(dims="year", lower=0)  # years after 1900

    theta = param(Normal([1, 0.05, 1, 0.05], [0.5, 0.05, 0.5, 0.05]), lower=0)
    z_init = param(LogNormal(np.log(10), 1), dims="species")
    sigma = param(LogNormal(-1, 1), dims="species")

    z = deterministic(solve_ode(predator_prey, z_init, 0, ts, theta), dims=("year", "species"))
    y_init = observed(LogNormal(np.log(z_init), sigma), dims="species")
    y = observed(LogNormal(np.log(z), sigma), dims=("year", "species"))
