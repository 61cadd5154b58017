"""Counts whose rates overflow, and roots of mass matrices, for tests of trajectories."""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import Normal, Poisson
from probmodel.numerics.roots import LowRank

CHAINS = (1, 2, 4, 5, 8, 9, 16, 17)
ROOTS = ("none", "diagonal", "dense", "low rank")


class Counts(Model):
    """Rates that overflow where a is above 7: there is no density."""

    steep = data()
    a = param(Normal(0, 1), dims="obs")
    y = observed(Poisson(np.exp(steep * a)), dims="obs")


def counts(dim, steep=1.0):
    density = as_posterior(Counts(steep=steep, y=np.arange(dim) % 4))
    density.use_engine("llvm")
    return density


def root(kind, dim, rng):
    scale = rng.uniform(0.5, 1.5, dim)
    if kind == "low rank":
        rank = min(dim, 6)
        basis = np.linalg.qr(rng.standard_normal((dim, rank)))[0]
        return LowRank(scale, basis, rng.uniform(0.3, 3.0, rank))
    if kind == "dense":
        return np.eye(dim) + 0.3 * rng.standard_normal((dim, dim)) / np.sqrt(dim)
    return scale if kind == "diagonal" else None
