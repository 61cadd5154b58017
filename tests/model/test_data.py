"""Data: what is accepted, how labels travel, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from probmodel import DataError, Model, ShapeError, data, observed, param, read_data
from probmodel.density import as_posterior
from probmodel.distributions import BernoulliLogit, Beta, Binomial, Normal, Poisson


class Regression(Model):
    X = data(dims=("obs", "feature"))
    beta = param(Normal(0, 1), dims="feature")
    y = observed(Normal(X @ beta, 1), dims="obs")


class Counts(Model):
    exposure = data(lower=0)
    rate = param(Normal(0, 1), lower=0)
    y = observed(Poisson(rate * exposure), dims="obs")


X = np.arange(12.0).reshape(4, 3)
Y = np.arange(4.0)


def coords_of(model, name="feature"):
    return model._binding.dimensions.coords.get(name)


@pytest.mark.parametrize(
    ("features", "outcome"),
    [
        (X.tolist(), Y.tolist()),
        (X.astype(np.int32), Y.astype(np.float32)),
        (pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(Y)),
        (xr.DataArray(X.T, dims=("feature", "obs")), Y),
    ],
)
def test_kinds_of_arrays_give_the_same_model(features, outcome):
    model = Regression(X=features, y=outcome)
    np.testing.assert_array_equal(model._binding.data["X"], X)
    x = np.linspace(-1, 1, 6).reshape(2, 3)
    np.testing.assert_array_equal(
        as_posterior(model)(x).logp, as_posterior(Regression(X=X, y=Y))(x).logp
    )


def test_labels_from_a_data_frame():
    frame = pd.DataFrame(X, columns=["a", "b", "c"], index=["w", "x", "y", "z"])
    model = Regression(X=frame, y=Y)
    assert list(coords_of(model)) == ["a", "b", "c"]
    assert list(coords_of(model, "obs")) == ["w", "x", "y", "z"]
    assert as_posterior(model).variables[0].coords["feature"].tolist() == ["a", "b", "c"]


def test_labels_from_xarray_and_coords_and_dict():
    array = xr.DataArray(X, dims=("obs", "feature"), coords={"feature": ["a", "b", "c"]})
    assert list(coords_of(Regression(X=array, y=Y))) == ["a", "b", "c"]
    given = Regression(X=X, y=Y, coords={"feature": ["a", "b", "c"]})
    assert list(coords_of(given)) == ["a", "b", "c"]
    keyed = Regression(X=X, y=dict(zip("wxyz", Y, strict=True)))
    assert list(coords_of(keyed, "obs")) == list("wxyz")


def test_frame_of_mixed_numbers():
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": [0.5, 1, 1, 1], "c": [True, False, True, True]})
    assert Regression(X=frame, y=Y)._binding.data["X"].dtype == float


def test_labels_that_disagree():
    with pytest.raises(DataError, match="labels of dim 'feature'"):
        Regression(X=pd.DataFrame(X, columns=list("abc")), y=Y, coords={"feature": list("abd")})


def test_repeated_coords():
    with pytest.raises(DataError, match="repeat"):
        Regression(X=X, y=Y, coords={"feature": ["a", "a", "b"]})


def test_coords_of_an_unknown_dim():
    with pytest.raises(DataError, match=r"'features'.*Did you mean 'feature'"):
        Regression(X=X, y=Y, coords={"features": ["a", "b", "c"]})


@pytest.mark.parametrize(
    ("columns", "shown"), [("aba", "'a'"), (["b", "a", "b"], "'b'"), ([1, "1", 2], "'1'")]
)
def test_repeated_columns(columns, shown):
    with pytest.raises(DataError, match=rf"'X' has the labels {shown} more .* dim 'feature'; .*"):
        Regression(X=pd.DataFrame(X, columns=list(columns)), y=Y)


def test_repeated_index_is_no_label():
    series = pd.Series(Y, index=["a", "a", "b", "b"])
    assert coords_of(Regression(X=X, y=series), "obs") is None


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"y": Y}, DataError, r"needs the datum 'X' with dims obs, feature"),
        ({"X": X, "y": Y, "z": 1}, DataError, "no datum 'z'"),
        ({"x": X, "y": Y}, DataError, "no datum 'x'.*Did you mean 'X'"),
        ({"X": X, "y": Y, "beta": 1}, DataError, "takes no data"),
        ({"X": X[:, 0], "y": Y}, ShapeError, r"2 axes were expected; got shape \(4,\)"),
        ({"X": X, "y": Y[:, None]}, ShapeError, r"of length 1: np\.squeeze\(y, axis=1\)"),
        ({"X": X, "y": Y[:3]}, ShapeError, "'y' has 3 along dim 'obs', but 'X' has 4"),
        ({"X": np.where(X == 5, np.nan, X), "y": Y}, DataError, r"1 values.*first at \[1, 2\]"),
        ({"X": X, "y": [0, np.inf, 1, 2]}, DataError, r"infinite, the first at \[1\]"),
        ({"X": np.empty((0, 3)), "y": []}, DataError, "is empty"),
        (
            {"X": X.astype(str), "y": Y},
            DataError,
            "must be numeric; got numbers that are written as text",
        ),
        ({"X": X.astype(object), "y": Y}, DataError, "dtype object"),
        ({"X": [[1, 2], [3]], "y": Y}, DataError, "ragged"),
    ],
)
def test_bad_data(given, error, message):
    with pytest.raises(error, match=message):
        Regression(**given)


def test_scalar_expected():
    with pytest.raises(ShapeError, match="a single number was expected"):
        Counts(exposure=[1.0, 2.0], y=[1, 2])


def test_bound_of_data():
    with pytest.raises(DataError, match=r"lower=0; got -1 at its only value"):
        Counts(exposure=-1.0, y=[1, 2])


@pytest.mark.parametrize(
    ("y", "message"),
    [([1, 2.5], r"whole numbers; got 2.5 at \[1\]"), ([1, -1], r"got -1 at \[1\]")],
)
def test_counts_out_of_support(y, message):
    with pytest.raises(DataError, match=message):
        Counts(exposure=1.0, y=y)


def test_the_bound_of_an_element_is_shown():
    class Arms(Model):
        n = data("arm", dtype=int)
        p = param(Beta(1, 1))
        died = observed(Binomial(n, p), dims="arm")

    with pytest.raises(DataError, match=r"from 0 up to 12 there; got 14 at \[1\] \(2 such"):
        Arms(n=[10, 12, 9], died=[3, 14, 10])


def test_labels_must_be_zero_or_one():
    class Coin(Model):
        logit = param(Normal(0, 1))
        heads = observed(BernoulliLogit(logit), dims="toss")

    with pytest.raises(DataError, match=r"BernoulliLogit.*got 2 at \[2\]"):
        Coin(heads=[0, 1, 2])


def test_bool_data():
    class Groups(Model):
        treated = data(dims="obs", dtype=bool)
        effect = param(Normal(0, 1))
        y = observed(Normal(effect * treated, 1), dims="obs")

    assert Groups(treated=[0, 1], y=[0.0, 1.0])._binding.data["treated"].dtype == bool
    with pytest.raises(DataError, match="0 or 1"):
        Groups(treated=[0, 2], y=[0.0, 1.0])


def test_outer_broadcast_in_a_likelihood_is_refused():
    class Outer(Model):
        X = data(dims=("obs", "one"))
        b = param(Normal(0, 1))
        y = observed(Normal(X * b, 1), dims="obs")

    with pytest.raises(ShapeError, match="pair every element with every other"):
        Outer(X=np.ones((4, 1)), y=Y)


def test_dim_without_a_size():
    class Sized(Model):
        beta = param(Normal(0, 1), dims="feature")

    with pytest.raises(ShapeError, match="whose size is not known"):
        Sized()
    assert as_posterior(Sized(coords={"feature": ["a", "b"]})).dim == 2


def test_unbound_likelihood_can_be_bound_but_not_sampled():
    model = Regression(X=X)
    with pytest.raises(DataError, match="without its observed data 'y'"):
        as_posterior(model)


def test_npz_json_csv(tmp_path):
    np.savez(tmp_path / "d.npz", X=X, y=Y, **{"coords.feature": np.array(["a", "b", "c"])})
    (tmp_path / "d.json").write_text(
        json.dumps({"X": X.tolist(), "y": Y.tolist(), "coords": {"feature": ["a", "b", "c"]}})
    )
    rows = ["X.a,X.b,X.c,y"] + [",".join(map(str, [*r, v])) for r, v in zip(X, Y, strict=True)]
    (tmp_path / "d.csv").write_text("\n".join(["# a comment", *rows]))
    for name in ("d.npz", "d.json", "d.csv"):
        model = Regression(**read_data(tmp_path / name))
        np.testing.assert_array_equal(model._binding.data["X"], X)
        assert list(coords_of(model)) == ["a", "b", "c"]


@pytest.mark.parametrize(
    "given", [Y[:, None], Y[:, None].tolist(), pd.DataFrame({"y": Y}), xr.DataArray(Y[:, None])]
)
def test_the_advice_on_an_axis_too_many_holds_for_all_that_data_come_in(given):
    with pytest.raises(ShapeError, match=r"np\.squeeze\(y, axis=1\)"):
        Regression(X=X, y=given)
    bound = Regression(X=X, y=np.squeeze(given, axis=1))
    np.testing.assert_array_equal(bound._binding.data["y"], Y)


class Answers(Model):
    ability = param(Normal(0, 1))
    y = observed(BernoulliLogit(ability), dims="obs")


@pytest.mark.parametrize(
    ("model", "given", "advice"),
    [
        (Answers, {"y": [1, np.nan]}, "Drop the missing elements.*or sum them out"),
        (Answers, {"y": [1, np.inf]}, r"Remove what is infinite\.$"),
        (Regression, {"X": X[:2], "y": [1, np.nan]}, 'declare .*missing="impute".* to infer them'),
        (
            Regression,
            {"X": X[:2], "y": [1, np.inf]},
            "infinite; where a value is missing, give NaN and declare",
        ),
        (Regression, {"X": X[:2], "y": [np.nan, np.inf]}, "to infer them. Remove what is inf"),
        (Regression, {"X": X[:2] + np.inf, "y": [1, 2]}, "Where infinity is meant"),
    ],
)
def test_advice_on_values_that_are_not_finite(model, given, advice):
    with pytest.raises(DataError, match=advice) as caught:
        model(**given)
    assert ("impute" in str(caught.value)) == (model is Regression)


def test_stan_json_atoms(tmp_path):
    (tmp_path / "d.json").write_text('{"X": [["NaN", "Infinity", 1]], "y": [0]}')
    assert np.isnan(read_data(tmp_path / "d.json")["X"][0][0])
    with pytest.raises(DataError, match="NaN or infinite"):
        Regression(**read_data(tmp_path / "d.json"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.txt", "1", "must end in"),
        ("d.json", "{", "cannot be read as .json"),
        ("d.json", "[1]", "top level"),
        ("d.csv", "a,b\n1\n", "line 2 has 1 fields, the header 2"),
        ("d.csv", "a,b\n", "at least one row"),
        ("d.npz", "no archive", "cannot be read as .npz"),
    ],
)
def test_bad_files(tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message):
        read_data(tmp_path / name)


def test_missing_file(tmp_path):
    with pytest.raises(DataError, match="no data file"):
        read_data(tmp_path / "d.csv")


def test_text_column_is_refused_by_the_model(tmp_path):
    (tmp_path / "d.csv").write_text("X.a,y\nhigh,1\nlow,2\n")
    with pytest.raises(DataError, match="got text"):
        Regression(**read_data(tmp_path / "d.csv"))
