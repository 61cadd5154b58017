"""The model and the data that a command of the command line is given."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from probmodel.errors import ProbmodelError


def add_model(command: argparse.ArgumentParser) -> None:
    """Let a command take a model and its data."""
    command.add_argument(
        "model", metavar="MODEL",
        help="path.py, path.py:ClassName, path.stan, a Stan program, or gallery:NAME, a model of "
        "`probmodel gallery`",
    )  # fmt: skip
    command.add_argument(
        "--data", metavar="FILE",
        help="a .npz, .json, .csv or .R file, or gallery:FILE; a model of the gallery has data",
    )  # fmt: skip


def model_class(options: argparse.Namespace) -> Any:
    """Load the model file."""
    from probmodel.model import load_model

    return load_model(*_file_and_class(options.model))


def bound_model(options: argparse.Namespace, say: Callable[[str], None]) -> Any:
    """Load the model file, read the data file and bind one to the other.

    A model of the gallery without ``--data`` takes the data that it is shown with, and ``say`` is
    told which.
    """
    from probmodel.model import gallery, read_data

    kind = model_class(options)
    if options.data:
        return kind(**read_data(options.data))
    file, _ = _file_and_class(options.model)
    if gallery.is_named(file):
        data = f"{gallery.PREFIX}{gallery.page_of(file).data[0]}"
        if not getattr(options, "quiet", False):
            say(f"Data: {data}")
        return kind(**read_data(data))
    try:
        return kind()
    except ProbmodelError as error:
        raise _with_hint(error, "On the command line, --data FILE gives the data.") from error


def _with_hint(error: ProbmodelError, hint: str) -> ProbmodelError:
    """Return an error whose message ends with what to do on the command line.

    A message of several lines ends with a place in a program; the hint has a line of its own.
    """
    gap = "\n" if "\n" in error.message else " "
    return type(error)(f"{error.message}{gap}{hint}", location=error.location)


def _file_and_class(model: str) -> tuple[str, str | None]:
    path, colon, name = model.rpartition(":")
    has_class = path.endswith(".py") or path.startswith("gallery:")
    return (path, name) if colon and has_class else (model, None)
