"""Where lines of progress are shown, and written anew: a terminal, or the output of a notebook."""

from __future__ import annotations

import html
import sys
from collections.abc import Sequence
from typing import Any, Protocol, TextIO


class Display(Protocol):
    """Shows a few lines."""

    def show(self, lines: Sequence[str]) -> None:
        """Show lines in place of those before."""
        ...

    def close(self) -> None:
        """Leave the last ones where they are."""
        ...


class Terminal:
    """Shows lines on a terminal, and nothing once that is gone: a run does not depend on it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._shown, self._gone = stream, 0, False

    def show(self, lines: Sequence[str]) -> None:
        """Write over the lines before."""
        back = f"\x1b[{self._shown - 1}A" if self._shown > 1 else ""
        self._write(back + "\r" + "\n".join(f"{line}\x1b[K" for line in lines))
        self._shown = len(lines)

    def close(self) -> None:
        """End the last line."""
        if self._shown:
            self._write("\n")
        self._shown = 0

    def _write(self, text: str) -> None:
        if self._gone:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._gone = True


class Notebook:
    """Shows lines as an output of a notebook's cell, which is updated."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, lines: Sequence[str]) -> None:
        """Replace the output."""
        from IPython.display import display

        text = "\n".join(lines)
        data = {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>"}
        try:
            if self._handle is None:
                self._handle = display(data, raw=True, display_id=True)
            else:
                self._handle.update(data, raw=True)
        except Exception:  # whatever becomes of the notebook, the run goes on
            return

    def close(self) -> None:
        """Leave the output; the next lines have one of their own."""
        self._handle = None


def display_at(stream: TextIO | None) -> Display | None:
    """Return what shows lines at a stream; None for no stream: a notebook, or standard error.

    Nothing is shown where the stream is no terminal.
    """
    if stream is None and _in_notebook():
        return Notebook()
    stream = sys.stderr if stream is None else stream
    return Terminal(stream) if getattr(stream, "isatty", lambda: False)() else None


def _in_notebook() -> bool:
    """Whether a notebook's kernel runs this; IPython on a terminal has none."""
    found: Any = sys.modules.get("IPython")
    return hasattr(found.get_ipython() if found else None, "kernel")
