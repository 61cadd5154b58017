"""Rows are paired by position, so labels that come with data must agree."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from probmodel import DataError, Model, data, infer, observed, param, predict
from probmodel.distributions import Normal
from probmodel.results.reading import load
from probmodel.results.storage import keep


class Line(Model):
    x = data("obs")
    slope = param(Normal(0, 1))
    y = observed(Normal(slope * x, 1), dims="obs")


class Matrix(Model):
    X = data(("obs", "feature"))
    width = data("feature", lower=0)
    beta = param(Normal(0, width), dims="feature")
    y = observed(Normal(X @ beta, 1), dims="obs")


TABLE = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [0.1, 0.2, 0.3]})
X, Y = TABLE["x"], TABLE["y"]
ORDER = [2, 0, 1]


def labels(model, dim="obs"):
    return model._binding.dimensions.coords.get(dim)


def with_index(series, index):
    return series.set_axis(pd.Index(index))


@pytest.mark.parametrize(
    ("x", "y", "how"),
    [
        (X, Y.sort_values(ascending=False), "in another order"),
        (X.sample(frac=1, random_state=3), Y, "in another order"),
        (X, Y.iloc[ORDER], "in another order"),
        (with_index(X, list("abc")), with_index(Y, list("acb")), "in another order"),
        (with_index(X, list("aab")), with_index(Y, list("aba")), "in another order"),
        (with_index(X, list("aab")), with_index(Y, list("abb")), "differ"),
        (X.set_axis(pd.RangeIndex(5, 8)), Y, "differ"),
        (X.set_axis(pd.RangeIndex(2, -1, -1)), Y, "in another order"),
        (with_index(X, list("abc")), Y, "differ"),
        (X.set_axis(pd.date_range("2020-01-01", periods=3)), Y, "differ"),
        (with_index(X, [1, 2, 3]), with_index(Y, ["1", "2", "3"]), "differ"),
        (with_index(X, [0.0, np.nan, 1.0]), with_index(Y, [0.0, 1.0, np.nan]), "in another order"),
        (xr.DataArray(X.to_numpy()[ORDER], dims="obs", coords={"obs": ORDER}), Y, "another order"),
        (dict(zip("abc", X, strict=True)), dict(zip("acb", Y, strict=True)), "in another order"),
    ],
)
def test_rows_with_other_labels_are_not_paired(x, y, how):
    with pytest.raises(DataError, match=rf"'obs' in 'y' and in 'x'.*{how}.*to_numpy") as caught:
        Line(x=x, y=y)
    assert caught.value.location.file == __file__


@pytest.mark.parametrize(
    ("index", "named"),
    [
        (None, False),
        (ORDER, True),
        (list("abc"), True),
        (list("aab"), False),
        (pd.to_datetime(["2020-01-01", "2020-01-01", "2020-01-02"]), False),
        (pd.date_range("2020-01-01", periods=3), True),
        (pd.date_range("2020-01-01", periods=3, tz="UTC"), True),
        (pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]), True),
        ([0.5, np.nan, 1.5], False),
        (["a", None, "b"], False),
    ],
)
def test_rows_with_the_same_labels_are(index, named):
    x, y = (s if index is None else s.set_axis(index) for s in (X, Y))
    model = Line(x=x, y=y)
    np.testing.assert_array_equal(model._binding.data["x"], X)
    assert (labels(model) is not None) == named


def test_arrays_and_lists_are_paired_by_position():
    for y in (Y.to_numpy(), Y.tolist()):
        assert labels(Line(x=with_index(X, list("abc")), y=y)).tolist() == ["a", "b", "c"]


def test_coords_name_rows_that_are_counted_or_repeat():
    for index in (pd.RangeIndex(3), list("aab")):
        model = Line(x=X.set_axis(index), y=Y.set_axis(index), coords={"obs": list("uvw")})
        assert labels(model).tolist() == ["u", "v", "w"]
    with pytest.raises(DataError, match=r"in 'x' and in the coords are the same in another order"):
        Line(x=with_index(X, list("acb")), y=Y.to_numpy(), coords={"obs": list("abc")})


def test_rows_of_a_table_and_of_a_column():
    table = pd.DataFrame(np.eye(3), columns=list("abc"))
    width = pd.Series([1.0, 2.0, 3.0], index=list("abc"))
    Matrix(X=table, width=width, y=Y)
    with pytest.raises(DataError, match="'obs' in 'y' and in 'X'"):
        Matrix(X=table.iloc[ORDER], width=width, y=Y)
    with pytest.raises(DataError, match="'feature' in 'width' and in 'X'"):
        Matrix(X=table, width=width.iloc[ORDER], y=Y)


@pytest.mark.parametrize(
    "mean",
    [
        lambda x, code, X, b: b[0] * x,
        lambda x, code, X, b: np.exp(b[1] + b[0] * x),
        lambda x, code, X, b: b[code] + 1,
        lambda x, code, X, b: X @ b,
    ],
)
def test_data_without_dims_are_compared_with_what_they_are_paired_with(mean):
    class Bare(Model):
        x = data("obs")
        code = data("obs", dtype=int)
        X = data(("obs", "feature"))
        b = param(Normal(0, 1), shape=2)
        y = observed(Normal(mean(x, code, X, b), 1))

    known = {"x": X, "code": pd.Series([0, 1, 0]), "X": pd.DataFrame(np.ones((3, 2)))}
    for y in (Y, Y.tolist(), Y.to_numpy()):
        Bare(**known, y=y)
    with pytest.raises(DataError, match="'obs' in 'y' and in 'x' are the same in another order"):
        Bare(**known, y=Y.iloc[ORDER])


def test_new_data_are_compared_alike():
    class Pair(Model):
        x = data("obs")
        z = data("obs")
        slope = param(Normal(0, 1))
        y = observed(Normal(slope * x * z, 1), dims="obs")

    fit = infer(Pair(x=X, z=X, y=Y), draws=10, warmup=20, chains=1, seed=1, quiet=True)
    with pytest.raises(DataError, match="'obs' in 'z' and in 'x'"):
        predict(Pair(x=X, z=X.iloc[ORDER]), fit, seed=1)


def test_dates_label_a_result_that_is_saved(tmp_path):
    class Daily(Model):
        x = data("day")
        effect = param(Normal(0, 1), dims="day")
        y = observed(Normal(effect * x, 1), dims="day")

    days = pd.date_range("2020-01-01", periods=3)
    fit = infer(
        Daily(x=X.set_axis(days), y=Y.set_axis(days)),
        draws=10, warmup=20, chains=1, seed=1, quiet=True,
    )  # fmt: skip
    path = tmp_path / "fit.nc"
    assert keep(fit, path).problem == ""
    assert (load(path).posterior["day"].values == days.to_numpy()).all()


DAYS = pd.date_range("2020-01-01", periods=3)
SPANS = pd.to_timedelta([1, 2, 3], "D")


@pytest.mark.parametrize(
    ("index", "objects"),
    [
        (DAYS, list(DAYS)),
        (DAYS, [day.to_pydatetime() for day in DAYS]),
        (DAYS, [dt.date(2020, 1, day) for day in (1, 2, 3)]),
        (DAYS, list(DAYS.to_numpy())),
        (SPANS, list(SPANS)),
        (SPANS, [dt.timedelta(days) for days in (1, 2, 3)]),
    ],
    ids=["Timestamp", "datetime", "date", "datetime64", "Timedelta", "timedelta"],
)
def test_lists_of_dates_are_the_labels_of_an_index(index, objects):
    class Daily(Model):
        effect = param(Normal(0, 1), dims="day")
        y = observed(Normal(effect, 1), dims="day")

    y = Y.set_axis(index)
    fit = infer(
        Daily(y=y, coords={"day": objects}), draws=10, warmup=20, chains=1, seed=1, quiet=True
    )
    assert (fit["posterior"]["day"].values == index.to_numpy()).all()
    found = predict(Daily(coords={"day": objects[2:]}), fit, seed=1, var_names="effect")
    known = np.asarray(fit["posterior"]["effect"])[..., 2:]
    np.testing.assert_array_equal(np.asarray(found["predictions"]["effect"]), known)
    with pytest.raises(DataError, match="in another order"):
        Daily(y=y, coords={"day": objects[::-1]})


def test_dates_of_a_time_zone_stay_text():
    labels = list(DAYS.tz_localize("UTC"))
    model = Matrix(X=np.eye(3), width=np.ones(3), y=Y, coords={"feature": labels})
    assert list(model._binding.labels["feature"]) == labels
