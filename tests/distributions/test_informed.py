"""Distributions that know how much data tell about each element: `Distribution.informed`."""

from __future__ import annotations

import re

import autograd.numpy as anp
import numpy as np
import pytest
from autograd import jacobian
from autograd.test_util import check_grads
from scipy.stats import skewnorm

from probmodel import Model, observed, param
from probmodel import distributions as d
from probmodel.constraints import Simplex
from probmodel.constraints.sum_to_zero import zero_sum_basis
from probmodel.density.posterior import ModelDensity
from probmodel.distributions.process.ar1 import ar1_path
from probmodel.distributions.vector.matrix_forms import MatrixForm, Precision
from probmodel.errors import ModelError
from probmodel.expressions import as_expression
from probmodel.model.evaluation import Evaluator
from probmodel.model.pseudo_data import PseudoData
from probmodel.numerics.linalg import geometric_filter

CASES = {
    "normal": (d.Normal(1.5, 0.7), ()),
    "ar1": (d.AR1(0.8, 0.6, mean=1.7), (7,)),
    "falling": (d.AR1(-0.5, 2.0), (4,)),
    "independent": (d.AR1(0.0, 0.3), (3,)),
}


def numbers(distribution):
    return [np.asarray(arg, dtype=float) for arg in distribution.args.values()]


def precision(distribution, n):
    """Inverse covariance of n elements, from the map of standard normals."""
    params = numbers(distribution)
    root = jacobian(lambda z: distribution.noncentered(anp, z, *params))(np.zeros(n))
    return np.linalg.inv(root @ root.T)


@pytest.mark.parametrize("name", CASES)
def test_without_information_nothing_changes(name):
    distribution, _ = CASES[name]
    np.testing.assert_allclose(numbers(distribution.informed(0.0)), numbers(distribution))


@pytest.mark.parametrize("name", CASES)
def test_log_determinant_of_the_map(name):
    distribution, event = CASES[name]
    params = numbers(distribution)
    z = np.random.default_rng(0).standard_normal(event)
    slopes = jacobian(lambda z: distribution.noncentered(anp, z, *params))(z)
    expected = np.linalg.slogdet(np.reshape(slopes, (z.size, z.size)))[1]
    found = distribution.noncentered_log_det(np, event, *params)
    assert found == pytest.approx(expected, rel=1e-12)


def test_a_normal_becomes_its_conditional_distribution():
    loc, scale, information = 1.5, 0.7, 3.0
    informed = CASES["normal"][0].informed(information)
    variance = 1.0 / (1.0 / scale**2 + information)
    expected = [variance * loc / scale**2, np.sqrt(variance)]
    np.testing.assert_allclose(numbers(informed), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["ar1", "falling", "independent"])
@pytest.mark.parametrize("information", [0.01, 0.5, 40.0])
def test_an_autoregression_gains_precision_between_its_ends(name, information):
    distribution, (n,) = CASES[name]
    found = precision(distribution.informed(information), n)[1:-1]
    expected = (precision(distribution, n) + information * np.eye(n))[1:-1]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_an_autoregression_keeps_a_mean_that_data_pull_on():
    n, information = 400, 0.5
    prior = d.AR1(0.8, 0.6, mean=1.7)
    Q = precision(prior, n)
    conditional = np.linalg.solve(Q + information * np.eye(n), Q @ np.full(n, 1.7))
    assert prior.informed(information).args["mean"] == pytest.approx(conditional[n // 2])


FORMS = {"covariance": lambda S: S, "cholesky": np.linalg.cholesky, "precision": np.linalg.inv}
COVARIANCES = [np.array([[2.0, r, 0.1], [r, 1.0, -0.5], [0.1, -0.5, 0.7]]) for r in (0.9, -0.6)]
TOLD, SEEN, Z = np.array([0.5, 4.0, 30.0]), np.array([1.0, -2.0, 0.3]), np.array([1.0, -2.0, 3.0])


def vector(form, covariance, information):
    """Map standard normals to a vector of which data tell."""
    prior = d.MvNormal(0.5, **{form: FORMS[form](covariance)})
    informed = prior.informed(information, SEEN)
    return lambda z: informed.noncentered(np, z, *numbers(informed))


@pytest.mark.parametrize("form", FORMS)
def test_a_vector_gets_its_conditional_distribution(form):
    coloured = vector(form, COVARIANCES[0], TOLD)
    root = np.stack([coloured(e) - coloured(0.0 * Z) for e in np.eye(3)], axis=1)
    precision = np.linalg.inv(COVARIANCES[0])
    conditional = np.linalg.inv(precision + np.diag(TOLD))
    np.testing.assert_allclose(root @ root.T, conditional, rtol=1e-12, atol=1e-14)
    mean = conditional @ (TOLD * SEEN + precision @ np.full(3, 0.5))
    np.testing.assert_allclose(coloured(0.0 * Z), mean, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_vector_of_which_data_tell_nothing_is_that_of_its_prior(form):
    prior = d.MvNormal(0.5, **{form: FORMS[form](COVARIANCES[0])})
    expected = prior.noncentered(np, Z, *numbers(prior))
    np.testing.assert_allclose(vector(form, COVARIANCES[0], 0.0 * TOLD)(Z), expected, rtol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_vector_that_data_settle_does_not_depend_on_its_covariance(form):
    for covariance in COVARIANCES:
        away = vector(form, covariance, 1e10 * TOLD)(Z) - SEEN
        np.testing.assert_allclose(away, Z / np.sqrt(1e10 * TOLD), rtol=1e-3)


@pytest.mark.parametrize("form", FORMS)
def test_with_another_root_it_would(form, monkeypatch):
    """Negative control: the root whose triangle is not that of the covariance's."""
    monkeypatch.setattr(MatrixForm, "colors_by_upper", True)
    monkeypatch.setattr(Precision, "colors_by_upper", False)
    away = vector(form, COVARIANCES[0], 1e10 * TOLD)(Z) - SEEN
    assert np.max(np.abs(away * np.sqrt(1e10 * TOLD) - Z)) > 0.3


FREE = {
    "log-normal": d.LogNormal(0.3, 0.8),
    "half-normal": d.HalfNormal(2.0),
    "half-Cauchy": d.HalfCauchy(2.0),
    "half-t": d.HalfStudentT(3.0, 2.0),
    "exponential": d.Exponential(0.4),
    "gamma": d.Gamma(3.0, 0.5),
    "inverse gamma": d.InverseGamma(3.0, 0.5),
    "Weibull": d.Weibull(1.7, 2.0),
    "Frechet": d.Frechet(1.7, 2.0),
    "scaled inverse chi-squared": d.ScaledInverseChi2(3.0, 0.5),
    "beta": d.Beta(2.0, 5.0),
    "beta of mean": d.BetaProportion(0.2, 7.0),
}


@pytest.mark.parametrize("name", FREE)
def test_positive_numbers_and_proportions_are_informed_at_their_mode(name):
    """On the scale that they are sampled on, with the curvature there."""
    family = FREE[name]
    support, params, step = family.support(), numbers(family), 1e-3

    def log_density(u):
        value = support.forward(np, u, *support.bounds)
        return family.log_density(np, value, *params) + support.log_det(np, u, *support.bounds)

    loc, scale = numbers(family.informed(0.0))
    below, at, above = (log_density(loc + k * step) for k in (-1.0, 0.0, 1.0))
    assert (above - below) / (2.0 * step) == pytest.approx(0.0, abs=1e-5)
    assert (2.0 * at - above - below) / step**2 == pytest.approx(scale**-2.0, rel=1e-5)


def test_the_log_logistic_is_informed_as_the_logistic():
    logistic = d.Logistic(np.log(2.0), 1.0 / 3.0).informed(0.7, 1.1)
    found = d.LogLogistic(2.0, 3.0).informed(0.7, 1.1)
    np.testing.assert_allclose(numbers(found), numbers(logistic))


def test_distributions_without_such_a_form_say_so():
    with pytest.raises(ModelError, match="Pareto has no form for information=; AR, AR1, Beta") as e:
        d.Pareto(2.0, 1.0).informed(1.0)
    known = str(e.value).partition("; ")[2].partition(" have one")[0]
    assert set(re.split(", | and ", known)) == {
        name
        for name, family in d.DISTRIBUTIONS.items()
        if family.takes_pseudo_data in ("elements", "series")
    }
    with pytest.raises(ModelError, match="Pareto has no form for information="):
        d.Pareto(2.0, 1.0).noncentered_log_det(np, (), 2.0, 1.0)


@pytest.mark.parametrize(("batch", "own"), [((), ()), ((3,), (3,)), ((3, 2), (3, 1)), ((3,), ())])
def test_derivatives_of_the_path(batch, own):
    rng = np.random.default_rng(1)
    z, phi = rng.standard_normal((*batch, 5)), rng.uniform(-0.8, 0.8, own)
    sigma = rng.uniform(0.5, 2.0, own)
    mean = rng.standard_normal(own)
    check_grads(ar1_path, modes=["rev"], order=2)(z, phi, sigma, mean)
    start = 1.0 / np.sqrt(1.0 - phi**2)
    expected = np.broadcast_to(sigma * start, batch) * z[..., 0]
    path = ar1_path(z, phi, sigma, mean) - np.asarray(mean)[..., None]
    np.testing.assert_allclose(path[..., 0], expected, rtol=1e-12)
    shocks = path[..., 1:] - np.asarray(phi)[..., None] * path[..., :-1]
    np.testing.assert_allclose(shocks, np.asarray(sigma)[..., None] * z[..., 1:], atol=1e-12)


@pytest.mark.parametrize("ratio", [0.0, 1e-5, -0.3, 0.97, 1.0, 1.02])
def test_the_filter_stops_no_sooner_than_rounding_allows(ratio):
    x = np.random.default_rng(2).standard_normal((2, 300))
    expected = x.copy()
    for t in range(1, 300):
        expected[:, t] += ratio * expected[:, t - 1]
    np.testing.assert_allclose(geometric_filter(np.full(2, ratio), x), expected, rtol=1e-9)
    assert np.isnan(geometric_filter(np.array([np.nan]), x[:1])[:, 1:]).all()


def test_points_of_a_long_vector_with_a_small_scale_are_carried_over():
    """The determinant of their map is below the smallest floating-point number."""
    n = 60
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))

    class Own(Model):
        reach = param(d.HalfNormal(1.0))
        u = param(d.MvNormal(0.0, 1e-14 * np.exp(-distance / reach)), shape=n)
        y = observed(d.Normal(u, 1e-7))

    y = 1e-7 * np.random.default_rng(0).standard_normal(n)
    declared = ModelDensity(Own(y=y))
    density = ModelDensity(Own(y=y), {"u": PseudoData(np.full(n, 1e14), y)})
    x = np.concatenate([[0.3], y])[None]
    there = density.translated(x, declared)
    assert np.isfinite(there).all()
    np.testing.assert_allclose(declared.translated(there, density), x, rtol=1e-9, atol=1e-18)


@pytest.mark.parametrize("alpha", [[0.3, 2.0], [1.0, 4.0, 0.5], [7.0, 7.0, 7.0, 30.0, 0.1]])
def test_normal_coordinates_stand_for_a_simplex_as_their_mode_and_curvature_do(alpha):
    alpha = np.array(alpha)
    family, simplex = d.Dirichlet(alpha), Simplex()

    def log_density(u):
        value = simplex.forward(np, u)
        return family.log_density(np, value, alpha) + simplex.log_det(np, u)

    loc = zero_sum_basis(len(alpha)) @ np.log(alpha)
    stands = d.Dirichlet(as_expression(alpha)).stand_in
    found = [Evaluator().value(arg) for arg in stands.args.values()]
    np.testing.assert_allclose(found[0], loc, rtol=1e-12)
    dim, step = len(loc), 1e-4
    steps = step * np.eye(dim)
    slope = [log_density(loc + h) - log_density(loc - h) for h in steps]
    np.testing.assert_allclose(np.array(slope) / (2 * step), 0.0, atol=1e-6)
    hessian = [
        [
            log_density(loc + a + b) - log_density(loc + a - b) - log_density(loc - a + b)
            + log_density(loc - a - b)
            for b in steps
        ]
        for a in steps
    ]  # fmt: skip
    covariance = np.linalg.inv(-np.array(hessian) / (4 * step**2))
    np.testing.assert_allclose(found[1] ** 2, np.diag(covariance), rtol=1e-4)


SKEWED = skewnorm(3.0, 1.0, 2.0).mean(), skewnorm(3.0, 1.0, 2.0).std()


@pytest.mark.parametrize(
    ("family", "mean", "deviation"),
    [
        (d.SkewNormal(1.0, 2.0, 3.0), *SKEWED),
        (d.ExpModNormal(1.0, 2.0, 0.5), 3.0, np.sqrt(8.0)),
        (d.SkewDoubleExponential(1.0, 2.0, 0.3), 1.0, 2.0),
    ],
)
def test_normal_stand_ins(family, mean, deviation):
    np.testing.assert_allclose(numbers(family.stand_in), [mean, deviation], rtol=1e-12)
