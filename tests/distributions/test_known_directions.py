"""Covariances that vary along known directions: the same density, without a factorisation."""

from __future__ import annotations

import arviz
import numpy as np
import pytest
from scipy import stats

from probmodel import Model, data, deterministic, infer, observed, param, prior_predictive
from probmodel import distributions as d
from probmodel.compiler.tracing import traced
from probmodel.density import as_posterior
from probmodel.density.posterior import ModelDensity
from probmodel.expressions import FreeSymbol, as_expression
from probmodel.expressions.known_parts import known_parts
from probmodel.functions import full
from probmodel.model.evaluation import Evaluator
from probmodel.model.pseudo_data import PseudoData

RNG = np.random.default_rng(0)


def definite(n, rank=None):
    a = np.random.default_rng(n).standard_normal((n, rank or 2 * n))
    return a @ a.T / n


A, B, EYE = definite(5), np.diag([1.0, 2.0, 0.5, 3.0, 1.5]), np.eye(5)
Z = RNG.standard_normal((5, 5))
S, T = np.array(0.7), np.array(1.3)

SUMS = {
    "scaled": lambda s, t: s**2 * A,
    "from the right": lambda s, t: A * s,
    "divided": lambda s, t: A / t,
    "two": lambda s, t: s**2 * A + t**2 * EYE,
    "difference": lambda s, t: B - s * A,
    "share": lambda s, t: t * (s * A + (1.0 - s) * EYE),
    "product of sums": lambda s, t: (s * A + t * B) * (1.0 + s),
    "negative": lambda s, t: -(s * A - B),
    "sandwich": lambda s, t: Z @ (s * A + EYE) @ Z.T,
    "diagonal": lambda s, t: s * A + np.diag(full(5, t**2)),
    "transposed part": lambda s, t: (s * A + t * B).T[1:, 1:],
    "elementwise": lambda s, t: (s * A) * B + t * A,
    "Kronecker": lambda s, t: np.kron(np.eye(2), s * A),
}


def symbols():
    s, t = FreeSymbol("s", ()), FreeSymbol("t", ())
    evaluator = Evaluator()
    evaluator.define(s, S, random=True)
    evaluator.define(t, T, random=True)
    return s, t, evaluator


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_known_matrices_are_taken_apart(name):
    s, t, evaluator = symbols()
    matrix = SUMS[name](s, t)
    parts = known_parts(matrix, evaluator)
    total = sum(evaluator.value(factor) * known for factor, known in parts)
    np.testing.assert_allclose(total, evaluator.value(matrix), rtol=1e-13, atol=1e-14)
    assert all(evaluator.shape(factor) == () for factor, _ in parts)


@pytest.mark.parametrize(
    "of",
    [
        lambda s, t: np.exp(-A / s),
        lambda s, t: s * np.exp(-A / t),
        lambda s, t: np.diag(np.stack([s, t, s, t, s])) @ A,
        lambda s, t: s * A + np.linalg.inv(t * B),
    ],
)
def test_other_matrices_are_not(of):
    s, t, evaluator = symbols()
    assert known_parts(of(s, t), evaluator) is None


def given(matrix, argument, by_root):
    if not by_root:
        return {argument: matrix}
    inner = np.linalg.inv(matrix) if argument == "precision" else matrix
    return {"cholesky": np.linalg.cholesky(0.5 * (inner + np.swapaxes(inner, -1, -2)))}


def model(prior, matrix_of, argument, n, *, by_root):
    """Return a posterior; ``by_root`` hides the sum behind a Cholesky factor of our own."""

    class Own(Model):
        s = param(d.HalfNormal(1.0))
        t = param(d.HalfNormal(1.0))
        m = param(d.Normal(0.0, 1.0))
        matrix = deterministic(matrix_of(s, t))
        y = observed(prior(m, **given(matrix, argument, by_root)), dims=("case", "unit"))

    return as_posterior(Own(y=np.random.default_rng(1).standard_normal((3, n))))


def operations(density):
    return {step.op for step in traced(density._binding).steps}


COVARIANCES = {
    "one": lambda n: lambda s, t: s**2 * definite(n),
    "two": lambda n: lambda s, t: s**2 * definite(n) + t**2 * np.eye(n),
    "low rank": lambda n: lambda s, t: s**2 * definite(n, 1) + t**2 * np.eye(n),
    "merged": lambda n: lambda s, t: s * definite(n) + t * np.eye(n) + 1e-3 * np.eye(n),
    "share": lambda n: lambda s, t: t * (np.exp(-s) * definite(n) + (1.0 - np.exp(-s)) * np.eye(n)),
}


@pytest.mark.parametrize("n", [2, 3, 7, 8, 9, 17])
@pytest.mark.parametrize("name", COVARIANCES)
@pytest.mark.parametrize("argument", ["covariance", "precision"])
def test_the_density_is_that_of_the_whole_matrix(argument, name, n):
    matrix_of = COVARIANCES[name](n)
    found = model(d.MvNormal, matrix_of, argument, n, by_root=False)
    expected = model(d.MvNormal, matrix_of, argument, n, by_root=True)
    assert n <= 3 or "factor" in operations(expected)  # smaller ones are written out
    assert not operations(found) & {"factor", "solve", "call"}
    for chains in (1, 3, 8):
        x = RNG.uniform(-1.0, 1.0, (chains, 3))
        for a, b in zip(found(x), expected(x), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n", [2, 7, 8, 17])
def test_a_known_factor_times_a_number(n):
    root = np.linalg.cholesky(definite(n))
    found = model(d.MvNormal, lambda s, t: s * root / t, "cholesky", n, by_root=False)
    assert not operations(found) & {"factor", "solve", "call"}
    covariance_of = lambda s, t: (s / t) ** 2 * definite(n)  # noqa: E731
    expected = model(d.MvNormal, covariance_of, "covariance", n, by_root=True)
    x = RNG.uniform(-1.0, 1.0, (3, 3))
    for a, b in zip(found(x), expected(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


def test_a_factor_times_a_negative_number_is_none():
    class Own(Model):
        s = param(d.Normal(0.0, 1.0))
        y = observed(d.MvNormal(0.0, cholesky=s * np.linalg.cholesky(A)), dims="unit")

    inside, outside = as_posterior(Own(y=np.ones(5)))(np.array([[0.5], [-0.5]]))[0]
    assert np.isfinite(inside)
    assert not outside > -np.inf


def test_the_density_is_that_of_scipy():
    found = model(d.MvNormal, COVARIANCES["two"](6), "covariance", 6, by_root=False)
    x = RNG.uniform(-1.0, 1.0, (4, 3))
    y = np.random.default_rng(1).standard_normal((3, 6))
    for row, logp in zip(x, found(x)[0], strict=True):
        s, t, m = np.exp(row[0]), np.exp(row[1]), row[2]
        own = stats.multivariate_normal(np.full(6, m), COVARIANCES["two"](6)(s, t)).logpdf(y).sum()
        prior = stats.halfnorm.logpdf([s, t]).sum() + row[0] + row[1] + stats.norm.logpdf(m)
        assert logp == pytest.approx(own + prior, rel=1e-11)


def student(loc, **matrix):
    return d.MvStudentT(
        4.0, loc, **{"cholesky" if "cholesky" in k else "scale": m for k, m in matrix.items()}
    )


def rows(loc, **matrix):
    return d.MatrixNormal(loc, np.eye(3), **{f"column_{k}": m for k, m in matrix.items()})


def processes(loc, **matrix):
    return d.MultiGP(**matrix, w=np.ones(3) + 0.0 * loc)


@pytest.mark.parametrize("prior", [student, rows, processes])
@pytest.mark.parametrize("name", ["one", "two"])
def test_other_distributions_of_covariances(prior, name):
    matrix_of = COVARIANCES[name](5)
    found, expected = (
        model(prior, matrix_of, "covariance", 5, by_root=by_root) for by_root in (False, True)
    )
    assert "factor" not in operations(found)
    x = RNG.uniform(-1.0, 1.0, (4, 3))
    for a, b in zip(found(x), expected(x), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)


def test_a_stack_of_covariances_of_groups():
    class Groups(Model):
        s = param(d.HalfNormal(1.0), shape=3)
        t = param(d.HalfNormal(1.0))
        y = observed(
            d.MvNormal(0.0, s[:, None, None] ** 2 * A + t**2 * EYE), dims=("group", "unit")
        )

    y = np.random.default_rng(1).standard_normal((3, 5))
    density = as_posterior(Groups(y=y))
    assert "factor" not in operations(density)
    x = RNG.uniform(-1.0, 1.0, (2, 4))
    for row, logp in zip(x, density(x)[0], strict=True):
        *s, t = np.exp(row)
        own = [
            stats.multivariate_normal(np.zeros(5), a**2 * A + t**2 * EYE).logpdf(b)
            for a, b in zip(s, y, strict=True)
        ]
        prior = stats.halfnorm.logpdf([*s, t]).sum() + row.sum()
        assert logp == pytest.approx(sum(own) + prior, rel=1e-11)


def test_three_matrices_are_factorised_as_a_whole():
    matrix_of = lambda s, t: s * A + t * B + EYE  # noqa: E731
    found, expected = (model(d.MvNormal, matrix_of, "covariance", 5, by_root=r) for r in (0, 1))
    assert "factor" in operations(found)
    x = RNG.uniform(-1.0, 1.0, (4, 3))
    np.testing.assert_allclose(found(x)[0], expected(x)[0], rtol=1e-10)


def test_two_matrices_of_which_none_is_definite_are_factorised_as_a_whole():
    matrix_of = lambda s, t: s * definite(8, 5) + t * definite(8, 6)  # noqa: E731
    found, expected = (model(d.MvNormal, matrix_of, "covariance", 8, by_root=r) for r in (0, 1))
    assert "factor" in operations(found)
    x = RNG.uniform(-1.0, 1.0, (4, 3))
    np.testing.assert_allclose(found(x)[0], expected(x)[0], rtol=1e-10)


def test_beyond_what_is_definite_there_is_no_density():
    """A precision of a conditional autoregression is definite up to a largest share only."""
    near = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
    bound = 1.0 / np.linalg.eigvalsh(near)[-1]

    class Own(Model):
        rho = param(d.Uniform(0.0, 1.0))
        y = observed(d.MvNormal(0.0, precision=EYE - rho * near), dims="unit")

    density = as_posterior(Own(y=np.ones(5)))
    assert "factor" not in operations(density)
    x = np.log(np.array([[0.99 * bound], [1.01 * bound]]))
    x -= np.log1p(-np.exp(x))
    inside, outside = density(x)[0]
    assert np.isfinite(inside)
    assert not outside > -np.inf


def informed(prior, information):
    """Return the map of a standardised vector, as an array of numbers for some s and t."""
    s, t, evaluator = symbols()
    args = (as_expression(0.5), prior(s, t))
    form, _ = d.MvNormal(0.5, np.eye(5)).with_known_directions(args, evaluator)
    seen = np.array([1.0, -2.0, 0.3, 0.0, 0.7])
    found = form.informed(information, seen)
    params = [np.asarray(evaluator.value(arg)) for arg in found.args.values()]
    params[2] = np.broadcast_to(params[2], 5)
    return found, params, np.asarray(evaluator.value(args[1])), seen


@pytest.mark.parametrize("information", [0.0, 2.0, np.array([0.5, 4.0, 0.0, 30.0, 1e4])])
def test_a_scaled_prior_gets_its_conditional_distribution(information):
    found, params, covariance, seen = informed(SUMS["scaled"], information)
    root = np.stack(
        [found.noncentered(np, e, *params) - found.noncentered(np, 0.0 * e, *params) for e in EYE],
        axis=1,
    )
    told = np.diag(np.broadcast_to(information, 5))
    conditional = np.linalg.inv(np.linalg.inv(covariance) + told)
    np.testing.assert_allclose(root @ root.T, conditional, rtol=1e-9, atol=1e-12)
    mean = conditional @ (told @ seen + np.linalg.solve(covariance, np.full(5, 0.5)))
    np.testing.assert_allclose(found.noncentered(np, np.zeros(5), *params), mean, rtol=1e-9)


@pytest.mark.parametrize("name", ["scaled", "two", "difference"])
def test_the_log_determinant_of_the_standardising_map(name):
    information = np.array([0.5, 4.0, 0.0, 30.0, 1e4])
    found, params, *_ = informed(SUMS[name], information)
    at_zero = found.noncentered(np, np.zeros(5), *params)
    root = np.stack([found.noncentered(np, e, *params) - at_zero for e in EYE], axis=1)
    expected = np.linalg.slogdet(root)[1]
    assert found.noncentered_log_det(np, (5,), *params) == pytest.approx(expected, rel=1e-10)


def kernel(n):
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return lambda s, t: s**2 * np.exp(-distance / t)


@pytest.mark.parametrize("how", ["noncentered", "information", "centred"])
@pytest.mark.parametrize("argument", ["covariance", "cholesky", "precision"])
@pytest.mark.parametrize("name", ["one", "two", "kernel"])
@pytest.mark.parametrize("n", [4, 45])
def test_a_prior_is_one_density_however_it_is_sampled(how, argument, name, n):
    """Log densities of the sampler's coordinates are that of the value and a log Jacobian."""
    options = {
        "noncentered": {"noncentered": True},
        "information": {"information": RNG.uniform(0.0, 30.0, n)},
        "centred": {"noncentered": False},
    }[how]
    matrix_of = kernel(n) if name == "kernel" else COVARIANCES[name](n)
    by = {"covariance": lambda m: m, "cholesky": np.linalg.cholesky, "precision": np.linalg.inv}
    if argument == "precision" and name != "kernel":
        by["precision"] = lambda m: m

    class Own(Model):
        s = param(d.HalfNormal(1.0))
        t = param(d.HalfNormal(1.0))
        u = param(
            d.MvNormal(0.3, **{argument: by[argument](matrix_of(s, t))}), dims="unit", **options
        )
        y = observed(d.Normal(u, 0.5), dims="unit")

    y = RNG.standard_normal(n)
    density = as_posterior(Own(y=y))
    x = RNG.uniform(-1.0, 1.0, n + 2)
    value = lambda x: density.constrain(x[None])["u"][0]  # noqa: E731
    slopes = np.stack(
        [(value(x + e) - value(x - e)) / 2e-5 for e in 1e-5 * np.eye(n + 2)[2:]], axis=1
    )
    s, t = np.exp(x[:2])
    u = value(x)
    covariance = matrix_of(s, t)
    if argument == "precision" and name != "kernel":
        covariance = np.linalg.inv(covariance)
    expected = (
        stats.halfnorm.logpdf([s, t]).sum() + x[:2].sum()
        + stats.multivariate_normal(np.full(n, 0.3), covariance).logpdf(u)
        + stats.norm.logpdf(y, u, 0.5).sum() + np.linalg.slogdet(slopes)[1]
    )  # fmt: skip
    assert density(x[None])[0][0] == pytest.approx(expected, rel=1e-8, abs=1e-6)
    back = density.unconstrain({"s": s, "t": t, "u": u}, x)
    np.testing.assert_allclose(back, x, rtol=1e-8, atol=1e-8)


class Animals(Model):
    """An animal model: breeding values with a covariance that is known but for a number."""

    relations = data(("animal", "other"))
    s = param(d.HalfNormal(1.0))
    u = param(d.MvNormal(0.0, s**2 * relations), dims="animal")
    y = observed(d.Normal(u, 1.0), dims="animal")


def animals():
    """Return relations of 30 animals, and what was observed of them."""
    rng = np.random.default_rng(4)
    relations = definite(30)
    return relations, np.linalg.cholesky(relations) @ rng.normal(0, 1.5, 30) + rng.normal(size=30)


@pytest.mark.parametrize("told", [0.0, 1.0])
def test_standardising_by_pseudo_data_factorises_nothing(told):
    relations, y = animals()
    pseudo_data = {"u": PseudoData(np.full(30, told), y)}
    density = ModelDensity(Animals(relations=relations, y=y), pseudo_data)
    assert not operations(density) & {"factor", "solve", "call"}
    declared = as_posterior(Animals(relations=relations, y=y))
    x = RNG.uniform(-1.0, 1.0, (3, 31))
    there = declared.translated(x, density)
    u = density.constrain(x)["u"]
    np.testing.assert_allclose(declared.constrain(there)["u"], u, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(density.translated(there, declared), x, rtol=1e-7, atol=1e-8)


class Traits(Model):
    """Breeding values for several traits, each with a variance of its own."""

    relations = data(("animal", "other"))
    s = param(d.HalfNormal(1.0), dims="trait")
    u = param(d.MvNormal(0.0, s[:, None, None] ** 2 * relations), dims=("trait", "animal"))
    y = observed(d.Normal(u, 1.0), dims=("trait", "animal"))


def test_several_vectors_are_standardised_by_pseudo_data(assert_gradient):
    y = np.random.default_rng(2).standard_normal((3, 6))
    told = np.random.default_rng(3).uniform(0.0, 5.0, (3, 6))
    density = ModelDensity(Traits(relations=definite(6), y=y), {"u": PseudoData(told, y)})
    assert not operations(density) & {"factor", "solve", "call"}
    declared = as_posterior(Traits(relations=definite(6), y=y))
    x = RNG.uniform(-1.0, 1.0, (3, 21))
    there = density.translated(x, declared)
    np.testing.assert_allclose(declared.translated(there, density), x, rtol=1e-9, atol=1e-10)
    steps = 1e-5 * np.eye(21)[3:]
    values = lambda z: density.constrain(z[None])["u"][0].reshape(-1)  # noqa: E731
    for row, z, logp in zip(x, there, density(there).logp, strict=True):
        slopes = np.stack([(values(z + e) - values(z - e)) / 2e-5 for e in steps], axis=1)
        expected = declared(row[None]).logp[0] + np.linalg.slogdet(slopes)[1]
        assert logp == pytest.approx(expected, abs=1e-6)
    assert_gradient(density, density.log_density, there)


def test_the_posterior_of_an_animal_model():
    """Against quadrature over the one number that is left when breeding values are integrated."""
    relations, y = animals()
    grid = np.linspace(1e-3, 5.0, 2001)
    zeros = np.zeros(30)
    logp = np.array(
        [stats.multivariate_normal(zeros, s**2 * relations + np.eye(30)).logpdf(y) for s in grid]
    ) + stats.halfnorm.logpdf(grid)
    weights = np.exp(logp - logp.max())
    mean = np.average(grid, weights=weights)
    sd = np.sqrt(np.average((grid - mean) ** 2, weights=weights))
    found = infer(Animals(relations=relations, y=y), seed=3, draws=500, progressbar=False)
    draws = found.posterior["s"]
    ess = float(arviz.ess(found, var_names=["s"])["s"])
    assert ess > 1000
    assert float(draws.mean()) == pytest.approx(mean, abs=4.0 * sd / np.sqrt(ess))
    assert float(draws.std()) == pytest.approx(sd, rel=4.0 / np.sqrt(ess))


@pytest.mark.parametrize("n", [7, 8, 40])
def test_a_regression_with_known_directions_multiplies_its_design_once(n):
    rng = np.random.default_rng(5)
    X, z, relations = rng.standard_normal((n, 2)), rng.standard_normal(n), definite(n)

    class Mixed(Model):
        a = param(d.Normal(0.0, 3.0))
        b = param(d.Normal(0.0, 1.0), shape=2)
        c = param(d.Normal(0.0, 1.0))
        s = param(d.HalfNormal(1.0))
        t = param(d.HalfNormal(1.0))
        y = observed(d.MvNormal(a - X @ b + z * c, s**2 * relations + t**2 * np.eye(n)))

    y = rng.standard_normal(n)
    density = as_posterior(Mixed(y=y))
    known = [step.args[0].size for step in traced(density._binding).steps if step.op == "matmul"]
    assert max(known) <= 2 * n
    x = RNG.uniform(-1.0, 1.0, (3, 6))
    for row, (logp, slopes) in zip(x, zip(*density(x), strict=True), strict=True):

        def expected(row):
            a, b, c, s, t = row[0], row[1:3], row[3], *np.exp(row[4:])
            prior = stats.norm.logpdf([*b, c]).sum() + stats.norm.logpdf(a, scale=3.0)
            scales = stats.halfnorm.logpdf([s, t]).sum() + row[4:].sum()
            own = stats.multivariate_normal(a - X @ b + z * c, s**2 * relations + t**2 * np.eye(n))
            return prior + scales + own.logpdf(y)

        assert logp == pytest.approx(expected(row), rel=1e-10)
        steps = 1e-5 * np.eye(6)
        numeric = [(expected(row + e) - expected(row - e)) / 2e-5 for e in steps]
        np.testing.assert_allclose(slopes, numeric, rtol=1e-5, atol=1e-5)


def test_draws_have_the_covariance():
    s, t, draws = 1.4, 0.6, 40000

    class Noisy(Model):
        u = param(d.Uniform(s, s + 1e-9))
        v = param(d.Uniform(t, t + 1e-9))
        y = observed(d.MvNormal(0.3, u**2 * A + v**2 * EYE), dims="unit")

    found = prior_predictive(Noisy(y=np.zeros(5)), draws=draws, seed=1)
    y = found.prior_predictive["y"].to_numpy().reshape(draws, 5)
    covariance = s**2 * A + t**2 * EYE
    sd = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(y.mean(axis=0), 0.3, atol=4.5 * sd.max() / np.sqrt(draws))
    # Isserlis: the variance of a product of two is c_ii c_jj + c_ij^2.
    error = np.sqrt((np.outer(sd, sd) ** 2 + covariance**2) / draws)
    assert np.all(np.abs(np.cov(y.T) - covariance) < 4.5 * error)
    assert np.any(np.abs(np.cov(y.T) - s**2 * A) > 4.5 * error)  # negative control
