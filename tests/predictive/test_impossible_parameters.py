"""Draws with parameters that a distribution cannot have: none looks like a draw."""

import numpy as np
import pytest
import scipy.stats

from probmodel import Model, data, observed, param, predict, prior_predictive, simulate
from probmodel.distributions import (
    Bernoulli,
    BernoulliLogit,
    Binomial,
    Categorical,
    CategoricalLogit,
    Exponential,
    Geometric,
    HalfNormal,
    Laplace,
    Mixture,
    Normal,
    OrderedLogistic,
    Poisson,
    PoissonLog,
    StudentT,
    Truncated,
    Uniform,
    ZeroInflated,
)
from probmodel.errors import ModelError, SamplingWarning

DRAWS = 2000
NAN = r"observed 'y' is NaN in 2000 of 2000 draws: its {} cannot be drawn from"


def bound(distribution, x):
    """A model whose ``y`` has the distribution that a function makes of ``b * x``."""

    class Scaled(Model):
        x = data(dims="obs")
        b = param(Normal(0.5, 0.01))
        y = observed(distribution(b * x), dims="obs")

    return Scaled(x=x)


def at(make_fit, values, distribution, x):
    fit = make_fit(b=np.full((1, DRAWS), 0.5))
    return values(predict(bound(distribution, x), fit, seed=1), "predictions", "y")[0]


CONTINUOUS = {
    "Normal": (lambda e: Normal(0.0, e), lambda e: scipy.stats.norm(0, e)),
    "Exponential": (lambda e: Exponential(e), lambda e: scipy.stats.expon(scale=1 / e)),
    "Laplace": (lambda e: Laplace(0.0, e), lambda e: scipy.stats.laplace(0, e)),
    "HalfNormal": (lambda e: HalfNormal(e), lambda e: scipy.stats.halfnorm(0, e)),
    "StudentT": (lambda e: StudentT(4.0, 0.0, e), lambda e: scipy.stats.t(4, 0, e)),
    "Uniform": (lambda e: Uniform(0.0, e), lambda e: scipy.stats.uniform(0, e)),
    "Truncated": (
        lambda e: Truncated(Normal(0.0, e), lower=0.0),
        lambda e: scipy.stats.halfnorm(0, e),
    ),
    "Mixture": (
        lambda e: Mixture([0.5, 0.5], [Normal(0.0, e), Normal(0.0, e)]),
        lambda e: scipy.stats.norm(0, e),
    ),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_scale_below_zero_gives_nan_with_a_warning(name, make_fit, values):
    distribution, exact = CONTINUOUS[name]
    with pytest.warns(SamplingWarning, match=NAN.format(name)):
        drawn = at(make_fit, values, distribution, [3.0, -1.0])
    assert np.isnan(drawn[:, 1]).all()
    # The other element is drawn as if it were alone.
    assert scipy.stats.kstest(drawn[:, 0], exact(1.5).cdf).pvalue > 1e-4


DISCRETE = {
    "Bernoulli": (lambda e: Bernoulli(e), "p must be between 0 and 1, and is -0.5 there"),
    "Geometric": (lambda e: Geometric(e), "p must be between 0 and 1, and is -0.5 there"),
    "Binomial": (lambda e: Binomial(5, e), "p must be between 0 and 1, and is -0.5 there"),
    "BernoulliLogit": (lambda e: BernoulliLogit(np.sqrt(e)), "logit must be real, and is nan"),
    "PoissonLog": (lambda e: PoissonLog(np.sqrt(e)), "log_rate must be real, and is nan"),
    "ZeroInflated": (lambda e: ZeroInflated(0.2, Poisson(e)), "rate must be non-negative"),
    "Categorical": (
        lambda e: Categorical(np.stack([e, 1.0 - e], axis=-1)),
        r"p must be simplex, and is \[-0.5  1.5\] there",
    ),
    "CategoricalLogit": (
        lambda e: CategoricalLogit(np.stack([np.log(e), 0.0 * e], axis=-1)),
        "logits must be real, and is",
    ),
    "OrderedLogistic": (
        lambda e: OrderedLogistic(np.log(e), np.array([-1.0, 0.0, 1.0])),
        "eta must be real, and is nan",
    ),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_whole_numbers_are_refused(name, make_fit, values):
    distribution, message = DISCRETE[name]
    with pytest.raises(ModelError, match=f"observed 'y' cannot be drawn from {name} .*{message}"):
        at(make_fit, values, distribution, [1.0, -1.0])
    assert at(make_fit, values, distribution, [1.0, 1.0]).shape == (DRAWS, 2)  # p = 0.5


def test_probabilities_that_do_not_add_up_to_one(make_fit, values):
    with pytest.raises(ModelError, match="p must be simplex"):
        at(make_fit, values, lambda e: Categorical(np.stack([e, e], axis=-1)), [1.0, 1.5])


@pytest.mark.parametrize("x", [0.0, 2.0, 2.0 + 1e-12])
def test_probabilities_at_the_ends_are_drawn(x, make_fit, values):
    drawn = at(make_fit, values, Bernoulli, [x])
    assert (drawn == round(x / 2)).all()


def test_a_scale_of_zero_is_the_limit(make_fit, values):
    assert (at(make_fit, values, lambda e: Normal(3.0, e), [0.0]) == 3.0).all()


class WideScale(Model):
    scale = param(Normal(0, 1))
    theta = param(Normal(5, scale), shape=2)
    y = observed(Normal(theta, 1), dims="obs")


def test_prior_draws_warn_of_what_they_cannot_draw(values):
    with pytest.warns(SamplingWarning) as caught:
        prior = prior_predictive(WideScale(coords={"obs": [0, 1]}), draws=400, seed=1)
    scale, theta = values(prior, "prior", "scale")[0], values(prior, "prior", "theta")[0]
    y = values(prior, "prior_predictive", "y")[0]
    assert 100 < np.sum(scale < 0) < 300
    for drawn in (theta, y):
        np.testing.assert_array_equal(np.isnan(drawn).all(axis=1), scale < 0)
        np.testing.assert_array_equal(np.isnan(drawn).any(axis=1), scale < 0)
    lost = f"is NaN in {np.sum(scale < 0)} of 400 draws: its Normal cannot be drawn from"
    said = [str(w.message) for w in caught]
    assert len(said) == 2
    assert f"param 'theta' {lost}" in said[0]
    assert f"observed 'y' {lost}" in said[1]


def test_fake_data_warn_of_what_they_cannot_draw():
    model = bound(lambda e: Normal(0.0, e), [1.0, -1.0])
    with pytest.warns(SamplingWarning, match="observed 'y' is NaN in 1 of 1 draws"):
        drawn = simulate(model, {"b": 0.5}, seed=1)["y"]
    np.testing.assert_array_equal(np.isnan(drawn), [False, True])
