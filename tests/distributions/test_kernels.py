"""Kernels: matrices against written-out formulas, sums and products, what is refused."""

import pickle

import numpy as np
import pytest

from probmodel import Model, data, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import (
    CirculantGP,
    GaussianProcess,
    HalfNormal,
    HilbertSpaceGP,
    MultiGP,
    MvNormal,
    Normal,
    kernels,
)
from probmodel.errors import ModelError

RNG = np.random.default_rng(0)
LINE, PLANE = np.sort(RNG.uniform(0, 3, 6)), RNG.normal(size=(5, 3))


def gaps(x, y):
    return x.reshape(len(x), 1, -1) - y.reshape(1, len(y), -1)


def distance(x, y):
    return np.sqrt((gaps(x, y) ** 2).sum(-1))


FORMULAS = {
    "ExpQuad": (kernels.ExpQuad(1.3, 0.7), lambda x, y: np.exp(-0.5 * (distance(x, y) / 0.7) ** 2)),
    "Matern12": (kernels.Matern12(1.3, 0.7), lambda x, y: np.exp(-distance(x, y) / 0.7)),
    "RationalQuadratic": (
        kernels.RationalQuadratic(1.3, 0.7, 0.4),
        lambda x, y: (1 + distance(x, y) ** 2 / (2 * 0.4 * 0.7**2)) ** -0.4,
    ),
    "Periodic": (
        kernels.Periodic(1.3, 0.7, 2.5),
        lambda x, y: np.exp(-2 * (np.sin(np.pi * gaps(x, y) / 2.5) ** 2).sum(-1) / 0.7**2),
    ),
    "Linear": (
        kernels.Linear(1.3, 0.7),
        lambda x, y: (x.reshape(len(x), -1) - 0.7) @ (y.reshape(len(y), -1) - 0.7).T,
    ),
    "Constant": (kernels.Constant(1.3), lambda x, y: np.ones((len(x), len(y)))),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("x", [LINE, PLANE])
def test_matrices_are_those_of_the_formulas(name, x):
    kernel, formula = FORMULAS[name]
    np.testing.assert_allclose(kernel(x), 1.3**2 * formula(x, x), rtol=1e-12)
    np.testing.assert_allclose(kernel(x[:2], x), 1.3**2 * formula(x[:2], x), rtol=1e-12)
    assert np.linalg.eigvalsh(kernel(x)).min() > -1e-12


def test_a_rational_quadratic_tends_to_its_limit():
    limit = kernels.ExpQuad(1.0, 0.7)(LINE)
    np.testing.assert_allclose(kernels.RationalQuadratic(1.0, 0.7, 1e9)(LINE), limit, rtol=1e-6)
    np.testing.assert_allclose(kernels.RationalQuadratic(1.0, 0.7, 1e13)(LINE), limit, rtol=1e-9)


def test_sums_products_numbers_and_axes():
    a, b, c = kernels.ExpQuad(1.3, 0.7), kernels.Linear(0.4), kernels.Matern52(0.9, 2.0)
    np.testing.assert_allclose((a + b * c)(PLANE), a(PLANE) + b(PLANE) * c(PLANE))
    np.testing.assert_allclose(((a + b) * c)(PLANE), (a(PLANE) + b(PLANE)) * c(PLANE))
    np.testing.assert_allclose((2.0 * a + 3)(PLANE), 2.0 * a(PLANE) + 3.0)
    np.testing.assert_allclose((np.float64(2.0) * a * 0.5)(PLANE), a(PLANE))
    np.testing.assert_allclose(sum([a, b])(PLANE), (a + b)(PLANE))
    assert str((a + 1.0) * b) == "(ExpQuad + Constant) * Linear"
    assert list((a * b).arguments) == ["amplitude_1", "length_scale_1", "amplitude_2", "center_2"]
    each = [kernels.ExpQuad(1.0, scale, axes=i) for i, scale in enumerate((0.5, 1.0, 2.0))]
    squares = (gaps(PLANE, PLANE) / np.array([0.5, 1.0, 2.0])) ** 2
    np.testing.assert_allclose(
        (each[0] * each[1] * each[2])(PLANE), np.exp(-0.5 * squares.sum(-1)), rtol=1e-12
    )
    two = kernels.Linear(axes=(0, 2))(PLANE)
    np.testing.assert_allclose(two, PLANE[:, [0, 2]] @ PLANE[:, [0, 2]].T)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kernels.ExpQuad(-1.0), r"kernels.ExpQuad's amplitude must be positive; got -1.0"),
        (lambda: kernels.Periodic(period=0), r"kernels.Periodic's period must be positive; got 0"),
        (lambda: kernels.ExpQuad() - kernels.Linear(), "added and multiplied; there is no diff"),
        (lambda: kernels.ExpQuad() + "a", "kernels, positive numbers and symbols; got 'a'"),
        (lambda: kernels.ExpQuad() * -2.0, "kernels, positive numbers and symbols; got -2.0"),
        (lambda: kernels.ExpQuad(axes=3)(PLANE), r"axes \[3\] of the points, which have 3: 0 to 2"),
        (lambda: Normal(kernels.ExpQuad(), 1), r"ExpQuad is a kernel, which has no value"),
        (lambda: HilbertSpaceGP(kernels.Periodic(), LINE, 5), "ExpQuad, Matern12.*got Periodic"),
        (
            lambda: CirculantGP(kernels.ExpQuad() + 1.0, (LINE,)),
            r"got ExpQuad \+ Constant. For a sum, declare a CirculantGP for each part and add",
        ),
        (lambda: HilbertSpaceGP(kernels.ExpQuad(axes=0), PLANE, 5), r"ExpQuad of the axes \[0\]"),
    ],
)
def test_wrong_use_is_answered(make, message):
    with pytest.raises(ModelError, match=message):
        make()


class Written(Model):
    x = data("obs")
    alpha = param(HalfNormal(1))
    rho = param(HalfNormal(1))
    weight = param(HalfNormal(1))
    kernel = kernels.Matern32(alpha, rho) + weight * kernels.Periodic(period=1.5) * 0.5
    noise = 0.3**2 * (x[:, None] == x)
    y = observed(MvNormal(0.4 * x, kernel(x) + noise), dims="obs")


class Declared(Model):
    x = data("obs")
    alpha = param(HalfNormal(1))
    rho = param(HalfNormal(1))
    weight = param(HalfNormal(1))
    kernel = kernels.Matern32(alpha, rho) + weight * kernels.Periodic(period=1.5) * 0.5
    y = observed(GaussianProcess(kernel, x, mean=0.4 * x, noise=0.3, jitter=0.0), dims="obs")


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 33])
def test_a_kernel_in_a_formula_and_in_a_process(n):
    """Two ways to write one model have the same density, gradient and metric."""
    x = RNG.uniform(0, 3, n)
    both = [as_posterior(kind(x=x, y=np.sin(x))) for kind in (Written, Declared)]
    u = 0.5 * RNG.standard_normal((5, 3))
    (logp, grad), (other, slope) = (density(u) for density in both)
    np.testing.assert_allclose(logp, other, rtol=1e-9)
    np.testing.assert_allclose(grad, slope, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(*(density.metric(u) for density in both), rtol=1e-6, atol=1e-9)


def test_processes_with_one_kernel():
    class Outputs(Model):
        x = data("obs")
        rho = param(HalfNormal(1))
        y = observed(MultiGP(kernels.Matern32(1.0, rho)(x), np.array([1.0, 2.0])))

    density = as_posterior(Outputs(x=LINE, y=RNG.normal(size=(2, 6))))
    assert np.isfinite(density(np.zeros((2, 1)))[0]).all()


def test_kernels_can_be_pickled():
    kernel = pickle.loads(pickle.dumps(kernels.ExpQuad(1.2) + 2.0 * kernels.Periodic()))
    np.testing.assert_array_equal(
        kernel(LINE), (kernels.ExpQuad(1.2) + 2.0 * kernels.Periodic())(LINE)
    )


def test_impossible_values_of_kernel_parameters_have_no_density():
    """A length scale that may be negative is no error, but its density is zero there."""

    class Loose(Model):
        x = data("obs")
        rho = param(Normal(0, 1))
        y = observed(GaussianProcess(kernels.ExpQuad(1.0, rho) + 1.0, x, noise=0.5), dims="obs")

    logp, _ = as_posterior(Loose(x=LINE, y=LINE))(np.array([[1.0], [-1.0]]))
    assert np.isfinite(logp[0])
    assert logp[1] == -np.inf
