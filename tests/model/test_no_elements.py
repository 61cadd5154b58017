"""Parameters and data of size zero: they have no coordinates and no terms."""

import arviz as az
import numpy as np
import pytest

from probmodel import (
    Model,
    check_model,
    data,
    deterministic,
    infer,
    observed,
    param,
    posterior_predictive,
    predict,
    prior_predictive,
)
from probmodel.constraints import Ordered, Simplex
from probmodel.density import as_posterior
from probmodel.distributions import AR1, HalfNormal, MvNormal, Normal
from probmodel.errors import DataError, ModelError, ShapeError
from probmodel.functions import logsumexp

EMPTY = {
    "coef": (0,),
    "effect": (0,),
    "noncentred": (0,),
    "bounded": (0, 2),
    "vectors": (0, 2),
    "series": (0,),
    "order": (0, 3),
    "shares": (2, 0),
}


class Regression(Model):
    size = data(dtype=int)
    X = data(("obs", "feature"))
    coef = param(Normal(0, 1), dims="feature")
    level = param(Normal(0, 1))
    sigma = param(HalfNormal(1))
    effect = param(Normal(level, sigma), shape=size)
    noncentred = param(Normal(level, sigma), shape=size, noncentered=True)
    bounded = param(lower=0, upper=sigma, shape=(size, 2))
    vectors = param(MvNormal(0, np.eye(2)), shape=(size, 2))
    series = param(AR1(0.5, sigma), shape=size)
    order = param(constraint=Ordered(), shape=(size, 3))
    shares = param(constraint=Simplex(), shape=(2, size))
    total = deterministic(np.sum(coef) + np.sum(bounded) + np.sum(X @ coef) + level)
    nothing = deterministic(np.exp(logsumexp(effect)))
    y = observed(Normal(level + X @ coef, sigma), dims="obs")


class Plain(Model):
    level = param(Normal(0, 1))
    sigma = param(HalfNormal(1))
    y = observed(Normal(level, sigma), dims="obs")


Y = [0.3, 1.2, -0.4]


@pytest.fixture(scope="module")
def model():
    return Regression(size=0, X=np.zeros((3, 0)), y=Y)


@pytest.fixture(scope="module")
def fit(model):
    return infer(model, draws=100, warmup=100, seed=1, quiet=True)


def test_nothing_is_added_to_the_density(model):
    density, plain = as_posterior(model), as_posterior(Plain(y=Y))
    x = np.random.default_rng(1).standard_normal((4, 2))
    assert density.coordinate_names == ("level", "sigma")
    np.testing.assert_allclose(density(x).logp, plain(x).logp, rtol=1e-14)
    np.testing.assert_allclose(density(x).grad, plain(x).grad, rtol=1e-13)
    np.testing.assert_allclose(density.hessian(x), plain.hessian(x), rtol=1e-10, atol=1e-12)
    values = density.constrain(x)
    assert {name: values[name].shape[1:] for name in EMPTY} == EMPTY
    first = {name: values[name][0] for name in (*EMPTY, "level", "sigma")}
    np.testing.assert_allclose(density.unconstrain(first, np.zeros(2)), x[0])


def test_results_have_empty_variables(model, fit):
    assert {name: fit.posterior[name].shape[2:] for name in EMPTY} == EMPTY
    assert list(az.summary(fit, var_names=["level", "sigma"]).index) == ["level", "sigma"]
    drawn = posterior_predictive(model, fit, seed=2)
    assert drawn.posterior_predictive["y"].shape == (*fit.posterior["level"].shape, 3)
    ahead = predict(Regression(size=0, X=np.zeros((2, 0))), fit, seed=3)
    assert ahead.predictions["y"].shape[2:] == (2,)
    assert prior_predictive(model, draws=5, seed=4).prior["vectors"].shape == (1, 5, 0, 2)
    assert check_model(model).ok


@pytest.mark.parametrize("method", ["am", "fisher_mala", "nuts", "rmhmc"])
def test_methods(model, method):
    drawn = infer(model, method=method, draws=20, warmup=30, seed=1, quiet=True)
    assert np.isfinite(drawn.posterior["level"]).all()


def test_what_is_refused():
    class Nothing(Model):
        size = data(dtype=int)
        a = param(Normal(0, 1), shape=size)

    with pytest.raises(ModelError, match="no parameter of Nothing has an element"):
        Nothing(size=0)
    with pytest.raises(ShapeError, match="integers from 0"):
        Nothing(size=-1)
    with pytest.raises(DataError, match=r"observed 'y' is empty.*Leave it out"):
        Plain(y=[])
