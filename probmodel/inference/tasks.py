"""Independent tasks, done one after another here, or by the workers of an executor."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from probmodel.errors import SamplerError, reason
from probmodel.threads import at_most
from probmodel.version import __version__

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

_UNREAD = (AttributeError, ImportError, pickle.PickleError, SamplerError)  # see `unpacked`

_known: dict[str, Any] = {}  # the function that a worker was sent last, by the hash of its pickle


def mapped(
    function: Callable[[ItemT], ResultT], items: Iterable[ItemT], executor: Any = None
) -> Iterator[ResultT | Exception]:
    """Yield what a function returns for each item, in order, or the exception that it raises.

    It can be pickled, if there is an ``executor``: anything with a method ``submit``; None is this
    process. Raises a `SamplerError` if the executor is none, or the function cannot be sent, and a
    KeyboardInterrupt after one; tasks that have not begun are called off.
    """
    if executor is None:
        for item in items:
            yield _done(function, item)
        return
    check_executor(executor)
    sent = packed(function)
    futures = [_submitted(executor, sent, item) for item in items]
    try:
        for future in futures:
            try:
                found = future if isinstance(future, Exception) else future.result()
            except _UNREAD as error:  # errors of the function itself are results
                raise unsent(error) from error
            except Exception as error:  # the worker was lost
                found = error
            yield found
    except BaseException:
        for future in futures:
            if hasattr(future, "cancel"):
                future.cancel()
        raise


def check_executor(executor: Any) -> None:
    """Raise a `SamplerError` for what is no executor; None is for this process."""
    if isinstance(executor, type):
        raise SamplerError(
            f"executor= takes an executor, and {executor.__name__} is the class of some: make one, "
            f"executor={executor.__name__}()."
        )
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise SamplerError(f"executor= must have a method submit(), got {executor!r}.")


def _submitted(executor: Any, sent: bytes, item: Any) -> Any:
    """Hand a task to an executor; return its error, if it takes none any more."""
    try:
        return executor.submit(_task, sent, item)
    except Exception as error:
        return error


def _task(sent: bytes, item: Any) -> Any:
    """Do a task; what a worker is sent."""
    key = hashlib.sha256(sent).hexdigest()
    function = _known.get(key)
    if function is None:
        function = unpacked(sent)
        _known.clear()
        _known[key] = function
    with at_most(1):
        return _done(function, item)


def _done(function: Callable[[Any], Any], item: Any) -> Any:
    try:
        return function(item)
    except Exception as error:
        return error


def packed(what: Any) -> bytes:
    """Return what workers are sent: the version of this package, and a pickle.

    Raises a `SamplerError` if it cannot be pickled.
    """
    try:
        return f"{__version__}\n".encode() + pickle.dumps(what)
    except Exception as error:  # whatever it holds
        raise unsent(error) from error


def unpacked(sent: bytes) -> Any:
    """Return what was sent to this worker.

    Raises a `SamplerError` if it was sent by another version of this package.
    """
    version, _, content = sent.partition(b"\n")
    if version.decode() != __version__:
        raise SamplerError(
            f"a worker of executor= has probmodel {__version__}, and the run was sent by probmodel "
            f"{version.decode()}. Install the same version on both sides."
        )
    return pickle.loads(content)


def unsent(error: BaseException) -> SamplerError:
    """Make the error of what cannot be sent to workers, or be read there."""
    return SamplerError(
        f"the run cannot be sent to the workers of executor=: {reason(error)}. Workers need "
        "the same version of probmodel, and the class of the model in a module that they can "
        "import or a file that they can read (load_model), not in a notebook or a script."
    )
