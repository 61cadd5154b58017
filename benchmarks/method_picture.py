"""The figure of `methods`: which method is right on which posterior, and how fast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from figures import plt
from matplotlib.colors import LogNorm
from measures import LATE, Row
from method_posteriors import POSTERIORS
from methods import BROKEN, LACKING, RIGHT, WARNED, WRONG, Cell, cells, ranking, shares

from probmodel.samplers import DEFAULT_METHOD

LEAST = 1e-3  # share below which all have one colour
MARKS = {WARNED: "w", WRONG: "!", LATE: "t", LACKING: "·", BROKEN: "x"}
MEANING = {
    WARNED: "warned of itself", LATE: "no draws in time", LACKING: "the model lacks what it needs",
    WRONG: "wrong without a warning", BROKEN: "error",
}  # fmt: skip
PANELS = (("second", "Effective draws a second of the processor, over the best method"),
          ("evaluation", "Effective draws an evaluation, over the best method"))  # fmt: skip
DPI = 110


def draw(path: Path, rows: Sequence[Row]) -> None:
    """Draw the shares of the best, both with the warm-up, methods by posteriors.

    Only what is right has a colour; a mark says why another cell has none.
    """
    table, order = cells(rows), [line[0] for line in ranking(rows)]
    titles = [title for title in POSTERIORS if any(row["posterior"] == title for row in rows)]
    size = (4.2 + 0.62 * len(titles), 3.0 + 0.27 * len(order))
    figure, axes = plt.subplots(1, 2, figsize=size, layout="constrained", sharey=True)
    for panel, (unit, heading) in zip(axes, PANELS, strict=True):
        image = _panel(panel, table, shares(table, (unit, True)), order, titles)
        panel.set_title(heading, fontsize=10.5, loc="left")
    axes[0].set_yticks(range(len(order)), [_named(name, table, titles) for name in order])
    for tick, name in zip(axes[0].get_yticklabels(), order, strict=True):
        tick.set_fontweight("bold" if name == DEFAULT_METHOD else "normal")
    bar = figure.colorbar(image, ax=axes, shrink=0.55, pad=0.01, extend="min")
    bar.set_ticks([1, 0.1, 0.01, 0.001], labels=["best", "1/10", "1/100", "1/1000"])
    figure.suptitle("Which method when: colour only where a method is right", x=0.01, ha="left")
    figure.supxlabel(_legend(table), fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    plt.close(figure)


def _panel(
    panel: Any,
    table: Mapping[tuple[str, str], Cell],
    part: Mapping[Any, float],
    order: Sequence[str],
    titles: Sequence[str],
) -> Any:
    """Fill one panel; returns its image."""
    values = np.array([[part.get((name, title), np.nan) for title in titles] for name in order])
    norm = LogNorm(LEAST, 1.0)
    colours = plt.get_cmap("viridis").with_extremes(bad="0.94")
    image = panel.imshow(np.clip(values, LEAST, 1.0), cmap=colours, norm=norm, aspect="auto")
    for i, name in enumerate(order):
        for j, title in enumerate(titles):
            cell = table.get((name, title))
            if cell is not None:
                _mark(panel, j, i, cell, values[i, j])
    panel.set_xticks(
        range(len(titles)), [POSTERIORS[title].label for title in titles], rotation=60, ha="right",
        rotation_mode="anchor", fontsize=8.5,
    )  # fmt: skip
    panel.set_xticks(np.arange(len(titles) + 1) - 0.5, minor=True)
    panel.set_yticks(np.arange(len(order) + 1) - 0.5, minor=True)
    panel.grid(which="minor", color="white", lw=1.2)
    panel.tick_params(which="both", length=0)
    for side in panel.spines.values():
        side.set_visible(False)
    return image


def _mark(panel: Any, x: float, y: float, cell: Cell, share: float) -> None:
    """Write a star on the best, and into a cell without a colour why that is."""
    look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 8}
    if cell.outcome != RIGHT:
        look |= {"color": "#d55e00" if cell.outcome in (WRONG, BROKEN) else "0.45"}
        look |= {"fontweight": "bold"} if cell.outcome in (WRONG, BROKEN) else {}
        panel.text(x, y, MARKS[cell.outcome], **look)
    elif share >= 1.0:
        panel.text(x, y, "★", color="black", **look)
    elif cell.right < cell.seeds:
        panel.text(x, y, f"{cell.right}/{cell.seeds}", color="white", **(look | {"fontsize": 5.5}))


def _named(name: str, table: Mapping[tuple[str, str], Cell], titles: Sequence[str]) -> str:
    """Return a method with the number of posteriors on which it is right."""
    right = sum(table[key].outcome == RIGHT for key in table if key[0] == name)
    return f"{name}   {right:2d} of {len(titles)}"


def _legend(table: Mapping[tuple[str, str], Cell]) -> str:
    """Explain the marks that there are."""
    seen = {cell.outcome for cell in table.values()}
    words = [f"{MARKS[word]}  {text}" for word, text in MEANING.items() if word in seen]
    partly = any(c.outcome == RIGHT and c.right < c.seeds for c in table.values())
    words += ["2/3  right with two of three seeds"] if partly else []
    return "     ".join(["★  best", *words])
