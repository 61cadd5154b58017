"""Constrained vectors and matrices against what defines them, and in models."""

from __future__ import annotations

from functools import cache

import arviz as az
import numpy as np
import pytest
from scipy import integrate, stats

from probmodel import Model, check_model, infer, param, potential
from probmodel.constraints import (
    CholeskyFactor,
    ColumnStochastic,
    Correlation,
    CorrelationCholesky,
    PositiveDefinite,
    RowStochastic,
    Simplex,
    SumToZero,
    SumToZeroMatrix,
    UnitVector,
)
from probmodel.density import as_posterior
from probmodel.distributions import Dirichlet, Normal
from probmodel.errors import ModelError, ShapeError

RNG = np.random.default_rng(0)
MATRICES = [CholeskyFactor(), PositiveDefinite(), CorrelationCholesky(), Correlation()]


def test_a_sum_to_zero_keeps_lengths_and_treats_elements_alike():
    u = RNG.standard_normal((7, 4))
    y = SumToZero().forward(np, u)
    np.testing.assert_allclose(y.sum(axis=1), 0.0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(y, axis=1), np.linalg.norm(u, axis=1), rtol=1e-13)
    # The covariance of y for standard normal u is the projection on the zero-sum vectors.
    image = SumToZero().forward(np, np.eye(4))
    np.testing.assert_allclose(image.T @ image, np.eye(5) - 0.2, atol=1e-14)


def test_a_sum_to_zero_matrix_keeps_lengths_and_treats_elements_alike():
    u = RNG.standard_normal((7, 2, 4))
    y = SumToZeroMatrix().forward(np, u)
    np.testing.assert_allclose(y.sum(axis=1), 0.0, atol=1e-14)
    np.testing.assert_allclose(y.sum(axis=2), 0.0, atol=1e-14)
    np.testing.assert_allclose((y**2).sum(axis=(1, 2)), (u**2).sum(axis=(1, 2)), rtol=1e-13)
    image = SumToZeroMatrix().forward(np, np.eye(8).reshape(8, 2, 4)).reshape(8, 15)
    expected = np.kron(np.eye(3) - 1 / 3, np.eye(5) - 0.2)
    np.testing.assert_allclose(image.T @ image, expected, atol=1e-14)


def test_stochastic_matrices_are_made_of_simplexes():
    u = RNG.standard_normal((5, 3, 2))
    rows, columns = RowStochastic(), ColumnStochastic()
    np.testing.assert_allclose(rows.forward(np, u), Simplex().forward(np, u), rtol=1e-14)
    np.testing.assert_allclose(rows.log_det(np, u), Simplex().log_det(np, u).sum(axis=1))
    transposed = np.swapaxes(u, 1, 2)
    y = columns.forward(np, transposed)
    np.testing.assert_allclose(y, np.swapaxes(Simplex().forward(np, u), 1, 2), rtol=1e-14)
    np.testing.assert_allclose(columns.log_det(np, transposed), rows.log_det(np, u), rtol=1e-13)


@pytest.mark.parametrize(
    ("constraint", "value", "fault"),
    [
        (RowStochastic(), [[0.5, 0.5], [0.5, 0.4]], "row 1 sums to 0.9"),
        (ColumnStochastic(), [[0.5, 0.5], [0.4, 0.5]], "column 0 sums to 0.9"),
        (RowStochastic(), [[1.5, -0.5], [0.5, 0.5]], "an element is -0.5"),
    ],
)
def test_faults_are_named(constraint, value, fault):
    assert constraint.fault(np.array(value)) == fault


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_term_of_a_unit_vector_makes_up_the_area_of_the_sphere(size):
    def density(*u):
        return np.exp(UnitVector().log_det(np, np.array(u)))

    area = {1: 2.0, 2: 2 * np.pi, 3: 4 * np.pi}[size]
    total = (
        integrate.nquad(density, [(0, 12)] * size, opts={"epsabs": 1e-6, "epsrel": 1e-5})[0]
        * 2**size
    )
    assert total == pytest.approx(area, rel=1e-5)


def test_a_unit_vector_is_in_the_direction_of_its_coordinates():
    u = RNG.standard_normal((6, 3))
    y = UnitVector().forward(np, u)
    np.testing.assert_allclose(np.linalg.norm(y, axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(np.vecdot(y, u), np.linalg.norm(u, axis=1), rtol=1e-14)
    np.testing.assert_allclose(UnitVector().forward(np, UnitVector().inverse(y)), y, rtol=1e-14)


def test_partial_correlations_come_from_the_inverse_of_correlations():
    """The last row's first share is a plain correlation, its last one given all the others."""
    u = 0.7 * RNG.standard_normal(6)
    matrix, z = Correlation().forward(np, u), np.tanh(u)
    np.testing.assert_allclose(matrix[1:, 0], z[[0, 1, 3]], rtol=1e-13)
    precision = np.linalg.inv(matrix)
    partial = -precision[3, 2] / np.sqrt(precision[2, 2] * precision[3, 3])
    assert partial == pytest.approx(z[5], rel=1e-12)


@pytest.mark.parametrize("factor", [CholeskyFactor(), CorrelationCholesky()])
def test_products_have_these_factors(factor):
    product = PositiveDefinite() if isinstance(factor, CholeskyFactor) else Correlation()
    u = 0.5 * RNG.standard_normal((5, *factor.free_shape((3, 3))))
    found = np.linalg.cholesky(product.forward(np, u))
    np.testing.assert_allclose(found, factor.forward(np, u), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("constraint", [PositiveDefinite(), Correlation()])
def test_matrices_that_are_not_definite_have_no_coordinates(constraint):
    assert np.isnan(constraint.inverse(np.array([[1.0, 2.0], [2.0, 1.0]]))).any()


@pytest.mark.parametrize("constraint", MATRICES)
@pytest.mark.parametrize("size", [1, 2, 6])
def test_matrices_of_every_size(constraint, size):
    u = 0.4 * RNG.standard_normal((3, *constraint.free_shape((size, size))))
    y = constraint.forward(np, u)
    assert y.shape == (3, size, size)
    assert constraint.check(y).all()
    np.testing.assert_allclose(constraint.inverse(y), u, rtol=1e-9, atol=1e-12)


class ZeroSum(Model):
    effect = param(Normal(0, 2), constraint=SumToZero(), shape=4)


class ZeroSums(Model):
    scale = param(Normal(0, 1), lower=0)
    effect = param(Normal(0, scale), constraint=SumToZero(), shape=(2, 3))


class Direction(Model):
    y = param(constraint=UnitVector(), shape=(2, 3))
    pull = potential(2.0 * y[0, 0] - y[1, 2] ** 2)


class Covariance(Model):
    s = param(constraint=PositiveDefinite(), shape=(3, 3))
    wishart = potential(
        2.0 * np.sum(np.log(np.diag(np.linalg.cholesky(s))))
        - 0.5 * np.trace(np.diag([1, 2, 3]) @ s)
    )


class Factors(Model):
    root = param(Normal(0, 1), constraint=CholeskyFactor(), shape=(2, 3, 3))


class Correlations(Model):
    root = param(Normal(0, 1), constraint=CorrelationCholesky(), shape=(2, 3, 3))
    matrix = param(Normal(0, 1), constraint=Correlation(), shape=(4, 4))
    stack = param(Normal(0, 1), constraint=Correlation(), shape=(2, 2, 2))


class Interaction(Model):
    effect = param(Normal(0, 2), constraint=SumToZeroMatrix(), shape=(3, 5))
    several = param(Normal(0, 1), constraint=SumToZeroMatrix(), shape=(2, 2, 3))


class Transitions(Model):
    rows = param(constraint=RowStochastic(), shape=(2, 3))
    columns = param(constraint=ColumnStochastic(), shape=(3, 2))
    several = param(constraint=RowStochastic(), shape=(2, 2, 4))
    pull = potential(np.sum(np.log(rows)) + np.sum(np.log(columns[0])))


MODELS = [
    ZeroSum(), ZeroSums(), Covariance(), Factors(), Correlations(), Direction(), Interaction(),
    Transitions(),
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_models_pass_every_check(model):
    report = check_model(model)
    assert report.ok, str(report)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_derivatives_and_chains(model):
    density = as_posterior(model)
    x = density.initial_points(np.random.default_rng(1), 3, inits=0.7)
    v, step = np.random.default_rng(2).normal(size=x.shape), 1e-6
    slope = (density.log_density(x + step * v) - density.log_density(x - step * v)) / (2 * step)
    np.testing.assert_allclose(np.vecdot(density(x).grad, v), slope, rtol=1e-6, atol=1e-6)
    numeric = (density(x + step * v).grad - density(x - step * v).grad) / (2 * step)
    np.testing.assert_allclose(density.hvp(x, v), numeric, rtol=1e-5, atol=1e-5)
    alone = np.concatenate([density.log_density(row[None]) for row in x])
    np.testing.assert_allclose(density.log_density(x), alone, rtol=1e-12)


def test_values_come_back_from_where_they_are_started():
    density = as_posterior(Correlations())
    x = density.initial_points(np.random.default_rng(3), 1, inits=1.0)
    values = {name: value[0] for name, value in density.constrain(x).items()}
    np.testing.assert_allclose(density.unconstrain(values, np.zeros(density.dim)), x[0], rtol=1e-9)
    identity = density.constrain(np.zeros_like(x))["matrix"][0]
    np.testing.assert_array_equal(identity, np.eye(4))


@pytest.mark.parametrize("constraint", MATRICES)
def test_matrices_are_square(constraint):
    class Oblong(Model):
        a = param(constraint=constraint, shape=(2, 3))

    with pytest.raises(ShapeError, match=r"two equal sizes, got \(2, 3\)"):
        Oblong()


@pytest.mark.parametrize(
    "constraint", [SumToZeroMatrix(), RowStochastic(), ColumnStochastic(), CholeskyFactor()]
)
def test_matrices_have_two_axes(constraint):
    class Vector(Model):
        a = param(constraint=constraint, shape=3)

    with pytest.raises(ShapeError, match=r"needs a shape with 2 axes or more, got \(3,\)"):
        Vector()


@pytest.mark.parametrize(
    ("constraint", "shape", "value"),
    [
        (Simplex(), 1, 1.0), (SumToZero(), 1, 0.0), (SumToZeroMatrix(), (1, 3), 0.0),
        (RowStochastic(), (3, 1), 1.0), (ColumnStochastic(), (1, 3), 1.0),
        (Correlation(), (1, 1), 1.0),
    ],
)  # fmt: skip
def test_sizes_that_leave_one_value(constraint, shape, value):
    class Fixed(Model):
        b = param(Normal(0, 1))
        a = param(Normal(b, 1), constraint=constraint, shape=shape)

    assert check_model(Fixed()).ok
    density = as_posterior(Fixed())
    assert density.dim == 1
    np.testing.assert_array_equal(density.constrain(np.zeros((2, 1)))["a"], value)


def test_shares_of_rows_are_no_shares_of_columns():
    class Columns(Model):
        a = param(Dirichlet(np.ones(3)), constraint=ColumnStochastic(), shape=(3, 3))

    with pytest.raises(ModelError, match="a column-stochastic matrix contradicts the prior"):
        Columns()


def test_a_dirichlet_prior_of_two_axes_is_a_row_stochastic_matrix():
    class Prior(Model):
        p = param(Dirichlet(np.array([2.0, 1.0, 3.0])), shape=(2, 3))

    class Written(Model):
        p = param(constraint=RowStochastic(), shape=(2, 3))
        prior = potential(np.sum(np.log(p) @ np.array([1.0, 0.0, 2.0])) + 2 * np.log(60.0))

    x = RNG.standard_normal((4, 4))
    both = [as_posterior(model).log_density(x) for model in (Prior(), Written())]
    np.testing.assert_allclose(both[0], both[1], rtol=1e-12)


class Uniform(Model):
    matrix = param(constraint=Correlation(), shape=(3, 3))


COVARIANCE, TRANSITIONS = Covariance(), Transitions()

# A normal distribution projected on the zero-sum vectors; von Mises and Fisher's distribution with
# concentration 2; Wishart's with 6 degrees of freedom and scales 1, 1/2 and 1/3; the uniform
# distribution of correlation matrices, whose elements have variance 1 / (K + 1); a normal
# distribution on matrices projected twice; Dirichlet's with concentrations 2, 2, 2 and 2, 1, 1.
MEANS = {
    "sum to zero": (ZeroSum(), lambda d: d["effect"][..., 0] ** 2, 3.0),
    "unit vector": (Direction(), lambda d: d["y"][..., 0, 0], 1.0 / np.tanh(2.0) - 0.5),
    "covariance": (COVARIANCE, lambda d: d["s"][..., 1, 1], 3.0),
    "covariance between": (COVARIANCE, lambda d: d["s"][..., 1, 0] ** 2, 6.0 / 2),
    "interaction": (Interaction(), lambda d: d["effect"][..., 0, 0] ** 2, 4.0 * 2 / 3 * 4 / 5),
    "rows": (TRANSITIONS, lambda d: d["rows"][..., 1, 2] ** 2, 1 / 9 + (1 / 3 * 2 / 3) / 7),
    "columns": (TRANSITIONS, lambda d: d["columns"][..., 0, 1], 0.5),
    "correlation": (Uniform(), lambda d: d["matrix"][..., 2, 1] ** 2, 0.25),
}


@cache
def draws(model):
    result = infer(model, draws=1000, seed=4, quiet=True)
    return {name: values.values for name, values in result.posterior.data_vars.items()}


@pytest.mark.parametrize("name", MEANS)
def test_means_of_known_distributions(name):
    model, function, expected = MEANS[name]
    values = function(draws(model))
    error = values.std() / np.sqrt(float(az.ess(values, method="mean")))
    assert abs(values.mean() - expected) < 5.0 * error
    assert abs(values.mean() - 1.3 * expected) > 5.0 * error  # the check can tell another mean


def test_coordinates_of_unit_vectors_are_normal_where_the_density_is_flat():
    class Sphere(Model):
        y = param(constraint=UnitVector(), shape=3)

    density = as_posterior(Sphere())
    x = np.random.default_rng(5).standard_normal((4, 3))
    expected = stats.norm.logpdf(x).sum(axis=1) + np.log(4 * np.pi)
    np.testing.assert_allclose(density.log_density(x), expected, rtol=1e-13)
