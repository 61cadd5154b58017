"""Constant metrics of latent Gaussian models, against NumPy, SciPy's integrals and prior draws."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from probmodel import Model, ModelError, data, load_model, observed, param, potential
from probmodel.density import as_posterior
from probmodel.distributions import (
    BernoulliLogit,
    BinomialLogit,
    CategoricalLogit,
    Censored,
    Flat,
    GaussianProcess,
    HalfNormal,
    MvNormal,
    NegativeBinomial2,
    Normal,
    Poisson,
    PoissonLog,
    StudentT,
    kernels,
)
from probmodel.geometry.constant_metric import WIDEST

RNG = np.random.default_rng(3)
X = RNG.normal(size=(25, 3))
AXIS = (np.arange(5) + 0.5) / 5
COUNTS = RNG.poisson(3.0, (5, 5))
VARIANCE, SHARE = 1.91, 1 / 25
MEAN = np.log(126) - VARIANCE / 2


def cox_covariance():
    """Covariance of the process of models/log_gaussian_cox.py on the grid."""
    points = np.stack([g.ravel() for g in np.meshgrid(AXIS, AXIS, indexing="ij")], axis=1)
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    return VARIANCE * (np.exp(-distance * 33 / 10) + 1e-8 * np.eye(25))


def cox_weights(latent_mean):
    """Lambda as printed, or as it is."""
    variance = cox_covariance().diagonal()
    return SHARE * np.exp(MEAN + variance * (1.0 if latent_mean == "paper" else 0.5))


# -- log-Gaussian Cox processes -------------------------------------------------------------------


@pytest.mark.parametrize("latent_mean", ["paper", "exact"])
def test_cox_process(latent_mean):
    Cox = load_model("models/log_gaussian_cox.py")
    density = as_posterior(Cox(northing=AXIS, easting=AXIS, share=SHARE, y=COUNTS))
    expected = np.linalg.inv(cox_covariance()) + np.diag(cox_weights(latent_mean))
    found = density.constant_metric(latent_mean)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_array_equal(found, found.T)


def test_what_is_printed_is_the_default():
    Cox = load_model("models/log_gaussian_cox.py")
    density = as_posterior(Cox(northing=AXIS, easting=AXIS, share=SHARE, y=COUNTS))
    np.testing.assert_array_equal(density.constant_metric(), density.constant_metric("paper"))


class Noncentered(Model):
    northing = data(dims="row")
    easting = data(dims="column")
    share = data(lower=0)
    covariance = kernels.Exponential(np.sqrt(VARIANCE), length_scale=10 / 33)
    x = param(
        GaussianProcess(covariance, grid=(northing, easting), mean=MEAN),
        dims=("row", "column"),
        noncentered=True,
    )
    y = observed(Poisson(np.exp(np.log(share) + x)), dims=("row", "column"))


@pytest.mark.parametrize("latent_mean", ["paper", "exact"])
def test_noncentred_cox_process(latent_mean):
    """x = mu + L z: each cell depends on many coordinates, and the prior precision is one."""
    density = as_posterior(Noncentered(northing=AXIS, easting=AXIS, share=SHARE, y=COUNTS))
    L = np.linalg.cholesky(cox_covariance())
    expected = np.eye(25) + L.T @ np.diag(cox_weights(latent_mean)) @ L
    np.testing.assert_allclose(density.constant_metric(latent_mean), expected, rtol=1e-9)


# -- other likelihoods ----------------------------------------------------------------------------


class Logistic(Model):
    X = data(dims=("obs", "feature"))
    trials = data(dims="obs", dtype=int)
    prior_sd = data(lower=0)
    alpha = param(Normal(-1.0, 0.5))
    beta = param(Normal(0.2, prior_sd), dims="feature")
    y = observed(BinomialLogit(trials, alpha + X @ beta), dims="obs")


@pytest.mark.parametrize("sd", [0.3, 2.0, 20.0])
def test_logistic_regression(sd):
    """The quadrature has to see a bump of width one under a prior of any width."""
    rows = X[:10]
    trials = RNG.integers(1, 9, 10)
    density = as_posterior(Logistic(X=rows, trials=trials, prior_sd=sd, y=np.ones(10, dtype=int)))
    Z = np.column_stack([np.ones(10), rows])
    mean, variances = np.array([-1.0, 0.2, 0.2, 0.2]), np.array([0.25, sd**2, sd**2, sd**2])
    average = [
        _integral(lambda p: expit(p) * expit(-p), row @ mean, np.sqrt(row**2 @ variances))
        for row in Z
    ]
    expected = np.diag(1.0 / variances) + Z.T @ np.diag(trials * average) @ Z
    for latent_mean in ("paper", "exact"):
        np.testing.assert_allclose(density.constant_metric(latent_mean), expected, rtol=1e-9)


def _integral(function, mean, sd):
    """Average of a function of one width under a normal distribution."""
    near = np.concatenate([mean + sd * np.arange(-9.0, 9.5, 1.5), np.arange(-40.0, 41.0, 8.0)])
    edges = np.unique(near)
    return sum(
        quad(lambda p: function(p) * norm.pdf(p, mean, sd), a, b, epsabs=0.0, epsrel=1e-12)[0]
        for a, b in pairwise(edges)
        if norm.pdf(a, mean, sd) + norm.pdf(b, mean, sd) > 1e-25
    )


class Several(Model):
    """Likelihoods of four kinds, one of them Gaussian, and a prior that is not centred."""

    X = data(dims=("obs", "feature"))
    beta = param(MvNormal([0.2, -0.1, 0.3], covariance=0.1 * np.eye(3) + 0.05), shape=3)
    common = param(Normal(0.5, 0.3))
    group = param(Normal(common, 0.4), shape=5)
    tilt = potential(0.7 * common)
    counts = observed(PoissonLog(X @ beta + common), dims="obs")
    wins = observed(BernoulliLogit(X @ beta - group[np.arange(25) % 5]), dims="obs")
    level = observed(Normal(2.0 * group, 0.8))
    robust = observed(StudentT(4.0, common, 1.5))


def several():
    return as_posterior(
        Several(X=X, counts=np.ones(25), wins=np.ones(25), level=np.ones(5), robust=np.ones(7))
    )


def scores_of_average(density, found, n=8000):
    """Standard errors by which a matrix differs from the metric, averaged over prior draws."""
    metrics = density.metric(density_prior(density, n))
    error = metrics.std(axis=0) / np.sqrt(n)
    return (found - metrics.mean(axis=0)) / np.maximum(error, 1e-9)


def density_prior(density, n):
    """Draw from the prior, with the linear potential taken for a part of it.

    The potential 0.7 c moves the mean of what depends on c by 0.7 times their covariance with c.
    """
    x = density.prior_draws(np.random.default_rng(5), n)
    x[:, 3:] += 0.7 * 0.09
    return x


def test_average_over_prior_draws():
    density = several()
    scores = scores_of_average(density, density.constant_metric("exact"))
    assert np.abs(scores).max() < 4.5


def test_what_is_printed_is_no_average():
    """Negative control of the test above."""
    density = several()
    scores = scores_of_average(density, density.constant_metric("paper"))
    assert np.abs(scores).max() > 12.0


class Linear(Model):
    X = data(dims=("obs", "feature"))
    beta = param(Flat(), dims="feature")
    y = observed(Normal(X @ beta, 0.7), dims="obs")


def test_a_gaussian_model_needs_no_average():
    """So that its prior may be flat."""
    density = as_posterior(Linear(X=X, y=np.ones(len(X))))
    np.testing.assert_allclose(density.constant_metric(), X.T @ X / 0.49, rtol=1e-10)


def test_memory():
    """A few matrices of dim by dim, and none of more axes."""

    class Independent(Model):
        x = param(Normal(0.0, 1.0), shape=700)
        y = observed(PoissonLog(x))

    density = as_posterior(Independent(y=np.ones(700)))
    tracemalloc.start()
    G = density.constant_metric("exact")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(G, np.diag(np.full(700, 1.0 + np.exp(0.5))), rtol=1e-12)
    assert peak < 10 * G.nbytes


# -- refusals -------------------------------------------------------------------------------------


def refusal(model):
    with pytest.raises(ModelError) as error:
        as_posterior(model).constant_metric()
    message = str(error.value)
    assert "latent_mean='mode'" in message
    return message


def test_hyperparameters_that_are_sampled():
    class Joint(Model):
        scale = param(HalfNormal(1.0))
        x = param(Normal(0.0, scale), shape=4)
        y = observed(PoissonLog(x))

    message = refusal(Joint(y=np.ones(4)))
    for words in ("Joint", "prior of scale", "prior of x", "hyperparameters", "nuts"):
        assert words in message


def test_information_that_is_not_known():
    class Tobit(Model):
        x = param(Normal(0.0, 1.0), shape=4)
        y = observed(Censored(Normal(x, 1.0), lower=0.0))

    message = refusal(Tobit(y=np.ones(4)))
    assert "Censored is not known in closed form for" in message
    assert "'y'" in message


def test_parameter_that_is_not_affine():
    class Overdispersed(Model):
        x = param(Normal(0.0, 1.0), shape=4)
        y = observed(NegativeBinomial2(np.log1p(np.exp(x)), 3.0))

    assert "of mu, which is not a number and affine" in refusal(Overdispersed(y=np.ones(4)))


def test_parameter_that_is_a_vector():
    class Classes(Model):
        x = param(Normal(0.0, 1.0), shape=(4, 3))
        y = observed(CategoricalLogit(x))

    assert "of CategoricalLogit is that of" in refusal(Classes(y=np.ones(4, dtype=int)))


def test_two_parameters_that_vary():
    class Heteroscedastic(Model):
        f = param(Normal(0.0, 1.0), shape=4)
        g = param(Normal(0.0, 1.0), shape=4)
        y = observed(Normal(f, np.exp(g)))

    message = refusal(Heteroscedastic(y=np.ones(4)))
    assert "of Normal depends on several parameters that vary (loc, log_scale)" in message


def test_prior_that_is_not_proper():
    class Improper(Model):
        x = param(Flat(), shape=4)
        y = observed(PoissonLog(x))

    assert "not proper" in refusal(Improper(y=np.ones(4)))


@pytest.mark.parametrize(
    ("likelihood", "sd", "refused"),
    [
        (PoissonLog, 30.0, True),
        (PoissonLog, 5.0, False),
        (BernoulliLogit, 2.0 * WIDEST, True),
        (BernoulliLogit, 0.5 * WIDEST, False),
    ],
)
def test_prior_that_is_too_wide(likelihood, sd, refused):
    class Wide(Model):
        x = param(Normal(0.0, sd), shape=4)
        y = observed(likelihood(x))

    model = Wide(y=np.ones(4, dtype=int))
    if refused:
        message = refusal(model)
        assert f"reaches {sd:.3g}" in message
        assert likelihood.__name__ in message
    else:
        assert np.isfinite(as_posterior(model).constant_metric()).all()
