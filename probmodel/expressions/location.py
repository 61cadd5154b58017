"""Finding the user's line: the first stack frame outside this package."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

from probmodel.errors import Location

_PACKAGE = str(Path(__file__).resolve().parents[1])


def caller_location() -> Location | None:
    """Return the file and line of the nearest caller outside probmodel (and NumPy)."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not (name.startswith(_PACKAGE) or name.startswith("<__array_function__")):
            return Location(name, frame.f_lineno)
        frame = frame.f_back
    return None
