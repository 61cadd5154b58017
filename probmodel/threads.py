"""Threads for work that NumPy or machine code does without Python's lock."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_limit: contextvars.ContextVar[int | None] = contextvars.ContextVar("cores", default=None)
_here = threading.local()


def available_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every platform
        return os.cpu_count() or 1


@contextmanager
def at_most(cores: int | None) -> Iterator[None]:
    """Let `shared` use so many cores at most; None for all."""
    token = _limit.set(cores)
    try:
        yield
    finally:
        _limit.reset(token)


def shared(function: Callable[[ItemT], ResultT], items: Iterable[ItemT]) -> list[ResultT]:
    """Apply a function to each item, on several cores; results in the order of the items.

    What the function does must not depend on which thread runs it.
    """
    items = list(items)
    cores = min(_limit.get() or available_cores(), len(items))
    if cores < 2 or getattr(_here, "inside", False):
        return [function(item) for item in items]
    parts = [items[k::cores] for k in range(cores)]

    def work(part: list[ItemT]) -> list[ResultT]:
        return [function(item) for item in part]

    jobs = [submitted(contextvars.copy_context().run, work, part) for part in parts[1:]]
    done = [work(parts[0]), *(job.result() for job in jobs)]
    return [done[k % cores][k // cores] for k in range(len(items))]


def submitted(function: Callable[..., Any], *args: Any) -> Any:
    """Hand a call to a thread; returns a future."""
    return _pool().submit(function, *args)


def ahead(function: Callable[..., ResultT], *args: Any) -> Callable[[], ResultT]:
    """Let a thread of its own call a function; returns what waits for the result.

    Where there is but one core it is called by who waits. At most one call is to be under way.
    """
    if (_limit.get() or available_cores()) < 2:
        return lambda: function(*args)
    return _beside().submit(function, *args).result


@cache
def _beside() -> ThreadPoolExecutor:
    """Return one thread beside those of the pool, none of which it is to keep waiting."""
    return ThreadPoolExecutor(1, "probmodel-ahead")


@cache
def _pool() -> ThreadPoolExecutor:
    """Return the threads that the whole process shares."""

    def begin() -> None:
        _here.inside = True

    return ThreadPoolExecutor(available_cores(), "probmodel", initializer=begin)


if hasattr(os, "register_at_fork"):  # threads do not live on in a child
    os.register_at_fork(after_in_child=_pool.cache_clear)
    os.register_at_fork(after_in_child=_beside.cache_clear)
