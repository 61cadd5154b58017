"""Errors about columns of a data frame: what one lacks, and what to write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.errors import DataError, alike
from probmodel.model.declarations import Data, Observed
from probmodel.model.refusals import DATES_AS_TEXT, dates_as_text, numbers_as_text
from probmodel.types import Array

_CATEGORIES = "text or categories"
_SHOWN = 5  # columns, rows or categories that a message lists


def listed(labels: Sequence[Any] | Array) -> str:
    """Return some labels in words, numbers of NumPy as plain ones and dates as text."""
    more = f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else ""
    return ", ".join(repr(_plain(label)) for label in labels[:_SHOWN]) + more


def _plain(label: Any) -> Any:
    if isinstance(label, np.datetime64):
        return re.sub(r"T00:00:00(\.0+)?$", "", str(label))
    return label.item() if isinstance(label, np.number | np.bool_ | np.str_) else label


def no_column(
    model: str, declaration: Data | Observed, columns: Sequence[str], used: Sequence[str]
) -> DataError:
    """Make the error of a datum for which a frame has no column.

    ``used`` are the columns that other data take.
    """
    name = str(declaration.name)
    matrix = len(declaration.dims or ()) == 2
    hint = alike(name, [column for column in columns if column not in used])
    near = hint.partition("Did you mean ")[2].rstrip("?")
    written = f"[{near}, ...]" if matrix and near else near or ('["..."]' if matrix else '"..."')
    return declaration.data_error(
        f"{declaration.title} needs values, and the frame has no column {name!r}"
        f"{f', nor any {name}.…' if matrix else ''}.{hint} "
        f"The frame has {listed(columns) or 'no columns'}. "
        f"Say what to read, {model}.from_frame(frame, {name}={written}), or give a value.",
        name=name, columns=list(columns),
    )  # fmt: skip


def no_values(declaration: Data | Observed, column: str, rows: Sequence[Any]) -> DataError:
    """Make the error of a column in which values are missing, in rows with these labels."""
    observed = isinstance(declaration, Observed)
    ahead = f" To predict it, bind the frame without it, frame.drop(columns={column!r})."
    return declaration.data_error(
        f"{declaration.title} needs all values, and the column {column!r} has no value in "
        f"row{'s' * (len(rows) > 1)} {listed(rows)}. Leave such rows out, "
        f"frame.dropna(subset=[{column!r}]), or give them a value.{ahead if observed else ''}",
        column=column,
    )  # fmt: skip


def no_numbers(
    declaration: Data | Observed, column: str, series: Any, indexes: bool = False
) -> DataError:
    """Make the error of a column of text, categories or times that labels no dim of the model.

    ``indexes`` says whether it is an index all the same, of what has no dim.
    """
    found, advice = _found(declaration, f"frame[{column!r}]", series)
    if indexes and found == _CATEGORIES:
        advice = (
            "It is coded where it is an index of something with a dim, which its groups label. "
            "Give what it is an index of a name and a dim, such as "
            'effects = deterministic(np.concatenate([zeros(1), rest]), dims="group"), and write '
            f"effects[{declaration.name}]."
        )
    return declaration.data_error(
        f"{declaration.title} takes numbers, and the column {column!r} holds {found}. {advice}",
        column=column,
    )  # fmt: skip


def _found(declaration: Data | Observed, column: str, series: Any) -> tuple[str, str]:
    """Say what a column holds, and what to write instead; ``column`` is how it is written."""
    if getattr(series.dtype, "kind", "O") == "m":
        unit = f'{column} / np.timedelta64(1, "D")'
        return "times", f"Divide them by a unit, {unit}."
    kind = type(series.dtype).__name__
    if kind == "PeriodDtype":
        return "periods", f"Write {column} = {column}.dt.to_timestamp() for dates."
    if kind == "IntervalDtype":
        return "intervals", f"Write {column} = pd.IntervalIndex({column}).mid for their middles."
    values = series.to_numpy(dtype=object)
    if dates_as_text(values):
        return DATES_AS_TEXT, f"Write {column} = pd.to_datetime({column})."
    text = numbers_as_text(values)
    if text is not None:
        lost = " What is no number is missing then: leave out its row." if text.odd else ""
        return text.found, (f'Write {column} = pd.to_numeric({column}, errors="coerce").{lost}')
    if _is_category(declaration, series):
        known = hasattr(series, "cat")
        codes = ".cat.codes" if known else ".astype(pd.CategoricalDtype([...])).cat.codes"
        order = f"{listed(series.cat.categories)}" if known else "the categories in your order"
        return _CATEGORIES, (f"Write {column} = {column}{codes}, which counts {order} from 0.")
    first = listed([series.iloc[0]])
    return _CATEGORIES, (
        "It is no index in the model, so that it is not coded: turn it into numbers that mean the "
        f"same in every frame, such as {column} == {first}.{_numbered(declaration, column)}"
    )


def _numbered(declaration: Data | Observed, column: str) -> str:
    """Say how to number groups that have no labels in the model."""
    if not isinstance(declaration, Data) or declaration.dtype is not int:
        return ""
    return (
        " If it only says which rows belong together, as groups of segment_sum do, number it: "
        f"{column} = pd.factorize({column})[0]."
    )


def _is_category(declaration: Data | Observed, series: Any) -> bool:
    """Whether what the model takes is the number of a category, counted from 0."""
    if isinstance(declaration, Data):
        whole, counted = declaration.dtype is int, False
    else:
        kind = type(declaration.distribution)
        whole, counted = kind.discrete, kind.support_for is not Distribution.support_for
    return whole and (counted or (hasattr(series, "cat") and series.cat.ordered))
