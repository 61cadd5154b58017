"""Names and labels of the axes of a program's variables, in all that is made of them."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from probmodel import (
    Stan,
    infer,
    load_fit,
    load_stan,
    log_likelihood,
    posterior_predictive,
    predict,
    prior_predictive,
    sbc,
)
from probmodel.errors import DataError, ModelError, ShapeError

CODE = """
data { int<lower=0> J; vector[J] y; vector<lower=0>[J] sigma; }
parameters { real mu; real<lower=0> tau; vector[J] theta; matrix[2, J] M; }
transformed parameters { vector[J] twice = 2 * theta; }
model {
  mu ~ normal(0, 5);
  tau ~ normal(0, 5);
  theta ~ normal(mu, tau);
  to_vector(M) ~ normal(0, 1);
  y ~ normal(theta, sigma);
}
generated quantities {
  array[J] real y_rep = normal_rng(theta, sigma);
  vector[2] z = [mu, tau]';
}
"""
DIMS = {
    "theta": "school", "twice": ["school"], "y": "school", "sigma": "school", "y_rep": "school",
    "M": ("row", "school"),
}  # fmt: skip
DATA = {"J": 3, "y": [28.0, 8.0, -3.0], "sigma": [15.0, 10.0, 16.0]}
LABELS = {"school": ["a", "b", "c"], "z_dim_0": ["mu", "tau"]}
Schools = Stan(CODE, name="Schools", dims=DIMS)


@pytest.fixture(scope="module")
def model():
    return Schools(**DATA, coords=LABELS)


@pytest.fixture(scope="module")
def fit(model):
    return infer(model, seed=1, chains=4, draws=50, warmup=100, quiet=True)


def assert_axes(group, **dims):
    for name, expected in dims.items():
        assert group[name].dims[-len(expected) :] == expected, name
    assert list(group["school"].values) == ["a", "b", "c"]


def test_results_have_the_names_and_labels(model, fit):
    posterior = fit["posterior"]
    row = ("row", "school")
    assert_axes(posterior, theta=("school",), twice=("school",), y_rep=("school",), M=row)
    assert list(posterior["z_dim_0"].values) == ["mu", "tau"]
    assert "row" not in model._labels
    assert posterior["mu"].dims == ("chain", "draw")
    assert_axes(fit["observed_data"], y=("school",))
    assert_axes(fit["constant_data"], sigma=("school",))
    assert_axes(log_likelihood(model, fit)["log_likelihood"], y=("school",))
    drawn = posterior_predictive(model, fit, seed=1)
    assert_axes(drawn["posterior_predictive"], y=("school",))
    assert_axes(prior_predictive(model, draws=3, seed=1)["prior"], theta=("school",), M=row)
    assert "theta[school] ~" in repr(model)
    assert "M[row, school] ~" in repr(model)
    assert "z_dim" not in repr(model)


def test_predictions_match_by_label(fit):
    new = Schools(J=2, sigma=[1e-9, 2.0], coords={"school": ["c", "new"]})
    found = predict(new, fit, seed=1, new_groups="draw")["predictions"]
    known = fit["posterior"]["theta"].sel(school="c")
    np.testing.assert_allclose(found["y"].sel(school="c"), known, atol=1e-7)
    np.testing.assert_allclose(found["twice"].sel(school="c"), 2 * known)
    with pytest.raises(DataError, match=r"new labels along 'school'.*: new"):
        predict(new, fit, seed=1)
    with pytest.raises(DataError, match="labels along 'school' in the fit and none here"):
        predict(Schools(J=2, sigma=[1.0, 2.0]), fit, seed=1)
    one = Schools(J=1, sigma=[1.0], coords={"school": ["b"]})
    assert predict(one, fit, seed=1)["predictions"]["y"].dims == ("chain", "draw", "school")


def test_copies_and_saved_fits_keep_them(model, fit, tmp_path):
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is Schools
    assert repr(again) == repr(model)
    assert set(again._labels) == set(LABELS)
    path = tmp_path / "fit.nc"
    fit.to_netcdf(path)
    saved = load_fit(path)
    assert type(saved.model) is Schools
    assert set(saved.model._labels) == set(LABELS)
    found = saved.predict({"J": 1, "sigma": [1.0]}, coords={"school": ["b"]}, seed=1)
    assert found["predictions"]["y"].dims == ("chain", "draw", "school")
    assert load_fit(path, model).model is model


def test_calibration_names_elements_by_label():
    data = {"J": 2, "sigma": [1.0, 2.0], "coords": {"school": ["a", "b"]}}
    found = sbc(Schools, 2, data=data, draws=10, seed=1, quiet=True, var_names="theta")
    assert "theta[a]" in str(found)


def test_files_take_dims(tmp_path):
    path = tmp_path / "schools.stan"
    path.write_text(CODE)
    named = load_stan(path, dims=DIMS)
    assert named is load_stan(path, dims={**DIMS, "twice": "school"})
    assert named is not load_stan(path)
    assert "theta[school]" in repr(named(**DATA))
    assert "theta[school]" not in repr(load_stan(path)(**DATA))


def test_axes_without_names_can_be_labelled():
    model = Stan(CODE)(**DATA, coords={"theta_dim_0": ["a", "b", "c"]})
    variable = next(v for v in model._binding.variables if v.name == "theta")
    assert list(variable.coords["theta_dim_0"]) == ["a", "b", "c"]


def test_a_part_of_the_data_keeps_names_of_its_own():
    code = """
    data { int N; vector[N] y; }
    parameters { real a; }
    model { a ~ normal(0, 1); for (n in 2:N) y[n] ~ normal(a * y[n - 1], 1); }
    """
    model = Stan(code, dims={"y": "time"})(N=3, y=[1.0, 2.0, 3.0], coords={"time": [7, 8, 9]})
    drawn = infer(model, seed=1, chains=2, draws=10, warmup=10, quiet=True)
    assert drawn["observed_data"]["y"].dims == ("y_dim_0",)


@pytest.mark.parametrize(
    ("dims", "says"),
    [
        ({"thet": "school"}, "declares no 'thet'. Did you mean 'theta'"),
        ({"theta": ["a", "b"]}, "'theta' has 1 axis; 2 names are given: a, b"),
        ({"M": "school"}, "'M' has 2 axes; 1 name is given: school"),
        ({"mu": "school"}, "'mu' has 0 axes"),
        ({"theta": "J"}, "'J' of 'theta' has the name of a variable of the program"),
        ({"theta": "a b"}, "dims of 'theta': dims are names .* 'a b'"),
        ({"theta": "draw"}, "dims of 'theta': the dim name 'draw' is taken"),
        ({"M": ["a", "a"]}, "dims of 'M': dims must differ"),
        (["school"], "dims must be a dict"),
    ],
)
def test_names_that_do_not_fit(dims, says):
    with pytest.raises(ModelError, match=says):
        Stan(CODE, dims=dims)


def test_labels_that_do_not_fit():
    for coords in ({"school": ["a", "b"]}, {"z_dim_0": ["a"]}):
        with pytest.raises(ShapeError, match="but 'coords' has"):
            Schools(**DATA, coords=coords)
    with pytest.raises(DataError, match=r"'scool', which .* Did you mean 'school'"):
        Schools(**DATA, coords={"scool": ["a", "b", "c"]})
    with pytest.raises(DataError, match=r"load_stan.path, dims="):
        Schools(**DATA, dims=DIMS)
    with pytest.raises(ShapeError, match="along dim 'u'"):
        Stan(CODE, dims={"theta": "u", "z": "u"})(**DATA)
    with pytest.raises(DataError, match="datum 'coords', which is taken"):
        Stan("data { real coords; } parameters { real a; }")(coords=1.0)


def test_data_that_are_left_out_are_predicted_in_full():
    code = "data { int N; vector[N] y; } parameters { real mu; } model { y ~ normal(mu, 1); }"
    model = Stan(code)
    fit = infer(model(N=2, y=[1.0, 2.0]), seed=1, chains=2, draws=5, warmup=20, quiet=True)
    found = predict(model(N=4), fit, seed=1)["predictions"]["y"]
    assert found.shape == (2, 5, 4)
    assert len(np.unique(found)) == 40
