"""Exact gradients through a trajectory: finite differences of whole trajectories."""

import numpy as np
import pytest

from probmodel.adaptation.entropy_loss import Path
from probmodel.adaptation.leapfrog_adjoint import (
    adjoint_outer,
    energy_slopes,
    esjd,
    jump_slopes,
    jumps,
    l2hmc,
    mean_jump,
)
from probmodel.adaptation.projections import FORMS

DIM, CHAINS = 4, 8
ROOT = np.random.default_rng(1).standard_normal((DIM, DIM))
P = ROOT @ ROOT.T / DIM + np.eye(DIM)
STEPS = {1: 0.5, 2: 0.5, 5: 0.4}  # step size by number of steps: energy errors of both signs
RNG = np.random.default_rng(3)
START, MOMENTUM = RNG.standard_normal((2, CHAINS, DIM))


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
    q, r = START, MOMENTUM
    x, slopes, halves = [q], [slope(q)], []
    for _ in range(L):
        half = r - 0.5 * h * slope(q) @ C
        q = q + h * half @ C.T
        r = half - 0.5 * h * slope(q) @ C
        x.append(q)
        slopes.append(slope(q))
        halves.append(half)
    delta = potential(q) - potential(START) + 0.5 * np.sum(r**2 - MOMENTUM**2, axis=1)
    return Path(np.array(x), np.array(slopes), np.array(halves), MOMENTUM, r, delta)


def differences(f, theta, eps=1e-6):
    out = np.zeros_like(theta)
    for i in np.ndindex(theta.shape):
        up, down = theta.copy(), theta.copy()
        up[i] += eps
        down[i] -= eps
        out[i] = (f(up) - f(down)) / (2.0 * eps)
    return out


def jump_by_definition(path, power):
    accepted = np.minimum(1.0, np.exp(-path.delta))
    return accepted * np.linalg.norm(path.x[-1] - path.x[0], axis=1) ** power


def objective(name, path):
    if name == "energy":
        return np.maximum(0.0, path.delta)
    size = jump_by_definition(path, 1.0 if name == "esjd, length" else 2.0)
    return 1.7 / size - size / 1.7 if name == "l2hmc" else -size


def slopes_of(name, path):
    if name == "energy":
        return energy_slopes(path)
    power = 1.0 if name == "esjd, length" else 2.0
    size = jumps(path, power)
    _, by_jump = l2hmc(size, 1.7) if name == "l2hmc" else esjd(size)
    return jump_slopes(path, power, by_jump)


@pytest.mark.parametrize("objective_name", ["energy", "esjd", "esjd, length", "l2hmc"])
@pytest.mark.parametrize("L", STEPS)
@pytest.mark.parametrize("name", FORMS)
def test_gradient(name, L, objective_name):
    h, theta, form = STEPS[L], theta_of(name), FORMS[name]
    path = trajectory(matrix(name, theta), h, L)
    assert path.delta.min() < -1e-3
    assert path.delta.max() > 1e-3
    products = []

    def curve(x, v):
        products.append(v)
        return curvature(x, v)

    outer = adjoint_outer(path, h, form.products(theta), curve, *slopes_of(objective_name, path))
    gradient = form.project(theta, *(rows.reshape(-1, DIM) for rows in outer))
    expected = differences(
        lambda t: np.sum(objective(objective_name, trajectory(matrix(name, t), h, L))), theta
    )
    scale = np.max(np.abs(expected))
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7 * scale)
    assert len(products) == L


def test_values():
    path = trajectory(np.eye(DIM), 1.0, 2)
    size = jumps(path, 2.0)
    np.testing.assert_allclose(size, jump_by_definition(path, 2.0), rtol=1e-12)
    np.testing.assert_allclose(esjd(size)[0], -size)
    np.testing.assert_allclose(l2hmc(size, 1.7)[0], 1.7 / size - size / 1.7)


def test_a_jump_of_nothing_has_no_gradient_that_counts():
    """It is not finite, so that the sampler leaves the chain out."""
    with np.errstate(over="ignore"):
        _, by_jump = l2hmc(np.zeros(1), 1.0)
    assert not np.isfinite(by_jump).any()


def test_mean_jump():
    assert mean_jump(1.0, np.array([2.0, 4.0])) == pytest.approx(1.02)
