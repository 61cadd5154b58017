"""What data may come in, what counts as missing in it, and what is refused with advice."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy import sparse

from probmodel import DataError, Model, data, observed, param
from probmodel.distributions import Normal
from probmodel.model.containers import unpack


class Line(Model):
    x = data("obs")
    slope = param(Normal(0, 1))
    y = observed(Normal(slope * x, 1), dims="obs", missing="impute")


class Group(Model):
    code = data("obs", dtype=int)
    on = data("obs", dtype=bool)
    slope = param(Normal(0, 1))


HIDDEN = [
    np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]),
    np.ma.array([1, 2, 3], mask=[False, True, False]),
    [1.0, np.ma.masked, 3.0],
    [1.0, None, 3.0],
    pd.Series([1, None, 3], dtype="Int64"),
    pd.Series([1, None, 3], dtype="Float64"),
    pd.Series([1, None, 3], dtype=object),
    pd.array([1, None, 3], dtype="UInt8"),
    xr.DataArray([1.0, np.nan, 3.0], dims="obs"),
]


@pytest.mark.parametrize("given", HIDDEN, ids=range(len(HIDDEN)))
def test_missing_values_are_refused_or_imputed(given):
    with pytest.raises(DataError, match=r"data 'x' has 1 values that are NaN.* at \[1\]"):
        Line(x=given, y=[1.0, 2.0, 3.0])
    model = Line(x=[1.0, 2.0, 3.0], y=given)
    np.testing.assert_array_equal(model._binding.imputed["y"].missing, [False, True, False])
    np.testing.assert_array_equal(model._binding.data["y"], [1.0, np.nan, 3.0])


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("code", np.ma.array([1, 2, 3], mask=[True, False, False])),
        ("code", pd.Series([None, 2, 3], dtype="Int8")),
        ("on", pd.Series([None, True, False], dtype="boolean")),
    ],
)
def test_missing_integers_and_truth_values_are_refused(name, given):
    known = {"code": [0, 1, 2], "on": [True, False, True]}
    with pytest.raises(DataError, match=rf"'{name}' has 1 values that are NaN.* at \[0\]"):
        Group(**{**known, name: given})


def test_missing_values_of_a_matrix():
    class Table(Model):
        X = data(("obs", "feature"))
        slope = param(Normal(0, 1), dims="feature")

    frame = pd.DataFrame({"a": pd.Series([1, None], dtype="Int64"), "b": [0.5, 1.5]})
    rows = [np.ma.array([1.0, 0.5]), np.ma.array([9.0, 1.5], mask=[True, False])]
    for given in (frame, rows):
        with pytest.raises(DataError, match=r"1 values.* at \[1, 0\] \(None and what is masked"):
            Table(X=given)
    whole = Table(X=frame.fillna(2))
    np.testing.assert_array_equal(whole._binding.data["X"], [[1.0, 0.5], [2.0, 1.5]])


@pytest.mark.parametrize(
    "given",
    [
        np.ma.array([1, 0, 1]),
        pd.Series([1, 0, 1], dtype="Int64"),
        pd.Series([True, False, True], dtype="boolean"),
        pd.Index([1, 0, 1]),
        pd.array([1, 0, 1]),
    ],
)
def test_containers_without_missing_values(given):
    model = Group(code=given, on=given)
    np.testing.assert_array_equal(model._binding.data["code"], [1, 0, 1])
    assert model._binding.data["code"].dtype == np.int64
    assert model._binding.data["on"].dtype == np.bool_


DAY = datetime.date(2020, 1, 1)


@pytest.mark.parametrize(
    ("given", "found", "advice"),
    [
        (None, "None", "Give its value"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "dates", "days since the first"),
        (pd.date_range("2020-01-01", periods=3), "dates", "days since the first"),
        (pd.Series(pd.date_range("2020-01-01", periods=3)), "dates", "days since the first"),
        ([DAY, DAY], "dates", "days since the first"),
        (pd.Timestamp("2020-01-01"), "dates", "days since the first"),
        (pd.to_timedelta([1, 2], unit="D"), "durations", "Divide them by a unit"),
        ([datetime.timedelta(1)], "durations", "Divide them by a unit"),
        ([1j, 2.0], "complex numbers", r"z\.real"),
        ({1.0, 2.0}, "a set, whose elements have no order", "a list or an array"),
        ((i for i in range(3)), "a generator", r"list\(\.\.\.\)"),
        (map(float, "12"), "a map", r"list\(\.\.\.\)"),
        ({"a": 1}.values(), "a dict_values", r"list\(\.\.\.\)"),
        (["a", "b"], "text", "Code categories"),
        (pd.Series(["a", None]), "text", "Code categories"),
        (pd.Series(pd.Categorical(["a", "b"])), "text", "Code categories"),
        (pd.Series(["10", "9"]), "numbers that are written as text", r"pd\.to_numeric\(x\)"),
        (["10", None, "-1e3"], "numbers that are written as text", r"astype\(float\)"),
        (np.array(["1.5", "2"]), "numbers that are written as text", r"astype\(float\)"),
        (np.array([b"1.5"]), "numbers that are written as text", r"astype\(float\)"),
        (["10", "b"], "text", "Code categories"),
        (["10", "NA"], "numbers and the text 'NA'", "cell of a CSV file empty"),
        ([10, "NA"], "numbers and the text 'NA'", "missing='impute'"),
        (["10", "9", "b", "c", "1"], "numbers and the text 'b'", r'x, errors="coerce"\)'),
        (["a", "NA"], "text", "Code categories"),
        (["2020-01-31", "2020-02-29"], "dates that are written as text", "datetime64"),
        (np.array([1, 2], dtype=object), "dtype object", "dtype=float"),
        (np.array([1, 2.5], dtype=object), "dtype object", "dtype=float"),
        (np.array([1, 2**70], dtype=object), "integers beyond 64 bits", "floating-point"),
        ([1, 2**70], "integers beyond 64 bits", "floating-point"),
        ([decimal.Decimal(1)], "dtype object", "dtype=float"),
        (np.zeros(2, dtype=[("a", float)]), "records", r"x\['field'\]"),
        (xr.Dataset({"a": ("obs", [1.0])}), "a Dataset", "an array or a list"),
        (param(Normal(0, 1)), "a symbol of a model", "when the model is bound"),
        (len, "a builtin_function", "an array or a list"),
        (sparse.csr_array(np.eye(2)), "a sparse matrix", "or its entries with their rows"),
    ],
)
def test_what_is_no_number(given, found, advice):
    with pytest.raises(DataError, match=rf"data 'x' must be numeric; got {found}.*{advice}") as err:
        Line(x=given, y=[0.0, 0.0])
    assert err.value.location.file == __file__


@pytest.mark.parametrize(
    "given", [2.0**70, np.uint64(2**64 - 1), np.float64(-(2.0**64)), np.longdouble(2.0) ** 64]
)
def test_integers_beyond_64_bits_are_refused(given):
    with pytest.raises(DataError, match=r"'code' must hold whole numbers below 2\*\*63.* at \[1\]"):
        Group(code=np.array([1, given]), on=[True, True])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f8", "g"])
def test_every_width_of_numbers(dtype):
    given = np.array([1, 0, 100], dtype=dtype)
    bound = Group(code=given, on=given > 0)._binding.data["code"]
    assert bound.dtype == np.int64
    assert bound.tolist() == [1, 0, 100]
    assert Line(x=given, y=[1.0, 2.0, 3.0])._binding.data["x"].dtype == np.float64


def test_a_float_that_is_too_large_is_not_silently_infinite():
    if np.finfo(np.longdouble).max > np.finfo(float).max:
        with pytest.raises(DataError, match=r"infinite, the first at \[0\]"):
            Line(x=np.array([np.longdouble(10) ** 400]), y=[1.0])


def test_labels_that_are_tuples_are_text_as_those_of_levels():
    by_key = unpack({("a", 1): 1.0, ("b", 2): 2.0}, None).labels[0].values
    levels = pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])
    assert by_key.tolist() == unpack(pd.Series([1.0, 2.0], levels), None).labels[0].values.tolist()
    assert by_key.shape == (2,)
