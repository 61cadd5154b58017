"""Generated quantities of an existing fit, at its data or new ones, and of a changed program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from probmodel import Stan, compute_deterministics, infer, load_fit, predict
from probmodel.errors import DataError

CODE = """
data { int N; vector[N] x; vector[N] y; int M; vector[M] new_x; }
parameters { real a; vector[2] b; real<lower=0> s; }
transformed parameters { vector[N] mu = a + b[1] * x; }
model { a ~ normal(0, 1); b ~ normal(0, 1); s ~ normal(0, 1); y ~ normal(mu, s); }
generated quantities {
  vector[M] new_y;
  for (m in 1:M) new_y[m] = normal_rng(a + b[1] * new_x[m], s);
  MORE
}
"""
MORE = """
  real slope = 2 * b[1];
  array[2] int k = {a > 0 ? 1 : 0, poisson_rng(3)};
  real way = a > 0 ? 3 : normal_rng(5, 0.001);
  vector[N] residual = y - mu;
"""
Line = Stan(CODE.replace("MORE", ""), name="Line")
Changed = Stan(CODE.replace("MORE", MORE), name="Changed")
DATA = {"N": 4, "x": [1, 2, 3, 4], "y": [1.0, 2.0, 3.0, 4.5], "M": 2, "new_x": [0, 10]}
NEW = {"N": 0, "x": [], "M": 3, "new_x": [1, 2, 3]}


@pytest.fixture(scope="module")
def fit():
    return infer(Line(**DATA), seed=1, chains=4, draws=500, warmup=200, quiet=True)


def test_a_changed_block(fit):
    found = predict(Changed(**DATA), fit, seed=1)["predictions"]
    assert set(found.data_vars) == {"mu", "y", "new_y", "slope", "k", "way", "residual"}
    posterior = fit["posterior"]
    np.testing.assert_allclose(found["slope"], 2 * posterior["b"][..., 0])
    np.testing.assert_allclose(found["residual"], DATA["y"] - posterior["mu"].values)
    assert found["k"].dtype.kind == "i"
    np.testing.assert_array_equal(found["k"][..., 0], posterior["a"] > 0)
    above = posterior["a"].values > 0
    np.testing.assert_allclose(found["way"], np.where(above, 3, 5), atol=0.01)
    assert 0 < above.mean() < 1


def test_new_data(fit):
    found = predict(Line(**NEW), fit, seed=1)["predictions"]["new_y"]
    assert found.shape == (4, 500, 3)
    posterior = fit["posterior"]
    mean = posterior["a"].values[..., None] + posterior["b"].values[..., :1] * [1, 2, 3]
    z = (found.values - mean) / posterior["s"].values[..., None]
    assert stats.kstest(z.ravel(), "norm").pvalue > 1e-3


def test_seeds_and_names(fit):
    changed = Changed(**DATA)
    one = predict(changed, fit, seed=1, var_names="new_y")["predictions"]
    assert set(one.data_vars) == {"new_y"}
    again = predict(changed, fit, seed=1)["predictions"]["new_y"]
    other = predict(changed, fit, seed=2)["predictions"]["new_y"]
    assert np.mean(one["new_y"].values == other.values) == 0
    predicted = predict(changed, fit, seed=1)["predictions"]
    np.testing.assert_array_equal(again, predicted["new_y"])
    p = {name: values.values for name, values in fit["posterior"].data_vars.items()}
    observed = (predicted["y"].values - p["mu"])[..., 0] / p["s"]
    generated = (again.values[..., 0] - p["a"]) / p["s"]  # at x = 0
    assert abs(np.corrcoef(observed.ravel(), generated.ravel())[0, 1]) < 0.1
    with pytest.raises(DataError, match=r"no variable 'slop' .* Did you mean 'slope'"):
        predict(changed, fit, var_names="slop")


def test_they_join_the_posterior(fit):
    found = compute_deterministics(Changed(**DATA), fit)["posterior"]
    assert set(found.data_vars) >= {"a", "b", "s", "mu", "slope", "way"}
    np.testing.assert_allclose(found["slope"], 2 * fit["posterior"]["b"][..., 0])
    again = compute_deterministics(Changed(**DATA), fit, "new_y")["posterior"]
    np.testing.assert_array_equal(again["new_y"], found["new_y"])
    assert "slope" not in again


def test_data_that_are_left_out(fit):
    without = {k: v for k, v in DATA.items() if k != "y"}
    assert "new_y" in predict(Line(**without), fit, seed=1)["predictions"]
    found = predict(Changed(**without), fit, seed=1)["predictions"]  # its residuals need y
    assert set(found.data_vars) == {"mu", "y"}


def test_saved_fits(fit, tmp_path):
    path = tmp_path / "fit.nc"
    fit.to_netcdf(path)
    found = load_fit(path).predict({"M": 1, "new_x": [2.0]}, seed=1)["predictions"]
    assert found["new_y"].shape == (4, 500, 1)


def test_another_model(fit):
    renamed = CODE.replace("MORE", "").replace("real a;", "real c;").replace("a +", "c +")
    with pytest.raises(DataError, match="no draws of param 'c'"):
        predict(Stan(renamed.replace("a ~", "c ~"))(**DATA), fit)
    longer = CODE.replace("MORE", "").replace("vector[2] b", "vector[3] b")
    with pytest.raises(
        DataError, match="param 'b' has 2 elements along 'b_dim_0' in the fit and 3"
    ):
        predict(Stan(longer)(**DATA), fit)
    scalar = CODE.replace("MORE", "").replace("vector[2] b", "real b").replace("b[1]", "b")
    with pytest.raises(DataError, match=r"param 'b' has the shape \(\).* and \(2,\) in the fit"):
        predict(Stan(scalar)(**DATA), fit)
    negative = CODE.replace("MORE", "").replace("real a;", "real<lower=100> a;")
    with pytest.raises(DataError, match="param 'a'"):
        predict(Stan(negative)(**DATA), fit)


def test_loops_over_the_elements_of_what_is_drawn():
    program = """
        parameters { vector[3] v; matrix[2, 3] m; array[2] vector[3] a; }
        model { v ~ normal(0, 1); to_vector(m) ~ normal(0, 1); for (x in a) x ~ normal(0, 1); }
        generated quantities {
          real below = 0; real columns = 0; real rows = 0;
          for (x in v) { if (x > 0) continue; below += x; }
          for (x in m) columns = 0.5 * columns + x;
          for (x in a) rows = 0.5 * rows + sum(x);
        }"""
    draws = infer(Stan(program)(), draws=20, seed=1, quiet=True).posterior
    v, m, a = (draws[name].values for name in "vma")
    np.testing.assert_allclose(draws["below"], np.where(v > 0, 0.0, v).sum(axis=-1), rtol=1e-12)
    shares = 0.5 ** np.arange(5, -1, -1).reshape(3, 2).T
    np.testing.assert_allclose(draws["columns"], (m * shares).sum(axis=(-1, -2)), atol=1e-12)
    np.testing.assert_allclose(draws["rows"], a.sum(axis=-1) @ [0.5, 1.0], atol=1e-12)
