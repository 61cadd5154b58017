"""Whatever any argument of a public function is given: it works, or ends in an error of ours."""

import inspect
from contextlib import suppress

import numpy as np
import pytest

import probmodel
from probmodel import Model, ModelError, ProbmodelError, data, infer, observed, param
from probmodel.distributions import HalfNormal, Normal


class Line(Model):
    x = data("obs")
    a = param(Normal(0, 1))
    s = param(HalfNormal(1))
    group = param(Normal(0, s), dims="k")
    y = observed(Normal(a + x, s), dims="obs")


X, SIZES = np.arange(5.0), {"draws": 5, "warmup": 5, "chains": 2, "seed": 1, "quiet": True}
# Not on a line: the scale would go to zero, and chains would take long to follow it.
MODEL = Line(x=X, y=[0.3, 0.8, 2.5, 2.2, 4.1], coords={"k": range(3)})
FIT = infer(MODEL, **{**SIZES, "draws": 20, "warmup": 20})
PROGRAM = "parameters { real a; } model { a ~ normal(0, 1); }"
VALUES = [
    3, -1, 1.5, float("inf"), 10**30, True, None, "", "x", b"x", (), [], [None], [1, "a"], {},
    {"a": "b"}, {"a": [1, 2]}, object(), np.array([1.0, 2.0]), np.zeros((2, 2)), len, Line, Normal,
    MODEL, FIT,
]  # fmt: skip
# Arguments with which a function does something; the others are left out.
USUAL = {
    "check_model": {"model": MODEL}, "compute_deterministics": {"fit": FIT, "model": MODEL},
    "Converged": {}, "data": {}, "deterministic": {"value": 1.0},
    "extend": {"fit": FIT, "draws": 5}, "folds": {"n": 6, "k": 2}, "HeldOut": {"model": MODEL},
    "infer": {"model": MODEL, **SIZES},
    "infer_many": {"model": Line, "datasets": [], **SIZES}, "load_fit": {"path": "no.nc"},
    "load_model": {"path": "no.py"}, "load_stan": {"path": "no.stan"},
    "log_likelihood": {"fit": FIT, "model": MODEL}, "log_prior": {"fit": FIT, "model": MODEL},
    "loo": {"fit": FIT, "model": MODEL}, "observed": {"distribution": Normal(0, 1)},
    "param": {"prior": Normal(0, 1)}, "posterior_predictive": {"fit": FIT, "model": MODEL},
    "potential": {"value": 1.0}, "predict": {"fit": FIT, "model": MODEL},
    "prior_predictive": {"model": MODEL, "draws": 5}, "read_data": {"path": "no.json"},
    "report": {"fit": FIT, "path": "page.html"}, "resume": {"path": "no"},
    "sbc": {"model": Line, "data": {"x": X}, "coords": {"k": range(3)}, "n": 1, **SIZES},
    "simulate": {"model": MODEL, "params": {"a": 0.0, "s": 1.0, "group": np.zeros(3)}},
    "Stan": {"code": PROGRAM}, "to_dot": {"model": MODEL}, "to_stan": {"model": MODEL},
    "to_svg": {"model": MODEL},
}  # fmt: skip
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
# Runs and pages take their time: CI looks at what each of their arguments is given.
LONG = {"infer", "extend", "report", "sbc", "check_model"}
CASES = [
    pytest.param(name, p.name, marks=[pytest.mark.statistical] if name in LONG else [])
    for name in USUAL
    for p in inspect.signature(getattr(probmodel, name)).parameters.values()
    if p.kind in NAMED and (name, p.name) != ("report", "model")  # a page for each model
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("function", "argument"), CASES)
def test_it_works_or_says_what_is_wrong(function, argument, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for value in VALUES:
        with suppress(ProbmodelError):
            getattr(probmodel, function)(**{**USUAL[function], argument: value})


def test_a_path_in_the_place_of_a_program():
    with pytest.raises(ModelError, match=r"the path of a file; got the path 'a\.stan'"):
        probmodel.Stan("a.stan")


def test_all_functions_are_tried():
    called = {n for n in probmodel.__all__ if inspect.isfunction(getattr(probmodel, n))}
    assert called <= USUAL.keys()
