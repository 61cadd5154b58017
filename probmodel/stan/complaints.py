"""Errors that point at a place in a Stan program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from probmodel.errors import Location, ModelError, ProbmodelError
from probmodel.stan.syntax.nodes import Place

Sources = Mapping[str, str]  # the text of each file that a program is made of
WIDTH = 100  # of the part of a line that is shown


def complaint(
    message: str,
    place: Place | None,
    sources: Sources,
    kind: type[ProbmodelError] = ModelError,
    **values: Any,
) -> ProbmodelError:
    """Return an error that ends with the line of the program and a mark below the column.

    ``message`` says what is wrong, what was expected, what came, what to do. ``place`` is None
    where nothing in the program, whose text is in ``sources`` by file, is to blame.
    """
    if place is None:
        return kind(message, **values)
    return kind(
        f"column {place.column}: {message}{_shown(place, sources)}",
        location=Location(place.file, place.line),
        column=place.column,
        **values,
    )


def placed(error: ProbmodelError, place: Place | None, sources: Sources) -> ProbmodelError:
    """Return an error of another part of the package with its place in the program."""
    known = error.location is not None and error.location.file in sources
    if "column" in error.values or known or place is None:
        return error
    return complaint(error.message, place, sources, type(error), **error.values)


def _shown(place: Place, sources: Sources) -> str:
    """Return the line of a place, or its part around the place, with a mark below the column."""
    lines = sources.get(place.file, "").split("\n")
    if not 1 <= place.line <= len(lines):
        return ""
    line = "".join(c if c.isprintable() or c == "\t" else "\ufffd" for c in lines[place.line - 1])
    column = place.column - 1
    if len(line) > WIDTH:
        start = max(0, min(column - WIDTH // 2, len(line) - WIDTH))
        before, after = "..." * (start > 0), "..." * (start + WIDTH < len(line))
        line = before + line[start : start + WIDTH] + after
        column += len(before) - start
    lead = "".join("\t" if c == "\t" else " " for c in line[:column])
    return f"\n    {line}\n    {lead}^"
