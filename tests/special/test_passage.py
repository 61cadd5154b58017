"""First-passage densities: two series that agree, their tails, and their derivatives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from autograd.test_util import check_grads
from scipy import integrate

from probmodel.numerics.special import passage
from probmodel.numerics.special.passage import log_passage, passage_ratio, passage_series

W = np.array([0.03, 0.3, 0.5, 0.8, 0.97])


@pytest.mark.parametrize("u", [0.3, 0.5, 0.7])
def test_the_two_series_are_one_function(u):
    times = np.full(len(W), u)
    log_a, a = passage._images(times, W, 4)
    log_b, b = passage._waves(times, W, 4)
    for n in range(5):
        scale = np.abs(b[0]) * (np.pi / np.sqrt(u)) ** n
        np.testing.assert_allclose(
            np.exp(log_a - log_b) * a[n], b[n], rtol=1e-11, atol=1e-11 * scale.max()
        )


def test_early_times_know_no_other_barrier():
    w, u = 0.4, np.array([1e-3, 1e-5, 1e-8])
    alone = np.log(w) - 0.5 * np.log(2 * np.pi * u**3) - 0.5 * w * w / u
    np.testing.assert_allclose(log_passage(u, np.full(3, w)), alone, rtol=1e-14)
    np.testing.assert_allclose(passage_ratio(1, u, w + 0 * u), 1 / w - w / u, rtol=1e-12)


def test_late_times_decay_like_the_first_wave():
    u, w = np.array([20.0, 900.0]), np.full(2, 0.3)
    expected = np.log(np.pi * np.sin(0.3 * np.pi)) - 0.5 * np.pi**2 * u
    np.testing.assert_allclose(log_passage(u, w), expected, rtol=1e-14)
    np.testing.assert_allclose(passage_ratio(2, u, w), -(np.pi**2), rtol=1e-12)


@pytest.mark.parametrize("w", W)
def test_it_reaches_zero_first_with_the_probability_of_the_nearer(w):
    def density(u):
        return np.exp(log_passage(np.array(u), np.array(w)))

    pieces = [0.0, 0.5 * w * w, 0.5, 10.0]
    total = sum(
        integrate.quad(density, a, b, epsrel=1e-11, limit=200)[0]
        for a, b in itertools.pairwise(pieces)
    )
    assert total == pytest.approx(1.0 - w, rel=1e-8)


def test_derivatives():
    u = np.array([0.02, 0.2, 0.45, 0.6, 2.0])
    check_grads(log_passage, modes=["rev"], order=2)(u, W[::-1].copy())
    check_grads(lambda u, w: passage_ratio(2, u, w), modes=["rev"], order=1)(u, np.full(5, 0.4))
    log_g, ratios = passage_series(u, W, 2)
    np.testing.assert_array_equal(log_g, log_passage(u, W))
    np.testing.assert_array_equal(ratios[1], passage_ratio(2, u, W))
