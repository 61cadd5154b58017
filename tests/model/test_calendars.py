"""Times that labels are, and the calendars in which they follow one another."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from probmodel.model.calendars import calendars, read_times


def units(labels):
    return [calendar.unit for calendar in calendars(read_times(np.asarray(labels)))]


def gaps(labels):
    """Places of gaps in each calendar that the labels follow."""
    found = calendars(read_times(np.asarray(labels)))
    return {calendar.unit: np.flatnonzero(calendar.gaps).tolist() for calendar in found}


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b"],
        ["1", "2"],
        ["9999", "2015"],
        ["2015-13", "2015-14"],
        ["2015-02-30", "2015-03-01"],
        ["2015-01-01", "soon"],
        ["2015-01", "2015-01-02"],
        [True, False],
        [1.0, np.nan],
        np.array(["2015-01-01", "NaT"], "datetime64[D]"),
        [],
    ],
)
def test_names_are_no_times(labels):
    times = read_times(np.asarray(labels))
    assert times is None or not times.instants.size


@pytest.mark.parametrize("kind", ["D", "M", "Q", "Y", "W", "h"])
def test_text_of_periods_is_their_time(kind):
    periods = pd.period_range("2015-01-01", periods=9, freq=kind)
    times = read_times(np.array([str(period) for period in periods]))
    np.testing.assert_array_equal(times.dates, periods.start_time.to_numpy())


def test_dates_with_a_time_zone_are_instants_and_days_of_the_place():
    index = pd.date_range("2015-03-27", periods=5, freq="D", tz="Europe/London")
    times = read_times(index)
    np.testing.assert_array_equal(
        times.instants,
        index.tz_convert("UTC").tz_localize(None).to_numpy().astype("M8[us]").astype(int),
    )
    np.testing.assert_array_equal(times.dates, index.tz_localize(None).to_numpy())
    assert len(set(np.diff(times.instants))) == 2  # the clocks go forward
    assert "days" in units(index)
    west = read_times(np.array(["2015-01-01 00:00:00-05:00", "2015-01-01T05:00Z"]))
    assert west.instants[0] == west.instants[1]


@pytest.mark.parametrize(
    ("labels", "unit"),
    [
        (pd.date_range("2015-01-01", periods=40, freq="h"), "instants"),
        (pd.date_range("2015-01-01", periods=40, freq="D"), "days"),
        (pd.date_range("2015-01-01", periods=40, freq="B"), "business days"),
        (pd.date_range("2015-01-31", periods=40, freq="ME"), "months"),
        (pd.date_range("2015-01-31", periods=40, freq="BME"), "months"),
        (pd.date_range("2015-01-31", periods=40, freq="QE"), "months"),
        (pd.date_range("1895-01-01", periods=40, freq="YS"), "months"),  # 1900 is no leap year
        (np.arange("1001", "1041", dtype="datetime64[Y]"), "months"),
        (np.arange(1980, 2020, dtype=np.uint16), "instants"),
        (0.1 * np.arange(40), "instants"),
        (2e9 + 0.1 * np.arange(40), "instants"),
        (pd.to_timedelta(np.arange(40), "h"), "instants"),
        ([dt.date(2015, 1, 1) + dt.timedelta(7 * i) for i in range(40)], "days"),
    ],
)
def test_regular_labels_and_a_gap(labels, unit):
    labels = np.asarray(labels)
    assert unit in units(labels)
    assert [] in gaps(labels).values()
    left_out = np.delete(labels, range(20, 33))
    assert all(found == [19] for found in gaps(left_out).values())
    assert unit in gaps(left_out)
    if unit != "business days":  # one may be a holiday
        assert gaps(np.delete(labels, 20))[unit] == [19]


@pytest.mark.parametrize(
    "labels",
    [
        pd.date_range("2015-01-01", periods=40, freq="SMS"),
        np.cumsum(np.random.default_rng(1).exponential(size=50)),
        [0, 1, 2, 4],  # too few to tell
        [3, 3, 3, 3],
        [3],
    ],
)
def test_irregular_labels_follow_no_calendar(labels):
    assert not units(labels)


def test_a_few_steps_of_a_calendar_may_differ():
    numbers = np.arange(100)
    assert gaps(np.delete(numbers, range(5, 95, 10)))["instants"] == list(range(4, 80, 9))
    assert not units(np.delete(numbers, range(5, 95, 5)))
    assert gaps([0, 1, 2, 3, 5, 6])["instants"] == [3]


def test_holidays_are_no_gap():
    index = pd.bdate_range("2015-01-01", periods=300)
    assert gaps(index.delete([50, 51, 52, 53, 54, 130]))["business days"] == []
    assert gaps(index.delete(range(50, 56)))["business days"] == [49]
