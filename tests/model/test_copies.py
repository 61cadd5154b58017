"""Copies of a bound model: by `copy`, by pickle, and in another process."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

from probmodel import LogDensity, Model, data, deterministic, infer, load_model, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import HalfNormal, Normal


class Line(Model):
    x = data("obs", lower=0)
    slope = param(Normal(0, 1))
    scale = param(HalfNormal(1))
    mean = slope * x
    doubled = deterministic(2 * mean, dims="obs")
    y = observed(Normal(mean, scale), dims="obs", missing="impute")


def bell(x):
    return -0.5 * np.sum(x**2, axis=1)


def slopes(x):
    return -x


def repickled(value):
    return pickle.loads(pickle.dumps(value))


COPIES = (copy.copy, copy.deepcopy, repickled)


def draws(target):
    return infer(target, draws=20, warmup=30, chains=2, seed=3, quiet=True).posterior


@pytest.fixture(scope="module")
def model():
    return Line(x={"a": 1.0, "b": 2.0, "c": 3.0}, y=[1.1, np.nan, 2.7])


@pytest.mark.parametrize("make", COPIES)
@pytest.mark.parametrize("of", [lambda model: model, as_posterior])
def test_a_copy_draws_what_the_original_draws(make, of, model):
    assert draws(make(of(model))).equals(draws(model))


@pytest.mark.parametrize("make", COPIES)
def test_a_copy_is_bound_to_the_same(make, model):
    model.note = "of mine"
    copied = make(model)
    assert repr(copied) == repr(model)
    assert copied.note == "of mine"
    assert copied._binding.dimensions.coords["obs"].tolist() == ["a", "b", "c"]
    unbound = make(Line(x=[1.0, 2.0]))
    assert unbound._binding.unbound == [Line._declarations["y"]]


@pytest.mark.parametrize("make", COPIES)
def test_copies_of_a_density_of_a_function(make):
    density = LogDensity.from_function(bell, dim=2, gradient=slopes)
    x = np.array([[0.5, -1.0]])
    np.testing.assert_array_equal(make(density)(x).grad, density(x).grad)


def test_a_symbol_is_its_own_copy():
    terms = copy.deepcopy({"term": Line.slope * 2, "mean": Line.mean})
    assert terms["term"].args[0] is Line.slope
    assert terms["mean"] is copy.copy(Line.mean) is Line.mean


def test_a_model_of_a_file_is_unpickled_elsewhere(tmp_path):
    file = tmp_path / "coin.py"
    file.write_text(
        "from probmodel import Model, observed, param\n"
        "from probmodel.distributions import Bernoulli, Beta\n"
        "class Coin(Model):\n"
        "    p = param(Beta(1, 1))\n"
        "    heads = observed(Bernoulli(p), dims='toss')\n"
    )
    coin = load_model(file)(heads=[1, 0, 1])
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer), end='')"
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(coin), capture_output=True, check=True
    )
    assert done.stdout.decode() == repr(coin)


def test_a_class_that_pickle_cannot_find_is_named():
    class Local(Line):
        pass

    local = Local(x=[1.0], y=[1.0])
    assert draws(copy.deepcopy(local)).equals(draws(local))
    with pytest.raises((AttributeError, pickle.PicklingError), match="Local"):
        pickle.dumps(local)
