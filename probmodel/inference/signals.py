"""Signals that end a run: Ctrl-C, a batch scheduler's SIGTERM, the SIGHUP of a closed terminal.

A `KeyboardInterrupt` may come between any two instructions, so that no order of statements is sure
to keep what was drawn. Within `held` such a signal is noted and raises nothing; it becomes a
`KeyboardInterrupt` only where `interruptible` says that the work at hand may end early or be left
out. One that came before waits for the next such place.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

# The signals, with the handlers that may be replaced: a handler of the user's own stays.
_USUAL: dict[int, Any] = {
    number: signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
    for name in ("SIGINT", "SIGTERM", "SIGHUP")
    if (number := getattr(signal, name, None)) is not None
}


class _Holder:
    """Handler of the signals.

    Attributes
    ----------
    received : numbers of the signals so far
    open : whether a signal may raise
    waiting : whether one came while it might not, or raised in vain
    raised : whether one has raised, and the region that is open has not ended yet
    """

    def __init__(self) -> None:
        self.received: list[int] = []
        self.open = self.waiting = self.raised = False

    def __call__(self, number: int, frame: Any) -> None:
        self.received.append(number)
        # The import system drops exceptions in its callbacks, and prints them.
        importing = frame is not None and frame.f_code.co_filename.startswith("<frozen importlib")
        if self.open and not importing:
            self.open = False  # one exception is enough: what handles it is not interrupted
            self.raised = True
            raise KeyboardInterrupt
        self.waiting = True


_holder: _Holder | None = None  # that of the main thread, the only one that gets signals


def _current() -> _Holder | None:
    return _holder if threading.current_thread() is threading.main_thread() else None


@contextlib.contextmanager
def held() -> Iterator[list[int]]:
    """Hold back the signals that end a run, until the block is left.

    Yields
    ------
    list of int
        The signals that have come since the outermost block began; it goes on growing. In a thread
        other than the main one it stays empty, and signals are left to the main thread.

    A block that ends with an exception passes on a signal that has had no effect, or none but this
    exception: to what handled it before, which for SIGTERM ends the process.
    """
    outer = _current()
    if outer is None:
        with _taken() as received:
            yield received
        return
    was_open, outer.open = outer.open, False
    try:
        yield outer.received
    finally:
        outer.open = was_open


@contextlib.contextmanager
def _taken() -> Iterator[list[int]]:
    """Replace the usual handlers, and put them back."""
    global _holder
    holder, previous = _Holder(), {}
    try:
        if threading.current_thread() is threading.main_thread():
            _holder = holder
            for number in _replaceable():
                previous[number] = signal.signal(number, holder)
        yield holder.received
    except BaseException as error:
        _restore(previous)
        interrupted = isinstance(error, KeyboardInterrupt)
        last = holder.received[-1:] if holder.waiting or interrupted else []
        if last and not (interrupted and last == [signal.SIGINT]):
            signal.raise_signal(last[0])
        raise
    finally:
        _restore(previous)


def _restore(previous: dict[int, Any]) -> None:
    global _holder
    if threading.current_thread() is threading.main_thread():
        for number in list(previous):
            signal.signal(number, previous.pop(number))
        _holder = None


def _replaceable() -> list[int]:
    """Return the signals that would end the process.

    A worker of `multiprocessing` is told to go by SIGTERM, and waited for: it has to obey.
    """
    processes = sys.modules.get("multiprocessing.process")
    worker = processes is not None and processes.parent_process() is not None
    return [
        number
        for number, usual in _USUAL.items()
        if signal.getsignal(number) is usual and (number == signal.SIGINT or not worker)
    ]


class interruptible:  # noqa: N801 (used as a function)
    """Context in which a signal that is held back elsewhere raises `KeyboardInterrupt`.

    Raises
    ------
    KeyboardInterrupt
        Also for a signal that came before. Whatever handles it runs with signals held back.
    """

    def __enter__(self) -> None:
        self._holder = _current()
        if self._holder is None:
            return
        self._was_open, self._holder.open = self._holder.open, True
        if self._holder.waiting:
            self._holder.waiting, self._holder.open = False, self._was_open
            raise KeyboardInterrupt

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, *trace: object
    ) -> None:
        holder = self._holder
        if holder is None:
            return
        holder.open = self._was_open
        raised, holder.raised = holder.raised, False
        if raised and not isinstance(error, KeyboardInterrupt):
            # Python 3.11 makes a RuntimeError of what `__set_name__` raises while a class is made.
            if error is not None and isinstance(error.__cause__, KeyboardInterrupt):
                raise error.__cause__
            # It drops exceptions in callbacks, such as those of locks while it imports a module.
            holder.waiting = True


def raise_dropped() -> None:
    """Raise the `KeyboardInterrupt` of a signal whose own was dropped; for loops that take long."""
    holder = _current()
    if holder is not None and (holder.raised or holder.waiting):
        holder.raised = holder.waiting = False
        raise KeyboardInterrupt


def attempt(
    work: Callable[[], T], *, stoppable: bool = True
) -> tuple[T, None] | tuple[None, BaseException]:
    """Do work that must not take the draws with it, whatever becomes of it.

    Returns what it returned and None; or None and why it came to nothing: its exception, of any
    kind, or a `KeyboardInterrupt`. A signal may end it if it is ``stoppable``.
    """
    try:
        if not stoppable:
            return work(), None
        with interruptible():
            return work(), None
    except BaseException as error:
        return None, error
