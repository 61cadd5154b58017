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


def files_read(options: argparse.Namespace) -> list[str]:
    """Return what a command reads: the model file, and the data file if there is one."""
    return [_file_and_class(options.model)[0], *([options.data] if options.data else [])]


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
    return kind()


def error_text(error: ProbmodelError, options: argparse.Namespace) -> str:
    """Return the text of an error; of one that data are missing, with what to do about the file.

    A message of several lines ends with a place in a program; the advice has a line of its own.
    """
    needs = error.values.get("needs")
    if needs is None or not hasattr(options, "data") or (options.data and not needs):
        return str(error)
    said = str(error).removesuffix(error.values.get("remedy", "")).rstrip(" ")
    quoted = [repr(name) for name in needs]
    names = " and ".join(filter(None, [", ".join(quoted[:-1]), *quoted[-1:]]))
    advice = (
        f"Add {names} to {options.data}."
        if options.data
        else f"On the command line, --data FILE gives the data{f', with {names}' * bool(names)}."
    )
    gap = "\n" if "\n" in said else " "
    return f"{said}{gap}{advice}"


def _file_and_class(model: str) -> tuple[str, str | None]:
    path, colon, name = model.rpartition(":")
    has_class = path.endswith(".py") or path.startswith("gallery:")
    return (path, name) if colon and has_class else (model, None)
