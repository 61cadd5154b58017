"""Gaussian processes as sums of basis functions: accuracy, prediction and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from examples.gaussian import RHO
from scipy import integrate, special

from probmodel import Model, check_model, data, deterministic, infer, observed, param
from probmodel.distributions import HalfNormal, HilbertSpaceGP, Normal, kernels
from probmodel.errors import DataError, ModelError

KINDS = [kernels.ExpQuad, kernels.Exponential, kernels.Matern32, kernels.Matern52]
SMOOTH = [kernels.ExpQuad, kernels.Matern52]
T = np.linspace(-1.0, 1.0, 9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_spectral_densities_are_fourier_transforms_of_the_correlations(kind, axes):
    """Hankel transform of the correlation, by quadrature."""
    order = axes / 2 - 1
    for omega in (0.3, 1.4):

        def integrand(r, omega=omega):
            return kind.correlation(np, r) * r ** (axes / 2) * special.jv(order, omega * r)

        front = (2 * np.pi) ** (axes / 2) * omega**-order
        expected = front * integrate.quad(integrand, 0, 60, limit=500)[0]
        density, slope = kind.log_spectrum(np, omega**2, axes)
        assert np.exp(density) == pytest.approx(expected, rel=1e-6)
        up, down = (kind.log_spectrum(np, omega**2 * np.exp(2 * h), axes)[0] for h in (1e-5, -1e-5))
        assert slope == pytest.approx(0.5 * (up - down) / 2e-5, rel=1e-6)


def covariance(process, x):
    """Covariance of the process at points, from its weights' standard deviations."""
    params = [np.asarray(a, dtype=float) for a in process.args.values()]
    columns = process.basis(x) * process.noncentered(np, np.ones(len(params[2])), *params)
    return columns @ columns.T


@pytest.mark.parametrize("kind", SMOOTH)
def test_many_functions_make_the_exact_covariance(kind):
    distance = np.abs(T[:, None] - T)
    exact = 1.3**2 * RHO[kind](distance / 0.4)
    error = [
        np.abs(covariance(HilbertSpaceGP(kind(1.3, 0.4), T, m, 4.0), T) - exact).max()
        for m in (6, 300)
    ]
    # What is left for Matern 5/2 is its spectrum beyond 300 functions, as (300 pi / 8)^-5.
    assert error[1] < 1e-6
    assert error[0] > 0.1


def test_many_functions_make_the_exact_covariance_in_the_plane():
    x = np.random.default_rng(0).uniform(-1, 1, (8, 2)) * [1.0, 3.0]
    distance = np.sqrt(((x[:, None] - x) ** 2).sum(-1))
    found = covariance(HilbertSpaceGP(kernels.ExpQuad(1.0, 0.8), x, (30, 60), (4.0, 2.5)), x)
    np.testing.assert_allclose(found, np.exp(-0.5 * (distance / 0.8) ** 2), atol=1e-6)


class Curve(Model):
    t = data("time")
    t_new = data("new")
    amplitude = param(HalfNormal(2))
    length = param(HalfNormal(1))
    process = HilbertSpaceGP(kernels.Matern52(amplitude, length), t, n_basis=12, boundary=2)
    weights = param(process, noncentered=True)
    f = deterministic(process.basis(t) @ weights)
    f_new = deterministic(process.basis(t_new) @ weights)
    y = observed(Normal(f, 0.2), dims="time")


@pytest.mark.parametrize("noncentered", [False, True])
def test_derivatives_in_a_model(noncentered):
    class Either(Model):
        t = data("time")
        length = param(HalfNormal(1))
        process = HilbertSpaceGP(kernels.ExpQuad(1.0, length), t * 9, n_basis=4)
        weights = param(process, noncentered=noncentered)
        y = observed(Normal(process.basis(t * 9) @ weights, 0.2), dims="time")

    model = Either(t=T, y=np.sin(T))
    assert model._binding.free[1].shape == (4,)
    report = check_model(model)
    assert report.ok, report


def test_prediction_is_that_of_the_exact_process():
    """Posterior at new points against kriging, with the kernel held fixed."""
    new = np.array([-1.4, -0.3, 1.3])

    class Fixed(Model):
        t = data("time")
        t_new = data("new")
        process = HilbertSpaceGP(kernels.Matern52(1.1, 0.6), t, n_basis=80, boundary=4)
        weights = param(process, noncentered=True)
        f_new = deterministic(process.basis(t_new) @ weights)
        y = observed(Normal(process.basis(t) @ weights, 0.3), dims="time")

    y = np.cos(2 * T)
    posterior = infer(Fixed(t=T, t_new=new, y=y), draws=2000, seed=3, quiet=True).posterior
    found = np.asarray(posterior["f_new"]).reshape(-1, 3)

    def exact(a, b):
        return 1.1**2 * RHO[kernels.Matern52](np.abs(a[:, None] - b) / 0.6)

    gain = exact(new, T) @ np.linalg.inv(exact(T, T) + 0.09 * np.eye(len(T)))
    mean, spread = gain @ y, np.diagonal(exact(new, new) - gain @ exact(T, new))
    assert np.all(np.abs(found.mean(axis=0) - mean) < 5 * np.sqrt(spread / 1000))
    assert np.any(np.abs(found.mean(axis=0) - 1.3 * mean) > 5 * np.sqrt(spread / 1000))
    np.testing.assert_allclose(found.var(axis=0), spread, rtol=0.15)


def test_new_points_must_lie_in_the_box():
    Curve(t=T, t_new=[-2.0, 2.0], y=T)
    with pytest.raises(DataError, match=r"point 1 lies at 2.1 on axis 0, outside the box from -2"):
        Curve(t=T, t_new=[0.0, 2.1], y=T)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((kernels.ExpQuad(), T, 0), "n_basis, 1 or more functions"),
        ((kernels.ExpQuad(), T, 2.5), "n_basis, 1 or more functions"),
        ((kernels.ExpQuad(), T, (3, -1)), "n_basis, 1 or more functions"),
        ((kernels.ExpQuad(), T, (3, 3)), "one n_basis, or one for each of 1 axes; got 2"),
        ((kernels.ExpQuad(), T, 3, 1.0), "boundary above 1"),
        ((kernels.ExpQuad(), T, 3, np.nan), "boundary above 1"),
        ((T, T, 3), "a kernel first, one of .* got ndarray"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ModelError, match=message):
        HilbertSpaceGP(*arguments)


def test_points_that_are_all_alike_have_no_box():
    with pytest.raises(DataError, match="those of axis 1 are all 2"):
        HilbertSpaceGP(kernels.ExpQuad(), np.stack([T, 0 * T + 2], axis=1), 3)
    with pytest.raises(ModelError, match="points of 1 coordinates; got 2"):
        HilbertSpaceGP(kernels.ExpQuad(), T, 3).basis(np.zeros((4, 2)))


def test_points_come_from_data():
    class Latent(Model):
        t = param(Normal(0, 1), shape=4)
        weights = param(HilbertSpaceGP(kernels.ExpQuad(), t, 3))

    with pytest.raises(ModelError, match="point must come from data"):
        Latent()
