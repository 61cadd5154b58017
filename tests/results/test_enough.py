"""How many draws a run lacks, and that a run whose draws are left to the method makes them."""

import json
import re

import numpy as np
import pytest
from scipy.signal import lfilter

from probmodel import Converged, Model, deterministic, infer, param
from probmodel.density import LogDensity
from probmodel.distributions import Normal
from probmodel.errors import SamplerError
from probmodel.results.convergence import convergence
from probmodel.results.enough import Enough, suspects
from probmodel.samplers.hamiltonian.fisher_hmc import FisherHMC


def autoregressions(persistence, chains, draws, dim, seed=0):
    """Stationary chains of variance 1: (chains, draws, dim)."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((chains, draws, dim)) * np.sqrt(1.0 - persistence**2)
    noise[:, 0] /= np.sqrt(1.0 - persistence**2)
    return lfilter([1.0], [1.0, -persistence], noise, axis=1)


def missing_draws(x, most):
    """Draws that a run lacks whose draws are left to the method."""
    return Enough(Converged(), most, x.shape[1]).missing(None, x)


def test_independent_draws_suffice():
    assert missing_draws(autoregressions(0.0, 16, 500, 3), 2000) == 0


def test_what_is_missing_is_what_makes_chains_converge():
    """Chains that are made longer by as many draws as it says do converge, with few exceptions."""
    converged = 0
    for seed in range(20):
        x = autoregressions(0.9, 8, 4000, 4, seed)
        missing = missing_draws(x[:, :400], 4000)
        assert 0 < missing <= 3600
        found = convergence(np.moveaxis(x[:, : 400 + missing], 2, 0))
        converged += found.rhat.max() < 1.015 and found.ess_bulk.min() > 320.0
    assert converged >= 18


@pytest.mark.parametrize("persistence", [0.0, 0.9, 0.98, 0.99])
def test_screening_changes_no_number(monkeypatch, persistence):
    x = autoregressions(persistence, 16, 2000, 4)
    found = missing_draws(x, 40_000)
    monkeypatch.setattr("probmodel.results.enough.screening_stride", lambda chains, draws, ess: 1)
    assert missing_draws(x, 40_000) == found
    assert (found > 0) == (persistence > 0.0)


def test_chains_that_lie_apart_are_not_waited_for():
    x = autoregressions(0.0, 8, 500, 3)
    x[:3] += 5.0
    assert missing_draws(x, 2000) == 0


def test_not_beyond_the_most():
    x = autoregressions(0.9, 8, 400, 4)
    assert missing_draws(x, 400) == 0
    assert missing_draws(x, 401) == 0  # it would not do
    assert 0 < missing_draws(x, 4000) <= 3600


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_draws_that_are_not_finite_ask_for_no_more(bad):
    x = autoregressions(0.0, 4, 100, 2)
    x[1, 5, 0] = bad
    assert missing_draws(x, 400) == 0


@pytest.mark.parametrize("draws", [1, 3, 4])
def test_very_short_chains(draws):
    assert 0 <= missing_draws(autoregressions(0.0, 2, draws, 2), 100) <= 100 - draws


def test_suspects_are_found_among_many():
    """In the mean of one coordinate, and the spread of another, chains differ."""
    x = autoregressions(0.0, 8, 200, 300)
    x[0, :, 123] += 1.0
    x[0, :, 200] *= 3.0
    assert {123, 200} <= set(suspects(x))
    assert len(suspects(x)) <= 16


# -- runs that go on -------------------------------------------------------------------------------


class Short(FisherHMC):
    """The default method with few draws."""

    name = "short"
    default_draws = 40
    most_draws = 400


def target():
    return LogDensity.from_function(
        lambda x: -0.5 * np.sum(x**2, axis=1), 3, gradient=lambda x: -x, name="x"
    )


def run(**options):
    return infer(target(), Short(), chains=4, warmup=100, seed=1, quiet=True, **options)


def test_a_run_goes_on_where_draws_do_not_suffice():
    longer, given = run(), run(draws=40)
    made = longer.attrs["draws"]
    assert 40 < made <= 400
    assert longer.attrs["draws_done"] == made
    assert longer.posterior.sizes["draw"] == longer.sample_stats.sizes["draw"] == made
    assert longer.attrs["timed_out"] == longer.attrs["interrupted"] == 0
    assert given.attrs["draws"] == given.posterior.sizes["draw"] == 40
    first = longer.posterior["x"].values[:, :40]
    np.testing.assert_array_equal(first, given.posterior["x"].values)
    later = longer.posterior["x"].values[:, 40:].reshape(-1, 3)
    assert np.isfinite(later).all()
    assert len(np.unique(later[:, 0])) > 0.9 * len(later)
    assert np.isfinite(longer.sample_stats["lp"].values).all()


def test_asked_for_as_many_draws_a_run_makes_the_same():
    longer = run()
    again = run(draws=longer.attrs["draws"])
    np.testing.assert_array_equal(longer.posterior["x"].values, again.posterior["x"].values)


def test_thinned_and_separate_chains_go_on_too():
    thinned, apart = run(thin=2), run(pool=False)
    assert 40 < thinned.attrs["draws"] == thinned.posterior.sizes["draw"] <= 400
    assert 40 < apart.attrs["draws"] == apart.posterior.sizes["draw"] <= 400


def test_the_time_limit_holds_for_what_is_added(monkeypatch):
    """A run that goes on ends with what it has, and says so."""
    from probmodel.inference import driver

    clock = iter(np.arange(0.0, 1e6, 1.0))
    monkeypatch.setattr(driver.time, "perf_counter", lambda: float(next(clock)))
    result = infer(
        target(), Short(), chains=4, warmup=20, seed=1, quiet=True, max_time=200.0,
        inits=1.0, standardise=False,
    )  # fmt: skip
    assert result.attrs["timed_out"] == 1
    assert 40 < result.attrs["draws_done"] < result.attrs["draws"]
    assert result.posterior.sizes["draw"] == result.attrs["draws_done"]
    assert '"time_limit"' in result.attrs["warnings"]


def test_other_methods_make_what_they_are_known_for():
    result = infer(target(), "nuts", chains=2, warmup=50, seed=1, quiet=True)
    assert result.attrs["draws"] == 1000


# -- runs that are told when to end ----------------------------------------------------------------


def told(method="rwm", **options):
    return infer(target(), method, **{"warmup": 300, "seed": 1, "quiet": True, **options})


def smallest(result):
    x = np.moveaxis(result.posterior["x"].values, 2, 0)
    found = convergence(x)
    return min(found.ess_bulk.min(), found.ess_tail.min()), found.rhat.max()


@pytest.mark.parametrize("chains", [2, 4, 8, 17])
def test_a_run_goes_on_until_it_is_good_enough(chains):
    result = told(until=Converged(ess=300, r_hat=1.02), chains=chains)
    ess, rhat = smallest(result)
    assert ess >= 300
    assert rhat <= 1.02
    assert 200 <= result.attrs["draws"] == result.posterior.sizes["draw"] < 25 * 5000
    assert json.loads(result.attrs["until"]) == {"ess": 300, "r_hat": 1.02, "var_names": None}
    assert "until" not in result.attrs["warnings"]


def test_it_ends_soon_where_draws_are_good():
    result = told(FisherHMC(), ess=400)
    assert result.attrs["draws"] == 200
    assert smallest(result)[0] > 400


def test_more_is_asked_more_is_drawn():
    rules = [Converged(ess=ess, r_hat=None) for ess in (50, 200, 800)]
    made = [told(until=rule, chains=4).attrs["draws"] for rule in rules]
    assert made == sorted(set(made))


def test_one_chain_is_judged_by_its_effective_size():
    result = told(until=Converged(ess=100), chains=1)
    assert smallest(result)[0] >= 100


def test_a_run_that_is_told_when_to_end_is_the_run_of_so_many_draws():
    found = told(ess=200, chains=4)
    again = told(draws=found.attrs["draws"], chains=4)
    np.testing.assert_array_equal(found.posterior["x"].values, again.posterior["x"].values)


@pytest.mark.parametrize("draws", [1, 3, 50, 333])
def test_draws_bound_it_and_the_warning_says_what_it_would_take(draws):
    result = told(ess=10_000, draws=draws, chains=4)
    assert result.attrs["draws"] == result.posterior.sizes["draw"] == draws
    said = [f["message"] for f in json.loads(result.attrs["warnings"]) if f["kind"] == "until"]
    if draws < 4:
        assert said == []
        return
    ess = smallest(result)[0]
    assert f"the smallest effective sample size is {ess:.0f} (x[" in said[0]
    wanted = int(re.search(r"draws=(\d+)", said[0])[1])
    assert wanted == pytest.approx(1.2 * draws * 10_000 / ess, rel=0.06)


def test_the_time_limit_bounds_it():
    result = told(ess=1e9, max_time=0.5, chains=4)
    assert result.attrs["timed_out"] == 1
    assert {"until", "time_limit"} <= {f["kind"] for f in json.loads(result.attrs["warnings"])}


def test_named_quantities_alone_are_looked_at():
    class Two(Model):
        slow = param(Normal(0, 1), dims="k")
        fast = deterministic(0.0 * slow[0])

    model = Two(coords={"k": range(2)})
    found = infer(model, "rwm", until=Converged(ess=500, var_names="fast"), seed=1, quiet=True)
    assert found.attrs["draws"] == 200  # what is constant has all its draws
    with pytest.raises(SamplerError, match="Did you mean 'slow'"):
        infer(model, until=Converged(var_names="slo"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"until": 400}, r"until must be a rule such as Converged\(ess=400, r_hat=1.01\), got 400"),
        ({"ess": -1}, "ess must be a number above 0"),
        ({"ess": "many"}, "got 'many'"),
        ({"ess": True}, "got True"),
        ({"ess": 400, "until": Converged()}, "ess=400 is short for until=Converged"),
    ],
)
def test_wrong_rules(arguments, message):
    with pytest.raises(SamplerError, match=message):
        infer(target(), **arguments)


@pytest.mark.parametrize(
    "settings", [{"r_hat": 1.0}, {"r_hat": np.nan}, {"ess": np.inf}, {"ess": None, "r_hat": None}]
)
def test_rules_that_make_no_sense(settings):
    with pytest.raises(SamplerError, match="Converged: "):
        Converged(**settings)


def test_draws_that_are_not_finite_end_it():
    x = autoregressions(0.0, 4, 300, 3)
    x[1, 5, 0] = np.nan
    enough = Enough(Converged(), 10_000, 200, asked=True)
    assert enough.missing(target(), x) == 0
    (finding,) = enough.shortfall(target(), x, 1)
    assert "cannot be judged: x[0] has draws that are not finite" in finding.message


# -- what going on does to the estimates -----------------------------------------------------------


def mean_squares(decide, replications=1000):
    """Mean squares of runs of 8 chains of variance 1 that go on from 300 draws, or do not."""
    found = []
    for seed in range(replications):
        x = autoregressions(0.6, 8, 1200, 1, seed)
        found.append(np.mean(x[:, : 300 + decide(x[:, :300])] ** 2))
    return np.array(found)


@pytest.mark.statistical
def test_going_on_where_draws_do_not_suffice_leaves_estimates_unbiased():
    """Not so if a run goes on, or ends, because of what it estimates."""

    def score(squares):
        return (squares.mean() - 1.0) / (squares.std() / np.sqrt(len(squares)))

    missing = [
        missing_draws(autoregressions(0.6, 8, 1200, 1, s)[:, :300], 1200) for s in range(200)
    ]
    assert 0.3 < np.mean(np.array(missing) > 0) < 1.0
    assert abs(score(mean_squares(lambda x: missing_draws(x, 1200)))) < 3.5
    control = mean_squares(lambda x: 900 if np.mean(x**2) > 1.0 else 0)
    assert abs(score(control)) > 3.5


def until(ess, x):
    """Draws a chain of a run that goes on until there is such an effective size."""
    enough, n = Enough(Converged(ess=ess, r_hat=None), x.shape[1], 200, asked=True), 200
    density = LogDensity.from_function(
        lambda x: -0.5 * np.sum(x**2, axis=1), 1, gradient=lambda x: -x, name="x"
    )
    while more := enough.missing(density, x[:, :n]):
        n += more
    return n


@pytest.mark.statistical
def test_stopping_at_an_effective_size_gives_the_precision_that_was_asked_for():
    """Squared errors of the mean are 1 / ess at most, not so if runs end at half of it.

    The variance comes out too small, by a tenth of its own Monte Carlo error or so.
    """
    ess, replications = 100, 600
    errors, halves, squares = [], [], []
    for seed in range(replications):
        x = autoregressions(0.95, 4, 6000, 1, seed)
        kept = x[:, : until(ess, x)]
        errors.append(ess * kept.mean() ** 2)
        squares.append(np.mean(kept**2))
        halves.append(ess * x[:, : until(ess / 2, x)].mean() ** 2)

    def beyond(values, limit):
        return (np.mean(values) - limit) / (np.std(values) / np.sqrt(len(values)))

    assert beyond(errors, 1.0) < 3.0
    assert beyond(halves, 1.0) > 3.0
    assert abs(np.mean(squares) - 1.0) < 0.2 * np.sqrt(2.0 / ess)
