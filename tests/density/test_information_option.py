"""Parameters that are standardised by their prior and the data together: ``information=``."""

from __future__ import annotations

import numpy as np
import pytest

from probmodel import Model, check_model, data, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import AR, AR1, HalfCauchy, HalfNormal, Normal, Pareto
from probmodel.errors import ModelError, ShapeError

SIGMA = np.array([0.5, 1.0, 4.0])
Y = np.array([1.0, -2.0, 0.3])


class Centered(Model):
    sigma = data(dims="group")
    mu = param(Normal(0, 5))
    tau = param(HalfCauchy(5))
    theta = param(Normal(mu, tau), dims="group")
    y = observed(Normal(theta, sigma), dims="group")


class Informed(Model):
    sigma = data(dims="group")
    mu = param(Normal(0, 5))
    tau = param(HalfCauchy(5))
    theta = param(Normal(mu, tau), dims="group", information=1 / sigma**2)
    y = observed(Normal(theta, sigma), dims="group")


class Unknown(Model):
    tau = param(HalfNormal(1))
    noise = param(HalfNormal(1))
    theta = param(Normal(0, tau), dims="group", information=1 / noise**2)
    h = param(AR1(0.5, tau), shape=(2, 4), information=noise)
    y = observed(Normal(theta, noise), dims="group")


def grouped(model):
    return as_posterior(model(sigma=SIGMA, y=Y))


def test_the_density_is_the_centred_one_times_the_jacobian():
    informed, centred = grouped(Informed), grouped(Centered)
    x = informed.initial_points(np.random.default_rng(0), 4)
    values = informed.constrain(x)
    z = np.column_stack([x[:, :2], values["theta"]])
    tau = values["tau"][:, None]
    log_scale = -0.5 * np.log(1 / tau**2 + 1 / SIGMA**2)
    np.testing.assert_allclose(
        informed(x).logp, centred(z).logp + log_scale.sum(axis=1), rtol=1e-12
    )


def test_given_the_rest_the_coordinates_are_standard():
    informed = grouped(Informed)
    x = np.tile([0.3, -1.0, 0.0, 0.0, 0.0], (2, 1))
    for i in (2, 3, 4):
        curvature = informed.hessian(x)[0, i]
        expected = np.zeros(3)
        expected[i - 2] = -1.0
        np.testing.assert_allclose(curvature[2:], expected, atol=1e-10)


def test_models_pass_their_own_check():
    report = check_model(Unknown(y=Y))
    assert report.ok, report


def test_starting_values_and_prior_draws():
    density = as_posterior(Unknown(y=Y))
    path = np.arange(8.0).reshape(2, 4)
    x = density.initial_points(
        np.random.default_rng(1), 2, inits={"tau": 0.7, "noise": 0.4, "theta": Y, "h": path}
    )
    values = density.constrain(x)
    np.testing.assert_allclose(values["theta"], [Y, Y])
    np.testing.assert_allclose(values["h"], [path, path])
    draws = density.constrain(density.prior_draws(np.random.default_rng(2), 4000))
    spread = (draws["theta"] / draws["tau"][:, None]).std(axis=0)
    np.testing.assert_allclose(spread, 1.0, atol=5 / np.sqrt(2 * 4000))


def test_it_is_printed():
    assert "(information=1 / noise ** 2)" in repr(Unknown(y=Y))


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: param(Normal(0, 1), noncentered=True, information=1.0), "not both"),
        (lambda: param(Normal(0, 1), lower=0, information=1.0), "cannot have bounds"),
        (lambda: param(information=1.0), "information= needs a prior"),
        (lambda: param(Pareto(2.0, 1.0), information=1.0), "Pareto has no form for information="),
    ],
)
def test_declarations_that_make_no_sense(declare, message):
    with pytest.raises(ModelError, match=message):
        declare()


@pytest.mark.parametrize(
    ("prior", "shape", "information", "error", "message"),
    [
        (Normal(0, 1), 3, -1.0, ModelError, "inverse of a variance, 0 or above; got -1"),
        (Normal(0, 1), 3, np.array([1, np.nan, 1]), ModelError, "got nan"),
        (Normal(0, 1), 3, np.ones(4), ShapeError, r"shape \(4,\).*or one for each of its elements"),
        (AR1(0.5, 1.0), 3, np.ones(3), ShapeError, r"AR1 takes one number\."),
        (
            AR1(0.5, 1.0),
            (2, 3),
            np.ones(3),
            ShapeError,
            r"one for each of its series, shape \(2,\)",
        ),
    ],
)
def test_values_that_make_no_sense(prior, shape, information, error, message):
    class Wrong(Model):
        x = param(prior, shape=shape, information=information)

    with pytest.raises(error, match=message) as caught:
        Wrong()
    assert "param 'x'" in str(caught.value)
    assert "test_information_option.py" in str(caught.value)


def test_an_autoregression_takes_information_if_its_coefficients_are_known():
    class Unknown(Model):
        phi = param(Normal(0, 0.3), shape=1)
        sigma = param(HalfNormal(1))
        x = param(AR(phi, sigma), shape=6, information=2.0)

    with pytest.raises(ModelError, match="AR has no form for information= where its coefficients"):
        as_posterior(Unknown())
