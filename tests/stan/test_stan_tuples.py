"""Tuples among what is saved, by part; and tuples of data in arrays of tuples."""

from __future__ import annotations

import numpy as np
import pytest

from probmodel import Stan, compute_deterministics, infer, load_fit, predict
from probmodel.density.posterior import ModelDensity
from probmodel.errors import ModelError
from probmodel.stan.export import to_stan

CODE = """
data { int N; }
parameters { real a; vector[2] b; }
transformed parameters {
  tuple(real, vector[2]) t = (2 * a, b);
  array[N] tuple(real<lower=0>, matrix[2, 2]) many;
  tuple(real, real) known = (1.5, N);
  for (n in 1:N) many[n] = (exp(n * a), n * b * b');
}
model { a ~ normal(t.2[1], 1); b ~ normal(0, 1); }
generated quantities {
  tuple(int, tuple(real, vector[2])) nested = (N, (a, b));
  array[N, 2] tuple(real, row_vector[2]) grid;
  for (n in 1:N) for (k in 1:2) grid[n, k] = (n * t.1 + k, k * many[n].2[1]);
  tuple(int, real) drawn = (poisson_rng(3), normal_rng(0, 1));
  real plain = t.1 + sum(t.2) + known.1;
}
"""
Program = Stan(CODE, name="Program")


def outer(b):
    return b[..., :, None] * b[..., None, :]


@pytest.fixture(scope="module", params=[2, 0])
def fit(request):
    model = Program(N=request.param)
    return model, infer(model, seed=1, chains=2, draws=20, warmup=20, quiet=True)


def test_parts_are_saved_by_place(fit):
    model, result = fit
    posterior = {name: v.values for name, v in result["posterior"].data_vars.items()}
    a, b, n = posterior["a"], posterior["b"], model._given["N"]
    counts = np.arange(1, n + 1)
    expected = {
        "t.1": 2 * a, "t.2": b,
        "many.1": np.exp(a[..., None] * counts),
        "many.2": counts[:, None, None] * outer(b)[:, :, None],
        "known.1": np.full(a.shape, 1.5), "known.2": np.full(a.shape, n),
        "nested.1": np.full(a.shape, n), "nested.2.1": a, "nested.2.2": b,
        "grid.1": 2 * a[..., None, None] * counts[:, None] + [1, 2],
        "plain": 2 * a + b.sum(axis=-1) + 1.5,
    }  # fmt: skip
    row = counts[:, None] * b[..., None, :1] * b[..., None, :]
    expected["grid.2"] = row[..., None, :] * np.array([1, 2])[:, None]
    assert set(posterior) == {"a", "b", "drawn.1", "drawn.2", *expected}
    for name, values in expected.items():
        np.testing.assert_allclose(posterior[name], values, rtol=1e-12, err_msg=name)
    assert posterior["drawn.1"].dtype.kind == posterior["nested.1"].dtype.kind == "i"


def test_they_are_kept_and_computed_again(fit, tmp_path):
    model, result = fit
    path = tmp_path / "fit.nc"
    result.to_netcdf(path)
    found = predict(load_fit(path).model, result, seed=1)["predictions"]
    np.testing.assert_array_equal(found["grid.2"], result["posterior"]["grid.2"])
    again = compute_deterministics(model, result, ["many.2", "nested.2.2"])["posterior"]
    np.testing.assert_array_equal(again["many.2"], result["posterior"]["many.2"])
    assert "t_1" in to_stan(model).code


def test_axes_of_parts_have_names():
    dims = {"t.2": "side", "many.1": "time", "many.2": ("time", "row", "column")}
    model = Stan(CODE, dims=dims)(N=2, coords={"time": ["am", "pm"]})
    axes = {v.name: v.dims for v in ModelDensity(model).variables}
    assert {name: axes[name] for name in dims} == {
        "t.2": ("side",), "many.1": ("time",), "many.2": ("time", "row", "column"),
    }  # fmt: skip
    with pytest.raises(ModelError, match=r"declares no 'many'. Did you mean"):
        Stan(CODE, dims={"many": "time"})


def test_bounds_of_parts_are_looked_at():
    code = """
    parameters { real a; }
    transformed parameters { tuple(real, real<upper=1>) t = (a, 2 * a); }
    """
    density = ModelDensity(Stan(code)())
    found = density.log_density(np.array([[0.4], [0.6]]))
    np.testing.assert_array_equal(found, [0.0, -np.inf])


def test_arrays_of_tuples_inside_tuples_of_data():
    code = """
    data { array[2] tuple(int, array[2] tuple(real, vector[2])) d; }
    transformed data { real s = d[2].2[1].1 + d[1].2[2].2[2] + d[2].1; }
    parameters { real a; }
    model { a ~ normal(s, 1); }
    """
    inner = [[(10.0, [1.0, 2.0]), (20.0, [3.0, 4.0])], [(30.0, [5.0, 6.0]), (40.0, [7.0, 8.0])]]
    density = ModelDensity(Stan(code)(d=[(100, inner[0]), (200, inner[1])]))
    x = 30.0 + 4.0 + 200.0
    found = density.log_density(np.array([[x], [x + 2.0]]))
    np.testing.assert_allclose(found, [-0.5 * np.log(2 * np.pi), -0.5 * np.log(2 * np.pi) - 2.0])
