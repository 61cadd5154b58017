"""Runs that are kept in a folder while they are made, and gone on with."""

import errno
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from probmodel import Converged, LogDensity, Model, infer, load_model, observed, param, resume
from probmodel.density import engines
from probmodel.distributions import HalfNormal, Normal
from probmodel.errors import ModelError, OutputError, SamplerError, TimeLimitError
from probmodel.inference import checkpoint as module
from probmodel.inference.checkpoint import FileColumn
from probmodel.inference.collectors import DrawStore
from probmodel.results.arviz_object import group_names
from probmodel.samplers.hamiltonian import several_transitions
from probmodel.samplers.hamiltonian.fisher_hmc import FisherHMC
from probmodel.samplers.random_walk.rwm import RandomWalk

at_length = partial(pytest.param, marks=pytest.mark.statistical)
SIZES = {"chains": 4, "warmup": 60, "draws": 120, "seed": 2, "quiet": True}
FIRST = 61  # state after the warm-up; how many there are in all depends on the time that draws take
MODEL = """
import numpy as np
from probmodel import Model, data, deterministic, observed, param
from probmodel.distributions import HalfNormal, Normal

class Groups(Model):
    tau = param(HalfNormal(1))
    mu = param(Normal(0, 1), dims="group")
    y = observed(Normal(tau * mu, 1.0), dims="group")
    double = deterministic(2.0 * mu, dims="group")
"""
Y = [0.3, -1.0, 2.0, 0.1, 0.7]


class Line(Model):
    """A model of this module."""

    a = param(Normal(0, 1))
    s = param(HalfNormal(1))
    y = observed(Normal(a, s), dims="day")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "run"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "groups.py"
    path.write_text(MODEL)
    return path


@pytest.fixture
def often(monkeypatch):
    """A state is written between any two iterations."""
    monkeypatch.setattr(module, "INTERVAL", 0.0)
    monkeypatch.setattr(module, "SHARE", np.inf)
    monkeypatch.setattr(module.os, "fsync", lambda descriptor: None)


def same(result, expected):
    """Assert that two results have the same draws, statistics and account of themselves."""
    assert set(group_names(result)) == set(group_names(expected))
    for name in set(group_names(expected)) - {"sampler_state"}:  # which holds seconds
        found, known = result[name], expected[name]
        assert list(found.data_vars) == list(known.data_vars)
        for key in known.data_vars:
            np.testing.assert_array_equal(found[key].values, known[key].values)
    passing = {"created_at", "warmup_time", "sampling_time", "max_time"}
    for key in expected.attrs.keys() - passing:
        assert result.attrs[key] == expected.attrs[key], key


class Stop(Exception):  # noqa: N818 (no error)
    """Ends a run without any ceremony, as a kill does."""


def killed(monkeypatch, folder, written, model, *args, **arguments):
    """Begin a run that ends after so many states."""
    states, write = 0, module._write

    def watched(path, content):
        nonlocal states
        write(path, content)
        states += path.name == "state.npz"
        if states == written:
            raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(module, "_write", watched)
        with pytest.raises(Stop):
            infer(model, *args, checkpoint=folder, **arguments)


# -- what is drawn ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "written"),
    [("fisher_hmc", 1), ("fisher_hmc", FIRST), ("nuts", 30), ("nuts", FIRST),
     ("fisher_mala", FIRST), ("rwm", 30), ("rwm", FIRST + 30)],
)  # fmt: skip
def test_a_run_that_was_killed_is_gone_on_with(monkeypatch, often, folder, file, method, written):
    model = load_model(file)(y=Y)
    expected = infer(model, method, **SIZES)
    monkeypatch.setattr(module, "_BUFFER", 1000)
    killed(monkeypatch, folder, written, model, method, **SIZES)
    same(resume(folder, quiet=True), expected)
    same(resume(folder, quiet=True), expected)  # it has ended


@pytest.mark.parametrize(
    "arguments",
    [
        {"thin": 3},
        {"pool": False, "draws": 40},
        {"save_warmup": True},
        {"engine": "numpy"},
        {"draws": None, "until": Converged(ess=800)},
        at_length({"var_names": "tau"}),
        at_length({"inits": {"tau": 0.5}}),
        at_length({"engine": "llvm"}),
        at_length({"draws": None, "ess": 800}),
        at_length({"method": FisherHMC(persistence=0.3, jitter=0.0)}),
        at_length({"chains": 1}),
        at_length({"method": "sa_mcmc", "chains": None}),
    ],
    ids=str,
)
@pytest.mark.parametrize("part", [2, at_length(3)])
def test_whatever_the_arguments(monkeypatch, often, folder, file, arguments, part):
    monkeypatch.setattr(several_transitions, "LONGEST", 0.0)  # as many states each time
    model = load_model(file)(y=Y)
    expected = infer(model, **{**SIZES, **arguments})
    states = 0

    def count(path, value, write=module._write):
        nonlocal states
        write(path, value)
        states += path.name == "state.npz"

    with monkeypatch.context() as patch:
        patch.setattr(module, "_write", count)
        same(infer(model, **{**SIZES, **arguments}, checkpoint=folder), expected)
    shutil.rmtree(folder)
    killed(monkeypatch, folder, states // part, model, **{**SIZES, **arguments})
    same(resume(folder, quiet=True), expected)


@pytest.mark.parametrize(("method", "enough"), [("fisher_hmc", 16_000.0), ("nuts", 40_000.0)])
def test_machine_code_takes_over_where_it_would_have(
    monkeypatch, often, folder, file, method, enough
):
    """That is in draw 18 or 27. An interrupt comes when draws have been made, and are not kept."""
    model, settings = load_model(file)(y=Y), {**SIZES, "warmup": 20, "draws": 60}
    monkeypatch.setattr(engines, "ENOUGH", enough)
    expected, take = infer(model, method, **settings), DrawStore.take

    for stopped in (3, 17, 18, 19, 27, 28, 45):

        def interrupted(self, phase, first, stretch, params, stopped=stopped):
            if phase == "draw" and first >= stopped:
                raise KeyboardInterrupt
            take(self, phase, first, stretch, params)

        with monkeypatch.context() as patch:
            patch.setattr(DrawStore, "take", interrupted)
            infer(model, method, checkpoint=folder, **settings)
        same(resume(folder, quiet=True), expected)
        shutil.rmtree(folder)


def test_a_run_that_was_killed_before_its_first_state(monkeypatch, folder, file):
    model = load_model(file)(y=Y)
    expected = infer(model, **SIZES)

    def stop(*args, **settings):
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr("probmodel.sampling.sample", stop)
        with pytest.raises(Stop):
            infer(model, checkpoint=folder, **SIZES)
    assert not (folder / "state.npz").exists()
    same(resume(folder, quiet=True), expected)


def test_the_time_limit_ends_a_run_that_goes_on_later(folder, file):
    model = load_model(file)(y=Y)
    arguments = {**SIZES, "draws": 2000, "thin": 10}
    found = infer(model, "rwm", max_time=0.4, checkpoint=folder, **arguments)
    assert found.attrs["timed_out"] == 1
    assert 0 < found.attrs["draws_done"] < 2000
    done = resume(folder, max_time=0.2, quiet=True)
    assert found.attrs["draws_done"] < done.attrs["draws_done"] < 2000
    whole = resume(folder, quiet=True)
    assert whole.attrs["draws_done"] == 2000
    first = found["posterior"]["mu"].values
    np.testing.assert_array_equal(whole["posterior"]["mu"].values[:, : first.shape[1]], first)


def test_the_error_of_a_run_without_draws_names_its_checkpoint(folder, file):
    model = load_model(file)(y=Y)
    advice = re.escape(f"go on from here: resume({str(folder)!r}), or probmodel resume {folder}.")
    arguments = {**SIZES, "warmup": 10**6, "max_time": 0.3}
    with pytest.raises(TimeLimitError, match=advice):
        infer(model, "rwm", checkpoint=folder, **arguments)
    with pytest.raises(TimeLimitError, match=advice):
        resume(folder, max_time=0.3, quiet=True)


KILLED = """
import sys
from probmodel import infer, load_model
from probmodel.inference import checkpoint

checkpoint.INTERVAL, checkpoint.SHARE = 0.02, 1.0
model, sizes = load_model(sys.argv[1])(y={y}), {sizes}
infer(model, sys.argv[3], checkpoint=sys.argv[2], **sizes)
"""
LONG = {"nuts": 3_000, "rwm": 6_000}


@pytest.mark.statistical
@pytest.mark.parametrize("method", LONG)
def test_kill_at_random_moments(tmp_path, file, method):
    """By SIGKILL, which no process can prepare for."""
    times = 3
    sizes = {**SIZES, "draws": LONG[method]}
    expected = infer(load_model(file)(y=Y), method, **sizes)
    code, rng, found = KILLED.format(y=Y, sizes=sizes), np.random.default_rng(1), []
    for k in range(times):
        folder = tmp_path / f"run{k}"
        process = subprocess.Popen([sys.executable, "-c", code, str(file), str(folder), method])
        while not (folder / ("state.npz" if k % 2 else "request.npz")).exists():
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        found.append((folder / "state.npz").exists())
        same(resume(folder, quiet=True), expected)
        shutil.rmtree(folder)
    assert sum(found) >= times // 2


def test_draws_are_read_with_numpy_alone(folder, file):
    result = infer(load_model(file)(y=Y), checkpoint=folder, **SIZES)
    x = np.load(folder / "draws" / "draw.0.x.npy")
    assert x.shape == (SIZES["draws"], 4, 6)
    lp = np.load(folder / "draws" / "draw.0.lp.npy")
    np.testing.assert_array_equal(lp.T, result["sample_stats"]["lp"].values)
    np.testing.assert_array_equal(
        np.load(folder / "posterior" / "tau.npy"), result["posterior"]["tau"].values
    )


# -- the model -------------------------------------------------------------------------------------


def test_a_class_that_is_imported_is_found(folder):
    expected = infer(Line(y=Y), **SIZES)
    infer(Line(y=Y), checkpoint=folder, **SIZES)
    same(resume(folder, quiet=True), expected)


def test_labels_and_missing_values_survive(folder):
    class Day(Model):
        mu = param(Normal(0, 1))
        y = observed(Normal(mu, 1.0), dims="day", missing="impute")

    model = Day(y=[0.1, np.nan, 0.3], coords={"day": np.array(["a", "b", "c"], dtype=object)})
    expected = infer(model, **SIZES)
    infer(model, checkpoint=folder, **SIZES)
    same(resume(folder, model, quiet=True), expected)


def test_a_file_that_has_changed_is_refused_with_what_changed(folder, file):
    infer(load_model(file)(y=Y), checkpoint=folder, **SIZES)
    file.write_text(MODEL.replace("HalfNormal(1)", "HalfNormal(2)"))
    changed = r"has changed since .*\n  - .*\(1\)\)\n  \+ .*\(2\)\)\nPass the model: resume"
    with pytest.raises(ModelError, match=changed):
        resume(folder)
    file.write_text(f"{MODEL}\nunused = 0\n")
    with pytest.raises(ModelError, match="has changed since"):
        resume(folder)
    result = resume(folder, load_model(file)(y=Y), quiet=True)  # the user says that it is right
    assert result.attrs["draws_done"] == SIZES["draws"]


def test_remarks_may_change(folder, file):
    infer(load_model(file)(y=Y), checkpoint=folder, **SIZES)
    file.write_text(f'"""A line."""\n{MODEL}\n# a remark')
    assert resume(folder, quiet=True).attrs["draws_done"] == SIZES["draws"]


def test_a_file_that_is_gone(folder, file):
    infer(load_model(file)(y=Y), checkpoint=folder, **SIZES)
    file.unlink()
    with pytest.raises(
        ModelError, match=r"model file .* is gone. Pass the model: resume\(.*, model=...\)"
    ):
        resume(folder)


@pytest.mark.parametrize(
    ("y", "what"),
    [([*Y[:4], 0.8], "y has other values"), (Y[:4], r"y has the shape \(4,\), and had \(5,\)")],
)
def test_other_data_are_refused(folder, file, y, what):
    infer(load_model(file)(y=Y), checkpoint=folder, **SIZES)
    with pytest.raises(OutputError, match=f"is of another model or data: {what}"):
        resume(folder, load_model(file)(y=y))


def test_a_log_density_is_given_again(folder):
    density = LogDensity.from_function(
        lambda x: -0.5 * np.sum(x**2, axis=1), 2, gradient=np.negative
    )
    expected = infer(density, **SIZES)
    infer(density, checkpoint=folder, **SIZES)
    with pytest.raises(OutputError, match="of a log density, which is not stored with it"):
        resume(folder)
    same(resume(folder, density, quiet=True), expected)


# -- what may be wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", " "])
def test_an_empty_path_is_no_folder(path):
    with pytest.raises(OutputError, match=r"must be the path of a new folder, got '.*'\. Leave it"):
        infer(Line(y=Y), checkpoint=path, quiet=True)


def test_a_folder_with_something_in_it_is_left_alone(folder, file):
    infer(load_model(file)(y=Y), checkpoint=folder, **SIZES)
    with pytest.raises(OutputError, match=r"exists already\. If it is of an earlier run, resume"):
        infer(load_model(file)(y=Y), checkpoint=folder, **SIZES)


@pytest.mark.parametrize("path", ["nothing", "."])
def test_what_is_no_checkpoint(tmp_path, path):
    with pytest.raises(OutputError, match="holds no checkpoint of a run"):
        resume(tmp_path / path)


def test_settings_that_cannot_be_written(folder, file):
    with pytest.raises(OutputError, match=r"cannot have a checkpoint: .*function cannot be"):
        infer(
            load_model(file)(y=Y), "ahmc", reward=lambda draws, h, n: 0.0, checkpoint=folder,
            **SIZES,
        )  # fmt: skip


@pytest.mark.parametrize("name", ["request.npz", "state.npz", "draws/draw.0.x.npy"])
@pytest.mark.parametrize("how", ["empty", "half", "gone", "noise"])
def test_damage_is_said(folder, file, name, how):
    infer(load_model(file)(y=Y), checkpoint=folder, **SIZES)
    path = folder / name
    content = path.read_bytes()
    if how == "gone":
        path.unlink()
    else:
        noise = np.random.default_rng(0).bytes(len(content))
        path.write_bytes({"empty": b"", "half": content[: len(content) // 2], "noise": noise}[how])
    if name == "state.npz" and how == "gone":  # as if there had been none yet
        assert resume(folder, quiet=True).attrs["draws_done"] == SIZES["draws"]
        return
    none = name == "request.npz" and how == "gone"
    with pytest.raises(OutputError, match="no checkpoint of a run" if none else "cannot be read"):
        resume(folder)


def test_another_version(folder, file, monkeypatch):
    infer(load_model(file)(y=Y), checkpoint=folder, **SIZES)
    monkeypatch.setattr("probmodel.resuming.package_version", lambda name: "9.9")
    with pytest.raises(
        OutputError,
        match=r"by probmodel 0\.1\.0, and only that version can resume it; this is 9\.9",
    ):
        resume(folder)


HELD = """
import sys, time
from pathlib import Path
from probmodel.inference.checkpoint import Checkpoint

held = Checkpoint(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_one_process_at_a_time(folder, file):
    infer(load_model(file)(y=Y), checkpoint=folder, **SIZES)
    words = [sys.executable, "-c", HELD, str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with pytest.raises(OutputError, match="in use by a run that has not ended"):
            resume(folder)
        process.kill()
    assert resume(folder, quiet=True).attrs["draws_done"] == SIZES["draws"]


def test_a_full_disk_ends_the_run_and_keeps_everything(monkeypatch, often, folder, file):
    model = load_model(file)(y=Y)
    expected = infer(model, "rwm", **SIZES)
    monkeypatch.setattr(module, "_BUFFER", 2000)
    flush, full = FileColumn.flush, False

    def limited(self, durable=False):
        nonlocal full
        full = full or self.rows > 50
        if full:
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(self, durable)

    with monkeypatch.context() as patch:
        patch.setattr(FileColumn, "flush", limited)
        found = infer(model, "rwm", checkpoint=folder, **SIZES)
    assert found.attrs["interrupted"] == 1
    (said,) = [f for f in json.loads(found.attrs["warnings"]) if f["kind"] == "checkpoint"]
    assert "No space left on device" in said["message"]
    n = found.attrs["draws_done"]
    assert 50 < n < SIZES["draws"]
    for name in expected["posterior"].data_vars:
        values = found["posterior"][name].values
        np.testing.assert_array_equal(values, expected["posterior"][name].values[:, :n])
    same(resume(folder, quiet=True), expected)


def test_a_disk_without_room_for_the_variables(monkeypatch, folder, file):
    """They stay in memory: a mapped file would end the process."""

    def full(descriptor, offset, size):
        raise OSError(errno.ENOSPC, "No space left on device")

    model = load_model(file)(y=Y)
    expected = infer(model, **SIZES)
    monkeypatch.setattr(module.os, "posix_fallocate", full)
    found = infer(model, checkpoint=folder, **SIZES)
    same(found, expected)
    assert not isinstance(found["posterior"]["mu"].values, np.memmap)


def test_a_state_that_cannot_be_written_ends_the_run(monkeypatch, often, folder, file):
    def lost(value, pack=module.packed):
        if "state" in value and value["state"]["groups"][0]["drawn"] == 5:
            raise module.EncodingError("a thing cannot be written")
        return pack(value)

    monkeypatch.setattr(module, "packed", lost)
    found = infer(load_model(file)(y=Y), "rwm", checkpoint=folder, **SIZES)
    assert found.attrs["draws_done"] == 5
    assert "a thing cannot be written" in found.attrs["warnings"]


class Noted(RandomWalk):
    """A sampler whose adaptation holds a function."""

    def adapt_init(self, rng, density, state):
        return super().adapt_init(rng, density, state), len

    def adapt(self, rng, density, i, n_warmup, adaptation, state, info):
        own = super().adapt(rng, density, i, n_warmup, adaptation[0], state, info)
        return own, adaptation[1]

    def params(self, adaptation, final=False):
        return super().params(adaptation[0], final)


def test_what_a_sampler_learns_has_to_be_data(folder, file):
    """It is said after one iteration, before there is anything to lose."""
    moves = []
    with pytest.raises(OutputError, match=r"cannot have a checkpoint: .*function.*cannot be writt"):
        infer(load_model(file)(y=Y), Noted(), checkpoint=folder, callback=moves.append, **SIZES)
    assert all(status.iteration <= 1 for status in moves)
    assert not folder.exists()


def test_another_model_of_the_same_data_is_refused(folder, file):
    infer(load_model(file)(y=Y), checkpoint=folder, **SIZES)
    file.write_text(MODEL.replace("HalfNormal(1)", "HalfNormal(3)"))
    with pytest.raises(SamplerError, match="log density has changed"):
        resume(folder, load_model(file)(y=Y))


@pytest.mark.parametrize("parts", [None, 3])
def test_a_run_in_parts_that_was_killed_before_its_first_state(monkeypatch, folder, file, parts):
    model = load_model(file)(y=Y)
    expected = infer(model, parts=parts or 2, **SIZES)

    def stop(*args, **settings):
        raise Stop

    with ThreadPoolExecutor(2) as pool, monkeypatch.context() as patch:
        patch.setattr("probmodel.sampling.sample", stop)
        with pytest.raises(Stop):
            infer(model, executor=pool, parts=parts, checkpoint=folder, **SIZES)
    same(resume(folder, quiet=True), expected)


def test_wrong_arguments_leave_no_folder(folder, file):
    with pytest.raises(SamplerError):
        infer(load_model(file)(y=Y), checkpoint=folder, **{**SIZES, "draws": 0})
    assert not folder.exists()


def test_a_folder_that_cannot_be_made(tmp_path, file):
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match=r"exists already|cannot be made"):
        infer(load_model(file)(y=Y), checkpoint=tmp_path / "file" / "run", **SIZES)


# -- files of draws --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [float, np.int64, bool])
@pytest.mark.parametrize("buffer", [1, 100, 1 << 20])
def test_columns(tmp_path, monkeypatch, dtype, buffer):
    monkeypatch.setattr(module, "_BUFFER", buffer)
    rng = np.random.default_rng(0)
    values = (rng.standard_normal((40, 3, 2)) * 10).astype(dtype)
    column = FileColumn(tmp_path / "x.npy", (3, 2), dtype)
    assert column.first(0).shape == (3, 0, 2)
    at = 0
    for n in (1, 0, 7, 1, 20, 11):
        column.write(at, values[at : at + n])
        at += n
        np.testing.assert_array_equal(column.first(at), values[:at].swapaxes(0, 1))
    column.flush(durable=True)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), values)
    again = FileColumn(tmp_path / "x.npy", (3, 2), dtype, rows=5)  # what follows was not counted
    again.write(5, values[:2])
    np.testing.assert_array_equal(
        again.first(7).swapaxes(0, 1), np.concatenate([values[:5], values[:2]])
    )
    assert len(np.load(tmp_path / "x.npy")) == 7
