"""Draws from the prior on unconstrained space, against the distributions of SciPy."""

import numpy as np
import pytest
import scipy.stats

from probmodel import Model, data, deterministic, observed, param
from probmodel.constraints import Ordered, SumToZero
from probmodel.density import ModelDensity
from probmodel.density.prior import prior_draws
from probmodel.distributions import (
    Dirichlet,
    Exponential,
    Gamma,
    HalfNormal,
    Normal,
    StudentT,
    Uniform,
)


class Nested(Model):
    """Priors that depend on earlier parameters, through a deterministic quantity too."""

    y = observed(Normal(0, 1), dims="obs")
    tau = param(HalfNormal(2))
    spread = deterministic(1.0 + tau)
    mu = param(Normal(3, spread))
    effect = param(Normal(mu, tau), shape=2, noncentered=True)
    share = param(Dirichlet(np.array([2.0, 3.0, 4.0])))


class Bounded(Model):
    """Parameters without a distribution to draw from."""

    y = observed(Normal(0, 1), dims="obs")
    flat = param()
    sums = param(StudentT(3, 0, 1), shape=3, constraint=SumToZero())
    low = param(Normal(0, 1), lower=flat)


class Cut(Model):
    """Parameters whose restrictions leave a distribution to draw from."""

    y = observed(Normal(0, 1), dims="obs")
    pair = param(Normal(0, 1), shape=2, constraint=Ordered())
    low = param(Normal(0, 1), lower=0.0)


class FromData(Model):
    """A prior that depends on data, and a likelihood that could not be drawn from."""

    scale = data()
    y = observed(Normal(0, 1), dims="obs")
    rate = param(Gamma(3, 2))
    width = param(Exponential(rate * scale + 0.0 * np.sum(y)))
    place = param(Uniform(-1, 5))


def draws(model, n=4000):
    return prior_draws(model._binding, np.random.default_rng(1), n)


def test_constrained_draws_follow_the_priors():
    model = Nested(y=np.zeros(3))
    density = ModelDensity(model)
    x = draws(model)
    assert x.shape == (4000, density.dim)
    values = density.constrain(x)
    tau, mu = values["tau"], values["mu"]
    standard = [
        scipy.stats.norm.cdf((mu - 3.0) / (1.0 + tau)),
        *scipy.stats.norm.cdf((values["effect"].T - mu) / tau),
        scipy.stats.halfnorm.cdf(tau / 2.0),
        *scipy.stats.beta.cdf(values["share"].T, [[2], [3], [4]], [[7], [6], [5]]),
    ]
    for u in standard:
        assert scipy.stats.kstest(u, "uniform").pvalue > 1e-4
    # Negative control: the same check with a wrong scale of the prior.
    wrong = scipy.stats.norm.cdf((mu - 3.0) / (1.5 + tau))
    assert scipy.stats.kstest(wrong, "uniform").pvalue < 1e-4


def test_noncentered_parameters_are_standard_normal():
    x = draws(Nested(y=np.zeros(3)))
    for column in x[:, 2:4].T:
        assert scipy.stats.kstest(column, "norm").pvalue > 1e-4


def test_priors_may_depend_on_data():
    model = FromData(scale=2.0, y=np.zeros(4))
    values = ModelDensity(model).constrain(draws(model))
    u = scipy.stats.expon.cdf(values["width"] * values["rate"] * 2.0)
    assert scipy.stats.kstest(u, "uniform").pvalue > 1e-4
    assert scipy.stats.kstest((values["place"] + 1.0) / 6.0, "uniform").pvalue > 1e-4
    assert scipy.stats.kstest(values["rate"], scipy.stats.gamma(3, scale=0.5).cdf).pvalue > 1e-4


def test_what_has_no_distribution_is_drawn_like_starting_points():
    x = draws(Bounded(y=np.zeros(2)))
    assert x.shape == (4000, 4)
    for column in x.T:
        assert scipy.stats.kstest((column + 2.0) / 4.0, "uniform").pvalue > 1e-4


def test_restricted_priors_are_drawn_from():
    model = Cut(y=np.zeros(2))
    values = ModelDensity(model).constrain(draws(model))
    least = 1.0 - (1.0 - scipy.stats.norm.cdf(values["pair"][:, 0])) ** 2
    most = scipy.stats.norm.cdf(values["pair"][:, 1]) ** 2
    for u in (least, most, scipy.stats.halfnorm.cdf(values["low"])):
        assert scipy.stats.kstest(u, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("seed", [1, 2])
def test_draws_depend_on_the_generator_alone(seed):
    binding = Nested(y=np.zeros(3))._binding
    first, second = (prior_draws(binding, np.random.default_rng(seed), 3) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert np.isfinite(ModelDensity(Nested(y=np.zeros(3))).log_density(first)).all()


def test_draws_on_the_boundary_are_marked_not_refused():
    """So small a concentration gives proportions that are zero in floating point."""

    class Sparse(Model):
        y = observed(Normal(0, 1), dims="obs")
        share = param(Dirichlet(np.full(3, 1e-4)))

    x = draws(Sparse(y=np.zeros(1)), 50)
    assert not np.isfinite(x).all()
