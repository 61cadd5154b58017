"""Rank ECDF-difference plots; matplotlib is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.calibration.uniformity import band, counts_below
from probmodel.errors import OutputError, SamplerError, nearest
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.calibration.result import Calibration

_INNER = 0.05
_COLUMNS = 4
_BLUE, _RED = "#0072b2", "#d55e00"  # told apart by the colour-blind too


def draw_figure(result: Calibration, var_names: Any, most: int) -> Any:
    """Draw one panel for each quantity; see `Calibration.plot`."""
    names = _chosen(result, var_names, most)
    if not result.n:
        raise OutputError("there are no ranks to plot: no simulation was done.")
    plt = _pyplot()
    columns = min(_COLUMNS, len(names))
    rows = -(-len(names) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(2.6 * columns + 0.6, 2.1 * rows + 0.6),
        sharex=True, sharey=True, squeeze=False, layout="constrained",
    )  # fmt: skip
    share = np.arange(1, result.L + 1) / (result.L + 1.0)
    bands = [band(result.n, result.L, level) for level in (result.level, _INNER)]
    counts = counts_below(np.array([result.series[name] for name in names]), result.L)
    for panel, name, count in zip(axes.flat, names, counts, strict=False):
        for limits, shade in zip(bands, ("0.92", "0.82"), strict=True):
            lower, upper = (_difference(limit, share, result.n) for limit in limits)
            panel.fill_between(_closed(share), lower, upper, color=shade, lw=0.0)
        verdict = result.verdict(name)
        colour = _RED if result.refuted(name) else _BLUE
        panel.plot(_closed(share), _difference(count, share, result.n), color=colour, lw=1.3)
        panel.set_title(name if verdict == "ok" else f"{name}\n{verdict}", fontsize=9)
        panel.margins(x=0)
    for panel in axes.flat[len(names) :]:
        panel.set_axis_off()
    figure.supxlabel("rank / (L + 1)", fontsize=9)
    figure.supylabel("ECDF less uniform", fontsize=9)
    return figure


def _difference(count: Array, share: Array, n: int) -> Array:
    """Return the share of ranks below each place less the expected one, from 0 to 1."""
    return np.concatenate([[0.0], count / n - share, [0.0]])


def _closed(share: Array) -> Array:
    return np.concatenate([[0.0], share, [1.0]])


def _chosen(result: Calibration, var_names: Any, most: int) -> list[str]:
    """Return the quantities to draw, in the order of the model."""
    known = result.series
    if var_names is None:
        first = set(sorted(known, key=result.p_values.__getitem__)[:most])
        return [name for name in known if name in first]
    found: list[str] = []
    for name in [var_names] if isinstance(var_names, str) else var_names:
        if name in result.ranks:
            found += [label for label in result.labels[name] if label]
        elif name in known:
            found.append(name)
        else:
            hint = nearest(str(name), {*result.ranks, *known})
            raise SamplerError(f"var_names: there are no ranks of {name!r}.{hint}", name=name)
    return found[:most]


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise OutputError(
            "plot() needs matplotlib, which is not installed: pip install matplotlib. The ranks "
            "are in .ranks and the p-values in .p_values."
        ) from error
    return plt
