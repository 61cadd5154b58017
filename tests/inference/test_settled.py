"""Whether chains have settled, so that the warm-up may end."""

import numpy as np
import pytest
from scipy import stats

from probmodel import Model, infer, observed, param
from probmodel.distributions import BernoulliLogit, HalfNormal, Normal
from probmodel.inference.chains import Group
from probmodel.inference.driver import drive
from probmodel.inference.groups import sample
from probmodel.inference.settled import SETTLED, Settling
from probmodel.samplers.hamiltonian.fisher_hmc import FisherHMC
from probmodel.samplers.hamiltonian.fisher_schedule import FIRST_END, LAST_END

QUIET = {"seed": 1, "quiet": True, "draws": 20}


def split_rhat(draws):
    """Of (draws, chains), by the textbook; an odd draw at the end is left out."""
    m = len(draws) // 2
    halves = np.concatenate([draws[:m], draws[m : 2 * m]], axis=1)
    within = np.mean(np.var(halves, axis=0, ddof=1))
    between = m * np.var(np.mean(halves, axis=0), ddof=1)
    return np.sqrt(((m - 1) / m * within + between / m) / within)


def settled_after(x, logp=None, windows=None, diverging=None):
    """Iterations after which chains, (iterations, chains, dim), count as settled."""
    settling = Settling([(0, len(x))] if windows is None else windows)
    logp = x[:, :, 0] if logp is None else logp
    broken = np.zeros(logp.shape, dtype=bool) if diverging is None else diverging
    found = []
    for i in range(len(x)):
        settling.add(i, x[i], logp[i], broken[i])
        if settling.settled:
            found.append(i)
    return found


def series(rng, iterations, chains, dim, correlation, offset=0.0):
    """Stationary series of first order, far from zero."""
    x = rng.standard_normal((iterations, chains, dim))
    for i in range(1, iterations):
        x[i] = correlation * x[i - 1] + np.sqrt(1.0 - correlation**2) * x[i]
    return 1e6 + x + offset


@pytest.mark.parametrize("iterations", [10, 24, 49])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_it_is_split_rhat(iterations, correlation):
    agreed = []
    for seed in range(30):
        x = series(np.random.default_rng(seed), iterations, 5, 3, correlation)
        worst = max(split_rhat(x[:, :, j]) for j in range(3))
        assert settled_after(x) == ([iterations - 1] if worst <= SETTLED else [])
        agreed.append(worst <= SETTLED)
    assert correlation > 0.0 or any(agreed)


def test_the_log_density_counts():
    rng = np.random.default_rng(1)
    x = series(rng, 24, 8, 2, 0.0)
    assert settled_after(x) == [23]
    assert settled_after(x, logp=x[:, :, 0] + 3.0 * np.arange(8)) == []


def test_chains_apart_or_on_their_way_have_not_settled():
    rng = np.random.default_rng(2)
    apart = series(rng, 24, 8, 2, 0.0, offset=np.where(np.arange(8) == 3, 5.0, 0.0)[:, None])
    drifting = series(rng, 24, 8, 2, 0.0, offset=0.2 * np.arange(24)[:, None, None])
    for x in (apart, drifting):
        assert settled_after(x, logp=rng.standard_normal((24, 8))) == []


def test_windows_are_judged_one_by_one():
    rng = np.random.default_rng(3)
    x = series(rng, 70, 8, 2, 0.0)
    x[:30, 0] += 9.0
    assert settled_after(x, windows=[(2, 20), (30, 50), (50, 70)]) == [49, 69]


def test_a_broken_trajectory_forbids():
    rng = np.random.default_rng(4)
    x, broken = series(rng, 40, 8, 2, 0.0), np.zeros((40, 8), dtype=bool)
    broken[7, 3] = True
    assert settled_after(x, windows=[(0, 20), (20, 40)], diverging=broken) == [39]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_has_not_settled(bad):
    x = series(np.random.default_rng(5), 24, 8, 2, 0.0)
    x[3, 2, 1] = bad
    with np.errstate(invalid="ignore"):
        assert settled_after(x) == []


def test_chains_that_do_not_move_and_few_chains_tell_nothing():
    x = series(np.random.default_rng(6), 24, 8, 2, 0.0)
    assert settled_after(np.repeat(x[:1], 24, axis=0)) == []
    assert settled_after(x[:, :3]) == []


def test_groups_end_together(counting, flat):
    """The warm-up ends when the last group has settled."""

    class Told(Group):
        def __init__(self, settled_at):
            super().__init__(counting(), flat, np.zeros((2, 2)), np.random.default_rng(1))
            self.at, self.i = settled_at, -1

        def warm_up(self, i, n_warmup):
            super().warm_up(i, n_warmup)
            self.i = i

        @property
        def settled(self):
            return self.i in self.at

    groups = [Told({3, 7}), Told({5, 7, 8})]
    drive(groups, warmup=20, iterations=4)
    assert [(group.i, group.drawn) for group in groups] == [(7, 4), (7, 4)]


# -- runs ------------------------------------------------------------------------------------------


class Easy(Model):
    beta = param(Normal(0, 2), shape=3)
    y = observed(BernoulliLogit(beta[0] + np.linspace(-1, 1, 80) * beta[1] + beta[2]))


class Modes(Model):
    """Two modes of the same weight, which no chain leaves."""

    mu = param(Normal(0, 10))
    sigma = param(HalfNormal(0.1))
    y = observed(Normal(mu**2, 0.1 + sigma))


def easy():
    return Easy(y=np.random.default_rng(7).integers(0, 2, 80))


def modes():
    return Modes(y=np.random.default_rng(8).normal(9.0, 0.1, 20))


def test_an_easy_posterior_has_a_short_warm_up():
    found = infer(easy(), save_warmup=True, **QUIET)
    done = found.attrs["warmup_done"]
    assert done < 200 < found.attrs["warmup"] == 500
    assert found.warmup_posterior.sizes["draw"] == done
    assert not found.attrs["interrupted"]
    assert not found.attrs["timed_out"]


def test_a_given_length_is_kept():
    assert infer(easy(), warmup=230, **QUIET).attrs["warmup_done"] == 230


def test_chains_from_given_places_warm_up_in_full():
    """Where all begin together, that they agree says nothing."""
    found = infer(easy(), inits={"beta": np.zeros(3)}, **QUIET)
    assert found.attrs["warmup_done"] == 500


def test_chains_that_stay_apart_warm_up_in_full():
    found = infer(modes(), seed=1, draws=100, quiet=True)
    assert "separated_chains" in found.attrs["warnings"]
    assert found.attrs["warmup_done"] == 500


def test_groups_learn_alone_and_end_together():
    target_draws = infer(easy(), pool=False, chains=4, **QUIET)
    assert target_draws.attrs["warmup_done"] == 500  # one chain agrees with itself alone


@pytest.mark.parametrize("dim", [2, 20, 60])
def test_ends_of_a_normal_density(targets, dim):
    """Soon after the first window in most runs, with a kernel as good as that of a long warm-up."""
    rng, ends, ess = np.random.default_rng(9), [], []
    target = targets.Gaussian(np.zeros(dim), targets.random_covariance(rng, dim))
    for seed in range(4):
        x0 = target.exact(rng, 16)
        run = sample(FisherHMC(), target, x0, seed, draws=200, warmup=500, early=True)
        ends.append(run.warmup_done - 100 - dim // 2)
        jumps = np.diff(run.x, axis=1)
        ess.append(np.mean(jumps**2, axis=(0, 1)) / (2.0 * np.diag(target.cov)))
    assert min(ends) == FIRST_END - 1
    assert np.median(ends) < LAST_END / 2
    assert 0.75 < np.mean(ess) < 1.3  # of independent draws it is 1


@pytest.mark.statistical
def test_draws_after_a_short_warm_up_are_right(targets):
    """Many runs of few draws each: their means and variances have no bias."""
    rng = np.random.default_rng(10)
    target = targets.Gaussian(np.array([3.0, -1.0, 0.0]), targets.random_covariance(rng, 3))
    means, squares = [], []
    for seed in range(200):
        x0 = 2.0 * target.exact(rng, 8)
        run = sample(FisherHMC(), target, x0, seed, draws=20, warmup=500, early=True)
        z = (run.x - target.mean) / np.sqrt(np.diag(target.cov))
        means.append(z.mean(axis=(0, 1)))
        squares.append((z * z).mean(axis=(0, 1)))
    for values, truth in ((np.array(means), 0.0), (np.array(squares), 1.0)):
        t = (values.mean(axis=0) - truth) / stats.sem(values, axis=0)
        assert np.abs(t).max() < 4.0
