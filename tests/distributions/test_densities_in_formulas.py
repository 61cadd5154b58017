"""`log_density` of every distribution in a formula, against its own formula and by differences."""

from __future__ import annotations

import copy
import types

import numpy as np
from examples.case import filled, moving

from probmodel import Model, param, potential
from probmodel.density import as_posterior
from probmodel.functions import log_density

BATCH = (3,)
STEP = 1e-6


def directions(case, args):
    """Matrices from unconstrained numbers to changes of the arguments that may move."""
    found = {}
    for i in moving(case):
        size = args[i].size
        tangent = case.tangent.get(i)
        units = np.eye(size).reshape(size, *args[i].shape)
        moved = units if tangent is None else np.stack([tangent(e) for e in units])
        found[i] = 0.01 * moved.reshape(size, size)
    return found


def written(case, args, maps, factor):
    """A model whose log density is that of the case's distribution, in a formula."""

    def fill(names):
        full = list(args)
        for i, matrix in maps.items():
            u = names[f"u{i}"] = param(shape=args[i].shape)
            full[i] = args[i] + np.reshape(np.ravel(u) @ matrix, args[i].shape)
        dist = copy.copy(case.dist)
        dist.args = dict(zip(dist.args, full[1:], strict=True))
        names["term"] = potential(factor * np.sum(log_density(dist, full[0])))
        names["alone"] = potential(log_density(dist, full[0]))

    return as_posterior(types.new_class("Written", (Model,), {}, fill)())


def test_every_distribution_in_a_formula(case):
    args = [filled(case, 0, BATCH), *(np.asarray(a, dtype=float) for a in case.params[0])]
    maps = directions(case, args)
    if not maps:
        return
    density = written(case, args, maps, 2.0)
    x = np.random.default_rng(1).uniform(-0.1, 0.1, (3, density.dim))
    expected = []
    for row in x:
        full, start = list(args), 0
        for i, matrix in maps.items():
            u = row[start : start + args[i].size]
            full[i] = args[i] + (u @ matrix).reshape(args[i].shape)
            start += args[i].size
        with np.errstate(all="ignore"):
            own = np.broadcast_to(case.dist.log_density(np, full[0], *full[1:]), BATCH)
        expected.append(3.0 * own.sum())
    found = density(x)
    assert np.isfinite(found.logp).all()
    np.testing.assert_allclose(found.logp, expected, rtol=1e-9, atol=1e-9)
    for k, step in enumerate(STEP * np.eye(density.dim)):
        slope = (density.log_density(x + step) - density.log_density(x - step)) / (2 * STEP)
        scale = np.abs(found.logp).max() * 1e-15 / STEP + 1e-6 * np.abs(found.grad).max()
        np.testing.assert_allclose(found.grad[:, k], slope, rtol=1e-5, atol=1e-7 + 10 * scale)
