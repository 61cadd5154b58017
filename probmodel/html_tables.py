"""Tables that notebooks show: text in cells, escaped, in the colours of the page."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_CELL = "text-align:left;vertical-align:top;font-family:monospace;white-space:pre-wrap"


def table(
    title: str,
    rows: Iterable[Sequence[str]],
    *,
    about: str = "",
    heads: Sequence[str] = (),
    strong: Sequence[str] = (),
) -> str:
    """Return a table as HTML, with a title in bold above and ``about`` beside it.

    The last cell of a row takes the columns that it lacks; ``heads`` are those of the columns, and
    cells with a text in ``strong`` are in bold.
    """
    rows = list(rows)
    width = max((len(row) for row in (*rows, heads)), default=1)
    lines = [_row(row, width, strong) for row in rows]
    if any(heads):
        lines.insert(0, _row(heads, width, heads))
    beside = f" {html.escape(about)}" if about else ""
    head = f'<caption style="text-align:left"><b>{html.escape(title)}</b>{beside}</caption>'
    return f"<table>{head}{''.join(lines)}</table>"


def _row(texts: Sequence[str], width: int, strong: Sequence[str]) -> str:
    cells = []
    for i, text in enumerate(texts):
        shown = f"<b>{html.escape(text)}</b>" if text in strong and text else html.escape(text)
        lacking = width - len(texts) if i == len(texts) - 1 else 0
        span = f' colspan="{lacking + 1}"' if lacking else ""
        cells.append(f'<td{span} style="{_CELL}">{shown}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def folded(title: str, text: str) -> str:
    """Return text of fixed width under a title that opens and closes it."""
    shown = f'<pre style="overflow-x:auto">{html.escape(text)}</pre>'
    return f"<details><summary>{html.escape(title)}</summary>{shown}</details>"
