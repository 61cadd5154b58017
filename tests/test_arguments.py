"""Arguments that make no sense are refused before anything is computed; mistakes are warned of."""

import json
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from probmodel import (
    DataError,
    Model,
    ModelError,
    SamplerError,
    SamplingWarning,
    check_model,
    data,
    deterministic,
    folds,
    infer,
    observed,
    param,
    posterior_predictive,
    sbc,
)
from probmodel.distributions import HalfNormal, Normal


class Mean(Model):
    mu = param(Normal(0, 1))
    y = observed(Normal(mu, 1), dims="obs")


MODEL = Mean(y=[0.3, -0.4])


class NoBool:
    """Something that is true, and no answer to a question."""


@pytest.mark.parametrize(
    "name", ["pool", "restarts", "standardise", "quiet", "save_warmup", "progressbar"]
)
@pytest.mark.parametrize("value", ["no", 1, 0, None, NoBool(), [True], np.ones(1)])
def test_flags_are_true_or_false(name, value):
    with pytest.raises(SamplerError, match=f"{name} must be True or False, got") as caught:
        infer(MODEL, seed=1, draws=5, warmup=5, **{name: value})
    assert caught.value.values["name"] == name


@pytest.mark.parametrize(
    "given",
    [
        {"thin": True}, {"chains": True}, {"draws": "5"}, {"warmup": 2.5}, {"seed": True},
        {"seed": "1"}, {"max_time": True}, {"max_time": "1"}, {"target_accept": True},
        {"var_names": 3}, {"var_names": True}, {"var_names": [3]},
    ],
)  # fmt: skip
def test_arguments_of_a_wrong_type(given):
    with pytest.raises(SamplerError):
        infer(MODEL, **{"seed": 1, "draws": 5, "warmup": 5, **given})


def test_pool_takes_no_executor():
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(SamplerError, match="whether all chains share one adaptation"),
    ):
        infer(MODEL, pool=executor, seed=1, draws=5, warmup=5)


@pytest.mark.parametrize("name", ["pool", "progressbar", "progress_bar"])
def test_flags_of_sbc_are_true_or_false(name):
    with pytest.raises(SamplerError, match="must be True or False, got 'no'"):
        sbc(Mean, 2, data={"y": np.zeros(2)}, seed=1, **{name: "no"})


def test_arguments_of_other_functions_of_a_wrong_type():
    with pytest.raises(DataError, match="from 2 to n folds"):
        folds(10, 2.5)
    with pytest.raises(SamplerError, match="seed must be"):
        folds(10, 2, seed="1")
    with pytest.raises(SamplerError, match="seed must be"):
        check_model(MODEL, seed=True)
    with pytest.raises(ModelError, match=r"noncentered=.*takes True or False; got 'no'"):
        param(Normal(0, 1), noncentered="no")
    fit = infer(MODEL, draws=10, warmup=10, chains=2, seed=1, quiet=True)
    with pytest.raises(DataError, match="var_names must be a name or a list"):
        posterior_predictive(MODEL, fit, var_names=3)


class HalfTaken(Model):
    group = data("obs", dtype=int)
    s = param(Normal(0, 1), shape=2)
    sd = deterministic(s)
    sigma = param(HalfNormal(1))
    mu = param(Normal(0, sigma**2))
    y = observed(Normal(mu, sd[group]), dims="obs")


class FullyMeant(Model):
    s = param(Normal(0, 1), lower=0)
    sigma = param(HalfNormal(1))
    mu = param(Normal(0, sigma))
    y = observed(Normal(mu, s), dims="obs")


def test_infer_warns_of_what_was_not_meant():
    model = HalfTaken(group=[0, 1, 0, 1], y=[0.3, -0.4, 0.2, 0.1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = infer(model, draws=50, warmup=100, chains=2, seed=1)
    shown = [str(w.message) for w in caught if issubclass(w.category, SamplingWarning)]
    found = json.loads(fit.attrs["warnings"])
    assert [f["kind"] for f in found][:2] == ["range", "variance_as_scale"]
    assert [f["variables"] for f in found][:2] == [["s"], ["mu"]]
    assert shown[0].startswith("s (test_arguments.py:")
    assert "as scale of the Normal of y it must be above 0" in shown[0]
    assert "or bounds" in shown[0]

    fine = infer(FullyMeant(y=[0.3, -0.4]), draws=50, warmup=100, seed=1, quiet=True)
    kinds = {f["kind"] for f in json.loads(fine.attrs["warnings"])}
    assert not kinds & {"range", "variance_as_scale"}
