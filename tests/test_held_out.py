"""Rewards of predictions: against densities by SciPy, and in a run that they lead."""

import json

import numpy as np
import pytest
from scipy import stats

from probmodel import Model, data, deterministic, infer, observed, param
from probmodel.density import ModelDensity
from probmodel.distributions import BernoulliLogit, HalfNormal, Normal
from probmodel.errors import DataError, ModelError
from probmodel.held_out import HeldOut, folds
from probmodel.results.arviz_object import group
from probmodel.samplers.hamiltonian.ahmc import AdaptiveHMC


class Line(Model):
    X = data(dims=("obs", "feature"))
    beta = param(Normal(0, 1), dims="feature")
    mean = deterministic(X @ beta)
    y = observed(Normal(X @ beta, 0.5), dims="obs")


class Labels(Model):
    X = data(dims=("obs", "feature"))
    beta = param(Normal(0, 1), dims="feature")
    logit = deterministic(X @ beta)
    y = observed(BernoulliLogit(X @ beta), dims="obs")


class Paired(Model):
    mean = param(Normal(0, 1), dims="obs")
    y = observed(Normal(mean, 1.0), dims="obs")


class Prior(Model):
    beta = param(Normal(0, 1))


@pytest.fixture(scope="module")
def line():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((30, 2))
    return X, X @ np.array([1.0, -1.0]) + 0.5 * rng.standard_normal(30)


def test_the_reward_is_the_geometric_mean_of_the_density(line):
    X, y = line
    draws = np.random.default_rng(2).standard_normal((3, 4, 2))
    log_densities = [stats.norm.logpdf(y, X @ b, 0.5) for b in draws.reshape(-1, 2)]
    expected = np.exp(np.mean(log_densities))
    assert HeldOut(Line(X=X, y=y))(draws, 0.1, 5) == pytest.approx(expected, rel=1e-12)
    above = HeldOut(Line(X=X, y=y), baseline=0.01)(draws, 0.1, 5)
    assert above == pytest.approx(expected - 0.01, rel=1e-12)


def test_draws_nearer_to_the_truth_are_worth_more(line):
    X, y = line
    near, far = (np.full((2, 3, 2), [1.0, -1.0]) + shift for shift in (0.0, 1.0))
    reward = HeldOut(Line(X=X, y=y))
    assert reward(near, 0.1, 5) > reward(far, 0.1, 5) > 0.0


def test_a_score_of_ones_own_sees_predictions_for_the_held_out_data(line):
    X, y = line
    labels = (y > 0.0).astype(int)
    draws = np.random.default_rng(3).standard_normal((2, 5, 2))

    def correct(values):
        assert values["beta"].shape == (10, 2)
        return np.mean((values["logit"].mean(axis=0) > 0.0) == labels)

    expected = np.mean((X @ draws.reshape(-1, 2).mean(axis=0) > 0.0) == labels)
    reward = HeldOut(Labels(X=X, y=labels), score=correct, baseline=0.5)
    assert reward(draws, 0.1, 5) == pytest.approx(expected - 0.5, rel=1e-14)


def test_predictions_lead_a_run(line):
    X, y = line
    (train, test), *_ = folds(30, 5, seed=1)
    reward = HeldOut(Line(X=X[test], y=y[test]))
    model = Line(X=X[train], y=y[train])
    result = infer(
        model, method=AdaptiveHMC(), reward=reward, budget=40,
        warmup=100, draws=150, chains=4, seed=1, quiet=True,
    )  # fmt: skip
    exact = np.linalg.solve(X[train].T @ X[train] / 0.25 + np.eye(2), X[train].T @ y[train] / 0.25)
    np.testing.assert_allclose(result.posterior["beta"].mean(("chain", "draw")), exact, atol=0.1)
    assert "HeldOut" in json.loads(result.attrs["settings"])["reward"]


def test_models_that_do_not_fit_are_refused(line):
    X, y = line
    with pytest.raises(ModelError, match="HeldOut takes a model bound to held-out data"):
        HeldOut(Line)
    with pytest.raises(DataError, match="without its observed data 'y'"):
        HeldOut(Line(X=X))
    with pytest.raises(ModelError, match="observes nothing"):
        HeldOut(Prior())
    assert HeldOut(Prior(), score=lambda values: 1.0)(np.zeros((1, 1, 1)), 0.1, 5) == 1.0
    with pytest.raises(ModelError, match=r"has 4 unconstrained parameters and .* Paired, has 3"):
        HeldOut(Paired(y=np.zeros(3)))(np.zeros((2, 2, 4)), 0.1, 5)
    assert repr(HeldOut(Line(X=X, y=y))) == "HeldOut(Line)"


@pytest.mark.parametrize(("n", "k"), [(10, 5), (11, 4), (7, 7), (2, 2)])
def test_folds_split_the_observations(n, k):
    split = folds(n, k, seed=3)
    assert len(split) == k
    np.testing.assert_array_equal(np.sort(np.concatenate([t for _, t in split])), np.arange(n))
    for train, test in split:
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(n))
        assert len(train) + len(test) == n
    sizes = [len(test) for _, test in split]
    assert max(sizes) - min(sizes) <= 1
    again = folds(n, k, seed=3)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(split, again, strict=True))


@pytest.mark.parametrize("k", [1, 0, 11])
def test_numbers_of_folds_out_of_range_are_refused(k):
    with pytest.raises(DataError, match="from 2 to n folds"):
        folds(10, k)


class Hierarchy(Model):
    mean = param(Normal(0, 5))
    spread = param(HalfNormal(5))
    effect = param(Normal(mean, spread), dims="group")
    y = observed(Normal(effect, 0.1), dims="group")


def test_positions_are_those_of_the_model_as_declared():
    y = np.array([1.0, 5.0, 9.0, -3.0])
    model, blocks = Hierarchy(y=y), []

    def reward(draws, step_size, n_steps):
        blocks.append(draws)
        return 1.0

    sizes = {"draws": 100, "warmup": 300, "chains": 2, "seed": 1, "quiet": True}
    fit = infer(model, method="ahmc", reward=reward, **sizes)
    assert json.loads(fit.attrs["standardised"])["effect"]["least"] > 0.9
    last = np.concatenate([block.reshape(-1, block.shape[-1]) for block in blocks[-5:]])
    effect = ModelDensity(model).constrain(last)["effect"]
    np.testing.assert_allclose(effect.mean(axis=0), y, atol=0.3)


def test_bounds_are_those_of_the_model_as_declared():
    y = np.array([1.0, 3.0, 4.0, 2.0])
    start = {"mean": 2.0, "spread": 2.0, "effect": [1.0, 3.0, 3.4, 2.0]}
    sizes = {"draws": 200, "warmup": 200, "chains": 2, "seed": 1, "quiet": True}
    fit = infer(Hierarchy(y=y), method="ahmc", bounds=(-1.0, 3.5), inits=start, **sizes)
    effect = group(fit, "posterior")["effect"].values  # its own unconstrained coordinates
    assert effect.min() >= -1.0
    assert 3.4 < effect.max() <= 3.5
