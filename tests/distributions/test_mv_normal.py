"""The three forms of the multivariate normal, and what is remembered of constants."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from derivatives import evaluated, program

from probmodel import Model, infer, observed, param, prior_predictive
from probmodel import distributions as d
from probmodel.density import as_posterior
from probmodel.distributions.vector import matrix_forms, whitening
from probmodel.errors import ModelError


def covariance(n, seed=0):
    a = np.random.default_rng(seed).standard_normal((n, n))
    return a @ a.T + np.eye(n)


def test_the_keyword_chooses_the_form():
    matrix = np.eye(2)
    assert list(d.MvNormal(0.0, covariance=matrix).parameters) == ["loc", "covariance"]
    assert list(d.MvNormal(0.0, matrix).parameters) == ["loc", "covariance"]
    assert list(d.MvNormal(0.0, cholesky=matrix).parameters) == ["loc", "cholesky"]
    assert list(d.MvNormal(loc=0.0, precision=matrix).parameters) == ["loc", "precision"]
    assert d.MvNormal(0.0, precision=matrix).name == "MvNormal"


@pytest.mark.parametrize("matrices", [{}, {"covariance": 1, "cholesky": 1}, {"wrong": 1}])
def test_exactly_one_matrix_is_given(matrices):
    with pytest.raises(ModelError, match="exactly one of covariance=, cholesky= and precision="):
        d.MvNormal(0.0, **matrices)


def test_the_three_forms_agree():
    c = covariance(4)
    y, loc = np.random.default_rng(1).standard_normal((2, 3, 4))
    forms = {"covariance": c, "cholesky": np.linalg.cholesky(c), "precision": np.linalg.inv(c)}
    logps = [evaluated(d.MvNormal(0.0, **{k: m}), [0], y, loc, m) for k, m in forms.items()]
    for logp, (slope,) in logps[1:]:
        assert logp == pytest.approx(logps[0][0], rel=1e-10)
        np.testing.assert_allclose(slope, logps[0][1][0], rtol=1e-10)


@pytest.mark.parametrize("form", ["covariance", "cholesky", "precision"])
def test_a_constant_matrix_is_factorised_once(form, monkeypatch):
    calls = []
    for module in (matrix_forms, whitening):
        for name in ("cholesky", "solve_lower", "invert_lower"):
            real = getattr(module, name, None)
            if real is not None:
                counted = lambda *a, real=real, **k: calls.append(1) or real(*a, **k)  # noqa: E731
                monkeypatch.setattr(module, name, counted)
    c = covariance(4)
    dist = d.MvNormal(0.0, **{form: c if form != "cholesky" else np.linalg.cholesky(c)})
    matrix = dist.args[form]
    y = np.random.default_rng(1).standard_normal((3, 4))
    first = dist.log_kernel(np, y, np.zeros(4), matrix)
    done = len(calls)
    assert done > 0
    again = dist.log_kernel(np, y, np.zeros(4), matrix.copy())
    found, _, _ = program(dist, [0, 1], y[0], np.zeros(4), matrix.copy())(y, np.zeros((3, 4)))
    assert len(calls) == done
    np.testing.assert_array_equal(first, again)
    np.testing.assert_allclose(found, first, rtol=1e-12)
    other = dist.log_kernel(np, y, np.zeros(4), 2.0 * matrix)
    assert len(calls) > done
    assert not np.any(other == first)


def test_one_bad_matrix_of_a_stack_is_nan():
    stack = np.stack([covariance(3), -np.eye(3), covariance(3, 2)])
    y = np.zeros((3, 3))
    for form in ("covariance", "precision"):
        dist = d.MvNormal(0.0, **{form: stack})
        logp, *_ = program(dist, [0, 2], y[0], np.zeros(3), stack[0])(y, stack)
        assert list(np.isfinite(logp)) == [True, False, True]


def test_it_can_be_pickled():
    dist = d.MvNormal(np.zeros(3), cholesky=np.eye(3))
    dist.log_kernel(np, np.zeros(3), np.zeros(3), np.eye(3))
    copy = pickle.loads(pickle.dumps(dist))
    assert list(copy.parameters) == ["loc", "cholesky"]
    logp = copy.log_kernel(np, np.zeros(3), np.zeros(3), np.eye(3))
    assert logp == pytest.approx(-1.5 * np.log(2 * np.pi))


SPREAD = {
    "covariance": lambda m, c: d.MvNormal(m, covariance=c),
    "cholesky": lambda m, c: d.MvNormal(m, cholesky=np.linalg.cholesky(c)),
    "precision": lambda m, c: d.MvNormal(m, precision=c),
    "t": lambda m, c: d.MvStudentT(5.0, m, c),
    "t by its root": lambda m, c: d.MvStudentT(5.0, m, cholesky=np.linalg.cholesky(c)),
    "mixture": lambda m, c: d.Mixture([0.4, 0.6], [d.MvNormal(m, c), d.MvNormal(2.0, c)]),
    "affine": lambda m, c: d.Affine(d.MvNormal(m, c), 1.0, 2.0),
}


@pytest.mark.parametrize("form", SPREAD)
@pytest.mark.parametrize("rows", [(), (4,)])
def test_a_number_is_the_location_of_all_elements(form, rows):
    """Densities, slopes and metric are those of the vector with this number in every place."""
    c, y = covariance(3), np.random.default_rng(4).normal(size=(*rows, 3))

    def density(location):
        class Spread(Model):
            m = param(d.Normal(0.0, 1.0))
            fixed = param(SPREAD[form](location(1.5), c), shape=(*rows, 3))
            y = observed(SPREAD[form](location(m), c))

        return as_posterior(Spread(y=y))

    number, vector = density(lambda m: m), density(lambda m: m + np.zeros(3))
    x = np.random.default_rng(5).normal(size=(6, number.dim))
    for found, expected in zip(number(x)[:2], vector(x)[:2], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    if form not in ("mixture", "affine"):
        np.testing.assert_allclose(number.metric(x), vector.metric(x), rtol=1e-12)


def test_a_number_is_the_location_of_all_elements_of_a_matrix():
    u, v = covariance(2), covariance(3, 1)

    def density(location):
        class Spread(Model):
            m = param(d.Normal(0.0, 1.0))
            y = observed(
                d.MatrixNormal(location(m), row_covariance=u, column_covariance=v), dims=("a", "b")
            )

        return as_posterior(Spread(y=np.arange(6.0).reshape(2, 3)))

    number, vector = density(lambda m: m), density(lambda m: m + np.zeros((2, 3)))
    x = np.array([[0.3], [-1.0]])
    for found, expected in zip(number(x)[:2], vector(x)[:2], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("noncentered", [False, True])
def test_models_with_one_number_for_a_location_run(noncentered):
    class Spread(Model):
        m = param(d.Normal(0.0, 1.0))
        e = param(d.MvNormal(m, covariance(3)), dims=("row", "axis"), noncentered=noncentered)
        y = observed(d.MvNormal(e, np.eye(3)), dims=("row", "axis"))

    model = Spread(y=np.ones((2, 3)))
    assert infer(model, draws=5, warmup=5, chains=2, seed=1, quiet=True).posterior["e"].size == 60
    prior = prior_predictive(model, draws=4000, seed=2)
    between = np.cov(np.asarray(prior.prior["e"]).reshape(-1, 6).T)
    truth = 1.0 + np.kron(np.eye(2), covariance(3))
    spread = np.sqrt((np.outer(np.diag(truth), np.diag(truth)) + truth**2) / 4000)
    assert np.abs((between - truth) / spread).max() < 5.0
