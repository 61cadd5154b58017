"""Transitions that are made several at a time against those that are made one by one."""

import numpy as np
import pytest
from counts import CHAINS, ROOTS, Counts, counts, root

from probmodel import infer
from probmodel.inference.collectors import Counter, DivergenceStore, DrawStore
from probmodel.inference.counting import counting
from probmodel.numerics.roots import InverseBidiagonal
from probmodel.samplers.hamiltonian import fisher_transitions
from probmodel.samplers.hamiltonian import several_transitions as module
from probmodel.samplers.hamiltonian.fisher_hmc import FisherHMC, Params
from probmodel.types import Trajectories


def step_by_step(own):
    """Trajectories are followed at once; transitions are not made."""
    return lambda self, dynamics: own(self, dynamics) if follows(dynamics) else None


def follows(dynamics):
    return isinstance(dynamics, Trajectories)


def streamed(density, chains, params, n, method, monkeypatch=None):
    """States, infos and gradients of a stream, whose trajectories may be made step by step."""
    rng, counted = np.random.default_rng(chains), counting(density)
    state = method.init(rng, counted, 0.3 * rng.standard_normal((chains, density.dim)))
    if monkeypatch is not None:
        own = step_by_step(type(density).simulate_dynamics)
        monkeypatch.setattr(type(density), "simulate_dynamics", own)
    made = []

    def left():
        return n - len(made)

    for stretch in method.stretches(method.streams(rng), counted, state, params, left):
        made.extend(stretch)
    return made, counted.work.grad, rng.random()


def assert_same(found, expected):
    for (state, info), (other, known) in zip(found, expected, strict=True):
        for name in state._fields:
            np.testing.assert_allclose(
                getattr(state, name), getattr(other, name), rtol=1e-9, atol=1e-9
            )
        for name in ("accepted", "diverging", "n_grad"):
            np.testing.assert_array_equal(getattr(info, name), getattr(known, name))
        np.testing.assert_allclose(info.accept_prob, known.accept_prob, rtol=1e-9, atol=1e-12)
        for a, b in ((info.previous, known.previous), (info.proposal, known.proposal)):
            np.testing.assert_allclose(a.logp, b.logp, rtol=1e-9)
            np.testing.assert_allclose(a.x, b.x, rtol=1e-9, atol=1e-9)
        assert info.stats.keys() == known.stats.keys()
        for name, values in info.stats.items():
            np.testing.assert_allclose(values, known.stats[name], rtol=1e-9)
        np.testing.assert_allclose(
            info.record.weighted_acceptance, known.record.weighted_acceptance, rtol=1e-9, atol=1e-12
        )
        assert info.record.time == known.record.time


@pytest.mark.parametrize("kind", ROOTS)
@pytest.mark.parametrize(
    "steep", [5.0, *(pytest.param(s, marks=pytest.mark.statistical) for s in (1.0, 100.0))]
)
def test_same_states_infos_and_randomness(kind, steep):
    rejected = failed = levels = 0
    for dim in (1, 8):
        density = counts(dim, steep)
        for chains in CHAINS:
            params = Params(0.8, 2.0, root(kind, dim, np.random.default_rng(dim)))
            found = streamed(density, chains, params, 40, FisherHMC())
            with pytest.MonkeyPatch.context() as patch:
                expected = streamed(density, chains, params, 40, FisherHMC(), patch)
            assert_same(found[0], expected[0])
            assert found[1:] == expected[1:]
            rejected += sum(int((~info.accepted).sum()) for _, info in found[0])
            failed += sum(int(info.diverging.sum()) for _, info in found[0])
            levels += sum(
                int((info.record.weighted_acceptance < info.accept_prob).sum())
                for _, info in found[0]
            )
    assert rejected > 50
    assert steep < 5.0 or levels > 50
    assert steep < 100.0 or failed > 10


@pytest.mark.parametrize("thin", [1, 3, 7])
@pytest.mark.parametrize("steep", [1.0, 100.0])
def test_what_is_kept_of_many_is_what_is_kept_one_by_one(thin, steep):
    """Draws, statistics, divergences and counts; stretches begin and end between kept draws."""
    density, chains, draws = counts(3, steep), 5, 40
    rng, method, params = np.random.default_rng(1), FisherHMC(), Params(0.8, 2.0, np.ones(3))
    state = method.init(rng, density, 0.3 * rng.standard_normal((chains, 3)))
    sizes = chains, draws, 3, thin
    stores = [(DrawStore("draw", *sizes), DivergenceStore(*sizes), Counter()) for _ in range(2)]
    first, lengths = 0, set()

    def left():
        return draws * thin - first

    for stretch in method.stretches(method.streams(rng), density, state, params, left):
        for collector in stores[0]:
            collector.take("draw", first, stretch, params)
        for i, (after, info) in enumerate(stretch, first):
            for collector in stores[1]:
                collector.record("draw", i, after, info, params)
        first += len(stretch)
        lengths.add(len(stretch))
        np.testing.assert_array_equal(stretch.last.momentum, after.momentum)
    assert max(lengths) > thin
    (many, lost, counted), (single, lost_too, counted_too) = stores
    assert many.count == single.count == draws
    np.testing.assert_array_equal(many.x(draws), single.x(draws))
    assert list(many.stats(draws)) == list(single.stats(draws))
    for name, values in many.stats(draws).items():
        np.testing.assert_array_equal(values, single.stats(draws)[name])
        assert values.dtype == single.stats(draws)[name].dtype
    for a, b in zip(lost.divergences(draws), lost_too.divergences(draws), strict=True):
        np.testing.assert_array_equal(a, b)
    assert lost.divergences(draws).counts.any() == (steep > 1.0)
    assert counted.iterations == counted_too.iterations
    assert counted.nonfinite == counted_too.nonfinite


def test_draws_do_not_depend_on_how_many_are_made_at_a_time(monkeypatch):
    density, params, found = counts(3), Params(0.8, 2.0, np.ones(3)), []
    for longest in (60.0, 0.0):
        monkeypatch.setattr(module, "LONGEST", longest)
        found.append(streamed(density, 5, params, 40, FisherHMC()))
    assert_same(found[0][0], found[1][0])
    assert found[0][1:] == found[1][1:]


def test_made_in_few_calls(monkeypatch):
    density, calls, own = counts(3), [], type(counts(3)).simulate_dynamics

    def counted(self, dynamics):
        if not follows(dynamics):
            calls.append(len(dynamics.momenta))
        return own(self, dynamics)

    monkeypatch.setattr(type(density), "simulate_dynamics", counted)
    monkeypatch.setattr(module, "LONGEST", 60.0)
    streamed(density, 4, Params(0.8, 2.0, np.ones(3)), 500, FisherHMC())
    assert sum(calls) >= 490
    assert len(calls) < 12


@pytest.mark.parametrize("case", ["kind", "rank", "persistent", "Langevin"])
def test_what_cannot_be_made_at_once_is_made_one_by_one(case, monkeypatch):
    """Roots of an unknown kind or a large rank, momenta that are kept, steps of one leapfrog."""
    density, rng = counts(4), np.random.default_rng(1)
    bidiagonal = InverseBidiagonal(rng.uniform(0.5, 2.0, 4), rng.uniform(-1.0, 1.0, 3))
    C = {"kind": bidiagonal}.get(case, np.ones(4))
    if case == "rank":
        monkeypatch.setattr("probmodel.compiler.routine_calls._MOST_RANK", 1)
        C = root("low rank", 4, rng)
    method = FisherHMC(persistence=0.5 if case == "persistent" else 0.0)
    params = Params(0.8, 0.0 if case == "Langevin" else 2.0, C)
    found = streamed(density, 5, params, 30, method)
    expected = streamed(density, 5, params, 30, method, monkeypatch)
    assert_same(found[0], expected[0])
    assert found[1:] == expected[1:]


def test_the_comparison_finds_another_acceptance(monkeypatch):
    density, params = counts(3), Params(0.8, 2.0, np.ones(3))
    own = type(density).simulate_dynamics

    def lenient(self, transitions):
        if follows(transitions):
            return own(self, transitions)
        u = transitions.halving.u.copy()
        u[:, -len(transitions.x) :] *= 0.5
        return own(self, transitions._replace(halving=transitions.halving._replace(u=u)))

    expected = streamed(density, 8, params, 60, FisherHMC())
    monkeypatch.setattr(type(density), "simulate_dynamics", lenient)
    found = streamed(density, 8, params, 60, FisherHMC())
    with pytest.raises(AssertionError):
        assert_same(found[0], expected[0])


@pytest.mark.filterwarnings("ignore::probmodel.errors.SamplingWarning")
def test_a_run_is_the_same_either_way(monkeypatch):
    model = Counts(steep=1.0, y=np.arange(5))
    found = infer(model, draws=200, chains=6, seed=1, engine="llvm", progressbar=False)
    for name in ("several", "leapfrogs"):
        monkeypatch.setattr(fisher_transitions, name, lambda *args: None)
    expected = infer(model, draws=200, chains=6, seed=1, engine="llvm", progressbar=False)
    a, b = found.posterior["a"].values, expected.posterior["a"].values
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    for name in ("n_grad", "n_steps", "energy", "lp", "diverging"):
        a, b = found.sample_stats[name].values, expected.sample_stats[name].values
        np.testing.assert_allclose(a, b, rtol=1e-9)
