"""Uniform numbers by SplitMix64: against published values, and their law."""

import numpy as np
import pytest
from scipy.stats import kstest

from probmodel.numerics.split_mix import GOLDEN, uniform


def test_first_numbers_of_a_published_sequence():
    """The first outputs for the seed 1234567, as listed with the reference program in C."""
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    found = [float(uniform(np.array([1234567], dtype=np.uint64), k)[0]) for k in range(3)]
    assert found == [(value >> 11) * 2.0**-53 for value in expected]


@pytest.mark.parametrize("number", [0, 1, 1 << 32, (1 << 33) + 7])
def test_numbers_of_different_seeds_are_uniform(number):
    seeds = np.random.default_rng(1).integers(1 << 64, size=100_000, dtype=np.uint64)
    u = uniform(seeds, number)
    assert ((u >= 0.0) & (u < 1.0)).all()
    assert kstest(u, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(u, uniform(seeds, number + 1))[0, 1]) < 4.0 / np.sqrt(len(u))


def test_numbers_of_one_seed_are_uniform():
    u = np.array([uniform(np.array([7], dtype=np.uint64), k)[0] for k in range(20_000)])
    assert kstest(u, "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(u[:-1], u[1:])[0, 1]) < 4.0 / np.sqrt(len(u))
    # A control: the multiples of the odd number that are mixed are not random at all.
    plain = (np.arange(20_000, dtype=np.uint64) * np.uint64(GOLDEN) >> np.uint64(11)) * 2.0**-53
    assert abs(np.corrcoef(plain[:-1], plain[1:])[0, 1]) > 4.0 / np.sqrt(len(u))
