"""The No-U-Turn sampler: its trees against a recursion, invariance, and the asynchronous stream."""

from itertools import pairwise

import numpy as np
import pytest

from probmodel.adaptation.dual_averaging import average, start_averaging
from probmodel.adaptation.windows import windows
from probmodel.errors import SamplerError
from probmodel.inference.groups import sample
from probmodel.roots import LowRank, times, transposed_times
from probmodel.samplers import trees
from probmodel.samplers.nuts import NUTS
from probmodel.samplers.tree_checks import BLOCK, LAST, STRETCHES, WITHIN, schedule
from probmodel.samplers.trees import Trees
from probmodel.samplers.windowed import PRELIMINARY, Params
from probmodel.testing.statistics import LIMIT, deviations, require_moments, worst

# -- the recursion of the papers ---------------------------------------------------------------


class Reference:
    """One transition of one chain by recursion, with the noise that `Trees` would use.

    Momenta are those of forward time. Leaves are tuples (q, r, g, logp, log weight).
    """

    def __init__(self, density, root, h, max_depth, uniform):
        self.density, self.root, self.h, self.max_depth = density, root, h, max_depth
        leaves = max(2**max_depth, BLOCK)  # the first number is that of the start
        self.u_leaf, self.u_join, self.u_side = np.split(uniform, [leaves, leaves + max_depth])

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
            forward = self.u_side[depth] < 0.5
            edge = tree[-1] if forward else tree[0]
            new, fine = self.build(depth, edge, 1.0 if forward else -1.0, energy)
            made += len(new)
            if not fine:
                diverged = not -1000.0 <= new[-1][4] < np.inf
                return draw, depth, made, diverged
            proposal, weight = None, -np.inf
            for z, u in zip(new, self.u_leaf[made - len(new) + 1 :], strict=False):
                weight = np.logaddexp(weight, z[4])
                proposal = z if u < np.exp(z[4] - weight) else proposal
            if self.u_join[depth] < np.exp(weight - total):
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
        u = again.random((1, max(2**max_depth, BLOCK) + 2 * max_depth))
        reference = Reference(target, root, h, max_depth, u[0])
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
        # Blocks are completed. A subtree that is to be thrown away may be given up earlier.
        steps = info.stats["n_steps"][0]
        assert (steps + 1) % BLOCK == 0
        assert steps < made + BLOCK
        if made == 2**depth - 1:
            assert steps == max(made, BLOCK - 1)
        found.add(depth)
    assert found >= set(range(1, max_depth + 1))


# -- what is checked ---------------------------------------------------------------------------


def stretches(max_depth):
    """Stretches of leaves that are asked, for each doubling, by following the slots of its blocks.

    Leaves of a doubling are 0, 1, ...; "tree" is the trajectory before it, and -1 its last leaf.
    """
    plan, slots, found = schedule(max_depth), {}, {}
    for block in range(1, len(plan.whole) - 1):
        size = 2 ** (block.bit_length() - 1)
        begin = BLOCK * (block - size)
        slots[0], slots[int(plan.slot[block])] = "tree", begin
        asked = [("inner", begin + a, begin + b) for a, b in STRETCHES]
        for column in np.flatnonzero(plan.asked[block]):
            first = slots[int(plan.begin[column])]
            first = first - 1 if plan.before[column] else first
            last = begin + (BLOCK - 1 if plan.end[column] == LAST else 0)
            asked.append(("outer" if plan.outer[column] else "inner", first, last))
        assert plan.whole[block] == (block - size == size - 1)
        found.setdefault(block.bit_length() + 1, []).extend(asked)
    return found


@pytest.mark.parametrize("max_depth", [3, 4, 5, 8])
def test_all_aligned_subtrees_are_checked_and_nothing_else(max_depth):
    found = stretches(max_depth)
    assert set(found) == set(range(2, max_depth))
    for j, checked in found.items():
        size = 2**j
        aligned, halves = set(), set()
        for k in range(1, j + 1):
            for a in range(0, size, 2**k):
                middle, last = a + 2 ** (k - 1), a + 2**k - 1
                aligned.add(("inner", a, last))
                if k > 1:  # of two leaves, the halves and one leaf more are the tree
                    halves |= {("inner", a, middle), ("inner", middle - 1, last)}
        whole = {("outer", "tree", size - 1), ("outer", "tree", 0), ("outer", -1, size - 1)}
        assert set(checked) == aligned | halves | whole
        assert len(set(checked)) == len(checked)


def test_stretches_within_a_block_are_asked_of_products():
    r = np.random.default_rng(0).standard_normal((BLOCK, 3))
    sums = [(r[a : b + 1].sum(axis=0), r[a], r[b]) for a, b in STRETCHES]
    expected = [total @ end for total, *ends in sums for end in ends]
    np.testing.assert_allclose((r @ r.T).ravel() @ WITHIN, expected, rtol=1e-12)


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

    def stream(x):
        state = sampler.init(rng, target, x)
        *_, (state, _) = sampler.stream(rng, target, state, Params(h, None), 6)
        return state.x

    for moves in (steps, stream):
        assert score(target, target.exact(rng, 6000), rng, moves) < LIMIT


def equal_weights(self, weight, choose=Trees._choose):
    choose(self, np.where(np.isfinite(weight), 0.0, weight))


def no_subtrees(depth, plan=schedule):
    """Ask whole trajectories only: whether one ends then depends on where it started."""
    full = plan(depth)
    return full._replace(asked=full.asked & full.outer)


def not_within(self, products, fresh):
    """Ask nothing of a block but the trajectory of the first two doublings."""
    turned = (products[:, fresh].T @ WITHIN[:, 4:] <= 0.0).any(axis=1)
    self._turned[fresh] |= turned


@pytest.mark.parametrize("fault", ["weights", "checks"])
def test_faults_are_found(targets, monkeypatch, fault):
    """Negative controls: leaves drawn without their weights; subtrees that are not checked."""
    target, h = correlated(targets)
    if fault == "weights":
        h = 0.6  # near the longest stable step the weights differ most
        monkeypatch.setattr(Trees, "_choose", equal_weights)
    else:
        monkeypatch.setattr(trees, "schedule", no_subtrees)
        monkeypatch.setattr(Trees, "_look_within", not_within)
    rng, sampler = np.random.default_rng(2), NUTS(max_depth=6)

    def stream(x):
        state = sampler.init(rng, target, x)
        *_, (state, _) = sampler.stream(rng, target, state, Params(h, None), 6)
        return state.x

    assert score(target, target.exact(rng, 6000), rng, stream) > 2.0 * LIMIT


# -- step and stream ---------------------------------------------------------------------------


def test_stream_of_one_chain_is_its_steps(targets):
    target, sampler, params = targets.Banana(), NUTS(), Params(0.3, np.array([1.0, 0.8]))
    start = sampler.init(np.random.default_rng(0), target, np.array([[0.3, -0.2]]))
    rng, state, steps = np.random.default_rng(3), start, []
    for _ in range(40):
        state, info = sampler.step(rng, target, state, params)
        steps.append((state, info))
    streamed = list(sampler.stream(np.random.default_rng(3), target, start, params, 40))
    for (a, of_a), (b, of_b) in zip(steps, streamed, strict=True):
        np.testing.assert_array_equal(a.x, b.x)
        np.testing.assert_array_equal(a.grad, b.grad)
        np.testing.assert_array_equal(of_a.stats["energy"], of_b.stats["energy"])
        np.testing.assert_array_equal(of_a.previous.x, of_b.previous.x)


@pytest.mark.parametrize("ahead", [1, 2, 128])
def test_nobody_runs_too_far_ahead(targets, monkeypatch, ahead):
    """However far chains may run ahead, they make the same number of transitions, in order."""
    monkeypatch.setattr(trees, "AHEAD", ahead)
    target, rng, sampler = targets.Banana(), np.random.default_rng(4), NUTS()
    state, calls = sampler.init(rng, target, target.exact(rng, 5)), []

    class Counted(type(target)):
        def __call__(self, x):
            calls.append(len(x))
            return super().__call__(x)

    n_grad, leaves = 0, []
    for new, info in sampler.stream(rng, Counted(), state, Params(0.2, None), 30):
        assert info.previous is state
        state = new
        n_grad += info.n_grad.sum()
        leaves.append(info.n_grad)
        np.testing.assert_allclose(new.logp, target.log_density(new.x), rtol=1e-12)
        np.testing.assert_allclose(new.grad, target(new.x).grad, rtol=1e-12)
    assert len(leaves) == 30
    assert n_grad == sum(calls)
    together = np.sum(np.max(leaves, axis=1))
    assert len(calls) == together if ahead == 1 else len(calls) < together


def test_who_waits_depends_on_nobody(targets):
    """Lengths of trajectories do not decide which transitions are handed out."""
    target, rng, sampler = targets.Banana(), np.random.default_rng(5), NUTS(max_depth=5)
    state = sampler.init(rng, target, target.exact(rng, 4000))
    first, _ = next(sampler.stream(rng, target, state, Params(0.5, None), 50))
    name, z = worst(deviations(first.x, target.exact(rng, 4000)))
    assert abs(z) < LIMIT, name


# -- the warm-up: chains meet where a mass matrix is learned -------------------------------------


@pytest.mark.parametrize("n_warmup", [1, 19, 20, 150, 1000])
def test_chains_meet_where_they_learn_together(n_warmup):
    plan = windows(n_warmup)
    left = [NUTS().renewed_after(i, n_warmup) for i in range(n_warmup)]
    met = [i for i, n in enumerate(left) if n == 1]
    assert all(b == a - 1 for a, b in pairwise(left) if a > 1)
    assert {*plan.ends, n_warmup - 1} <= set(met)
    early = {n - 1 for n in PRELIMINARY if n <= plan.first}
    assert early <= set(met) if plan.ends else set(met) == {0, n_warmup - 1}
    assert len(met) <= len(plan.ends) + len(PRELIMINARY) + 2


def warm_up(target, chains, n, seed=1):
    """Warm up without windows: the chains' own steps first, and one for all from iteration 1 on."""
    sampler, rng = NUTS(inv_metric=np.ones(target.dim)), np.random.default_rng(seed)
    state = sampler.init(rng, target, target.exact(rng, chains))
    adaptation, infos = sampler.adapt_init(rng, target, state), []
    while len(infos) < n:
        params = sampler.params(adaptation)
        stream = sampler.stream(rng, target, state, params, n - 1 if infos else 1)
        for new, info in stream:
            state = new
            adaptation = sampler.adapt(rng, target, len(infos), 10, adaptation, state, info)
            infos.append(info)
            assert info.record.steering is adaptation.steering or len(infos) == 1
    return adaptation, infos


def test_every_transition_of_a_chain_has_the_step_size_it_has_taught(targets):
    adaptation, infos = warm_up(targets.Banana(), 1, 40)
    rule = start_averaging(infos[1].stats["step_size"][0])
    for info in infos[1:]:
        np.testing.assert_allclose(info.stats["step_size"], rule.step_size(), rtol=1e-12)
        rule = average(rule, info.accept_prob, 0.8)
    np.testing.assert_allclose(adaptation.steering.rule, rule, rtol=1e-9)
    assert len({info.stats["step_size"][0] for info in infos}) > 30


def test_chains_teach_one_step_size_without_waiting(targets):
    """Every transition counts once, in the order in which they end."""
    target, calls = targets.Banana(), []

    class Counted(type(target)):
        def __call__(self, x):
            calls.append(len(x))
            return super().__call__(x)

    adaptation, infos = warm_up(Counted(), 5, 60)
    taught = adaptation.steering.rule
    assert 58.0 < taught.n < 59.01  # chains whose own steps are still shorter are not heard
    alpha = np.mean([info.accept_prob for info in infos[-30:]])
    assert alpha == pytest.approx(0.8, abs=0.1)
    waiting = np.sum(np.max([info.n_grad for info in infos], axis=1))
    assert len(calls) < 0.8 * waiting
    # Transitions of the same number have different step sizes where all chains share the rule.
    assert infos[-1].record.steering.own.whole.all()
    assert any(len(set(info.stats["step_size"])) > 1 for info in infos[-20:])


def test_the_steps_of_a_warm_up_are_those_that_are_reported(targets):
    """One chain's transitions, replayed with the reported step size and the same random numbers."""
    target, root = targets.Banana(), np.array([0.7, 1.3])
    sampler, rng = NUTS(max_depth=4, inv_metric=root**2), np.random.default_rng(2)
    state = sampler.init(rng, target, np.array([[0.3, -0.2]]))
    params = sampler.params(sampler.adapt_init(rng, target, state))
    replay = np.random.default_rng(3)
    for new, info in sampler.stream(np.random.default_rng(3), target, state, params, 25):
        fixed = Params(float(info.stats["step_size"][0]), root)
        again, _ = sampler.step(replay, target, info.previous, fixed)
        np.testing.assert_allclose(new.x, again.x, rtol=1e-12)


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
    for state, info in sampler.stream(rng, target, start, Params(0.3, None), 200):
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
    start = sampler.init(rng, Broken(), np.zeros((3, 2)))
    for state, info in sampler.stream(rng, Broken(), start, Params(0.3, None), 50):
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
