"""Jumps and edges of log densities: which coordinates they belong to, and what has none."""

import numpy as np
import pytest

from probmodel import LogDensity, Model, check_model, data, observed, param
from probmodel.density.posterior import as_posterior
from probmodel.distributions import Exponential, HalfNormal, Normal, Poisson, Uniform
from probmodel.numerics.jumps import find_jumps
from probmodel.types import Evaluation


class Counted:
    """A log density, (n, dim) -> (n,) and its gradient, that counts calls."""

    def __init__(self, value, slope):
        self.value, self.slope, self.calls = value, slope, 0

    def __call__(self, x):
        self.calls += 1
        with np.errstate(all="ignore"):
            return Evaluation(self.value(x), self.slope(x))


def normal(x):
    return -0.5 * np.sum(x**2, axis=1)


def away(x):
    return -x


def unit(x, j):
    return np.where(np.arange(x.shape[1]) == j, 1.0, 0.0)


STEPS = {
    "step": (lambda x: normal(x) + (x[:, 0] > 0.1), away, {0}),
    "small step": (lambda x: normal(x) + 0.1 * (x[:, 1] > 0.1), away, {1}),
    "stairs": (lambda x: normal(x) + 0.3 * np.floor(4 * x[:, 1]), away, {1}),
    "sum": (lambda x: normal(x) + (x[:, 0] + x[:, 2] > 0.1), away, {0, 2}),
    "difference": (lambda x: normal(x) + (x[:, 0] > x[:, 2]), away, {0, 2}),
    "two": (lambda x: normal(x) + (x[:, 0] > 0.1) + 2 * (x[:, 1] > 0.3), away, {0, 1}),
    "edge": (lambda x: np.where(x[:, 0] > -0.5, normal(x), -np.inf), away, {0}),
    "not a number": (lambda x: np.where(x[:, 0] > -0.5, normal(x), np.nan), away, {0}),
    "box": (lambda x: np.where((np.abs(x) < 0.8).all(axis=1), normal(x), -np.inf), away, {0, 1, 2}),
}
SMOOTH = {
    "normal": (normal, away),
    "narrow": (lambda x: 1e8 * normal(x), lambda x: -1e8 * x),
    "steep": (lambda x: -np.sum(np.exp(9 * x), axis=1), lambda x: -9 * np.exp(9 * x)),
    "kink": (lambda x: normal(x) - 3 * np.abs(x[:, 0]), lambda x: -x - 3 * np.sign(x) * unit(x, 0)),
    "pole": (lambda x: normal(x) + np.log(np.abs(x[:, 0])), lambda x: -x + unit(x, 0) / x),
    "edge in the tail": (lambda x: np.where(x[:, 0] > -4.5, normal(x), -np.inf), away),
    "step in the tail": (lambda x: normal(x) + 5.0 * (x[:, 0] < -4.5), away),
    "steep slope": (
        lambda x: normal(x) + np.tanh(1e4 * (x[:, 0] - 0.1)),
        lambda x: -x + unit(x, 0) * 1e4 / np.cosh(np.clip(1e4 * (x - 0.1), -300, 300)) ** 2,
    ),
}


def places(chains, dim=3, scale=0.7):
    return scale * np.random.default_rng(chains).standard_normal((chains, dim))


@pytest.mark.parametrize("chains", [2, 3, 5, 8, 16, 33])
@pytest.mark.parametrize(("value", "slope", "jumping"), STEPS.values(), ids=STEPS.keys())
def test_coordinates_of_jumps(value, slope, jumping, chains):
    x = np.clip(places(chains, scale=0.5), -0.45, 0.75)
    with np.errstate(invalid="ignore"):
        found = find_jumps(Counted(value, slope), x)
    missed = jumping - set(np.flatnonzero(found))
    assert set(np.flatnonzero(found)) <= jumping
    assert not missed or chains < 8  # the lines of a few chains may meet none


@pytest.mark.parametrize("chains", [1, 2, 3, 8, 16])
@pytest.mark.parametrize(("value", "slope"), SMOOTH.values(), ids=SMOOTH.keys())
def test_what_is_continuous_or_never_met_has_none(value, slope, chains):
    assert not find_jumps(Counted(value, slope), places(chains)).any()


@pytest.mark.parametrize("dim", [1, 2, 17, 120])
def test_smooth_densities_cost_few_evaluations(dim):
    density = Counted(normal, away)
    find_jumps(density, places(16, dim, 1.0))
    assert density.calls < 60


@pytest.mark.parametrize("dim", [1, 7, 40, 300])
def test_every_coordinate_that_jumps_is_found(dim):
    density = Counted(lambda x: normal(x) + np.sum(np.floor(3 * x), axis=1) / 2, away)
    assert find_jumps(density, places(16, dim)).all()


def test_one_place_for_all_chains_has_no_segments():
    assert not find_jumps(Counted(*STEPS["step"][:2]), np.zeros((4, 3))).any()


def test_a_single_chain_looks_about_itself():
    value = lambda x: normal(x) + (x[:, 0] > 0.5)  # noqa: E731
    assert np.flatnonzero(find_jumps(Counted(value, away), np.zeros((1, 3)))).tolist() == [0]


class Change(Model):
    time = data(dims="day")
    early = param(Exponential(1))
    late = param(Exponential(1))
    when = param(Uniform(0, 20))
    y = observed(Poisson(np.where(time < when, early, late)), dims="day")


class Bounded(Model):
    end = param(HalfNormal(10))
    mean = param(Normal(0, 1))
    x = observed(Normal(mean, 1), dims="day")
    y = observed(Uniform(0, end), dims="day")


DAYS = np.arange(20.0)
MODELS = {
    "change": (Change(time=DAYS, y=np.where(DAYS < 8, 4, 1)), ["when"]),
    "bounded": (Bounded(x=DAYS / 20, y=1 + DAYS / 20), ["end"]),
}


@pytest.mark.parametrize(("model", "names"), MODELS.values(), ids=MODELS.keys())
def test_models_that_jump(model, names):
    density = as_posterior(model)
    found = find_jumps(density, density.initial_points(np.random.default_rng(1), 16))
    assert [density.coordinate_names[i] for i in np.flatnonzero(found)] == names
    advice = {a.declaration: a for a in check_model(model).advice if a.kind == "jumps"}
    assert list(advice) == names
    assert "(test_jumps.py:" in str(advice[names[0]])


def test_functions_that_jump():
    density = LogDensity.from_function(
        lambda x: -0.5 * np.sum(x**2, axis=1) + (x[:, 1] > 0.2), dim=2
    )
    assert find_jumps(density, places(16, 2)).tolist() == [False, True]
