"""Single coordinates in which the density jumps: how they are moved, and what comes of it."""

import json

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import kstest

from probmodel import Model, data, extend, infer, observed, param, potential
from probmodel.density.posterior import as_posterior
from probmodel.distributions import Affine, Exponential, HalfNormal, Normal, Poisson, Uniform
from probmodel.inference.pilot import Pilot
from probmodel.results.convergence import convergence
from probmodel.samplers.base import State
from probmodel.samplers.hamiltonian import within_gibbs
from probmodel.samplers.hamiltonian.dynamics import Phase
from probmodel.samplers.hamiltonian.within_gibbs import TARGET, Gibbs, separated
from probmodel.types import Evaluation

LEVEL = 1e-4  # of a single test
RNG = np.random.default_rng(5)


class Stairs:
    """A normal coordinate, and one on [0, 3) with the probabilities 0.6, 0.1 and 0.3 of steps."""

    weights = np.array([0.6, 0.1, 0.3])

    def log_density(self, x):
        step = np.floor(x[:, 1]).astype(int)
        inside = (step >= 0) & (step < 3)
        of_step = np.where(inside, np.log(self.weights)[np.clip(step, 0, 2)], -np.inf)
        return -0.5 * x[:, 0] ** 2 + of_step

    def __call__(self, x):
        return Evaluation(self.log_density(x), np.stack([-x[:, 0], 0.0 * x[:, 1]], axis=1))

    def exact(self, rng, n):
        return np.stack(
            [rng.standard_normal(n), rng.choice(3, n, p=self.weights) + rng.random(n)]
        ).T


def cdf(t):
    return np.interp(t, [0, 1, 2, 3], np.cumsum([0, *Stairs.weights]))


def at(target, x):
    logp, grad = target(x)
    return Phase(x, logp, grad, np.zeros_like(x))


def made(target, x, times, scale=1.0, rng=RNG):
    gibbs = Gibbs(np.array([1]), np.log([scale]))
    phase = at(target, x)
    for _ in range(times):
        phase, alpha, _ = gibbs.moved(target, phase, rng.random(gibbs.numbers(len(x))))
    return phase, alpha


# -- the kernel ----------------------------------------------------------------------------------


def test_exact_draws_stay_exact():
    target = Stairs()
    phase, _ = made(target, target.exact(RNG, 20_000), 5)
    assert kstest(phase.x[:, 1], cdf).pvalue > LEVEL


def test_draws_of_another_distribution_do_not():
    class Other(Stairs):
        weights = np.array([0.58, 0.12, 0.3])

    phase, _ = made(Other(), Stairs().exact(RNG, 20_000), 40)
    assert kstest(phase.x[:, 1], cdf).pvalue < LEVEL


def test_chains_forget_where_they_began():
    target = Stairs()
    x = np.stack([RNG.standard_normal(20_000), np.full(20_000, 0.5)]).T
    phase, _ = made(target, x, 60)
    assert kstest(phase.x[:, 1], cdf).pvalue > LEVEL
    assert (phase.x[:, 0] == x[:, 0]).all()  # the other coordinate stays
    logp, grad = target(phase.x)
    np.testing.assert_array_equal(phase.logp, logp)
    np.testing.assert_array_equal(phase.grad, grad)


@pytest.mark.parametrize("k", [1, 2, 5, 8, 33])
def test_every_coordinate_has_moves_and_numbers_of_its_own(k):
    class Product:
        def log_density(self, x):
            return -0.5 * np.sum(x**2, axis=1)

        def __call__(self, x):
            return Evaluation(self.log_density(x), -x)

    gibbs, chains = Gibbs(np.arange(k), np.zeros(k)), 4
    phase, alpha, _ = gibbs.moved(
        Product(), at(Product(), np.zeros((chains, k))), RNG.random(gibbs.numbers(chains))
    )
    assert alpha.shape == (chains, k)
    assert ((alpha >= 0.0) & (alpha <= 1.0)).all()
    assert len(np.unique(phase.x[phase.x != 0.0])) == np.count_nonzero(phase.x)


def test_scales_are_steered_to_the_acceptance_aimed_at():
    target, gibbs = Stairs(), Gibbs(np.array([1]), np.array([7.0]))
    phase = at(target, target.exact(RNG, 200))
    for _ in range(300):
        phase, alpha, _ = gibbs.moved(target, phase, RNG.random(gibbs.numbers(200)))
        gibbs = gibbs.learned(alpha)
    means = [made(target, phase.x, 1, np.exp(gibbs.log_scale[0]))[1].mean() for _ in range(50)]
    assert abs(np.mean(means) - TARGET) < 0.02


def test_as_many_as_can_be_moved_are_separated(monkeypatch):
    target = Stairs()
    state = State(*at(target, target.exact(RNG, 16))[:3])
    found = separated(target, state)
    assert found.coordinates.tolist() == [1]
    assert found.n == 0
    known = Gibbs(np.array([0]), np.array([-3.0]), 7)
    both = separated(target, state, known)
    assert both.coordinates.tolist() == [0, 1]
    assert both.log_scale[0] == -3.0
    assert both.n == 7
    monkeypatch.setattr(within_gibbs, "MOST", 1)
    assert separated(target, state, known) is None


# -- whole runs ------------------------------------------------------------------------------------


class Change(Model):
    time = data(dims="day")
    early = param(Exponential(1))
    late = param(Exponential(1))
    when = param(Uniform(0, 111))
    y = observed(Poisson(np.where(time < when, early, late)), dims="day")


class Ends(Model):
    end = param(HalfNormal(10))
    y = observed(Uniform(0, end), dims="day")


class Shifted(Model):
    begin = param(Normal(0, 10))
    rate = param(Exponential(1))
    y = observed(Affine(Exponential(rate), begin, 1.0), dims="day")


class Thresholds(Model):
    group = data(dims="day", dtype=int)
    x = data(dims="day")
    mu = param(Normal(0, 1))
    tau = param(HalfNormal(1))
    threshold = param(Normal(mu, tau), dims="town")
    below = param(Normal(0, 5))
    above = param(Normal(0, 5))
    y = observed(Normal(np.where(x < threshold[group], below, above), 0.5), dims="day")


DAYS = np.arange(111.0)
COUNTS = np.random.default_rng(1).poisson(np.where(DAYS < 41, 3, 1))


def change(days=111):
    return Change(time=DAYS[:days], y=COUNTS[:days])


def change_probabilities():
    """Exact probabilities that the rate changes in (k - 1, k], for k = 1, ..., 111."""
    k = np.arange(1, 112)
    a = np.cumsum(COUNTS)
    b = a[-1] - a
    logs = gammaln(1 + a) - (1 + a) * np.log(1 + k) + gammaln(1 + b) - (1 + b) * np.log(112 - k)
    return np.exp(logs - logsumexp(logs))


def share_and_error(hits):
    """Mean of indicators, (chains, draws), and its Monte Carlo error."""
    ess = convergence(hits[None].astype(float)).ess_bulk[0]
    return hits.mean(), np.sqrt(hits.var() / ess)


def gibbs_of(posterior):
    return {found["kind"] for found in json.loads(posterior.attrs["warnings"])}


@pytest.mark.parametrize(
    "chains", [4, *(pytest.param(n, marks=pytest.mark.statistical) for n in (2, 16))]
)
def test_a_change_point_is_sampled_without_a_warning(chains):
    posterior = infer(change(), chains=chains, seed=3, quiet=True)
    assert gibbs_of(posterior) == set()
    assert (posterior.sample_stats.acceptance_rate.mean() > 0.8).all()


def test_more_draws_of_a_fit_are_those_of_a_longer_run():
    sizes = {"seed": 3, "quiet": True, "chains": 4, "warmup": 150}
    longer = extend(infer(change(60), draws=100, **sizes), 60, quiet=True)
    whole = infer(change(60), draws=160, **sizes)
    for name in ("early", "late", "when"):
        np.testing.assert_array_equal(longer.posterior[name], whole.posterior[name])


@pytest.mark.statistical
def test_thresholds_of_groups_stay_as_they_are_written():
    group, x = np.repeat(np.arange(6), 30), np.random.default_rng(2).standard_normal(180)
    y = np.where(x < 0.3 * group - 0.8, 1.0, 2.0) + 0.5 * RNG.standard_normal(180)
    model = Thresholds(group=group, x=x, y=y, coords={"town": range(6)})
    density = as_posterior(model)
    rng = np.random.default_rng(1)
    pilot = Pilot(density, density.initial_points(rng, 16), rng)
    pilot.start()
    while not pilot.settled:
        pilot.warm_up(0, 0)
    state = State(pilot.positions, *pilot.density(pilot.positions))
    assert separated(pilot.density, state).coordinates.tolist() == [2, 3, 4, 5, 6, 7]
    assert gibbs_of(infer(model, seed=1, quiet=True)) == set()


@pytest.mark.parametrize("method", ["nuts", "hmc", "fisher_mala", "barker"])
def test_other_methods_that_follow_gradients_say_so(method):
    posterior = infer(change(), method, draws=200, warmup=200, seed=1, quiet=True)
    found = {f["kind"]: f for f in json.loads(posterior.attrs["warnings"])}
    assert found["jumps"]["variables"] == ["when"]
    assert f"{method} follows gradients" in found["jumps"]["message"]
    assert "improper" not in found


def test_the_default_says_so_where_there_are_too_many(monkeypatch):
    monkeypatch.setattr(within_gibbs, "MOST", 0)
    posterior = infer(change(), draws=100, warmup=150, seed=1, quiet=True)
    found = {f["kind"]: f for f in json.loads(posterior.attrs["warnings"])}
    assert found["jumps"]["variables"] == ["when"]
    assert "too many" in found["jumps"]["message"]


def test_methods_without_gradients_and_smooth_models_do_not():
    posterior = infer(change(), "rwm", draws=20, warmup=50, seed=1, quiet=True)
    assert "jumps" not in gibbs_of(posterior)
    posterior = infer(Smooth(y=DAYS), "nuts", draws=30, warmup=50, seed=1, quiet=True)
    assert "jumps" not in gibbs_of(posterior)


class Careless(Model):
    a = param(Normal(0, 1))
    term = potential(np.where(a > 0, np.sqrt(a), 0.0))


def test_where_only_the_gradient_is_not_finite_the_chain_stays_and_a_warning_says_so():
    density = as_posterior(Careless())
    phase = at(density, np.full((400, 1), 0.1))
    gibbs = Gibbs(np.array([0]), np.zeros(1))
    moved, _, lost = gibbs.moved(density, phase, RNG.random(gibbs.numbers(400)))
    assert 0.2 < lost.mean() < 0.7
    assert (moved.x[lost] == 0.1).all()
    assert (moved.x > 0.0).all()
    found = json.loads(infer(Careless(), seed=1, draws=200, quiet=True).attrs["warnings"])
    assert "not_finite_proposals" in [f["kind"] for f in found]


class Smooth(Model):
    mu = param(Normal(0, 1))
    sigma = param(HalfNormal(1))
    y = observed(Normal(mu, sigma), dims="day")


@pytest.mark.statistical
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_change_points_have_their_exact_probabilities(seed):
    draws = infer(change(), seed=seed, quiet=True).posterior["when"].values
    for k, p in enumerate(change_probabilities(), 1):
        if p > 0.01:
            share, error = share_and_error((draws > k - 1) & (draws <= k))
            assert abs(share - p) < 4.5 * error


@pytest.mark.statistical
def test_edges_have_exact_posteriors():
    y = np.random.default_rng(4).uniform(0, 7, 60)
    draws = infer(Ends(y=y), seed=1, quiet=True).posterior["end"].values
    grid = np.linspace(y.max(), y.max() + 3.0, 200_001)
    density = np.exp(-60 * np.log(grid / y.max()) - grid**2 / 200)
    below = np.cumsum(density) / density.sum()
    for level in (0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        share, error = share_and_error(draws < np.interp(level, below, grid))
        assert abs(share - level) < 4.5 * error


@pytest.mark.statistical
def test_shifts_have_exact_posteriors():
    """Given the rate the shift is below the least value by an exponential of n times the rate."""
    y = 3 + np.random.default_rng(4).exponential(2, 60)
    posterior = infer(Shifted(y=y), seed=1, quiet=True).posterior
    gap = (y.min() - posterior["begin"].values) * 60 * posterior["rate"].values
    for level in (0.1, 0.5, 0.9, 0.99):  # the prior of the shift changes by less than 1e-3 there
        share, error = share_and_error(gap < -np.log1p(-level))
        assert abs(share - level) < 4.5 * error + 1e-3
