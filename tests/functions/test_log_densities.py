"""Log densities and distribution functions in formulas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.special import betainc, gammainc, gammaincc

from probmodel import Model, data, deterministic, infer, observed, param, potential, predict
from probmodel import distributions as d
from probmodel.density import as_posterior
from probmodel.errors import ModelError, ShapeError
from probmodel.functions import log_between, log_ccdf, log_cdf, log_density

Y = np.array([-1.2, 0.3, 2.5, 0.9])
K = np.array([0, 2, 1, 5])


class Written(Model):
    """A mixture by hand, beside other formulas."""

    y = data("obs")
    k = data("obs", dtype=int)
    a = param(d.Normal(0, 1), dims="obs")
    s = param(d.HalfNormal(1))
    p = param(d.Beta(2, 2))
    rate = np.exp(a)
    gap = potential(log_density(d.Normal(0, s), a[1:] - a[:-1]))
    mixture = potential(
        np.logaddexp(
            np.log(p) + log_density(d.Normal(a, s), y),
            np.log1p(-p) + log_density(d.Gamma(2, s), y - 0.1 * a),
        )
    )
    counts = potential(0.5 * log_density(d.Poisson(rate), k))
    cut = potential(log_cdf(d.Normal(a, s), y) - log_ccdf(d.Exponential(rate), np.exp(y)))
    each = deterministic(log_density(d.StudentT(3, 0, s), y), dims="obs")


@pytest.mark.parametrize(
    ("function", "of"),
    [
        (gammainc, lambda a, b, x: np.exp(log_cdf(d.Gamma(a, 1), x))),
        (gammaincc, lambda a, b, x: np.exp(log_ccdf(d.Gamma(a, 1), x))),
        (betainc, lambda a, b, x: np.exp(log_cdf(d.Beta(a, b), x))),
    ],
)
def test_incomplete_integrals_are_what_the_advice_on_them_says(function, of):
    """SciPy's functions have no derivative in a."""
    arguments = (1.7, 0.6, 0.3) if function is betainc else (1.7, 0.3)

    class Incomplete(Model):
        a = param(d.Uniform(0, 9))
        b = param(d.Uniform(0, 9))
        x = param(d.Uniform(0, 1))
        p = deterministic(of(a, b, x))

    posterior = as_posterior(Incomplete())
    x = posterior.unconstrained(
        {k: np.array([v]) for k, v in zip("abx", (1.7, 0.6, 0.3), strict=True)}
    )
    assert posterior.constrain(x)["p"] == pytest.approx(function(*arguments))
    with pytest.raises(
        ModelError, match=f"{function.__name__} is not supported.*write np.exp.log_c"
    ):
        function(*([Incomplete.x] * len(arguments)))


def test_derivatives_and_values(assert_derivatives):
    model = Written(y=Y, k=K)
    density = as_posterior(model)
    x = 0.4 * np.random.default_rng(1).standard_normal((4, density.dim))
    assert_derivatives(model, x)
    assert density.calls_back == ()
    values, terms = density.constrain(x), density.terms(x)
    for i in range(4):
        a, s, p = (values[name][i] for name in ("a", "s", "p"))
        gamma = stats.gamma(2, 0, 1 / s).logpdf(Y - 0.1 * a)
        mixed = np.logaddexp(np.log(p) + stats.norm(a, s).logpdf(Y), np.log1p(-p) + gamma)
        cut = stats.norm(a, s).logcdf(Y) + np.exp(a) * np.exp(Y)
        expected = {
            "gap": stats.norm(0, s).logpdf(np.diff(a)).sum(),
            "mixture": mixed.sum(),
            "counts": 0.5 * stats.poisson(np.exp(a)).logpmf(K).sum(),
            "cut": cut.sum(),
        }
        for name, value in expected.items():
            np.testing.assert_allclose(terms[f"potential of {name}"][i], value, rtol=1e-10)
        np.testing.assert_allclose(values["each"][i], stats.t(3, 0, s).logpdf(Y), rtol=1e-12)


def test_arrays_give_arrays():
    found = log_density(d.Normal([[0.0], [1.0]], 2.0), Y)
    np.testing.assert_allclose(found, stats.norm([[0], [1]], 2).logpdf(Y), rtol=1e-14)
    np.testing.assert_allclose(log_cdf(d.Normal(0, 1), 0.3), stats.norm.logcdf(0.3))
    np.testing.assert_allclose(log_ccdf(d.Poisson(2.0), K), stats.poisson(2).logsf(K))
    many = log_density(d.MvNormal(0.0, np.eye(2)), np.zeros((5, 2)))
    np.testing.assert_allclose(many, np.full(5, -np.log(2 * np.pi)))
    chosen = log_density(d.Categorical([0.2, 0.8]), [0, 1, 1])
    np.testing.assert_allclose(chosen, np.log([0.2, 0.8, 0.8]))


OUTSIDE = {
    "Gamma": (d.Gamma(2, 1), -1.0),
    "Beta": (d.Beta(2, 2), 1.5),
    "LogNormal": (d.LogNormal(0, 1), -0.1),
    "Rayleigh": (d.Rayleigh(1), -2.0),
    "Poisson": (d.Poisson(2), 0.5),
    "Truncated": (d.Truncated(d.Normal(0, 1), lower=0), -0.1),
    "Mixture": (d.Mixture([0.5, 0.5], [d.Gamma(2, 1), d.Exponential(1)]), -1.0),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_outside_the_support(name):
    dist, value = OUTSIDE[name]
    assert log_density(dist, value) == -np.inf
    found = log_density(dist, [value, 1.0])
    assert found[0] == -np.inf
    assert np.isfinite(found[1]) or name == "Beta"
    if dist.discrete:
        return

    class Mixed(Model):
        x = param(d.Normal(0, 1))
        term = potential(np.logaddexp(log_density(dist, value + 0 * x), -0.5 * x**2))

    density = as_posterior(Mixed())
    x = np.array([[0.3]])
    np.testing.assert_allclose(density(x).grad, -2 * x)  # of the prior and of what is possible


def test_one_log_density_is_a_term_of_its_own():
    """And so takes the form of its link, whatever the scale."""

    class Alone(Model):
        y = data("obs", dtype=int)
        e = param(d.Normal(0, 1), dims="obs")
        term = potential(np.sum(log_density(d.Poisson(np.exp(e)), y)))

    class Declared(Model):
        e = param(d.Normal(0, 1), dims="obs")
        y = observed(d.Poisson(np.exp(e)), dims="obs")

    one, other = as_posterior(Alone(y=K)), as_posterior(Declared(y=K))
    x = np.random.default_rng(2).standard_normal((3, 4))
    np.testing.assert_array_equal(one(x).logp, other(x).logp)
    np.testing.assert_array_equal(one(x).grad, other(x).grad)
    assert one._programs.gradient.operations == other._programs.gradient.operations
    far = np.full((1, 4), -800.0)
    weighted = type("Weighted", (Model,), {"e": (e := param(d.Normal(0, 1))),
                    "t": potential(3 * log_density(d.Poisson(np.exp(e)), K))})  # fmt: skip
    assert np.isfinite(as_posterior(weighted())(far[:, :1]).logp).all()


def test_pairs_are_not_a_term_but_a_sum_of_them():
    class Pairs(Model):
        m = param(d.Normal(0, 1), dims="group")
        y = data("obs")
        term = potential(log_density(d.Normal(m[:, None], 1.0), y))

    density = as_posterior(Pairs(y=Y, coords={"group": ["a", "b"]}))
    x = np.array([[0.1, -0.4]])
    expected = stats.norm(x.T, 1).logpdf(Y).sum() + stats.norm.logpdf(x).sum()
    np.testing.assert_allclose(density(x).logp, [expected])


def test_predictions_of_new_data():
    class Predicted(Model):
        m = param(d.Normal(0, 1))
        y = observed(d.Poisson(np.exp(m)), dims="obs")
        surprise = deterministic(-log_density(d.Poisson(np.exp(m)), y), dims="obs")

    fit = infer(Predicted(y=K), draws=20, warmup=50, seed=1, quiet=True)
    rate = np.exp(fit.posterior["m"].values)[..., None]
    expected = -stats.poisson(rate).logpmf(K)
    np.testing.assert_allclose(fit.posterior["surprise"], expected, rtol=1e-10)
    new = predict(Predicted(y=K), fit, seed=2).predictions
    expected = -stats.poisson(rate).logpmf(new["y"])
    np.testing.assert_allclose(new["surprise"], expected, rtol=1e-10)


def test_log_between_is_accurate_in_both_tails_and_takes_infinity():
    low = [-np.inf, -np.inf, -0.4, 30.0, -31.0]
    high = [np.inf, 0.2, np.inf, 31.0, -30.0]
    tail = stats.norm.logsf([30.0, 31.0])
    far = tail[0] + np.log1p(-np.exp(tail[1] - tail[0]))
    expected = [0.0, stats.norm.logcdf(0.2), stats.norm.logsf(-0.4), far, far]
    np.testing.assert_allclose(log_between(d.Normal(0, 1), low, high), expected, rtol=1e-12)
    assert log_between(d.Normal(0, 1), 1.0, 1.0) == -np.inf
    assert log_between(d.Normal(0, 1), 2.0, 1.0) == -np.inf
    law = stats.poisson(2.3)
    found = log_between(d.Poisson(2.3), [-1.0, 0.0, 0.5, 3.0, 7.0], [0.5, 3.0, 0.9, np.inf, 6.0])
    expected = [law.pmf(0), law.cdf(3) - law.cdf(0), 0.0, law.sf(3), 0.0]
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-12)


STANDARD = {
    d.Normal: "norm", d.Laplace: "laplace", d.Cauchy: "cauchy", d.Logistic: "logistic",
    d.StudentT: "t",
}  # fmt: skip
COUNTS = {
    "Poisson": (d.Poisson(2.3), stats.poisson(2.3)),
    "PoissonLog": (d.PoissonLog(np.log(2.3)), stats.poisson(2.3)),
    "NegativeBinomial": (d.NegativeBinomial(2.0, 0.7), stats.nbinom(2.0, 0.7 / 1.7)),
    "NegativeBinomial2": (d.NegativeBinomial2(3.0, 2.0), stats.nbinom(2.0, 0.4)),
    "NegativeBinomial2Log": (d.NegativeBinomial2Log(np.log(3.0), 2.0), stats.nbinom(2.0, 0.4)),
}


@pytest.mark.parametrize("name", COUNTS)
def test_few_counts_are_added_up(name, monkeypatch):
    counts, law = COUNTS[name]

    def fail(*args):
        raise AssertionError("a distribution function")

    low, high = (
        np.array([-4.0, -1.0, 2.0, 3.4, 50.0, -5.0]),
        np.array([2.0, 0.0, 9.6, 4.4, 52.0, -2.0]),
    )
    for method in ("log_cdf", "log_ccdf"):
        monkeypatch.setattr(type(counts), method, fail)
    whole = np.floor(low), np.floor(high)
    expected = [np.sum(law.pmf(np.arange(a + 1.0, b + 1.0))) for a, b in zip(*whole, strict=True)]
    found = log_between(counts, low, high)
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-10)
    monkeypatch.undo()
    many = log_between(counts, np.append(low, 0.0), np.append(high, 60.0))
    np.testing.assert_allclose(many[:-1], found, rtol=1e-8)


@pytest.mark.parametrize("kind", [d.Normal, d.Laplace, d.Cauchy, d.Logistic, d.StudentT])
def test_intervals_of_symmetric_families_take_one_side(kind, monkeypatch):
    params = (3.0, 0.5, 1.5)[-len(kind.parameters) :]
    low, high = np.array([-9.0, -1.0, 0.6, 7.0]), np.array([-8.0, 1.8, 0.7, 60.0])
    member, law = kind(*params), getattr(stats, STANDARD[kind])(*params)
    found = log_between(member, low, high)
    right = low + high > 1.0
    expected = np.where(right, law.sf(low) - law.sf(high), law.cdf(high) - law.cdf(low))
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-11)
    monkeypatch.setattr(kind, "log_ccdf", None)  # is not called
    np.testing.assert_array_equal(log_between(member, low, high), found)


def test_intervals_of_few_counts_and_of_symmetric_families_in_a_model(assert_derivatives):
    class Binned(Model):
        last = data("subject")
        first = data("subject")
        rate = param(d.Gamma(2, 1))
        scale = param(d.LogNormal(0, 1))
        counts = potential(log_between(d.Poisson(rate), last, first))
        values = potential(log_between(d.StudentT(4, rate, scale), last, first))

    model = Binned(last=[-1.0, 2.0, 0.0], first=[0.0, 7.0, 3.0])
    density = as_posterior(model)
    assert_derivatives(model, 0.4 * np.random.default_rng(1).standard_normal((4, density.dim)))
    assert density.calls_back == ()


def test_intervals_in_a_model(assert_derivatives):
    class Visits(Model):
        last = data("subject", lower=0)
        first = data("subject", lower=last, upper=np.inf)
        shape = param(d.LogNormal(0, 1))
        scale = param(d.LogNormal(0, 1), dims="subject")
        times = potential(log_between(d.Weibull(shape, scale), last, first))
        none = potential(np.exp(log_between(d.Weibull(shape, scale), first, last)))

    last, first = np.array([0.0, 1.0, 0.5]), np.array([0.7, np.inf, 0.8])
    model = Visits(last=last, first=first)
    density = as_posterior(model)
    x = 0.4 * np.random.default_rng(1).standard_normal((4, density.dim))
    assert_derivatives(model, x)
    assert density.calls_back == ()
    values = density.constrain(x)
    law = stats.weibull_min(values["shape"][:, None], scale=values["scale"])
    expected = np.log(law.cdf(first) - law.cdf(last)).sum(axis=1)
    np.testing.assert_allclose(density.terms(x)["potential of times"], expected, rtol=1e-12)
    np.testing.assert_array_equal(density.terms(x)["potential of none"], 0.0)
    assert "times = log_between(Weibull(shape, scale), last, first)" in str(model)


def test_printing():
    text = str(Written(y=Y, k=K))
    assert "gap = log_density(Normal(0, s), a[1:] - a[:-1])" in text
    assert "each[obs] = log_density(StudentT(3, 0, s), y)" in text
    assert r"\operatorname{Normal}\left(0, s\right)" in Written(y=Y, k=K)._repr_latex_()


def test_what_is_refused():
    with pytest.raises(ModelError, match=r"takes a distribution first, such as .* got float"):
        log_density(1.0, Y)
    with pytest.raises(ModelError, match="log_cdf: MvNormal has no cumulative"):
        log_cdf(d.MvNormal(np.zeros(2), np.eye(2)), np.zeros(2))
    with pytest.raises(ModelError, match="log_between: Wiener has no cumulative"):
        log_between(d.Wiener(1.0, 0.1, 0.5, 0.0), 0.0, 1.0)

    class Discrete(Model):
        x = param(d.Normal(0, 1))
        z = deterministic(np.floor(x))
        term = potential(log_density(d.Poisson(2.0), z))

    with pytest.raises(ModelError, match=r"'term': log_density of Poisson takes whole numbers"):
        Discrete()

    class Impossible(Model):
        x = param(d.Normal(0, 1))
        s = data()
        term = potential(2 * log_density(d.Normal(x, s), 1.0))

    with pytest.raises(ModelError, match=r"'term': Normal's scale must be .*; got -1"):
        Impossible(s=-1)

    class Sizes(Model):
        x = param(d.Normal(0, 1), shape=3)
        term = potential(log_density(d.MvNormal(x, np.eye(3)), np.zeros(2)))

    with pytest.raises(ShapeError, match=r"those of values of shape \(3,\)"):
        Sizes()

    class Unrelated(Model):
        x = param(d.Normal(0, 1), dims="group")
        y = data("obs")
        term = potential(2 * log_density(d.Normal(x, 1), y))

    with pytest.raises(ShapeError, match="the dim 'obs' of data 'y'"):
        Unrelated(y=np.zeros(2), coords={"group": ["a", "b"]})
