"""Data that follow a distribution in some elements, and are counted in another way in others."""

import warnings

import numpy as np
import pytest

from probmodel import Stan, infer, log_likelihood, loo, posterior_predictive
from probmodel.errors import SamplingWarning

Y = np.array([0.3, 1.5, 1.1, 1.5, -0.2, 0.9])
HEAD = "data { int N; vector[N] y; array[N] int k; } parameters { real m; }\n"
MODELS = {
    "censored": "if (k[n]) target += normal_lccdf(y[n] | m, 1); else y[n] ~ normal(m, 1);",
    "the other way": "if (k[n] == 0) y[n] ~ normal(m, 1); else target += -exp(m);",
    "braces": "if (k[n]) { target += -exp(m); } else { target += normal_lpdf(y[n] | m, 1); }",
    "other terms": "if (!k[n]) target += bernoulli_lpmf(0 | 0.3) + normal_lpdf(y[n] | m, 1);",
}
# Negative controls: all that counts of the data are their distributions.
WHOLE = {
    "those that were seen": "if (k[n] == 0) y[n] ~ normal(m, 1);",
    "a series": "if (n > 1) y[n] ~ normal(m * y[n - 1], 1);",
    "all of them": "if (n > 7) target += -exp(m); else y[n] ~ normal(m, 1);",
    "a prior beside": "if (k[n] == 0) y[n] ~ normal(m, 1); } target += -exp(m); {",
}


def warned(statement, function):
    program = f"{HEAD} model {{ m ~ normal(0, 1); for (n in 1:N) {{ {statement} }} }}"
    model = Stan(program)(N=6, y=Y, k=(Y == 1.5).astype(int))
    fit = infer(model, draws=100, seed=1, quiet=True)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        function(model, fit)
    assert all(w.filename == __file__ for w in found if w.category is SamplingWarning)
    return [str(w.message) for w in found if w.category is SamplingWarning]


def replicated(model, fit):
    posterior_predictive(model, fit, seed=1)


def scored(model, fit):
    log_likelihood(model, fit, "y")


def left_out(model, fit):
    loo(model, fit, var_name="y")


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
@pytest.mark.parametrize("function", [replicated, scored, left_out])
@pytest.mark.parametrize("name", MODELS)
def test_scores_and_replicated_data_of_a_part_are_warned_of(name, function):
    (message,) = warned(MODELS[name], function)
    assert message.startswith("4 of the 6 elements of 'y' follow the distribution")
    assert "as in line 2" in message


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
@pytest.mark.parametrize("function", [replicated, scored, left_out])
@pytest.mark.parametrize("name", WHOLE)
def test_what_has_no_other_part_is_not(name, function):
    assert warned(WHOLE[name], function) == []
