"""Trajectories in machine code against those of NumPy, which take one step after the other."""

import numpy as np
import pytest
from counts import CHAINS, ROOTS, counts, root

from probmodel.inference.counting import counting
from probmodel.numerics.roots import InverseBidiagonal, transposed_times
from probmodel.samplers.hamiltonian.dynamics import (
    LEAPFROG,
    TWO_STAGE,
    follow,
    simulate,
    trace,
    with_momentum,
)
from probmodel.samplers.hamiltonian.step_halving import FINEST, simulate_halving
from probmodel.samplers.hamiltonian.trees import grown
from probmodel.samplers.metropolis import DIVERGENCE, evaluate
from probmodel.types import Doublings, Grown


class Plain:
    """The same function without anything else: what calls it takes its own steps."""

    def __init__(self, density):
        self._density, self.dim, self.coordinate_names = density, density.dim, ()

    def __call__(self, x):
        return self._density(x)

    def log_density(self, x):
        return self._density.log_density(x)


def begun(density, chains, rng, size=1.0):
    """Starts whose machine code is made."""
    x = rng.standard_normal((chains, density.dim))
    return with_momentum(evaluate(density, x), size * rng.standard_normal(x.shape))


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ROOTS)
@pytest.mark.parametrize("dim", [1, 3, 4, 9])
def test_ends(kind, dim):
    rng, density = np.random.default_rng(dim), counts(dim)
    for chains in CHAINS:
        C, start = root(kind, dim, rng), begun(density, chains, rng)
        n, h = rng.integers(1, 9, chains), rng.uniform(-0.3, 0.3, chains)
        for integrator in (LEAPFROG, TWO_STAGE):
            end, taken = simulate(density, start, C, h, n, integrator)
            other, expected = simulate(Plain(density), start, C, h, n, integrator)
            assert_same(end, other)
            np.testing.assert_array_equal(taken, expected)


def test_no_steps_at_all():
    rng, density = np.random.default_rng(0), counts(3)
    start = begun(density, 5, rng)
    end, taken = simulate(density, start, None, 0.3, [0, 2, 0, 1, 0])
    np.testing.assert_array_equal(taken, [0, 2, 0, 1, 0])
    still = taken == 0
    assert_same(end.rows(still), start.rows(still))
    assert (end.x[~still] != start.x[~still]).all()
    end, taken = simulate(density, start, None, 0.3, 0)
    assert not taken.any()
    assert_same(end, start)


def test_places_without_a_density():
    rng, density = np.random.default_rng(0), counts(3, steep=100.0)
    for chains in CHAINS[3:]:
        start = begun(density, chains, rng, size=4.0)
        end, taken = simulate(density, start, None, 0.5, 7, TWO_STAGE)
        other, expected = simulate(Plain(density), start, None, 0.5, 7, TWO_STAGE)
        np.testing.assert_array_equal(taken, expected)
        lost = np.isneginf(other.logp)
        assert lost.any()
        assert (taken[lost] < 14).any()
        assert_same(end.rows(~lost), other.rows(~lost))
        np.testing.assert_array_equal(end.logp[lost], -np.inf)
        np.testing.assert_array_equal(end.grad[lost], 0.0)
        np.testing.assert_allclose(end.x[lost], other.x[lost], rtol=1e-9)


@pytest.mark.parametrize("steep", [1.0, 5.0, 20.0])
@pytest.mark.parametrize("kind", ROOTS)
def test_halved_steps(kind, steep):
    rng, density, levels = np.random.default_rng(1), counts(4, steep), set()
    for chains in CHAINS:
        C, start = root(kind, 4, rng), begun(density, chains, rng)
        u = np.random.default_rng(chains).random((chains, FINEST))
        for h, n, most in ((0.9, 1, 16), (1.5, 3, 4)):
            found, expected = (
                simulate_halving(target, start, C, h, n, u, TWO_STAGE, most)
                for target in (density, Plain(density))
            )
            for name in ("level", "failed", "taken"):
                np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
            assert_same(found[:8], expected[:8])
            levels |= set(expected.level.tolist())
    assert len(levels) > (1 if steep == 1.0 else 3)


@pytest.mark.parametrize("kind", ROOTS)
def test_all_points(kind):
    rng, density = np.random.default_rng(2), counts(5)
    for chains in CHAINS:
        C, start = root(kind, 5, rng), begun(density, chains, rng)
        points, taken = trace(density, start, C, 0.2, 6)
        others, expected = trace(Plain(density), start, C, 0.2, 6)
        for point, other in zip(points, others, strict=True):
            assert_same(point, other)
        np.testing.assert_array_equal(taken, expected)


def transitions(target, density, chains, C, h, rng, depth=6, n=30):
    """Make transitions of the No-U-Turn sampler, from the same numbers whatever the target."""
    x, logp, grad = begun(density, chains, rng)[:3]
    momenta = rng.standard_normal((n, *x.shape))
    seeds = rng.integers(1 << 64, size=(n, chains), dtype=np.uint64)
    parts, state, made = [], (x, logp, grad), 0
    while made < n:  # NumPy makes one at a time
        rest = Doublings(*state, momenta[made:], seeds[made:], C, h, depth, DIVERGENCE)
        parts.append(grown(target, rest))
        state = tuple(places[-1] for places in parts[-1][:3])
        made += len(parts[-1].x) - 1
    later = [[column[1:] for column in part[:3]] + list(part[3:]) for part in parts[1:]]
    return Grown(*(np.concatenate(columns) for columns in zip(parts[0], *later, strict=True)))


def assert_same_trees(found, expected):
    for name in ("n_steps", "depth", "accepted", "reached", "diverging"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for name in ("x", "logp", "grad", "energy", "accept_prob"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-6, atol=1e-7
        )
    broken = found.diverging
    np.testing.assert_allclose(found.broken[broken], expected.broken[broken], rtol=1e-6)


@pytest.mark.parametrize("kind", ROOTS)
@pytest.mark.parametrize(
    "dim", [1, 8, 17, *(pytest.param(n, marks=pytest.mark.statistical) for n in (3, 9))]
)
def test_trees(kind, dim):
    """Each chain at its own pace, with a step size of its own."""
    density, steps = counts(dim), set()
    for chains in CHAINS:
        rng = np.random.default_rng([dim, chains])
        C, h = root(kind, dim, rng), rng.uniform(0.05, 0.4, chains)
        found, expected = (
            transitions(target, density, chains, C, h, np.random.default_rng(4), n=8)
            for target in (density, Plain(density))
        )
        assert_same_trees(found, expected)
        steps |= set(found.n_steps.ravel().tolist())
    assert len(steps) > 3


@pytest.mark.parametrize("depth", [1, 2, 3, 9])
def test_trees_are_cut_off(depth):
    density = counts(3)
    found, expected = (
        transitions(target, density, 5, None, 0.02, np.random.default_rng(5), depth, n=6)
        for target in (density, Plain(density))
    )
    assert_same_trees(found, expected)
    assert found.reached.any() or depth == 9
    assert found.depth.max() <= depth


def test_trees_that_diverge():
    """Steps that are too long, among others that are not."""
    density, h = counts(3), np.array([0.2, 0.9, 1.6, 2.5, 0.2])
    found, expected = (
        transitions(target, density, 5, None, h, np.random.default_rng(6), n=40)
        for target in (density, Plain(density))
    )
    assert_same_trees(found, expected)
    assert 0 < found.diverging.sum() < found.diverging.size
    assert np.isfinite(found.x).all()
    assert np.isfinite(found.accept_prob).all()


def test_trees_take_several_threads(monkeypatch):
    from probmodel.compiler import machine

    monkeypatch.setattr(machine, "WORTH_A_THREAD", 0.0)
    density, made = counts(9), []
    for cores in (1, 3):
        density.use_engine(cores=cores)
        made.append(transitions(density, density, 40, None, 0.2, np.random.default_rng(7), n=4))
    for a, b in zip(*(found[:-1] for found in made), strict=True):
        np.testing.assert_array_equal(a, b)


def test_long_trajectories_take_several_threads(monkeypatch):
    from probmodel.compiler import machine

    monkeypatch.setattr(machine, "WORTH_A_THREAD", 0.0)
    rng, density = np.random.default_rng(5), counts(9)
    for chains in CHAINS:
        C, start = root("dense", 9, rng), begun(density, chains, rng)
        u, ends = np.random.default_rng(6).random((chains, FINEST)), []
        for cores in (1, 3):
            density.use_engine(cores=cores)
            density(start.x)
            found = [
                simulate_halving(density, start, C, 0.5, 2, u, TWO_STAGE, 16) for _ in range(2)
            ]
            ends.append(found[1])
        np.testing.assert_array_equal(ends[0].x, ends[1].x)
        np.testing.assert_array_equal(ends[0].taken, ends[1].taken)


def test_gradients_are_counted():
    rng, density = np.random.default_rng(7), counts(3)
    start, counted = begun(density, 5, rng), counting(density)
    _, taken = simulate(counted, start, None, 0.1, [1, 2, 3, 4, 5], TWO_STAGE)
    np.testing.assert_array_equal(taken, [2, 4, 6, 8, 10])
    assert counted.work.grad == 30
    found = transitions(counted, density, 5, None, 0.1, rng)
    assert counted.work.grad == 30 + found.n_steps.sum()


def test_what_machine_code_does_not_know():
    rng, density = np.random.default_rng(8), counts(3)
    start, band = begun(density, 5, rng), InverseBidiagonal(np.ones(3), np.full(2, 0.3))
    assert follow(density, start, band, 0.1, 2, LEAPFROG) is None
    assert_same(
        simulate(density, start, band, 0.1, 2)[0], simulate(Plain(density), start, band, 0.1, 2)[0]
    )
    density.use_engine("numpy")
    assert follow(density, start, None, 0.1, 2, LEAPFROG) is None


def test_the_comparison_sees_a_root_that_is_transposed():
    """Negative control."""
    rng, density = np.random.default_rng(9), counts(4)
    C, start = root("dense", 4, rng), begun(density, 5, rng)
    end, _ = simulate(density, start, C, 0.2, 3)
    other, _ = simulate(Plain(density), start, C.T, 0.2, 3)
    assert np.abs(end.x - other.x).max() > 1e-3
    assert np.abs(transposed_times(C, start.grad) - start.grad @ C.T).max() > 1e-3
