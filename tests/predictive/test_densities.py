"""Pointwise log densities against SciPy, and leave-one-out cross-validation."""

import warnings

import numpy as np
import pytest
import scipy.stats

from probmodel import Model, data, infer, log_likelihood, log_prior, loo, observed, param, potential
from probmodel.density import ModelDensity
from probmodel.distributions import AR1, Binomial, Exponential, MvNormal, Normal, Poisson
from probmodel.errors import DataError, SamplingWarning
from probmodel.functions import log_density
from probmodel.results.arviz_object import group, import_arviz

RNG = np.random.default_rng(1)


class Several(Model):
    x = data(dims="obs")
    n = data(dims="obs", dtype=int)
    beta = param(Normal(0.0, 2.0), dims="term")
    sigma = param(Exponential(0.5))
    flat = param(shape=2)
    pair = param(MvNormal(np.zeros(2), np.eye(2)), dims=("group", "axis"))
    path = param(AR1(0.5, sigma), dims="day", noncentered=True)
    low = param(Normal(0.0, 1.0), lower=0.0)

    y = observed(Normal(beta[0] + beta[1] * x, sigma), dims="obs")
    count = observed(Poisson(np.exp(beta[0])), dims="obs")
    wins = observed(Binomial(n, 1.0 / (1.0 + np.exp(-beta[1]))), dims="obs")
    v = observed(MvNormal(pair, cholesky=sigma * np.eye(2)), dims=("group", "axis"))


def several():
    return Several(
        x=[0.5, -1.0, 2.0],
        n=[3, 5, 2],
        y=[1.0, -0.5, 2.2],
        count=[0, 2, 4],
        wins=[3, 2, 0],
        v=[[0.1, 0.2], [1.0, -1.0]],
        coords={"term": ["one", "x"], "day": range(4)},
    )


@pytest.fixture
def fit(make_fit):
    shape = (2, 30)
    return make_fit(
        {"term": np.array(["one", "x"])},
        beta=(("term",), RNG.normal(size=(*shape, 2))),
        sigma=RNG.exponential(size=shape),
        flat=(("flat_dim_0",), RNG.normal(size=(*shape, 2))),
        pair=(("group", "axis"), RNG.normal(size=(*shape, 2, 2))),
        path=(("day",), RNG.normal(size=(*shape, 4))),
        low=RNG.exponential(size=shape),
    )


def test_log_likelihood(fit, values):
    model = several()
    done = log_likelihood(model, fit)
    beta, sigma, pair = (values(fit, "posterior", n) for n in ("beta", "sigma", "pair"))
    a, b, s = beta[..., :1], beta[..., 1:], sigma[..., None]
    bound = model._binding.data
    expected = {
        "y": scipy.stats.norm.logpdf(bound["y"], a + b * bound["x"], s),
        "count": scipy.stats.poisson.logpmf(bound["count"], np.exp(a)),
        "wins": scipy.stats.binom.logpmf(bound["wins"], bound["n"], 1 / (1 + np.exp(-b))),
        "v": scipy.stats.norm.logpdf(bound["v"], pair, sigma[..., None, None]).sum(axis=-1),
    }
    for name, want in expected.items():
        np.testing.assert_allclose(values(done, "log_likelihood", name), want, rtol=1e-12)
    found = group(done, "log_likelihood")
    assert found["y"].dims == ("chain", "draw", "obs")
    assert found["v"].dims == ("chain", "draw", "group")
    some = group(log_likelihood(model, fit, ["count"]), "log_likelihood")
    assert list(some.data_vars) == ["count"]


def test_log_prior(fit, values):
    done = log_prior(several(), fit)
    of = {n: values(fit, "posterior", n) for n in ("beta", "sigma", "pair", "path", "low")}
    lags = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    root = np.linalg.cholesky(0.5**lags / 0.75)
    z = np.linalg.solve(root, of["path"][..., None])[..., 0] / of["sigma"][..., None]
    series = scipy.stats.norm.logpdf(z).sum(axis=-1) - 4 * np.log(of["sigma"])
    expected = {
        "beta": scipy.stats.norm.logpdf(of["beta"], 0, 2),
        "sigma": scipy.stats.expon.logpdf(of["sigma"], 0, 2),
        "flat": np.zeros((2, 30, 2)),
        "pair": scipy.stats.norm.logpdf(of["pair"]).sum(axis=-1),
        "path": series - np.log(np.diag(root)).sum(),
        "low": scipy.stats.norm.logpdf(of["low"]),
    }
    for name, want in expected.items():
        np.testing.assert_allclose(values(done, "log_prior", name), want, rtol=1e-10, atol=1e-12)
    assert group(done, "log_prior")["beta"].dims == ("chain", "draw", "term")


def test_they_add_up_to_the_log_density():
    """On a real fit: prior, likelihood and Jacobian terms are what the sampler saw."""

    class Line(Model):
        x = data(dims="obs")
        a = param(Normal(0.0, 1.0))
        s = param(Exponential(1.0))
        y = observed(Normal(a * x, s), dims="obs")

    model = Line(x=[1.0, 2.0, 3.0], y=[1.1, 1.9, 3.2])
    fit = infer(model, draws=20, warmup=60, chains=2, seed=1, quiet=True)
    done = log_prior(model, log_likelihood(model, fit))
    total = sum(
        group(done, name)[variable].values.reshape(2, 20, -1).sum(axis=-1)
        for name in ("log_prior", "log_likelihood")
        for variable in group(done, name).data_vars
    )
    jacobian = np.log(group(fit, "posterior")["s"].values)
    lp = group(fit, "sample_stats")["lp"].values
    np.testing.assert_allclose(total + jacobian, lp, rtol=1e-10)
    assert ModelDensity(model).dim == 2


class Mean(Model):
    mu = param(Normal(0.0, 10.0))
    y = observed(Normal(mu, 1.0), dims="obs")


def test_leave_one_out_of_a_conjugate_model(make_fit):
    y = RNG.normal(size=20)

    def posterior(data):
        precision = 0.01 + len(data)
        return data.sum() / precision, precision**-0.5

    m, s = posterior(y)
    fit = make_fit(mu=RNG.normal(m, s, (4, 4000)))
    exact = 0.0
    for i in range(20):
        mean, sd = posterior(np.delete(y, i))
        exact += scipy.stats.norm.logpdf(y[i], mean, np.hypot(1.0, sd))
    estimate = loo(Mean(y=y), fit, pointwise=True)
    elpd = getattr(estimate, "elpd_loo", None)
    elpd = estimate.elpd if elpd is None else elpd
    assert abs(elpd - exact) < 0.05
    scored = log_likelihood(Mean(y=y), fit)
    again = import_arviz().loo(scored)
    other = getattr(again, "elpd_loo", None)
    assert (again.elpd if other is None else other) == pytest.approx(elpd)


class Two(Mean):
    z = observed(Normal(Mean.mu, 2.0), dims="other")


def test_leave_one_out_needs_to_know_which_data(make_fit):
    model = Two(y=RNG.normal(size=50), z=RNG.normal(size=30))
    fit = make_fit(mu=RNG.normal(0.0, 0.1, (4, 1000)))
    with pytest.raises(DataError, match=r"several observed quantities .*choose one by var_name="):
        loo(model, fit)
    z = loo(model, log_likelihood(model, fit, "y"), var_name="z")
    assert z.n_data_points == 30


class Occupancy(Model):
    """Sites are occupied or not, which is summed out: a log likelihood for each site."""

    visits = data(dtype=int)
    seen = data(dims="site", dtype=int)
    mu = param(Normal(0.0, 10.0))
    here = log_density(Binomial(visits, 0.4), seen)
    absent = np.log(np.where(seen == 0, 0.3, 0.0))
    term = potential(np.sum(np.logaddexp(np.log(0.7) + here + mu, absent)))


def test_a_potential_has_the_log_likelihoods_that_it_adds_up(make_fit, values):
    seen, mu = np.array([0, 2, 1, 0]), RNG.normal(0.0, 0.1, (4, 50))
    model, fit = Occupancy(visits=3, seen=seen), make_fit(mu=mu)
    done = log_likelihood(model, fit)
    here = 0.7 * scipy.stats.binom.pmf(seen, 3, 0.4) * np.exp(mu)[..., None]
    want = np.log(here + 0.3 * (seen == 0))
    np.testing.assert_allclose(values(done, "log_likelihood", "term"), want, rtol=1e-12)
    assert group(done, "log_likelihood")["term"].dims == ("chain", "draw", "site")
    assert loo(model, fit).n_data_points == 4


def test_a_potential_scores_as_an_observed_quantity_does(make_fit):
    class Written(Mean):
        more = data(dims="obs")
        score = potential(log_density(Normal(Mean.mu, 1.0), more))

    y = RNG.normal(size=20)
    fit = make_fit(mu=RNG.normal(0.0, 0.2, (4, 500)))
    model = Written(y=y, more=y + 1.0)
    assert list(group(log_likelihood(model, fit), "log_likelihood").data_vars) == ["y"]
    both = log_likelihood(model, fit, ["score", "y"])
    assert list(group(both, "log_likelihood").data_vars) == ["y", "score"]
    moved = loo(Mean(y=y + 1.0), fit, pointwise=True)
    for scored in (fit, both):
        again = loo(model, scored, pointwise=True, var_name="score")
        assert str(again).split("Pareto")[0] == str(moved).split("Pareto")[0]
    assert str(loo(model, both)) == str(loo(model, fit)) != str(moved)


def test_a_potential_that_is_one_number_leaves_nothing_out(make_fit):
    class Total(Model):
        mu = param(Normal(0.0, 1.0))
        term = potential(-0.5 * mu**2)

    class Parts(Total):
        other = potential(-(Total.mu**2))

    fit = make_fit(mu=np.zeros((2, 9)))
    with pytest.raises(DataError, match="an element of a potential each"):
        loo(Total(), fit)
    with pytest.raises(DataError, match=r"several potentials \(term, other\); choose one"):
        loo(Parts(), fit)
    with pytest.raises(DataError, match="Did you mean 'other'"):
        loo(Parts(), fit, var_name="others")


def test_what_is_missing_is_named(make_fit, fit):
    with pytest.raises(DataError, match="observed 'y' was bound without data"):
        log_likelihood(Mean(coords={"obs": range(3)}), make_fit(mu=np.zeros((1, 5))))
    with pytest.raises(DataError, match="no draws of param 'mu'"):
        log_likelihood(Mean(y=[0.0]), fit)
    with pytest.raises(DataError, match="Did you mean 'count'"):
        log_likelihood(several(), fit, "counts")
    # A parameter that is not needed may be missing.
    part = make_fit({"term": np.array(["one", "x"])}, beta=(("term",), np.zeros((1, 5, 2))))
    assert group(log_likelihood(several(), part, "count"), "log_likelihood").sizes["obs"] == 3


class Slope(Model):
    x = data(dims="obs")
    scale = data()
    b = param(Normal(0.0, scale))
    y = observed(Normal(b * x, 1.0), dims="obs", missing="impute")
    z = observed(Normal(b, 1.0), dims="other")


def test_nothing_is_left_out_of_other_data_than_those_of_the_fit(values):
    known = {"x": [1.0, 2.0, 3.0, 4.0], "scale": 2.0, "y": [1.1, np.nan, 2.8, 4.2], "z": [1.0, 0.8]}
    fit = infer(Slope(**known), draws=100, warmup=100, chains=2, seed=1, quiet=True)
    estimate = loo(Slope(**known), fit, var_name="y")
    assert estimate.n_data_points == 3
    more = {**known, "y": [9.0, 9.0, 9.0], "x": [1.0, 1.0, 2.0]}
    for changes, words in (
        ({"y": [9.0, 1.0, 2.8, 4.2]}, "the fit: y differs from"),
        ({"x": [0.0, 2.0, 3.0, 4.0]}, "the fit: x differs from"),
        (more, r"the fit: x, y differ from .* log_likelihood\(\.\.\.\) of a model"),
    ):
        other = Slope(**{**known, **changes})
        with pytest.raises(DataError, match=words):
            loo(other, fit, var_name="y")
    with pytest.raises(DataError, match="y differ from"):
        loo(other, log_likelihood(other, fit, "y"), var_name="y")
    # Scores of new data, and what does not enter the scores that are asked for.
    scores = values(log_likelihood(other, fit, "y"), "log_likelihood", "y")
    b = values(fit, "posterior", "b")[..., None]
    np.testing.assert_allclose(scores, scipy.stats.norm.logpdf(9.0, b * [1.0, 1.0, 2.0], 1.0))
    assert str(loo(Slope(**{**known, "z": [7.0]}), fit, var_name="y")) == str(estimate)
    thinned = fit.sel(draw=slice(0, None, 2))
    assert loo(Slope(**known), thinned, var_name="y").n_data_points == 3


class Seen(Model):
    seen = data(("person", "item"), dtype=bool)
    y = data(("person", "item"))
    mu = param(Normal(0, 1), dims="item")
    score = potential(np.where(seen, log_density(Normal(mu, 1), y), 0))


@pytest.mark.parametrize("shape", [(8, 3), (20, 1)])
def test_loo_leaves_out_elements_that_are_zero_in_all_draws(shape, recwarn):
    rng = np.random.default_rng(1)
    y, seen = rng.normal(size=shape), rng.random(shape) < 0.6
    model = Seen(seen=seen, y=y)
    fit = infer(model, draws=500, seed=1, quiet=True)
    found = loo(model, fit, pointwise=True)
    assert found.n_data_points == seen.sum()
    assert not found.warning
    assert not [w for w in recwarn if issubclass(w.category, (UserWarning, RuntimeWarning))]
    # The exact scores: a conjugate normal model for each item.
    elpd, numbers = 0.0, seen.sum(axis=0)
    for (i, j), value in np.ndenumerate(y):
        if seen[i, j]:
            others = y[seen[:, j], j].sum() - value
            elpd += scipy.stats.norm.logpdf(
                value, others / numbers[j], np.sqrt(1.0 + 1.0 / numbers[j])
            )
    got = getattr(found, "elpd_loo", None)
    # Smoothed weights of 8000 draws: scores of single observations err by some hundredths.
    np.testing.assert_allclose(
        found.elpd if got is None else got, elpd, atol=0.05 * seen.sum() ** 0.5
    )


def test_loo_says_what_constant_scores_it_leaves_out():
    class First(Model):
        y = data("t")
        mu = param(Normal(0, 1))
        known = np.log(0.5) * np.ones(2)
        score = potential(np.concatenate([known, log_density(Normal(mu, 1), y)]))

    model = First(y=[0.5, -0.3, 1.0])
    fit = infer(model, draws=200, seed=1, quiet=True)
    with pytest.warns(SamplingWarning, match=r"2 of the 5 elements of 'score'.*up to -1\.38629"):
        assert loo(model, fit).n_data_points == 3


def test_loo_of_what_no_parameter_bears_on():
    class Nothing(Model):
        mu = param(Normal(0, 1))
        score = potential(np.zeros(3))

    model = Nothing()
    fit = infer(model, draws=100, seed=1, quiet=True)
    with pytest.raises(DataError, match="'score' has the same values in all draws"):
        loo(model, fit)


def test_loo_takes_one_name():
    class Two(Model):
        mu = param(Normal(0, 1))
        y = observed(Normal(mu, 1), dims="t")
        z = observed(Normal(mu, 1), dims="t")

    model = Two(y=[0.1, 0.2], z=[0.3, 0.4])
    fit = infer(model, draws=100, seed=1, quiet=True)
    with pytest.raises(DataError, match=r"one quantity, of y, z; got \['y', 'z'\].*one potential"):
        loo(model, fit, var_name=["y", "z"])


def test_loo_takes_scores_of_this_model_and_data_alone():
    x = np.linspace(-1.0, 1.0, 12)
    y = x + 0.3 * np.cos(9 * x)
    model, other = (Slope(x=x, scale=2.0, y=y + d, z=[1.0, 0.8]) for d in (0.0, 3.0))
    fit = infer(model, draws=200, warmup=100, chains=2, seed=1, quiet=True)
    expected = loo(model, fit, var_name="y")
    for stored in (log_likelihood(model, fit, "y"), log_likelihood(other, fit, "y")):
        assert str(loo(model, stored, var_name="y")) == str(expected)


def test_loo_of_a_dim_called_observation():
    class Answers(Model):
        x = data(("observation", "item"))
        b = param(Normal(0, 1))
        y = observed(Normal(b * x, 1), dims=("observation", "item"))

    x = np.arange(12.0).reshape(6, 2)
    model = Answers(x=x, y=0.1 * x)
    fit = infer(model, draws=200, seed=1, quiet=True)
    with pytest.warns(SamplingWarning, match="1 of the 12 elements of 'y'"):
        assert loo(model, fit).n_data_points == 11


def test_loo_of_scores_that_spread_widely(make_fit):
    # ArviZ weighs the shapes of a tail by one over a sum that overflows.
    wide = np.random.default_rng(3).normal(0.0, 1.0, size=(8, 2500))
    with np.errstate(over="warn"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        loo(Mean(y=np.linspace(-1.0, 6.0, 12)), make_fit(mu=wide))
    assert not [w for w in caught if issubclass(w.category, RuntimeWarning)]
