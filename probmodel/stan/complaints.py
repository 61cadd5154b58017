"""Errors that point at a place in a Stan program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from probmodel.errors import Location, ModelError, ProbmodelError
from probmodel.stan.syntax.nodes import Place

Sources = Mapping[str, str]  # the text of each file that a program is made of


def complaint(
    message: str,
    place: Place | None,
    sources: Sources,
    kind: type[ProbmodelError] = ModelError,
    **values: Any,
) -> ProbmodelError:
    """Return an error that ends with the line of the program and a mark below the column.

    Parameters
    ----------
    message : what is wrong, what was expected, what came, what to do
    place : in the program; None where nothing in it is to blame
    sources : the text of the program, by file
    kind : which error
    **values : the values behind the message
    """
    if place is None:
        return kind(message, **values)
    lines = sources.get(place.file, "").splitlines()
    shown = ""
    if 1 <= place.line <= len(lines):
        line = lines[place.line - 1]
        lead = "".join("\t" if c == "\t" else " " for c in line[: place.column - 1])
        shown = f"\n    {line}\n    {lead}^"
    return kind(
        f"column {place.column}: {message}{shown}",
        location=Location(place.file, place.line),
        column=place.column,
        **values,
    )
