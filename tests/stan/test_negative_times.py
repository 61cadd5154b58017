"""Negative times of `wiener`, which Stan refuses: a warning, and what they are counted as."""

import warnings

import numpy as np
import pytest

from probmodel import Stan
from probmodel.density import as_posterior
from probmodel.errors import DataError, SamplingWarning

DATA = "data { int N; vector[N] y; } parameters { real<lower=0> a; real v; } "
SAMPLED = DATA + "model { a ~ normal(0, 2); v ~ normal(0, 1); y ~ wiener(a, 0.1, 0.4, v); }"
ADDED = DATA + (
    "model { a ~ normal(0, 2); v ~ normal(0, 1); target += 2 * wiener_lpdf(y | a, 0.1, 0.4, v); }"
)
BOTH = DATA + (
    "model { a ~ normal(0, 2); v ~ normal(0, 1); for (i in 1:N) if (y[i] > 0) "
    "y[i] ~ wiener(a, 0.1, 0.4, v); else -y[i] ~ wiener(a, 0.1, 0.6, -v); }"
)
BOTH = BOTH.replace("-y[i] ~ wiener(", "target += wiener_lpdf(-y[i] | ")


@pytest.mark.parametrize("code", [SAMPLED, ADDED])
def test_negative_times_have_a_warning(code):
    with pytest.warns(SamplingWarning, match="Some times of wiener in .* are negative, which Stan"):
        Stan(code, name=f"Warned{len(code)}")(N=3, y=[0.5, -0.3, 0.7])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Stan(code)(N=2, y=[0.5, 0.7])


def test_they_count_as_at_the_lower_boundary():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        turned = as_posterior(Stan(BOTH)(N=3, y=[0.5, -0.3, 0.7]))
    with pytest.warns(SamplingWarning):
        signed = as_posterior(Stan(SAMPLED)(N=3, y=[0.5, -0.3, 0.7]))
    x = np.random.default_rng(0).normal(size=(4, 2))
    np.testing.assert_allclose(signed(x).logp, turned(x).logp)


def test_a_time_of_zero_is_refused():
    with pytest.raises(DataError, match="whose values are other than 0"):
        Stan(SAMPLED)(N=2, y=[0.5, 0.0])
