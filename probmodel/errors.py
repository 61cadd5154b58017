"""The errors that probmodel raises. Each carries the values that explain it as attributes."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, NamedTuple


class Location(NamedTuple):
    """Where a declaration or an expression was written."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class ProbmodelError(Exception):
    """Base of all errors of this package.

    Parameters
    ----------
    message : what is wrong, what was expected, what came, what to do
    location : where the declaration concerned stands
    **values : the values behind the message, kept in ``.values``
    """

    def __init__(self, message: str, *, location: Location | None = None, **values: Any) -> None:
        super().__init__(f"{location}: {message}" if location else message)
        self.message = message
        self.location = location
        self.values = values

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.message, self.location, self.values)


def _rebuild(
    kind: type[ProbmodelError], message: str, location: Location | None, values: dict[str, Any]
) -> ProbmodelError:
    return kind(message, location=location, **values)


class ModelError(ProbmodelError):
    """A declaration or an expression of the model makes no sense."""


class ShapeError(ModelError):
    """Shapes that do not fit together."""


class DataError(ProbmodelError):
    """A datum is missing, superfluous, mistyped or out of bounds."""


class Located:
    """What was written somewhere in a model; its errors say where."""

    location: Location | None

    def model_error(self, message: str, **values: Any) -> ModelError:
        """Return an error of what it says."""
        return ModelError(message, location=self.location, **values)

    def shape_error(self, message: str, **values: Any) -> ShapeError:
        """Return an error of its shape."""
        return ShapeError(message, location=self.location, **values)

    def data_error(self, message: str, **values: Any) -> DataError:
        """Return an error of the data it is given."""
        return DataError(message, location=self.location, **values)


class InitializationError(ProbmodelError):
    """No starting point with a finite log density was found."""


class SamplerError(ProbmodelError):
    """A method or one of its settings is unknown or makes no sense."""


class TimeLimitError(ProbmodelError, TimeoutError):
    """The time limit of a run came before the first draw.

    Attributes
    ----------
    inits : list of dict, or None
        Where the chains were, by name and on the scale of the model: the argument `inits` of
        `infer` takes it. None if that could not be computed.
    """

    @property
    def inits(self) -> Any:
        """Where the chains were."""
        return self.values.get("inits")


class OutputError(ProbmodelError):
    """A result cannot be written where it was asked for."""


class SamplingWarning(UserWarning):
    """A result that should not be trusted as it stands; the message says what to do."""


_MOST_LISTED = 150  # names in a message


def alike(name: str, known: Iterable[str]) -> str:
    """Return a hint ``" Did you mean 'x'?"`` for a misspelt name; empty if none is near."""
    by_lower_case = {known_name.lower(): known_name for known_name in sorted(known)}
    close = difflib.get_close_matches(name.lower(), by_lower_case, n=1, cutoff=0.6)
    return f" Did you mean {by_lower_case[close[0]]!r}?" if close else ""


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the hint of `alike`, or else the list of known names, unless they are too many."""
    names = sorted(known)
    listed = f" Known: {', '.join(names)}." if 0 < len(names) <= _MOST_LISTED else ""
    return alike(name, names) or listed


def reason(error: BaseException) -> str:
    """Say in one line why something came to nothing: what another library or the system said."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, MemoryError):
        return "it does not fit into memory"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    said = str(error).strip().splitlines()
    name = type(error).__name__
    return name if not said else said[0] if isinstance(error, ValueError) else f"{name}: {said[0]}"


def beyond(value: float, limit: float, digits: int) -> str:
    """Return a number that passed a limit with ``digits`` decimals, or as many as show that it did.

    1.0100001 is not printed as 1.010 where 1.01 is the limit.
    """
    for n in range(digits, 16):
        text = f"{value:.{n}f}"
        if float(text) > limit if value > limit else float(text) < limit:
            return text
    return f"{float(value)!r}"
