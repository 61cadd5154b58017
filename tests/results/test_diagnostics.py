"""Every warning is triggered by a case built for it, and none by clean draws."""

import re
import warnings

import arviz as az
import numpy as np
import pytest

from probmodel import Model, observed, param
from probmodel.density.posterior import ModelDensity
from probmodel.distributions import HalfNormal, Normal, Pareto
from probmodel.errors import SamplingWarning, beyond
from probmodel.model.pseudo_data import PseudoData
from probmodel.results import quantities as quantities_module
from probmodel.results.arviz_object import _statistics, wrap
from probmodel.results.convergence import Convergence
from probmodel.results.diagnostics import diagnose
from probmodel.results.draws import named_draws
from probmodel.results.findings import Finding, emit
from probmodel.results.quantities import Quantities
from probmodel.results.quantity_checks import check_ess, check_rhat
from probmodel.results.run_checks import bfmi


@pytest.fixture
def check(posterior, sampler, make_request):
    """Findings about a run, by kind."""

    def check(run, names=None, sampler=sampler, **request):
        draws = named_draws(posterior, run.x, names)
        findings = diagnose(run, posterior, draws, sampler, make_request(**request))
        return {finding.kind: finding for finding in findings}

    return check


@pytest.fixture
def normal():
    return np.random.default_rng(1).standard_normal((4, 500, 3))


@pytest.mark.parametrize("seed", range(5))
def test_clean_draws_are_not_complained_about(check, make_run, seed):
    assert check(make_run(seed=seed)) == {}


def test_one_shifted_chain(check, make_run, normal):
    normal[2, :, 0] += 0.5
    found = check(make_run(normal))
    assert found["rhat"].variables[0] == "w[age]"
    assert "w[age] 1.0" in found["rhat"].message
    assert "w[sex]" not in found["rhat"].message
    assert "separated_chains" not in found


@pytest.mark.parametrize(
    ("value", "limit", "digits", "text"),
    [
        (1.0104, 1.01, 3, "1.0104"),
        (1.010000001, 1.01, 3, "1.010000001"),
        (1.0116, 1.01, 3, "1.012"),
        (399.7, 400.0, 0, "399.7"),
        (399.99996, 400.0, 0, "399.99996"),
        (12.3, 400.0, 0, "12"),
        (0.2951, 0.3, 2, "0.295"),
        (0.21, 0.3, 2, "0.21"),
        (np.nextafter(1.01, 2), 1.01, 3, "1.0100000000000002"),
    ],
)
def test_a_number_beyond_a_limit_is_not_printed_as_the_limit(value, limit, digits, text):
    assert beyond(value, limit, digits) == text


def test_messages_show_that_limits_are_passed():
    nearly = Convergence(np.array([1.01001]), np.array([399.9]), np.array([399.96]))
    found = Quantities(["mu"], [], nearly)
    (rhat,) = check_rhat(found)
    assert "R-hat above 1.01 for 1 of 1 quantities: mu 1.01001. " in rhat.message
    bulk, tail = check_ess(found, 500)
    assert "ESS below 400 for 1 of 1 quantities: mu 399.9. " in bulk.message
    assert "mu 399.96. " in tail.message


def test_separated_chains(check, make_run, normal):
    normal[[1, 3], :, 1] += 20.0
    found = check(make_run(normal))
    message = found["separated_chains"].message
    assert "chains 0, 2" in message
    assert "chains 1, 3" in message
    assert found["separated_chains"].variables[0] == "w[sex]"
    assert "rhat" in found


def test_separated_chains_say_what_tells_them_apart(check, make_run, normal):
    normal[[1, 3], :, 1] += 20.0
    normal[[1, 3], :, 0] -= 10.0
    normal[[0, 1], :, 2] += 8.0  # other chains
    lp = np.where(np.arange(4) % 2, -107.0, -100.0)[:, None] + np.zeros((4, 500))
    run = make_run(normal)
    run.stats["lp"] = lp
    found = check(run)["separated_chains"]
    assert {"w[sex]", "w[age]"} < set(found.variables)
    assert "tau" not in found.variables
    assert "in chains 1, 3, and so for table[sex" in found.message
    assert " The log density of the latter is 7 lower on average." in found.message
    run.stats["lp"] = np.full((4, 500), np.nan)
    assert "log density" not in check(run)["separated_chains"].message


def test_drifting_chains_are_not_called_modes(check, make_run, normal):
    normal[:, :, 0] += np.linspace(0, 1, 500) * np.array([0, 20, 0, 20])[:, None]
    found = check(make_run(normal))
    assert "rhat" in found
    assert "separated_chains" not in found


def test_slow_chains_have_few_effective_draws(check, make_run, normal):
    for t in range(1, 500):
        normal[:, t, 2] = 0.95 * normal[:, t - 1, 2] + np.sqrt(1 - 0.95**2) * normal[:, t, 2]
    found = check(make_run(normal))
    assert found["ess_bulk"].variables == ("tau",)
    assert found["ess_tail"].variables == ("tau",)
    assert "raise draws to about" in found["ess_bulk"].message


def test_at_most_five_quantities_are_named(check, make_run, normal):
    normal[0] += 2.0
    found = check(make_run(normal))
    assert len(found["rhat"].variables) == 5
    assert "9 of 9 quantities" in found["rhat"].message
    assert " and 4 more. " in found["rhat"].message


@pytest.mark.parametrize("still", [[1], [0, 1, 2, 3]])
def test_stuck_chains(check, make_run, normal, still):
    normal[still] = normal[still, :1]
    found = check(make_run(normal))
    assert f"{len(still)} of 4 chains hardly moved" in found["stuck_chains"].message
    assert "separated_chains" not in found


def test_chains_that_moved_twice_are_stuck_too(check, make_run, normal):
    normal[3] = normal[3, np.repeat([0, 200, 400], [200, 200, 100])]
    assert "(chain 3)" in check(make_run(normal))["stuck_chains"].message


def test_members_of_an_ensemble_may_move_one_at_a_time(check, make_run, sampler):
    rng = np.random.default_rng(2)
    turns = np.maximum.accumulate(
        np.where(np.arange(500) % 200 == 50 * np.arange(4)[:, None], np.arange(500), 0), axis=1
    )
    x = np.take_along_axis(rng.standard_normal((4, 500, 3)), turns[:, :, None], axis=1)
    assert "stuck_chains" in check(make_run(x))
    ensemble = type("Ensemble", (type(sampler),), {"coupling": "ensemble"})()
    found = check(make_run(x), sampler=ensemble)
    assert "stuck_chains" not in found
    assert "ess_bulk" in found


def test_not_finite_draws(check, make_run, normal):
    normal[0, 3, 2] = 1000.0
    with np.errstate(over="ignore"):
        found = check(make_run(normal))
    assert found["not_finite_draws"].variables == ("tau",)
    assert "in < 0.1 %" in found["not_finite_draws"].message


def test_all_nan_draws_do_not_crash(check, make_run):
    found = check(make_run(np.full((4, 500, 3), np.nan)))
    assert "9 of 9 quantities" in found["not_finite_draws"].message


def test_not_finite_proposals(check, make_run):
    assert "not_finite_proposals" not in check(make_run(nonfinite=20))
    assert "5.0 %" in check(make_run(nonfinite=100))["not_finite_proposals"].message
    assert "not_finite_proposals" not in check(make_run(nonfinite=100), thin=10)


def test_energy_that_changes_too_slowly(check, make_run):
    rng = np.random.default_rng(3)
    run = make_run(draws=2000)
    run.stats["energy"] = rng.standard_normal((4, 2000))
    assert "energy" not in check(run)
    run.stats["energy"][[1, 2]] = rng.standard_normal((2, 2000)).cumsum(axis=1)
    message = check(run)["energy"].message
    assert re.search(r"\(0\.\d\d in chain 1, 0\.\d\d in chain 2\)", message)
    run.stats["energy"][:] = rng.standard_normal((4, 2000)).cumsum(axis=1)
    run.stats["energy"][3] = np.inf
    assert "chain 2)" in check(run)["energy"].message


def test_advice_about_energy_in_hierarchies_does_not_go_in_circles(check, make_run):
    """What is standardised already is not to be standardised by hand, which led back."""

    def message(pseudo_data, **options):
        class Groups(Model):
            tau = param(HalfNormal(1))
            theta = param(Normal(0, tau), shape=2, **options)
            tail = param(Pareto(tau, 3.0), shape=2, noncentered=True)  # no other form is known
            y = observed(Normal(theta + tail, 1))

        density = ModelDensity(Groups(y=[0.1, 0.3]), pseudo_data)
        run = make_run(density=density, positions=np.zeros((4, density.dim)))
        run.stats["energy"] = np.random.default_rng(3).standard_normal((4, 500)).cumsum(axis=1)
        return check(run)["energy"].message

    standardised = message({"theta": PseudoData(np.ones(2), np.zeros(2))})
    assert "Integrate theta out where" in standardised
    assert "more informative prior, or raise draws." in standardised
    assert "noncentered=" not in standardised
    assert "Leave out noncentered= of theta, so" in message({}, noncentered=True)


def test_energies_of_few_draws_tell_nothing(check, make_run):
    run = make_run(draws=99)
    run.stats["energy"] = np.arange(4.0 * 99).reshape(4, 99)
    found = check(run)
    assert "few_draws" in found
    assert "energy" not in found


@pytest.mark.parametrize("draws", [2, 50, 501])
def test_bfmi_agrees_with_arviz(draws):
    energy = np.random.default_rng(4).gamma(3.0, 1.0, (3, draws)).cumsum(axis=1)
    expected = az.bfmi(wrap({"sample_stats": _statistics({"energy": energy}, {})}, {}))
    expected = expected if isinstance(expected, np.ndarray) else expected["energy"].values
    np.testing.assert_allclose(bfmi(energy), expected, rtol=1e-12)


def test_bfmi_of_one_draw_or_no_spread_is_not_defined():
    assert np.isnan(bfmi(np.ones((2, 50)))).all()
    assert np.isnan(bfmi(np.full((2, 50), np.inf))).all()


@pytest.mark.parametrize("rate", [0.1, 0.97])
def test_acceptance_far_from_its_target(check, make_run, rate):
    run = make_run()
    run.stats["acceptance_rate"][:] = rate
    assert f"{rate:.2f}" in check(run)["acceptance"].message


def test_acceptance_that_drifts(check, make_run):
    run = make_run()
    run.stats["acceptance_rate"][:, 250:] = 0.8
    assert "0.80" in check(run)["acceptance_drift"].message


def test_methods_without_a_target_have_none_to_miss(check, make_run):
    run = make_run()
    run.stats["acceptance_rate"][:] = 0.1
    names = {"name": "plain", "aim": None, "coupling": "independent", "remarks": lambda *_: []}
    plain = type("Plain", (), names)()
    assert check(run, sampler=plain) == {}


def test_warmup_within_the_initial_phase(check, make_run):
    assert "100" in check(make_run(), warmup=100)["short_warmup"].message
    assert "short_warmup" not in check(make_run(), warmup=101)


def test_one_chain(check, make_run):
    found = check(make_run(chains=1, draws=1000), chains=1)
    assert set(found) == {"one_chain"}


@pytest.mark.parametrize("draws", [1, 2, 3, 99])
def test_few_draws(check, make_run, draws):
    some = "1 draw per" if draws == 1 else f"{draws} draws per"
    assert f"Only {some}" in check(make_run(draws=draws))["few_draws"].message


def test_interrupted(check, make_run):
    found = check(make_run(draws=300, interrupted=True))
    assert set(found) == {"interrupted"}
    assert "300 of 500" in found["interrupted"].message


def test_out_of_time(check, make_run):
    run = make_run(draws=300, timed_out=True)
    found = check(run, max_time=2.5)
    assert set(found) == {"time_limit"}
    assert "limit of 2.5 s" in found["time_limit"].message
    assert "300 of 500" in found["time_limit"].message


def test_interrupted_in_warmup(check, make_run):
    run = make_run(np.empty((4, 0, 3)), warmup=20, warmup_done=20, interrupted=True)
    found = check(run)
    assert set(found) == {"interrupted"}
    assert "20 of 500" in found["interrupted"].message


def test_parameters_that_were_not_saved_are_checked(check, make_run, normal):
    normal[2, :, 0] += 1.0
    found = check(make_run(normal), names=("tau",))
    assert found["rhat"].variables == ("w[0]",)


def test_too_many_derived_quantities_are_skipped(check, make_run, normal, monkeypatch):
    normal[2, :, 0] += 1.0
    assert "4 of 9" in check(make_run(normal))["rhat"].message
    monkeypatch.setattr(quantities_module, "_MOST_DERIVED", 11_000)
    assert "1 of 3" in check(make_run(normal))["rhat"].message


def test_what_the_sampler_remarks_is_reported_once(check, make_run):
    found = check(make_run(params=("first", "second"), groups=2))
    assert found["odd"].message == "first: (2, 500)"


def test_emit_warns_once_for_each():
    findings = [Finding("a", "first"), Finding("b", "second")]

    def entry():
        emit(findings)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        entry()
    assert [str(w.message) for w in caught] == ["first", "second"]
    assert {w.category for w in caught} == {SamplingWarning}
    assert {w.filename for w in caught} == {__file__}
    assert {w.lineno for w in caught} == {entry.__code__.co_firstlineno + 5}
