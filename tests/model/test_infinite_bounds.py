"""Infinite data, and bounds of which some elements are none."""

import numpy as np
import pytest
from scipy import stats

from probmodel import DataError, Model, data, observed, param
from probmodel.density import as_posterior
from probmodel.distributions import Censored, LogNormal, Normal, Truncated, Weibull


class Limits(Model):
    low = data("k", lower=-np.inf)
    high = data("k", lower=low, upper=np.inf)
    x = param(Normal(0, 1), lower=low, upper=high, dims="k")
    cut = param(Truncated(Normal(0, 1), low, high), dims="k")
    y = observed(Truncated(Normal(x, 1), low, high), dims="k")
    z = observed(Censored(Normal(x, 1), low, high), dims="k")


LOW, HIGH = [-np.inf, -np.inf, 0.5, -1.0], [np.inf, 2.0, np.inf, 1.5]


def test_infinite_bounds_of_some_elements_are_none():
    values = np.array([3.0, 1.0, 0.7, -0.5])
    at_ends = np.array([3.0, 2.0, 0.5, 1.5])
    together = Limits(low=LOW, high=HIGH, y=values, z=at_ends)
    x = 0.5 * np.random.default_rng(1).standard_normal((3, 8))
    total = as_posterior(together)(x).logp
    for i, ends in enumerate(zip(LOW, HIGH, strict=True)):
        low, high = (None if np.isinf(end) else end for end in ends)

        def bounded(kind, dist, low=low, high=high):
            return dist if low is high is None else kind(dist, low, high)

        class One(Model):
            x = param(Normal(0, 1), lower=low, upper=high)
            cut = param(bounded(Truncated, Normal(0, 1)))
            y = observed(bounded(Truncated, Normal(x, 1)))
            z = observed(bounded(Censored, Normal(x, 1)))

        total = total - as_posterior(One(y=values[i], z=at_ends[i]))(x[:, [i, 4 + i]]).logp
    np.testing.assert_allclose(total, 0.0, atol=1e-12)
    density, h = as_posterior(together), 1e-6
    numeric = [(density.log_density(x + e) - density.log_density(x - e)) / (2 * h)
               for e in h * np.eye(8)]  # fmt: skip
    np.testing.assert_allclose(density(x).grad, np.transpose(numeric), atol=1e-7)
    assert density.calls_back == ()


def test_ends_that_are_known_of_the_censored_alone():
    class Lifetimes(Model):
        event = data("subject", dtype=bool)
        end = data("subject", upper=np.inf)
        shape = param(LogNormal(0, 0.5))
        time = observed(Censored(Weibull(shape, 2.0), upper=end), dims="subject")
        same = observed(
            Censored(Weibull(shape, 2.0), upper=np.where(event, np.inf, end)), dims="subject"
        )

    time, event = np.array([1.0, 2.0, 3.0]), np.array([True, False, True])
    end = np.where(event, np.inf, time)
    density = as_posterior(Lifetimes(event=event, end=end, time=time, same=time))
    law = stats.weibull_min(np.exp(0.2), scale=2.0)
    expected = 2 * (law.logpdf(time[event]).sum() + law.logsf(2.0)) + stats.norm(0, 0.5).logpdf(0.2)
    np.testing.assert_allclose(density(np.array([[0.2]])).logp, expected, rtol=1e-12)


def test_infinite_data_are_meant_only_where_a_bound_says_so():
    with pytest.raises(DataError, match=r"'high' has 1 values .* infinite, the first at \[1\]"):
        Limits(low=[0.0, 0.0], high=[1.0, -np.inf])
    with pytest.raises(DataError, match="None and what is masked count as NaN"):
        Limits(low=[0.0, np.nan], high=[1.0, 2.0])

    class Finite(Model):
        high = data("k", upper=1e9)
        x = param(Normal(0, 1))
        y = observed(Normal(x, high), dims="k")

    with pytest.raises(DataError, match=r"infinity is meant, declare data\(upper=np.inf\)"):
        Finite(high=[1.0, np.inf], y=[0.0, 0.0])
