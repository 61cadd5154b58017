"""Interrupts over the whole life of a run: what is said to be kept is kept, each time.

Every place in the life of a run is hit for certain, by signals raised there; and runs in processes
of their own are interrupted at random times.
"""

import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from probmodel import cli, sampling
from probmodel.inference import chains, groups, sample_run
from probmodel.results import arviz_object, drawn, draws, storage, summary
from probmodel.results.arviz_object import group
from probmodel.results.reading import load

INT, TERM = signal.SIGINT, signal.SIGTERM
MODEL = """
from probmodel import Model, deterministic, observed, param
from probmodel.distributions import BernoulliLogit, Normal

class Coin(Model):
    p = param(Normal(0, 1.5))
    q = param(Normal(0, 1))
    twice = deterministic(2 * p)
    heads = observed(BernoulliLogit(p), dims="toss")
"""
SIZES = ["--chains", "2", "--draws", "40", "--warmup", "30", "--seed", "1"]
# Places in the life of a run: what is called there, in which module, and in which of its calls.
BEFORE = {
    "place": (storage, "check_place", 1),
    "loading": (cli, "bound_model", 1),
    "rehearsal": (sampling, "rehearse", 1),
    "allocation": (groups, "_split", 1),
    "start": (chains.Group, "start", 1),
    "warm-up": (chains.Group, "warm_up", 20),
    "freezing": (chains.Group, "freeze", 1),
}
AFTER = {
    "sampling": (chains.Group, "draw", 5),
    "last draw": (groups, "_further", 1),
    "assembly": (sample_run.RunInProgress, "assembled", 1),
    "variables": (draws, "named_draws", 1),
    "diagnostics": (drawn, "diagnose", 1),
    "attributes": (drawn, "run_attributes", 1),
    "object": (arviz_object, "wrap", 2),  # the first is the rehearsal's
    "beginning to write": (storage, "_beside", 2),  # the first tries the place
    "writing": (storage, "_write", 1),
    "moving": (os, "replace", 1),
    "table": (summary, "_first", 1),
    "printing": (cli, "_print", 2),
    "warnings": (cli, "_warn", 1),
}
PLACES = {**BEFORE, **AFTER}
BURSTS = [(INT,), (TERM,), (INT, INT), (TERM, INT), (INT, TERM, INT)]


@pytest.fixture
def coin(tmp_path):
    """Words that sample a model and write over an older file."""
    (tmp_path / "coin.py").write_text(MODEL)
    (tmp_path / "coin.json").write_text(json.dumps({"heads": [1, 0, 1, 1, 0, 1]}))
    (tmp_path / "coin.nc").write_text("old")
    words = ["sample", str(tmp_path / "coin.py"), "--data", str(tmp_path / "coin.json")]
    return [*words, "--out", str(tmp_path / "coin.nc")]


@pytest.fixture
def raise_at(monkeypatch):
    """Function that lets signals come at a place, before or after what is called there."""

    def raise_at(place, burst, when="before", patch=monkeypatch):
        owner, name, nth = PLACES[place]
        called, count = getattr(owner, name), itertools.count(1)

        def hooked(*arguments, **settings):
            here = next(count) == nth
            if here and when == "before":
                send(burst)
            value = called(*arguments, **settings)
            if here and when == "after":
                send(burst)
            return value

        patch.setattr(owner, name, hooked)
        return count

    return raise_at


def send(burst):
    """Raise signals; those after the first come while the first is handled."""
    try:
        signal.raise_signal(burst[0])
    finally:
        for number in burst[1:]:
            signal.raise_signal(number)


def verify(folder, said, status, *numbers):
    """Check that what was said is true; return whether draws were kept."""
    out = folder / "coin.nc"
    assert not list(folder.glob(".*"))
    # Python itself prints, and drops, what a signal raises in a destructor or a callback.
    said = re.sub(r"Exception ignored in.*?\nKeyboardInterrupt: *\n", "", said, flags=re.DOTALL)
    assert "Traceback" not in said
    assert status - 128 in numbers
    if "Written to" not in said:
        assert out.read_text() == "old"
        assert "there are no draws to keep" in said
        return False
    result = load(out)
    p = group(result, "posterior")["p"].values
    assert p.shape == (result.attrs["chains"], result.attrs["draws_done"])
    assert np.isfinite(p).all()
    assert result.attrs["draws_done"] > 0
    return True


@pytest.mark.parametrize("place", PLACES)
def test_an_interrupt_anywhere(coin, raise_at, capsys, tmp_path, place):
    number = (INT, TERM)[list(PLACES).index(place) % 2]
    count = raise_at(place, (number,))
    status = cli.main([*coin, *SIZES])
    said = capsys.readouterr().err
    assert next(count) > PLACES[place][2]  # it was reached
    assert verify(tmp_path, said, status, number) == (place in AFTER)
    if place in ("variables", "diagnostics"):
        attrs = load(tmp_path / "coin.nc").attrs
        kinds = {finding["kind"] for finding in json.loads(attrs["warnings"])}
        assert attrs["interrupted"] == 1
        assert {"variables": "variables_left_out", "diagnostics": "diagnostics_skipped"}[
            place
        ] in kinds
        assert "interrupted" in said


# All pairs of a place, a burst and whether it comes before or after what is called there.
SUCCESSIONS = [
    (place, BURSTS[b], ("before", "after")[(p + b) % 2])
    for p, place in enumerate(PLACES)
    for b in range(len(BURSTS))
]


@pytest.mark.statistical
@pytest.mark.parametrize(("place", "burst", "when"), SUCCESSIONS, ids=lambda value: str(value))
def test_interrupts_in_short_succession(coin, raise_at, capsys, tmp_path, place, burst, when):
    raise_at(place, burst, when)
    status = cli.main([*coin, *SIZES])
    kept = verify(tmp_path, capsys.readouterr().err, status, burst[0])
    if when == "before":
        assert kept == (place in AFTER)
    elif place in AFTER:
        assert kept


def apart(place, other):
    """How many places further on the other is."""
    return list(AFTER).index(other) - list(AFTER).index(place)


@pytest.mark.statistical
def test_interrupts_at_two_places(coin, raise_at, capsys, tmp_path):
    bursts = itertools.cycle([(INT,), (TERM, INT)])
    near = [pair for pair in itertools.combinations(AFTER, 2) if apart(*pair) <= 3]
    for places, burst in zip(near, bursts, strict=False):
        (tmp_path / "coin.nc").write_text("old")
        with pytest.MonkeyPatch.context() as patch:
            for place in places:
                raise_at(place, burst, patch=patch)
            status = cli.main([*coin, *SIZES])
        assert verify(tmp_path, capsys.readouterr().err, status, burst[0])


# Signals that come before the first statement of `main`, or after its last one, are Python's.
RUNNER = """
import os, sys
from probmodel import cli
from probmodel.inference.signals import held
with held():
    print("ready", flush=True)
    status = cli.main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(status)
"""


def run_interrupted(words, pauses, numbers):
    """Run the command line and send signals after pauses; return the process and what it said."""
    process = subprocess.Popen(
        [sys.executable, "-c", RUNNER, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    for pause, number in zip(pauses, numbers, strict=True):
        try:
            process.wait(pause)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
    said = process.communicate()[1]
    return process.returncode, said


def interrupted_at_random(coin, folder, rng, whole):
    """Interrupt a run once to three times, somewhere in its life; return whether it kept draws."""
    out = folder / "coin.nc"
    out.write_text("old")
    times = rng.integers(1, 4)
    numbers = [(INT, TERM)[i] for i in rng.integers(2, size=times)]
    pauses = [rng.uniform(0.0, whole), *rng.choice([0.0, 0.01, 0.3], size=times - 1)]
    status, said = run_interrupted([*coin, *LONGER], pauses, numbers)
    if status == 0:  # it was over before the first of them
        return verify(folder, said, 128, 0)
    return verify(folder, said, status, *numbers)  # which comes first is up to the system


# About half of the time is sampling and writing, on fast and slow machines: the rest is imports.
LONGER = ["--chains", "4", "--draws", "100000", "--thin", "20", "--warmup", "500", "--seed", "1"]


@pytest.mark.parametrize("number", [INT, pytest.param(TERM, marks=pytest.mark.statistical)])
def test_an_interrupt_of_a_process(coin, tmp_path, number):
    long = [*coin, "--draws", "1000000", "--thin", "100"]
    status, said = run_interrupted(long, [2.0], [number])
    verify(tmp_path, said, status, number)


@pytest.mark.statistical
def test_interrupts_at_random_times(coin, tmp_path):
    """Six runs; their times are shares of the time that a whole run takes."""
    begin = time.perf_counter()
    assert run_interrupted([*coin, *LONGER], [], [])[0] == 0
    whole = time.perf_counter() - begin
    rng = np.random.default_rng(1)
    kept = [interrupted_at_random(coin, tmp_path, rng, whole) for _ in range(6)]
    assert any(kept)
