"""Models bound to data frames as people have them."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_expit

from probmodel import Model, data, deterministic, infer, observed, param, potential
from probmodel.constraints import Ordered
from probmodel.distributions import Bernoulli, Beta, HalfNormal, Normal, OrderedLogistic
from probmodel.errors import DataError, ShapeError
from probmodel.functions import log_density, segment_logsumexp, segment_sum


class Houses(Model):
    """Levels of groups, explained by something of the group, and of the row."""

    soil = data(dims="county")
    home = data(dims="house", dtype=int)
    floor = data(dims="house")
    effect = param(Normal(0, 1), dims="county")
    beta = param(Normal(0, 1))
    s = param(HalfNormal(1))
    y = observed(Normal((effect + soil)[home] + beta * floor, s), dims="house")


class Regression(Model):
    X = data(dims=("obs", "feature"))
    beta = param(Normal(0, 1), dims="feature")
    y = observed(Normal(X @ beta, 1.0), dims="obs")


class Trend(Model):
    t = data(dims="day")
    slope = param(Normal(0, 1))
    y = observed(Normal(slope * t, 1.0), dims="day")


class Crossed(Model):
    """A matrix of effects with an index along each axis."""

    place = data(dims="obs", dtype=int)
    year = data(dims="obs", dtype=int)
    effect = param(Normal(0, 1), dims=("town", "season"))
    y = observed(Normal(effect[place, year], 1.0), dims="obs")


class Occupancy(Model):
    """Visits to ponds, whose outcomes are summed by pond."""

    n = data(dtype=int)
    area = data("site")
    pond = data("visit", dtype=int)
    y = data("visit", dtype=int)
    slope = param(Normal(0, 1))
    p = param(Beta(1, 1))
    log_there = log_expit(slope * area)
    outcomes = segment_sum(log_density(Bernoulli(p), y), pond, n)
    seen = segment_sum(y, pond, n)
    absent = np.logaddexp(log_there + outcomes, log_expit(-slope * area))
    score = potential(np.where(seen > 0, log_there + outcomes, absent))


class Totals(Model):
    n = data(dtype=int)
    share = data("part")
    whole = data("part", dtype=int)
    b = param(Normal(0, 1))
    y = observed(Normal(segment_sum(b * share, whole, n), 1), dims="total")


def houses(**changes):
    columns = {
        "county": ["Polk", "Dane", "Polk", "Adams"], "soil": [0.5, 0.1, 0.5, -1.0],
        "floor": [0, 1, 1, 0], "log_radon": [1.0, 0.2, 0.7, 0.1], "unused": ["a", "b", "c", "d"],
    }  # fmt: skip
    return pd.DataFrame({**columns, **changes})


def bound(frame, **changes):
    return Houses.from_frame(frame, **{"home": "county", "y": "log_radon", **changes})


def given(model):
    return model._binding.data, model._binding.labels


@pytest.mark.parametrize("dtype", [object, "category", "string"])
def test_categories_are_coded_and_label_what_they_count(dtype):
    frame = houses()
    frame["county"] = frame["county"].astype(dtype)
    data, labels = given(bound(frame))
    np.testing.assert_array_equal(data["home"], [2, 1, 2, 0])
    np.testing.assert_array_equal(data["soil"], [-1.0, 0.1, 0.5])
    np.testing.assert_array_equal(data["y"], frame["log_radon"])
    assert list(labels["county"]) == ["Adams", "Dane", "Polk"]
    fit = infer(bound(frame), draws=20, warmup=50, chains=2, seed=1, quiet=True)
    assert list(fit.posterior["county"].values) == ["Adams", "Dane", "Polk"]


def test_the_order_of_a_categorical_is_kept():
    order = pd.CategoricalDtype(["Polk", "Adams", "Dane"])
    data, labels = given(bound(houses(county=houses()["county"].astype(order))))
    np.testing.assert_array_equal(data["home"], [0, 2, 0, 1])
    assert list(labels["county"]) == ["Polk", "Adams", "Dane"]


def test_categories_are_looked_up_in_labels_that_are_given():
    soil, names = [1.0, 2.0, 3.0, 4.0], ["Clay", "Polk", "Dane", "Adams"]
    data, labels = given(bound(houses(), soil=np.array(soil), coords={"county": names}))
    np.testing.assert_array_equal(data["home"], [1, 2, 1, 3])
    assert list(labels["county"]) == names
    np.testing.assert_array_equal(data["soil"], soil)
    with pytest.raises(DataError, match=r"has 'Adams', which the labels of the dim 'county' lack"):
        bound(houses(), soil=np.array(soil), coords={"county": ["Polk", "Dane", "x", "y"]})


@pytest.mark.parametrize(
    ("codes", "expected", "labels"),
    [([1, 0, 1, 2], [1, 0, 1, 2], None), ([7, 3, 7, 9], [1, 0, 1, 2], [3, 7, 9]),
     ([2, 1, 2, 3], [1, 0, 1, 2], [1, 2, 3])],
)  # fmt: skip
def test_whole_numbers_that_do_not_count_from_zero_are_categories(codes, expected, labels):
    data, known = given(bound(houses(county=codes)))
    np.testing.assert_array_equal(data["home"], expected)
    if labels is not None:
        assert list(known["county"]) == labels
    with pytest.raises(DataError, match="which the labels of the dim 'county' lack"):
        bound(houses(county=expected), coords={"county": ["a", "b", "c"]})


def test_an_index_along_each_axis():
    frame = pd.DataFrame(
        {"place": ["b", "a", "b"], "year": [2001, 2003, 2001], "y": [0.0, 1.0, 2.0]}
    )
    data, labels = given(Crossed.from_frame(frame))
    np.testing.assert_array_equal(data["place"], [1, 0, 1])
    np.testing.assert_array_equal(data["year"], [0, 1, 0])
    assert list(labels["town"]) == ["a", "b"]
    assert list(labels["season"]) == [2001, 2003]


def test_columns_of_a_matrix():
    frame = pd.DataFrame({"X.age": [1.0, 2.0], "X.dose": [0.0, 1.0], "y": [1.0, 2.0]})
    for model in (
        Regression.from_frame(frame),
        Regression.from_frame(frame.rename(columns=lambda c: c[2:] if "." in c else c),
                              X=["age", "dose"]),
    ):  # fmt: skip
        data, labels = given(model)
        np.testing.assert_array_equal(data["X"], [[1.0, 0.0], [2.0, 1.0]])
        assert list(labels["feature"]) == ["age", "dose"]


def test_rows_that_have_labels():
    frame = pd.DataFrame({"X.age": [1.0, 2.0], "y": [1.0, 2.0]}, index=["ann", "bob"])
    assert list(given(Regression.from_frame(frame))[1]["obs"]) == ["ann", "bob"]


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_dates_are_days_since_an_origin(zone):
    dates = pd.to_datetime(["2024-01-03", "2024-01-01", "2024-02-01"]).tz_localize(zone)
    frame = pd.DataFrame({"t": dates, "y": [1.0, 2.0, 3.0]})
    data, _ = given(Trend.from_frame(frame, origin="2024-01-01"))
    shift = 1.0 / 24.0 if zone == "Europe/Berlin" else 0.0
    np.testing.assert_allclose(data["t"], np.array([2.0, 0.0, 31.0]) - shift)
    with pytest.raises(
        DataError, match=r"same for every frame.*any date such as '2024-01-01'; .* that of the fit"
    ):
        Trend.from_frame(frame)


def test_dates_as_an_index_are_labels():
    dates = pd.to_datetime(["2024-01-03", "2024-01-01", "2024-02-01"])
    dated = pd.DataFrame({"t": [0.0, 1.0, 2.0], "y": [1.0, 2.0, 3.0]}, index=dates)
    np.testing.assert_array_equal(given(Trend.from_frame(dated))[1]["day"], dates.to_numpy())


def test_levels_of_the_index_are_columns():
    frame = houses().assign(visit=[1, 1, 2, 1])
    panel = frame.set_index(["county", "visit"])
    data, labels = given(bound(panel))
    expected, names = given(bound(frame))
    for name in ("home", "soil", "floor", "y"):
        np.testing.assert_array_equal(data[name], expected[name])
    assert list(labels["county"]) == list(names["county"])
    dated = pd.DataFrame(
        {"y": [1.0, 2.0]}, pd.DatetimeIndex(["2024-01-03", "2024-02-01"], name="t")
    )
    np.testing.assert_array_equal(
        given(Trend.from_frame(dated, origin="2024-01-01"))[0]["t"], [2.0, 31.0]
    )
    shadowed = pd.DataFrame({"t": [5.0, 6.0], "y": [1.0, 2.0]}, pd.Index([1, 2], name="t"))
    np.testing.assert_array_equal(given(Trend.from_frame(shadowed))[0]["t"], [5.0, 6.0])


class Games(Model):
    """Two columns that count one dim."""

    home = data(dims="game", dtype=int)
    away = data(dims="game", dtype=int)
    skill = param(Normal(0, 1), dims="team")
    y = observed(Normal(skill[home] - skill[away], 1.0), dims="game")


@pytest.mark.parametrize("names", [["a", "b", "c", "d"], [0, 1, 2, 3], [1, 2, 5, 9]])
def test_columns_that_count_one_dim_are_coded_together(names):
    home, away = [0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3]
    frame = pd.DataFrame({
        "home": [names[i] for i in home], "away": [names[i] for i in away], "y": np.ones(6),
    })  # fmt: skip
    found, labels = given(Games.from_frame(frame))
    np.testing.assert_array_equal(found["home"], home)
    np.testing.assert_array_equal(found["away"], away)
    assert names == [0, 1, 2, 3] or list(labels["team"]) == names


class Neighbours(Model):
    """Rows that name other rows."""

    next = data(dims="area", dtype=int)
    phi = param(Normal(0, 1), dims="area")
    y = observed(Normal(phi + 0.5 * phi[next], 1.0), dims="area")


def test_rows_that_name_other_rows():
    frame = pd.DataFrame({"next": [1, 2, 0], "y": [10.0, 20.0, 30.0]})
    found, _ = given(Neighbours.from_frame(frame))
    np.testing.assert_array_equal(found["next"], [1, 2, 0])
    np.testing.assert_array_equal(found["y"], [10.0, 20.0, 30.0])
    named = pd.DataFrame({"next": ["b", "c", "a"], "y": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
    np.testing.assert_array_equal(given(Neighbours.from_frame(named))[0]["next"], [1, 2, 0])
    with pytest.raises(DataError, match="the rows have no labels"):
        Neighbours.from_frame(named.reset_index(drop=True))


class Nested(Model):
    """Groups of groups, whichever is declared first."""

    state = data(dims="county", dtype=int)
    home = data(dims="house", dtype=int)
    a = param(Normal(0, 1), dims="land")
    b = param(Normal(a[state], 1), dims="county")
    y = observed(Normal(b[home], 1.0), dims="house")


def test_groups_of_groups():
    frame = pd.DataFrame({
        "home": ["q", "p", "q", "r"], "state": ["X", "W", "X", "W"], "y": np.arange(4.0),
    })  # fmt: skip
    found, labels = given(Nested.from_frame(frame))
    np.testing.assert_array_equal(found["home"], [1, 0, 1, 2])
    np.testing.assert_array_equal(found["state"], [0, 1, 0])
    assert list(labels["land"]) == ["W", "X"]


class Explained(Model):
    """Groups of groups, each explained by something of its own."""

    wealth = data(dims="land")
    state = data(dims="county", dtype=int)
    soil = data(dims="county")
    home = data(dims="house", dtype=int)
    a = param(Normal(wealth, 1), dims="land")
    b = param(Normal(a[state] + soil, 1), dims="county")
    y = observed(Normal(b[home], 1.0), dims="house")


@pytest.mark.parametrize("rows", [["q", "p", "q", "s", "r"], ["r", "s", "p", "q"]])
def test_groups_of_groups_have_data_of_their_own(rows):
    """Also where there are as many rows as groups, in another order."""
    frame = pd.DataFrame({"home": rows})
    frame["state"] = frame["home"].map({"p": "W", "q": "W", "r": "X", "s": "X"})
    frame["wealth"] = frame["state"].map({"W": 7.0, "X": 8.0})
    frame["soil"] = frame["home"].map({"p": 1.0, "q": 2.0, "r": 3.0, "s": 4.0})
    found, _ = given(Explained.from_frame(frame.assign(y=0.0)))
    np.testing.assert_array_equal(found["state"], [0, 0, 1, 1])
    np.testing.assert_array_equal(found["soil"], [1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(found["wealth"], [7.0, 8.0])


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_dates_are_groups_in_any_unit(unit):
    days = pd.DatetimeIndex(["2024-03-01", "2024-01-01", "2024-03-01"])
    frame = pd.DataFrame(
        {"home": days.as_unit(unit), "soil": [1.0, 2.0, 1.0], "y": 0.0, "floor": 0}
    )
    for known in ("s", "us", "ns"):
        coords = {"county": pd.DatetimeIndex(["2024-01-01", "2024-03-01"]).as_unit(known)}
        found, _ = given(Houses.from_frame(frame, coords=coords))
        np.testing.assert_array_equal(found["home"], [1, 0, 1])
    with pytest.raises(DataError, match=r"has '2024-03-01', which .* These are '2024-01-01'\."):
        Houses.from_frame(frame, coords={"county": days[1:2].as_unit("ns")})


@pytest.mark.parametrize("kind", [int, float])
def test_numbers_as_objects_are_numbers(kind):
    homes = pd.Series([kind(30), kind(4), kind(30)], dtype=object)
    found, labels = given(
        Houses.from_frame(
            pd.DataFrame({"home": homes, "soil": [1.0, 2.0, 1.0], "y": 0.0, "floor": 0})
        )
    )
    np.testing.assert_array_equal(found["home"], [1, 0, 1])
    np.testing.assert_array_equal(labels["county"], [4, 30])
    assert labels["county"].dtype.kind in "if"


def test_what_is_no_index_is_never_coded():
    """Another frame would be coded otherwise."""
    for column in (
        ["a", "b"],
        pd.Categorical(["f", "m"]),
        pd.to_timedelta(["1h", "2h"]),
        ["1", "2"],
    ):
        with pytest.raises(DataError, match="takes numbers, and the column 't' holds"):
            Trend.from_frame(pd.DataFrame({"t": column, "y": [1.0, 2.0]}))
    numbers = pd.DataFrame({"t": np.array([1.5, 100.0, -3.0], dtype=object), "y": np.ones(3)})
    np.testing.assert_array_equal(given(Trend.from_frame(numbers))[0]["t"], [1.5, 100.0, -3.0])


def test_an_index_of_what_cannot_be_told_is_left_alone():
    class Product(Model):
        home = data(dims="house", dtype=int)
        x = data(dims="feature")
        U = param(Normal(0, 1), dims=("feature", "county"))
        y = observed(Normal((x @ U)[home], 1.0), dims="house")

    frame = pd.DataFrame({"home": ["a", "b"], "y": [1.0, 2.0]})
    with pytest.raises(DataError, match="takes numbers, and the column 'home' holds text"):
        Product.from_frame(frame, x=np.ones(2))


def test_names_of_columns_as_an_index_or_an_array():
    frame = pd.DataFrame({"age": [31.0, 44.0], "dose": [0.0, 1.0], "y": [1.2, 3.1]})
    for names in (frame.columns[:2], frame.columns[:2].to_numpy()):
        values, labels = given(Regression.from_frame(frame, X=names))
        assert values["X"].tolist() == [[31.0, 0.0], [44.0, 1.0]]
        assert labels["feature"].tolist() == ["age", "dose"]


def test_frames_without_rows():
    frame = pd.DataFrame({"county": ["a", "b"], "soil": [1.0, 2.0], "log_radon": [0.1, 0.2]})
    with pytest.raises(DataError, match=r"the frame has no rows: its filter"):
        Houses.from_frame(frame[frame.county == "A"], home="county", y="log_radon")


def test_other_frames_and_values():
    class Other:
        def to_pandas(self):
            return houses()

    np.testing.assert_array_equal(given(bound(Other()))[0]["home"], [2, 1, 2, 0])
    ones = given(bound(houses(), floor=np.ones(4)))[0]
    np.testing.assert_array_equal(ones["floor"], np.ones(4))


def test_missing_observations_that_are_imputed():
    class Days(Model):
        mu = param(Normal(0, 1))
        y = observed(Normal(mu, 1.0), dims="day", missing="impute")

    for column in ([1.0, np.nan, 2.0], np.array([1.0, None, 2.0], dtype=object)):
        model = Days.from_frame(pd.DataFrame({"y": column}))
        (variable,) = [v for v in model._binding.variables if v.name == "y_missing"]
        assert variable.shape == (1,)
        np.testing.assert_array_equal(model._binding.data["y"][[0, 2]], [1.0, 2.0])


# -- what may be wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize("column", ["county", "soil", "floor", "log_radon"])
def test_a_missing_value_says_which_row(column):
    frame = houses()
    frame.index = ["r1", "r2", "r3", "r4"]
    frame[column] = frame[column].astype(object)
    frame.loc[["r2", "r4"], column] = None
    with pytest.raises(DataError, match=f"column '{column}' has no value in rows 'r2', 'r4'"):
        bound(frame)


def test_many_missing_values():
    frame = pd.DataFrame({"t": np.where(np.arange(20) % 2, np.nan, 1.0), "y": np.ones(20)})
    with pytest.raises(DataError, match="rows 1, 3, 5, 7, 9 and 5 more"):
        Trend.from_frame(frame)
    numbered = pd.DataFrame({"t": [1.0, np.nan], "y": [1.0, 2.0]}, index=[5, 9])
    with pytest.raises(DataError, match=r"data 't' .* no value in row 9\. Leave") as error:
        Trend.from_frame(numbered)
    assert error.value.location == Trend.t.location
    assert "To predict" not in str(error.value)
    ahead = pd.DataFrame({"t": [1.0, 2.0], "y": [1.0, np.nan]})
    with pytest.raises(DataError, match=r"row 1\. .* predict it, .*frame\.drop\(columns='y'\)\."):
        Trend.from_frame(ahead)
    assert "y" not in given(Trend.from_frame(ahead.drop(columns="y")))[0]


def test_values_that_differ_within_a_group():
    frame = houses(soil=[0.5, 0.1, 0.6, -1.0])
    with pytest.raises(DataError, match=r"one value for each county, .* has several for 'Polk'"):
        bound(frame)


def test_a_group_without_rows():
    with pytest.raises(DataError, match="no row of county 'Clay'"):
        bound(houses(), coords={"county": ["Clay", "Polk", "Dane", "Adams"]})


def test_columns_of_one_name():
    frame = pd.DataFrame([[1.0, 2.0, 3.0, 4.0]], columns=["y", "y", "t", "t"])
    with pytest.raises(DataError, match="several columns 'y', 't'"):
        Trend.from_frame(frame)


def test_columns_of_a_matrix_that_have_one_label():
    frame = pd.DataFrame([[1.0, 2.0, 3.0]], columns=["X.age", "age", "y"])
    for columns in (["X.age", "age"], ["age", "age"]):
        with pytest.raises(DataError, match="'X' has the labels 'age' more than once along its"):
            Regression.from_frame(frame, X=columns)


def test_columns_that_are_not_there():
    with pytest.raises(DataError, match="no column 'yy'"):
        Trend.from_frame(pd.DataFrame({0: [1.0], "y": [1.0]}), t="yy")
    with pytest.raises(DataError, match=r"no column 'log_radn'\. Did you mean 'log_radon'"):
        bound(houses(), y="log_radn")
    with pytest.raises(DataError, match="'floor'"):
        bound(houses().drop(columns="floor"))


@pytest.mark.parametrize("column", ["T", "t "])
def test_a_missing_column_names_one_that_is_alike(column):
    frame = pd.DataFrame({column: [0.0, 1.0], "y": [1.0, 2.0]})
    with pytest.raises(DataError) as error:
        Trend.from_frame(frame)
    assert error.value.message == (
        f"data 't' needs values, and the frame has no column 't'. Did you mean {column!r}? The "
        f"frame has {column!r}, 'y'. Say what to read, Trend.from_frame(frame, t={column!r}), or "
        "give a value."
    )
    assert error.value.location == Trend.t.location
    np.testing.assert_array_equal(given(Trend.from_frame(frame, t=column))[0]["t"], [0.0, 1.0])


def test_a_missing_column_is_none_that_another_datum_has():
    frame = pd.DataFrame(np.ones((2, 8)), columns=["y", *"abcdefg"])
    with pytest.raises(DataError, match="has 'y', 'a', 'b', 'c', 'd' and 3 more") as error:
        Trend.from_frame(frame, y="g")
    assert "mean" not in error.value.message
    assert 'Trend.from_frame(frame, t="...")' in error.value.message
    with pytest.raises(DataError, match=r'nor any X\.….*from_frame\(frame, X=\["..."\]\)'):
        Regression.from_frame(frame)


def test_names_of_columns_that_are_numbers():
    frame = pd.DataFrame({0: [1.0, 2.0], 1: [3.0, 5.0], 2: [0.5, 0.25]})
    model = Regression.from_frame(frame, X=[0, 1], y=2)
    np.testing.assert_array_equal(given(model)[0]["X"], frame[[0, 1]])
    np.testing.assert_array_equal(given(model)[0]["y"], frame[2])
    np.testing.assert_array_equal(given(Trend.from_frame(frame, t=0, y=[1, 2]))[0]["y"], [1, 2])
    with pytest.raises(ShapeError, match="so 2 axes were expected"):
        Regression.from_frame(frame, X=[0, 7], y=2)


@pytest.mark.parametrize("dtype", [object, "category", "string"])
def test_numbers_that_are_written_as_text(dtype):
    frame = pd.DataFrame({"t": ["1.5", "2", "-1e3"], "y": [1.0, 2.0, 3.0]})
    written = r"Write frame\['t'\] = pd.to_numeric\(frame\['t'\], errors=\"coerce\"\)\."
    with pytest.raises(DataError, match=f"numbers that are written as text. {written}$"):
        Trend.from_frame(frame.astype({"t": dtype}))
    for odd in ("n/a", "abc"):
        more = pd.DataFrame({"t": ["1.5", odd, "2", None], "y": np.ones(4)}).dropna()
        with pytest.raises(DataError, match=f"holds numbers and the text '{odd}'. {written} What"):
            Trend.from_frame(more.astype({"t": dtype}))


class Answers(Model):
    cut = param(constraint=Ordered(), shape=2)
    y = observed(OrderedLogistic(0.0, cut), dims="person")


def test_ordered_categories_of_an_outcome():
    levels = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"y": ["mid", "low", "high"]})
    with pytest.raises(DataError, match=r"astype\(pd.CategoricalDtype\(\[...\]\)\).cat.codes"):
        Answers.from_frame(frame)
    frame["y"] = frame["y"].astype(levels)
    with pytest.raises(
        DataError, match=r"\['y'\].cat.codes, which counts 'low', 'mid', 'high' from 0"
    ):
        Answers.from_frame(frame)
    frame["y"] = frame["y"].cat.codes
    np.testing.assert_array_equal(given(Answers.from_frame(frame))[0]["y"], [1, 0, 2])


@pytest.mark.parametrize("frame", [None, 3, {"y": [1.0]}, [1.0]])
def test_what_is_no_frame(frame):
    with pytest.raises(DataError, match="takes a data frame first"):
        Trend.from_frame(frame)


class Lazy:
    def collect_schema(self):
        return {}


class Unfinished:
    """A frame that needs another package, or has too many axes, to become one of pandas."""

    def __init__(self, error):
        self.error = error

    def to_pandas(self):
        raise self.error


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (Lazy(), r"got Lazy. Collect it first: frame.collect\(\)"),
        (
            Unfinished(ImportError("No module named 'pyarrow'")),
            "'pyarrow'. Install what is missing",
        ),
        (Unfinished(ValueError("two axes")), r"Unfinished cannot .*: two axes. Give its columns"),
    ],
)
def test_frames_that_do_not_become_one_of_pandas(frame, text):
    with pytest.raises(DataError, match=text):
        Trend.from_frame(frame)


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (pd.period_range("2020-01", periods=2, freq="M"), r"holds periods.*dt.to_timestamp\(\)"),
        (["2020-01-01", "2020-02-01 10:00"], r"dates that are written as text.*pd.to_datetime"),
        (pd.interval_range(0, 2), r"holds intervals.*pd.IntervalIndex\(frame\['y'\]\).mid"),
    ],
)
def test_columns_that_hold_times_in_other_forms_say_what_to_write(column, text):
    with pytest.raises(DataError, match=text):
        Trend.from_frame(pd.DataFrame({"y": column}), t="y")


def test_what_the_model_checks_anyway():
    with pytest.raises(DataError, match="nothing"):
        Trend.from_frame(pd.DataFrame({"t": [1.0], "y": [2.0]}), nothing=3)
    with pytest.raises((DataError, ShapeError)):
        Trend.from_frame(pd.DataFrame({"t": ["a"], "y": [2.0]}), t=np.ones(2))


@pytest.mark.parametrize("coded", [False, True])
def test_groups_of_sums_are_coded(coded):
    rng = np.random.default_rng(1)
    where, y = rng.permutation(np.repeat(np.arange(8), 3)), rng.integers(0, 2, 24)
    area = rng.normal(size=8)
    names = np.array([f"pond {i}" for i in range(8)])[where]
    frame = pd.DataFrame({"pond": where if coded else names, "area": area[where], "y": y})
    found = Occupancy.from_frame(frame, n=8)
    data, labels = given(found)
    np.testing.assert_array_equal(data["pond"], where)
    np.testing.assert_array_equal(data["area"], area)
    assert list(labels.get("site", range(8))) == (
        list(range(8)) if coded else [f"pond {i}" for i in range(8)]
    )


def test_groups_of_sums_that_an_outcome_follows_are_coded():
    frame = pd.DataFrame({"share": [1.0, 2.0, 3.0], "whole": ["u", "v", "u"], "y": [4.0, 5.0, 4.0]})
    data, labels = given(Totals.from_frame(frame, n=2))
    np.testing.assert_array_equal(data["whole"], [0, 1, 0])
    np.testing.assert_array_equal(data["y"], [4.0, 5.0])
    assert list(labels["total"]) == ["u", "v"]


class Trips(Model):
    """Choices among what each trip offers; sums over trips meet nothing that has a dim."""

    n = data(dtype=int)
    trip = data("offer", dtype=int)
    price = data("offer")
    taken = data("offer", dtype=bool)
    b = param(Normal(0, 1))
    chosen = segment_sum(b * price * taken, trip, n)
    choice = potential(chosen - segment_logsumexp(b * price, trip, n))


def test_groups_of_sums_without_labels_say_how_to_number_them():
    frame = pd.DataFrame({"trip": list("qpqp"), "price": [1.0, 2, 3, 4], "taken": [1, 0, 0, 1]})
    with pytest.raises(DataError, match=r"frame\['trip'\] = pd\.factorize\(frame\['trip'\]\)\[0\]"):
        Trips.from_frame(frame, n=2)
    found, _ = given(Trips.from_frame(frame.assign(trip=pd.factorize(frame["trip"])[0]), n=2))
    np.testing.assert_array_equal(found["trip"], [0, 1, 0, 1])
    with pytest.raises(DataError) as raised:
        Trips.from_frame(frame.assign(trip=[0, 1, 0, 1], price=list("abab")), n=2)
    assert "factorize" not in str(raised.value)


class Pupils(Model):
    """Effects of regions, which an effect of schools has, and pupils by way of their school."""

    school = data("pupil", dtype=int)
    region = data("place", dtype=int)
    x = data("pupil")
    mean = param(Normal(0, 1), dims="area")
    deviation = param(Normal(0, 1), dims="place")
    slope = param(Normal(0, 1), dims="area")
    level = (mean[region] + deviation)[school]
    y = observed(Normal(level + slope[region[school]] * x, 1.0), dims="pupil")


class Slopes(Model):
    """An index of an index, and no other."""

    school = data("pupil", dtype=int)
    region = data("place", dtype=int)
    size = data("place")
    level = param(Normal(0, 1), dims="area")
    rest = param(Normal(0, 1), dims="place")
    y = observed(Normal(level[region[school]] + (rest + size)[school], 1.0), dims="pupil")


PUPILS = {
    "school": ["b", "c", "a", "b"],
    "region": ["S", "N", "S", "S"],
    "x": [1.0, 2.0, 3.0, 4.0],
    "size": [5.0, 6.0, 7.0, 5.0],
    "y": [0.1, 0.2, 0.3, 0.4],
}


def test_the_index_of_an_index_is_coded():
    values, labels = given(Slopes.from_frame(pd.DataFrame(PUPILS)))
    assert values["school"].tolist() == [1, 2, 0, 1]
    assert values["region"].tolist() == [1, 1, 0]
    assert values["size"].tolist() == [7.0, 5.0, 6.0]
    assert labels["area"].tolist() == ["N", "S"]


def test_an_index_into_what_was_indexed_is_coded():
    values, labels = given(Pupils.from_frame(pd.DataFrame(PUPILS)))
    assert values["school"].tolist() == [1, 2, 0, 1]
    assert labels["place"].tolist() == ["a", "b", "c"]


def test_an_index_of_what_has_no_dim_says_to_give_it_one():
    class Unnamed(Model):
        arm = data("unit", dtype=int)
        rest = param(Normal(0, 1), shape=2)
        y = observed(Normal(np.concatenate([[0.0], rest])[arm], 1.0), dims="unit")

    class Named(Model):
        arm = data("unit", dtype=int)
        rest = param(Normal(0, 1), shape=2)
        effects = deterministic(np.concatenate([[0.0], rest]), dims="group")
        y = observed(Normal(effects[arm], 1.0), dims="unit")

    frame = pd.DataFrame({"arm": ["u", "c", "t"], "y": [0.1, 0.2, 0.3]})
    with pytest.raises(DataError, match=r"a name and a dim, .* and write effects\[arm\]"):
        Unnamed.from_frame(frame)
    values, labels = given(Named.from_frame(frame))
    assert values["arm"].tolist() == [2, 0, 1]
    assert labels["group"].tolist() == ["c", "t", "u"]
