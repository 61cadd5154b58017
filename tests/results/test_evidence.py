"""The log evidence of a run, from the estimates of its chains."""

import numpy as np

from probmodel.results.evidence import evidence_attributes


def test_chains_are_averaged_before_the_logarithm():
    last = np.log([1.0, 2.0, 3.0])
    stats = {"log_evidence": np.stack([np.zeros(3), last], axis=1)}
    found = evidence_attributes(stats)
    assert np.isclose(found["log_evidence"], np.log(2.0))
    assert np.isclose(found["log_evidence_error"], 1.0 / 2.0 / np.sqrt(3.0))


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
