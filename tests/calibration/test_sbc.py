"""Simulation-based calibration: mechanics, wrong input, and verdicts on right and wrong models."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import probmodel.calibration.run as running
from probmodel import (
    DataError,
    InitializationError,
    Model,
    ModelError,
    OutputError,
    SamplerError,
    ShapeError,
    data,
    deterministic,
    load_model,
    observed,
    param,
    potential,
    read_data,
    sbc,
)
from probmodel.calibration.live_line import SimulationLine
from probmodel.calibration.ranking import LOG_LIKELIHOOD, rank, thin
from probmodel.calibration.result import Calibration
from probmodel.calibration.uniformity import p_values
from probmodel.constraints import Ordered, SumToZero
from probmodel.density.posterior import ModelDensity
from probmodel.distributions import (
    AR,
    AR1,
    Beta,
    Dirichlet,
    Exponential,
    Flat,
    HalfNormal,
    HiddenMarkov,
    Laplace,
    LogNormal,
    Mixture,
    Multinomial,
    Normal,
    Poisson,
    Uniform,
)
from probmodel.results.draws import named_draws

ROOT = Path(__file__).parents[2]
TINY = {"draws": 20, "warmup": 50, "chains": 4, "thin_to": 9, "seed": 1}


class Mean(Model):
    sigma = data(lower=0)
    mu = param(Normal(0, 1))
    double = deterministic(2 * mu)
    y = observed(Normal(mu, sigma), dims="obs")


class Biased(Mean):
    """What simulates has another mean than what infers."""

    y = observed(Normal(Mean.mu + 1, Mean.sigma), dims="obs")


OBS = {"sigma": 1.0, "coords": {"obs": range(5)}}


# -- mechanics ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny():
    return sbc(Mean, 6, data=OBS, **TINY)


def test_ranks_are_whole_numbers_among_the_thinned_draws(tiny):
    assert tiny.n == tiny.asked == 6
    assert tiny.L == 9
    assert list(tiny.ranks) == ["mu", LOG_LIKELIHOOD]
    for ranks in tiny.ranks.values():
        assert ranks.shape == (6,)
        assert ranks.dtype.kind == "i"
        assert 0 <= ranks.min() <= ranks.max() <= 9
    assert not tiny.interrupted
    assert tiny.failures == {}


def test_p_values_are_those_of_the_ranks(tiny):
    stacked = np.stack([tiny.ranks["mu"], tiny.ranks[LOG_LIKELIHOOD]])
    assert list(tiny.p_values.values()) == p_values(stacked, 9).tolist()
    assert tiny.level == 0.005
    assert tiny.ok == all(p > tiny.level for p in tiny.p_values.values())


def test_few_simulations_tell_nothing():
    def found(ranks):
        ranks = np.asarray(ranks)
        return Calibration("Line", len(ranks), len(ranks), 99, {"a": ranks}, {"a": ["a"]})

    few, enough, low = found([20, 70]), found(range(0, 100, 10)), found([0, 0])
    assert few.fewest == enough.fewest == 10
    assert str(few).startswith("Line: TOO FEW simulations to tell: not even posteriors that are")
    assert "are found before 10 (2 simulations" in str(few)
    assert few.verdict("a") == "too few"
    assert "<b>too few</b>" not in few._repr_html_()
    assert "ranks are uniform (10 simulations" in str(enough)
    assert enough.verdict("a") == "ok"
    assert "1 of 1 quantities are NOT calibrated (2 simulations" in str(low)


def test_the_seed_decides_everything(tiny):
    again = sbc(Mean, 6, data=OBS, **TINY)
    other = sbc(Mean, 6, data=OBS, **{**TINY, "seed": 2})
    np.testing.assert_array_equal(again.ranks["mu"], tiny.ranks["mu"])
    assert (other.ranks["mu"] != tiny.ranks["mu"]).any()
    assert again.seed == 1


def test_the_first_simulations_do_not_depend_on_how_many_follow(tiny):
    fewer = sbc(Mean, 2, data=OBS, **TINY)
    np.testing.assert_array_equal(fewer.ranks["mu"], tiny.ranks["mu"][:2])


def test_deterministic_quantities_are_ranked_when_named():
    result = sbc(Mean, 3, data=OBS, var_names=["double", "mu"], **TINY)
    assert list(result.ranks) == ["mu", "double", LOG_LIKELIHOOD]
    np.testing.assert_array_equal(result.ranks["double"], result.ranks["mu"])


def test_observed_data_lend_their_shape():
    result = sbc(Mean, 2, data={"sigma": 1.0, "y": np.full(5, 1e3)}, **TINY)
    same = sbc(Mean, 2, data=OBS, **TINY)
    np.testing.assert_array_equal(result.ranks["mu"], same.ranks["mu"])


def test_arguments_of_infer_and_settings_are_passed_on():
    arguments = {
        "num_samples": 30,
        "tune": 40,
        "num_chains": 2,
        "target_accept": 0.7,
        "pool": False,
    }
    assert sbc(Mean, 1, data=OBS, thin_to=9, seed=1, method="mala", **arguments).n == 1
    with pytest.raises(SamplerError, match="no argument 'stepsize'"):
        sbc(Mean, 1, data=OBS, stepsize=0.1, **TINY)


def test_another_model_simulates():
    result = sbc(Mean, 8, data={**OBS, "sigma": 0.05}, simulate_with=Biased, **TINY)
    # The inference takes the shift for the mean: every draw is above the true value.
    assert result.ranks["mu"].tolist() == [0] * 8
    assert result.verdict("mu") == "posterior TOO HIGH"
    assert not result.ok


def test_elements_that_never_vary_are_left_out():
    class Simplex(Model):
        p = param(Dirichlet(np.ones(3)))
        first = deterministic(np.stack([p[0], 0.0 * p[0]]))
        y = observed(Multinomial(10, p))

    result = sbc(Simplex, 3, var_names=["p", "first"], **TINY)
    assert list(result.p_values) == ["p[0]", "p[1]", "p[2]", "first[0]", LOG_LIKELIHOOD]
    assert result.ranks["first"].shape == (3, 2)
    assert "constant" not in str(result)


def test_what_never_varies_is_said():
    """A likelihood without the parameters has no rank, which would else go unnoticed."""

    class Ignored(Mean):
        y = observed(Normal(0.0 * Mean.mu, Mean.sigma), dims="obs")

    result = sbc(Ignored, 3, data=OBS, simulate_with=Mean, **TINY)
    assert list(result.p_values) == ["mu"]
    assert "\n  constant, not ranked: log likelihood" in str(result)


def test_a_run_with_few_effective_draws_is_made_longer(monkeypatch):
    thins = []
    original = running.draw

    def watched(model, method, own, settings, **rest):
        thins.append(own.thin)
        return original(model, method, own, settings, **rest)

    monkeypatch.setattr(running, "draw", watched)
    settings = {"method": "rwm", "draws": 30, "warmup": 10, "chains": 2, "thin_to": 50, "seed": 1}
    sbc(Mean, 1, data=OBS, **settings)
    assert thins[0] == 1
    assert 2 <= thins[1] <= 10
    assert len(thins) == 2


def test_thinned_draws_are_evenly_spaced():
    draws = np.arange(24.0).reshape(1, 24)
    assert thin(draws, 8).tolist() == [[0, 3, 6, 9, 12, 15, 18, 21]]
    assert thin(draws, 24).tolist() == draws.tolist()
    spacing = np.diff(thin(draws, 7)[0])
    assert set(spacing) == {3.0, 4.0}


# -- failures, warnings and Ctrl-C -------------------------------------------------------------


class Overflowing(Model):
    mu = param(Normal(0, 1))
    y = observed(Poisson(np.where(mu > 0.5, np.exp(50.0), 1.0)), dims="obs")


def test_failures_are_counted_and_shown():
    result = sbc(Overflowing, 6, data={"coords": {"obs": range(2)}}, **{**TINY, "thin_to": 2})
    failed = sum(result.failures.values())
    assert 0 < failed < 6
    assert result.n == 6 - failed
    text = str(result)
    assert f"FAILED, left out of the ranks: {failed} of 6 simulations" in text
    assert "data cannot be simulated from these parameters" in text


def test_if_everything_fails_the_first_error_is_raised(monkeypatch):
    def fail(*args, **kwargs):
        raise InitializationError("no point found.")

    monkeypatch.setattr(running, "draw", fail)
    with pytest.raises(InitializationError, match="no point found"):
        sbc(Mean, 3, data=OBS, **TINY)


def test_a_later_error_of_any_kind_is_counted(monkeypatch):
    monkeypatch.setattr(running._Inference, "_is_short", lambda self, found: False)
    original, calls = running.draw, []

    def break_once(*args, **kwargs):
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError("by chance")
        return original(*args, **kwargs)

    monkeypatch.setattr(running, "draw", break_once)
    result = sbc(Mean, 3, data=OBS, **{**TINY, "thin_to": 2})
    assert result.failures == {"ZeroDivisionError: by chance": 1}
    assert result.n == 2


def test_warnings_are_counted_by_kind():
    result = sbc(Mean, 3, data=OBS, **{**TINY, "draws": 5, "thin_to": 20})
    assert result.warned == 3 == result.warnings["ESS < 20"]
    assert "with warnings: 3 of 3 simulations" in str(result)


def interrupted_after(monkeypatch, runs):
    original, calls = running.draw, []

    def interrupt(*args, **kwargs):
        calls.append(1)
        if len(calls) > runs:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    monkeypatch.setattr(running, "draw", interrupt)


def test_ctrl_c_gives_what_was_done(monkeypatch, tiny):
    monkeypatch.setattr(running._Inference, "_is_short", lambda self, found: False)
    whole = sbc(Mean, 3, data=OBS, **TINY)
    interrupted_after(monkeypatch, 3)
    result = sbc(Mean, 6, data=OBS, **TINY)
    assert result.interrupted
    assert result.n == 3
    np.testing.assert_array_equal(result.ranks["mu"], whole.ranks["mu"])
    assert "interrupted: 3 of 6 simulations are done" in str(result)


def test_ctrl_c_within_a_run_leaves_that_run_out(monkeypatch):
    monkeypatch.setattr(running._Inference, "_is_short", lambda self, found: False)
    original, calls = running.draw, []

    def interrupt(*args, **kwargs):
        calls.append(1)
        drawn = original(*args, **kwargs)
        if len(calls) < 2:
            return drawn
        return drawn._replace(run=SimpleNamespace(x=drawn.run.x, interrupted=True))

    monkeypatch.setattr(running, "draw", interrupt)
    assert sbc(Mean, 3, data=OBS, **{**TINY, "thin_to": 2}).n == 1


def test_ctrl_c_before_the_first_simulation_is_raised(monkeypatch):
    interrupted_after(monkeypatch, 0)
    with pytest.raises(KeyboardInterrupt):
        sbc(Mean, 3, data=OBS, **TINY)


def test_progress_line():
    now = [0.0]
    line = SimulationLine(200, lambda: now[0])
    assert line.text(0.0) == "simulation   0/200 (  0 %)  ? left"
    line.update(48, 2, 5)
    assert line.text(10.0) == "simulation  50/200 ( 25 %)  2 failed  5 with warnings  30 s left"


# -- wrong input -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, -3, 2.5, True, "many"])
def test_number_of_simulations(n):
    with pytest.raises(SamplerError, match="n must be a whole number of at least 1"):
        sbc(Mean, n, data=OBS)


def test_thinning_to_more_than_there_are():
    with pytest.raises(SamplerError, match="80 draws cannot be thinned to 81"):
        sbc(Mean, 2, data=OBS, **{**TINY, "thin_to": 81})


def test_a_bound_model_is_refused():
    with pytest.raises(ModelError, match=r"takes a model class .* sbc\(Mean, n, data=...\)"):
        sbc(Mean(sigma=1.0, y=[0.0]), 2)


def test_missing_and_superfluous_data():
    with pytest.raises(DataError, match="needs the datum 'sigma'"):
        sbc(Mean, 2, data={"coords": {"obs": range(3)}}, **TINY)
    with pytest.raises(DataError, match=r"no datum 'sgima'\. Did you mean 'sigma'"):
        sbc(Mean, 2, data={"sgima": 1.0}, **TINY)
    with pytest.raises(ShapeError, match="the dim 'obs', whose size is not known"):
        sbc(Mean, 2, data={"sigma": 1.0}, **TINY)


@pytest.mark.parametrize(
    ("names", "message"), [("mo", "no variable 'mo'"), ([], "empty"), (["y"], "no variable 'y'")]
)
def test_var_names(names, message):
    with pytest.raises(SamplerError, match=message):
        sbc(Mean, 2, data=OBS, var_names=names, **TINY)


@pytest.mark.parametrize(
    ("declare", "message"),
    [
        (lambda: param(), "'mu' has a flat prior, which is no distribution to draw from"),
        (lambda: param(Flat()), "'mu' has a flat prior"),
        (lambda: param(Laplace(0, 1), constraint=SumToZero(), shape=3), "'mu' has .* how to draw"),
    ],
)
def test_priors_that_cannot_be_drawn_from(declare, message):
    class Bad(Model):
        mu = declare()
        y = observed(Normal(mu, 1), dims="obs")

    with pytest.raises(ModelError, match=message) as found:
        sbc(Bad, 2, data={"y": np.zeros(3)}, **TINY)
    assert found.value.location.file == __file__


def test_potentials_and_nothing_observed():
    class Tilted(Model):
        mu = param(Normal(0, 1))
        tilt = potential(-mu)
        y = observed(Normal(mu, 1), dims="obs")

    class Silent(Model):
        mu = param(Normal(0, 1))

    with pytest.raises(ModelError, match="'tilt' changes the density"):
        sbc(Tilted, 2, data={"y": [0.0]}, **TINY)
    with pytest.raises(ModelError, match="Silent observes nothing"):
        sbc(Silent, 2, **TINY)


def test_models_that_do_not_belong_together():
    class Other(Model):
        nu = param(Normal(0, 1))
        y = observed(Normal(nu, 1), dims="obs")

    class Elsewhere(Model):
        mu = param(Normal(0, 1))
        z = observed(Normal(mu, 1), dims="obs")

    class Wide(Model):
        sigma = data()
        mu = param(Normal(0, 1), shape=3)
        y = observed(Normal(np.sum(mu), sigma), dims="obs")

    with pytest.raises(ModelError, match="no parameter in common"):
        sbc(Mean, 2, data=OBS, simulate_with=Other, **TINY)
    with pytest.raises(DataError, match="'y' is not simulated"):
        sbc(Mean, 2, data=OBS, simulate_with=Elsewhere, **TINY)
    with pytest.raises(ShapeError, match=r"'mu' is simulated with shape \(3,\)"):
        sbc(Mean, 2, data=OBS, simulate_with=Wide, **TINY)


# -- figures -----------------------------------------------------------------------------------


@pytest.fixture
def pyplot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_curves_are_the_differences_of_the_ranks(tiny, pyplot):
    figure = tiny.plot()
    panel = figure.axes[0]
    x, y = panel.lines[0].get_data()
    share = np.arange(1, 10) / 10
    below = np.mean(tiny.ranks["mu"][:, None] < np.arange(1, 10), axis=0)
    np.testing.assert_allclose(x, [0, *share, 1])
    np.testing.assert_allclose(y, [0, *(below - share), 0])
    titles = [a.get_title().split("\n")[0] for a in figure.axes]  # a verdict may follow
    assert titles == ["mu", LOG_LIKELIHOOD]


def test_quantities_are_chosen(tiny, pyplot):
    assert len(tiny.plot("mu").axes) == 1
    assert len(tiny.plot(most=1).axes) == 1
    with pytest.raises(SamplerError, match="no ranks of 'nu'"):
        tiny.plot("nu")


def test_without_matplotlib(tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(OutputError, match="plot\\(\\) needs matplotlib"):
        tiny.plot()


# -- what the log likelihood is for ------------------------------------------------------------


def ranks_of_prior_draws(simulations):
    """Ranks from an 'inference' that returns draws from the prior, whatever the data."""
    ranks = {"mu": [], LOG_LIKELIHOOD: []}
    for seed in range(simulations):
        rng = np.random.default_rng(seed)
        mu = rng.standard_normal()
        density = ModelDensity(Mean(sigma=1.0, y=mu + rng.standard_normal(5)))
        x = rng.standard_normal((2, 100, 1))
        truth = {
            "mu": np.asarray(mu),
            LOG_LIKELIHOOD: density.terms(np.array([[mu]]))["likelihood of y"][0],
        }
        drawn = SimpleNamespace(
            draws=named_draws(density, x, ("mu",)),
            posterior=density,
            run=SimpleNamespace(x=x, groups=1),
            sampler=SimpleNamespace(coupling="pooled_warmup"),
        )
        found = rank(drawn, truth, 99, rng).ranks
        for name, values in ranks.items():
            values.append(int(found[name]))
    return np.array(list(ranks.values()))


def test_the_log_likelihood_finds_inference_that_ignores_the_data():
    of_mu, of_log_likelihood = p_values(ranks_of_prior_draws(100), 99)
    assert of_mu > 0.01
    assert of_log_likelihood < 1e-6


# -- verdicts ----------------------------------------------------------------------------------


class Autoregression(Model):
    phi = param(Uniform(-1, 1))
    sigma = param(HalfNormal(1))
    y = observed(AR1(phi, sigma), dims="time")


class TwoGroups(Model):
    centre = param(Normal(0, 3), shape=2, constraint=Ordered())
    spread = param(LogNormal(-0.5, 0.3))
    share = param(Beta(5, 5))
    y = observed(
        Mixture(
            np.stack([share, 1 - share]), [Normal(centre[0], spread), Normal(centre[1], spread)]
        ),
        dims="obs",
    )


class TwoStates(Model):
    change = param(Dirichlet(np.array([[8.0, 2.0], [2.0, 8.0]])))
    level = param(Normal(0, 3), shape=2, constraint=Ordered())
    spread = param(LogNormal(-0.5, 0.3))
    y = observed(
        HiddenMarkov(
            np.array([0.5, 0.5]), change, [Normal(level[0], spread), Normal(level[1], spread)]
        ),
        dims="time",
    )


class Scale(Model):
    sigma = param(Exponential(1))
    y = observed(Normal(0, sigma), dims="obs")


class WithoutJacobian(Model):
    """Scale on the logarithm, whose prior lacks the Jacobian that belongs to it."""

    log_sigma = param()
    sigma = deterministic(np.exp(log_sigma))
    prior = potential(-sigma)
    y = observed(Normal(0, sigma), dims="obs")


class WithJacobian(WithoutJacobian):
    """The same with the Jacobian: this is what `Scale` is."""

    jacobian = potential(WithoutJacobian.log_sigma)


class LargeErrors(Model):
    """Eight schools whose errors are twice as large as those that the inference is told."""

    sigma = data(dims="school", lower=0)
    mu = param(Normal(0, 5))
    tau = param(HalfNormal(5))
    theta = param(Normal(mu, tau), dims="school", noncentered=True)
    y = observed(Normal(theta, 2 * sigma), dims="school")


EIGHT_SCHOOLS = load_model(ROOT / "models/eight_schools.py")
SCHOOLS = read_data(ROOT / "models/data/eight_schools.json")
COVARIATES = np.random.default_rng(0).standard_normal((40, 2))
TIMES = {"coords": {"time": range(30)}}
FEW = {"coords": {"obs": range(4)}}


class Case(NamedTuple):
    """A model, its fixed data, whether it is to pass, further arguments, and how many runs."""

    model: type
    data: dict
    ok: bool = True
    arguments: dict = {}  # noqa: RUF012
    n: int = 60  # so few tell of what is wrong


CASES = {
    "eight schools": Case(EIGHT_SCHOOLS, SCHOOLS),
    "eight schools, wrong scale": Case(
        EIGHT_SCHOOLS, SCHOOLS, False, {"simulate_with": LargeErrors}
    ),
    "logistic regression": Case(
        load_model(ROOT / "models/logistic_regression.py"), {"X": COVARIATES}
    ),
    "autoregression": Case(Autoregression, TIMES),
    "mixture": Case(TwoGroups, {"coords": {"obs": range(20)}}),
    "hidden Markov model": Case(TwoStates, {"coords": {"time": range(12)}}, n=40),
    "Jacobian": Case(WithJacobian, FEW, True, {"simulate_with": Scale, "var_names": "sigma"}),
    "no Jacobian": Case(
        WithoutJacobian, FEW, False, {"simulate_with": Scale, "var_names": "sigma"}
    ),
}


@pytest.mark.statistical
@pytest.mark.parametrize("name", CASES)
def test_verdicts(name):
    case = CASES[name]
    sizes = {"draws": 60, "warmup": 150, "thin_to": 49, "seed": 1}
    result = sbc(case.model, case.n, data=case.data, **sizes, **case.arguments)
    assert sum(result.failures.values()) == 0, result
    assert result.ok == case.ok, result


class Logarithm(Mean):
    """What is not ranked has no value in half of all simulations."""

    other = deterministic(np.log(Mean.mu))


def test_what_is_not_ranked_costs_no_simulation():
    found = sbc(Logarithm, 6, data=OBS, **TINY)
    expected = sbc(Mean, 6, data=OBS, **TINY)
    assert not found.failures
    np.testing.assert_array_equal(found.ranks["mu"], expected.ranks["mu"])


class Drifting(Model):
    x = param(AR([0.5], 1.0), dims="day")
    y = observed(Normal(x, 1.0), dims="day")


def test_a_prior_that_is_flat_in_part_is_refused():
    with pytest.raises(ModelError, match="'x' has a prior AR that is flat on its first values"):
        sbc(Drifting, 4, data={"coords": {"day": range(3)}}, **TINY)
