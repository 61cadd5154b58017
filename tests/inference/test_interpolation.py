"""Models whose density has no bound where latent values interpolate the data: chains stay away."""

import json

import numpy as np
import pytest
from scipy import stats

from probmodel import Model, infer, observed, param
from probmodel.adaptation.ascent import Climbers
from probmodel.distributions import Beta, HalfNormal, MvNormal, Normal, RandomWalk, Uniform
from probmodel.inference import pilot
from probmodel.results.arviz_object import group

CHAINS = 16
TIMES = 72


class LocalLevel(Model):
    step = param(HalfNormal(0.5))
    noise = param(HalfNormal(1))
    level = param(RandomWalk(step, 5.0), dims="time")
    y = observed(Normal(level, noise), dims="time")


class Errors(Model):
    """Errors in variables: the true values of x are parameters."""

    mean = param(Normal(0, 5))
    spread = param(HalfNormal(2))
    a = param(Normal(0, 5))
    b = param(Normal(0, 2))
    noise = param(HalfNormal(1))
    true = param(Normal(mean, spread), dims="obs")
    x = observed(Normal(true, 0.4), dims="obs")
    y = observed(Normal(a + b * true, noise), dims="obs")


class SummedOut(Model):
    """The same with the true values integrated out."""

    mean = param(Normal(0, 5))
    spread = param(HalfNormal(2))
    a = param(Normal(0, 5))
    b = param(Normal(0, 2))
    noise = param(HalfNormal(1))
    v, c = spread**2, b * spread**2
    covariance = np.stack([np.stack([v + 0.16, c]), np.stack([c, b * c + noise**2])])
    pair = observed(MvNormal(np.stack([mean, a + b * mean]), covariance), dims=("obs", "axis"))


class Share(Model):
    """What is observed is standard normal whatever the share is: its posterior is its prior."""

    share = param(Beta(2, 2))
    latent = param(Normal(0, 1), dims="obs")
    y = observed(Normal(np.sqrt(share) * latent, np.sqrt(1 - share)), dims="obs")


class SignedShare(Model):
    share = param(Uniform(-1, 1))
    latent = param(Normal(0, 1), dims="obs")
    y = observed(Normal(share * latent, np.sqrt(1 - share**2)), dims="obs")


class Centred(Model):
    share = param(Uniform(-1, 1))
    latent = param(Normal(0, np.abs(share)), dims="obs")
    y = observed(Normal(latent, np.sqrt(1 - share**2)), dims="obs")


def level_data():
    rng = np.random.default_rng(17)
    return np.cumsum(0.2 * rng.normal(size=TIMES)) + 5 + 0.3 * rng.normal(size=TIMES)


def exact_noise(y):
    """Posterior mean of the noise, by a grid over both scales of the normal marginal density."""
    steps, noises = np.linspace(0.005, 1.2, 40), np.linspace(0.005, 0.8, 60)
    times = np.arange(TIMES)
    walk = np.minimum.outer(times, times)
    logs = [
        [
            stats.multivariate_normal(cov=25.0 + a * a * walk + b * b * np.eye(TIMES)).logpdf(y)
            - 0.5 * (a / 0.5) ** 2 - 0.5 * b**2
            for b in noises
        ]
        for a in steps
    ]  # fmt: skip
    weights = np.exp(logs - np.max(logs)).sum(axis=0)
    return weights @ noises / weights.sum()


def chain_means(model, name, seed):
    fit = infer(model, draws=200, warmup=300, chains=CHAINS, seed=seed, quiet=True)
    return np.asarray(group(fit, "posterior")[name]).mean(axis=1)


def kinds(fit):
    return {finding["kind"] for finding in json.loads(fit.attrs["warnings"])}


def distance(means, truth):
    """Distance of the mean of chains from the truth, in its standard errors."""
    return abs(means.mean() - truth) / (means.std(ddof=1) / np.sqrt(len(means)))


def let_climb(monkeypatch):
    """Let chains stay where they climb to, whatever the volume there."""
    monkeypatch.setattr(Climbers, "give_up", lambda self: None)
    monkeypatch.setattr(Climbers, "too_far", lambda self: [])


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.statistical)])
def test_the_noise_about_a_level_is_that_of_the_exact_posterior(seed):
    y = level_data()
    means = chain_means(LocalLevel(y=y), "noise", seed)
    assert distance(means, exact_noise(y)) < 5.0
    assert np.ptp(means) < 0.1


@pytest.mark.statistical
def test_chains_that_climb_further_end_where_the_level_is_the_data(monkeypatch):
    """Negative control."""
    monkeypatch.setattr(pilot, "OF_HIERARCHIES", 0.02)
    let_climb(monkeypatch)
    means = chain_means(LocalLevel(y=level_data()), "noise", 2)
    assert means.min() < 0.05


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.statistical)])
def test_errors_in_variables_are_those_of_the_model_without_the_true_values(seed):
    rng = np.random.default_rng(19)
    true = rng.normal(2, 1, 60)
    y = 1 + 0.8 * true + 0.3 * rng.normal(size=60)
    x = true + 0.4 * rng.normal(size=60)
    for name in ("b", "noise"):
        means = chain_means(Errors(x=x, y=y), name, seed)
        others = chain_means(SummedOut(pair=np.stack([x, y], axis=1)), name, seed)
        error = np.sqrt((means.var(ddof=1) + others.var(ddof=1)) / CHAINS)
        assert abs(means.mean() - others.mean()) < 5.0 * error
        assert np.ptp(means) < 1.0


SHARES = [
    (Share, 20, 0.5, np.sqrt(1 / 20)),
    *(
        pytest.param(model, n, mean, sd, marks=pytest.mark.statistical)
        for model, mean, sd in (
            (Share, 0.5, np.sqrt(1 / 20)), (SignedShare, 0.0, np.sqrt(1 / 3)),
            (Centred, 0.0, np.sqrt(1 / 3)),
        )
        for n in (8, 40, 100)
    ),
]  # fmt: skip


@pytest.mark.parametrize(("model", "n", "mean", "sd"), SHARES)
def test_a_share_of_variance_that_nothing_tells_of_keeps_its_prior(model, n, mean, sd):
    fit = infer(model(y=np.random.default_rng(0).normal(size=n)), seed=1, quiet=True)
    draws = np.asarray(group(fit, "posterior")["share"])
    stuck = np.abs(draws.mean(axis=1)) > 0.9
    # Of eight numbers about one chain in twelve ends where the density has no bound, and moves no
    # more: that is never without a warning. Of more numbers none does.
    assert stuck.sum() <= (5 if n == 8 else 0)
    assert not stuck.any() or {"divergences", "rhat"} <= kinds(fit)
    draws = draws[~stuck]
    assert distance(draws.mean(axis=1), mean) < 5.0
    assert distance(np.mean((draws - mean) ** 2, axis=1), sd**2) < 5.0


def test_chains_that_climb_on_have_no_noise_left(monkeypatch):
    """Negative control."""
    let_climb(monkeypatch)
    means = chain_means(Share(y=np.random.default_rng(0).normal(size=20)), "share", 1)
    assert np.median(means) > 0.95
