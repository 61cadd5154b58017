"""Elements of a fit by their labels: what is picked, what is new, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from probmodel import (
    Model,
    compute_deterministics,
    data,
    deterministic,
    extend,
    infer,
    log_likelihood,
    observed,
    param,
    posterior_predictive,
    predict,
)
from probmodel.constraints import Ordered
from probmodel.distributions import (
    Dirichlet,
    HalfNormal,
    LKJCholesky,
    Normal,
    RandomWalk,
    ZeroSumNormal,
)
from probmodel.errors import DataError, ModelError, SamplingWarning
from probmodel.results.arviz_object import group, group_names, wrap


class Walk(Model):
    s = param(RandomWalk(1.0, 10.0, drift=5.0), dims="day")
    y = observed(Normal(s, 0.01), dims="day")


def walk_fit(make_fit, labels):
    return make_fit({"day": np.asarray(labels)}, s=(("day",), np.zeros((1, 50, len(labels)))))


def days(*numbers):
    return np.datetime64("2024-01-30") + np.array(numbers)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (range(4), [-5, 0, 1, 2, 3], "evenly spaced"),
        (range(4), [0, 1, 2, 3, 7], "evenly spaced"),
        ([0, 1, 3, 4], [0, 1, 2, 3, 4], "do not follow each other"),
        (["a", "b", "c"], ["a", "c", "b", "d"], "do not follow each other"),
        (["a", "b", "c"], ["a", "d", "b", "c"], "do not follow each other"),
        (days(0, 1, 2), days(0, 1, 2, 4), "evenly spaced"),
    ],
)
def test_times_that_are_no_steps_of_the_series_are_refused(make_fit, old, new, words):
    with pytest.raises(DataError, match=f"'s': new elements along 'day' .*{words}"):
        predict(Walk(coords={"day": new}), walk_fit(make_fit, old), 1, "draw")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (range(4), range(6)),
        (range(4), range(-2, 4)),
        ([0.0, 1.0, 3.0], [0.0, 1.0, 3.0, 7.0]),
        (["a", "b", "c"], ["a", "b", "c", "Z"]),
        (days(0, 1, 2), days(0, 1, 2, 3).astype("datetime64[ns]")),
        (range(4), [1, 3]),  # nothing is drawn
    ],
)
def test_times_that_go_on_are_drawn(make_fit, values, old, new):
    done = predict(Walk(coords={"day": new}), walk_fit(make_fit, old), 1, "draw", "s")
    assert values(done, "predictions", "s").shape == (1, 50, len(new))


# Leap years, ends of months, weekends: steps of these calendars are not equally long.
CALENDARS = ["D", "h", "W", "14D", "B", "MS", "ME", "BME", "QS", "QE", "2MS", "YS", "YE"]


@pytest.mark.parametrize("years", [2015, 2024])
@pytest.mark.parametrize("calendar", CALENDARS)
def test_forecasts_keep_to_the_calendar_of_the_fit(make_fit, values, calendar, years):
    index = pd.date_range(f"{years}-01-01", periods=70, freq=calendar)
    fit = walk_fit(make_fit, index[8:40])
    for going_on in (index[8:], index[:40], index):
        done = predict(Walk(coords={"day": going_on}), fit, 1, "draw", "s")
        assert values(done, "predictions", "s").shape[-1] == len(going_on)
    late, early = index[8:40].append(index[50:51]), index[:1].append(index[8:40])
    for jumping in (late, early):
        with pytest.warns(SamplingWarning, match="a gap between"):
            model = Walk(coords={"day": jumping})
        with pytest.raises(DataError, match=r"'s': new elements along 'day' .*evenly spaced"):
            predict(model, fit, 1, "draw", "s")


@pytest.mark.parametrize("calendar", ["M", "Q", "Y", "W", "D"])
def test_forecasts_keep_to_periods(make_fit, calendar):
    index = pd.period_range("2015-01-01", periods=60, freq=calendar)
    fit = walk_fit(make_fit, [str(label) for label in index[:40]])
    predict(Walk(coords={"day": index}), fit, 1, "draw", "s")
    with pytest.warns(SamplingWarning, match="a gap between"):
        model = Walk(coords={"day": index[:40].append(index[50:])})
    with pytest.raises(DataError, match="evenly spaced"):
        predict(model, fit, 1, "draw", "s")


def test_forecasts_of_business_days_leave_out_holidays(make_fit):
    """As many as the longest closing that the fit knows."""
    index = pd.bdate_range("2015-01-01", periods=300)
    old = index[:200].delete([60, 120, 121])
    fit = walk_fit(make_fit, old)
    for closed, fine in ((1, True), (2, True), (3, False)):
        model = Walk(coords={"day": old.append(index[200 + closed :])})
        if fine:
            predict(model, fit, 1, "draw", "s")
        else:
            with pytest.raises(DataError, match="evenly spaced"):
                predict(model, fit, 1, "draw", "s")


def test_steps_after_a_gap_in_the_fit_are_those_of_its_calendar(make_fit):
    index = pd.date_range("2015-01-01", periods=60, freq="MS")
    old = index[:40].delete(range(10, 15))
    fit = walk_fit(make_fit, old)
    for new, fine in ((index[40:], True), (index[45:], False)):
        with pytest.warns(SamplingWarning, match="a gap between 2015-10-01 and 2016-04-01"):
            model = Walk(coords={"day": old.append(new)})
        if fine:
            predict(model, fit, 1, "draw", "s")
        else:
            with pytest.raises(DataError, match="evenly spaced"):
                predict(model, fit, 1, "draw", "s")


def test_times_without_a_calendar_go_on_anyhow(make_fit):
    old = days(0, 3, 4, 9, 11, 30)
    predict(Walk(coords={"day": days(0, 3, 4, 9, 11, 30, 90)}), walk_fit(make_fit, old), 1, "draw")


class Sets(Model):
    n = data(dtype=int)
    simplex = param(Dirichlet(np.ones(2)), dims="k")
    centred = param(ZeroSumNormal(1.0), dims="k", noncentered=True)
    cut = param(Normal(0.0, 1.0), dims="k", constraint=Ordered())
    L = param(LKJCholesky(1.0), dims=("i", "j"))
    y = observed(Normal(0.0, 1.0), dims="k")


def test_picked_elements_keep_the_constraint(make_fit, values):
    known = {"k": np.array(["x", "y", "z"]), "i": np.arange(2), "j": np.arange(2)}
    fit = make_fit(
        known,
        simplex=(("k",), np.broadcast_to([0.2, 0.3, 0.5], (1, 4, 3))),
        centred=(("k",), np.broadcast_to([-1.0, 3.0, -2.0], (1, 4, 3))),
        cut=(("k",), np.broadcast_to([-1.0, 0.0, 1.0], (1, 4, 3))),
        L=(("i", "j"), np.broadcast_to([[1.0, 0.0], [0.8, 0.6]], (1, 4, 2, 2))),
    )
    labels = {"k": ["z", "x"], "i": [1, 0], "j": [1, 0]}
    for name in ("simplex", "centred", "cut", "L"):
        with pytest.raises(DataError, match=rf"'{name}' \(.*picked.*make no such value"):
            predict(Sets(n=2, coords=labels), fit, var_names=name)
    labels = {"k": ["x", "z"], "i": [0, 1], "j": [0, 1]}  # still increasing
    done = predict(Sets(n=2, coords=labels), fit, var_names=["cut", "L"])
    np.testing.assert_array_equal(values(done, "predictions", "cut")[0, 0], [-1.0, 1.0])


class Cut(Model):
    u = data("g")
    a = param(Normal(0.0, 1.0), upper=u, dims="g")
    y = observed(Normal(a, 1.0), dims="g")


def test_bounds_of_new_data_hold_for_the_values_of_the_fit(make_fit, values):
    fit = make_fit({"g": np.array(["p", "q"])}, a=(("g",), np.broadcast_to([-1.0, 1.0], (1, 9, 2))))
    for labels, u in ((["p", "q"], [-3.0, 5.0]), (["q", "new", "p"], [5.0, -2.0, -3.0])):
        with pytest.raises(DataError, match=r"'a' has upper=-3 here.*such as -1"):
            predict(Cut(u=u, coords={"g": labels}), fit, 1, "draw")
    fine = predict(Cut(u=[1.0, -2.0], coords={"g": ["q", "new"]}), fit, 1, "draw", "a")
    drawn = values(fine, "predictions", "a")[0]
    assert (drawn[:, 0] == 1.0).all()
    assert (drawn[:, 1] < -2.0).all()


class Effects(Model):
    a = param(Normal(0.0, 1.0), dims="g")
    double = deterministic(2.0 * a, dims="g")
    y = observed(Normal(a, 1.0), dims="g")


DATES = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[ns]")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ([10, 20], ["10", "20"], "text here and numbers"),
        (["10", "20"], [10, 20], "numbers here and text"),
        ([10, 20], [True, False], "booleans here and numbers"),
        ([0, 1], [False, True], "labels along .g. here that the fit lacks"),
        (DATES, [10, 20], "numbers here and dates"),
        ([10, 20], DATES, "dates here and numbers"),
        (["2020-01-01", "2020-01-02"], DATES, "dates here and text"),
    ],
)
def test_labels_of_another_type_are_no_new_groups(make_fit, old, new, words):
    fit = make_fit({"g": np.asarray(old)}, a=(("g",), np.zeros((1, 5, 2))))
    with pytest.raises(DataError, match=f"'a' has .*{words}"):
        predict(Effects(coords={"g": new}), fit, 1, "draw")


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([10, None], "None or NaN"),
        ([np.nan, 10.0], "None or NaN"),
        (np.array(["2020-01-01", "NaT"], "datetime64[D]"), "None or NaN"),
        (np.array([10, "20"], dtype=object), "cannot be compared"),
        ([["a", "b"], ["c", "d"]], "2 axes"),
        (3, "a list of labels"),
    ],
)
def test_labels_that_are_none(labels, words):
    with pytest.raises(DataError, match=f"coords.*'g'.*{words}"):
        Effects(coords={"g": labels})


def test_fits_without_draws(make_fit):
    import xarray as xr

    model = Effects(y=[0.0, 1.0])
    stacked = wrap({"posterior": xr.Dataset({"a": (("sample", "g"), np.zeros((5, 2)))})}, {})
    part = xr.Dataset({"a": ("g", np.zeros(2)), "b": (("chain", "draw"), np.zeros((1, 3)))})
    for function in (posterior_predictive, log_likelihood, predict, compute_deterministics):
        with pytest.raises(DataError, match="needs the dims 'chain' and 'draw'; it has sample, g"):
            function(model, stacked)
        with pytest.raises(DataError, match="no draws: 2 chains of 0"):
            function(model, make_fit(a=(("g",), np.zeros((2, 0, 2)))))
        with pytest.raises(DataError, match="'a' has the dims g in the fit"):
            function(model, wrap({"posterior": part}, {}))


def test_advice_on_new_labels_is_for_the_function_that_was_called(make_fit):
    fit = make_fit({"g": np.array(["p", "q"])}, a=(("g",), np.zeros((1, 5, 2))))
    model = Effects(y=[0.0, 1.0], coords={"g": ["p", "new"]})
    for function in (posterior_predictive, log_likelihood, compute_deterministics):
        with pytest.raises(DataError, match=r"new\. Bind the model to labels of the fit"):
            function(model, fit)
    with pytest.raises(DataError, match=r'new\. Say in predict.*new_groups="draw"'):
        predict(model, fit)


class Batches(Model):
    w = param(Dirichlet(np.array([2.0, 3.0, 4.0])), dims=("g", "k"))
    c = param(Normal(0.0, 1.0), dims=("g", "k"), constraint=Ordered())
    y = observed(Normal(w[:, 0], 1.0), dims="g")


def test_whole_new_rows_are_drawn(make_fit, values):
    rng = np.random.default_rng(1)
    w = rng.dirichlet([2.0, 3.0, 4.0], (2, 2000, 2))
    c = np.sort(rng.normal(size=(2, 2000, 2, 3)), axis=-1)
    labels = {"g": np.array(["a", "b"]), "k": np.array(["x", "y", "z"])}
    fit = make_fit(labels, w=(("g", "k"), w), c=(("g", "k"), c))
    model = Batches(coords={"g": ["b", "new", "a"], "k": ["x", "y", "z"]})
    done = predict(model, fit, 1, "draw", ["w", "c"])
    drawn = values(done, "predictions", "w")
    np.testing.assert_array_equal(drawn[..., [2, 0], :], w)
    new = drawn[..., 1, 0].ravel()
    assert scipy.stats.kstest(new, scipy.stats.beta(2, 7).cdf).pvalue > 1e-4
    assert scipy.stats.kstest(new, scipy.stats.beta(2, 6).cdf).pvalue < 1e-4  # negative control
    ordered = values(done, "predictions", "c")[..., 1, :]
    assert (np.diff(ordered, axis=-1) > 0).all()
    # The middle one of three: a beta distribution of its place, Beta(2, 2).
    place = scipy.stats.norm.cdf(ordered[..., 1].ravel())
    assert scipy.stats.kstest(place, scipy.stats.beta(2, 2).cdf).pvalue > 1e-4
    part = Batches(coords={"g": ["a", "b"], "k": ["x", "y", "new"]})
    with pytest.raises(ModelError, match="depend on each other by its constraint"):
        predict(part, fit, 1, "draw", ["c"])


class Below(Model):
    first = observed(Normal(0.0, 1.0), dims="obs")
    least = deterministic(np.min(first))
    low = param(Normal(0.0, 10.0), upper=np.min(first))
    lower = param(Normal(0.0, 10.0), upper=least)
    lowest = param(Normal(0.0, 10.0), upper=low)
    second = observed(Normal(lower + lowest, 1.0), dims="obs")


def test_bounds_that_data_do_not_decide_are_not_looked_at(make_fit, values):
    """What bounds it may be drawn anew, or left out of the fit."""
    fit = make_fit(lower=np.full((1, 50), 9.0), lowest=np.full((1, 50), 7.0))
    model = Below(first=[9.0, 10.0], second=[0.0, 0.0])
    drawn = values(posterior_predictive(model, fit, 1), "posterior_predictive", "second")
    assert abs(drawn.mean() - 16.0) < 4.5 / 10.0


class Groups(Model):
    place = data("obs", dtype=int)
    tau = param(HalfNormal(1.0))
    u = param(Normal(0.0, tau), dims="grp")
    y = observed(Normal(u[place], 0.5), dims="obs")


@pytest.mark.parametrize("first", [0, 100])
def test_labels_that_count_from_zero_are_labels_if_they_were_given(first, values):
    place = np.repeat(np.arange(3), 4)
    known = {"place": place, "y": place - 1.0}
    given = infer(
        Groups(**known, coords={"grp": range(first, first + 3)}),
        draws=200, warmup=200, chains=2, seed=1, quiet=True,
    )  # fmt: skip
    new = Groups(place=[0], coords={"grp": [99]})
    drawn = values(predict(new, given, 1, "draw", "u"), "predictions", "u")[..., 0]
    z = drawn / values(given, "posterior", "tau")  # from the population
    assert scipy.stats.kstest(z.ravel(), "norm").pvalue > 1e-3
    with pytest.raises(DataError, match=r"'grp', which the fit does not know: 99\..*new_groups="):
        predict(new, given)


def test_positions_are_no_labels(values):
    """New labels are no new elements of a fit without labels: which is which is not known."""
    short = {"draws": 10, "warmup": 50, "chains": 1, "seed": 1, "quiet": True}
    none = infer(Effects(y=[0.0, 1.0]), **short)
    with pytest.raises(DataError, match="'a' has labels along 'g' here that the fit lacks"):
        predict(Effects(coords={"g": [99]}), none, 1, "draw")
    given = infer(Effects(y=[0.0, 1.0], coords={"g": [0, 1]}), **short)
    assert values(predict(Effects(coords={"g": [99]}), given, 1, "draw"), "predictions", "y").size


class Table(Model):
    """As many rows as columns, so that shapes do not tell the axes."""

    a = param(Normal(0.0, 1.0), dims=("row", "column"))
    y = observed(Normal(a, 1.0), dims=("row", "column"))


@pytest.mark.parametrize(
    "order",
    [
        ("chain", "draw", "column", "row"),
        ("column", "row", "draw", "chain"),
        ("column", "chain", "row", "draw"),
    ],
)
def test_axes_of_draws_are_told_by_their_names(order):
    model = Table(y=[[1.0, 20.0], [3.0, 4.0]])
    fit = infer(model, draws=20, warmup=50, chains=2, seed=1, quiet=True)
    groups = {name: group(fit, name) for name in group_names(fit)}
    groups["posterior"] = groups["posterior"].transpose(*order)
    turned = wrap(groups, dict(fit.attrs))
    expected = scipy.stats.norm.logpdf(model._binding.data["y"], group(fit, "posterior")["a"])
    for known in (fit, turned):
        found = group(log_likelihood(model, known), "log_likelihood")["y"]
        assert found.dims == ("chain", "draw", "row", "column")
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    longer = extend(turned, 5, model=model, quiet=True)
    whole = infer(model, draws=25, warmup=50, chains=2, seed=1, quiet=True)
    np.testing.assert_array_equal(group(longer, "posterior")["a"], group(whole, "posterior")["a"])
