"""Gaussian processes: declaration, structure and what is remembered."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from derivatives import program
from scipy import stats

from probmodel import Model, data, infer, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import GaussianProcess, HalfNormal, InverseGamma, Normal, kernels
from probmodel.distributions.spatial import kronecker as correlation
from probmodel.errors import ModelError

X = np.linspace(0.0, 3.0, 7)
NUMBERS = tuple(np.array(v) for v in (0.2, 1.3, 0.8))


def test_it_takes_points_or_a_grid():
    with pytest.raises(ModelError, match="exactly one"):
        GaussianProcess(kernels.ExpQuad())
    with pytest.raises(ModelError, match="exactly one"):
        GaussianProcess(kernels.ExpQuad(), X, grid=(X,))
    with pytest.raises(ModelError, match="a kernel first"):
        GaussianProcess(X, X)
    with pytest.raises(ModelError, match="jitter >= 0"):
        GaussianProcess(kernels.ExpQuad(), X, jitter=-1.0)


def test_kernel_arguments_are_parameters():
    dist = GaussianProcess(kernels.Matern32(amplitude=2.0, length_scale=0.5), X, mean=1.0)
    assert {k: v for k, v in dist.args.items() if k != "points"} == {
        "mean": 1.0,
        "amplitude": 2.0,
        "length_scale": 0.5,
    }
    assert dist.event_ndim == 1
    on_grid = GaussianProcess(kernels.ExpQuad(), grid=(X, X[:3]))
    assert on_grid.event_ndim == 2
    assert list(on_grid.args)[3:] == ["axis_0", "axis_1"]


def counting(monkeypatch):
    calls, real = [], correlation.cholesky
    monkeypatch.setattr(correlation, "cholesky", lambda a: calls.append(a.shape) or real(a))
    return calls


@pytest.mark.parametrize("grid", [False, True])
def test_constant_hyperparameters_are_factorised_once(monkeypatch, grid):
    calls = counting(monkeypatch)
    coordinates = (X, X[:3]) if grid else (X,)
    shape = tuple(map(len, coordinates))
    where = {"grid": coordinates} if grid else {"points": X}
    dist = GaussianProcess(kernels.ExpQuad(), **where, jitter=1e-6)
    y, run = np.random.default_rng(0).standard_normal((3, *shape)), []
    for scale in (NUMBERS[2], NUMBERS[2].copy()):
        dist.log_kernel(np, y, *NUMBERS[:2], scale, *coordinates)
        dist.noncentered(np, y, *NUMBERS[:2], scale, *coordinates)
        run.append(program(dist, [0, 1, 2], y[0], *NUMBERS[:2], scale, *coordinates))
        assert calls == [(n, n) for n in shape]
    # Other values of the mean and the amplitude need no other factor.
    run[0](y, np.zeros(3), np.array([1.0, 2.0, 3.0]))
    assert len(calls) == len(shape)
    dist.log_kernel(np, y, *NUMBERS[:2], np.array(0.9), *coordinates)
    assert len(calls) == 2 * len(shape)


def test_non_separable_kernels_on_a_grid_take_one_dense_matrix(monkeypatch):
    calls = counting(monkeypatch)
    dist = GaussianProcess(kernels.Exponential(), grid=(X, X[:3]))
    dist.log_kernel(np, np.zeros((7, 3)), *NUMBERS, X, X[:3])
    assert calls == [(21, 21)]


def test_three_axes_per_chain_equal_the_explicit_covariance():
    axes = (X[:3], X[:2], X[:4])
    dist = GaussianProcess(kernels.ExpQuad(), grid=axes, jitter=1e-4)
    y = np.random.default_rng(0).standard_normal((2, 3, 2, 4))
    scales = np.array([0.7, 1.4])
    logp, *_ = program(dist, [0, 3], y[0], *NUMBERS, *axes)(y, scales)
    for value, scale, actual in zip(y, scales, logp, strict=True):
        covariance = np.array([[1.3**2]])
        for x in axes:
            r = np.exp(-0.5 * ((x[:, None] - x) / scale) ** 2) + 1e-4 * np.eye(len(x))
            covariance = np.kron(covariance, r)
        expected = stats.multivariate_normal(np.full(24, 0.2), covariance).logpdf(value.ravel())
        assert actual == pytest.approx(expected, rel=1e-9)


def test_coordinates_cannot_depend_on_parameters():
    class Warped(Model):
        x = param(Normal(0, 1), shape=7)
        f = param(GaussianProcess(kernels.ExpQuad(), np.stack([x, x], axis=1)))

    with pytest.raises(ModelError, match="must come from data"):
        Warped()


def test_its_size_follows_from_the_points():
    class Plane(Model):
        x = data(("obs", "axis"))
        f = param(GaussianProcess(kernels.ExpQuad(), x))
        g = param(GaussianProcess(kernels.ExpQuad(), x / 10))
        h = param(GaussianProcess(kernels.ExpQuad(), x[:, 0]))

    shapes = [free.shape for free in Plane(x=np.random.default_rng(0).random((7, 2)))._binding.free]
    assert shapes == [(7,)] * 3


@pytest.mark.parametrize("scale", [1e-6, 1.0, 2000.0])
@pytest.mark.parametrize("n", [2, 9, 65])
def test_the_jitter_is_relative_to_the_variance_of_any_kernel(scale, n):
    x = scale * np.linspace(0.9, 1.1, n)
    y = np.sin(x)
    # The covariance x x' + e I has a determinant and an inverse in closed form.
    e = 1e-8 * np.mean(x * x)
    square = (y @ y - (x @ y) ** 2 / (e + x @ x)) / e
    expected = -0.5 * (square + (n - 1) * np.log(e) + np.log(e + x @ x) + n * np.log(2 * np.pi))
    for kernel in (kernels.Linear(1.0), 1.0 * kernels.Linear(1.0)):
        dist = GaussianProcess(kernel, x)
        args = [np.asarray(v) for v in dist.args.values()]
        assert dist.log_density(np, y, *args) == pytest.approx(expected, rel=1e-5)


def test_a_smooth_curve_almost_without_noise_is_fitted():
    """Small noise is where a matrix without jitter has no factor, and chains would not start."""

    class Smooth(Model):
        x = data("obs")
        length = param(InverseGamma(5, 5))
        sigma = param(HalfNormal(1))
        y = observed(GaussianProcess(kernels.ExpQuad(1.0, length), x, noise=sigma), dims="obs")

    x = np.linspace(0, 3, 20)
    fit = infer(Smooth(x=x, y=np.sin(2 * x)), draws=200, chains=4, seed=1, quiet=True)
    assert float(fit.posterior["sigma"].mean()) < 1e-3
    assert np.isfinite(fit.sample_stats["lp"].values).all()
    assert np.ptp(fit.posterior["length"].mean("draw").values) < 0.5


@pytest.mark.parametrize("noise", [0.3, np.full((3, 1), 0.3), np.full((3, 4), 0.3)])
def test_noise_on_a_grid(noise):
    axes = (X[:3], X[:4])
    dist = GaussianProcess(kernels.ExpQuad(1.3, 0.8), grid=axes, noise=noise)
    y = np.random.default_rng(0).standard_normal((3, 4))
    mesh = np.array([[a, b] for a in axes[0] for b in axes[1]])
    squares = ((mesh[:, None] - mesh) ** 2).sum(-1)
    covariance = 1.3**2 * np.exp(-0.5 * squares / 0.8**2) + (0.3**2 + 1.69e-8) * np.eye(12)
    expected = stats.multivariate_normal(np.zeros(12), covariance).logpdf(y.ravel())
    args = [np.asarray(v) for v in dist.args.values()]
    assert dist.log_density(np, y, *args) == pytest.approx(expected, rel=1e-9)


def test_it_can_be_pickled():
    dist = GaussianProcess(kernels.ExpQuad(), X)
    before = dist.log_kernel(np, np.sin(X), *NUMBERS, X)
    after = pickle.loads(pickle.dumps(dist)).log_kernel(np, np.sin(X), *NUMBERS, X)
    assert after == before


@pytest.mark.parametrize(
    ("where", "shape"),
    [
        ({"points": np.arange(5.0)}, (5,)),
        ({"points": np.arange(8.0).reshape(4, 2)}, (4,)),
        ({"grid": (np.arange(3.0), np.arange(2.0))}, (3, 2)),
    ],
)
def test_the_shape_follows_from_the_points(where, shape):
    class Field(Model):
        f = param(GaussianProcess(kernels.ExpQuad(), **where))

    assert as_posterior(Field()).constrain(np.zeros((1, np.prod(shape))))["f"].shape == (1, *shape)
