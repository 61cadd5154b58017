"""Programs of the kinds that collections of Stan programs hold, and that once went wrong."""

import numpy as np
import pytest
from scipy import stats

from probmodel.density import ModelDensity
from probmodel.errors import ModelError
from probmodel.stan.complaints import placed
from probmodel.stan.stan_model import Stan
from probmodel.stan.syntax.nodes import Place


def density_of(code, **data):
    return ModelDensity(Stan(code)(**data))


def by_terms(density, x):
    """The log density without Jacobians."""
    terms = zip(density._binding.terms, density._programs.terms(x), strict=True)
    return sum(value for term, value in terms if term.kind != "jacobian")


def test_a_random_walk_that_starts_from_parameters_feeds_a_likelihood():
    code = """
        data { int T; vector[T] y; }
        parameters { real mu; vector[T] h; }
        model {
          h[1] ~ normal(mu, 2);
          for (t in 2:T) h[t] ~ normal(mu + 0.5 * (h[t - 1] - mu), 1);
          for (t in 1:T) y[t] ~ normal(0, exp(h[t] / 2));
        }"""
    y = np.linspace(-1, 1, 20)
    density = density_of(code, T=20, y=y)
    x = np.random.default_rng(1).standard_normal((3, 21))
    mu, h = x[:, :1], x[:, 1:]
    expected = stats.norm.logpdf(h[:, :1], mu, 2).sum(1)
    expected += stats.norm.logpdf(h[:, 1:], mu + 0.5 * (h[:, :-1] - mu), 1).sum(1)
    expected += stats.norm.logpdf(y, 0, np.exp(h / 2)).sum(1)
    np.testing.assert_allclose(density.log_density(x), expected, rtol=1e-12)


def test_a_dynamic_model_takes_the_variances_of_its_observations():
    code = """
        data { int r; int T; matrix[r, T] y; vector[1] m0; cov_matrix[1] C0; }
        parameters { matrix[1, 1] G; vector<lower=0>[r] V; cov_matrix[1] W; }
        model { y ~ gaussian_dlm_obs(rep_matrix(1, 1, r), G, %s, W, m0, C0); }"""
    data = {"r": 2, "T": 5, "y": np.arange(10.0).reshape(2, 5), "m0": [0.0], "C0": [[1.0]]}
    x = np.random.default_rng(1).standard_normal((3, 4))
    a, b = (density_of(code % v, **data).log_density(x) for v in ("V", "diag_matrix(V)"))
    np.testing.assert_allclose(a, b, rtol=1e-12)


def test_transformed_data_may_be_drawn_at_random():
    code = """
        transformed data { real y = normal_rng(0, 1); }
        parameters { real mu; }
        model { y ~ normal(mu, 1); }"""
    x = np.zeros((1, 1))
    first, second = (density_of(code).log_density(x) for _ in range(2))
    assert first == second


def test_data_that_no_distribution_takes_may_be_infinite():
    code = """
        data { int N; vector[N] limit; }
        parameters { real mu; }
        model { mu ~ normal(0, 1); for (i in 1:N) if (limit[i] < 1) mu ~ normal(limit[i], 1); }"""
    density = density_of(code, N=2, limit=[0.5, np.inf])
    assert np.isfinite(density.log_density(np.zeros((1, 1)))).all()


def test_a_return_that_depends_on_data_of_each_element():
    code = """
        functions {
          int first(array[] int y) {
            for (k in 1:size(y)) if (y[k] == 1) return k;
            return 0;
          }
        }
        data { int N; array[N, 3] int y; }
        transformed data { array[N] int f; for (i in 1:N) f[i] = first(y[i]); }
        parameters { real<lower=0, upper=1> p; }
        model { for (i in 1:N) if (f[i] > 0) 1 ~ bernoulli(p); }"""
    y = np.eye(4, 3, dtype=int).repeat(6, 0)
    density = density_of(code, N=24, y=y)
    p = 1 / (1 + np.exp(-0.3))
    np.testing.assert_allclose(by_terms(density, np.full((1, 1), 0.3)), 18 * np.log(p))


@pytest.mark.parametrize("place", ["model", "transformed data"])
def test_what_reduces_a_sum_runs_beside_early_returns(place):
    code = f"""
        functions {{
          real part(array[] int y, int a, int b, real c) {{
            if (size(y) == 0) return 0;
            return c * sum(y);
          }}
        }}
        data {{ int N; array[N] int y; }}
        transformed data {{ real s = reduce_sum(part, y, 1, 2.0); }}
        parameters {{ real c; }}
        model {{ target += {"reduce_sum(part, y, 1, c)" if place == "model" else "s * c"}; }}"""
    density = density_of(code, N=3, y=[1, 2, 3])
    factor = 6 if place == "model" else 12
    np.testing.assert_allclose(density.log_density(np.full((1, 1), 0.5)), factor * 0.5)


def test_distributions_without_distribution_functions_are_refused_at_their_place():
    model = "y ~ wiener(1 + mu, 0.1, 0.5, 0) T[0, ];"
    code = f"data {{ real y; }}\nparameters {{ real<lower=0> mu; }}\nmodel {{ {model} }}"
    says = r"<stan>:3: column \d+: wiener has no distribution function"
    with pytest.raises(ModelError, match=says) as raised:
        density_of(code, y=1.0)
    assert model in str(raised.value)


def test_operations_that_go_wrong_say_where():
    place = Place("f", 2, 3)
    sources = {"f": "one\nab(c)\n"}
    error = placed(ModelError("no."), place, sources)
    assert "f:2: column 3: no." in str(error)
    assert placed(error, Place("f", 1, 1), sources) is error
    assert placed(ModelError("no."), None, sources).location is None
