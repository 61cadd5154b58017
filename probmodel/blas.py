"""How many threads BLAS uses while a run lasts.

NumPy and SciPy hand matrix products and factorisations to BLAS, which splits each between all
cores. The matrices of most models are too small for that: the threads wait for each other longer
than they compute, and on cores with other work, a hundred times longer. So one thread is the rule.
More are used where a single evaluation takes so long that they can be tried and compared.

The number belongs to the whole process, so that runs in several threads of it count together. It is
given back when the last of them ends.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController

_WORTH_A_TRIAL = 0.05  # seconds that an evaluation takes
_TRIALS = 3  # that more threads must win, each time
_GAIN = 0.75  # of the time of one thread: what they must reach to be worth the other cores


class _Limit:
    """One thread for BLAS as long as somebody holds it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders = 0
        self._before: dict[str, int] = {}  # threads of each library without the limit

    def hold(self) -> None:
        with self._lock:
            self._holders += 1
            for library in _libraries():
                threads = library.get_num_threads()
                if threads is not None and threads > 1:
                    self._before.setdefault(library.filepath, threads)
                    _set_threads(library, 1)

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders:
                return
            for library in _libraries():
                if library.filepath in self._before:
                    _set_threads(library, self._before.pop(library.filepath))


def _libraries() -> Any:
    """Return the BLAS libraries of the process. To look for them takes milliseconds."""
    global _found
    modules = len(sys.modules)  # libraries come with imports
    if _found is None or _found[0] != modules:
        _found = modules, ThreadpoolController().select(user_api="blas").lib_controllers
    return _found[1]


_found: tuple[int, Any] | None = None


def _set_threads(library: Any, n: int) -> None:
    """Set the number of threads of a library, whichever thread of the process did so last.

    threadpoolctl lets one thread alone set it from version 3.8 on, until that thread lets go. The
    limit here is held by all runs together, so that the last one must be able to lift it.
    """
    let_go = getattr(library, "clear_controlling_thread", None)
    if let_go is None:
        library.set_num_threads(n)
        return
    let_go(force=True)
    library.set_num_threads(n)
    let_go(force=True)


_LIMIT = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread, and give back what it had."""
    _LIMIT.hold()
    try:
        yield
    finally:
        _LIMIT.release()


@contextmanager
def suitable_blas_threads(
    evaluate: Callable[[], Any],
    threads: int | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[int]:
    """Let BLAS use all its threads instead of the one it has, if that is clearly faster.

    To be used within `one_blas_thread`. A long evaluation is timed with one thread and with all, by
    turns. Short ones are not: their number of threads, and so their rounding, never depends on
    what else the machine does.

    Parameters
    ----------
    evaluate : what the run does over and over again, for one chain: many small matrices of many
        chains are no reason for more threads
    threads : how many were found to be suitable before, if that is known: nothing is timed then
    clock : seconds

    Yields
    ------
    int
        The number of threads, 0 if nothing is known of the BLAS at hand.
    """
    if not (_more_pay(evaluate, clock) if threads is None else threads > 1):
        yield blas_threads()
        return
    _LIMIT.release()
    try:
        yield blas_threads()
    finally:
        _LIMIT.hold()


def blas_threads() -> int:
    """Return the largest number of threads that a BLAS library in this process uses now."""
    return max((library.get_num_threads() or 0 for library in _libraries()), default=0)


def _more_pay(evaluate: Callable[[], Any], clock: Callable[[], float]) -> bool:
    """Compare one thread with all of them, where an evaluation takes long."""

    def seconds() -> float:
        begin = clock()
        evaluate()
        return clock() - begin

    def seconds_with_all() -> float:
        _LIMIT.release()
        try:
            return seconds()
        finally:
            _LIMIT.hold()

    if seconds() < _WORTH_A_TRIAL:
        return False
    return all(seconds_with_all() < _GAIN * seconds() for _ in range(_TRIALS))


__all__ = ["blas_threads", "one_blas_thread", "suitable_blas_threads"]
