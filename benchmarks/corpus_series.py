"""Models of the corpus of Stan users that are no regressions: a series, mixtures, histories."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel import Model, data, observed, param, potential
from probmodel.constraints import PositiveOrdered, Simplex
from probmodel.distributions import AR, Mixture, Normal, StudentT, Uniform
from probmodel.functions import linear_recurrence


class RoadDeaths(Model):
    """Drivers killed or injured, by month: a level and a season that drift, and two inputs."""

    x = data(dims="month")
    w = data(dims="month")
    known = data(dims="month")
    spread = data()
    centre = np.mean(known)

    sigma = param(StudentT(4, 0, 1), constraint=PositiveOrdered(), shape=3)
    mu = param(
        AR([1.0], sigma[1]), lower=centre - 3 * spread, upper=centre + 3 * spread, dims="month"
    )
    seasonal = param(AR(-np.ones(11), sigma[0]), dims="month")
    beta = param()
    lam = param()
    y = observed(Normal(mu + beta * x + lam * w + seasonal, sigma[2]), dims="month")


class MixtureOfMany(Model):
    """A normal mixture of K components in no order: labels switch."""

    K = data(dtype=int)

    theta = param(constraint=Simplex(), shape=K)
    mu = param(Normal(0, 10), shape=K)
    sigma = param(lower=0, upper=10, shape=K)
    y = observed(Mixture(theta, Normal(mu, sigma)), dims="obs")


class MixtureOfTwo(Model):
    """A mixture of two normal distributions of variance 1, in no order: labels switch."""

    theta = param(Uniform(0, 1))
    mu = param(Normal(0, 10), shape=2)
    y = observed(Mixture(np.stack([theta, 1 - theta]), Normal(mu, 1.0)), dims="obs")


def log_histories(
    phi: Any, p: Any, seen: Any, alive: Any, active: Any, caught: Any, last: Any, row: Any
) -> Any:
    """Log likelihood of each individual's captures (Cormack, Jolly and Seber).

    Parameters
    ----------
    phi, p : probabilities of surviving a step, and of being seen at its end: (individual, 1)
    seen, alive, active : (individual, step), whether it was seen at the end; whether it is known to
        be alive then; whether it had been marked before
    caught : whether it was ever seen
    last : step after which it was not seen again
    row : number of the individual
    """
    survives, sighted = np.where(active, phi, 0.0), np.where(active, p, 0.0)
    # Never seen again: dead by the next occasion, or alive, not seen then and never after.
    stays, ends = survives * (1 - sighted), 1 - survives
    backwards = linear_recurrence(np.flip(stays, 1).T, np.flip(ends, 1).T, 1.0)
    at_the_end = 1.0 + 0.0 * backwards[:1]
    unseen = np.concatenate([np.flip(backwards, 0), at_the_end], axis=0).T
    survives, sighted = np.where(alive, phi, 0.5), np.where(alive, p, 0.5)
    steps = np.log(survives) + seen * np.log(sighted) + (1 - seen) * np.log1p(-sighted)
    known = np.sum(np.where(alive, steps, 0.0), axis=1)
    return known + np.where(caught, np.log(unseen[row, last]), 0.0)


class Recaptures(Model):
    """Captures and recaptures of two groups (Kery and Schaub 2012, section 7.6)."""

    seen = data(dims=("ind", "step"))
    alive = data(dims=("ind", "step"), dtype=bool)
    active = data(dims=("ind", "step"), dtype=bool)
    caught = data(dims="ind", dtype=bool)
    last = data(dims="ind", dtype=int)
    row = data(dims="ind", dtype=int)
    group = data(dims="ind", dtype=int)
    g = data(dtype=int)

    phi_g = param(lower=0, upper=1, shape=g)
    p_g = param(lower=0, upper=1, shape=g)
    phi = phi_g[group][:, None]
    p = p_g[group][:, None]
    histories = potential(log_histories(phi, p, seen, alive, active, caught, last, row))
