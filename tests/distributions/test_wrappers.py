"""Affine, truncated and censored distributions: declaration, supports and corner cases."""

from __future__ import annotations

import pickle
import subprocess
import sys

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import jacobian
from derivatives import evaluated, slopes
from scipy import stats
from scipy.special import ndtr, ndtri

from probmodel import Model, data, observed, param
from probmodel import distributions as d
from probmodel.constraints import IntegerInterval, Interval, Lower, Real, Upper
from probmodel.density import as_posterior
from probmodel.errors import ModelError


def logp(dist, value, *params):
    with np.errstate(all="ignore"):
        return dist.log_density(np, np.asarray(value), *map(np.asarray, params))


@pytest.mark.parametrize(
    ("inner", "kind", "bounds"),
    [
        (d.Normal(0, 1), Real, ()),
        (d.Gamma(1, 1), Lower, (-1.0,)),
        (d.HalfNormal(1), Lower, (-1.0,)),
        (d.Beta(1, 1), Interval, (-1.0, 1.0)),
        (d.Uniform(1, 3), Interval, (1.0, 5.0)),
        (d.Truncated(d.Normal(0, 1), upper=2.0), Upper, (3.0,)),
    ],
)
def test_affine_moves_the_support(inner, kind, bounds):
    support = d.Affine(inner, loc=-1.0, scale=2.0).support()
    assert type(support) is kind
    assert support.bounds == bounds


@pytest.mark.parametrize("inner", [d.Poisson(1), d.Dirichlet([1, 1])])
def test_affine_refuses_what_it_cannot_move(inner):
    with pytest.raises(ModelError, match=inner.name):
        d.Affine(inner, loc=1.0)


@pytest.mark.parametrize(
    "inner",
    [
        d.Censored(d.Normal(0, 1), lower=0.0),
        d.Hurdle(0.3, d.LogNormal(0, 1)),
        d.Mixture([0.5, 0.5], [d.Hurdle(0.3, d.LogNormal(0, 1)), d.Hurdle(0.1, d.Gamma(2, 1))]),
    ],
)
def test_affine_refuses_probabilities_of_single_values(inner):
    with pytest.raises(ModelError, match=f"Put Affine into {inner.name}, around what has"):
        d.Affine(inner, 0.0, 2.0)


def test_censored_counts_have_whole_bounds():
    class Counts(Model):
        rate = param(d.Gamma(2, 1))
        end = data("obs", upper=np.inf)
        y = observed(d.Censored(d.Poisson(rate), upper=end), dims="obs")

    density = as_posterior(Counts(end=[np.inf, 3.0], y=[1, 3]))
    rate = density.constrain(np.zeros((1, 1)))["rate"]
    law = stats.poisson(rate)
    likelihood = density.terms(np.zeros((1, 1)))["likelihood of y"]
    np.testing.assert_allclose(likelihood, law.logpmf(1) + law.logsf(2))
    with pytest.raises(ModelError, match=r"Censored's bounds of counts must be whole .* got 3\.5"):
        Counts(end=[np.inf, 3.5], y=[1, 3])


def test_wrappers_take_a_distribution():
    with pytest.raises(ModelError, match="takes a distribution first, float was given"):
        d.Affine(1.0)


def test_wrapper_parameters_are_those_inside_and_its_own():
    dist = d.Affine(d.Truncated(d.Normal(1.0, 2.0), lower=0.5), loc=3.0, scale=4.0)
    assert dist.args == {
        "dist.dist.loc": 1.0,
        "dist.dist.scale": 2.0,
        "dist.lower": 0.5,
        "loc": 3.0,
        "scale": 4.0,
    }
    expected = stats.truncnorm(-0.25, np.inf, 1.0, 2.0).logpdf(2.0) - np.log(4.0)
    assert logp(dist, 11.0, *dist.args.values()) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("dist", "kind", "bounds"),
    [
        (d.Truncated(d.Normal(0, 1), lower=1.0), Lower, (1.0,)),
        (d.Truncated(d.Normal(0, 1), upper=1.0), Upper, (1.0,)),
        (d.Truncated(d.Normal(0, 1), lower=0.0, upper=1.0), Interval, (0.0, 1.0)),
        (d.Truncated(d.HalfNormal(1), upper=3.0), Interval, (0.0, 3.0)),
        (d.Truncated(d.HalfNormal(1), lower=-2.0, upper=3.0), Interval, (0.0, 3.0)),
        (d.Truncated(d.Uniform(0, 5), lower=2.0, upper=9.0), Interval, (2.0, 5.0)),
        (d.Truncated(d.Poisson(1), lower=1), IntegerInterval, (1.0,)),
        (d.Censored(d.Poisson(1), upper=9), IntegerInterval, (0, 9)),
        (d.Censored(d.Normal(0, 1), lower=-1.0), Lower, (-1.0,)),
    ],
)
def test_bounds_narrow_the_support(dist, kind, bounds):
    assert type(dist.support()) is kind
    assert dist.support().bounds == bounds


def test_censored_values_at_the_bounds_are_in_the_support():
    support = d.Censored(d.Normal(0, 1), lower=-1.0, upper=1.0).support()
    assert np.all(support.check(np.array([-1.0, 0.0, 1.0]), *support.bounds))


WIENER = d.Wiener(1.0, 0.1, 0.5, 0.0)


def test_what_can_be_bounded_does_not_hang_on_what_was_imported():
    code = "from probmodel.distributions import AR1, Truncated; Truncated(AR1(0.5, 1), lower=0)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Cauchy" in run.stderr
    assert "YuleSimon" in run.stderr


@pytest.mark.parametrize("wrapper", [d.Truncated, d.Censored])
def test_what_cannot_be_bounded_says_so_and_lists_what_can(wrapper):
    with pytest.raises(ModelError, match=r"Wiener has no cumulative.*Cauchy, .*Normal, "):
        wrapper(WIENER, lower=0.5)
    with pytest.raises(ModelError, match="AR1 has no cumulative"):
        wrapper(d.AR1(0.5, 1), lower=0.5)
    with pytest.raises(ModelError, match="Affine has no cumulative"):
        wrapper(d.Affine(WIENER), lower=0.5)
    with pytest.raises(ModelError, match="needs lower=, upper= or both"):
        wrapper(d.Normal(0, 1))
    with pytest.raises(ModelError, match="lower < upper"):
        wrapper(d.Normal(0, 1), lower=1.0, upper=1.0)
    with pytest.raises(ModelError, match="Wiener has no cumulative"):
        WIENER.log_cdf(np, 0.5, 1.0, 0.1, 0.5, 0.0)


CONTINUOUS = {
    "Normal": stats.norm,
    "Cauchy": stats.cauchy,
    "Laplace": stats.laplace,
    "Logistic": stats.logistic,
}


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("z", [-30.0, -3.0, -0.1, 0.0, 0.1, 3.0, 30.0])
def test_distribution_functions_are_accurate_in_both_tails(name, z):
    dist, family = d.DISTRIBUTIONS[name](0, 1), CONTINUOUS[name]
    x, params = np.array(1.0 + 2.0 * z), (np.array(1.0), np.array(2.0))
    assert dist.log_cdf(np, x, *params) == pytest.approx(family.logcdf(z), rel=1e-10)
    assert dist.log_ccdf(np, x, *params) == pytest.approx(family.logsf(z), rel=1e-10)


@pytest.mark.parametrize(
    ("name", "params", "family"),
    [
        ("HalfNormal", (1.3,), stats.halfnorm(0, 1.3)),
        ("HalfCauchy", (1.3,), stats.halfcauchy(0, 1.3)),
        ("LogNormal", (0.3, 0.8), stats.lognorm(0.8, 0, np.exp(0.3))),
        ("Exponential", (0.7,), stats.expon(0, 1 / 0.7)),
        ("Uniform", (-1.0, 4.0), stats.uniform(-1.0, 5.0)),
        ("Poisson", (3.2,), stats.poisson(3.2)),
        ("PoissonLog", (np.log(3.2),), stats.poisson(3.2)),
    ],
)
def test_distribution_functions_are_those_of_scipy(name, params, family):
    dist, params = d.DISTRIBUTIONS[name], [np.asarray(p) for p in params]
    dist = dist(*params)
    for x in (-2.0, 0.2, 1.0, 2.0, 6.0):
        with np.errstate(all="ignore"):
            below = np.exp(dist.log_cdf(np, np.array(x), *params))
            above = np.exp(dist.log_ccdf(np, np.array(x), *params))
        assert below == pytest.approx(family.cdf(x), rel=1e-10, abs=1e-15)
        assert above == pytest.approx(family.sf(x), rel=1e-10, abs=1e-15)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_truncation_far_in_a_tail_is_finite_and_right(sign):
    bounds = sorted([sign * 20.0, sign * 21.0])
    dist = d.Truncated(d.Normal(0, 1), *bounds)
    params = (0.0, 1.0, *bounds)
    expected = stats.norm.logpdf(20.3) - (
        stats.norm.logsf(20.0) + np.log1p(-np.exp(stats.norm.logsf(21.0) - stats.norm.logsf(20.0)))
    )
    assert logp(dist, sign * 20.3, *params) == pytest.approx(expected, rel=1e-10)
    assert np.all(np.isfinite(slopes(dist, sign * 20.3, *params)))
    draws = dist.sample(np.random.default_rng(0), (2000,), *map(np.asarray, params))
    assert (
        stats.kstest(sign * draws, lambda x: 1 - stats.norm.sf(x) / stats.norm.sf(20.0)).pvalue
        > 1e-5
    )


def test_truncated_draws_without_a_lower_bound_reach_far():
    dist = d.Truncated(d.Cauchy(0, 1), upper=-1e6)
    draws = dist.sample(np.random.default_rng(0), (500,), *map(np.asarray, (0.0, 1.0, -1e6)))
    # The tail is a power: -1e6 / draws is uniform.
    assert stats.kstest(-1e6 / draws, "uniform").pvalue > 1e-5


def test_an_affine_distribution_can_be_truncated():
    dist = d.Truncated(d.Affine(d.Normal(0, 1), loc=1.0, scale=2.0), lower=0.5, upper=4.0)
    expected = stats.truncnorm(-0.25, 1.5, 1.0, 2.0).logpdf(2.0)
    assert logp(dist, 2.0, *dist.args.values()) == pytest.approx(expected, rel=1e-10)


def test_a_bound_beyond_the_support_cuts_nothing_off():
    dist = d.Truncated(d.HalfNormal(1), lower=0.0, upper=3.0)
    assert list(dist.args) == ["dist.scale", "upper"]
    assert dist.support().bounds == (0.0, 3.0)
    assert np.all(np.isfinite(slopes(dist, 0.5, 1.2, 3.0)))
    assert list(d.Truncated(d.Uniform(0, 5), lower=2.0, upper=9.0).args)[2:] == ["lower"]
    assert list(d.Truncated(d.Uniform(0, 5), lower=-1.0, upper=9.0).args)[2:] == ["upper"]


def test_truncated_counts_include_both_bounds():
    dist = d.Truncated(d.Poisson(1), lower=2, upper=4)
    masses = [np.exp(logp(dist, k, 3.0, 2.0, 4.0)) for k in range(7)]
    expected = stats.poisson.pmf([2, 3, 4], 3.0)
    np.testing.assert_allclose(masses, [0, 0, *(expected / expected.sum()), 0, 0], atol=1e-15)


@pytest.mark.parametrize(
    ("inner", "law", "bounds", "places"),
    [
        (d.Normal(0.3, 1.2), stats.norm(0.3, 1.2), (-1.0, 2.0), (-2.0, -1.0, 0.0, 1.9, 2.0, 3.0)),
        (d.Normal(0.3, 1.2), stats.norm(0.3, 1.2), (-1.0, None), (-2.0, -1.0, 0.0, 9.0)),
        (d.Normal(0.3, 1.2), stats.norm(0.3, 1.2), (None, 2.0), (-9.0, 1.0, 2.0, 3.0)),
        (d.Poisson(2.2), stats.poisson(2.2), (1, 5), (0.0, 0.5, 1.0, 3.0, 4.5, 5.0, 7.0)),
        (d.Poisson(2.2), stats.poisson(2.2), (1, None), (0.0, 0.5, 1.0, 3.0, 9.0)),
        (d.Poisson(2.2), stats.poisson(2.2), (None, 4), (-1.0, 0.0, 0.5, 3.0, 4.0, 5.0)),
    ],
)
def test_distribution_function_between_bounds(inner, law, bounds, places):
    dist = d.Truncated(inner, *bounds)
    params = [np.asarray(p, dtype=float) for p in dist.args.values()]
    low, high = -np.inf if bounds[0] is None else bounds[0], bounds[1] or np.inf
    start = law.cdf(low - 1 if dist.discrete else low)
    mass = law.cdf(high) - start
    for x in places:
        expected = np.clip((law.cdf(min(x, high)) - start) / mass, 0.0, 1.0)
        for function, truth in ((dist.log_cdf, expected), (dist.log_ccdf, 1.0 - expected)):
            with np.errstate(all="ignore"):
                found = np.exp(function(np, np.asarray(x), *params))
                slopes = jacobian(
                    lambda p, f=function, at=x: f(anp, np.asarray(at), p, *params[1:])
                )
            assert found == pytest.approx(truth, abs=1e-14)
            assert np.all(np.isfinite(slopes(params[0])))


def test_times_seen_from_an_entry_to_an_end_have_the_hazards_between():
    """A delayed entry and a censored end: the log density is that of hazards, summed by hand."""
    entry, end = np.array([0.0, 0.4, 1.1]), np.array([2.0, 1.5, 1.6])
    time, rate = np.array([0.7, 1.5, 1.2]), 0.8
    dist = d.Censored(d.Truncated(d.Exponential(1), lower=entry), upper=end)
    expected = np.log(rate) * (time < end) - rate * (time - entry)
    np.testing.assert_allclose(logp(dist, time, rate, entry, end), expected, rtol=1e-12)


def test_censored_slope_counts_censored_observations_by_their_probability():
    dist = d.Censored(d.Normal(0, 1), upper=1.0)
    y, h = np.array([0.2, 1.0, 1.0]), 1e-5
    _, (slope,) = evaluated(dist, [1], y, 0.3, 0.8, 1.0)
    up, down = (logp(dist, y, 0.3 + t, 0.8, 1.0).sum() for t in (h, -h))
    assert slope == pytest.approx((up - down) / (2 * h), rel=1e-7)


@pytest.mark.parametrize(
    ("dist", "link", "other"),
    [
        (d.Poisson, ("rate", "exp"), d.PoissonLog),
        (d.Bernoulli, ("p", "expit"), d.BernoulliLogit),
        (d.Binomial, ("p", "expit"), d.BinomialLogit),
        (d.Bernoulli, ("p", "ndtr"), None),
        (d.Binomial, ("p", "ndtr"), None),
        (d.Normal, ("scale", "exp"), None),
    ],
)
def test_link_forms_say_the_same_with_the_parameter_in_its_place(cases, dist, link, other):
    form = dist.link_forms[link]
    assert other in (None, form)
    position = list(dist.parameters).index(link[0])
    inverse = {"exp": np.log, "expit": lambda p: np.log(p / (1 - p)), "ndtr": ndtri}[link[1]]
    case = cases[dist.__name__]
    params = [np.asarray(p) for p in case.params[0]]
    linked = list(params)
    linked[position] = inverse(params[position])
    assert len(form.parameters) == len(dist.parameters)
    assert logp(case.dist, case.values, *params) == pytest.approx(
        logp(cases[form.__name__].dist, case.values, *linked), rel=1e-12
    )


@pytest.mark.parametrize("eta", [-30.0, -8.1, 0.3, 8.1, 30.0])
def test_probits_are_accurate_in_both_tails(eta):
    """As ``ndtr`` alone is not: it is one above 8.3, where a failure would be impossible."""

    class Probit(Model):
        a = param(d.Normal(0, 1))
        y = observed(d.Bernoulli(ndtr(a)), dims="obs")
        k = observed(d.Binomial(5, ndtr(a)), dims="obs")

    density = as_posterior(Probit(y=[0, 1], k=[4, 2]))
    logs, weights = stats.norm.logcdf([eta, -eta]), np.array([7.0, 5.0])
    logp = weights @ logs + np.log(50.0) + stats.norm.logpdf(eta)
    ratios = np.exp(stats.norm.logpdf(eta) - logs) * [1.0, -1.0]
    found = density(np.array([[eta]]))
    np.testing.assert_allclose(found.logp, logp, rtol=1e-12)
    np.testing.assert_allclose(found.grad, [[weights @ ratios - eta]], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("wrapper", [d.Truncated, d.Censored])
def test_infinite_bounds_are_none(wrapper):
    dist = d.Normal(0, 1)
    assert wrapper(dist, -np.inf, np.inf) is dist
    assert wrapper(dist, upper=np.full(3, np.inf)) is dist
    half = wrapper(dist, -np.inf, 1.0)
    assert list(half.args) == ["dist.loc", "dist.scale", "upper"]
    x = np.array([-2.0, 0.5])
    expected = wrapper(dist, upper=1.0).log_density(np, x, 0.0, 1.0, 1.0)
    np.testing.assert_array_equal(half.log_density(np, x, 0.0, 1.0, 1.0), expected)
    assert pickle.loads(pickle.dumps(half)).args == half.args


def test_a_model_with_infinite_bounds_has_the_density_without_them():
    class Bounded(Model):
        x = param(d.Truncated(d.Normal(1.0, 2.0), lower=-np.inf, upper=np.inf))
        y = observed(d.Censored(d.Normal(x, 1.0), upper=np.inf), dims="obs")

    model = Bounded(y=[0.3, 0.8])
    x = np.array([[0.4]])
    truth = stats.norm(1, 2).logpdf(0.4) + stats.norm(0.4, 1).logpdf([0.3, 0.8]).sum()
    np.testing.assert_allclose(as_posterior(model).log_density(x), truth, rtol=1e-13)


@pytest.mark.parametrize(
    ("dist", "family", "lower"),
    [
        (d.Weibull, lambda a, s: stats.weibull_min(a, 0, s), [0.0, 2.0, 7.0]),
        (d.Normal, stats.norm, [-9.0, 2.0, 30.0]),
        (d.NegativeBinomial2, lambda m, n: stats.nbinom(n, n / (m + n)), [0, 2, 40]),
    ],
)
def test_each_draw_is_cut_at_its_own_bound(dist, family, lower):
    first, second = np.array([1.1, 2.0, 0.9]), np.array([[0.8], [1.7]])
    truncated = d.Truncated(dist(first, second), lower=np.array(lower))
    params = (first, second, np.array(lower))
    draws = truncated.sample(np.random.default_rng(1), (4000, 2, 3), *params)
    for i, j in np.ndindex(2, 3):
        law, start = family(first[j], second[i, 0]), lower[j] - dist.discrete
        for share in (0.2, 0.5, 0.8):
            value = law.isf(share * law.sf(start))
            found = np.mean(draws[:, i, j] > value)
            assert found == pytest.approx(law.sf(value) / law.sf(start), abs=0.03)
    assert draws.dtype == (np.int64 if dist.discrete else np.float64)


def test_mixtures_are_cut_element_by_element():
    weight, loc = np.array([[0.2, 0.8], [0.6, 0.4]]), np.array([0.0, 3.0])
    mixture = d.Truncated(d.Mixture(weight, d.Normal(loc, 1.0)), lower=np.array([-1.0, 5.0]))
    params = [np.asarray(p, dtype=float) for p in mixture.args.values()]
    draws = mixture.sample(np.random.default_rng(2), (4000, 2), *params)
    for i, (lower, value) in enumerate([(-1.0, 2.5), (5.0, 5.4)]):
        above = weight[i] @ stats.norm.sf(value, loc) / (weight[i] @ stats.norm.sf(lower, loc))
        assert np.mean(draws[:, i] > value) == pytest.approx(above, abs=0.03)
    assert d.Truncated(d.Normal(0, 1), lower=9.0).sample(
        np.random.default_rng(3), (), np.array(0.0), np.array(1.0), np.array(9.0)
    ) == pytest.approx(9.1, abs=1.0)


def test_what_lies_inside_is_not_drawn_again(monkeypatch):
    sizes = []
    log_ccdf = d.Normal.log_ccdf

    def counted(self, xp, x, *params):
        sizes.append(np.size(x))
        return log_ccdf(self, xp, x, *params)

    monkeypatch.setattr(d.Normal, "log_ccdf", counted)
    lower = np.append(np.full(999, -1.0), 9.0)
    params = np.array(0.0), np.array(1.0), lower
    d.Truncated(d.Normal(0, 1), lower=lower).sample(np.random.default_rng(4), (1000,), *params)
    assert sizes
    assert max(sizes) < 10
