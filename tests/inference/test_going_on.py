"""A group that goes on from a snapshot makes the transitions that it would have made."""

import json

import numpy as np
import pytest

from probmodel import Model, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import Normal, Poisson
from probmodel.inference.chains import Group
from probmodel.inference.collectors import DrawStore
from probmodel.inference.driver import drive
from probmodel.inference.encoding import decode, encode
from probmodel.samplers import SAMPLERS, make_sampler

DIM, WARMUP, DRAWS = 5, 60, 12
TIMES = (1, 35, WARMUP, WARMUP + 1, WARMUP + 4)
SOONER = {"smc": (1, 3, 5, 13, 16)}  # its warm-up ends by itself


class Counts(Model):
    """A hierarchy that all methods can sample, those with a metric too."""

    mu = param(Normal(0, 1))
    z = param(Normal(mu, 1), dims="k")
    y = observed(Poisson(np.exp(0.3 * z)), dims="k")


def target():
    density = as_posterior(Counts(y=np.array([1, 2, 0, 3])))
    density.use_engine("numpy")
    return density


def made(method):
    """A group at its start, and where its draws go."""
    chains = max(4, method.min_chains(DIM))
    store = DrawStore("draw", chains, DRAWS, DIM)
    x0 = 0.3 * np.random.default_rng(0).standard_normal((chains, DIM))
    group = Group(method, target(), x0, np.random.default_rng(1), [store], restarts=True)
    return group, store


def snapshots(group, times):
    """Drive a group; return what it was after so many calls, written and read."""
    written, calls = [], 0

    def keep(so_far):
        nonlocal calls
        calls += 1
        if calls in times:
            tree, arrays = encode(group.snapshot())
            written.append((json.dumps(tree), [np.array(array, order="K") for array in arrays]))

    drive([group], warmup=WARMUP, iterations=DRAWS, keep=keep)
    return [decode(json.loads(tree), arrays) for tree, arrays in written]


@pytest.mark.parametrize("name", sorted(SAMPLERS))
def test_every_method_goes_on_from_wherever_it_was(name):
    method = make_sampler(name)
    group, store = made(method)
    places = set()
    for snapshot in snapshots(group, SOONER.get(name, TIMES)):
        later, its_store = made(method)
        later.resume(snapshot)
        places.add((snapshot["warmed"], snapshot["drawn"]))
        assert later.drawn == snapshot["drawn"]
        drive([later], warmup=WARMUP, iterations=DRAWS)
        first = snapshot["drawn"]
        np.testing.assert_array_equal(its_store.x(DRAWS)[:, first:], store.x(DRAWS)[:, first:])
        assert later.work == group.work
    assert len(places) >= 4


def test_other_numbers_lead_elsewhere():
    """The negative control: a state of the generator that is not the one that it was."""
    method = make_sampler("mala")
    group, store = made(method)
    (snapshot,) = snapshots(group, {WARMUP + 3})
    states = snapshot["place"].states
    states[0]["state"]["state"] += 1
    later, its_store = made(method)
    later.resume(snapshot)
    drive([later], warmup=WARMUP, iterations=DRAWS)
    assert (its_store.x(DRAWS)[:, -1] != store.x(DRAWS)[:, -1]).any()
