"""The loss of entropy_hmc: identities of the leapfrog, finite differences of its gradient."""

import numpy as np
import pytest

from probmodel.adaptation.entropy_loss import (
    BETA,
    GAMMA,
    Path,
    Weights,
    displacement,
    energy_outer,
    entropy_outer,
    impulse,
    loss,
    penalty,
    steer,
)
from probmodel.adaptation.projections import FORMS
from probmodel.adaptation.roulette import curvature_factor, draw_signs, expand, weights

DIM, CHAINS = 4, 8
ROOT = np.random.default_rng(1).standard_normal((DIM, DIM))
P = ROOT @ ROOT.T / DIM + np.eye(DIM)
STEPS = {1: 0.5, 2: 0.5, 5: 0.4}  # step size by number of steps: energy errors of both signs


def potential(x):
    return 0.5 * np.einsum("ci,ij,cj->c", x, P, x) + np.sum(
        np.log(np.cosh(1.3 * x)) - 0.1 * np.sin(x), axis=1
    )


def slope(x):
    return x @ P + 1.3 * np.tanh(1.3 * x) - 0.1 * np.cos(x)


def curvature(x, v):
    return v @ P + (1.69 / np.cosh(1.3 * x) ** 2 + 0.1 * np.sin(x)) * v


def theta_of(name):
    rng = np.random.default_rng(2)
    scales = rng.uniform(0.7, 1.3, DIM)
    if name == "diag":
        return scales
    if name == "dense":
        return np.tril(0.3 * rng.standard_normal((DIM, DIM)), -1) + np.diag(scales)
    return np.concatenate([1.0 / scales, 0.5 * rng.standard_normal(DIM - 1)])


def matrix(name, theta):
    if name == "diag":
        return np.diag(theta)
    if name == "dense":
        return np.tril(theta)
    return np.linalg.inv(np.diag(theta[:DIM]) + np.diag(theta[DIM:], 1))


def trajectory(C, h, L):
    """Paths of some chains by explicit leapfrog steps of q and p with the mass matrix."""
    rng = np.random.default_rng(3)
    q, v = rng.standard_normal((2, CHAINS, DIM))
    p, inverse_mass = np.linalg.solve(C.T, v.T).T, C @ C.T
    x, slopes, halves = [q], [slope(q)], []
    for _ in range(L):
        half = p - 0.5 * h * slope(q)
        q = q + h * half @ inverse_mass
        p = half - 0.5 * h * slope(q)
        x.append(q)
        slopes.append(slope(q))
        halves.append(half @ C)
    end = p @ C
    delta = potential(q) - potential(x[0]) + 0.5 * np.sum(end**2 - v**2, axis=1)
    return Path(np.array(x), np.array(slopes), np.array(halves), v, end, delta)


def differences(f, theta, eps=1e-5):
    out = np.zeros_like(theta)
    for i in np.ndindex(theta.shape):
        up, down = theta.copy(), theta.copy()
        up[i] += eps
        down[i] -= eps
        out[i] = (f(up) - f(down)) / (2.0 * eps)
    return out


def project(form, theta, outer):
    return form.project(theta, *(rows.reshape(-1, DIM) for rows in outer))


@pytest.mark.parametrize("L", STEPS)
@pytest.mark.parametrize("name", FORMS)
def test_identities(name, L):
    """The ends of a trajectory from its gradients (eq. 3 and 4)."""
    h, theta = STEPS[L], theta_of(name)
    path, C = trajectory(matrix(name, theta), h, L), FORMS[name].products(theta)
    w = displacement(path, h)
    end = path.x[0] + L * h * C.times(path.start) - C.times(C.transposed(w))
    np.testing.assert_allclose(end, path.x[-1], rtol=1e-10, atol=1e-12)
    momentum = path.start - C.transposed(impulse(path, h))
    np.testing.assert_allclose(momentum, path.end, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(path.middle, path.x[L // 2])


@pytest.mark.parametrize("L", STEPS)
@pytest.mark.parametrize("name", FORMS)
def test_gradient_of_the_energy(name, L):
    h, theta = STEPS[L], theta_of(name)
    path = trajectory(matrix(name, theta), h, L)
    assert path.delta.min() < -1e-3
    assert path.delta.max() > 1e-3
    w, s = displacement(path, h), impulse(path, h)
    before = potential(path.x[0]) + 0.5 * np.sum(path.start**2, axis=1)

    def energy(theta):
        C = matrix(name, theta)
        q = path.x[0] + L * h * path.start @ C.T - w @ C @ C.T
        r = path.start - s @ C
        return np.sum(np.maximum(0.0, potential(q) + 0.5 * np.sum(r**2, axis=1) - before))

    gradient = project(FORMS[name], theta, energy_outer(path, h, FORMS[name].products(theta)))
    np.testing.assert_allclose(gradient, differences(energy, theta), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("piece", ["none", "square", "linear"])
@pytest.mark.parametrize("L", STEPS)
@pytest.mark.parametrize("name", FORMS)
def test_gradient_of_the_entropy(name, L, piece):
    """Series and direction held fixed, as in lines 7 and 8 of Algorithm 1."""
    h, theta, form = STEPS[L], theta_of(name), FORMS[name]
    kappa, terms = curvature_factor(h, L), weights(5)
    path = trajectory(matrix(name, theta), h, L)
    eps = draw_signs(np.random.default_rng(4), (CHAINS, DIM))
    out = expand(lambda v: curvature(path.middle, v), form.products(theta), kappa, eps, terms)
    size = np.abs(out.mu)
    start = {"none": size.max() + 0.1, "square": size.max() - 0.9, "linear": size.min() - 1.1}
    start = start[piece]
    _, bend = penalty(size, start, 1.0)
    weight = Weights(0.7, 3.0)

    def value(theta):
        C = matrix(name, theta)

        def quadratic(a, b):
            return -kappa * np.sum((a @ C.T) * curvature(path.middle, b @ C.T), axis=1)

        mu = quadratic(out.direction, out.direction)
        entropy = quadratic(out.y, eps) - 3.0 * penalty(np.abs(mu), start, 1.0)[0]
        return -0.7 * np.sum(np.linalg.slogdet(C)[1] + entropy)

    gradient = project(form, theta, entropy_outer(out, eps, kappa, weight, bend))
    gradient = gradient - 0.7 * CHAINS * form.log_det_gradient(theta)
    np.testing.assert_allclose(gradient, differences(value, theta), rtol=1e-6, atol=1e-6)


def test_loss():
    C = FORMS["diag"].products(np.ones(DIM))
    eps = draw_signs(np.random.default_rng(5), (2, DIM))
    out = expand(lambda v: 0.1 * v, C, 1.0, eps, weights(4))
    value = loss(np.array([2.0, -2.0]), 0.5, out, Weights(3.0, 10.0), np.array([0.0, 0.2]))
    expected = [2.0 - 3.0 * (0.5 + out.log_det[0]), -3.0 * (0.5 + out.log_det[1] - 2.0)]
    np.testing.assert_allclose(value, expected)


@pytest.mark.parametrize("slope", [1.0, 2.0])
def test_penalty(slope):
    size = np.array([0.0, 0.75, 1.0, 1.5, 2.0, 3.0])
    value, bend = penalty(size, 0.75, slope)
    np.testing.assert_allclose(
        value, [0.0, 0.0, 0.0625, 0.5625, 1 + 0.25 * slope, 1 + 1.25 * slope]
    )
    np.testing.assert_allclose(bend, [0.0, 0.0, 0.5, 1.5, slope, slope])


def test_weights_are_steered_within_limits():
    none = np.zeros(3)
    assert steer(Weights(1.0, 1e4), 0.87, 0.67, 0.1, none) == pytest.approx((1.02, 1e4))
    assert steer(Weights(1.0, 1e4), 0.17, 0.67, 0.1, none) == pytest.approx((0.95, 1e4))
    raised = steer(Weights(1.0, 1e4), 0.67, 0.67, 0.1, np.array([1.0, 0.0, 2.0]))
    assert raised == pytest.approx((1.0, 1.1e4))
    assert steer(Weights(BETA[1], GAMMA[1]), 1.0, 0.5, 0.5, none + 1.0) == (BETA[1], GAMMA[1])
    assert steer(Weights(BETA[0], GAMMA[0]), 0.0, 0.5, 0.5, none) == (BETA[0], GAMMA[0])
