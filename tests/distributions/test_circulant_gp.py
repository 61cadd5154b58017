"""Gaussian processes by circulant embedding: exactness on the grid, refusals, models."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from autograd.test_util import check_grads
from examples.gaussian import RHO

from probmodel import Model, check_model, data, deterministic, infer, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import CirculantGP, HalfNormal, Normal, PoissonLog, kernels
from probmodel.distributions.spatial import circulant
from probmodel.errors import DataError, ModelError

X, Y = np.arange(4) * 0.25, np.arange(5) * 0.2


def parameters(process):
    return [np.asarray(a, dtype=float) for a in process.args.values()]


@pytest.mark.parametrize("kind", RHO)
def test_the_covariance_on_the_grid_is_that_of_the_kernel(kind):
    process = CirculantGP(kind(1.3, 0.15), (X, Y), jitter=0.0)
    params = parameters(process)
    shape = process.event_shape(*params)
    assert shape == (6, 8)
    identity = np.eye(48).reshape(48, *shape)
    columns = process.on_grid(np.moveaxis(process.noncentered(np, identity, *params), 0, -1))
    root = columns.reshape(20, 48)
    points = np.array([[a, b] for a in X for b in Y])
    distance = np.sqrt(((points[:, None] - points) ** 2).sum(-1))
    np.testing.assert_allclose(root @ root.T, 1.3**2 * RHO[kind](distance / 0.15), atol=1e-12)


@pytest.mark.parametrize("torus", [(6,), (5,), (4, 6), (3, 5), (2, 4, 6)])
def test_derivatives_of_the_transforms(torus):
    rng, axes = np.random.default_rng(0), len(torus)
    half = (*torus[:-1], torus[-1] // 2 + 1)
    z, other = rng.standard_normal((2, 3, *torus))
    values = circulant.eigenvalues(circulant.from_eigenvalues(rng.random((3, *half)), torus), axes)
    for function, args in [
        (circulant.eigenvalues, (z, axes)),
        (circulant.from_eigenvalues, (values, torus)),
    ]:
        check_grads(function, modes=["rev"], order=2)(*args)
    check_grads(lambda v, z: circulant.multiply(v, z, axes), modes=["rev"], order=2)(values, z)
    check_grads(lambda a, b: circulant.power(a, b, axes), modes=["rev"], order=2)(z, other)
    # One set of eigenvalues for all, too.
    check_grads(lambda v, z: circulant.multiply(v, z, axes), modes=["rev"], order=1)(values[0], z)


def test_products_are_circular_convolutions():
    column = np.array([2.0, 0.7, 0.1, 0.7])
    matrix = column[(np.arange(4)[:, None] - np.arange(4)) % 4]
    values = circulant.eigenvalues(column, 1)
    z = np.random.default_rng(1).standard_normal(4)
    np.testing.assert_allclose(circulant.multiply(values, z, 1), matrix @ z, rtol=1e-13)
    full = np.sort(np.linalg.eigvalsh(matrix))
    kept = np.repeat(values, circulant.multiplicity((4,)).astype(int))
    np.testing.assert_allclose(np.sort(kept), full, rtol=1e-12)


def test_length_scales_too_long_for_the_torus():
    long = CirculantGP(kernels.Matern52(1.0, 2.0), (X, Y))
    with pytest.raises(ModelError, match=r"length scale 2 is too long .* 6 by 8 .* Raise padding="):
        long.log_kernel(np, np.zeros((6, 8)), *parameters(long))
    wide = CirculantGP(kernels.Matern52(1.0, 2.0), (X, Y), padding=40.0)
    assert np.isfinite(wide.log_kernel(np, np.zeros((120, 160)), *parameters(wide)))

    class Free(Model):
        length = param(HalfNormal(1))
        z = param(CirculantGP(kernels.Matern52(1.0, length), (X, Y)), noncentered=True)
        y = observed(Normal(z[0, 0], 1))

    density = as_posterior(Free(y=0.3))
    points = np.zeros((2, density.dim))
    points[:, 0] = np.log([0.1, 2.0])
    points[:, 1:] = np.random.default_rng(0).standard_normal(density.dim - 1)
    with np.errstate(all="ignore"):
        logp = density.log_density(points)
    assert np.isfinite(logp[0])
    assert not np.isfinite(logp[1])


@pytest.mark.parametrize("noncentered", [False, True])
def test_derivatives_in_a_model(noncentered):
    class Counts(Model):
        x = data("row")
        y = data("column")
        amplitude = param(HalfNormal(1))
        length = param(HalfNormal(0.1), upper=0.2)
        process = CirculantGP(kernels.Exponential(amplitude, length), (x, y))
        torus = param(process, noncentered=noncentered)
        field = deterministic(process.on_grid(torus), dims=("row", "column"))
        count = observed(PoissonLog(field), dims=("row", "column"))

    model = Counts(x=X, y=Y, count=np.ones((4, 5)))
    assert model._binding.free[2].shape == (6, 8)
    report = check_model(model)
    assert report.ok, report


def test_the_posterior_is_that_of_the_exact_process():
    class Noisy(Model):
        x = data("place")
        process = CirculantGP(kernels.Exponential(1.2, 0.3), [x])
        torus = param(process, noncentered=True)
        field = deterministic(process.on_grid(torus), dims="place")
        y = observed(Normal(field, 0.4), dims="place")

    x = np.arange(6) * 0.2
    y = np.sin(3 * x) + 1
    posterior = infer(Noisy(x=x, y=y), draws=2000, seed=5, quiet=True).posterior
    found = np.asarray(posterior["field"]).reshape(-1, 6)
    prior = 1.44 * np.exp(-np.abs(x[:, None] - x) / 0.3)
    gain = prior @ np.linalg.inv(prior + 0.16 * np.eye(6))
    mean, spread = gain @ y, np.diagonal(prior - gain @ prior)
    assert np.all(np.abs(found.mean(axis=0) - mean) < 5 * np.sqrt(spread / 2000))
    assert np.any(np.abs(found.mean(axis=0) - 1.3 * mean) > 5 * np.sqrt(spread / 2000))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((X, (X,)), ModelError, "a kernel first, one of .* got ndarray"),
        ((kernels.ExpQuad(), X), ModelError, r"a list of the coordinates of each axis, such as"),
        ((kernels.ExpQuad(), ()), ModelError, r"a list of the coordinates"),
        ((kernels.ExpQuad(), (X,), 1.5), ModelError, "padding, 2 or more times the grid; got 1.5"),
        ((kernels.ExpQuad(), (X,), 2.0, -1.0), ModelError, "jitter >= 0"),
        ((kernels.ExpQuad(), (X, X**2)), DataError, "axis 1 .* equally spaced"),
        ((kernels.ExpQuad(), (X[:1],)), DataError, "axis 0 .* two or more"),
        ((kernels.ExpQuad(), (0 * X,)), ModelError, "axis 0 are all 0"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        CirculantGP(*arguments)


def test_it_can_be_pickled():
    process = CirculantGP(kernels.Exponential(1.0, 0.2), (X, Y))
    params, z = parameters(process), np.ones((6, 8))
    copy = pickle.loads(pickle.dumps(process))
    assert copy.log_kernel(np, z, *params) == process.log_kernel(np, z, *params)
