"""AutoStep: the rule that chooses a step size, its reversal, and what it is worth in a funnel."""

import numpy as np
import pytest

from probmodel.inference.groups import sample
from probmodel.samplers.hamiltonian.dynamics import Phase, leapfrog
from probmodel.samplers.langevin.autostep import (
    FIRST_ROUND,
    MOST,
    AutoStep,
    Params,
    Rounds,
    Search,
    _after,
)
from probmodel.samplers.langevin.fisher_mala import FisherMALA
from probmodel.testing.invariance import check_invariance
from probmodel.testing.statistics import require_moments
from probmodel.testing.targets import Target


class Funnel(Target):
    """v ~ N(0, 3^2), x_i | v ~ N(0, e^v)."""

    def __init__(self, dim):
        self.dim = dim

    def __call__(self, x):
        v, rest = x[:, 0], x[:, 1:]
        with np.errstate(over="ignore", invalid="ignore"):
            precision, squares = np.exp(-v), np.sum(rest * rest, axis=1)
            logp = -v * v / 18.0 - 0.5 * squares * precision - 0.5 * rest.shape[1] * v
            slope = -v / 9.0 + 0.5 * squares * precision - 0.5 * rest.shape[1]
            return logp, np.column_stack([slope, -rest * precision[:, None]])

    def exact(self, rng, n):
        v = 3.0 * rng.standard_normal(n)
        return np.column_stack(
            [v, np.exp(0.5 * v)[:, None] * rng.standard_normal((n, self.dim - 1))]
        )


def searching(chains=400, first=0.5, seed=1):
    """Points of the funnel with momenta, and a search with thresholds of each chain."""
    target, rng = Funnel(3), np.random.default_rng(seed)
    x = target.exact(rng, chains)
    start = Phase(x, *target(x), rng.standard_normal(x.shape))
    a, b = np.sort(rng.random((chains, 2)), axis=1).T
    return start, Search(target, 0.7 * np.eye(3), first, -np.log(b), -np.log(a))


def chosen_one_by_one(search, start):
    """The rule for each chain, from its words."""
    for c in range(len(start.x)):
        point = start.rows(np.array([c]))

        def size(j, point=point):
            end = leapfrog(search.density, point, search.root, search.first * 2.0**j)
            return abs(float((point.energy - end.energy)[0]))

        j = 0
        if size(0) < search.near[c]:
            while j < MOST and size(j + 1) < search.near[c]:
                j += 1
        else:
            while j > -MOST and size(j) > search.far[c]:
                j -= 1
        yield j


def test_steps_are_chosen_by_the_rule():
    start, search = searching()
    found = search.chosen(start)
    expected = list(chosen_one_by_one(search, start))
    np.testing.assert_array_equal(found.exponent, expected)
    assert found.exponent.min() < -2
    assert found.exponent.max() > 2
    end = leapfrog(search.density, start, search.root, search.first * 2.0**found.exponent)
    np.testing.assert_allclose(found.end.x, end.x)
    np.testing.assert_allclose(found.gain, start.energy - end.energy)


def test_what_is_chosen_at_the_end_is_found_with_fewer_steps():
    start, search = searching(2000)
    found = search.chosen(start)
    returns, tried = search.is_chosen(found.flipped, found.exponent, np.abs(found.gain))
    back = search.chosen(found.flipped)
    np.testing.assert_array_equal(returns, back.exponent == found.exponent)
    assert 0.5 < returns.mean() < 0.95
    between = (np.abs(found.gain) >= search.near) & (found.exponent == 0)
    assert np.all(tried[between] == 0)
    assert tried.sum() < back.tried.sum()


def test_moves_undo_themselves():
    start, search = searching()
    found = search.chosen(start)
    returned = leapfrog(
        search.density, found.flipped, search.root, search.first * 2.0**found.exponent
    )
    np.testing.assert_allclose(returned.x, start.x, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(-returned.momentum, start.momentum, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("metric", ["dense", "diag"])
def test_exact_draws_stay_exact(metric):
    check_invariance(AutoStep(metric=metric))


def neck(sampler, first=2.0):
    """Share of a funnel's neck after moves from exact draws, in standard errors off its own."""
    target, rng = Funnel(3), np.random.default_rng(2)
    state = sampler.init(rng, target, target.exact(rng, 20_000))
    for _ in range(15):
        state, _ = sampler.step(rng, target, state, Params(np.eye(3), first, True))
    share = np.mean(state.x[:, 0] < -3.0)
    return (share - 0.158655) / np.sqrt(0.158655 * 0.841345 / 20_000)


def test_exact_draws_of_a_funnel_stay_exact():
    assert abs(neck(AutoStep())) < 4.0


def test_steps_that_are_not_found_back_are_noticed(monkeypatch):
    """Negative control: moves accepted without looking whether they can be undone."""

    def always(self, start, exponent, size):
        return np.ones(len(exponent), dtype=bool), np.zeros_like(exponent)

    monkeypatch.setattr(Search, "is_chosen", always)
    assert abs(neck(AutoStep())) > 6.0


def test_steps_follow_the_scale_of_the_place():
    start, search = searching(4000)
    v, j = start.x[:, 0], search.chosen(start).exponent
    narrow, wide = j[v < -4.0].mean(), j[v > 2.0].mean()
    assert wide - narrow > 2.0


def test_first_step_is_the_median_of_rounds_that_double():
    known = Rounds(np.eye(2), 1.0)
    for _ in range(FIRST_ROUND):
        assert known.step_size == 1.0
        known = _after(known, np.log([1.0, 2.0, 64.0]))
    assert known.step_size == pytest.approx(2.0)
    assert known.length == 2 * FIRST_ROUND
    assert known.chosen == ()


def test_flat_densities_end_the_search():
    class Flat(Target):
        dim = 1

        def __call__(self, x):
            return np.zeros(len(x)), np.zeros_like(x)

    x = np.zeros((3, 1))
    search = Search(Flat(), np.eye(1), 1.0, np.full(3, 0.5), np.full(3, 2.0))
    found = search.chosen(Phase(x, *Flat()(x), np.ones((3, 1))))
    np.testing.assert_array_equal(found.exponent, MOST)
    assert search.is_chosen(found.flipped, found.exponent, np.abs(found.gain))[0].all()


@pytest.mark.statistical
def test_it_learns_a_correlated_normal_posterior(targets):
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.standard_normal((50, 50)))[0]
    target = targets.Gaussian(np.zeros(50), (Q * np.geomspace(1.0, 30.0, 50) ** 2) @ Q.T)
    x0 = rng.uniform(-20.0, 20.0, (8, 50))
    run = sample(AutoStep(), target, x0, 4, draws=2000, warmup=1000)
    require_moments(target, run.x)


@pytest.mark.statistical
def test_it_reaches_the_neck_of_a_funnel_where_one_step_size_does_not():
    """Shares of the neck in runs with as many gradients; by one step size it is hardly seen."""
    x0 = np.random.default_rng(0).uniform(-2.0, 2.0, (16, 5))

    def seen(sampler, draws):
        x = sample(sampler, Funnel(5), x0, 0, draws=draws, warmup=1000).x
        return np.mean(x[:, :, 0] < -3.0)

    assert 0.08 < seen(AutoStep(), 4_000) < 0.25
    assert seen(FisherMALA(), 12_000) < 0.04
