"""Draws of normal vectors and matrices that are restricted to sums of zero."""

import numpy as np
import pytest

from probmodel import Model, data, param, prior_predictive
from probmodel.constraints import SumToZero, SumToZeroMatrix
from probmodel.distributions import HalfNormal, Normal, StudentT
from probmodel.errors import ModelError


class Effects(Model):
    spread = data()
    a = param(Normal([0.0, 1.0, 2.0, -4.0], 0.5), constraint=SumToZero(), shape=4)
    b = param(Normal(0, [[1.0], [3.0]]), constraint=SumToZero(), shape=(2, 3))
    c = param(Normal(2.0, spread), constraint=SumToZeroMatrix(), shape=(3, 4))


def test_draws_are_normal_on_the_plane():
    prior = prior_predictive(Effects(spread=2.0), draws=20_000, seed=1).prior
    a, b, c = (prior[name].values.reshape(-1, *prior[name].shape[2:]) for name in "abc")
    np.testing.assert_allclose(a.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(b.sum(axis=2), 0.0, atol=1e-12)
    np.testing.assert_allclose(c.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(c.sum(axis=2), 0.0, atol=1e-12)
    np.testing.assert_allclose(a.mean(axis=0), [0.25, 1.25, 2.25, -3.75], atol=0.02)
    np.testing.assert_allclose(np.cov(a.T), 0.25 * (np.eye(4) - 0.25), atol=0.01)
    deviations = np.sqrt(2 / 3) * np.array([1.0, 3.0])
    np.testing.assert_allclose(b.std(axis=0).T, [deviations] * 3, rtol=0.03)
    np.testing.assert_allclose(c.mean(axis=0), 0.0, atol=0.06)
    np.testing.assert_allclose(c.std(axis=0), 2 * np.sqrt(2 / 3 * 3 / 4), rtol=0.03)


class Hierarchy(Model):
    s = param(HalfNormal(1))
    a = param(Normal(0, s), constraint=SumToZero(), shape=4)


class Unequal(Model):
    a = param(Normal(0, [1.0, 2.0, 3.0]), constraint=SumToZero(), shape=3)


class Tails(Model):
    a = param(StudentT(3, 0, 1), constraint=SumToZero(), shape=3)


def test_others_are_refused_and_the_distribution_is_named():
    named = r"Give it a distribution on that set, ZeroSumNormal\(scale\), which needs no constraint"
    for model in (Hierarchy, Unequal):
        with pytest.raises(ModelError, match=named):
            prior_predictive(model(), draws=2)
    with pytest.raises(ModelError, match="Give it a distribution on that set; to simulate"):
        prior_predictive(Tails(), draws=2)
