"""Reaction times: moments in closed form, tails, impossible values, models."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from derivatives import program
from scipy import integrate

from probmodel import Model, check_model, data, infer, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import Beta, HalfNormal, Normal, Wiener
from probmodel.errors import DataError

PARAMS = [(1.4, 0.2, 0.4, 0.7), (0.9, 0.1, 0.7, -1.8), (2.0, 0.0, 0.15, 4.0), (1.1, 0.3, 0.5, 0.0)]
DIST = Wiener(1.0, 0.1, 0.5, 0.0)


def log_density(y, params):
    with np.errstate(all="ignore"):
        return DIST.log_density(np, np.asarray(y), *map(np.asarray, params))


def upper_probability(alpha, beta, delta):
    if delta == 0.0:
        return beta
    return (1 - np.exp(-2 * delta * alpha * beta)) / (1 - np.exp(-2 * delta * alpha))


def mean_time(alpha, beta, delta):
    if delta == 0.0:
        return alpha**2 * beta * (1 - beta)
    return alpha * (upper_probability(alpha, beta, delta) - beta) / delta


@pytest.mark.parametrize("params", PARAMS)
def test_choices_and_mean_times_by_quadrature(params):
    alpha, tau, beta, delta = params

    def moment(sign, power):
        def integrand(log_t):
            t = np.exp(log_t)
            return np.exp(log_density(sign * (tau + t), params)) * t ** (power + 1)

        pieces = np.log([1e-4, 1e-2, 0.1, 0.5, 2.0, 60.0])
        parts = [
            integrate.quad(integrand, a, b, epsrel=1e-10, limit=200)[0]
            for a, b in itertools.pairwise(pieces)
        ]
        return sum(parts)

    assert moment(1, 0) == pytest.approx(upper_probability(alpha, beta, delta), rel=1e-8)
    assert moment(1, 0) + moment(-1, 0) == pytest.approx(1.0, rel=1e-8)
    assert moment(1, 1) + moment(-1, 1) == pytest.approx(mean_time(alpha, beta, delta), rel=1e-8)


@pytest.mark.parametrize("params", [*PARAMS, (1.0, 0.1, 0.5, -60.0), (3.0, 0.0, 0.98, -9.0)])
def test_draws_have_these_choices_and_times(params):
    alpha, tau, beta, delta = params
    n = 20_000
    draws = DIST.sample(np.random.default_rng(1), (n,), *map(np.asarray, params))
    p, times = upper_probability(alpha, beta, delta), np.abs(draws) - tau
    assert abs(np.mean(draws > 0) - p) < 5 * np.sqrt(p * (1 - p) / n) + 1e-12
    error = 5 * times.std() / np.sqrt(n)
    assert abs(times.mean() - mean_time(alpha, beta, delta)) < error
    assert abs(times.mean() - 1.2 * mean_time(alpha, beta, delta)) > error


def test_tails():
    late = log_density([200.0, 400.0], PARAMS[0])
    assert np.diff(late)[0] == pytest.approx(-200 * (np.pi**2 / (2 * 1.4**2) + 0.7**2 / 2))
    early = log_density(0.2 + np.array([1e-3, 1e-4]), PARAMS[0])
    assert np.diff(early)[0] == pytest.approx(-((1.4 * 0.6) ** 2) / 2 * 9000, rel=0.01)


def test_nothing_happens_before_the_time_that_is_no_decision():
    assert np.all(log_density([0.2, -0.2, 0.1, 0.0, -0.05], PARAMS[0]) == -np.inf)
    y = np.array([0.1, 0.9])
    logp, *slopes = program(DIST, [0, 1, 2], 0.9, *PARAMS[0])(y, np.full(2, 1.4), np.full(2, 0.2))
    assert logp[0] == -np.inf
    assert np.isfinite(logp[1])
    assert np.isfinite(slopes)[:, 1].all()


class Decisions(Model):
    fastest = data(lower=0)
    alpha = param(HalfNormal(2))
    tau = param(lower=0, upper=fastest)
    beta = param(Beta(2, 2))
    delta = param(Normal(0, 2))
    y = observed(Wiener(alpha, tau, beta, delta), dims="trial")


@pytest.mark.statistical
def test_a_model_finds_the_parameters_of_its_data():
    truth = {"alpha": 1.4, "tau": 0.2, "beta": 0.4, "delta": 0.7}
    y = DIST.sample(np.random.default_rng(7), (150,), *map(np.asarray, truth.values()))
    model = Decisions(y=y, fastest=np.abs(y).min())
    assert check_model(model).ok
    posterior = infer(model, draws=250, warmup=300, seed=1, quiet=True).posterior
    for name, value in truth.items():
        draws = np.asarray(posterior[name])
        assert abs(draws.mean() - value) < 4 * draws.std(), name


class Drift(Model):
    alpha = param(HalfNormal(1.0))
    tau = param(HalfNormal(0.1))
    beta = param(Beta(2.0, 2.0))
    delta = param(Normal(0.0, 1.0))
    y = observed(Wiener(1.0 + alpha, 0.1 * tau, beta, delta), dims="trial")


TRIALS = np.array([0.7, -0.9, 1.4, -0.25, 8.0])


def test_both_series_are_machine_code(assert_engines, assert_gradient):
    density = as_posterior(Drift(y=TRIALS))
    assert density.calls_back == ()
    x = np.random.default_rng(3).uniform(-0.8, 0.8, (3, 4))
    assert_engines(density, None, x)
    assert_gradient(density, density.log_density, x)


@pytest.mark.parametrize("size", [1e-3, 10.0, 100.0])
def test_engines_agree_far_out(size):
    """A starting point next to a boundary loses the digits of its distance in either engine."""
    density = as_posterior(Drift(y=TRIALS))
    x = size * np.random.default_rng(1).standard_normal((17, 4))
    density.use_engine("llvm")
    found = density(x)
    density.use_engine("numpy")
    expected = density(x)
    np.testing.assert_allclose(found.logp, expected.logp, rtol=1e-9)
    lost = 1e-15 * (1.0 + np.exp(np.abs(x[:, 2:3])))  # over the distance, by cancellation
    scale = (1e-9 + lost) * (1.0 + np.abs(expected.grad).max(axis=1, keepdims=True))
    assert np.all(np.abs(found.grad - expected.grad) <= scale)


def test_a_time_of_zero_is_refused():
    with pytest.raises(DataError, match=r"'y' follows Wiener, whose values are other than 0; got "):
        Drift(y=[0.5, 0.0])
    assert Drift(y=[0.5, -0.1])._binding.data["y"].size == 2
