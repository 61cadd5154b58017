"""Mixtures in models: forms that say the same, supports, tails, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from derivatives import evaluated
from scipy import stats
from scipy.special import logsumexp

from probmodel import Model, data, observed, param
from probmodel import distributions as d
from probmodel.constraints import IntegerInterval, Interval, Lower, Ordered, Positive, Real, Simplex
from probmodel.density import as_posterior
from probmodel.errors import ModelError, ShapeError

Y = np.array([-2.3, -1.1, 0.4, 1.7, 2.2, 30.0])
X = np.linspace(-1.0, 1.0, 6)


class Stacked(Model):
    weight = param(d.Dirichlet([2, 3]))
    mean = param(d.Normal(0, 5), shape=2, constraint=Ordered())
    sigma = param(d.HalfNormal(2), shape=2)
    y = observed(d.Mixture(weight, d.Normal(mean, sigma)), dims="obs")


class Listed(Model):
    weight = param(d.Dirichlet([2, 3]))
    mean = param(d.Normal(0, 5), shape=2, constraint=Ordered())
    sigma = param(d.HalfNormal(2), shape=2)
    y = observed(
        d.Mixture(weight, [d.Normal(mean[0], sigma[0]), d.Normal(mean[1], sigma[1])]), dims="obs"
    )


def gradient_by_differences(density, x, h=1e-5):
    steps = h * np.eye(density.dim)
    columns = [(density.log_density(x + e) - density.log_density(x - e)) / (2 * h) for e in steps]
    return np.stack(columns, axis=1)


def test_one_distribution_with_an_axis_says_the_same_as_a_list():
    stacked, listed = as_posterior(Stacked(y=Y)), as_posterior(Listed(y=Y))
    x = np.random.default_rng(0).standard_normal((4, stacked.dim))
    one, other = stacked(x), listed(x)
    np.testing.assert_allclose(one.logp, other.logp, rtol=1e-13)
    np.testing.assert_allclose(one.grad, other.grad, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(one.grad, gradient_by_differences(stacked, x), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(stacked.hessian(x), listed.hessian(x), rtol=1e-9, atol=1e-10)


def test_likelihood_is_that_of_scipy():
    density = as_posterior(Stacked(y=Y))
    x = np.random.default_rng(1).standard_normal((3, density.dim))
    values = density.constrain(x)
    for i in range(3):
        w, m, s = (values[name][i] for name in ("weight", "mean", "sigma"))
        terms = np.log(w) + stats.norm(m, s).logpdf(Y[:, None])
        expected = logsumexp(terms, axis=1).sum()
        dist = d.Mixture(w, d.Normal(m, s))
        assert dist.log_density(np, Y, m, s, w).sum() == pytest.approx(expected, rel=1e-12)


def test_weights_and_parameters_may_differ_from_element_to_element():
    class Gated(Model):
        x = data("obs")
        a = param(d.Normal(0, 1))
        slope = param(d.Normal(0, 1), shape=2)
        share = 1.0 / (1.0 + np.exp(-a * x))
        weight = np.stack([share, 1.0 - share], axis=1)
        y = observed(d.Mixture(weight, d.Normal(x[:, None] * slope, 1.0)), dims="obs")

    density = as_posterior(Gated(x=X, y=Y[:6]))
    x = np.random.default_rng(2).standard_normal((3, density.dim))
    evaluation = density(x)
    for i, (a, *slope) in enumerate(x):
        share = 1.0 / (1.0 + np.exp(-a * X))
        terms = np.log([share, 1 - share]) + stats.norm(np.outer(slope, X), 1.0).logpdf(Y[:6])
        prior = stats.norm.logpdf(x[i]).sum()
        assert evaluation.logp[i] == pytest.approx(logsumexp(terms, axis=0).sum() + prior)
    np.testing.assert_allclose(
        evaluation.grad, gradient_by_differences(density, x), rtol=1e-5, atol=1e-6
    )


def test_parameters_without_a_component_axis_are_those_of_all():
    class Shared(Model):
        mean = param(d.Normal(0, 5), shape=2)
        sigma = param(d.HalfNormal(2))
        y = observed(d.Mixture([0.4, 0.6], d.StudentT(4.0, mean, sigma)), dims="obs")

    density = as_posterior(Shared(y=Y))
    x = np.random.default_rng(3).standard_normal((2, 3))
    sigma = density.constrain(x)["sigma"]
    for i in range(2):
        families = stats.t(4.0, x[i, :2], sigma[i])
        expected = logsumexp(np.log([0.4, 0.6]) + families.logpdf(Y[:, None]), axis=1).sum()
        expected += stats.norm(0, 5).logpdf(x[i, :2]).sum()
        expected += stats.halfnorm(0, 2).logpdf(sigma[i]) + np.log(sigma[i])
        assert density.log_density(x)[i] == pytest.approx(expected)


def test_far_values_and_tiny_weights_do_not_underflow():
    dist = d.Mixture([0.5, 0.5], d.Normal([0.0, 1.0], [1.0, 1.0]))
    loc, scale, weights = np.array([[0.0, 1.0], [1.0, 1.0], [1.0 - 1e-300, 1e-300]])
    y = np.array([-1e4, 0.3, 1e4])
    logp, slopes = evaluated(dist, [1, 3], y, loc, scale, weights)
    terms = np.log(weights) + stats.norm(loc, 1.0).logpdf(y[:, None])
    assert logp == pytest.approx(logsumexp(terms, axis=1).sum(), rel=1e-13)
    assert np.isfinite(slopes[0]).all()
    # A weight of zero still has a slope: the ratio of the densities.
    _, (slope,) = evaluated(dist, [3], 0.3, loc, scale, [1.0, 0.0])
    ratio = stats.norm.pdf(0.3, 1.0) / stats.norm.pdf(0.3)
    np.testing.assert_allclose(slope, [1.0, ratio], rtol=1e-12)


def test_a_value_that_one_component_does_not_allow_comes_from_the_others():
    dist = d.Mixture([0.5, 0.5], [d.Normal(0, 1), d.LogNormal(0, 1)])
    logp, slopes = evaluated(dist, range(5), -0.7, 0.2, 1.1, 0.4, 0.9, [0.3, 0.7])
    assert logp == pytest.approx(np.log(0.3) + stats.norm(0.2, 1.1).logpdf(-0.7))
    assert slopes[1] == pytest.approx((-0.7 - 0.2) / 1.1**2)
    np.testing.assert_array_equal(slopes[3:5], 0.0)

    class Both(Model):
        m = param(d.Normal(0, 1))
        y = observed(d.Mixture([0.5, 0.5], [d.Normal(m, 1), d.LogNormal(m, 1)]), dims="obs")

    density = as_posterior(Both(y=Y))
    x = np.array([[0.3], [-1.2]])
    np.testing.assert_allclose(density(x).grad, gradient_by_differences(density, x), rtol=1e-6)
    curvature = (density(x + 1e-5).grad - density(x - 1e-5).grad) / 2e-5
    np.testing.assert_allclose(density.hessian(x)[:, 0], curvature, rtol=1e-6)


def test_whole_number_parameters_of_components():
    n = np.array([4.0, 9.0])
    dist = d.Mixture([0.5, 0.5], d.Binomial(n, [0.3, 0.6]))
    p, w = np.array([0.3, 0.6]), np.array([0.2, 0.8])
    for y in range(11):
        with np.errstate(all="ignore"):
            actual = dist.log_density(np, np.array(y), n, p, w)
        assert np.exp(actual) == pytest.approx(w @ stats.binom(n, p).pmf(y), abs=1e-15)


@pytest.mark.parametrize("listed", [False, True])
def test_components_may_have_parameters_that_come_from_data(listed):
    t = np.array([0.0, 0.4, 1.5])
    w, lengths, curve = np.array([0.3, 0.7]), np.array([0.5, 2.0]), np.array([0.2, 0.1, -0.7])

    def process(length):
        return d.GaussianProcess(d.kernels.ExpQuad(1.0, length), t)

    def components(length):
        return [process(length[0]), process(length[1])] if listed else process(length)

    class Curves(Model):
        length = param(d.HalfNormal(1), shape=2)
        y = observed(d.Mixture(w, components(length)), dims="time")

    density = as_posterior(Curves(y=curve))
    x = np.log(lengths)[None]
    terms = []
    for k in range(2):
        one = process(lengths[k])
        terms.append(np.log(w[k]) + one.log_density(np, curve, *one.args.values()))
    mixture = d.Mixture(w, components(lengths))
    params = [np.asarray(p) for p in mixture.args.values()]
    actual = mixture.log_density(np, curve, *params)
    assert actual == pytest.approx(logsumexp(terms), rel=1e-12)
    prior = stats.halfnorm(0, 1).logpdf(lengths).sum() + x.sum()
    assert density.log_density(x)[0] == pytest.approx(logsumexp(terms) + prior)
    np.testing.assert_allclose(density(x).grad, gradient_by_differences(density, x), rtol=1e-5)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_distribution_functions_are_mixed(sign):
    dist = d.Mixture([0.5, 0.5], d.Normal([0.0, 1.0], 1.0))
    loc, scale, w = np.array([0.3, 2.0]), np.array([1.0, 0.4]), np.array([0.9, 0.1])
    for x in sign * np.array([0.5, 3.0, 20.0]):
        family = stats.norm(loc, scale)
        below = logsumexp(np.log(w) + family.logcdf(x))
        above = logsumexp(np.log(w) + family.logsf(x))
        value = np.array(x)
        assert dist.log_cdf(np, value, loc, scale, w) == pytest.approx(below, rel=1e-10)
        assert dist.log_ccdf(np, value, loc, scale, w) == pytest.approx(above, rel=1e-10)
    cut = d.Truncated(dist, lower=0.0)
    mass = np.log(w @ stats.norm(loc, scale).sf(0.0))
    expected = np.log(w @ stats.norm(loc, scale).pdf(0.7)) - mass
    actual = cut.log_kernel(np, np.array(0.7), loc, scale, w, np.array(0.0))
    assert actual == pytest.approx(expected)
    assert not d.Mixture([0.5, 0.5], [d.Normal(0, 1), d.Flat()]).has_cdf


@pytest.mark.parametrize(
    ("components", "kind", "bounds"),
    [
        ([d.Normal(0, 1), d.Cauchy(0, 1)], Real, ()),
        ([d.Gamma(1, 1), d.Weibull(1, 1)], Positive, ()),
        ([d.Gamma(1, 1), d.Normal(0, 1)], Real, ()),
        ([d.Uniform(-1, 2), d.Uniform(0, 5)], Interval, (-1, 5)),
        ([d.Pareto(2, 1), d.Pareto(3, 1)], Lower, (2,)),
        (d.Uniform([0.0, 1.0], [2.0, 3.0]), Real, ()),
        ([d.Poisson(1), d.Binomial(3, 0.5)], IntegerInterval, (0,)),
        ([d.Bernoulli(0.5), d.Binomial(3, 0.5)], IntegerInterval, (0, 3)),
        (d.Dirichlet(np.ones((2, 3))), Simplex, ()),
    ],
)
def test_support_holds_the_values_of_all_components(components, kind, bounds):
    support = d.Mixture([0.5, 0.5], components).support()
    assert isinstance(support, kind)
    assert tuple(support.bounds) == bounds


def test_a_mixture_can_be_a_prior():
    class Heavy(Model):
        x = param(d.Mixture([0.7, 0.3], [d.Normal(0, 1), d.Normal(5, 2)]))

    density, x = as_posterior(Heavy()), np.array([[-1.0], [2.0], [7.0]])
    terms = np.log([0.7, 0.3]) + stats.norm([0, 5], [1, 2]).logpdf(x)
    evaluation = density(x)
    np.testing.assert_allclose(evaluation.logp, logsumexp(terms, axis=1), rtol=1e-12)
    np.testing.assert_allclose(
        evaluation.grad, gradient_by_differences(density, x), rtol=1e-6, atol=1e-8
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: d.Mixture([0.5, 0.5], [d.Normal(0, 1), 3.0]), r"components\[1\] is float"),
        (lambda: d.Mixture([0.5, 0.5], [d.Normal, d.Normal]), r"components\[0\] is Normal"),
        (lambda: d.Mixture([0.5, 0.5], 3.0), "list of distributions.* float was given"),
        (lambda: d.Mixture([0.5, 0.5], []), "list of distributions"),
        (
            lambda: d.Mixture([0.5, 0.5], [d.Normal(0, 1), d.Poisson(1)]),
            r"Normal, has continuous values, numbers, components\[1\], Poisson, has discrete",
        ),
        (
            lambda: d.Mixture([0.5, 0.5], [d.Normal(0, 1), d.Censored(d.Normal(0, 1), upper=1.0)]),
            "of the components Normal and Censored only one has values with a probability",
        ),
        (
            lambda: d.Mixture([0.5, 0.5], [d.Normal(0, 1), d.AR1(0.5, 1)]),
            r"AR1, has continuous values, vectors",
        ),
        (
            lambda: d.Mixture(
                [0.5, 0.5], [d.Dirichlet([1, 1]), d.MvNormal([0, 0], covariance=np.eye(2))]
            ).support(),
            "same kind of values; got Dirichlet: simplex, MvNormal: real",
        ),
    ],
)
def test_what_cannot_be_mixed_is_refused(call, message):
    with pytest.raises(ModelError, match=message) as caught:
        call()
    assert caught.value.location.file == __file__


def bound(**shapes):
    class Bad(Model):
        mean = param(d.Normal(0, 1), shape=shapes.get("mean", 2))
        sigma = param(d.HalfNormal(1), shape=shapes.get("sigma", 2))
        y = observed(d.Mixture(shapes.get("weight", [0.5, 0.5]), d.Normal(mean, sigma)), dims="obs")

    return Bad(y=Y)


@pytest.mark.parametrize(
    ("shapes", "error", "message"),
    [
        ({"weight": [0.5, 0.6]}, ModelError, "Mixture's weights must be simplex"),
        ({"weight": [1.5, -0.5]}, ModelError, "Mixture's weights must be simplex"),
        ({"weight": 0.5}, ShapeError, "Mixture's weights must be a vector"),
        (
            {"weight": [0.2, 0.3, 0.5]},
            ShapeError,
            r"components.loc of shape \(2,\).*weights of shape \(3,\).* 3 weights for 2 components",
        ),
        (
            {"mean": 3},
            ShapeError,
            r"components.loc of shape \(3,\), components.scale of shape \(2,\)",
        ),
    ],
)
def test_wrong_weights_and_shapes_are_named(shapes, error, message):
    with pytest.raises(error, match=message):
        bound(**shapes)


def test_constant_parameters_of_a_list_are_named():
    class Bad(Model):
        m = param(d.Normal(0, 1))
        y = observed(d.Mixture([0.5, 0.5], [d.Normal(m, 1), d.Normal(m, -2)]), dims="obs")

    with pytest.raises(ModelError, match=r"Mixture's components\[1\].scale must be positive"):
        Bad(y=Y)


def test_printing_shows_weights_and_components():
    class Outliers(Model):
        m_1 = param(d.Normal(0, 1))
        y = observed(
            d.Mixture([0.9, 0.1], [d.Normal(m_1, 1), d.Truncated(d.Normal(0, 20), lower=m_1)]),
            dims="obs",
        )

    model = Outliers(y=Y)
    expected = "Mixture([0.9, 0.1], [Normal(m_1, 1), Truncated(Normal(0, 20), lower=m_1)])"
    assert expected in str(model)
    latex = model._repr_latex_()
    assert r"\operatorname{Mixture}\left([0.9, 0.1], \left[\operatorname{Normal}" in latex
    assert "Mixture(weight, Normal(mean, sigma))" in str(Stacked(y=Y))
