"""Quantities of many draws, made in blocks here or by workers: they are the same."""

import multiprocessing
import pickle
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from probmodel import (
    Model,
    compute_deterministics,
    load_model,
    log_likelihood,
    log_prior,
    observed,
    param,
    posterior_predictive,
    predict,
    prior_predictive,
    simulate,
)
from probmodel.density import as_posterior, forward_runs
from probmodel.distributions import Normal
from probmodel.errors import ModelError, SamplerError, SamplingWarning
from probmodel.results.arviz_object import data_group, draws_group, group, wrap

MODEL = """
import numpy as np
from probmodel import Model, data, deterministic, observed, param
from probmodel.distributions import Gamma, HalfNormal, Normal, Poisson

class Day(Model):
    place = data(dims="day", dtype=int)
    s = param(HalfNormal(1))
    mu = param(Normal(0, s), dims="group")
    twice = deterministic(2.0 * mu, dims="group")
    y = observed(Normal(mu[place], s), dims="day")
    t = observed(Gamma(2.0, s), dims="day")
    n = observed(Poisson(np.exp(s)))
"""
LABELS = {"group": ["a", "b", "c"]}
ROWS = 60


@pytest.fixture(scope="module")
def day(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "day.py"
    path.write_text(MODEL)
    return load_model(path)


@pytest.fixture
def model(day):
    return day(place=[0, 1, 1, 2], y=[0.0, 1.0, 2.0, 3.0], t=[1.0] * 4, n=3, coords=LABELS)


@pytest.fixture
def fit():
    rng = np.random.default_rng(0)
    draws = {
        "s": ((), np.exp(rng.standard_normal((2, ROWS // 2)))),
        "mu": (("group",), rng.standard_normal((2, ROWS // 2, 3))),
    }
    return wrap({"posterior": draws_group(draws, LABELS, {})}, {"name": "Day"})


@pytest.fixture
def small(monkeypatch):
    """Blocks of a few draws."""
    monkeypatch.setattr(forward_runs, "CHUNK", 100)
    monkeypatch.setattr(forward_runs, "BLOCK", 2)


def computed(model, fit, day, executor=None):
    """Everything that can be made of draws, by group and name."""
    new = day(place=[0, 3, 3], coords={"group": ["a", "b", "c", "d"]})
    results = {
        "prior": prior_predictive(model, draws=ROWS, seed=1, executor=executor),
        "prior_predictive": prior_predictive(model, draws=ROWS, seed=1, executor=executor),
        "posterior_predictive": posterior_predictive(model, fit, seed=2, executor=executor),
        "predictions": predict(new, fit, 3, "draw", executor=executor),
        "posterior": compute_deterministics(model, fit, executor=executor),
        "log_likelihood": log_likelihood(model, fit, executor=executor),
        "log_prior": log_prior(model, fit, executor=executor),
    }
    found = {
        (name, str(key)): np.asarray(values)
        for name, result in results.items()
        for key, values in group(result, name).data_vars.items()
    }
    fake = simulate(model, {"s": 0.5}, seed=4, draws=ROWS, executor=executor)
    return {**found, **{("simulate", name): values for name, values in fake.items()}}


def same(found, expected):
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        np.testing.assert_array_equal(found[key], values, err_msg=str(key))
        assert found[key].dtype == values.dtype


class Recorder:
    """An executor that works here, and can be told to fail."""

    def __init__(self, fails=lambda number: None):
        self.count, self.fails = 0, fails

    def submit(self, function, *arguments):
        self.count += 1
        future = Future()
        error = self.fails(self.count)
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(function(*pickle.loads(pickle.dumps(arguments))))
        return future


def test_draws_do_not_depend_on_the_executor(small, model, fit, day):
    expected = computed(model, fit, day)
    assert ("predictions", "y") in expected
    recorder = Recorder()
    same(computed(model, fit, day, recorder), expected)
    assert recorder.count > 40
    with ThreadPoolExecutor(3) as pool:
        same(computed(model, fit, day, pool), expected)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        same(computed(model, fit, day, pool), expected)


def test_the_first_block_has_the_random_numbers_of_the_seed(model, fit, day, monkeypatch):
    """So draws that fit into one block are those of a run without blocks, and need no worker."""
    whole, recorder = computed(model, fit, day), Recorder()
    same(computed(model, fit, day, recorder), whole)
    assert recorder.count == 0
    monkeypatch.setattr(forward_runs, "BLOCK", 1)
    monkeypatch.setattr(forward_runs, "CHUNK", 500)
    blocks = computed(model, fit, day)
    y, parts = (c["simulate", "y"] for c in (whole, blocks))
    assert not np.array_equal(y, parts)
    draws = y.reshape(-1), parts.reshape(-1)
    assert abs(np.mean(draws[0]) - np.mean(draws[1])) < 5.0 * np.std(y) * np.sqrt(2.0 / ROWS)


def test_blocks_have_random_numbers_of_their_own(small, model):
    y = simulate(model, {"s": 0.5}, seed=4, draws=ROWS)["y"]
    assert len(np.unique(y)) == y.size


def test_what_is_lost_is_made_here(small, model, fit):
    expected = posterior_predictive(model, fit, seed=2)
    lost = Recorder(lambda number: OSError("the machine is gone") if number in (2, 3) else None)
    with pytest.warns(SamplingWarning, match=r"lost \(OSError: the machine is gone\): 2 of \d+ bl"):
        found = posterior_predictive(model, fit, seed=2, executor=lost)
    for name in ("y", "t"):
        values = (group(r, "posterior_predictive")[name].values for r in (found, expected))
        np.testing.assert_array_equal(*values)

    class Broken:
        def submit(self, function, *arguments):
            raise RuntimeError("cannot schedule new futures after shutdown")

    with pytest.warns(SamplingWarning, match="new futures after shutdown"):
        found = posterior_predictive(model, fit, seed=2, executor=Broken())


def test_an_error_of_the_model_is_that_of_the_model(small, day, fit):
    posterior = group(fit, "posterior")
    large = np.where(np.arange(ROWS // 2) == 20, 100.0, posterior["s"])
    impossible = wrap({"posterior": posterior.assign(s=(("chain", "draw"), large))}, {})
    model = day(place=[0, 1, 1, 2], y=[0.0] * 4, t=[1.0] * 4, n=3, coords=LABELS)
    with pytest.raises(ModelError, match="cannot be drawn from Poisson") as here:
        posterior_predictive(model, impossible, seed=1)
    with pytest.raises(ModelError, match="cannot be drawn from Poisson") as there:
        posterior_predictive(model, impossible, seed=1, executor=Recorder())
    assert str(here.value) == str(there.value)


def test_what_cannot_be_sent(small, fit):
    class Inner(Model):
        s = param(Normal(0, 1))
        y = observed(Normal(s, 1.0), dims="day")

    with pytest.raises(SamplerError, match="cannot be sent to the workers of executor="):
        posterior_predictive(Inner(y=np.zeros(9)), fit, executor=Recorder())


def test_what_is_no_executor(model, fit):
    with pytest.raises(SamplerError, match=r"executor= must have a method submit\(\)"):
        posterior_predictive(model, fit, executor=3)


CURVE = """
from probmodel import Model, data, observed, param
from probmodel.distributions import GaussianProcess, HalfNormal
from probmodel.distributions.kernels import Matern32

class Curve(Model):
    x = data(dims="place")
    s = param(HalfNormal(1))
    y = observed(GaussianProcess(Matern32(1.0, s), x, jitter=0.1), dims="place")
"""


@pytest.mark.parametrize("joined", [False, True])
def test_new_points_of_a_process(monkeypatch, tmp_path, joined):
    """Some random numbers are drawn before the run of the model, here alone."""
    monkeypatch.setattr(forward_runs, "CHUNK", 10)
    monkeypatch.setattr(forward_runs, "BLOCK", 1)
    (tmp_path / "curve.py").write_text(CURVE)
    curve, places = load_model(tmp_path / "curve.py"), ["a", "b", "c"]
    old = curve(x=[0.0, 1.0, 2.0], y=[0.3, -0.2, 0.5], coords={"place": places})
    draws = {"s": ((), np.exp(np.random.default_rng(0).standard_normal((2, ROWS // 2))))}
    density = as_posterior(old)
    known = {
        "posterior": draws_group(draws, {}, {}),
        "observed_data": data_group(density.observed_data, density.coords, {}),
        "constant_data": data_group(density.constant_data, density.coords, {}),
    }
    fit = wrap(known, {"name": "Curve"})
    x, labels = ([0.0, 1.0, 2.0, 1.5], [*places, "d"]) if joined else ([1.5], ["d"])
    new = curve(x=x, coords={"place": labels})
    recorder = Recorder()
    found, expected = (
        group(predict(new, fit, 1, executor=executor), "predictions")["y"].values
        for executor in (recorder, None)
    )
    assert recorder.count > 1
    np.testing.assert_array_equal(found, expected)
