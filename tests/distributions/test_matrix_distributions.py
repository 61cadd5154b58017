"""Distributions of matrices: against each other, in models, and what they refuse."""

from __future__ import annotations

import pickle
import re
import sys
from functools import cache

import arviz as az
import numpy as np
import pytest
from scipy import stats

from probmodel import Model, ModelError, ShapeError, check_model, data, infer, observed, param
from probmodel.constraints import CholeskyFactor, PositiveDefinite
from probmodel.density import as_posterior
from probmodel.distributions import (
    Exponential,
    HalfNormal,
    InverseWishart,
    InverseWishartCholesky,
    LKJCholesky,
    MatrixNormal,
    MultiGP,
    MvNormal,
    MvStudentT,
    Normal,
    Wishart,
    WishartCholesky,
)

RNG = np.random.default_rng(0)
ROOT = np.array([[1.1, 0.0, 0.0], [0.4, 0.8, 0.0], [-0.3, 0.2, 1.4]])
SCALE = ROOT @ ROOT.T
PAIRS = [(Wishart, WishartCholesky), (InverseWishart, InverseWishartCholesky)]


def covariance(n, seed=0):
    a = np.random.default_rng(seed).standard_normal((n, 2 * n))
    return a @ a.T / n


@pytest.mark.parametrize(("whole", "factor"), PAIRS)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_factors_have_the_density_of_their_products(whole, factor, size):
    """The two differ by the Jacobian of the product, which both constraints state."""
    u = 0.5 * np.random.default_rng(1).standard_normal((4, size * (size + 1) // 2))
    params = (np.asarray(size + 0.7), covariance(size))
    totals = [
        dist(*params).log_density(np, constraint.forward(np, u), *params)
        + constraint.log_det(np, u)
        for dist, constraint in [(whole, PositiveDefinite()), (factor, CholeskyFactor())]
    ]
    np.testing.assert_allclose(totals[0], totals[1], rtol=1e-11, atol=1e-11)


def test_matrices_of_one_element_are_gamma_variables():
    x, df, scale = np.array([0.3, 1.1, 4.0]), np.asarray(1.7), np.array([[2.2]])
    matrices = x[:, None, None]
    expected = stats.gamma(0.5 * df, scale=2.0 * scale[0, 0]).logpdf(x)
    np.testing.assert_allclose(Wishart(df, scale).log_density(np, matrices, df, scale), expected)
    expected = stats.invgamma(0.5 * df, scale=0.5 * scale[0, 0]).logpdf(x)
    np.testing.assert_allclose(
        InverseWishart(df, scale).log_density(np, matrices, df, scale), expected
    )


@pytest.mark.parametrize(("whole", "factor"), PAIRS)
def test_draws_have_the_right_mean_and_are_such_matrices(whole, factor):
    df, n = np.asarray(9.0), 20_000
    draws = whole(df, SCALE).sample(np.random.default_rng(2), (n, 3, 3), df, SCALE)
    mean = df * SCALE if whole is Wishart else SCALE / (df - 4.0)
    error = draws.std(axis=0) / np.sqrt(n)
    assert (np.abs(draws.mean(axis=0) - mean) < 5.0 * error).all()
    assert (np.abs(draws.mean(axis=0) - 1.1 * mean) > 5.0 * error).any()
    assert PositiveDefinite().check(draws).all()
    factors = factor(df, SCALE).sample(np.random.default_rng(2), (n, 3, 3), df, SCALE)
    assert CholeskyFactor().check(factors).all()
    np.testing.assert_allclose(factors @ np.swapaxes(factors, 1, 2), draws, rtol=1e-10)


def test_a_matrix_normal_is_a_normal_vector_and_rows_alike_are_many_gps():
    y, loc = RNG.standard_normal((2, 4, 3))
    row, column = covariance(4, 1), covariance(3, 2)
    dist = MatrixNormal(loc, row, column)
    expected = stats.matrix_normal(loc, row, column).logpdf(y)
    assert dist.log_density(np, y, loc, row, column) == pytest.approx(expected, rel=1e-12)
    w = np.array([0.5, 1.0, 2.0, 7.0])
    alike = MatrixNormal(np.zeros((4, 3)), np.diag(1.0 / w), column)
    params = (np.zeros((4, 3)), np.diag(1.0 / w), column)
    rows = MultiGP(column, w).log_density(np, y, column, w)
    assert rows == pytest.approx(alike.log_density(np, y, *params), rel=1e-12)
    alone = [
        stats.multivariate_normal(np.zeros(3), column / v).logpdf(r)
        for r, v in zip(y, w, strict=True)
    ]
    assert rows == pytest.approx(sum(alone), rel=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Wishart(4.0), "df and exactly one of scale= and cholesky=; none was"),
        (lambda: InverseWishart(4.0, SCALE, cholesky=ROOT), "scale and cholesky was given"),
        (
            lambda: MatrixNormal(0.0, SCALE, column_cholesky=ROOT, column_precision=SCALE),
            "one of column_covariance=, column_cholesky= and column_precision=; column_cholesky "
            "and column_precision was given",
        ),
        (lambda: MultiGP(w=[1.0]), "w and exactly one of covariance= and cholesky="),
    ],
)
def test_exactly_one_form_of_each_matrix_is_given(make, message):
    with pytest.raises(ModelError, match=message) as caught:
        make()
    assert caught.value.location.file == __file__


def test_forms_are_chosen_one_by_one():
    dist = MatrixNormal(np.zeros((3, 3)), row_precision=SCALE, column_cholesky=ROOT)
    assert list(dist.parameters) == ["loc", "row_precision", "column_cholesky"]
    assert list(MatrixNormal.parameters) == ["loc", "row_covariance", "column_covariance"]
    assert list(MultiGP(cholesky=ROOT, w=np.ones(2)).parameters) == ["cholesky", "w"]
    copy = pickle.loads(pickle.dumps(dist))
    assert list(copy.parameters) == list(dist.parameters)
    params = (np.zeros((3, 3)), SCALE, ROOT)
    y = RNG.standard_normal((3, 3))
    assert copy.log_kernel(np, y, *params) == dist.log_kernel(np, y, *params)


class Scatter(Model):
    df = param(Exponential(0.2), lower=2)
    s = param(Wishart(df, SCALE), shape=(2, 3, 3))


class Factors(Model):
    s = param(Wishart(5.0, SCALE))
    root = param(WishartCholesky(5.0, s))
    other = param(InverseWishartCholesky(4.5, cholesky=ROOT))


class Conjugate(Model):
    sigma = param(InverseWishart(6.0, SCALE))
    y = observed(MvNormal(np.zeros(3), covariance=sigma), dims=("obs", "axis"))


class Matrices(Model):
    scale = param(Exponential(1), shape=3)
    a = param(MatrixNormal(np.zeros((2, 3)), covariance(2), SCALE), noncentered=True)
    b = param(
        MatrixNormal(a, row_cholesky=np.eye(2), column_covariance=scale[:, None] * SCALE * scale)
    )
    y = observed(MultiGP(SCALE, np.ones(2)), dims=("output", "point"))


Y = RNG.standard_normal((12, 3)) @ ROOT.T
MODELS = [Scatter(), Factors(), Conjugate(y=Y), Matrices(y=Y[:2])]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_models_pass_every_check(model):
    report = check_model(model)
    assert report.ok, str(report)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_second_derivatives_in_models(model):
    density = as_posterior(model)
    x = density.initial_points(np.random.default_rng(1), 2, inits=0.4)
    v, step = np.random.default_rng(2).normal(size=x.shape), 1e-6
    numeric = (density(x + step * v).grad - density(x - step * v).grad) / (2 * step)
    np.testing.assert_allclose(density.hvp(x, v), numeric, rtol=1e-5, atol=1e-4)


@cache
def posterior():
    result = infer(MODELS[2], draws=1000, seed=3, quiet=True)
    return result.posterior["sigma"].values


@pytest.mark.parametrize(("i", "j"), [(0, 0), (2, 1)])
def test_the_posterior_of_a_covariance_is_the_conjugate_one(i, j):
    values = posterior()[..., i, j]
    expected = (SCALE + Y.T @ Y)[i, j] / (6.0 + len(Y) - 4.0)
    error = values.std() / np.sqrt(float(az.ess(values, method="mean")))
    assert abs(values.mean() - expected) < 5.0 * error
    assert abs(values.mean() - 1.2 * expected) > 5.0 * error  # the check can tell another mean


def test_a_matrix_normal_prior_is_quadratic_for_the_metric():
    class Prior(Model):
        a = param(MatrixNormal(np.zeros((2, 3)), covariance(2), SCALE))
        y = observed(Normal(a, 2.0), dims=("row", "column"))

    density = as_posterior(Prior(y=np.zeros((2, 3))))
    expected = np.linalg.inv(np.kron(covariance(2), SCALE)) + 0.25 * np.eye(6)
    found = density.metric(np.random.default_rng(0).standard_normal((2, 6)))
    np.testing.assert_allclose(found, np.stack([expected] * 2), rtol=1e-9, atol=1e-9)


NOT_SYMMETRIC = np.array([[1.0, 0.5, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.0]])
NOT_DEFINITE = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
NEGATIVE = np.diag([1.0, -1.0, 1.0])
ZEROS = np.zeros((3, 3))
# Each argument that is a matrix, as the distribution that is given it.
SYMMETRIC = {
    "MvNormal's covariance": lambda m: MvNormal(np.zeros(3), m),
    "MvNormal's precision": lambda m: MvNormal(np.zeros(3), precision=m),
    "MvStudentT's scale": lambda m: MvStudentT(4.0, np.zeros(3), m),
    "Wishart's scale": lambda m: Wishart(5.0, m),
    "WishartCholesky's scale": lambda m: WishartCholesky(5.0, m),
    "InverseWishart's scale": lambda m: InverseWishart(5.0, m),
    "InverseWishartCholesky's scale": lambda m: InverseWishartCholesky(5.0, m),
    "MatrixNormal's row_covariance": lambda m: MatrixNormal(ZEROS, m, SCALE),
    "MatrixNormal's column_covariance": lambda m: MatrixNormal(ZEROS, SCALE, m),
    "MatrixNormal's row_precision": lambda m: MatrixNormal(
        ZEROS, row_precision=m, column_cholesky=ROOT
    ),
    "MatrixNormal's column_precision": lambda m: MatrixNormal(ZEROS, SCALE, column_precision=m),
    "MultiGP's covariance": lambda m: MultiGP(m, np.ones(3)),
}
TRIANGULAR = {
    "MvNormal's cholesky": lambda m: MvNormal(np.zeros(3), cholesky=m),
    "MvStudentT's cholesky": lambda m: MvStudentT(4.0, np.zeros(3), cholesky=m),
    "Wishart's cholesky": lambda m: Wishart(5.0, cholesky=m),
    "WishartCholesky's cholesky": lambda m: WishartCholesky(5.0, cholesky=m),
    "InverseWishart's cholesky": lambda m: InverseWishart(5.0, cholesky=m),
    "InverseWishartCholesky's cholesky": lambda m: InverseWishartCholesky(5.0, cholesky=m),
    "MatrixNormal's row_cholesky": lambda m: MatrixNormal(
        ZEROS, row_cholesky=m, column_covariance=SCALE
    ),
    "MatrixNormal's column_cholesky": lambda m: MatrixNormal(ZEROS, SCALE, column_cholesky=m),
    "MultiGP's cholesky": lambda m: MultiGP(cholesky=m, w=np.ones(3)),
}


def refused(make, matrix):
    """Bind a model whose matrix comes from data; return the error, and the line it should name."""

    class Given(Model):
        m = data(("row", "column"))
        x = param(make(m))

    with pytest.raises(ModelError) as caught:
        Given(m=matrix)
    return caught.value


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize(
    ("matrix", "fault"),
    [
        (NOT_SYMMETRIC, r"elements \[0, 1\] and \[1, 0\] are 0.5 and 0.4"),
        (NOT_DEFINITE, "its smallest eigenvalue is -1"),
        (np.ones((3, 2)), "it is 3 by 2"),
    ],
)
def test_matrices_from_data_are_symmetric_and_positive_definite(name, matrix, fault):
    error = refused(SYMMETRIC[name], matrix)
    message = f"'x': {name} must be a symmetric positive definite matrix; {fault}"
    assert re.search(message, error.message)
    assert error.location.file == __file__


@pytest.mark.parametrize("name", TRIANGULAR)
@pytest.mark.parametrize(
    ("matrix", "fault"),
    [
        (SCALE, r"element \[0, 1\], above the diagonal, is 0.44"),
        (NEGATIVE, r"element \[1, 1\], on the diagonal, is -1"),
        (np.ones((3, 2)), "it is 3 by 2"),
    ],
)
def test_factors_from_data_are_triangular_with_a_positive_diagonal(name, matrix, fault):
    error = refused(TRIANGULAR[name], matrix)
    message = f"{name} must be a lower triangular matrix with a positive diagonal; {fault}"
    assert re.search(message, error.message)


def bound(make, of):
    """Bind a model whose matrix is made of scales and the factor of a correlation matrix."""

    class Made(Model):
        s = param(HalfNormal(1), shape=3)
        factor = param(LKJCholesky(2.0), shape=(3, 3))
        x = param(make(of(s, factor)))

    return Made()


def covariance_of(s, factor):
    return (s[:, None] * factor) @ (s[:, None] * factor).T


def correlations_scaled(s, factor):
    return s[:, None] * (factor @ factor.T) * s


def root(s, factor):
    return s[:, None] * factor


def one_side(s, factor):
    return s[:, None] * (factor @ factor.T)


def inverse(s, factor):
    return np.linalg.inv(covariance_of(1e-3 + s, factor))


def root_again(s, factor):
    return np.linalg.cholesky(covariance_of(s, factor))


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("of", [root, one_side])
def test_a_matrix_of_parameters_that_is_not_symmetric_is_refused(name, of):
    with pytest.raises(ModelError) as caught:
        bound(SYMMETRIC[name], of)
    message = f"'x': {name} must be a symmetric positive definite matrix; elements ["
    assert message in caught.value.message
    assert "at some values of the parameters" in caught.value.message
    assert caught.value.location.file == __file__


@pytest.mark.parametrize("name", TRIANGULAR)
@pytest.mark.parametrize("of", [covariance_of, correlations_scaled, one_side])
def test_a_factor_of_parameters_that_is_not_triangular_is_refused(name, of):
    with pytest.raises(ModelError, match=r"lower triangular .* above the diagonal") as caught:
        bound(TRIANGULAR[name], of)
    assert f"'x': {name}" in caught.value.message


@pytest.mark.parametrize("name", SYMMETRIC)
@pytest.mark.parametrize("of", [covariance_of, correlations_scaled, inverse])
def test_symmetric_matrices_of_parameters_are_accepted(name, of):
    bound(SYMMETRIC[name], of)


@pytest.mark.parametrize("name", TRIANGULAR)
@pytest.mark.parametrize("of", [root, root_again])
def test_triangular_matrices_of_parameters_are_accepted(name, of):
    bound(TRIANGULAR[name], of)


@pytest.mark.parametrize("kind", [Wishart, WishartCholesky, InverseWishart, InverseWishartCholesky])
def test_too_few_degrees_of_freedom_name_the_line(kind):
    line = sys._getframe().f_lineno + 3

    class Few(Model):
        s = param(kind(2.0, SCALE))

    message = f"'s': {kind.__name__}'s df must be above 2 for matrices of size 3 by 3; got 2"
    with pytest.raises(ModelError, match=message) as caught:
        Few()
    assert caught.value.location.line == line


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda m: Wishart(5.0, m), (2, 2)),
        (lambda m: Wishart(5.0, m), (3, 4)),
        (lambda m: InverseWishartCholesky(5.0, cholesky=m), (1, 1)),
        (lambda m: MatrixNormal(np.zeros((3, 2)), m, np.eye(2)), (2, 3)),
        (lambda m: MatrixNormal(np.zeros((3, 2)), np.eye(2), m), (3, 2)),
        (lambda m: MatrixNormal(np.zeros((1, 3)), m, m), (1, 3)),
        (lambda m: MultiGP(m, np.ones(2)), (3, 2)),
        (lambda m: MultiGP(m, np.ones(2)), (1, 3)),
        (lambda m: MvNormal(np.zeros(1), m), 3),
        (lambda m: MvNormal(np.zeros(2), m), 2),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_sizes_that_do_not_fit_are_refused(make, shape, known):
    class Sizes(Model):
        m = data(("row", "column"))
        scale = param(Exponential(1))
        x = param(make(m if known else scale * m), shape=shape)

    with pytest.raises(ShapeError, match="'x'") as caught:
        Sizes(m=np.eye(3))
    assert caught.value.location.file == __file__


def test_a_vector_is_no_matrix():
    class Flat(Model):
        x = param(Wishart(5.0, np.ones(3)))

    with pytest.raises(ShapeError, match=r"Wishart's scale must be a matrix; got shape \(3,\)"):
        Flat()


def test_one_bad_matrix_of_several_is_named():
    class Several(Model):
        x = param(MvNormal(np.zeros(3), np.stack([SCALE, NOT_DEFINITE])))

    with pytest.raises(ModelError, match=r"eigenvalue is -1 \(the one at \[1\]\)"):
        Several()
