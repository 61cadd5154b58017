"""Processes observed with noise: new observations, and the process itself, by the textbook."""

import numpy as np
import pytest

from probmodel import (
    Model,
    SamplingWarning,
    data,
    deterministic,
    infer,
    observed,
    param,
    posterior_predictive,
    predict,
)
from probmodel.distributions import Affine, GaussianProcess, HalfNormal, MvNormal, Normal, kernels
from probmodel.errors import ModelError

LARGEST = 5.0  # standard errors: of some hundred comparisons none is beyond by chance
X, Y = np.array([0.0, 0.7, 1.5, 2.4]), np.array([0.3, -0.8, 1.1, 0.4])
NEW = np.array([0.3, 1.9, 3.5])
SIGMA, SLOPE, SPREAD = 0.4, 0.7, np.array([1.0, 0.5, 2.0, 1.5])
KERNEL = kernels.ExpQuad(1.3, 0.9) + kernels.Linear(0.4)


class Noisy(Model):
    x = data("obs")
    sigma = param(HalfNormal(1.0))
    y = observed(GaussianProcess(KERNEL, x, mean=SLOPE * x, noise=sigma), dims="obs")


class KnownErrors(Model):
    x = data("obs")
    error = data("obs", lower=0)
    sigma = param(HalfNormal(1.0))
    y = observed(GaussianProcess(KERNEL, x, mean=SLOPE * x, noise=sigma * error), dims="obs")


def covariance(x, other):
    gap = np.subtract.outer(x, other)
    return 1.3**2 * np.exp(-0.5 * (gap / 0.9) ** 2) + 0.4**2 * np.outer(x, other)


def process_given(new, errors):
    """Mean and covariance of the process at points, given noisy values at those of the fit."""
    within = covariance(X, X) + np.diag(errors**2)
    weights = np.linalg.solve(within, covariance(X, new)).T
    mean = SLOPE * new + weights @ (Y - SLOPE * X)
    return mean, covariance(new, new) - weights @ covariance(X, new)


@pytest.mark.parametrize("noise", [True, False])
@pytest.mark.parametrize("model", [Noisy, KnownErrors])
def test_new_points_with_and_without_noise(model, noise, fit_to, values, discrepancy):
    errors = {"error": SPREAD} if model is KnownErrors else {}
    more = {"error": np.full(3, 0.8)} if model is KnownErrors else {}
    fit = fit_to(model(x=X, y=Y, **errors), sigma=SIGMA)
    done = values(predict(model(x=NEW, **more), fit, seed=1, noise=noise), "predictions", "y")[0]
    mean, matrix = process_given(NEW, SIGMA * errors.get("error", np.ones(4)))
    added = np.diag((SIGMA * more.get("error", np.ones(3))) ** 2)
    assert discrepancy(done, mean, matrix + noise * added) < LARGEST
    # Negative control: the noise makes a difference.
    assert discrepancy(done, mean, matrix + (not noise) * added) > LARGEST


@pytest.mark.parametrize("beyond", [np.empty(0), NEW])
def test_the_process_at_the_points_of_the_fit(beyond, fit_to, values, discrepancy):
    """Also beside new points: the curve that the observations scatter about."""
    fit = fit_to(Noisy(x=X, y=Y, coords={"obs": range(4)}), sigma=SIGMA)
    x = np.concatenate([X, beyond])
    again = Noisy(x=x, coords={"obs": range(len(x))})
    done = values(predict(again, fit, seed=1, noise=False), "predictions", "y")[0]
    assert discrepancy(done, *process_given(x, np.full(4, SIGMA))) < LARGEST


def test_a_model_without_noise_has_none_to_leave_out(fit_to):
    class Plain(Model):
        sigma = param(HalfNormal(1.0))
        y = observed(Normal(0, sigma), dims="obs")

    with pytest.raises(ModelError, match=r"leaves out the noise of a GaussianProcess.*: y\."):
        predict(Plain(y=Y), fit_to(Plain(y=Y), sigma=SIGMA), noise=False)


class Scaled(Model):
    x = data("obs")
    sigma = param(HalfNormal(1.0))
    z = observed(Affine(GaussianProcess(KERNEL, x, noise=sigma), 1.0, 2.0), dims="obs")
    twice = deterministic(2 * z, dims="obs")


def test_a_process_that_is_shifted_and_stretched(fit_to, values, discrepancy):
    """Also where what is asked for depends on the process."""
    old = Scaled(x=X, z=1.0 + 2.0 * (Y - SLOPE * X))
    fit = fit_to(old, sigma=SIGMA, names=("z",))
    done = predict(Scaled(x=NEW), fit, seed=1, noise=False, var_names="twice")
    mean, matrix = process_given(NEW, np.full(4, SIGMA))
    shifted = 2 * (1.0 + 2.0 * (mean - SLOPE * NEW))
    assert discrepancy(values(done, "predictions", "twice")[0], shifted, 16.0 * matrix) < LARGEST


def test_values_that_cannot_be_drawn_are_told(fit_to):
    class Singular(Model):
        x = data("obs")
        sigma = param(HalfNormal(1.0))
        y = observed(MvNormal(0 * x, sigma * (x[:, None] == x) - 0.5), dims="obs")

    model = Singular(x=X, y=Y)
    fit = fit_to(model, rows=4, draws={"sigma": np.array([0.1, 3.0, 0.2, 4.0])})
    with pytest.warns(SamplingWarning, match="observed 'y' is NaN in 2 of 4 draws: its MvNormal"):
        posterior_predictive(model, fit, seed=1)
    with pytest.raises(ModelError, match="their covariance is not positive definite"):
        predict(Singular(x=NEW), fit, seed=1)


def test_a_curve_is_found_from_its_noisy_values():
    """The marginal form has the posterior of the form with the curve as a parameter."""

    class Latent(Model):
        x = data("obs")
        sigma = param(HalfNormal(1.0))
        f = param(GaussianProcess(KERNEL, x, mean=SLOPE * x), dims="obs", noncentered=True)
        y = observed(Normal(f, sigma), dims="obs")

    fits = [infer(m(x=X, y=Y), seed=3, draws=1000, quiet=True) for m in (Noisy, Latent)]
    means = [float(fit.posterior["sigma"].mean()) for fit in fits]
    sds = [float(fit.posterior["sigma"].std()) for fit in fits]
    assert abs(means[0] - means[1]) < 5 * max(sds) / np.sqrt(500)
    curve = predict(Noisy(x=X), fits[0], seed=4, noise=False).predictions["y"]
    gap = curve.mean(("chain", "draw")).values - fits[1].posterior["f"].mean(("chain", "draw"))
    spread = fits[1].posterior["f"].std(("chain", "draw")) / np.sqrt(500)
    assert (np.abs(gap) < 5 * spread).all()
