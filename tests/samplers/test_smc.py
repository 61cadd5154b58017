"""Sequential Monte Carlo: weights, temperatures, evidence, several modes, and what it refuses."""

import json

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln, gammaln

import probmodel.samplers.tempered.smc as smc_file
from probmodel import LogDensity, Model, data, infer, observed, param, potential
from probmodel.density import as_posterior
from probmodel.distributions import Beta, Binomial, Gamma, Normal, Poisson
from probmodel.errors import SamplerError, TimeLimitError
from probmodel.samplers import make_sampler
from probmodel.samplers.tempered.grouped_moves import root_of, second_moments
from probmodel.samplers.tempered.weights import effective, next_rise, normalised, resampled


class Mean(Model):
    """A normal mean."""

    mu = param(Normal(0, 2))
    y = observed(Normal(mu, 1.5), dims="n")


class Share(Model):
    """A probability."""

    p = param(Beta(2.0, 3.0))
    y = observed(Binomial(10, p), dims="n")


class Rate(Model):
    """A rate."""

    rate = param(Gamma(2.0, 0.5))
    y = observed(Poisson(rate), dims="n")


Y = np.array([1.0, 2.0, 3.0, 0.5, 4.0])
K = np.array([3, 5, 2, 6])
COUNTS = np.array([2, 5, 3, 0, 4])


def conjugates():
    """Models with their data and log evidence in closed form."""
    n = len(Y)
    covariance = 1.5**2 * np.eye(n) + 4.0 * np.ones((n, n))
    mean = stats.multivariate_normal(np.zeros(n), covariance).logpdf(Y)
    ways = np.sum(gammaln(11) - gammaln(K + 1) - gammaln(11 - K))
    share = ways + betaln(2 + K.sum(), 3 + 40 - K.sum()) - betaln(2, 3)
    a, b = 2 + COUNTS.sum(), 0.5 + len(COUNTS)
    rate = 2 * np.log(0.5) - gammaln(2) + gammaln(a) - a * np.log(b) - gammaln(COUNTS + 1).sum()
    return {
        "normal": (Mean(y=Y), mean),
        "binomial": (Share(y=K), share),
        "poisson": (Rate(y=COUNTS), rate),
    }


CONJUGATES = conjugates()


class TwoModes(Model):
    """Two modes in 20 dimensions, 45 standard deviations apart, with weights of 0.3 and 0.7."""

    x = param(Normal(0, 10), shape=20)
    modes = potential(
        np.logaddexp(
            np.log(0.3) - 0.5 * np.sum((x + 5) ** 2), np.log(0.7) - 0.5 * np.sum((x - 5) ** 2)
        )
    )


def one_mode(dim):
    """A normal likelihood in many dimensions, and its log evidence."""

    class OneMode(Model):
        x = param(Normal(0, 10), shape=dim)
        mode = potential(-0.5 * np.sum((x - 5) ** 2))

    alone = 0.5 * np.log(2 * np.pi) + stats.norm(0, np.sqrt(101)).logpdf(5)
    return OneMode(), dim * alone


def evidence(fit):
    return fit.attrs["log_evidence"], fit.attrs["log_evidence_error"]


# -- weights --------------------------------------------------------------------------------------


def test_weights_sum_to_one_and_keep_their_mean():
    log_w = np.random.default_rng(0).normal(-800, 3, (3, 50))
    weights, log_mean = normalised(log_w)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(log_mean + 800, np.log(np.exp(log_w + 800).mean(axis=1)))
    np.testing.assert_allclose(effective(np.full((2, 50), 0.02)), 50.0)


@pytest.mark.parametrize("n", [4, 10, 1000])
def test_the_next_temperature_leaves_the_share_effective(n):
    rng = np.random.default_rng(n)
    likelihood = rng.normal(0, [[0.01], [5.0], [300.0]], (3, n))
    rise = next_rise(likelihood, np.ones(3), 0.5)
    assert rise[0] == 1.0
    for row in (1, 2):
        weights, _ = normalised(rise[row] * likelihood[[row]])
        assert effective(weights)[0] / n == pytest.approx(0.5, rel=1e-6)


@pytest.mark.parametrize("spread", [1e10, 1e30])
def test_the_next_temperature_is_found_far_below_one(spread):
    likelihood = spread * np.random.default_rng(1).standard_normal((1, 100))
    rise = next_rise(likelihood, np.ones(1), 0.5)
    assert rise > 0.0
    assert effective(normalised(rise * likelihood)[0]) == pytest.approx(50.0)


def test_particles_without_a_likelihood_do_not_count():
    likelihood = np.random.default_rng(1).normal(0, 5.0, (1, 100))
    some = np.concatenate([likelihood, np.full((1, 300), -np.inf)], axis=1)
    one = np.ones(1)
    assert next_rise(some, one, 0.5) == next_rise(likelihood, one, 0.5)


def test_resampling_takes_each_particle_as_often_as_it_weighs_up_to_one():
    rng = np.random.default_rng(2)
    weights = rng.dirichlet(np.full(40, 0.3), 5)
    source = resampled(weights, rng.random(5))
    assert np.all(np.diff(source, axis=1) >= 0)
    for row in range(5):
        counts = np.bincount(source[row], minlength=40)
        assert np.all(np.abs(counts - 40 * weights[row]) < 1.0)


def test_resampling_is_unbiased():
    weights = np.random.default_rng(3).dirichlet(np.full(7, 0.5), 1)
    v = (np.arange(20_000) + 0.5) / 20_000
    source = resampled(np.repeat(weights, len(v), axis=0), v)
    counts = np.bincount(source.ravel(), minlength=7) / len(v)
    np.testing.assert_allclose(counts, 7 * weights[0], atol=2e-3)


# -- evidence -------------------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize("method", ["smc", "tempering"])
@pytest.mark.parametrize("name", list(CONJUGATES))
def test_evidence_is_that_of_the_closed_form(method, name):
    model, truth = CONJUGATES[name]
    fit = infer(model, method=method, chains=8, warmup=300, seed=1, quiet=True)
    found, error = evidence(fit)
    assert 0.0 < error < 0.05
    assert abs(found - truth) < 4.0 * error


def test_evidence_of_another_model_is_told_apart():
    """The negative control: a prior that is half as wide."""

    class Narrow(Model):
        mu = param(Normal(0, 1))
        y = observed(Normal(mu, 1.5), dims="n")

    fit = infer(Narrow(y=Y), method="smc", chains=8, seed=1, progressbar=False)
    found, error = evidence(fit)
    assert abs(found - CONJUGATES["normal"][1]) > 8.0 * error


def test_priors_that_are_cut_are_normalised():
    """The evidence is that of the prior as a distribution: half a normal one weighs twice."""

    class Half(Model):
        mu = param(Normal(0, 2), lower=0)
        y = observed(Normal(mu, 1.5), dims="n")

    n = len(Y)
    variance = 1.0 / (n / 1.5**2 + 0.25)
    above = stats.norm(variance * Y.sum() / 1.5**2, np.sqrt(variance)).sf(0.0)
    truth = CONJUGATES["normal"][1] + np.log(2.0 * above)
    for method in ("smc", "tempering"):
        found, error = evidence(
            infer(Half(y=Y), method=method, chains=8, warmup=300, seed=2, quiet=True)
        )
        assert abs(found - truth) < 4.0 * error


def test_many_short_chains_of_tempering_have_no_common_error():
    """The mean of their ratios would be too large by half their variance."""
    model, truth = CONJUGATES["normal"]
    settings = {"chains": 1000, "draws": 10, "warmup": 100, "seed": 1, "quiet": True}
    fit = infer(model, method="tempering", **settings)
    found, error = evidence(fit)
    assert error < 0.02
    assert abs(found - truth) < 3.0 * error
    ratios = np.exp(fit["sample_stats"]["log_evidence"].values[:, -1] - truth)
    assert np.log(ratios.mean()) > 3.0 * error


def bias(monkeypatch=None):
    """Mean of log Z over its standard error, of 48 populations in 20 dimensions."""
    model, truth = one_mode(20)
    fit = infer(model, method="smc", chains=48, draws=2, seed=3, progressbar=False, quiet=True)
    estimates = fit["sample_stats"]["log_evidence"].values[:, -1] - truth
    spread = estimates.std(ddof=1)
    # The logarithm of an unbiased estimate is low by half its variance.
    return (estimates.mean() + 0.5 * spread**2) / (spread / np.sqrt(len(estimates)))


@pytest.mark.statistical
def test_halves_that_learn_from_each_other_leave_the_evidence_unbiased():
    assert abs(bias()) < 3.5


@pytest.mark.statistical
def test_particles_that_learn_from_themselves_are_noticed(monkeypatch):
    """The negative control of the test before."""

    def own(score):
        halves = score.reshape(2 * len(score), -1, score.shape[2])
        whole = root_of(second_moments(score), score.shape[1])
        return (
            np.repeat(whole, 2, axis=0).reshape(len(score), 2, *whole.shape[1:]) + 0 * halves.min()
        )

    monkeypatch.setattr(smc_file, "crossed_roots", own)
    assert bias() > 6.0


# -- several modes --------------------------------------------------------------------------------


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("smc", {"particles": 30_000, "draws": 30_000, "ess_share": 0.8}),
        ("tempering", {"draws": 30_000, "chains": 8}),
    ],
)
def test_far_modes_have_their_weights(method, settings):
    fit = infer(TwoModes(), method=method, seed=4, progressbar=False, quiet=True, **settings)
    x = fit["posterior"]["x"].values
    right = x[..., 0] > 0
    assert abs(right.mean() / 0.7 - 1.0) < 0.05
    assert abs((~right).mean() / 0.3 - 1.0) < 0.05
    # The prior shrinks each mode by 100 / 101.
    np.testing.assert_allclose(x[right].mean(axis=0), 500 / 101, atol=0.05)
    np.testing.assert_allclose(x[~right].var(axis=0), 100 / 101, rtol=0.05)
    found, error = evidence(fit)
    # The modes have the evidence of one, as their weights sum to one.
    assert abs(found - one_mode(20)[1]) < 4.0 * error


# -- runs -----------------------------------------------------------------------------------------


def test_the_warm_up_ends_at_the_posterior():
    fit = infer(Mean(y=Y), method="smc", seed=5, progressbar=False)
    assert fit.attrs["warmup_done"] < 30
    assert np.all(fit["sample_stats"]["beta"].values == 1.0)
    assert fit.attrs["n_grad_sampling"] == 0
    assert json.loads(fit.attrs["warnings"]) == []


def test_populations_move_on_when_all_particles_have_been_drawn():
    settings = {"method": "smc", "seed": 6, "progressbar": False, "particles": 200, "quiet": True}
    fit = infer(Mean(y=Y), draws=500, **settings)
    mu = fit["posterior"]["mu"].values
    assert fit.attrs["n_grad_sampling"] > 0
    assert np.mean(np.isin(mu[:, 200:400], mu[:, :200])) < 0.02  # those rejected five times
    for part in (mu[:, :200], mu[:, 400:]):
        mean = stats.norm(1.8855, 0.6319)
        assert abs(part.mean() - mean.mean()) < 4.0 * mean.std() / np.sqrt(part.size)


def test_a_warm_up_that_is_too_short_says_so():
    class Sharp(Model):
        mu = param(Normal(0, 100), dims="n")
        y = observed(Normal(mu, 0.01), dims="n")

    fit = infer(Sharp(y=np.ones(5)), method="smc", warmup=3, seed=7, quiet=True)
    kinds = [finding["kind"] for finding in json.loads(fit.attrs["warnings"])]
    assert "short_ladder" in kinds


@pytest.mark.statistical
def test_priors_far_wider_than_the_data_allow():
    """Coefficients of a Poisson regression whose likelihood spans twenty orders of magnitude."""

    class Wide(Model):
        b = param(Normal(0, 10), shape=3)
        X = data(dims=("n", "k"))
        y = observed(Poisson(np.exp(X @ b)), dims="n")

    rng = np.random.default_rng(8)
    X = rng.standard_normal((60, 3))
    model = Wide(X=X, y=rng.poisson(np.exp(X @ np.array([0.5, -0.3, 0.2]))))
    runs = [infer(model, method=m, warmup=400, seed=9, quiet=True) for m in ("smc", "tempering")]
    (one, error), (other, _) = map(evidence, runs)
    assert error < 0.5
    assert abs(one - other) < 2.0
    assert "short_ladder" not in runs[0].attrs["warnings"]


def test_groups_that_arrive_at_different_times():
    fit = infer(Mean(y=Y), method="smc", pool=False, particles=20, draws=30, seed=1, quiet=True)
    assert fit.attrs["groups"] == 4
    assert np.all(fit["sample_stats"]["beta"].values == 1.0)


def test_any_draws_of_a_population_are_draws_from_the_posterior():
    """Fewer draws than particles: the first ones are no special ones."""

    class Pair(Model):
        x = param(Normal(0, 10))
        modes = potential(np.logaddexp(np.log(0.3) - 0.5 * (x + 5) ** 2,
                                       np.log(0.7) - 0.5 * (x - 5) ** 2))  # fmt: skip

    fit = infer(Pair(), method="smc", particles=100, chains=600, draws=1, seed=2, quiet=True)
    right = (fit["posterior"]["x"].values > 0).mean()
    assert abs(right - 0.7) < 4.0 * np.sqrt(0.3 * 0.7 / 600)


def test_too_little_time_offers_no_starts():
    with pytest.raises(TimeLimitError) as caught:
        infer(TwoModes(), method="smc", max_time=1e-3, quiet=True)
    assert "inits" not in caught.value.message


def test_draws_of_every_seed_are_its_own():
    runs = [
        infer(Mean(y=Y), method="smc", seed=seed, draws=50, particles=50, progressbar=False,
              quiet=True)["posterior"]["mu"].values
        for seed in (1, 1, 2)
    ]  # fmt: skip
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.any(runs[0] == runs[2])


# -- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["smc", "tempering"])
def test_flat_priors_are_refused(method):
    class Flat(Model):
        a = param()
        y = observed(Normal(a, 1))

    with pytest.raises(SamplerError, match="'a' has a flat prior") as caught:
        infer(Flat(y=1.0), method=method)
    assert method in caught.value.message
    assert caught.value.location is not None


@pytest.mark.parametrize("method", ["smc", "tempering"])
def test_densities_without_a_prior_are_refused(method):
    density = LogDensity.from_function(lambda x: -0.5 * np.sum(x**2, axis=1), dim=2)
    with pytest.raises(SamplerError, match="a density without a prior"):
        infer(density, method=method)


def test_starting_points_are_refused():
    with pytest.raises(SamplerError, match="inits= has no meaning"):
        infer(Mean(y=Y), method="smc", inits={"mu": 1.0})


@pytest.mark.parametrize(
    ("setting", "value"),
    [("particles", 3), ("particles", 101), ("ess_share", 1.0), ("most_moves", 1)],
)
def test_settings_out_of_range_are_refused(setting, value):
    with pytest.raises(SamplerError, match=setting):
        make_sampler("smc", **{setting: value})


def test_data_that_no_draw_from_the_prior_can_explain():
    class Impossible(Model):
        p = param(Beta(1.0, 1.0))
        y = observed(Binomial(10, p))
        never = potential(np.where(p < 2.0, -np.inf, 0.0))

    density = as_posterior(Impossible(y=3))
    with pytest.raises(SamplerError, match=r"0\.0% have a finite log likelihood"):
        make_sampler("smc").init(np.random.default_rng(0), density, np.zeros((2, 1)))
