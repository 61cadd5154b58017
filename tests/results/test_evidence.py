"""The log evidence of a run, from the estimates of its chains."""

from types import SimpleNamespace

import numpy as np

from probmodel.results.evidence import check_evidence, evidence_attributes


def test_chains_are_averaged_before_the_logarithm():
    last = np.log([1.0, 2.0, 3.0])
    stats = {"log_evidence": np.stack([np.zeros(3), last], axis=1)}
    found = evidence_attributes(stats)
    assert np.isclose(found["log_evidence"], np.log(2.0))
    assert np.isclose(found["log_evidence_error"], np.std(last, ddof=1) / np.sqrt(3.0))


def test_estimates_that_are_near_have_the_error_of_their_mean():
    last = np.log([1.0, 1.01, 1.03])
    found = evidence_attributes({"log_evidence": last[:, None]})
    assert np.isclose(found["log_evidence_error"], np.std(np.exp(last), ddof=1) / 1.01333 / 3**0.5,
                      rtol=1e-2)  # fmt: skip


def test_ratios_are_averaged_after_the_logarithm():
    last = np.log([1.0, 2.0, 4.0])
    found = evidence_attributes({"log_evidence": last[:, None]}, ratio=True)
    assert np.isclose(found["log_evidence"], np.log(2.0))
    assert np.isclose(found["log_evidence_error"], np.log(2.0) / np.sqrt(3.0))


def test_ratios_without_a_logarithm_are_averaged_before_it():
    stats = {"log_evidence": np.array([[-np.inf], [0.0], [0.0]])}
    found = evidence_attributes(stats, ratio=True)
    assert np.isclose(found["log_evidence"], np.log(2.0 / 3.0))
    assert np.isclose(found["log_evidence_error"], 0.5)


def test_large_logarithms_do_not_overflow():
    found = evidence_attributes({"log_evidence": np.full((2, 1), -5000.0)})
    assert found == {"log_evidence": -5000.0, "log_evidence_error": 0.0}


def test_one_chain_has_no_error():
    found = evidence_attributes({"log_evidence": np.full((1, 3), -2.0)})
    assert found["log_evidence"] == -2.0
    assert np.isnan(found["log_evidence_error"])


def test_no_estimate_is_no_attribute():
    assert evidence_attributes({"lp": np.zeros((2, 3))}) == {}
    assert evidence_attributes({"log_evidence": np.zeros((2, 0))}) == {}


def test_what_is_not_finite_has_no_error():
    found = evidence_attributes({"log_evidence": np.full((2, 1), -np.inf)})
    assert found["log_evidence"] == -np.inf
    assert np.isnan(found["log_evidence_error"])


def run_of(last, doubts=()):
    tempering = SimpleNamespace(doubts=lambda rng: list(doubts))
    stats = {"log_evidence": np.array(last)[:, None]}
    return SimpleNamespace(stats=stats, density=SimpleNamespace(tempering=tempering))


def test_chains_that_agree_leave_no_doubt():
    assert check_evidence(run_of([-3.0, -3.2, -2.9])) == []
    assert check_evidence(run_of([-3.0])) == []
    assert check_evidence(SimpleNamespace(stats={}, density=None)) == []


def test_chains_without_an_estimate_are_told():
    for lost in (np.nan, -np.inf):
        (found,) = check_evidence(run_of([-3.0, lost, -3.1]))
        assert "of 1 of 3 chains are not finite" in found.message
        assert check_evidence(run_of([lost]))


def test_chains_that_differ_are_told():
    (found,) = check_evidence(run_of([-3.0, -80.0, -9.0]))
    assert found.kind == "evidence"
    assert "standard deviation of 43" in found.message
    assert evidence_attributes(run_of([-3.0, -80.0, -9.0]).stats)["log_evidence_error"] > 20


def test_doubts_of_the_model_are_told():
    (found,) = check_evidence(run_of([-3.0, -3.1], ["a is flat"]))
    assert "in doubt: a is flat." in found.message
