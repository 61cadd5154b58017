"""Chains climb to the bulk: how near, at what cost, each by itself, and what is added there."""

import warnings

import numpy as np
import pytest

from probmodel.adaptation.ascent import HALVINGS, MEMORY, Climbers, _Memory, climb, log_weight
from probmodel.testing.targets import Gaussian, random_covariance

DIMS = (1, 2, 3, 5, 8, 17)
DEPTH = 0.02
MOST = 60
APART = 1e6  # between the tags of chains, far more than noise moves them


def normal(kind, dim):
    """A normal target about a mode that is not zero; the Hessian's condition is 100 if diagonal."""
    rng = np.random.default_rng(dim)
    scales = np.logspace(-0.5, 0.5, dim) if dim > 1 else np.array([3.0])
    cov = np.diag(scales**2) if kind == "diagonal" else random_covariance(rng, dim)
    return Gaussian(rng.standard_normal(dim), cov)


def far(target, chains, scales=100.0):
    """Starting points, 100 standard deviations away in the root mean square."""
    z = np.random.default_rng(7).standard_normal((chains, target.dim))
    z *= scales / np.sqrt(np.mean(z * z, axis=1))[:, None]
    return target.mean + z @ np.linalg.cholesky(target.cov).T


def drops(target, x):
    """How far below that at the mode the log densities are."""
    return target(target.mean[None])[0] - target(x)[0]


def bulk(dim):
    """How far below its place of arrival a chain may be in the end."""
    return 0.5 * dim + 3.0 * np.sqrt(0.5 * dim)


class Tagged:
    """A density with one more coordinate, on which it does not depend: the number of the chain."""

    def __init__(self, target, chains):
        self.target, self.dim = target, target.dim + 1
        self.evaluations, self.calls = np.zeros(chains, dtype=int), 0

    def __call__(self, x):
        tags = np.rint(x[:, -1] / APART).astype(int)
        assert len(set(tags)) == len(tags)
        self.evaluations[tags] += 1
        self.calls += 1
        logp, grad = self.target(x[:, :-1])
        return Evaluated(logp, np.column_stack([grad, np.zeros(len(x))]))


class Evaluated(tuple):
    """What densities return."""

    __slots__ = ()

    def __new__(cls, logp, grad):
        return super().__new__(cls, (logp, grad))

    @property
    def logp(self):
        return self[0]


class Function:
    """A density from a function of the points that gives values and gradients."""

    def __init__(self, function):
        self.function = function

    def __call__(self, x):
        with np.errstate(all="ignore"):
            return Evaluated(*self.function(x))


def arrived(density, x, most=MOST, depth=DEPTH):
    """Climb without noise; returns the climbers and the evaluations."""
    chains = Climbers(density, x, depth)
    for n in range(1, most):
        if not chains.climbing.any():
            return chains, n
        chains.step(density)
    return chains, most


# -- where chains arrive --------------------------------------------------------------------------


@pytest.mark.parametrize("chains", [1, 2, 3, 16])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kind", ["diagonal", "correlated"])
def test_chains_end_in_the_bulk_of_a_normal_distribution(kind, dim, chains):
    target = normal(kind, dim)
    x = far(target, chains)
    assert np.all(drops(target, x) > 4000.0 * dim)
    *_, last = climb(target, x, np.random.default_rng(1), MOST, DEPTH)
    assert last.shape == x.shape
    assert np.all(drops(target, last) < bulk(dim) + DEPTH * dim)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("kind", ["diagonal", "correlated"])
def test_before_the_noise_they_are_near_the_mode(kind, dim):
    """By less than the standard deviation of the log density of draws."""
    target = normal(kind, dim)
    chains, n = arrived(target, far(target, 16))
    assert not chains.climbing.any()
    assert n < MOST
    assert np.all(drops(target, chains.x) < np.sqrt(0.5 * dim))


def test_few_evaluations_do_not_suffice():
    """Negative control: the bulk is not reached from so far at once."""
    target = normal("diagonal", 8)
    *_, last = climb(target, far(target, 16), np.random.default_rng(1), 8 + HALVINGS, DEPTH)
    assert np.all(drops(target, last) > bulk(8) + DEPTH * 8)


@pytest.mark.parametrize(("start", "most"), [(30.0, 60), (60.0, 120)])
@pytest.mark.parametrize("dim", [1, 4, 17])
def test_a_wall_is_left(dim, start, most):
    """Poisson counts with log rates of 30 or 60, whose gradients are 1e13 and 1e26."""
    y = np.arange(1.0, dim + 1.0)
    poisson = Function(lambda x: (x @ y - np.sum(np.exp(x), axis=1), y - np.exp(x)))
    mode = np.sum(y * np.log(y) - y)
    x = np.full((3, dim), start)
    steps = list(climb(poisson, x, np.random.default_rng(2), most, 0.5))
    assert len(steps) <= most
    assert np.all(mode - poisson(steps[-1]).logp < bulk(dim) + 0.5 * dim)


def test_a_wall_takes_more_than_a_step():
    """Negative control: the wall is high, and is not left at once."""
    wall = Function(lambda x: (np.sum(x - np.exp(x), axis=1), 1.0 - np.exp(x)))
    *_, last = climb(wall, np.full((3, 2), 60.0), np.random.default_rng(2), 3 + HALVINGS, 0.5)
    assert np.all(wall(last).logp < -2.0 - (bulk(2) + 1.0))


# -- at what cost ---------------------------------------------------------------------------------


@pytest.mark.parametrize("chains", [1, 2, 3, 16])
@pytest.mark.parametrize("most", [8, 20, 60])
@pytest.mark.parametrize("kind", ["diagonal", "correlated"])
def test_no_chain_is_evaluated_more_often_than_it_may_be(kind, most, chains):
    target = normal(kind, 8)
    counted = Tagged(target, chains)
    x = np.column_stack([far(target, chains), APART * np.arange(chains)])
    steps = list(climb(counted, x, np.random.default_rng(1), most, DEPTH))
    assert len(steps) <= most
    assert counted.calls <= 2 * len(steps)
    assert np.all(counted.evaluations <= 2 * most)
    assert np.all(counted.evaluations >= 2)
    if most == 8:
        assert len(steps) >= most - HALVINGS


def test_positions_are_yielded_after_each_trial_point():
    target = normal("diagonal", 3)
    counted, before = Tagged(target, 2), far(target, 2)
    x = np.column_stack([before, APART * np.arange(2)])
    climbing = climb(counted, x, np.random.default_rng(1), 60, DEPTH)
    calls = 0
    assert counted.calls == calls
    for at in climbing:
        assert calls < counted.calls <= calls + 2  # a trial point, and one beside it
        calls = counted.calls
        assert at.shape == x.shape
        assert np.isfinite(at).all()
    np.testing.assert_array_equal(x[:, :-1], before)


def test_chains_that_have_arrived_are_not_evaluated_on_the_way():
    target = normal("diagonal", 3)
    x = far(target, 3)
    x[1] = target.mean + 0.01
    counted = Tagged(target, 3)
    x = np.column_stack([x, APART * np.arange(3)])
    list(climb(counted, x, np.random.default_rng(1), 60, DEPTH))
    assert counted.evaluations[1] < min(counted.evaluations[[0, 2]])


@pytest.mark.parametrize("dim", [1, 5])
def test_a_density_that_rises_for_ever_ends(dim):
    rising = Function(lambda x: (np.sum(x, axis=1), np.ones_like(x)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        steps = list(climb(rising, np.zeros((2, dim)), np.random.default_rng(3), 60, DEPTH))
    assert 60 - HALVINGS <= len(steps) <= 60
    assert np.isfinite(steps[-1]).all()
    assert np.all(steps[-1] > 100.0)


# -- densities without a mode ---------------------------------------------------------------------


def funnel(groups, sd=3.0):
    """Effects about 0 with a scale e^x[0] of their own, which has a normal prior.

    The mode is at ``-sd^2 (groups - 1)``.
    """

    def evaluate(x):
        t, theta = x[:, 0], x[:, 1:]
        squares = np.sum(theta * theta, axis=1) * np.exp(-2.0 * t)
        logp = -0.5 * t * t / sd**2 + t - groups * t - 0.5 * squares
        slopes = -theta * np.exp(-2.0 * t)[:, None]
        return logp, np.column_stack([-t / sd**2 + 1.0 - groups + squares, slopes])

    return Function(evaluate)


def scales_after(groups, monkeypatch=None):
    """Logarithms of the scale at the end of climbs from uniform places."""
    if monkeypatch is not None:
        monkeypatch.setattr(Climbers, "give_up", lambda self: None)
    x = np.random.default_rng(groups).uniform(-2.0, 2.0, (16, groups + 1))
    *_, last = climb(funnel(groups), x, np.random.default_rng(1), 120, DEPTH)
    return last[:, 0]


@pytest.mark.parametrize("groups", [8, 16, 40])
def test_a_funnel_is_not_followed_to_its_end(groups, monkeypatch):
    """Logarithms of the scale have a mean of 1 at most, and a standard deviation of 3.

    The control climbs on where the volume vanishes. Beyond `MEMORY` directions less is known of it.
    """
    end, control = np.median(np.abs(scales_after(groups))), scales_after(groups, monkeypatch)
    assert end < (6.0 if groups < 2 * MEMORY else 10.0)
    assert np.median(np.abs(control)) > 2.0 * end


@pytest.mark.parametrize("groups", [6, 9, 12])
def test_chains_do_not_stay_at_a_mode_in_the_neck(groups, monkeypatch):
    """The mode is 2.25 (groups - 1) below, 11 to 25: 7 to 16 standard deviations of the prior."""
    density = funnel(groups, 1.5)
    x = np.random.default_rng(groups).uniform(-2.0, 2.0, (16, groups + 1))
    *_, last = climb(density, x, np.random.default_rng(1), 200, DEPTH)
    monkeypatch.setattr(Climbers, "too_far", lambda self: [])
    *_, control = climb(density, x, np.random.default_rng(1), 200, DEPTH)
    assert np.median(np.abs(last[:, 0])) < 6.0
    assert np.median(control[:, 0]) < -1.5 * (groups - 1)


@pytest.mark.parametrize("kind", ["diagonal", "dense"])
@pytest.mark.parametrize("dim", DIMS)
def test_the_weight_of_a_place_is_its_density_times_the_volume(kind, dim):
    target = normal(kind, dim)
    for x in far(target, 3, 1.0):
        expected = target(x[None])[0][0] + 0.5 * np.linalg.slogdet(target.cov)[1]
        assert log_weight(target, x) == pytest.approx(expected, abs=1e-5)
    assert np.isnan(log_weight(lambda x: (np.full(len(x), -np.inf), np.nan * x), np.zeros(dim)))


@pytest.mark.parametrize("dim", DIMS)
def test_one_difference_tells_the_weight_where_coordinates_are_independent(dim):
    target = normal("diagonal", dim)
    chains, _ = arrived(target, far(target, 3))
    expected = target(chains.x)[0] + 0.5 * np.linalg.slogdet(target.cov)[1]
    expected -= 0.5 * np.sum(np.log(np.abs(chains._probe)))
    np.testing.assert_allclose(chains._here, expected, rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("effects", [8, 16, 40])
def test_the_weight_falls_where_effects_come_close_to_their_mean(effects):
    """As in the neck of a funnel. Signs instead of the probe cancel for half of the effects."""

    def weight(precision, probe=None):
        close = np.eye(effects + 1)
        close[0, 1:] = close[1:, 0] = -1.0
        close[0, 0] = effects
        hessian = precision * close + np.eye(effects + 1)
        density = Function(lambda x: (-0.5 * np.sum(x @ hessian * x, axis=1), -x @ hessian))
        chains = Climbers(density, np.full((1, effects + 1), 1e-6), DEPTH)
        if probe is not None:
            chains._probe = probe
            chains._weigh(density, np.array([True]))
        return chains._here[0]

    exact = 0.5 * effects * np.log(1e6)  # but for a part that is the same for any number of them
    assert weight(1.0) - weight(1e6) > 0.9 * exact
    signs = np.resize([1.0, -1.0], effects + 1)
    assert weight(1.0, signs) - weight(1e6, signs) < 0.7 * exact


def interpolation(dim):
    """Latent values z about 0 that are observed as 1, with noise e^t: no bound as t falls."""

    def evaluate(x):
        t, z = x[:, 0], x[:, 1:]
        precision = np.exp(-2.0 * t)
        misfit = np.sum((1.0 - z) ** 2, axis=1) * precision
        logp = -0.5 * t * t - dim * t - 0.5 * np.sum(z * z, axis=1) - 0.5 * misfit
        return logp, np.column_stack(
            [-t - dim + misfit, -z + (1.0 - z) * precision[:, None]]
        )  # fmt: skip

    return Function(evaluate)


@pytest.mark.parametrize("dim", [8, 20, 100])
def test_chains_do_not_stay_where_noise_has_vanished(dim, monkeypatch):
    """The logarithm t of the noise has a standard normal prior, which tells of it if t << 0."""
    density = interpolation(dim)
    x = np.random.default_rng(dim).uniform(-2.0, 2.0, (16, dim + 1))
    *_, last = climb(density, x, np.random.default_rng(1), 150, 0.1)
    assert np.all(last[:, 0] > -4.0)
    monkeypatch.setattr(Climbers, "give_up", lambda self: None)
    monkeypatch.setattr(Climbers, "too_far", lambda self: [])
    *_, control = climb(density, x, np.random.default_rng(1), 150, 0.1)
    assert control[:, 0].min() < -6.0


def test_chains_that_all_go_back_are_yielded_there(monkeypatch):
    """Each alone, so that no other has noise added after it."""
    density, went = funnel(9, 1.5), []
    reconsider = Climbers.reconsider
    monkeypatch.setattr(
        Climbers, "reconsider", lambda self, *at: went.append(at) or reconsider(self, *at)
    )
    for start in np.random.default_rng(9).uniform(-2.0, 2.0, (16, 10)):
        climbing = climb(density, start[None], np.random.default_rng(1), 200, DEPTH)
        yielded = [(at, at.copy()) for at in climbing]
        np.testing.assert_array_equal(*yielded[-1])
    assert went


def test_a_density_that_is_nowhere_finite_is_left_at_once():
    nowhere = Function(lambda x: (np.full(len(x), -np.inf), np.zeros_like(x)))
    x = np.ones((2, 3))
    steps = list(climb(nowhere, x, np.random.default_rng(3), 60, DEPTH))
    assert len(steps) == 1
    np.testing.assert_array_equal(steps[-1], x)


def test_beside_a_place_without_a_gradient_nothing_is_evaluated():
    def function(x):
        assert np.isfinite(x).all()
        return -np.sum(x * x, axis=1), np.where(x > 1.0, np.nan, -2.0 * x)

    x = np.array([[2.0, 2.0], [-3.0, 0.5]])
    *_, last = climb(Function(function), x, np.random.default_rng(3), 60, DEPTH)
    np.testing.assert_array_equal(last[0], x[0])
    assert np.sum(last[1] ** 2) < bulk(2) + 2 * DEPTH


def test_at_a_stationary_point_chains_stay_until_the_noise():
    flat = Function(lambda x: (np.zeros(len(x)), np.zeros_like(x)))
    chains, n = arrived(flat, np.ones((2, 3)))
    assert n == 1
    np.testing.assert_array_equal(chains.x, 1.0)


# -- each by itself -------------------------------------------------------------------------------


@pytest.mark.parametrize("logp", [-np.inf, np.nan])
@pytest.mark.parametrize("slope", [0.0, np.nan])
@pytest.mark.parametrize("lost", [0, 1, 3])
def test_a_chain_where_the_density_is_not_finite_does_not_touch_the_others(lost, slope, logp):
    scales = np.logspace(-0.5, 0.5, 4)

    def function(x):
        outside = x[:, 0] > 1e4
        z = x / scales
        value = np.where(outside, logp, -0.5 * np.sum(z * z, axis=1))
        return value, np.where(outside[:, None], slope, -z / scales)

    density, x = Function(function), 30.0 * np.random.default_rng(4).standard_normal((4, 4))
    x[lost] = 2e4
    others = np.arange(4) != lost
    together = Climbers(density, x, DEPTH)
    alone = Climbers(density, x[others], DEPTH)
    for _ in range(60):
        np.testing.assert_array_equal(together.x[others], alone.x)
        np.testing.assert_array_equal(together.climbing[others], alone.climbing)
        np.testing.assert_array_equal(together.x[lost], 2e4)
        together.step(density)
        alone.step(density)
    assert np.all(density(alone.x).logp > -np.sqrt(0.5 * 4))
    *_, last = climb(density, x, np.random.default_rng(5), 60, DEPTH)
    np.testing.assert_array_equal(last[lost], 2e4)
    assert np.all(density(last[others]).logp > -bulk(4) - DEPTH * 4)


def test_trial_points_that_are_not_finite_shorten_the_step():
    """The log density of an exponential variate, with an edge at 0 beyond which it is NaN."""
    edge = Function(lambda x: (np.sum(np.log(x) - x, axis=1), 1.0 / x - 1.0))
    x = np.array([[0.1, 30.0], [10.0, 0.01]])
    *_, last = climb(edge, x, np.random.default_rng(6), 60, DEPTH)
    assert np.all(last > 0.0)
    assert np.all(-2.0 - edge(last).logp < bulk(2) + DEPTH * 2)


# -- what is added on arrival ---------------------------------------------------------------------

DRAWS = 40_000


def shared(steps, hessian, rows=DRAWS):
    """A memory of a quadratic with that Hessian, the same for all chains."""
    memory = _Memory(np.ones((rows, len(hessian))))
    for s in steps:
        step = np.tile(s, (rows, 1))
        memory.learn(step, step @ hessian, np.ones(rows, dtype=bool))
    return memory


def implied(memory, dim):
    """The inverse Hessian that directions are made with."""
    g = np.zeros(memory._s.shape[1:])
    g[:dim] = np.eye(dim)
    return -memory.direction(g)[:dim]


def deviations(draws, covariance):
    """Errors of the covariance about zero, in Monte Carlo standard errors."""
    found = draws.T @ draws / len(draws)
    variances = np.diag(covariance)
    error = np.sqrt((np.outer(variances, variances) + covariance**2) / len(draws))
    return np.max(np.abs(found - covariance) / error)


def quadratic(dim, seed):
    root = np.random.default_rng(seed).standard_normal((dim, dim))
    return root @ root.T + 0.5 * np.eye(dim)


@pytest.mark.statistical
@pytest.mark.parametrize("dim", [1, 2, 4, 7])
@pytest.mark.parametrize("steps", [1, 3, MEMORY, MEMORY + 3])
def test_the_noise_has_the_covariance_of_the_directions(dim, steps):
    rng = np.random.default_rng(steps)
    memory = shared(rng.standard_normal((steps, dim)), quadratic(dim, 8))
    covariance = implied(memory, dim)
    np.testing.assert_allclose(covariance, covariance.T, rtol=0, atol=1e-9 * np.max(covariance))
    assert deviations(memory.noise(rng), covariance) < 5.0


def test_noise_that_does_not_take_out_what_steps_tell_has_another_covariance():
    """Negative control: steps that add variance and remove none."""
    rng = np.random.default_rng(3)
    memory = shared(rng.standard_normal((3, 4)), quadratic(4, 8))
    w = np.sqrt(memory._gamma)[:, None] * rng.standard_normal((DRAWS, 4))
    for s, rho in zip(memory._s, memory._rho, strict=True):
        w += (np.sqrt(rho) * rng.standard_normal(DRAWS))[:, None] * s
    assert deviations(w, implied(memory, 4)) > 20.0


def test_steps_along_all_axes_tell_the_covariance_itself():
    hessian = quadratic(4, 9)
    values, vectors = np.linalg.eigh(hessian)
    memory = shared((vectors / np.sqrt(values)).T, hessian)
    covariance = np.linalg.inv(hessian)
    np.testing.assert_allclose(implied(memory, 4), covariance, rtol=1e-10, atol=1e-12)
    assert deviations(memory.noise(np.random.default_rng(10)), covariance) < 5.0


def test_steps_without_positive_curvature_are_not_kept():
    rows = np.array([True, True, False])
    memory, s = _Memory(np.ones((3, 2))), np.ones((3, 2))
    before = implied_by_chain(memory)
    memory.learn(s, np.array([[-1.0, -1.0], [8.0, 8.0], [8.0, 8.0]]), rows)
    after = implied_by_chain(memory)
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
    assert not np.array_equal(after[1], before[1])


def implied_by_chain(memory):
    return memory.direction(np.tile([1.0, 0.0], (len(memory._gamma), 1)))


def test_noise_is_halved_where_the_density_is_too_low():
    """A narrow normal distribution, and noise of unit scale from where no step was made."""
    narrow = Function(lambda x: (-0.5e4 * np.sum(x * x, axis=1), -1e4 * x))
    x = np.zeros((3, 4))
    chains = Climbers(narrow, x, DEPTH)
    noise = np.full((3, 4), [[1.0], [0.05], [0.01]])
    # drops of 20,000, 50 and 2, where 2 + 3 sqrt(2) are allowed
    np.testing.assert_array_equal(chains.spread(narrow, noise, np.arange(3)), [False, False, True])
    np.testing.assert_array_equal(chains.x, np.where([[0], [0], [1]], noise, 0.0))
    np.testing.assert_array_equal(chains.spread(narrow, 0.5 * noise, np.arange(2)), [False, False])
    np.testing.assert_array_equal(chains.spread(narrow, 0.25 * noise, np.arange(2)), [False, True])
    np.testing.assert_array_equal(chains.x[1], 0.0125)


def test_the_same_randomness_gives_the_same_places():
    target = normal("correlated", 5)
    x = far(target, 3)
    first, second, other = (
        list(climb(target, x, np.random.default_rng(seed), 60, DEPTH))[-1] for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)
