"""Steps that are as short as their place asks for."""

import numpy as np
import pytest

from probmodel.inference.counting import counting
from probmodel.samplers.hamiltonian import fisher_transitions, step_halving
from probmodel.samplers.hamiltonian.dynamics import LEAPFROG, TWO_STAGE, with_momentum
from probmodel.samplers.hamiltonian.fisher_hmc import FisherHMC, Params
from probmodel.samplers.hamiltonian.step_halving import (
    CERTAIN_RANGE,
    LARGEST_RANGE,
    MOST,
    simulate_halving,
)
from probmodel.samplers.metropolis import evaluate
from probmodel.testing.statistics import LIMIT, deviations, worst
from probmodel.testing.targets import KnownTarget
from probmodel.types import Evaluation

ROOT = np.array([[0.8, 0.0], [0.5, 1.1]])


class Horn(KnownTarget):
    """A width that depends on the place: x is normal, and y too, with the scale exp(x)."""

    dim = 2

    def __call__(self, x):
        u, z = x[:, 0], x[:, 1] * np.exp(-x[:, 0])
        logp = -0.5 * u**2 - 0.5 * z**2 - u
        return Evaluation(logp, np.stack([-u + z**2 - 1.0, -z * np.exp(-u)], axis=1))

    def exact(self, rng, n):
        u, z = rng.standard_normal((2, n))
        return np.stack([u, np.exp(u) * z], axis=1)

    def hessian(self, x):
        raise NotImplementedError

    def metric(self, x):
        raise NotImplementedError


def by_hand(rng, target, phase, h, n, integrator, finest):
    """The end, the weight, the level and the gradients of one chain's trajectory."""
    x, r = phase.x[0], phase.momentum[0]

    def path(x, r, j):
        """Ranges of the energy, and the end, of the trajectory of a level."""
        s, energies, gradients = h / 2**j, [], 0

        def energy():
            return 0.5 * r @ r - target(x[None]).logp[0]

        energies.append(energy())
        for _ in range(max(n, min(n * 2**j, MOST))):
            for kick, drift in zip(integrator.kicks, integrator.drifts, strict=False):
                r = r + kick * s * ROOT.T @ target(x[None]).grad[0]
                x = x + drift * s * ROOT @ r
                gradients += 1
            r = r + integrator.kicks[-1] * s * ROOT.T @ target(x[None]).grad[0]
            energies.append(energy())
            if np.ptp(energies) > LARGEST_RANGE:
                return 0.0, x, r, gradients
        return np.exp(-max(np.ptp(energies) - CERTAIN_RANGE, 0.0)), x, r, gradients

    taken, weight = 0, 0.0
    for j in range(finest + 1):
        kept, end, momentum, gradients = path(x, r, j)
        taken += gradients
        if kept > (rng.random() if j < finest else 0.0):
            break
        weight -= np.log(1.0 - kept)
    for i in range(j if kept > 0.0 else 0):
        kept, _, _, gradients = path(end, -momentum, i)
        taken += gradients
        with np.errstate(divide="ignore"):
            weight += np.log(1.0 - kept)
        if kept == 1.0:
            break
    return end, momentum, weight, j, taken


@pytest.mark.parametrize("integrator", [LEAPFROG, TWO_STAGE])
def test_one_trajectory_by_hand(integrator):
    target, levels, weights = Horn(), [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        state = evaluate(target, target.exact(rng, 1))
        start = with_momentum(state, rng.standard_normal((1, 2)))
        u = np.random.default_rng(seed).random((1, 4))
        found = simulate_halving(target, start, ROOT, 1.2, 3, u, integrator)
        end, momentum, weight, level, taken = by_hand(
            np.random.default_rng(seed), target, start, 1.2, 3, integrator, 4
        )
        assert found.level == level
        assert found.taken == taken
        if not found.failed:
            np.testing.assert_allclose(found.x[0], end, rtol=1e-8)
            np.testing.assert_allclose(found.momentum[0], momentum, rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(found.log_weight[0], weight, rtol=1e-7, atol=1e-9)
        levels.append(level)
        weights.append(weight)
    assert set(levels) >= {0, 1, 2, 3}  # the last would take 24 steps, and takes 16
    assert np.isfinite(weights).sum() > 40
    assert np.any(np.abs(weights) > 0.1)


def test_chains_do_not_depend_on_each_other():
    target, rng, levels = Horn(), np.random.default_rng(1), set()
    for offset, step in ((2.0, 0.2), (-3.0, 0.9), (-1.0, 0.9)):
        x, u = np.array([offset, 0.0]) + rng.standard_normal((5, 2)), rng.random((5, 6))
        start = with_momentum(evaluate(target, x), np.ones((5, 2)))
        whole = simulate_halving(target, start, ROOT, step, 2, u, TWO_STAGE)
        levels |= set(whole.level.tolist())
        for c in range(5):
            one = simulate_halving(target, start.rows([c]), ROOT, step, 2, u[c : c + 1], TWO_STAGE)
            np.testing.assert_allclose(one.x[0], whole.x[c], rtol=1e-12)
            np.testing.assert_allclose(one.log_weight[0], whole.log_weight[c], atol=1e-12)
            assert one.taken[0] == whole.taken[c]
    assert len(levels) > 2


def test_gradients_are_counted():
    target, rng = counting(Horn()), np.random.default_rng(2)
    state = evaluate(Horn(), Horn().exact(rng, 200))
    start = with_momentum(state, rng.standard_normal((200, 2)))
    made = simulate_halving(target, start, ROOT, 0.9, 2, rng.random((len(start.x), 6)), TWO_STAGE)
    assert made.taken.sum() == target.work.grad
    assert made.level.max() >= 3


def test_nothing_is_tried_twice_where_the_step_suits(targets):
    target, rng = targets.Gaussian(np.zeros(2), ROOT @ ROOT.T), np.random.default_rng(3)
    start = with_momentum(evaluate(target, target.exact(rng, 500)), target.exact(rng, 500))
    made = simulate_halving(target, start, ROOT, 1.6, 1, rng.random((len(start.x), 6)), TWO_STAGE)
    assert (made.level == 0).all()
    assert (made.taken == 2).all()
    assert (made.first == 1.0).all()
    assert (made.log_weight == 0.0).all()


def after(target, n, rng, iterations=10):
    """Exact draws after some transitions."""
    sampler, params = FisherHMC(persistence=0.3), Params(1.5, 2.0, np.eye(2))
    state, levels = sampler.init(rng, target, target.exact(rng, n)), []
    for _ in range(iterations):
        state, info = sampler.step(rng, target, state, params)
        levels.append(np.mean(info.n_grad > 4))
    assert np.mean(levels) > 0.2
    return state.x


def test_exact_draws_stay_exact():
    """Also far out, and in the narrow part, where most steps are halved."""
    target, rng, n = Horn(), np.random.default_rng(4), 40_000
    x = tamed(after(target, n, rng))
    name, z = worst(deviations(x, tamed(target.exact(rng, n))))
    assert abs(z) < LIMIT, name


def tamed(x):
    """Standard normal coordinates, in which no moment is far larger than the others."""
    return np.stack([x[:, 0], x[:, 1] * np.exp(-x[:, 0])], axis=1)


def test_levels_that_cost_nothing_are_found(monkeypatch):
    """Negative control: the probabilities of the levels have to be in the acceptance."""

    def unweighted(*arguments):
        made = simulate_halving(*arguments)
        return made._replace(log_weight=np.zeros_like(made.log_weight))

    monkeypatch.setattr(fisher_transitions, "simulate_halving", unweighted)
    target, rng, n = Horn(), np.random.default_rng(4), 40_000
    x = tamed(after(target, n, rng))
    _, z = worst(deviations(x, tamed(target.exact(rng, n))))
    assert abs(z) > 2.0 * LIMIT


def test_acceptance_is_even_along_a_horn(monkeypatch):
    """With halved steps; without them the narrow part is hardly ever left or entered."""

    def acceptance(finest):
        monkeypatch.setattr("probmodel.samplers.hamiltonian.fisher_transitions.FINEST", finest)
        target, rng = Horn(), np.random.default_rng(5)
        state = FisherHMC().init(rng, target, target.exact(rng, 20_000))
        _, info = FisherHMC().step(rng, target, state, Params(0.7, 1.5, np.eye(2)))
        narrow = state.x[:, 0] < -1.5
        return info.accept_prob[narrow].mean(), info.accept_prob[~narrow].mean()

    halved, usual = acceptance(step_halving.FINEST), acceptance(0)
    assert halved[0] > 0.5 * halved[1]
    assert usual[0] < 0.4 * usual[1]


@pytest.mark.parametrize("outside", ["marker", "nan", "inf", "nan gradient"])
def test_places_without_a_density(targets, outside):
    target, rng = targets.HalfSpace(2, outside), np.random.default_rng(6)
    x = np.abs(rng.standard_normal((400, 2)))
    start = with_momentum(evaluate(target, x), rng.standard_normal((400, 2)))
    made = simulate_halving(
        target, start, np.eye(2), 1.0, 3, rng.random((len(start.x), 6)), TWO_STAGE
    )
    assert made.failed.any()
    assert not made.failed.all()
    assert (made.x[~made.failed, 0] > 0.0).all()
    assert np.isfinite(made.logp[~made.failed]).all()
    assert (made.level[made.failed] == 6).all()


def test_marked_rows_stay_where_they_are():
    """A momentum so large that nothing is finite."""
    target = Horn()
    state = evaluate(target, np.zeros((2, 2)))
    start = with_momentum(state, np.array([[1e200, 1.0], [0.1, 0.1]]))
    made = simulate_halving(target, start, np.eye(2), 0.5, 1, np.full((2, 2), 0.5), LEAPFROG)
    np.testing.assert_array_equal(made.failed, [True, False])
    np.testing.assert_array_equal(made.level, [2, 0])
