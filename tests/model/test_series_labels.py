"""Labels along the axes of series: their order, gaps, and which axis they are of."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from probmodel import Model, data, observed, param, potential
from probmodel.distributions import (
    AR,
    AR1,
    ARMA,
    GARCH,
    GaussianDLM,
    HalfNormal,
    HiddenMarkov,
    Mixture,
    Normal,
    Poisson,
    RandomWalk,
    Uniform,
)
from probmodel.errors import DataError, SamplingWarning
from probmodel.functions import linear_recurrence, log_density, scan

DAYS = pd.date_range("2015-01-01", periods=60, freq="D")
Y = pd.Series(np.random.default_rng(3).poisson(5.0, 60), index=DAYS)
ORDER = np.random.default_rng(1).permutation(60)


class Auto(Model):
    phi = param(Uniform(-1, 1))
    y = observed(AR1(phi, 1.0), dims="t")


class Unnamed(Model):
    phi = param(Uniform(-1, 1))
    y = observed(AR1(phi, 1.0))


class Fifth(Model):
    phi = param(Normal(0, 1), shape=2)
    y = observed(AR(phi, 1.0), dims="t")


class Moving(Model):
    phi = param(Normal(0, 1), shape=1)
    y = observed(ARMA(phi, phi, 1.0), dims="t")


class Returns(Model):
    mu = param(Normal(0, 1))
    y = observed(GARCH(mu, 1.0, 0.1, 0.1, 1.0), dims="t")


class Level(Model):
    s = param(HalfNormal(1))
    level = param(RandomWalk(s, 5.0), dims="t")
    y = observed(Normal(level, 1.0), dims="t")


class States(Model):
    mu = param(Normal(0, 1), shape=2)
    y = observed(HiddenMarkov([0.5, 0.5], np.full((2, 2), 0.5), Normal(mu, 1.0)), dims="t")


class Counts(Model):
    mu = param(HalfNormal(1), shape=2)
    y = observed(HiddenMarkov([0.5, 0.5], np.full((2, 2), 0.5), Poisson(mu)), dims="t")


class Either(Model):
    phi = param(Uniform(-1, 1))
    y = observed(Mixture([0.5, 0.5], [AR1(phi, 1.0), AR1(phi, 2.0)]), dims="t")


class Residuals(Model):
    y = data("t")
    phi = param(Uniform(-1, 1))
    mu = param(Normal(0, 1))
    likelihood = potential(log_density(AR1(phi, 1.0), y - mu))


class Filtered(Model):
    v = param(HalfNormal(1))
    one = np.eye(1)
    y = observed(GaussianDLM(one, one, v * one, one, np.zeros(1), one), dims=("t", "what"))


SERIES = [Auto, Unnamed, Fifth, Moving, Returns, Level, States, Counts, Either, Residuals]


@pytest.mark.parametrize("kind", SERIES)
def test_dates_of_series_are_in_order(kind):
    kind(y=Y)
    name = "level" if kind is Level else "likelihood" if kind is Residuals else "y"
    where = "its axis of time" if kind is Unnamed else "'t'"
    place = np.flatnonzero(np.diff(ORDER) < 0)[0] + 1
    words = (
        rf"'{name}': the steps of \w+ run along {where}, whose labels are not in order: "
        rf"{DAYS[ORDER[place]].date()} comes after {DAYS[ORDER[place - 1]].date()}, "
        rf"at \[{place}\].*sort_index\(\)"
    )
    with pytest.raises(DataError, match=words):
        kind(y=Y.iloc[ORDER])
    with pytest.raises(DataError, match="decrease, from 2015-03-01 to 2015-01-01"):
        kind(y=Y[::-1])
    with pytest.warns(SamplingWarning, match="gap between 2015-02-19 and 2015-02-21") as caught:
        kind(y=Y.drop(Y.index[50]))
    assert [w.filename for w in caught] == [__file__]
    kind(y=Y.iloc[ORDER].to_numpy())


def test_series_of_vectors_have_time_as_their_first_axis():
    table = Y.to_frame("level")
    Filtered(y=table)
    with pytest.raises(DataError, match="along 't', whose labels are not in order"):
        Filtered(y=table.iloc[ORDER])


def test_a_frame_is_in_order():
    with pytest.raises(DataError, match=r"'level'.*run along 't', whose labels are not in order"):
        Level.from_frame(Y.to_frame("y").iloc[ORDER])
    Level.from_frame(Y.to_frame("y").iloc[ORDER].sort_index())
    stacked = pd.concat([Y, Y]).to_frame("y")  # labels that repeat name nothing, and count
    with pytest.raises(DataError, match=re.escape("2015-01-01 comes after 2015-03-01, at [60]")):
        Level.from_frame(stacked)
    by_number = Y.reset_index(drop=True).to_frame("y")
    Level.from_frame(by_number)
    with pytest.raises(DataError, match=r"reset_index\(drop=True\)"):
        Level.from_frame(by_number.iloc[ORDER])


@pytest.mark.parametrize(
    "labels",
    [
        range(60),
        range(100, 160),
        [f"visit {i}" for i in ORDER],
        [str(i) for i in ORDER],
        np.cumsum(1.0 + np.random.default_rng(2).exponential(size=60)),
        pd.date_range("2015-01-31", periods=60, freq="ME"),
        pd.bdate_range("2015-01-01", periods=80).delete([5, 6, 40]).tolist()[:60],
        pd.period_range("2015Q1", periods=60, freq="Q"),
        DAYS.tz_localize("Europe/London"),
        np.repeat(DAYS[:30], 2),
        [*DAYS[:-1], pd.NaT],
    ],
)
def test_labels_that_pass(labels):
    Auto(y=pd.Series(Y.to_numpy(), index=pd.Index(labels)))


@pytest.mark.parametrize(
    "labels",
    [
        DAYS.tz_localize("Europe/London"),
        DAYS.to_period("D"),
        pd.period_range("1950", periods=60, freq="Y"),
        DAYS.strftime("%Y-%m-%d"),
        DAYS - DAYS[0],
        np.arange(1950, 2010),
        np.linspace(0, 1, 60),
    ],
)
def test_other_times_are_in_order(labels):
    index = pd.Index(labels)
    Auto(y=Y.set_axis(index))
    Auto(y=Y.to_numpy(), coords={"t": index})
    words = r"run along 't', whose labels (decrease|are not in order)"
    for wrong in (index[ORDER], index[::-1]):
        with pytest.raises(DataError, match=words):
            Auto(y=Y.set_axis(wrong))
        with pytest.raises(DataError, match=words):
            Auto(y=Y.to_numpy(), coords={"t": wrong})
    with pytest.warns(SamplingWarning, match="a gap between"):
        Auto(y=Y.set_axis(index).drop(index[50]))


def test_remedies_of_gaps():
    short = Y.drop(Y.index[[20, 50]])
    with pytest.warns(SamplingWarning, match=r"Such gaps: 2\..*reindex.*impute"):
        Auto(y=short)
    with pytest.warns(SamplingWarning, match=r"coords=, and use level\[i\]"):
        Level(y=short)
    with pytest.warns(SamplingWarning, match="cannot be inferred where they are missing"):
        Counts(y=short)

    class Imputed(Model):
        phi = param(Uniform(-1, 1))
        y = observed(AR1(phi, 1.0), dims="t", missing="impute")

    Imputed(y=short.reindex(Y.index))


def test_a_dim_is_warned_of_once():
    class Two(Model):
        a = param(RandomWalk(1.0, 1.0), dims="t")
        b = param(RandomWalk(1.0, 1.0), dims="t")
        y = observed(Normal(a + b, 1.0), dims="t")

    with pytest.warns(SamplingWarning) as caught:
        Two(y=Y.drop(Y.index[50]))
    assert len(caught) == 1


def test_elements_that_are_no_series_have_labels_in_any_order():
    class Plain(Model):
        mu = param(Normal(0, 1), dims="t")
        y = observed(Normal(mu, 1.0), dims="t")

    Plain(y=Y.iloc[ORDER].drop(DAYS[3]))


class Panel(Model):
    s = param(HalfNormal(1))
    level = param(RandomWalk(s, 5.0), dims=("time", "series"))
    y = observed(Normal(level, 1.0), dims=("time", "series"))


class Turned(Model):
    s = param(HalfNormal(1))
    level = param(RandomWalk(s, 5.0), dims=("series", "time"))
    y = observed(Normal(level, 1.0), dims=("series", "time"))


TABLE = pd.DataFrame({"north": Y, "south": Y, "all": Y})


def test_steps_along_names_beside_dates():
    words = (
        "'level': the steps of RandomWalk run along 'series', whose labels are names. It is 'time' "
        "that has dates. If the series go on along it, declare dims=('series', 'time'), and "
        "transpose the data."
    )
    with pytest.warns(SamplingWarning, match=re.escape(words)):
        Panel(y=TABLE)
    with pytest.raises(DataError, match=r"from 9 to 2\. It is 'time' .*\('series', 'time'\)"):
        Panel(y=TABLE.set_axis([9, 5, 2], axis=1))
    with pytest.warns(SamplingWarning, match="labels are names. Another axis has dates"):
        Unnamed(y=TABLE)
    Turned(y=TABLE.T)
    with pytest.raises(DataError, match="run along 'time', whose labels are not in order"):
        Turned(y=TABLE.iloc[ORDER].T)


def test_steps_along_horizons_beside_dates():
    """Forecasts at several dates, each for some days ahead: numbers in order are as good."""
    Panel(y=TABLE.set_axis([1, 2, 3], axis=1))
    Panel(y=TABLE.to_numpy(), coords={"time": DAYS})


def test_copies_are_not_warned_of_again():
    import pickle

    with pytest.warns(SamplingWarning):
        model = Panel(y=TABLE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickle.dumps(model))


def carried(x, keep):
    return linear_recurrence(keep, x)


def stepped(x, keep):
    return scan(lambda state, now, keep: keep * state + now, 0.0, x, args=(keep,))


def summed(x, keep):
    return keep * np.cumsum(x)


@pytest.mark.parametrize("made", [carried, stepped, summed])
def test_recurrences_along_labels_out_of_order(made):
    class Carried(Model):
        x = data("t")
        keep = param(Uniform(0, 1))
        y = observed(Normal(made(x, keep), 1.0), dims="t")

    x = pd.Series(np.arange(60.0), index=DAYS)
    with pytest.warns(
        SamplingWarning, match="runs along 't', whose labels are not in order"
    ) as got:
        Carried(x=x.iloc[ORDER], y=x.iloc[ORDER])
    assert len(got) == 1
    with pytest.warns(
        SamplingWarning, match="whose labels decrease, from 2015-03-01 to 2015-01-01"
    ):
        Carried(x=x[::-1], y=x[::-1])
    numbered = x.reset_index(drop=True).iloc[ORDER]
    with pytest.warns(SamplingWarning, match="not in order"):
        Carried(x=numbered, y=numbered)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Carried(x=x, y=x)
        Carried(x=numbered.to_numpy(), y=numbered.to_numpy())
        Carried(x=x.set_axis([f"week {i % 7}, {i}" for i in ORDER]), y=x.to_numpy())
