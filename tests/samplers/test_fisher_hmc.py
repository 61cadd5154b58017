"""Trajectories of learned length, preconditioned by what the scores tell."""

import numpy as np
import pytest

from probmodel.errors import SamplerError
from probmodel.inference.chains import run
from probmodel.inference.driver import Collector
from probmodel.inference.groups import sample
from probmodel.numerics.roots import LowRank
from probmodel.results.convergence import convergence
from probmodel.samplers.base import State
from probmodel.samplers.hamiltonian import fisher_hmc
from probmodel.samplers.hamiltonian.dynamics import Phase
from probmodel.samplers.hamiltonian.fisher_hmc import LONGEST_STEP, FisherHMC, Params
from probmodel.samplers.hamiltonian.fisher_schedule import (
    FIRST_WINDOWS,
    SETTLING,
    is_renewal,
    langevin_steps,
)
from probmodel.samplers.hamiltonian.step_halving import FINEST
from probmodel.samplers.langevin.kernel import propose
from probmodel.samplers.metropolis import evaluate
from probmodel.testing.statistics import LIMIT, deviations, require_moments, tamed, worst

DENSE = np.array([[0.8, 0.0], [0.5, 1.1]])
B = 0.21178  # Blanes, Casas and Sanz-Serna (2014)


def worst_rhat(x):
    return np.max(convergence(np.moveaxis(x, 2, 0)).rhat)


def least_ess(result):
    found = convergence(np.moveaxis(result.x, 2, 0))
    return min(found.ess_bulk.min(), found.ess_tail.min())


def watched(sampler, target, x0, seed, warmup, draws=1):
    """States, infos and parameters of every iteration."""
    seen = []

    class Seen(Collector):
        def record(self, phase, i, state, info, params):
            seen.append((state, info, params))

    rng = np.random.default_rng(seed)
    run(sampler, target, x0, rng, warmup=warmup, draws=draws, collectors=[Seen()])
    return seen


# -- the kernel --------------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [0.0, 0.6])
@pytest.mark.parametrize("step_size", [2.0, 0.5])
def test_one_transition_by_hand(targets, step_size, rho):
    """With momenta p of mass M = (C C')^-1, and not whitened."""
    target, sampler = targets.Banana(), FisherHMC(jitter=0.3, persistence=rho)
    rng = np.random.default_rng(0)
    x = np.array([[0.5, 0.2], [1.0, -1.0], [0.1, 0.3]])
    state = sampler.init(rng, target, x)
    params = Params(step_size, 1.6, DENSE)
    new, info = sampler.step(np.random.default_rng(1), target, state, params)

    rng, A = np.random.default_rng(1), DENSE @ DENSE.T
    r = rho * state.momentum + np.sqrt(1.0 - rho**2) * rng.standard_normal((3, 2))
    t = 1.6 * (1.0 + 0.3 * (2.0 * rng.random() - 1.0))
    n = max(1, round(t / step_size))
    assert n == (1 if step_size == 2.0 else 4)
    h = min(t / n, step_size)
    q, p = state.x, r @ np.linalg.inv(DENSE)
    before = state.logp - 0.5 * np.einsum("ci,ij,cj->c", p, A, p)
    for _ in range(n):
        p = p + B * h * target(q).grad
        q = q + 0.5 * h * p @ A
        p = p + (1.0 - 2.0 * B) * h * target(q).grad
        q = q + 0.5 * h * p @ A
        p = p + B * h * target(q).grad
    after = target(q).logp - 0.5 * np.einsum("ci,ij,cj->c", p, A, p)
    alpha = np.minimum(1.0, np.exp(after - before))
    rng.random((3, FINEST))  # whether levels are kept to
    accepted = rng.random(3) < alpha

    np.testing.assert_allclose(info.proposal.x, q, rtol=1e-10)
    np.testing.assert_allclose(info.accept_prob, alpha, rtol=1e-10)
    np.testing.assert_array_equal(info.accepted, accepted)
    np.testing.assert_allclose(new.x, np.where(accepted[:, None], q, state.x), rtol=1e-10)
    turned = np.where(accepted[:, None], p @ DENSE, -r)
    np.testing.assert_allclose(new.momentum, turned, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(info.n_grad, [2 * n] * 3)  # two gradients a step
    np.testing.assert_array_equal(info.stats["n_steps"], info.n_grad)
    assert info.previous is state
    assert info.record.time == pytest.approx(n * h)


def test_transitions_of_no_length_are_langevin_steps(targets):
    target, sampler = targets.Banana(), FisherHMC(persistence=0.5)
    state = sampler.init(np.random.default_rng(0), target, np.array([[0.5, 0.2], [1.0, -1.0]]))
    h = np.array([0.7, 1.1])
    _, info = sampler.step(np.random.default_rng(2), target, state, Params(h, 0.0, DENSE))
    noise = np.random.default_rng(2).standard_normal((2, 2))
    plain = evaluate(target, state.x)
    proposal, log_ratio = propose(target, plain, DENSE, h, noise)
    np.testing.assert_allclose(info.proposal.x, proposal.x, rtol=1e-12)
    np.testing.assert_allclose(info.accept_prob, np.minimum(1.0, np.exp(log_ratio)), rtol=1e-10)
    np.testing.assert_array_equal(info.n_grad, [1, 1])


def test_lengths_are_jittered():
    rng = np.random.default_rng(3)
    h, n, _ = FisherHMC()._kernel(Params(0.1, 2.0, None)).plan(rng.uniform(-1.0, 1.0, 4000))
    assert 1.55 < np.min(h * n) < 1.65
    assert 2.35 < np.max(h * n) < 2.45
    assert abs(np.mean(h * n) - 2.0) < 0.02
    assert np.max(h) <= 0.1 + 1e-12


@pytest.mark.parametrize(
    ("h", "length", "most", "step", "n", "cut_off"),
    [
        (2.0, 1.5, 500, 1.5, 1, False),  # one step of the whole length
        (1.0, 1.4, 500, 1.0, 1, False),
        (1.0, 1.6, 500, 0.8, 2, False),
        (0.1, 10.0, 100, 0.1, 100, False),
        (0.1, 10.0, 50, 0.1, 50, True),
        (0.0, 10.0, 50, 0.0, 50, True),
    ],
)
def test_numbers_of_steps(h, length, most, step, n, cut_off):
    found = (
        FisherHMC(jitter=0.0, max_steps=most)._kernel(Params(h, length, None)).plan(np.array([0.7]))
    )
    assert [column.item() for column in found] == [pytest.approx(step), n, cut_off]


def test_divergences_are_what_no_level_can_follow(targets):
    """On a ridge where no step of that size is ever kept to."""
    target = targets.Gaussian(np.zeros(1), np.array([[1e-12]]))
    sampler = FisherHMC(jitter=0.0, max_steps=13)
    state = sampler.init(np.random.default_rng(0), target, np.zeros((1, 1)))
    _, info = sampler.step(np.random.default_rng(1), target, state, Params(1.0, 3.0, np.eye(1)))
    assert info.diverging.all()
    assert not info.accepted.any()
    assert info.n_grad.sum() == 2 * (FINEST + 1)  # each level breaks off after the first step


def after(sampler, target, params, n, rng, turned=True, iterations=8):
    """Positions and momenta of exact draws after some transitions: (n, 2 dim)."""
    state = sampler.init(rng, target, target.exact(rng, n))
    for _ in range(iterations):
        state, info = sampler.step(rng, target, state, params)
        if not turned:
            momentum = np.where(info.accepted[:, None], 1.0, -1.0) * state.momentum
            state = state._replace(momentum=momentum)
    return np.concatenate([state.x, state.momentum], axis=1)


def exact(target, n, rng):
    return np.concatenate([target.exact(rng, n), rng.standard_normal((n, target.dim))], axis=1)


@pytest.mark.parametrize(
    "settings", [{}, {"persistence": 0.8}, {"jitter": 0.0}, {"persistence": 0.95, "jitter": 0.0}]
)
def test_exact_draws_stay_exact(targets, settings):
    """Momenta too, which have to stay standard normal and independent of the positions."""
    target, rng, n = targets.Banana(), np.random.default_rng(4), 20_000
    x = after(FisherHMC(**settings), target, Params(1.4, 1.5, DENSE), n, rng)
    name, z = worst(deviations(x, exact(target, n, rng)))
    assert abs(z) < LIMIT, name


def test_momenta_that_are_not_turned_are_found(targets):
    """Negative control of the test above: a rejection has to turn a momentum that is kept."""
    target, rng, n = targets.Banana(), np.random.default_rng(5), 12_000
    sampler = FisherHMC(persistence=0.95, jitter=0.0)
    x = after(sampler, target, Params(1.4, 1.5, DENSE), n, rng, turned=False)
    truth = exact(target, n, rng)
    _, z = worst(deviations(tamed(x, truth), truth))
    assert abs(z) > 2.0 * LIMIT


@pytest.mark.statistical
def test_places_without_a_density_are_never_accepted(targets):
    for outside in ("marker", "nan", "inf", "nan gradient"):
        target = targets.HalfSpace(2, outside)
        rng = np.random.default_rng(6)
        x0 = np.abs(rng.standard_normal((40, 2)))
        result = sample(FisherHMC(), target, x0, 7, draws=100, warmup=60)
        assert (result.x[:, :, 0] > 0.0).all()
        assert np.isfinite(result.x).all()


# -- the warm-up -------------------------------------------------------------------------------


@pytest.mark.parametrize("total", [10, 60, 250, 1000, 5000])
def test_renewals_double_and_leave_time_to_settle(total):
    renewals = [count for count in range(1, total + 1) if is_renewal(count, total)]
    schedule = [10, 25, 50, 100, 200, 400, 800, 1600, 3200]
    assert renewals == [count for count in schedule if count <= 0.8 * total]
    assert FIRST_WINDOWS == (10, 25, 50)
    assert SETTLING == 0.2


def test_mass_matrix_changes_at_renewals_alone(targets):
    target = targets.Gaussian(np.zeros(2), np.diag([1.0, 0.01]))
    roots = [p.root for _, _, p in watched(FisherHMC(), target, np.ones((8, 2)), 8, 600)]
    changed = [i for i in range(122, 601) if roots[i] is not roots[i - 1]]
    assert changed == [131, 146, 171, 221, 321]


@pytest.mark.parametrize(
    ("n_warmup", "dim", "steps"),
    [(10, 3, 5), (200, 3, 100), (250, 3, 101), (500, 3, 101), (500, 100, 150), (1000, 20, 210),
     (500, 300, 250), (500, 10000, 250)],
)  # fmt: skip
def test_langevin_steps(n_warmup, dim, steps):
    assert langevin_steps(n_warmup, dim) == steps


def test_windows_have_one_mass_matrix():
    assert FisherHMC().windows(500, 2) == [(126, 150), (151, 200), (201, 300), (301, 400)]
    assert FisherHMC().windows(500, 300) == [(275, 299), (300, 349), (350, 449), (450, 499)]
    assert FisherHMC().windows(20, 2) == []


def test_learned_are_short_trajectories_or_many(targets):
    sampler = FisherHMC()
    rng = np.random.default_rng(0)
    target = targets.Gaussian(np.zeros(2), np.eye(2))
    state = sampler.init(rng, target, rng.standard_normal((4, 2)))
    adaptation = sampler.adapt_init(rng, target, state)
    for i in range(3):
        state, info = sampler.step(rng, target, state, sampler.params(adaptation))
        adaptation = sampler.adapt(rng, target, i, 6, adaptation, state, info)
    for n, length, learned in ((60, 1.9, True), (60, 2.1, False), (299, 2.1, True)):
        of_one = adaptation.averaging._replace(log_average=0.0, n=1)
        T = adaptation.length._replace(log_average=np.log(length))
        assert sampler.is_learned(adaptation._replace(n=n, length=T, averaging=of_one)) == learned


def test_trajectories_may_only_slowly_become_long(targets):
    """However far chains have yet to go."""
    target = targets.Gaussian(np.zeros(2), 1e8 * np.eye(2))
    seen = watched(FisherHMC(), target, np.ones((4, 2)), 8, 60)
    for n, (_, _, params) in enumerate(seen[30:60]):
        assert params.length <= np.pi / 2.0 * (1.0 + n / 10.0) + 1e-12


def most_steps(target, warmup):
    """Most steps of early trajectories, beyond what is allowed; renewals are left out."""
    x0 = np.random.default_rng(3).standard_normal((8, 20))
    seen = watched(FisherHMC(metric="diag"), target, x0, 9, warmup)
    first = langevin_steps(warmup, 20)
    return max(
        params.length / params.step_size - (8 + n / 4)
        for n, (_, _, params) in enumerate(seen[first:warmup])
        if not is_renewal(n, warmup - first)
    )


def test_early_trajectories_take_few_steps(targets, monkeypatch):
    """Where a diagonal cannot whiten, long ones would pay at once."""
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((20, 20)))[0]
    target = targets.Gaussian(np.zeros(20), (Q * np.geomspace(1e-2, 1e2, 20)) @ Q.T)
    assert most_steps(target, 200) <= 1e-9
    monkeypatch.setattr(fisher_hmc, "FIRST_STEPS", np.inf)
    assert most_steps(target, 200) > 10.0


def test_first_half_takes_langevin_steps(targets):
    seen = watched(FisherHMC(), targets.Banana(), np.zeros((4, 2)), 9, 100)
    assert [p.length == 0.0 for _, _, p in seen] == [True] * 50 + [False] * 51
    gradients = [info.n_grad.max() for _, info, _ in seen]
    assert set(gradients[:50]) == {1}
    assert all(n % 2 == 0 for n in gradients[50:])


@pytest.mark.parametrize("warmup", [0, 1, 2, 3, 7, 25])
@pytest.mark.parametrize("chains", [1, 3])
@pytest.mark.parametrize("metric", ["dense", "low_rank", "diag"])
def test_warmups_of_any_length(targets, warmup, chains, metric):
    result = sample(
        FisherHMC(metric=metric), targets.Banana(), np.zeros((chains, 2)), 10, draws=5,
        warmup=warmup,
    )  # fmt: skip
    assert np.isfinite(result.x).all()
    assert isinstance(result.params[0].step_size, float)
    assert result.params[0].step_size > 0.0
    assert (result.params[0].length > 0.0) == (warmup > 0)


def test_length_becomes_a_quarter_of_a_turn(targets):
    """Of a normal density of any scales and correlations, once it is whitened."""
    rng = np.random.default_rng(11)
    target = targets.Gaussian(np.zeros(10), 100.0 * targets.random_covariance(rng, 10))
    x0 = rng.uniform(-2.0, 2.0, (32, 10))
    params = run(FisherHMC(), target, x0, rng, warmup=500, draws=0)
    assert params.length == pytest.approx(np.pi / 2.0, abs=0.15)
    assert params.step_size == pytest.approx(LONGEST_STEP)
    A = np.linalg.solve(target.cov, params.root @ params.root.T)
    np.testing.assert_allclose(np.linalg.eigvals(A).real, 1.0, atol=0.25)


def test_a_given_length_is_kept(targets):
    sampler = FisherHMC(trajectory_length=0.9, jitter=0.0)
    seen = watched(sampler, targets.Banana(), np.zeros((4, 2)), 13, 80, draws=20)
    np.testing.assert_allclose([p.length for _, _, p in seen[40:]], 0.9, rtol=1e-12)
    drawn = [(info.record, p) for _, info, p in seen[80:]]
    assert drawn
    for record, params in drawn:
        n = max(1, round(0.9 / params.step_size))
        assert record.time == pytest.approx(min(0.9, n * params.step_size))


def test_steps_are_never_longer_than_they_may(targets):
    target = targets.Gaussian(np.zeros(3), np.diag([1.0, 0.01, 25.0]))
    for _, _, params in watched(FisherHMC(), target, np.ones((8, 3)), 14, 300)[150:]:
        assert params.step_size <= LONGEST_STEP + 1e-12


def test_step_size_follows_the_acceptance(targets):
    """Where a root of one diagonal cannot whiten, and trajectories take many steps."""
    rng = np.random.default_rng(15)
    Q = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    target = targets.Gaussian(np.zeros(20), (Q * np.geomspace(0.1, 3.0, 20) ** 2) @ Q.T)
    sampler = FisherHMC(metric="diag")
    result = sample(sampler, target, rng.uniform(-2.0, 2.0, (8, 20)), 16, draws=100, warmup=400)
    assert result.stats["n_steps"].mean() > 10.0
    rate = result.stats["acceptance_rate"].mean()
    # The mean of noisy log steps is rather short, because acceptance falls off steeply.
    assert -0.05 < rate - sampler.target_accept < 0.2


def test_step_size_is_that_of_most_chains(targets):
    """Two of eight chains are stuck, which is their own affair; six of them are not to be."""
    sampler, rng = FisherHMC(), np.random.default_rng(16)
    target = targets.Gaussian(np.zeros(3), np.eye(3))
    seen = watched(sampler, target, target.exact(rng, 8), 17, 300)
    state, info, _ = seen[-1]
    warmup = fisher_hmc._langevin("fisher_hmc", 0, True, None).start(rng, target, State(*state[:3]))
    for few, low, high in ((2, 1.5, 2.0), (6, 0.0, 0.5)):
        known = sampler._begin(warmup, State(*state[:3]), None)
        alpha = np.where(np.arange(8) < few, 0.0, 0.95)
        for _ in range(50):
            given = info._replace(record=info.record._replace(weighted_acceptance=alpha))
            known = sampler._steered(known._replace(n=known.n + 1), state, given)
        assert low <= known.averaging.step_size() <= high


@pytest.mark.parametrize(
    ("metric", "limit", "kind"),
    [
        ("auto", 3, "dense"),
        ("auto", 2, "low_rank"),
        ("dense", 2, "dense"),
        ("low_rank", 3, "low_rank"),
        ("diag", 3, "diag"),
    ],
)
def test_kinds_of_mass_matrices(targets, monkeypatch, metric, limit, kind):
    monkeypatch.setattr(fisher_hmc, "LARGEST_DENSE", limit)
    cov = np.array([[4.0, 1.96, 0.0], [1.96, 1.0, 0.0], [0.0, 0.0, 1e-4]])
    target, rng = targets.Gaussian(np.zeros(3), cov), np.random.default_rng(17)
    x0 = rng.uniform(-2.0, 2.0, (8, 3))
    root = run(FisherHMC(metric=metric), target, x0, rng, warmup=300, draws=0).root
    found = "low_rank" if isinstance(root, LowRank) else {1: "diag", 2: "dense"}[root.ndim]
    assert found == kind
    if kind == "diag":
        C = np.diag(root)
    elif kind == "dense":
        C = root
    else:
        C = root.scale[:, None] * (np.eye(3) + (root.basis * (root.factors - 1.0)) @ root.basis.T)
    e = np.linalg.eigvals(np.linalg.solve(cov, C @ C.T)).real
    if kind != "diag":
        assert 0.4 < e.min() < e.max() < 2.5
    else:  # of the geometric mean of both variances, where they differ by 1 - correlation^2
        assert e.max() > 4.0


# -- runs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{}, {"persistence": 0.5}, {"metric": "low_rank"}])
def test_moments(targets, settings):
    rng = np.random.default_rng(18)
    target = targets.Gaussian(rng.standard_normal(3), targets.random_covariance(rng, 3))
    result = sample(FisherHMC(**settings), target, np.zeros((8, 3)), 19, draws=500, warmup=200)
    require_moments(target, result.x)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_chain_alone(targets, seed):
    """Its scale too, of which the score at one time says little."""
    target = targets.Gaussian(np.array([3.0, -1.0]), np.diag([1.0, 1e-4]))
    result = sample(FisherHMC(), target, np.zeros((1, 2)), seed, draws=1500, warmup=500)
    require_moments(target, result.x)
    assert least_ess(result) > 0.05 * result.work_sampling.grad


def test_groups_of_one_chain(targets):
    rng = np.random.default_rng(20)
    target = targets.Gaussian(np.zeros(3), targets.random_covariance(rng, 3))
    result = sample(
        FisherHMC(), target, rng.standard_normal((4, 3)), 21, draws=300, warmup=300, pool=False
    )
    assert result.groups == 4
    assert (
        len({params.step_size for params in result.params} | {p.length for p in result.params}) > 4
    )
    assert worst_rhat(result.x) < 1.03


def test_scales_over_six_orders(targets):
    """Each draw is a trajectory of pi/2 with a jitter of 0.2 of it, by a single step.

    Its end is cos(t) z + sin(t) r. Over jittered t the mean of cos(t) is about 0, so that draws are
    nearly independent and half a draw a gradient would be effective. One trajectory in twenty
    hardly moves, a few are rejected, and draws are independent only on average: the squares, which
    the tails show, have autocorrelation E cos(t)^2 = 0.03. T is off by 0.1 from one warm-up to
    another, which makes the mean of cos(t) 0.1: 0.35 are left. The bound asks for less than half.
    """
    rng = np.random.default_rng(22)
    Q = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    for rotation in (np.eye(20), Q):
        cov = (rotation * np.geomspace(1e-3, 1e3, 20) ** 2) @ rotation.T
        target = targets.Gaussian(np.zeros(20), cov)
        target.precision = (rotation * np.geomspace(1e3, 1e-3, 20) ** 2) @ rotation.T
        x0 = rng.uniform(-2.0, 2.0, (8, 20))
        result = sample(FisherHMC(), target, x0, 23, draws=500, warmup=500)
        assert worst_rhat(result.x) < 1.02
        assert least_ess(result) > 0.15 * result.work_sampling.grad


@pytest.mark.parametrize("metric", ["dense", "diag"])
@pytest.mark.parametrize("unit", [1e8, 1e20])
def test_coordinates_of_very_large_units_beside_others(targets, metric, unit):
    """Chains start as far apart as these coordinates are wide, as draws of the prior do."""
    scale = np.array([unit, 1.0, 3.0 * unit, 0.1])
    target = targets.Gaussian(np.zeros(4), np.diag(scale**2))
    target.precision = np.diag(scale**-2.0)
    x0 = scale * np.random.default_rng(31).uniform(-6.0, 6.0, (8, 4))
    result = sample(FisherHMC(metric=metric), target, x0, 32, draws=500, warmup=300)
    assert worst_rhat(result.x) < 1.02
    np.testing.assert_allclose(result.x.std(axis=(0, 1)), scale, rtol=0.1)
    assert result.work_sampling.grad < 2 * 4 * 500 * 8


def test_scales_that_are_not_learned_are_noticed(targets):
    """Negative control of the test above: a warm-up too short for the mass matrix."""
    target = targets.Gaussian(np.zeros(20), np.diag(np.geomspace(1e-3, 1e3, 20) ** 2))
    x0 = np.random.default_rng(24).uniform(-2.0, 2.0, (8, 20))
    result = sample(FisherHMC(), target, x0, 25, draws=500, warmup=8)
    assert not worst_rhat(result.x) < 1.1


def test_cliffs_in_the_warm_up(targets):
    """Starts where gradients overflow along the way."""
    rng = np.random.default_rng(26)
    X = rng.standard_normal((100, 2)) * 10.0
    target = targets.Poisson(X, rng.poisson(np.exp(X @ [0.1, -0.05])))
    x0 = np.array([0.1, -0.05]) + 0.01 * rng.standard_normal((6, 2))
    x0[0] = [2.0, 2.0]
    result = sample(FisherHMC(), target, x0, 27, draws=300, warmup=400)
    assert worst_rhat(result.x) < 1.03


def test_proposals_far_beyond_all_numbers_raise_no_warning(targets):
    """The adaptation sees positions that are not finite."""
    target, sampler = targets.Banana(), FisherHMC()
    rng = np.random.default_rng(28)
    state, adaptation = None, None
    for i in range(30):
        if state is None:
            state = sampler.init(rng, target, np.zeros((3, 2)))
            adaptation = sampler.adapt_init(rng, target, state)
        state, info = sampler.step(rng, target, state, sampler.params(adaptation))
        if i > 20:
            x = info.proposal.x.copy()
            x[0], x[1] = [np.inf, 0.0], [1e200, np.nan]
            logp = np.array([-np.inf, -np.inf, info.proposal.logp[2]])
            alpha = np.array([0.0, 0.0, info.accept_prob[2]])
            proposal = info.proposal._replace(x=x, logp=logp)
            info = info._replace(proposal=proposal, accept_prob=alpha)
        adaptation = sampler.adapt(rng, target, i, 30, adaptation, state, info)
    assert np.isfinite(adaptation.length.log_length)


# -- remarks and settings ----------------------------------------------------------------------


def test_trajectories_that_were_cut_off_are_remarked_on(targets):
    target = targets.Gaussian(np.zeros(2), np.eye(2))
    short = FisherHMC(trajectory_length=30.0, max_steps=2)
    result = sample(short, target, np.zeros((4, 2)), 29, draws=20, warmup=40)
    (remark,) = short.remarks(result.params[0], result.stats)
    assert remark.kind == "trajectories_cut_off"
    assert "100.0%" in remark.message
    assert "max_steps=2" in remark.message
    plain = FisherHMC()
    result = sample(plain, target, np.zeros((4, 2)), 29, draws=20, warmup=40)
    assert plain.remarks(result.params[0], result.stats) == []


@pytest.mark.parametrize(("share", "remarks"), [(0.0, 0), (0.01, 0), (0.02, 1)])
def test_a_few_trajectories_may_be_cut_off(share, remarks):
    cut_off = np.zeros((4, 100), dtype=bool)
    cut_off[:, : round(share * 100)] = True
    assert len(FisherHMC().remarks(None, {"cut_off": cut_off})) == remarks
    assert FisherHMC().remarks(None, {"cut_off": np.zeros((4, 0), dtype=bool)}) == []


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("target_accept", 0.0),
        ("target_accept", 1.0),
        ("trajectory_length", 0.0),
        ("trajectory_length", "long"),
        ("jitter", -0.1),
        ("jitter", 1.0),
        ("persistence", 1.0),
        ("persistence", None),
        ("metric", "identity"),
        ("max_steps", 0),
        ("max_steps", 2.5),
    ],
)
def test_settings_out_of_range(setting, value):
    with pytest.raises(SamplerError, match=setting) as error:
        FisherHMC(**{setting: value})
    assert repr(value) in str(error.value)


def test_starts_without_a_density(targets):
    with pytest.raises(SamplerError, match="chain 1 of 2"):
        FisherHMC().init(
            np.random.default_rng(0), targets.HalfSpace(2), np.array([[1.0, 0.0], [-1.0, 0.0]])
        )


def test_states_carry_momenta(targets):
    state = FisherHMC().init(np.random.default_rng(30), targets.Banana(), np.zeros((4000, 2)))
    assert isinstance(state, Phase)
    assert abs(state.momentum.mean()) < LIMIT / np.sqrt(8000)
    assert abs(np.mean(state.momentum**2) - 1.0) < LIMIT * np.sqrt(2.0 / 8000)
