"""The map of RealNVP and its derivatives, against numerical Jacobians and differences."""

import numpy as np
import pytest
from autograd import grad

from probmodel.adaptation.realnvp import RealNVP
from probmodel.errors import SamplerError

STEP = 1e-5
ROWS = 3


@pytest.fixture(params=[2, 4, 6])
def case(request):
    """A map far from a scaling, theta, and rows z, u, a, b."""
    rng = np.random.default_rng(request.param)
    flow = RealNVP(request.param, width=7)
    theta = flow.start(rng)
    theta = theta + 0.5 * rng.standard_normal(theta.shape)
    return flow, theta, *rng.standard_normal((4, ROWS, flow.dim))


def jacobian(function, z):
    """Central differences of rows: (rows, ..., d), the direction last."""
    columns = [(function(z + STEP * e) - function(z - STEP * e)) for e in np.eye(z.shape[1])]
    return np.stack(columns, axis=-1) / (2.0 * STEP)


def test_inverse(case):
    flow, theta, z, *_ = case
    weights = flow.weights(theta)
    there = flow.forward(weights, z)
    back = flow.inverse(weights, there.x)
    np.testing.assert_allclose(back.z, z, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(back.log_det, there.log_det, rtol=1e-12, atol=1e-12)
    again = flow.gradient(weights, back, z)
    np.testing.assert_allclose(again, flow.gradient(weights, there, z), rtol=1e-10, atol=1e-10)


def test_log_det(case):
    flow, theta, z, *_ = case
    weights = flow.weights(theta)
    J = jacobian(lambda z: flow.forward(weights, z).x, z)
    sign, log_det = np.linalg.slogdet(J)
    np.testing.assert_array_equal(sign, 1.0)
    np.testing.assert_allclose(flow.forward(weights, z).log_det, log_det, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("factor", [1.0, 0.0, -0.7])
def test_gradient_in_z(case, factor):
    flow, theta, z, u, *_ = case
    weights = flow.weights(theta)

    def value(z):
        point = flow.forward(weights, z)
        return np.sum(u * point.x, axis=1) + factor * point.log_det

    ours = flow.gradient(weights, flow.forward(weights, z), u, log_det=factor)
    np.testing.assert_allclose(ours, jacobian(value, z), rtol=1e-7, atol=1e-8)


def test_second_derivatives_in_z(case):
    flow, theta, z, u, a, b = case
    weights = flow.weights(theta)
    J = jacobian(lambda z: flow.forward(weights, z).x, z)
    H = jacobian(lambda z: flow.gradient(weights, flow.forward(weights, z), u), z)
    along_a, along_b, both = flow.second(weights, z, u, a, b)
    np.testing.assert_allclose(along_a, np.einsum("nij,nj->ni", J, a), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(along_b, np.einsum("nij,nj->ni", J, b), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(both, np.einsum("ni,nij,nj->n", a, H, b), rtol=1e-6, atol=1e-7)


def functions(flow, z, u, a, b):
    """Numbers that depend on theta through each of the map's methods."""

    def there(theta):
        point = flow.forward(flow.weights(theta), z)
        return (point.x * a).sum() + (point.log_det * a[:, 0]).sum()

    def back(theta):
        point = flow.inverse(flow.weights(theta), u)
        return (point.z * a).sum() + (point.log_det * a[:, 0]).sum()

    def gradient(theta):
        weights = flow.weights(theta)
        return (flow.gradient(weights, flow.inverse(weights, z), u) * a).sum()

    def second(theta):
        weights = flow.weights(theta)
        along_a, along_b, both = flow.second(weights, flow.inverse(weights, z).z, u, a, b)
        return (along_a * u).sum() + (along_b * z).sum() + (both * a[:, 0]).sum()

    return there, back, gradient, second


@pytest.mark.parametrize("which", range(4), ids=["forward", "inverse", "gradient", "second"])
def test_derivatives_in_theta(case, which):
    flow, theta, *rows = case
    function = functions(flow, *rows)[which]
    ours = grad(function)(theta)
    differences = jacobian(lambda t: np.array([function(row) for row in t]), theta[None])[0]
    np.testing.assert_allclose(ours, differences, rtol=1e-6, atol=1e-6)


def test_a_start_is_nearly_a_scaling():
    rng = np.random.default_rng(0)
    flow = RealNVP(4)
    weights = flow.weights(flow.start(rng))
    z = rng.standard_normal((1000, 4))
    point = flow.forward(weights, z)
    np.testing.assert_allclose(point.x, np.exp(-1.0) * z, atol=0.05)
    np.testing.assert_allclose(point.log_det, -4.0, atol=0.1)


def test_scales_are_bounded():
    """A coupling layer neither folds nor explodes, however far out: g is between 1/2 and 2."""
    rng = np.random.default_rng(1)
    flow = RealNVP(2)
    theta = flow.start(rng)
    weights = flow.weights(theta + rng.standard_normal(theta.shape))
    point = flow.forward(weights, 1e3 * rng.standard_normal((100, 2)))
    from_networks = point.log_det - np.sum(weights.log_scale)
    assert np.all(np.abs(from_networks) <= 2.0 * np.log(2.0) + 1e-12)


@pytest.mark.parametrize("dim", [1, 3])
def test_odd_dimensions_are_refused(dim):
    with pytest.raises(SamplerError, match=rf"an even number .* there are {dim}"):
        RealNVP(dim)
