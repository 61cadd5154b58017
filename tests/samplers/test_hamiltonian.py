"""Leapfrog trajectories: reversible, volume-preserving, accurate, and stopped where they break."""

import numpy as np
import pytest

from probmodel.numerics.roots import LowRank
from probmodel.samplers.base import State
from probmodel.samplers.hamiltonian.dynamics import (
    LEAPFROG,
    TWO_STAGE,
    hamiltonian_step,
    leapfrog,
    simulate,
    with_momentum,
)
from probmodel.samplers.metropolis import evaluate
from probmodel.testing.statistics import LIMIT, deviations, worst

ROOTS = {
    "identity": None,
    "diag": np.array([0.7, 1.3]),
    "dense": np.array([[0.8, 0.0], [0.5, 1.1]]),
    "low_rank": LowRank(np.array([0.9, 1.2]), np.array([[0.6], [0.8]]), np.array([1.7])),
}
INTEGRATORS = {"leapfrog": LEAPFROG, "two stages": TWO_STAGE}


def started(target, root, seed, chains=5):
    rng = np.random.default_rng(seed)
    state = evaluate(target, rng.standard_normal((chains, 2)))
    return with_momentum(state, rng.standard_normal((chains, 2)))


@pytest.mark.parametrize("integrator", INTEGRATORS.values(), ids=INTEGRATORS.keys())
@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS.keys())
def test_flipped_momenta_lead_back(targets, root, integrator):
    start = started(targets.Banana(), root, 1)
    end, taken = simulate(targets.Banana(), start, root, 0.2, 7, integrator)
    flipped = end._replace(momentum=-end.momentum)
    back, _ = simulate(targets.Banana(), flipped, root, 0.2, 7, integrator)
    np.testing.assert_allclose(back.x, start.x, atol=1e-10)
    np.testing.assert_allclose(-back.momentum, start.momentum, atol=1e-10)
    assert (taken == 7 * integrator.gradients).all()
    assert np.abs(end.x - start.x).max() > 0.5


def test_steps_back_in_time(targets):
    target, root = targets.Banana(), ROOTS["dense"]
    start = started(target, root, 2)
    there = leapfrog(target, start, root, 0.3)
    back = leapfrog(target, there, root, -0.3)
    np.testing.assert_allclose(back.x, start.x, atol=1e-12)
    np.testing.assert_allclose(back.momentum, start.momentum, atol=1e-12)


def jacobian(move, z, eps=1e-5):
    """Derivative of a map of phase space by central differences."""
    columns = [(move(z + eps * e) - move(z - eps * e)) / (2.0 * eps) for e in np.eye(len(z))]
    return np.stack(columns, axis=1)


@pytest.mark.parametrize("integrator", INTEGRATORS.values(), ids=INTEGRATORS.keys())
@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS.keys())
def test_volume_is_preserved(targets, root, integrator):
    target = targets.Banana()

    def move(z):
        start = with_momentum(evaluate(target, z[None, :2]), z[None, 2:])
        end, _ = simulate(target, start, root, 0.25, 3, integrator)
        return np.concatenate([end.x[0], end.momentum[0]])

    for seed in range(3):
        z = np.random.default_rng(seed).standard_normal(4)
        assert abs(np.linalg.det(jacobian(move, z))) == pytest.approx(1.0, abs=1e-7)


def test_volume_that_is_not_preserved_is_found(targets):
    """Negative control: Euler steps."""
    target = targets.Banana()

    def euler(z):
        grad = target(z[None, :2]).grad[0]
        return np.concatenate([z[:2] + 0.25 * z[2:], z[2:] + 0.25 * grad])

    z = np.random.default_rng(0).standard_normal(4)
    assert abs(abs(np.linalg.det(jacobian(euler, z))) - 1.0) > 1e-3


@pytest.mark.parametrize("integrator", INTEGRATORS.values(), ids=INTEGRATORS.keys())
@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS.keys())
def test_energy_error_is_of_second_order(targets, root, integrator):
    target, errors = targets.Banana(), []
    start = started(target, root, 3, chains=50)
    for n in (20, 40, 80):
        end, _ = simulate(target, start, root, 1.0 / n, n, integrator)
        errors.append(np.sqrt(np.mean((end.energy - start.energy) ** 2)))
    np.testing.assert_allclose(np.divide(errors[:-1], errors[1:]), 4.0, rtol=0.1)


@pytest.mark.parametrize("integrator", INTEGRATORS.values(), ids=INTEGRATORS.keys())
def test_integrators_are_symmetric_splittings(integrator):
    for shares in integrator:
        assert sum(shares) == pytest.approx(1.0, abs=1e-15)
        assert shares == pytest.approx(shares[::-1], abs=1e-15)
    assert len(integrator.kicks) == integrator.gradients + 1


def matrix_of(integrator, h, n_steps=1):
    """The map of (q, r) of a standard normal density, step by step as it is defined."""

    def kick(a):
        return np.array([[1.0, 0.0], [-a, 1.0]])

    def drift(a):
        return np.array([[1.0, a], [0.0, 1.0]])

    M = kick(integrator.kicks[0] * h)
    for k, d in zip(integrator.kicks[1:], integrator.drifts, strict=True):
        M = kick(k * h) @ drift(d * h) @ M
    return np.linalg.matrix_power(M, n_steps)


def expected_energy_error(M):
    """Mean of (|Mz|^2 - |z|^2) / 2 over standard normal z = (q, r)."""
    return 0.5 * (np.sum(M * M) - 2.0)


@pytest.mark.parametrize("integrator", INTEGRATORS.values(), ids=INTEGRATORS.keys())
@pytest.mark.parametrize("h", [0.3, 1.2, 1.9])
def test_steps_on_a_normal_density_are_the_matrix(targets, integrator, h):
    target, rng = targets.Gaussian(np.zeros(1), np.eye(1)), np.random.default_rng(9)
    q, r = rng.standard_normal((2, 20000, 1))
    start = with_momentum(evaluate(target, q), r)
    end, _ = simulate(target, start, None, h, 3, integrator)
    M = matrix_of(integrator, h, 3)
    z = np.concatenate([end.x, end.momentum], axis=1)
    np.testing.assert_allclose(z, np.concatenate([q, r], axis=1) @ M.T, atol=1e-12)
    error = end.energy - start.energy
    deviation = np.mean(error) - expected_energy_error(M)
    assert abs(deviation) < LIMIT * np.std(error) / np.sqrt(len(error))


def test_two_stages_keep_the_energy_better_than_two_leapfrog_steps():
    """The claim beside its constant, for the same work and steps of up to two."""
    steps = np.linspace(0.05, 2.0, 400)
    ours = np.array([expected_energy_error(matrix_of(TWO_STAGE, h)) for h in steps])
    theirs = np.array([expected_energy_error(matrix_of(LEAPFROG, 0.5 * h, 2)) for h in steps])
    assert theirs.max() / ours.max() == pytest.approx(78.9, abs=0.5)
    assert np.min(theirs / ours) > 7.0
    longer = 2.5  # negative control: beyond its range it is the worse one
    assert expected_energy_error(matrix_of(TWO_STAGE, longer)) > expected_energy_error(
        matrix_of(LEAPFROG, 0.5 * longer, 2)
    )


@pytest.mark.parametrize("name", ["diag", "dense", "low_rank"])
def test_a_root_is_a_change_of_variables(targets, name):
    """Trajectories with a root C are those of the density of C^-1 q without one."""
    root, target = ROOTS[name], targets.Banana()
    C = {
        "diag": lambda: np.diag(root),
        "dense": lambda: root,
        "low_rank": lambda: (
            np.diag(root.scale) @ (np.eye(2) + (root.basis * (root.factors - 1.0)) @ root.basis.T)
        ),
    }[name]()

    class Whitened:
        dim, coordinate_names = 2, ()

        def __call__(self, x):
            logp, grad = target(x @ C.T)
            return logp, grad @ C

    start = started(target, root, 4)
    x = np.linalg.solve(C, start.x.T).T
    plain = with_momentum(evaluate(Whitened(), x), start.momentum)
    end, _ = simulate(target, start, root, 0.3, 5)
    other, _ = simulate(Whitened(), plain, None, 0.3, 5)
    np.testing.assert_allclose(other.x @ C.T, end.x, atol=1e-12)
    np.testing.assert_allclose(other.energy, end.energy, atol=1e-12)


def test_lengths_and_steps_of_the_chains_own(targets):
    target, root = targets.Banana(), ROOTS["diag"]
    start = started(target, root, 5, chains=4)
    h, n = np.array([0.1, 0.2, 0.3, 0.05]), np.array([3, 1, 5, 2])
    together, taken = simulate(target, start, root, h, n)
    np.testing.assert_array_equal(taken, n)
    for c in range(4):
        alone, _ = simulate(target, start.rows(np.array([c])), root, h[c], int(n[c]))
        for a, b in zip(alone, together, strict=True):
            np.testing.assert_allclose(a[0], b[c], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("outside", ["marker", "nan", "inf", "nan gradient"])
def test_trajectories_stop_where_there_is_no_density(targets, outside):
    target = targets.HalfSpace(2, outside)
    state = evaluate(target, np.array([[0.5, 0.0], [5.0, 0.0]]))
    start = with_momentum(state, np.array([[-2.0, 0.0], [3.0, 1.0]]))
    end, taken = simulate(target, start, None, 0.2, 10)
    assert taken[0] < taken[1] == 10
    np.testing.assert_array_equal(np.isneginf(end.logp), [True, False])
    np.testing.assert_array_equal(np.isposinf(end.energy), [True, False])
    alone, _ = simulate(target, start.rows(np.array([1])), None, 0.2, 10)
    np.testing.assert_allclose(alone.x[0], end.x[1], rtol=1e-12)
    new, info = hamiltonian_step(np.random.default_rng(6), target, state, None, 2.0, 20)
    assert (new.x[:, 0] > 0.0).all()
    assert info.diverging.any()


@pytest.mark.parametrize("outside", ["marker", "nan", "inf", "nan gradient"])
def test_points_without_a_density_between_the_stages_are_marked(targets, outside):
    """Beyond the edge after the first drift, and back inside after the second."""

    class Slit:
        dim, coordinate_names = 1, ()

        def __call__(self, x):
            inside = np.abs(x[:, :1] - 0.5) > 0.1
            target = targets.HalfSpace(1, outside)
            logp, grad = target(np.where(inside, 1.0, -1.0))
            return np.where(inside[:, 0], -0.5 * x[:, 0] ** 2, logp), np.where(inside, -x, grad)

    state = evaluate(Slit(), np.array([[0.0], [2.0]]))
    start = with_momentum(state, np.array([[1.0], [1.0]]))
    end, taken = simulate(Slit(), start, None, 1.0, 1, TWO_STAGE)
    assert np.isfinite(Slit()(end.x)[0]).all()  # both ends lie where there is a density
    np.testing.assert_array_equal(np.isneginf(end.logp), [True, False])
    np.testing.assert_array_equal(np.isposinf(end.energy), [True, False])
    np.testing.assert_array_equal(taken, [2, 2])
    _, further = simulate(Slit(), start, None, 1.0, 3, TWO_STAGE)
    np.testing.assert_array_equal(further, [2, 6])


@pytest.mark.parametrize("integrator", INTEGRATORS.values(), ids=INTEGRATORS.keys())
def test_exact_draws_stay_exact(targets, integrator):
    target, rng = targets.Banana(), np.random.default_rng(7)
    state = evaluate(target, target.exact(rng, 6000))
    for _ in range(5):
        state, info = hamiltonian_step(rng, target, state, ROOTS["diag"], 1.0, 3, integrator)
    name, z = worst(deviations(state.x, target.exact(rng, 6000)))
    assert abs(z) < LIMIT, name
    assert 0.3 < info.accept_prob.mean() < 0.99


def test_ends_that_are_always_accepted_are_found(targets):
    """Negative control of the test above."""
    target, rng = targets.Banana(), np.random.default_rng(8)
    state = evaluate(target, target.exact(rng, 6000))
    for _ in range(5):
        _, info = hamiltonian_step(rng, target, state, ROOTS["diag"], 1.0, 3)
        fine = np.isfinite(info.proposal.logp)[:, None]
        x = np.where(fine, info.proposal.x, state.x)
        state = State(x, *target(x))
    _, z = worst(deviations(np.clip(state.x, -10.0, 10.0), target.exact(rng, 6000)))
    assert abs(z) > 2.0 * LIMIT
