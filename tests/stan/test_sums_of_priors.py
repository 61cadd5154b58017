"""Priors that a program adds up in a variable, as brms writes them, are priors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from probmodel import Stan, infer, loo, prior_predictive
from probmodel.density import as_posterior

CODE = """
functions {
  real own_lpdf(real y, real mu, real sigma) {
    return normal_lpdf(y | mu, sigma) + 0.5 * y;
  }
}
data { int N; vector[N] Y; vector[N] x; }
parameters { real Intercept; vector[2] b; real<lower=0> sigma; real<lower=0> s; real c; }
transformed parameters {
  real lprior = 0;
  lprior += student_t_lpdf(Intercept | 3, 0, 2.5);
  for (i in 1:2) lprior += normal_lpdf(b[i] | i, 0.5);
  lprior += student_t_lpdf(sigma | 3, 0, 2.5) - 1 * student_t_lccdf(0 | 3, 0, 2.5);
  lprior += gamma_lpdf(s | 2, 1) - square(c);
}
model {
  for (n in 1:N) target += own_lpdf(Y[n] | Intercept + b[1] * x[n], sigma + s);
  target += lprior - 0.5 * normal_lpdf(c | 1, 1);
}
"""
rng = np.random.default_rng(4)
X = rng.normal(size=8)
Y = 1.0 + X + rng.normal(size=8)
DATA = {"N": 8, "Y": Y, "x": X}


@pytest.fixture(scope="module")
def model():
    return Stan(CODE)(**DATA)


def test_priors_are_declared(model):
    shown = str(model)
    for prior in (
        "Intercept ~ StudentT(3, 0, 2.5)", "b ~ Normal([1, 2], 0.5)",
        "sigma ~ StudentT(3, 0, 2.5), lower=0", "s ~ Gamma(2, 1), lower=0", "c ~ Flat()",
    ):  # fmt: skip
        assert prior in shown


def test_the_density_is_the_same(model):
    density = as_posterior(model)
    x = rng.normal(size=(5, density.dim))
    values = density.constrain(x)
    jacobians = sum(v for k, v in density.terms(x).items() if "jacobian" in k)
    half_t = stats.t(3, 0, 2.5)
    c, sd = values["c"], values["sigma"] + values["s"]
    expected = (
        half_t.logpdf(values["Intercept"])
        + stats.norm.logpdf(values["b"], [1, 2], 0.5).sum(axis=-1)
        + half_t.logpdf(values["sigma"])
        + np.log(2.0)
        + stats.gamma.logpdf(values["s"], 2)
        - c**2
        - 0.5 * stats.norm.logpdf(c, 1, 1)
    )
    mean = values["Intercept"][:, None] + values["b"][:, :1] * X
    expected += np.sum(stats.norm.logpdf(Y, mean, sd[:, None]) + 0.5 * Y, axis=-1)
    np.testing.assert_allclose(density.log_density(x) - jacobians, expected, rtol=1e-12)


def test_priors_are_drawn():
    code = CODE.replace(" - 0.5 * normal_lpdf(c | 1, 1)", " + normal_lpdf(c | 1, 1)")
    drawn = prior_predictive(Stan(code)(**DATA), draws=4000, seed=2)["prior"].isel(chain=0)
    families = {
        "Intercept": stats.t(3, 0, 2.5), "c": stats.norm(1, 1), "s": stats.gamma(2),
    }  # fmt: skip
    for name, family in families.items():
        assert stats.kstest(drawn[name].values, family.cdf).pvalue > 1e-3
    for i in (0, 1):
        found = drawn["b"].values[:, i]
        assert stats.kstest(found, stats.norm(i + 1, 0.5).cdf).pvalue > 1e-3
    lowest = stats.t(3, 0, 2.5).cdf(0)
    found = (stats.t(3, 0, 2.5).cdf(drawn["sigma"].values) - lowest) / (1 - lowest)
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_the_density_counts_twice_what_is_added_twice():
    code = """
    parameters { real a; real<lower=0> s; }
    transformed parameters { real lprior = normal_lpdf(a | 0, 1); }
    model { target += lprior; target += lprior + exponential_lpdf(s | 1); }
    """
    density = as_posterior(Stan(code)())
    x = rng.normal(size=(3, 2))
    expected = 2 * stats.norm.logpdf(x[:, 0]) - np.exp(x[:, 1]) + x[:, 1]
    np.testing.assert_allclose(density.log_density(x), expected, rtol=1e-12)


def test_sums_inside_conditions_on_parameters_count_where_these_hold():
    code = """
    parameters { real a; real<lower=0> s; }
    model {
      real more = normal_lpdf(a | 0, 2) + exponential_lpdf(s | 3);
      a ~ normal(0, 1);
      s ~ exponential(1);
      if (a > 0) { target += more; }
    }
    """
    density = as_posterior(Stan(code)())
    x = np.array([[-1.0, 0.3], [1.0, 0.3]])
    s = np.exp(x[:, 1])
    more = stats.norm.logpdf(x[:, 0], 0, 2) + np.log(3) - 3 * s
    expected = stats.norm.logpdf(x[:, 0]) - s + x[:, 1] + (x[:, 0] > 0) * more
    np.testing.assert_allclose(density.log_density(x), expected, rtol=1e-12)


def test_loo_takes_the_likelihood_and_not_the_constant_of_a_prior():
    code = CODE.replace(" - square(c)", "").replace("- 0.5 * normal_lpdf", "+ normal_lpdf")
    model = Stan(code)(**DATA)
    fit = infer(model, draws=300, chains=4, seed=1, quiet=True)
    assert loo(model, fit).n_data_points == 8
