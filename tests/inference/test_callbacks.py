"""What a run tells a callback, and what it shows in a notebook."""

import json
import sys
import types

import numpy as np
import pytest

from probmodel import Model, extend, infer, observed, param, resume
from probmodel.distributions import HalfNormal, Normal
from probmodel.errors import SamplerError
from probmodel.inference import progress as module
from probmodel.inference.displays import Notebook, Terminal, display_at
from probmodel.inference.progress import Progress, Status
from probmodel.results.enough import figures


class Line(Model):
    a = param(Normal(0, 1))
    s = param(HalfNormal(1))
    y = observed(Normal(a, s), dims="day")


MODEL = Line(y=[0.3, -1.0, 2.0, 0.1, 0.7])
SIZES = {"chains": 4, "warmup": 100, "draws": 400, "seed": 2, "quiet": True}


@pytest.fixture
def often(monkeypatch):
    """The callback is told after every iteration, and the draws are judged as often."""
    for name in ("INTERVAL", "JUDGED"):
        monkeypatch.setattr(module, name, 0.0)
    monkeypatch.setattr(module, "SHARE", np.inf)


@pytest.mark.parametrize("pool", [True, False])
def test_a_callback_is_told_how_far_the_run_is(often, pool):
    told = []
    result = infer(MODEL, "rwm", callback=told.append, pool=pool, **SIZES)
    assert all(type(status) is Status for status in told)
    assert [s.iteration for s in told] == sorted(s.iteration for s in told)
    assert {s.phase for s in told} == {"warmup", "sampling"}
    last = told[-1]
    assert (last.iteration, last.iterations, last.chains) == (500, 500, 4)
    assert last.gradients == result.attrs["n_grad_sampling"] + last.gradients  # a random walk: none
    assert 0.0 < last.acceptance < 1.0
    assert 0.0 <= last.seconds_left < 1e-6
    x = np.stack([result.posterior[v].values for v in ("a", "s")], axis=2)
    x[:, :, 1] = np.log(x[:, :, 1])
    early = next(s for s in told if np.isfinite(s.ess))
    assert early.iteration >= 120
    np.testing.assert_allclose((last.rhat, last.ess), figures(x), rtol=1e-6)


def test_trajectories_are_told_of(often):
    told = []
    result = infer(MODEL, "nuts", callback=told.append, **SIZES)
    assert told[-1].steps >= 1.0
    assert told[-1].divergences == result.attrs["divergences"]
    assert told[-1].gradients > result.attrs["n_grad_sampling"]


def test_it_is_told_five_times_a_second():
    told = []
    infer(MODEL, "rwm", callback=told.append, max_time=1.0, **{**SIZES, "draws": 100_000})
    assert 3 <= len(told) <= 8


def test_the_draws_are_the_same():
    plain, told = infer(MODEL, **SIZES), infer(MODEL, callback=lambda status: None, **SIZES)
    np.testing.assert_array_equal(plain.posterior["a"], told.posterior["a"])


def test_it_can_end_the_run(often):
    result = infer(MODEL, "rwm", callback=lambda status: status.iteration >= 150, **SIZES)
    assert result.attrs["interrupted"] == 1
    assert result.attrs["draws_done"] == 50


@pytest.mark.parametrize("after", [0, 30])
def test_a_run_that_it_ends_before_the_first_draw(often, after):
    stop = {"callback": lambda status: status.iteration >= after, **SIZES}
    said = rf"callback= returned True after {max(after, 1)} of 100 warm-up iterations, before the "
    with pytest.raises(SamplerError, match=said) as caught:
        infer(MODEL, "rwm", **stop)
    assert "status.phase == 'sampling'" in str(caught.value)
    inits = caught.value.inits
    assert len(inits) == 4
    assert set(inits[0]) == {"a", "s"}
    infer(MODEL, "rwm", inits=inits, **SIZES)
    kept = infer(MODEL, "rwm", save_warmup=True, **stop)
    assert kept.attrs["draws_done"] == 0


def test_what_it_raises_is_said_and_costs_no_draw(often):
    calls = []

    def fail(status):
        calls.append(status)
        raise ZeroDivisionError("of mine")

    result = infer(MODEL, callback=fail, **SIZES)
    assert len(calls) == 1
    assert result.attrs["draws_done"] == 400
    (said,) = [f for f in json.loads(result.attrs["warnings"]) if f["kind"] == "callback"]
    assert "callback= raised ZeroDivisionError: of mine" in said["message"]


def test_ctrl_c_in_it_interrupts_the_run(often):
    def press(status):
        if status.phase == "sampling":
            raise KeyboardInterrupt

    assert infer(MODEL, "rwm", callback=press, **SIZES).attrs["interrupted"] == 1


def test_it_is_told_of_a_run_that_is_gone_on_with(often, tmp_path):
    """It can end that run, too, which goes on once more."""
    ended = {"callback": lambda status: status.iteration >= 150, **SIZES}
    expected = infer(MODEL, "rwm", **SIZES).posterior["a"].values
    infer(MODEL, "rwm", checkpoint=tmp_path / "run", **ended)
    told = []

    def later(status):
        told.append(status)
        return status.iteration >= 300

    known = resume(tmp_path / "run", model=MODEL, callback=later, quiet=True)
    assert known.attrs["draws_done"] == 200
    assert (told[0].phase, told[0].iteration, told[0].iterations) == ("sampling", 151, 500)
    whole = extend(known, 200, model=MODEL, callback=told.append, quiet=True)
    np.testing.assert_array_equal(whole.posterior["a"].values, expected)
    assert (told[-1].iteration, told[-1].iterations) == (500, 500)
    for go_on in (
        lambda: resume(tmp_path / "run", model=MODEL, callback=3),
        lambda: extend(whole, 1, model=MODEL, callback=3),
    ):
        with pytest.raises(SamplerError, match="callback must be a function, got 3"):
            go_on()


def test_what_is_no_function():
    with pytest.raises(SamplerError, match="callback must be a function, got 3"):
        infer(MODEL, callback=3)


def test_figures_are_shown(often, counting, flat):
    from probmodel.inference.groups import sample

    class Stream:
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            Stream.text += text

        def flush(self):
            pass

    shown = Progress(Stream(), judge=lambda x: (1.25, 37.4))
    sample(counting(), flat, np.zeros((2, 2)), 1, draws=30, warmup=5, progress=shown)
    assert "  R-hat 1.250  ESS 37" in Stream.text


# -- notebooks -------------------------------------------------------------------------------------


@pytest.fixture
def outputs(monkeypatch):
    """The outputs of a cell, as if a notebook's kernel ran this."""
    shown = []

    class Handle:
        def __init__(self, data):
            shown.append(data)
            self.place = len(shown) - 1

        def update(self, data, raw):
            assert raw
            shown[self.place] = data

    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=1)
    ipython.display = types.ModuleType("IPython.display")
    ipython.display.display = lambda data, raw, display_id: Handle(data)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    return shown


def test_a_notebook_has_one_output_that_is_updated(often, outputs):
    infer(MODEL, **{**SIZES, "quiet": False, "draws": 2000})
    (data,) = outputs
    assert data["text/plain"].startswith("4 chains  sampling 2100/2100 (100 %)")
    assert data["text/html"].startswith("<pre>4 chains")
    infer(MODEL, **SIZES)  # quiet
    infer(MODEL, progressbar=False, **{**SIZES, "quiet": False, "draws": 2000})
    assert len(outputs) == 1


def test_a_notebook_that_goes_away(outputs, monkeypatch):
    def gone(*args, **settings):
        raise OSError

    monkeypatch.setattr(sys.modules["IPython.display"], "display", gone)
    Notebook().show(["a line"])
    assert outputs == []


def test_ipython_on_a_terminal_is_no_notebook(outputs, monkeypatch):
    assert type(display_at(None)) is Notebook
    ipython = sys.modules["IPython"]
    monkeypatch.setattr(ipython, "get_ipython", lambda: types.SimpleNamespace())
    assert type(display_at(None)) in (Terminal, type(None))
