"""Robbins-Monro rules for a scale."""

import numpy as np
import pytest

from probmodel.adaptation.robbins_monro import MOST_CHAINS, rm_abs, rm_ratio


def test_one_chain_is_the_papers_rule():
    assert np.exp(rm_abs(np.log(2.0), np.array([0.9]), 0.574, 0.015)) == pytest.approx(
        2.0 * (1.0 + 0.015 * (0.9 - 0.574)), rel=1e-14
    )
    assert np.exp(rm_ratio(np.log(2.0), np.array([0.0]), 0.25, 0.01)) == pytest.approx(
        2.0 * (1.0 - 0.01), rel=1e-14
    )


@pytest.mark.parametrize("rule", [rm_abs, rm_ratio])
def test_chains_apply_the_rule_one_after_the_other(rule):
    a = np.random.default_rng(1).random(5)
    one_by_one = 0.3
    for value in a:
        one_by_one = rule(one_by_one, np.array([value]), 0.4, 0.02)
    assert rule(0.3, a, 0.4, 0.02) == pytest.approx(one_by_one, rel=1e-14)


def test_gain_is_limited():
    a = np.ones(1000)
    assert rm_abs(0.0, a, 0.5, 0.015) == pytest.approx(MOST_CHAINS * np.log1p(0.0075))


@pytest.mark.parametrize(("rule", "rate"), [(rm_abs, 0.015), (rm_ratio, 0.01)])
def test_rule_finds_the_scale_with_the_target_acceptance(rule, rate):
    rng = np.random.default_rng(2)
    log_scale = 8.0
    history = []
    for _ in range(4000):
        a = rng.random(8) < np.exp(-np.exp(log_scale))
        log_scale = rule(log_scale, a.astype(float), 0.3, rate)
        history.append(log_scale)
    settled = np.exp(-np.exp(np.array(history[2000:])))
    assert np.mean(settled) == pytest.approx(0.3, abs=0.03)
