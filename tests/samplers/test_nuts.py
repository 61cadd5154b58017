"""The No-U-Turn sampler: its trees against a recursion, invariance, and what is reported."""

import numpy as np
import pytest

from probmodel import Model, param
from probmodel.density import as_posterior
from probmodel.distributions import Normal
from probmodel.errors import SamplerError
from probmodel.inference.groups import sample
from probmodel.numerics.roots import LowRank, times, transposed_times
from probmodel.numerics.split_mix import JOIN, SIDE, uniform
from probmodel.samplers.base import Stretch
from probmodel.samplers.hamiltonian import several_transitions, trees
from probmodel.samplers.hamiltonian.nuts import NUTS
from probmodel.samplers.hamiltonian.trees import _Stretch, _stretches, _Transition, grown
from probmodel.samplers.hamiltonian.windowed import Params
from probmodel.samplers.metropolis import DIVERGENCE
from probmodel.testing.statistics import LIMIT, deviations, require_moments, worst
from probmodel.types import Doublings

# -- the recursion of the papers ---------------------------------------------------------------


class Reference:
    """One transition of one chain by recursion, with the uniform numbers of a seed.

    Momenta are those of forward time. Leaves are tuples (q, r, g, logp, log weight).
    """

    def __init__(self, density, root, h, max_depth, seed):
        self.density, self.root, self.h, self.max_depth = density, root, h, max_depth
        self.seed = np.array([seed], dtype=np.uint64)

    def uniform(self, number):
        return uniform(self.seed, number)[0]

    def next_leaf(self, z, direction, energy):
        q, r, g, _, _ = z
        h = direction * self.h
        r = r + 0.5 * h * transposed_times(self.root, g[None])[0]
        q = q + h * times(self.root, r[None])[0]
        logp, g = (value[0] for value in self.density(q[None]))
        r = r + 0.5 * h * transposed_times(self.root, g[None])[0]
        return q, r, g, logp, energy + logp - 0.5 * r @ r

    @staticmethod
    def turns(leaves, left, right):
        """Stan's three checks of a tree and its halves; all are lists of leaves in order."""

        def turning(stretch):
            rho = np.sum([z[1] for z in stretch], axis=0)
            return rho @ stretch[0][1] <= 0.0 or rho @ stretch[-1][1] <= 0.0

        return turning(leaves) or turning([*left, right[0]]) or turning([left[-1], *right])

    def build(self, depth, z, direction, energy):
        """Leaves in the order they are made, and whether the subtree may be used."""
        if depth == 0:
            z = self.next_leaf(z, direction, energy)
            return [z], bool(-1000.0 <= z[4] < np.inf)
        first, fine = self.build(depth - 1, z, direction, energy)
        if not fine:
            return first, False
        second, fine = self.build(depth - 1, first[-1], direction, energy)
        if not fine:
            return [*first, *second], False
        return [*first, *second], not self.turns([*first, *second], first, second)

    def transition(self, q, r):
        logp, g = (value[0] for value in self.density(q[None]))
        energy = 0.5 * r @ r - logp
        draw = (q, r, g, logp, 0.0)
        tree, total, made = [draw], 0.0, 0
        for depth in range(self.max_depth):
            forward = self.uniform(SIDE + depth) < 0.5
            edge = tree[-1] if forward else tree[0]
            new, fine = self.build(depth, edge, 1.0 if forward else -1.0, energy)
            made += len(new)
            if not fine:
                diverged = not -1000.0 <= new[-1][4] < np.inf
                return draw, depth, made, diverged
            proposal, weight = None, -np.inf
            for number, z in enumerate(new, made - len(new)):
                weight = np.logaddexp(weight, z[4])
                proposal = z if self.uniform(number) < np.exp(z[4] - weight) else proposal
            if self.uniform(JOIN + depth) < np.exp(weight - total):
                draw = proposal
            total = np.logaddexp(total, weight)
            left, right = (tree, new) if forward else (new[::-1], tree)
            tree = [*left, *right]
            if self.turns(tree, left, right):
                return draw, depth + 1, made, False
        return draw, self.max_depth, made, False


ROOTS = {
    "identity": None,
    "diag": np.array([0.7, 1.3]),
    "dense": np.array([[0.8, 0.0], [0.5, 1.1]]),
    "low_rank": LowRank(np.array([0.9, 1.2]), np.array([[0.6], [0.8]]), np.array([1.7])),
}


@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS.keys())
@pytest.mark.parametrize("max_depth", [1, 2, 4])
def test_trees_are_those_of_the_recursion(targets, root, max_depth):
    target, found = targets.Banana(), set()
    sampler = NUTS(max_depth=max_depth)
    for seed in range(60):
        rng = np.random.default_rng([max_depth, seed])
        x, h = 1.5 * rng.standard_normal((1, 2)), float(np.exp(rng.uniform(-2.5, 0.7)))
        again = np.random.default_rng(seed)
        r = again.standard_normal((1, 2))
        (u,) = again.integers(1 << 64, size=1, dtype=np.uint64)
        reference = Reference(target, root, h, max_depth, u)
        draw, depth, made, diverged = reference.transition(x[0], r[0])
        state = sampler.init(rng, target, x)
        new, info = sampler.step(np.random.default_rng(seed), target, state, Params(h, root))
        np.testing.assert_allclose(new.x[0], draw[0], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(new.grad[0], draw[2], rtol=1e-9, atol=1e-8)
        assert new.logp[0] == pytest.approx(draw[3], rel=1e-9, abs=1e-9)
        energy = 0.5 * draw[1] @ draw[1] - draw[3]
        assert info.stats["energy"][0] == pytest.approx(energy, rel=1e-9, abs=1e-9)
        assert info.stats["tree_depth"][0] == depth
        assert info.diverging[0] == diverged
        # A subtree that is to be thrown away may be given up earlier.
        steps = info.stats["n_steps"][0]
        assert steps <= made
        if made == 2**depth - 1:
            assert steps == made
        found.add(depth)
    assert found >= set(range(1, max_depth + 1))


# -- what is checked ---------------------------------------------------------------------------


def checked(depth):
    """Stretches of a doubling that are checked, by number of the first and the last leaf."""
    found, slots = [], []
    for n in range(2**depth):
        here, before = (_Stretch(momentum=np.array(k), before=np.array(0)) for k in (n, n - 1))
        found += [(int(first.momentum), n) for first in _stretches(n, here, before, slots)]
    return found


@pytest.mark.parametrize("depth", [0, 1, 2, 3, 6])
def test_all_subtrees_of_the_recursion_are_checked_and_nothing_else(depth):
    found, expected = checked(depth), set()
    for k in range(1, depth + 1):
        for a in range(0, 2**depth, 2**k):
            middle, last = a + 2 ** (k - 1), a + 2**k - 1
            expected.add((a, last))
            if k > 1:  # of two leaves, the halves and one leaf more are the tree
                expected |= {(a, middle), (middle - 1, last)}
    assert set(found) == expected
    assert len(found) == len(expected)


# -- invariance --------------------------------------------------------------------------------


def correlated(targets):
    return targets.Gaussian(np.zeros(2), np.array([[1.0, 0.9], [0.9, 1.0]])), 0.45


def curved(targets):
    return targets.Banana(), 0.5


def score(target, x0, rng, step):
    """Largest z-score of points that were exact draws, after ``step``."""
    exact = target.exact(rng, len(x0))
    return abs(worst(deviations(step(x0), exact))[1])


@pytest.mark.parametrize("case", [correlated, curved])
def test_exact_draws_stay_exact(targets, case):
    target, h = case(targets)
    rng, sampler = np.random.default_rng(1), NUTS(max_depth=6)

    def steps(x):
        state = sampler.init(rng, target, x)
        for _ in range(6):
            state, _ = sampler.step(rng, target, state, Params(h, None))
        return state.x

    assert score(target, target.exact(rng, 6000), rng, steps) < LIMIT


def equal_weights(self, leaf, live, make=_Transition._next):
    leaf, weight = make(self, leaf, live)
    return leaf, np.where(np.isfinite(weight), 0.0, weight)


@pytest.mark.parametrize("fault", ["weights", "checks"])
def test_faults_are_found(targets, monkeypatch, fault):
    """Negative controls: leaves drawn without their weights; subtrees that are not checked."""
    target, h = correlated(targets)
    if fault == "weights":
        h = 0.6  # near the longest stable step the weights differ most
        monkeypatch.setattr(_Transition, "_next", equal_weights)
    else:  # whole trajectories only: whether one ends then depends on where it started
        monkeypatch.setattr(trees, "_stretches", lambda *args: [])
    rng, sampler = np.random.default_rng(2), NUTS(max_depth=6)

    def steps(x):
        state = sampler.init(rng, target, x)
        for _ in range(6):
            state, _ = sampler.step(rng, target, state, Params(h, None))
        return state.x

    assert score(target, target.exact(rng, 6000), rng, steps) > 2.0 * LIMIT


# -- several transitions -----------------------------------------------------------------------


def transitions(sampler, rng, target, start, params, n):
    """Make n transitions, several at a time."""
    made = []

    def left():
        return n - sum(map(len, made))

    for stretch in sampler.stretches(sampler.streams(rng), target, start, params, left):
        made.append(stretch)
    return made


@pytest.mark.parametrize("chains", [1, 5])
def test_draws_do_not_depend_on_how_many_are_made_at_a_time(monkeypatch, chains):
    class Curved(Model):
        a = param(Normal(0, 1))
        b = param(Normal(a**2, 0.5))

    target, sampler, params = as_posterior(Curved()), NUTS(), Params(0.3, np.array([1.0, 0.8]))
    target.use_engine("llvm")
    x0 = np.random.default_rng(1).standard_normal((chains, 2))
    start, runs = sampler.init(np.random.default_rng(0), target, x0), []
    for longest in (60.0, 0.0):
        monkeypatch.setattr(several_transitions, "LONGEST", longest)
        run = transitions(sampler, np.random.default_rng(3), target, start, params, 40)
        runs.append((run, [move for stretch in run for move in stretch]))
    runs, moves = zip(*runs, strict=True)
    assert len(runs[0]) < 10
    assert len(runs[1]) == 40
    for (a, of_a), (b, of_b) in zip(*moves, strict=True):
        np.testing.assert_array_equal(a.x, b.x)
        np.testing.assert_array_equal(a.grad, b.grad)
        np.testing.assert_array_equal(of_a.stats["energy"], of_b.stats["energy"])
        np.testing.assert_array_equal(of_a.previous.x, of_b.previous.x)
    for stretch in runs[0]:
        each = [Stretch(state, info).statistics for state, info in stretch]
        assert set(stretch.statistics) == set(each[0])
        for name, column in stretch.statistics.items():
            np.testing.assert_array_equal(column, np.concatenate([one[name] for one in each]))


def test_gradients_are_leaves(targets):
    target, rng, sampler = targets.Banana(), np.random.default_rng(4), NUTS()
    state, calls = sampler.init(rng, target, target.exact(rng, 5)), []

    class Counted(type(target)):
        def __call__(self, x):
            calls.append(len(x))
            return super().__call__(x)

    n_grad = []
    for _ in range(30):
        state, info = sampler.step(rng, Counted(), state, Params(0.2, None))
        n_grad.append(info.n_grad)
        np.testing.assert_allclose(state.logp, target.log_density(state.x), rtol=1e-12)
        np.testing.assert_allclose(state.grad, target(state.x).grad, rtol=1e-12)
    assert np.sum(n_grad) == sum(calls)
    assert len(calls) == np.sum(np.max(n_grad, axis=1))


def test_chains_do_not_depend_on_others(targets):
    """A chain's numbers are its own: with others beside it, it moves as it would alone."""
    target, sampler, rng = targets.Banana(), NUTS(), np.random.default_rng(5)
    state, momenta = (
        sampler.init(rng, target, rng.standard_normal((5, 2))),
        rng.normal(size=(1, 5, 2)),
    )
    seeds = rng.integers(1 << 64, size=(1, 5), dtype=np.uint64)
    steps = np.geomspace(0.02, 0.5, 5)
    wanted = Doublings(*state, momenta, seeds, None, steps, 6, DIVERGENCE)
    together = grown(target, wanted)
    for c in range(5):
        row = slice(c, c + 1)
        alone = Doublings(
            state.x[row], state.logp[row], state.grad[row], momenta[:, row], seeds[:, row], None,
            steps[row], 6, DIVERGENCE,
        )  # fmt: skip
        for a, b in zip(grown(target, alone), together, strict=True):
            np.testing.assert_array_equal(a, b[:, row])
    assert len(np.unique(together.n_steps)) > 2


# -- divergences, depth, moments ---------------------------------------------------------------


class Cliff:
    """N(0, I), whose log density falls by 10^4 where x0 > 1; its gradient does not know."""

    dim, coordinate_names = 2, ()

    def __call__(self, x):
        return -0.5 * np.sum(x * x, axis=1) - 1e4 * (x[:, 0] > 1.0), -x

    def log_density(self, x):
        return self(x)[0]


def test_cliffs_are_divergences():
    sampler, rng, target = NUTS(), np.random.default_rng(6), Cliff()
    start = sampler.init(rng, target, np.array([[0.9, 0.0], [-3.0, 0.0], [0.8, 1.0]]))
    seen = np.zeros(3, dtype=int)
    state = start
    for _ in range(200):
        state, info = sampler.step(rng, target, state, Params(0.3, None))
        assert (state.x[:, 0] <= 1.0).all()
        place = info.record.divergence
        np.testing.assert_array_equal(np.isnan(place).all(axis=1), ~info.diverging)
        assert (place[info.diverging, 0] > 1.0).all()
        assert not info.stats["reached_max_treedepth"][info.diverging].any()
        seen += info.diverging
    assert (seen > 10).all()
    assert (seen < 190).all()


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_values_that_are_not_finite_are_divergences(value):
    class Broken(Cliff):
        def __call__(self, x):
            good = x[:, 0] <= 1.0
            return np.where(good, -0.5 * np.sum(x * x, axis=1), value), -x

    sampler, rng, diverged = NUTS(), np.random.default_rng(7), 0
    state = sampler.init(rng, Broken(), np.zeros((3, 2)))
    for _ in range(50):
        state, info = sampler.step(rng, Broken(), state, Params(0.3, None))
        assert (state.x[:, 0] <= 1.0).all()
        assert np.isfinite(info.accept_prob).all()
        diverged += info.diverging.sum()
    assert diverged


def test_smooth_targets_do_not_diverge(targets):
    target = targets.Gaussian(np.zeros(3), np.eye(3))
    result = sample(NUTS(), target, np.zeros((4, 3)), 8, draws=100, warmup=100)
    assert not result.stats["diverging"].any()
    assert not result.stats["reached_max_treedepth"].any()


def test_trajectories_that_are_cut_off_are_remarked_on(targets):
    target = targets.Gaussian(np.zeros(2), np.diag([1.0, 1e4]))
    sampler = NUTS(metric="identity", max_depth=3)
    result = sample(sampler, target, np.zeros((4, 2)), 9, draws=50, warmup=50)
    assert result.stats["reached_max_treedepth"].mean() > 0.5
    assert (result.stats["n_steps"][result.stats["reached_max_treedepth"]] == 7).all()
    assert (result.stats["tree_depth"] <= 3).all()
    (remark,) = sampler.remarks(result.params[0], result.stats)
    assert remark.kind == "max_treedepth"
    assert "max_depth=3" in remark.message
    stats = {"reached_max_treedepth": np.zeros((4, 50), dtype=bool)}
    assert sampler.remarks(result.params[0], stats) == []


def neal(dim):
    """Neal (2011): independent coordinates with standard deviations from 0.01 to 1."""
    return np.zeros(dim), np.diag(np.linspace(0.01, 1.0, dim) ** 2)


@pytest.mark.statistical
@pytest.mark.parametrize("metric", ["diag", "dense", "low_rank"])
def test_moments_of_independent_coordinates(targets, metric):
    target = targets.Gaussian(*neal(5))
    x0 = np.random.default_rng(10).uniform(-2.0, 2.0, (4, 5))
    sampler = NUTS(metric=metric)
    require_moments(target, sample(sampler, target, x0, 11, draws=400, warmup=200).x)


@pytest.mark.statistical
@pytest.mark.parametrize("metric", ["diag", "low_rank"])
def test_moments_of_neals_normal(targets, metric):
    target = targets.Gaussian(*neal(100))
    x0 = np.random.default_rng(12).uniform(-2.0, 2.0, (4, 100))
    result = sample(NUTS(metric=metric), target, x0, 13, draws=1000, warmup=1000)
    sd = np.sqrt(np.diag(target.cov))
    # Draws of a normal density mix almost independently, or better.
    z = np.mean(result.x, axis=(0, 1)) / sd * np.sqrt(4000.0)
    ratio = np.var(result.x, axis=(0, 1)) / sd**2
    assert np.abs(z).max() < 5.0
    assert np.abs(ratio - 1.0).max() < 0.15
    assert result.stats["n_steps"].mean() < 16


@pytest.mark.parametrize("value", [0, -1, 2.5, True, 17])
def test_max_depth_out_of_range(value):
    with pytest.raises(SamplerError, match="max_depth") as error:
        NUTS(max_depth=value)
    assert repr(value) in str(error.value)
