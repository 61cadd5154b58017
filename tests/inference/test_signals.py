"""Signals are held back, raise where they may, and are passed on when nothing came of them."""

import multiprocessing.process
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from probmodel import LogDensity, infer
from probmodel.errors import reason
from probmodel.inference.signals import attempt, held, interruptible

INT, TERM = signal.SIGINT, signal.SIGTERM


def test_a_signal_waits_for_a_place_to_raise():
    with held() as received:
        signal.raise_signal(INT)
        signal.raise_signal(TERM)
        with pytest.raises(KeyboardInterrupt), interruptible():
            pytest.fail("it had waited")
        with interruptible():
            reached = True  # it raises once
    assert reached
    assert received == [INT, TERM]


@pytest.mark.parametrize("number", [INT, TERM])
def test_a_signal_raises_where_it_may(number):
    with held() as received:
        _, error = attempt(lambda: signal.raise_signal(number))
    assert isinstance(error, KeyboardInterrupt)
    assert received == [number]


def test_what_handles_an_interrupt_is_not_interrupted():
    done = []

    def work():
        try:
            signal.raise_signal(INT)
        finally:
            signal.raise_signal(INT)
            done.append("cleaned up")

    with held() as received:
        _, error = attempt(work)
        _, second = attempt(lambda: done.append("skipped"))
    assert done == ["cleaned up"]
    assert isinstance(error, KeyboardInterrupt)
    assert isinstance(second, KeyboardInterrupt)
    assert len(received) == 2


class Dropping:
    """Raises a signal where Python drops exceptions: in a destructor."""

    def __del__(self):
        signal.raise_signal(INT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_exception_that_python_drops_is_raised_again():
    reached = []

    def work():
        Dropping()
        reached.append(True)

    with held():
        assert attempt(work) == (None, None)
        with pytest.raises(KeyboardInterrupt), interruptible():
            pytest.fail("it had waited")
        with interruptible():
            reached.append(True)
    assert len(reached) == 2


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_long_loop_sees_what_python_dropped():
    density = LogDensity.from_function(lambda x: -0.5 * np.sum(x * x, axis=1), 1)
    calls = []

    def dropping(x):
        calls.append(None)
        if len(calls) == 100:
            Dropping()
        return density.log_density(x)

    watched = LogDensity.from_function(dropping, 1, gradient=False)
    result = infer(watched, "rwm", draws=10**6, warmup=50, chains=2, seed=1, quiet=True)
    assert result.attrs["interrupted"] == 1
    assert len(calls) < 200


class Loud:
    """A descriptor that raises a signal as its class is made."""

    def __set_name__(self, owner, name):
        signal.raise_signal(INT)


def test_a_signal_while_a_class_is_made():
    """As happens while modules are imported. Python 3.11 makes a RuntimeError of it."""

    def made():
        return type("Made", (), {"loud": Loud()})

    def within():
        with interruptible():
            made()

    with held():
        for work in (made, within):
            _, error = attempt(work)
            assert isinstance(error, KeyboardInterrupt)
            assert attempt(lambda: 1) == (1, None)  # the signal has had its effect


def test_regions_within_regions():
    with held(), interruptible():
        with held():
            signal.raise_signal(INT)  # waits
        with pytest.raises(KeyboardInterrupt), interruptible():
            pass
        with interruptible():
            pass
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(INT)


def test_handlers_are_put_back():
    before = [signal.getsignal(number) for number in (INT, TERM, signal.SIGHUP)]
    with held():
        assert signal.getsignal(INT) is not before[0]
        with held():
            pass
        assert signal.getsignal(TERM) is not before[1]
    with pytest.raises(ZeroDivisionError), held():
        raise ZeroDivisionError
    assert [signal.getsignal(number) for number in (INT, TERM, signal.SIGHUP)] == before


def test_a_handler_of_the_user_stays():
    calls = []
    before = signal.signal(TERM, lambda *arguments: calls.append("mine"))
    try:
        with held() as received:
            signal.raise_signal(TERM)
    finally:
        signal.signal(TERM, before)
    assert (calls, received) == (["mine"], [])


def test_a_worker_obeys_its_parent(monkeypatch):
    monkeypatch.setattr(multiprocessing.process, "parent_process", object)
    with held():
        assert signal.getsignal(TERM) is signal.SIG_DFL
        assert signal.getsignal(INT) is not signal.default_int_handler


def test_other_threads_leave_signals_alone():
    seen = []

    def run():
        with held() as received, interruptible():
            seen.append((signal.getsignal(INT), list(received)))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [(signal.default_int_handler, [])]


def test_an_error_passes_on_a_signal_that_waited():
    def work():
        with held():
            signal.raise_signal(INT)
            raise ZeroDivisionError

    with pytest.raises(KeyboardInterrupt):
        work()


@pytest.mark.parametrize("place", ["pass", "raise ZeroDivisionError"])
def test_a_run_without_result_ends_by_the_signal(place):
    """SIGTERM does then what it did before: it ends the process, and no traceback is printed."""
    inner = "with interruptible(): pass" if place == "pass" else place
    code = (
        "import signal\nfrom probmodel.inference.signals import held, interruptible\n"
        f"with held():\n    signal.raise_signal(signal.SIGTERM)\n    {inner}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (-TERM, "")


@pytest.mark.parametrize("error", [ValueError, MemoryError, SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("stoppable", [True, False])
def test_an_attempt_survives_anything(error, stoppable):
    def work():
        raise error("why")

    value, found = attempt(work, stoppable=stoppable)
    assert value is None
    assert isinstance(found, error)
    assert reason(found) == {
        KeyboardInterrupt: "interrupted",
        MemoryError: "it does not fit into memory",
        ValueError: "why",
    }.get(error, f"{error.__name__}: why")
    assert attempt(lambda: 3, stoppable=stoppable) == (3, None)


def test_reasons():
    assert reason(OSError(28, "No space left on device")) == "No space left on device"
    assert reason(MemoryError()) == "it does not fit into memory"
