"""Finding the user's line: the first stack frame outside this package and those it calls."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

from probmodel.errors import Location, ModelError

_PACKAGE = str(Path(__file__).resolve().parents[1])
_LIBRARIES = frozenset({"numpy", "scipy", "pandas", "xarray", "autograd"})


def caller_location() -> Location | None:
    """Return the file and line of the nearest caller outside probmodel and libraries of arrays."""
    frame, _ = _caller()
    return None if frame is None else Location(frame.f_code.co_filename, frame.f_lineno)


def caller_frame() -> FrameType | None:
    """Return the frame of that caller."""
    return _caller()[0]


def call_error(message: str, **values: Any) -> ModelError:
    """Return an error of what the user calls, with the place of the call."""
    return ModelError(message, location=caller_location(), **values)


def calling_library() -> str:
    """Return the module of a library that the user's line called, such as ``scipy.stats``.

    It is empty where that line called this package itself.
    """
    return _caller()[1]


def _caller() -> tuple[FrameType | None, str]:
    frame: FrameType | None = sys._getframe(1)
    library = ""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_PACKAGE):
            parts = str(frame.f_globals.get("__name__", "")).split(".")
            if parts[0] in _LIBRARIES:
                library = ".".join(part for part in parts[:2] if not part.startswith("_"))
            elif not file.startswith("<__array_function__"):
                return frame, library
        frame = frame.f_back
    return None, library
