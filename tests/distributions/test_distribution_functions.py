"""Distribution functions that are incomplete gamma and beta functions, and what they truncate."""

from __future__ import annotations

from itertools import pairwise

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import elementwise_grad, grad
from scipy import integrate, stats
from scipy.special import expit, i0e

from probmodel import Model, data, observed, param, potential
from probmodel import distributions as d
from probmodel.density import as_posterior
from probmodel.functions import log_between, log_ccdf, log_cdf

POSITIVE = [1e-3, 0.05, 0.6, 1.4, 4.0, 30.0]
UNIT = [1e-6, 0.02, 0.3, 0.55, 0.97, 1.0 - 1e-6]
LINE = [-1e3, -4.0, 0.1, 0.3, 0.31, 2.0, 50.0]
ANGLES = [-3.1, -1.9, -1.8, -0.2, 1.3, 2.9, 3.1]
COUNTS = [-1.0, 0.0, 0.4, 1.0, 3.0, 7.0, 10.0, 11.0, 60.0]

# Distribution, parameters, the same of SciPy, and places.
CUT = {
    "Gamma": ((2.3, 0.7), lambda a, b: stats.gamma(a, 0, 1 / b), POSITIVE),
    "InverseGamma": ((2.3, 0.7), lambda a, b: stats.invgamma(a, 0, b), POSITIVE[1:]),
    "ChiSquare": ((3.4,), stats.chi2, POSITIVE),
    "InvChiSquare": ((3.4,), lambda n: stats.invgamma(n / 2, 0, 0.5), POSITIVE[1:]),
    "ScaledInverseChi2": (
        (3.4, 1.2),
        lambda n, s: stats.invgamma(n / 2, 0, n * s * s / 2),
        POSITIVE[1:],
    ),
    "Beta": ((2.3, 0.7), stats.beta, UNIT),
    "BetaProportion": ((0.3, 7.0), lambda m, k: stats.beta(m * k, k - m * k), UNIT),
    "StudentT": ((3.4, 0.3, 1.2), stats.t, LINE),
    "SkewNormal": ((0.3, 1.2, 1.7), lambda m, s, a: stats.skewnorm(a, m, s), LINE[1:-1]),
    "VonMises": ((1.3, 1.8), lambda m, k: _Circle(stats.vonmises(k, m)), ANGLES),
    "HalfStudentT": ((3.4, 1.2), lambda n, s: _Folded(stats.t(n, 0.0, s)), POSITIVE),
    "Binomial": ((11, 0.3), stats.binom, COUNTS),
    "BinomialLogit": ((11, 0.3), lambda n, s: stats.binom(n, expit(s)), COUNTS),
    "BetaBinomial": ((11, 1.3, 0.7), stats.betabinom, COUNTS),
    "Hypergeometric": ((8, 9, 20), lambda n, a, b: stats.hypergeom(a + b, a, n), COUNTS),
    "NegativeBinomial": ((2.3, 0.7), lambda a, b: stats.nbinom(a, b / (b + 1)), COUNTS),
    "NegativeBinomial2": ((2.3, 0.7), lambda m, n: stats.nbinom(n, n / (m + n)), COUNTS),
    "NegativeBinomial2Log": ((0.3, 0.7), lambda e, n: stats.nbinom(n, n / (np.exp(e) + n)), COUNTS),
    "Poisson": ((2.3,), stats.poisson, COUNTS),
    "PoissonLog": ((0.3,), lambda e: stats.poisson(np.exp(e)), COUNTS),
    "Bernoulli": ((0.3,), stats.bernoulli, [-1.0, 0.0, 0.5, 1.0, 2.0]),
    "BernoulliLogit": ((0.3,), lambda s: stats.bernoulli(expit(s)), [-1.0, 0.0, 0.5, 1.0, 2.0]),
}
ANYTHING = (("SkewNormal", "alpha"), ("VonMises", "mu"))
REAL = ("loc", "logit", "log_rate", "eta")
CONTINUOUS = [name for name in CUT if not d.DISTRIBUTIONS[name].discrete]


class _Folded:
    """The absolute value of a symmetric variable."""

    def __init__(self, law):
        self.law = law

    def logcdf(self, x):
        return np.log(self.law.cdf(x) - self.law.cdf(-x))

    def logsf(self, x):
        return np.log(2.0) + self.law.logsf(x)


class _Circle:
    """An angle from -pi to pi; SciPy's goes on for any number of turns."""

    def __init__(self, law):
        self.law = law

    def logcdf(self, x):
        return np.log(self.law.cdf(x) - self.law.cdf(-np.pi))

    def logsf(self, x):
        return np.log(self.law.cdf(np.pi) - self.law.cdf(x))


def whole(dist):
    """Names of the parameters that are whole numbers."""
    return "nab" if dist.name == "Hypergeometric" else "n"


def functions(name, params):
    dist = d.DISTRIBUTIONS[name](*params)
    return dist, (dist.log_cdf, dist.log_ccdf)


@pytest.mark.parametrize("name", CUT)
def test_distribution_functions_are_those_of_scipy(name):
    params, family, places = CUT[name]
    dist, (log_cdf, log_ccdf) = functions(name, params)
    law, x, params = family(*params), np.array(places), [np.array(p) for p in params]
    whole_part = np.floor(x) if dist.discrete else x
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(log_cdf(np, x, *params), law.logcdf(whole_part), 1e-10, 1e-15)
        np.testing.assert_allclose(log_ccdf(np, x, *params), law.logsf(whole_part), 1e-10, 1e-15)


@pytest.mark.parametrize("name", CUT)
def test_they_can_be_differentiated_in_all_that_varies(name):
    params, _, places = CUT[name]
    dist, both = functions(name, params)
    fixed = {0} if dist.discrete else set()
    fixed |= {i for i, parameter in enumerate(dist.parameters, 1) if parameter in whole(dist)}
    for function in both:
        for x in places:
            args = [np.array(x), *(np.array(float(p)) for p in params)]
            if not np.isfinite(function(np, *args)):
                continue
            for i in set(range(len(args))) - fixed:
                h = 1e-4 * (abs(args[i]) or 1.0)
                if i == 0 and name.startswith("Beta"):
                    h = 1e-3 * min(x, 1.0 - x)
                steps = [
                    (function(np, *(a + k * h * (j == i) for j, a in enumerate(args))))
                    for k in (-2, -1, 1, 2)
                ]
                expected = (steps[0] - 8 * steps[1] + 8 * steps[2] - steps[3]) / (12 * h)
                slope = grad(lambda *a, f=function: f(anp, *a), i)(*args)
                assert slope == pytest.approx(expected, rel=1e-6, abs=1e-9), (x, i)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_slope_in_the_value_is_the_density(name):
    params, _, places = CUT[name]
    dist, (log_cdf, log_ccdf) = functions(name, params)
    x, params = np.array(places), [np.array(p) for p in params]
    density = dist.log_density(np, x, *params)
    for sign, function in ((1.0, log_cdf), (-1.0, log_ccdf)):
        slope = elementwise_grad(lambda y, f=function: f(anp, y, *params))(x)
        expected = np.exp(density - function(np, x, *params))
        np.testing.assert_allclose(sign * slope, expected, rtol=1e-9)


def _arc(low, high, mu, kappa):
    """Log probability of an arc by adaptive quadrature, relative to its largest density."""
    ends = [low, *(t for t in mu + np.pi * np.arange(-3, 4) if low < t < high), high]
    top = max(np.cos(t - mu) for t in ends)
    total = 0.0
    for a, b in pairwise(ends):
        near, far = (a, b) if np.cos(a - mu) > np.cos(b - mu) else (b, a)
        cuts = sorted([near, *(near + (far - near) * 0.5 ** np.arange(30))])
        for c, e in pairwise(cuts):
            part = integrate.quad(
                lambda t: np.exp(kappa * (np.cos(t - mu) - top)), c, e, epsabs=0.0, epsrel=1e-13
            )
            total += part[0]
    return np.log(total) + kappa * (top - 1) - np.log(2 * np.pi * i0e(kappa))


@pytest.mark.parametrize("kappa", [1e-6, 0.3, 5.0, 21.0, 50.0, 400.0])
@pytest.mark.parametrize("mu", [0.0, 2.8, -1.1, np.pi])
def test_arcs_of_angles(mu, kappa):
    dist = d.VonMises(mu, kappa)
    width = kappa**-0.5
    for x in (-3.0, -0.4, 1.7, 3.1, mu + 0.5 * width, mu - 2 * width):
        if not -np.pi < x < np.pi:
            continue
        args = np.array(x), np.array(mu), np.array(kappa)
        assert dist.log_cdf(np, *args) == pytest.approx(_arc(-np.pi, x, mu, kappa), rel=1e-10)
        assert dist.log_ccdf(np, *args) == pytest.approx(_arc(x, np.pi, mu, kappa), rel=1e-10)
        both = np.logaddexp(dist.log_cdf(np, *args), dist.log_ccdf(np, *args))
        assert both == pytest.approx(0.0, abs=1e-12)


def test_concentrated_angles_are_normal():
    z, kappa = np.array([-8.0, -2.0, 0.0, 1.0, 3.0]), np.array(1e10)
    dist, x = d.VonMises(0.3, kappa), 0.3 + z / np.sqrt(kappa)
    params = np.array(0.3), kappa
    np.testing.assert_allclose(dist.log_cdf(np, x, *params), stats.norm.logcdf(z), rtol=1e-6)
    np.testing.assert_allclose(dist.log_ccdf(np, x, *params), stats.norm.logsf(z), 1e-6, 1e-15)


def test_angles_beyond_a_half_turn_have_all_or_nothing():
    dist, params = d.VonMises(0.3, 2.0), [np.array(0.3), np.array(2.0)]
    x = np.array([-4.0, -np.pi, np.pi, 4.0])
    with np.errstate(divide="ignore"):
        below, above = dist.log_cdf(np, x, *params), dist.log_ccdf(np, x, *params)
    np.testing.assert_allclose(np.exp(below), [0, 0, 1, 1], atol=1e-15)
    np.testing.assert_allclose(np.exp(above), [1, 1, 0, 0], atol=1e-15)
    turned = dist.log_cdf(np, x[1:], np.array(0.3 - 6 * np.pi), np.array(2.0))
    np.testing.assert_allclose(np.exp(turned), np.exp(below[1:]), atol=1e-14)


BETA_BINOMIAL = stats.betabinom(500, 0.1, 1e3)
# Logarithms of probabilities far below what a float64 holds.
FAR = [
    ("Gamma", "log_ccdf", 900.0, (2.0, 1.0), np.log(901.0) - 900.0),
    ("Gamma", "log_cdf", 1e-200, (3.0, 1.0), 3 * np.log(1e-200) - np.log(6.0)),
    ("InverseGamma", "log_cdf", 1e-3, (2.0, 1.0), np.log(1001.0) - 1000.0),
    ("Beta", "log_cdf", 1e-200, (3.0, 1.0), 3 * np.log(1e-200)),
    ("Beta", "log_ccdf", 1.0 - 2.0**-50, (1.0, 20.0), -1000.0 * np.log(2.0)),
    ("StudentT", "log_cdf", -1e150, (3.0, 0.0, 1.0), np.log(2 * 3**0.5 / np.pi) - 450 * np.log(10)),
    ("SkewNormal", "log_ccdf", 30.0, (0.0, 1.0, 2.0), np.log(2.0) + stats.norm.logsf(30.0)),
    ("SkewNormal", "log_cdf", -30.0, (0.0, 1.0, 0.0), stats.norm.logcdf(-30.0)),
    ("BetaBinomial", "log_ccdf", 499.0, (500, 0.1, 1e3), BETA_BINOMIAL.logpmf(500)),
    ("Binomial", "log_ccdf", 999.0, (1000, 0.1), 1000 * np.log(0.1)),
    ("BinomialLogit", "log_cdf", 0.0, (1000, 3.0), -1000 * np.log1p(np.exp(3.0))),
    ("NegativeBinomial2Log", "log_cdf", 0.0, (400.0, 2.0), 2.0 * (np.log(2.0) - 400.0)),
    ("Poisson", "log_cdf", 1.0, (1000.0,), np.log(1001.0) - 1000.0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "function", "x", "params", "expected"), FAR)
def test_probabilities_that_underflow_have_a_logarithm(name, function, x, params, expected):
    dist = d.DISTRIBUTIONS[name](*params)
    actual = getattr(dist, function)(np, np.array(x), *map(np.array, params))
    assert actual == pytest.approx(expected, rel=1e-12)


# Where a parameter lies on its boundary: distribution, function, value, parameters, the limit, and
# the slopes from one side that are finite.
LIMITS = [
    ("Binomial", "log_cdf", 0.0, (3, 0.0), 0.0, {1: -3.0}),
    ("Binomial", "log_cdf", 1.0, (3, 0.0), 0.0, {1: 0.0}),
    ("Binomial", "log_cdf", 2.0, (3, 1.0), -np.inf, {}),
    ("Binomial", "log_cdf", 3.0, (3, 1.0), 0.0, {1: 0.0}),
    ("Binomial", "log_ccdf", 2.0, (3, 1.0), 0.0, {1: 3.0}),
    ("Binomial", "log_ccdf", 1.0, (3, 1.0), 0.0, {1: 0.0}),
    ("Binomial", "log_ccdf", 0.0, (3, 0.0), -np.inf, {}),
    ("Binomial", "log_cdf", 0.0, (0, 0.0), 0.0, {1: 0.0}),
    ("BinomialLogit", "log_cdf", 0.0, (3, -np.inf), 0.0, {1: 0.0}),
    ("NegativeBinomial", "log_cdf", 0.0, (0.0, 2.0), 0.0, {0: -np.log(1.5), 1: 0.0}),
    ("NegativeBinomial", "log_ccdf", 0.0, (0.0, 2.0), -np.inf, {}),
    ("NegativeBinomial2", "log_cdf", 0.0, (0.0, 2.0), 0.0, {0: -1.0, 1: 0.0}),
    ("NegativeBinomial2", "log_cdf", 1.0, (0.0, 2.0), 0.0, {0: 0.0, 1: 0.0}),
    ("NegativeBinomial2", "log_ccdf", 0.0, (0.0, 2.0), -np.inf, {}),
    ("NegativeBinomial2Log", "log_cdf", 0.0, (-np.inf, 2.0), 0.0, {0: 0.0, 1: 0.0}),
    ("Poisson", "log_cdf", 0.0, (0.0,), 0.0, {0: -1.0}),
    ("Poisson", "log_cdf", 1.0, (0.0,), 0.0, {0: 0.0}),
    ("Bernoulli", "log_cdf", 0.0, (0.0,), 0.0, {0: -1.0}),
    ("StudentT", "log_cdf", 0.0, (3.0, 0.0, 1.0), -np.log(2.0), {0: 0.0}),
    ("StudentT", "log_ccdf", 0.0, (3.0, 0.0, 1.0), -np.log(2.0), {0: 0.0, 2: 0.0}),
    ("HalfStudentT", "log_ccdf", 0.0, (3.0, 1.0), 0.0, {0: 0.0, 1: 0.0}),
]


# Families that begin at zero: parameters, and the distribution of SciPy.
FROM_ZERO = {
    "Exponential": ((0.7,), lambda r: stats.expon(0, 1 / r)),
    "Gamma": ((2.3, 0.7), lambda a, b: stats.gamma(a, 0, 1 / b)),
    "HalfCauchy": ((0.7,), lambda s: stats.halfcauchy(0, s)),
    "HalfNormal": ((0.7,), lambda s: stats.halfnorm(0, s)),
    "LogLogistic": ((1.3, 0.7), lambda a, b: stats.fisk(b, 0, a)),
    "LogNormal": ((0.3, 0.7), lambda m, s: stats.lognorm(s, 0, np.exp(m))),
    "ParetoType2": ((0.0, 0.7, 2.3), lambda m, s, a: stats.lomax(a, m, s)),
    "Rayleigh": ((0.7,), lambda s: stats.rayleigh(0, s)),
    "Uniform": ((0.0, 2.5), lambda a, b: stats.uniform(a, b - a)),
    "Weibull": ((1.3, 0.7), lambda a, s: stats.weibull_min(a, 0, s)),
}


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
@pytest.mark.parametrize("name", FROM_ZERO)
def test_where_the_support_begins_nothing_has_a_slope(name, engine):
    family, (params, law) = d.DISTRIBUTIONS[name], FROM_ZERO[name]
    moved = [i for i, p in enumerate(params) if p != 0.0]

    def stretched(u):
        return [p * np.exp(u[moved.index(i)]) if p else p for i, p in enumerate(params)]

    class Study(Model):
        last = data("subject")
        first = data("subject", upper=np.inf)
        entry = data("subject")
        u = param(d.Normal(0, 1), shape=len(moved))
        lifetime = family(*stretched(u))
        seen = potential(log_between(lifetime, last, first))
        unseen = potential(log_ccdf(lifetime, entry))
        never = potential(np.exp(log_cdf(lifetime, np.minimum(entry, 0.0))))
        alive = observed(d.Truncated(lifetime, lower=entry), dims="subject")

    places = {"last": [0.0, 0.0, -1.0, 0.4], "first": [0.8, np.inf, 0.6, 1.1]}
    last, first = np.maximum(places["last"], 0.0), np.array(places["first"])
    entry, alive = np.array([0.0, -1.0, 0.0, 0.3]), np.array([0.8, 0.2, 1.0, 0.9])
    density = as_posterior(Study(**places, entry=entry, alive=alive))
    density.use_engine(engine)

    def by_hand(u):
        of = law(*stretched(u))
        seen = np.log(of.cdf(first) - of.cdf(last)).sum()
        return seen + of.logpdf(alive).sum() + stats.norm.logpdf(u).sum()

    x = 0.1 * np.random.default_rng(2).standard_normal((3, len(moved)))
    found = density(x)
    np.testing.assert_allclose(found.logp, [by_hand(u) for u in x], rtol=1e-10)
    steps = 1e-5 * np.eye(len(moved))
    numeric = [[(by_hand(u + h) - by_hand(u - h)) / 2e-5 for h in steps] for u in x]
    np.testing.assert_allclose(found.grad, numeric, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("name", "function", "x", "params", "expected", "slopes"), LIMITS)
def test_limits_and_their_slopes(name, function, x, params, expected, slopes):
    dist = d.DISTRIBUTIONS[name](*params)
    params = [np.array(float(p)) for p in params]
    with np.errstate(all="ignore"):
        actual = getattr(dist, function)(np, np.array(x), *params)
        assert actual == pytest.approx(expected, abs=1e-14)
        for i, truth in slopes.items():
            found = grad(lambda *p: getattr(dist, function)(anp, np.array(x), *p), i)(*params)
            assert found == pytest.approx(truth, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("name", CUT)
def test_invalid_parameters_have_no_distribution_function(name):
    params, _, _ = CUT[name]
    dist, both = functions(name, params)
    for i, parameter in enumerate(dist.parameters):
        if parameter not in (*REAL, *whole(dist)) and (name, parameter) not in ANYTHING:
            bad = [np.array(-0.4 if i == j else p) for j, p in enumerate(params)]
            for function in both:
                with np.errstate(all="ignore"):
                    assert np.isnan(function(np, np.array(0.5), *bad)), parameter


@pytest.mark.parametrize("name", CONTINUOUS)
def test_truncated_densities_integrate_to_one(name):
    params, _, _ = CUT[name]
    lower, upper = (0.2, 0.8) if name.startswith("Beta") else (0.4, 2.5)
    cut = d.Truncated(d.DISTRIBUTIONS[name](*params), lower=lower, upper=upper)
    args = [np.array(p) for p in (*params, lower, upper)]

    def density(y):
        return np.exp(cut.log_density(np, np.array(y), *args))

    assert integrate.quad(density, lower, upper, epsabs=1e-11)[0] == pytest.approx(1.0, abs=1e-10)


def test_one_sided_student_densities_integrate_to_one():
    for lower in (-1.0, 0.3, 5.0):
        cut = d.Truncated(d.StudentT(2.5, 0.3, 1.2), lower=lower)
        args = [np.array(p) for p in (2.5, 0.3, 1.2, lower)]

        def density(y, cut=cut, args=args):
            return np.exp(cut.log_density(np, np.array(y), *args))

        total = integrate.quad(density, lower, np.inf, epsabs=1e-11)[0]
        assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in CUT if name not in CONTINUOUS])
def test_truncated_probabilities_add_up_to_one(name):
    params, _, _ = CUT[name]
    bounds = {"lower": 1.0} if name.startswith("Bernoulli") else {"lower": 1.0, "upper": 6.0}
    cut = d.Truncated(d.DISTRIBUTIONS[name](*params), **bounds)
    counts = np.arange(1.0, bounds.get("upper", 1.0) + 1.0)
    args = [np.array(p) for p in (*params, *bounds.values())]
    total = np.sum(np.exp(cut.log_density(np, counts, *args)))
    assert total == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("name", ["Gamma", "Beta", "StudentT"])
def test_draws_lie_between_the_bounds_as_they_should(name):
    params, family, _ = CUT[name]
    lower, upper = 0.2, 0.9
    cut = d.Truncated(d.DISTRIBUTIONS[name](*params), lower=lower, upper=upper)
    args = [np.array(p) for p in (*params, lower, upper)]
    draws = cut.sample(np.random.default_rng(1), (1000,), *args)
    law = family(*params)
    place = (law.cdf(draws) - law.cdf(lower)) / (law.cdf(upper) - law.cdf(lower))
    assert stats.kstest(place, "uniform").pvalue > 1e-4
    assert stats.kstest(place**1.3, "uniform").pvalue < 1e-4  # negative control


class Amounts(Model):
    a = param(d.Gamma(2, 1))
    b = param(d.Gamma(2, 1))
    y = observed(d.Truncated(d.Gamma(a, b), lower=0.3), dims="obs")
    z = observed(d.Censored(d.StudentT(1 + a, b, 1.0), lower=-0.5, upper=1.2), dims="obs")


class Shares(Model):
    a = param(d.Gamma(2, 1))
    b = param(d.Gamma(2, 1))
    y = observed(d.Truncated(d.Beta(a, b), lower=0.2, upper=0.9), dims="obs")


class Events(Model):
    a = param(d.Gamma(2, 1))
    p = param(d.Beta(1, 1))
    y = observed(d.Truncated(d.NegativeBinomial2(3.0 * p, a), lower=1), dims="obs")
    z = observed(d.Truncated(d.Binomial(9, p), lower=1), dims="obs")


class Skewed(Model):
    a = param(d.Gamma(2, 1))
    b = param(d.Normal(0, 1))
    y = observed(d.Truncated(d.SkewNormal(0.2, a, b), lower=0.1, upper=3.0), dims="obs")


class Overdispersed(Model):
    a = param(d.Gamma(2, 1))
    b = param(d.Gamma(2, 1))
    y = observed(d.Truncated(d.BetaBinomial([5, 7, 9], a, b), lower=1), dims="obs")


MODELS = {
    "Skewed": (Skewed, {"y": [0.3, 0.5, 2.0]}),
    "Amounts": (Amounts, {"y": [0.4, 1.0, 2.2], "z": [-0.5, 0.1, 1.2]}),
    "Shares": (Shares, {"y": [0.25, 0.5, 0.81]}),
    "Events": (Events, {"y": [1, 4, 2], "z": [1, 5, 3]}),
    "Overdispersed": (Overdispersed, {"y": [1, 4, 3]}),
}


# The last one, a sum over beta-binomial probabilities, is too long for machine code.
@pytest.mark.parametrize(
    ("name", "engine"), [(name, e) for name in MODELS for e in ("numpy", "llvm")][:-1]
)
def test_models_with_them_have_gradients_in_every_engine(name, engine):
    model, values = MODELS[name]
    density = as_posterior(model(**values))
    density.use_engine(engine)
    x = np.random.default_rng(3).uniform(-1.0, 1.0, (5, density.dim))
    grad = density(x).grad
    np.testing.assert_allclose(density(x[2:3]).grad, grad[2:3], rtol=1e-9)
    steps = 1e-5 * np.eye(density.dim)
    numeric = [(density.log_density(x + h) - density.log_density(x - h)) / 2e-5 for h in steps]
    np.testing.assert_allclose(grad, np.stack(numeric, axis=1), rtol=1e-6, atol=1e-6)


def test_machine_code_calls_nothing_back():
    model, values = MODELS["Amounts"]
    density = as_posterior(model(**values))
    density.use_engine("llvm")
    density(np.zeros((1, 2)))
    assert density.engine == "llvm"


def test_second_derivatives_of_a_model():
    for model, values in MODELS.values():
        density = as_posterior(model(**values))
        x = np.array([[0.3, -0.2]])
        steps = 1e-5 * np.eye(2)
        numeric = [(density(x + h).grad - density(x - h).grad)[0] / 2e-5 for h in steps]
        np.testing.assert_allclose(density.hessian(x)[0], numeric, rtol=1e-6, atol=1e-6)
