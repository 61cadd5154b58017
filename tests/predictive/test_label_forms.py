"""New elements whose labels are those of the fit in another form."""

import warnings

import numpy as np
import pandas as pd
import pytest

from probmodel import Model, SamplingWarning, data, infer, load_fit, observed, param, predict
from probmodel.distributions import HalfNormal, Normal
from probmodel.predictive.label_forms import alike

SHORT = {"draws": 30, "warmup": 30, "chains": 2, "seed": 1, "quiet": True}


class Months(Model):
    tau = param(HalfNormal(1))
    a = param(Normal(0, tau), dims="month")
    which = data("row", dtype=int)
    y = observed(Normal(a[which], 1.0), dims="row")


@pytest.fixture(scope="module")
def fit():
    frame = pd.DataFrame({"which": ["2024-01", "2024-02"] * 3, "y": np.arange(6.0)})
    return infer(Months.from_frame(frame), **SHORT)


@pytest.mark.parametrize("new_groups", ["draw", "zero"])
def test_labels_in_another_form_have_a_warning(fit, new_groups):
    new = Months.from_frame(pd.DataFrame({"which": ["2024-01-01", "2024-02-01", "2024-03-01"]}))
    said = r"along 'month' '2024-01-01' is taken as new, though it looks like '2024-01' .* so 1"
    with pytest.warns(SamplingWarning, match=said):
        predict(new, fit, new_groups=new_groups, seed=1)


def test_a_fit_that_was_saved_warns_of_them_too(fit, tmp_path):
    fit.to_netcdf(tmp_path / "fit.nc")
    saved = load_fit(tmp_path / "fit.nc")
    said = r"along 'month' '2024-01-01' is taken as new, though it looks like '2024-01' of the fit"
    with pytest.warns(SamplingWarning, match=said) as caught:
        saved.predict(pd.DataFrame({"which": ["2024-01-01"]}), seed=1, new_groups="draw")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for labels in (["2024-03"], ["2024-01", "2024-01-01"]):
            saved.predict(pd.DataFrame({"which": labels}), seed=1, new_groups="draw")


def test_new_groups_have_none(fit):
    for labels in (["2024-03", "2024-04"], ["2024-01", "2024-03-01"]):
        new = Months.from_frame(pd.DataFrame({"which": labels}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            predict(new, fit, new_groups="draw", seed=1)


@pytest.mark.parametrize(
    ("labels", "known", "expected"),
    [
        (["North ", "south"], ["North", "South"], ["North ", "south"]),
        (["new_york"], ["New York", "Boston"], ["new_york"]),
        (["1.0", "02", "3"], ["1", "2"], ["1.0", "02"]),
        (["2024-01-01 00:00:00"], ["2024-01-01"], ["2024-01-01 00:00:00"]),
        (["a"], ["a", "A"], []),
        (["a", "A"], ["a"], []),
        (["AA", "aA"], ["aa"], []),
        (["2024-02-31"], ["2024-02"], []),
        (["s11"], ["s1"], []),
        ([1, 2], ["1", "2"], []),
    ],
)
def test_what_looks_the_same(labels, known, expected):
    assert alike(np.array(labels), np.array(known))[0] == expected
