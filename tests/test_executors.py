"""Sampling in parts, on the workers of executors."""

import json
import multiprocessing
import os
import pickle
import signal
import time
import types
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import numpy as np
import pytest

from probmodel import Model, extend, infer, infer_many, load_model, observed, param, resume, sbc
from probmodel.distributions import HalfNormal, Normal
from probmodel.errors import DataError, ModelError, SamplerError, SamplingWarning
from probmodel.inference import parts as module
from probmodel.inference import tasks
from probmodel.inference.parts import work
from probmodel.results.arviz_object import group, group_names

at_length = partial(pytest.param, marks=pytest.mark.statistical)
MODEL = """
from probmodel import Model, observed, param
from probmodel.distributions import HalfNormal, Normal

class Groups(Model):
    tau = param(HalfNormal(1))
    mu = param(Normal(0, tau), dims="group")
    y = observed(Normal(mu, 1.0), dims="group")
"""
Y = [0.3, -1.0, 2.0, 0.1, 0.7]
SIZES = {"chains": 6, "warmup": 150, "draws": 300, "seed": 2, "quiet": True}


class Local(Model):
    """A model of this module, which workers of other processes may not have."""

    a = param(Normal(0, 1))
    s = param(HalfNormal(1))
    y = observed(Normal(a, s), dims="day")


@pytest.fixture
def model(tmp_path):
    (tmp_path / "groups.py").write_text(MODEL)
    return load_model(tmp_path / "groups.py")(y=Y)


def same(result, expected):
    assert set(group_names(result)) == set(group_names(expected))
    for name in set(group_names(expected)) - {"sampler_state"}:
        for key, known in group(expected, name).data_vars.items():
            np.testing.assert_array_equal(group(result, name)[key].values, known.values)
    for key in ("n_grad_warmup", "n_grad_sampling", "divergences", "nonfinite", "draws_done"):
        assert result.attrs[key] == expected.attrs[key]


class Recorder:
    """An executor that works here, and can be told to fail."""

    def __init__(self, fails=lambda number, job: None):
        self.jobs, self.done, self.fails = [], [], fails

    def submit(self, function, job):
        self.jobs.append(job)
        future = Future()
        error = self.fails(len(self.jobs), job)
        if error is not None:
            future.set_exception(error)
        else:
            self.done.append(function(pickle.loads(pickle.dumps(job))))
            future.set_result(self.done[-1])
        return future


# -- what is drawn ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        "fisher_hmc",
        *(
            pytest.param(method, marks=pytest.mark.statistical)
            for method in ("nuts", "rwm", "fisher_mala", "sa_mcmc")
        ),
    ],
)
def test_draws_do_not_depend_on_the_executor(model, method):
    expected = infer(model, method, parts=3, **SIZES)
    with ThreadPoolExecutor(2) as pool:
        same(infer(model, method, executor=pool, parts=3, **SIZES), expected)
    recorder = Recorder()
    same(infer(model, method, executor=recorder, parts=3, **SIZES), expected)
    assert len(recorder.jobs) % 3 == 0
    assert len(recorder.jobs) >= 6


def test_processes(model):
    expected = infer(model, parts=2, **SIZES)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        same(infer(model, executor=pool, **SIZES), expected)
        same(infer(model, executor=pool, **SIZES), expected)


@pytest.mark.statistical
def test_dask(model, tmp_path):
    distributed = pytest.importorskip("distributed")
    expected = infer(model, parts=2, **SIZES)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
            local_directory=str(tmp_path),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        same(infer(model, executor=client.get_executor(), **SIZES), expected)
        same(infer(model, executor=client, **SIZES), expected)


def test_loky(model):
    loky = pytest.importorskip("loky")
    expected = infer(model, parts=2, **SIZES)
    pool = loky.get_reusable_executor(max_workers=1)
    try:
        same(infer(model, executor=pool, **SIZES), expected)
    finally:
        pool.shutdown()


@pytest.mark.statistical
@pytest.mark.parametrize("fewest", [1, 3, 1000])
def test_draws_do_not_depend_on_how_many_are_asked_for_at_a_time(model, monkeypatch, fewest):
    expected = infer(model, parts=3, **SIZES)
    monkeypatch.setattr(module, "FEWEST", fewest)
    monkeypatch.setattr(module, "ROUND", 0.0)
    same(infer(model, parts=3, **SIZES), expected)


def test_warm_up_is_that_of_all_chains_and_draws_are_of_the_posterior(model):
    whole, split = infer(model, **SIZES), infer(model, parts=3, **{**SIZES, "draws": 4000})
    for name in ("n_grad_warmup", "warmup_done"):
        assert whole.attrs[name] == split.attrs[name]
    long = infer(model, **{**SIZES, "draws": 4000, "seed": 5})
    for name in ("mu", "tau"):
        a, b = (r.posterior[name].values.reshape(6 * 4000, -1) for r in (split, long))
        error = np.sqrt(2.0) * a.std(axis=0) / np.sqrt(3000.0)
        assert (np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4.0 * error).all()


def test_parts_differ(model):
    x = infer(model, parts=6, **SIZES).posterior["tau"].values
    assert len(np.unique(x[:, -1])) == 6


@pytest.mark.parametrize(
    "arguments",
    [{"thin": 50, "draws": 20}, {"save_warmup": True}, {"ess": 1500, "draws": None}, {"chains": 1},
     at_length({"thin": 3}), at_length({"chains": 3}), at_length({"engine": "numpy"}),
     at_length({"var_names": "tau"})],
    ids=str,
)  # fmt: skip
def test_whatever_the_arguments(model, arguments):
    settings = {**SIZES, **arguments}
    expected = infer(model, parts=2, **settings)
    same(infer(model, executor=Recorder(), parts=2, **settings), expected)


def test_workers_send_the_draws_that_are_kept(model):
    recorder = Recorder()
    settings = {**SIZES, "thin": 7, "draws": 40}
    fit = infer(model, "nuts", executor=recorder, parts=2, **settings)
    rows = [(len(done.x), len(done.stats["lp"])) for done in recorder.done]
    np.testing.assert_array_equal(np.sum(rows[::2], axis=0), [40, 40])
    assert sum(job.iterations for job in recorder.jobs[::2]) == 280
    assert sum(done.totals.gradients for done in recorder.done) == fit.attrs["n_grad_sampling"]
    whole = infer(model, "nuts", parts=2, **{**SIZES, "draws": 280}).posterior["mu"].values
    np.testing.assert_array_equal(fit.posterior["mu"].values, whole[:, 6::7])


class Funnel(Model):
    log_s = param(Normal(0, 3))
    z = param(Normal(0, np.exp(log_s / 2)), dims="k", noncentered=False)


def test_divergences_are_where_they_were():
    model = Funnel(coords={"k": range(5)})
    settings = {**SIZES, "draws": 500, "target_accept": 0.5}
    expected = infer(model, "nuts", parts=2, **settings)
    found = infer(model, "nuts", executor=Recorder(), parts=2, **settings)
    assert found.attrs["divergences"] > 10
    same(found, expected)
    assert np.isfinite(found["divergences"]["log_s"].values).all()


@pytest.mark.parametrize("parts", [None, 2])
def test_divergences_of_an_interrupted_run_are_counted_once(monkeypatch, parts):
    """Ctrl-C comes when divergences of an iteration are kept, and its end is not."""
    from probmodel.inference.collectors import Counter

    model, settings = Funnel(coords={"k": range(5)}), {**SIZES, "draws": 200, "parts": parts}
    settings["target_accept"] = 0.4
    expected, take = infer(model, "nuts", **settings), Counter.take

    def interrupted(self, phase, first, stretch, params):
        take(self, phase, first, stretch, params)
        if phase == "draw" and first > 20 and stretch.totals.divergences:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Counter, "take", interrupted)
        fit = infer(model, "nuts", **settings)
    assert fit.attrs["interrupted"] == 1
    whole = extend(fit, 200 - group(fit, "posterior").sizes["draw"], quiet=True)
    assert whole.attrs["divergences"] > 10
    same(whole, expected)


def test_a_run_in_parts_is_gone_on_with(model, tmp_path):
    expected = infer(model, parts=2, **{**SIZES, "draws": 500})
    fit = infer(model, parts=2, **SIZES)
    same(extend(fit, 200, quiet=True), expected)
    same(extend(fit, 200, executor=Recorder(), quiet=True), expected)
    calls = []

    def stop(status):
        calls.append(status)
        return status.phase == "sampling" and len(calls) > 1

    infer(model, parts=2, callback=stop, checkpoint=tmp_path / "run", **{**SIZES, "draws": 500})
    same(resume(tmp_path / "run", executor=Recorder(), quiet=True), expected)


# -- many tasks ------------------------------------------------------------------------------------


FEW = {"draws": 100, "warmup": 100, "chains": 4}


@pytest.fixture(scope="module")
def day(tmp_path_factory):
    """The model in a file, which all processes find."""
    path = tmp_path_factory.mktemp("models") / "day.py"
    path.write_text(
        "from probmodel import Model, observed, param\n"
        "from probmodel.distributions import Normal\n"
        "class Day(Model):\n"
        "    mu = param(Normal(0, 1))\n"
        "    y = observed(Normal(mu, 1.0), dims='day')\n"
    )
    return load_model(path)


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_calibration_does_not_depend_on_the_executor(day, processes):
    settings = {"n": 12, "coords": {"day": range(5)}, "seed": 3, "progressbar": False}
    expected = sbc(day, **settings, **FEW)
    found = sbc(day, executor=processes, **settings, **FEW)
    for name, ranks in expected.ranks.items():
        np.testing.assert_array_equal(found.ranks[name], ranks)
    assert str(found) == str(expected)


@pytest.mark.statistical
def test_many_data_sets(day, processes):
    data = [{"y": [0.1 * k, 1.0]} for k in range(6)]
    expected = infer_many(day, data, seed=1, **FEW)
    found = infer_many(day, data, executor=processes, seed=1, **FEW)
    assert len(found) == 6
    for one, known in zip(found, expected, strict=True):
        same(one, known)
    assert not np.array_equal(found[0].posterior["mu"], found[1].posterior["mu"])


def test_a_data_set_that_fails_costs_no_other(day, processes):
    data = [{"y": [1.0]}, {"y": ["a"]}, {"x": 3}, {"y": [2.0]}]
    for executor in (None, processes):
        with pytest.warns(
            SamplingWarning, match="2 of 4 data sets failed; the first is number 1: "
        ):
            found = infer_many(day, data, executor=executor, seed=1, **FEW)
        assert [isinstance(one, DataError) for one in found] == [False, True, True, False]


def test_what_infer_many_does_not_take(day):
    with pytest.raises(ModelError, match="takes a model class"):
        infer_many(day(y=[1.0]), [])
    with pytest.raises(SamplerError, match=r"must have a method submit\(\)"):
        infer_many(day, [{"y": [1.0]}], executor=3)
    with pytest.raises(SamplerError, match=r"make one, executor=ThreadPoolExecutor\(\)"):
        infer_many(day, [{"y": [1.0]}], executor=ThreadPoolExecutor)
    assert infer_many(day, []) == []


def test_ctrl_c_calls_tasks_off(day):
    cancelled = []

    class Pressed:
        def submit(self, function, *args):
            future = Future()
            future.result, future.cancel = press, lambda: cancelled.append(1)
            return future

    def press():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        infer_many(day, [{"y": [1.0]}] * 3, executor=Pressed(), progressbar=False)
    assert len(cancelled) == 3


def test_a_task_that_workers_cannot_read(day):
    def submit(function, *args):
        future = Future()
        future.set_exception(AttributeError("Can't get attribute 'Day' on <module '__main__'>"))
        return future

    with pytest.raises(SamplerError, match=r"cannot be sent to the workers"):
        sbc(day, 2, coords={"day": range(3)}, executor=types.SimpleNamespace(submit=submit))


def test_an_interrupt_while_a_round_is_kept(model, monkeypatch):
    """The places of the parts are those of the last round that was kept as a whole."""
    from probmodel.inference.collectors import Counter

    expected, take, rounds = infer(model, parts=2, **{**SIZES, "draws": 400}), Counter.take, 0

    def interrupted(self, phase, first, stretch, params):
        nonlocal rounds
        rounds += phase == "draw"
        if rounds == 3:
            raise KeyboardInterrupt
        take(self, phase, first, stretch, params)

    with monkeypatch.context() as patch:
        patch.setattr(Counter, "take", interrupted)
        fit = infer(model, parts=2, **{**SIZES, "draws": 400})
    assert fit.attrs["interrupted"] == 1
    longer = extend(fit, 400, quiet=True)
    whole = expected.posterior["mu"].values
    np.testing.assert_array_equal(longer.posterior["mu"].values[:, :400], whole)


# -- what may be wrong -----------------------------------------------------------------------------


def test_a_lost_worker_costs_its_chains(model):
    expected = infer(model, parts=3, **SIZES)

    def fails(number, job):
        return OSError("the machine is gone") if number == 5 else None

    found = infer(model, executor=Recorder(fails), parts=3, **SIZES)
    (said,) = [f for f in json.loads(found.attrs["warnings"]) if f["kind"] == "lost_workers"]
    assert "(OSError: the machine is gone), and with them the chains 2, 3" in said["message"]
    kept = [0, 1, 4, 5]
    for name in ("mu", "tau"):
        values = found.posterior[name].values
        np.testing.assert_array_equal(values, expected.posterior[name].values[kept])
    assert found.sample_stats["lp"].shape == (4, 300)
    assert found.attrs["draws_done"] == 300
    assert "not_finite_draws" not in found.attrs["warnings"]


def test_all_workers_lost(model):
    def fails(number, job):
        return BrokenProcessPool("killed") if number > 4 else None

    found = infer(model, executor=Recorder(fails), parts=2, **SIZES)
    assert 0 < found.attrs["draws_done"] < 300
    assert found.attrs["interrupted"] == 1
    assert "all of them, which ended the run" in found.attrs["warnings"]
    with pytest.raises(SamplerError, match="were lost before the first draw: BrokenProcessPool"):
        infer(model, executor=Recorder(lambda n, job: BrokenProcessPool("killed")), **SIZES)


def test_a_worker_that_is_killed(model, monkeypatch):
    monkeypatch.setattr(module, "ROUND", 0.2)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        pids = list(pool.map(_pid, range(8)))

        def kill(status):
            if status.iteration > 2000:
                os.kill(pids[0], signal.SIGKILL)

        found = infer(
            model, "rwm", executor=pool, callback=kill, **{**SIZES, "draws": 10**6, "max_time": 60}
        )
    assert 0 < found.attrs["draws_done"] < 10**6
    assert "lost_workers" in found.attrs["warnings"]
    assert np.isfinite(found.posterior["mu"].values).all()


def _pid(number):
    time.sleep(0.05)
    return os.getpid()


def test_ctrl_c_calls_the_others_off(model):
    cancelled = []

    class Slow(Recorder):
        def submit(self, function, job):
            if len(self.jobs) < 4:
                return super().submit(function, job)
            self.jobs.append(job)
            future = Future()
            future.result = press
            future.cancel = lambda: cancelled.append(1)
            return future

    def press():
        raise KeyboardInterrupt

    found = infer(model, executor=Slow(), parts=2, **SIZES)
    assert found.attrs["interrupted"] == 1
    assert found.attrs["draws_done"] > 0
    assert len(cancelled) == 2


def test_a_model_that_workers_do_not_have():
    def lacks(number, job):
        return AttributeError("Can't get attribute 'Local' on <module '__main__'>")

    with pytest.raises(SamplerError, match=r"cannot be sent to the workers.*not in a notebook"):
        infer(Local(y=Y), executor=Recorder(lacks), **SIZES)


@pytest.mark.parametrize("run", ["infer", "infer_many"])
def test_a_worker_of_another_version(model, day, monkeypatch, run):
    class Elsewhere:
        def submit(self, function, *arguments):
            future = Future()
            with monkeypatch.context() as patch:
                patch.setattr(tasks, "__version__", "0.0.9")
                try:
                    future.set_result(function(*arguments))
                except Exception as error:
                    future.set_exception(error)
            return future

    module._densities.clear()
    tasks._known.clear()
    runs = {
        "infer": lambda: infer(model, executor=Elsewhere(), **SIZES),
        "infer_many": lambda: infer_many(day, [{"y": [1.0]}], executor=Elsewhere(), quiet=True),
    }
    with pytest.raises(SamplerError, match=r"has probmodel 0\.0\.9, and the run was sent by prob"):
        runs[run]()


def test_a_model_that_cannot_be_sent():
    class Inner(Model):
        a = param(Normal(0, 1))
        y = observed(Normal(a, 1.0), dims="day")

    assert infer(Inner(y=Y), parts=2, **SIZES).attrs["draws_done"] == 300  # it is not sent
    with pytest.raises(SamplerError, match="cannot be sent to the workers of executor="):
        infer(Inner(y=Y), executor=Recorder(), **SIZES)


@pytest.mark.parametrize("executor", [3, "pool", object()])
def test_what_is_no_executor(model, executor):
    with pytest.raises(SamplerError, match=r"executor= must have a method submit\(\)"):
        infer(model, executor=executor, **SIZES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"pool": False}, "all chains warm up together"), ({"parts": 0}, "parts must be"),
     ({"method": "ahmc"}, "ahmc cannot be drawn in parts")],
)  # fmt: skip
def test_what_goes_not_together(model, arguments, message):
    with pytest.raises(SamplerError, match=message):
        infer(model, executor=Recorder(), **{**SIZES, **arguments})


def test_a_job_can_be_done_twice(model):
    """Densities are remembered, and made anew when they were forgotten."""
    recorder = Recorder()
    infer(model, executor=recorder, **SIZES)
    job = recorder.jobs[-1]
    first = work(job)
    module._densities.clear()
    np.testing.assert_array_equal(work(job).x, first.x)
