"""A model's graph as a picture: an SVG that a browser or a notebook shows by itself.

Declarations stand in layers, each below all that it depends on. An edge over several layers passes
through a free place in each. Within a layer, declarations and passing edges are put where the
median of their neighbours above is, then of those below, a few times over (Sugiyama, Tagawa and
Toda 1981, "Methods for visual understanding of hierarchical system structures").
"""

from __future__ import annotations

import html
import itertools
from statistics import median
from typing import Any, NamedTuple

from probmodel.model.binding import Binding
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    Potential,
)
from probmodel.model.model_graph import declared_in, dependencies, label_lines, plate_text

_LETTER, _LINE, _PADDING = 7.4, 17.0, 14.0  # of a monospaced letter, a line of text, around it
_GAP_X, _GAP_Y, _PASS = 22.0, 34.0, 10.0  # between nodes, between layers, width of a passing edge
_SWEEPS = 8
_FILL = {Data: "#e4e4e4", Observed: "#cfdcec"}
_FONT = "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12px"


class _Place(NamedTuple):
    """A place in a layer: a declaration, or an edge that passes.

    Attributes
    ----------
    key : the name of the declaration, or the edge and the layer
    width : in pixels
    """

    key: Any
    width: float


class _Box(NamedTuple):
    """What is drawn for a declaration: its lines of text and its size."""

    declaration: Declaration
    lines: list[str]
    width: float
    height: float


def to_svg(model: Any) -> str:
    """Return a picture of a model's graph, as SVG.

    Data are grey boxes, parameters ellipses, observed quantities blue ellipses, deterministic ones
    boxes with round corners, and potentials octagons. Dims stand below the names.

    Parameters
    ----------
    model : Model or subclass of Model
        A bound model shows sizes too.

    Raises
    ------
    ModelError
        If it is neither, or the class of a Stan program, which declares nothing without data.
    """
    _, declarations, binding = declared_in("to_svg", model)
    boxes = {name: _box(declaration, binding) for name, declaration in declarations.items()}
    parents = dependencies(declarations)
    layers = _layers(boxes, parents)
    x, y, width, height = _positions(layers, boxes)
    parts = [_edge(path, x, y, boxes) for path in _paths(boxes, parents, layers)]
    parts += [_drawn(box, x[name], y[name]) for name, box in boxes.items()]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" '
        'style="background:#fff;max-width:100%;height:auto">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>'
        f"{''.join(parts)}</svg>"
    )


def _box(declaration: Declaration, binding: Binding | None) -> _Box:
    lines = label_lines(declaration, binding)
    if declaration.dims:
        lines.append(plate_text(declaration.dims, binding))
    width = max(map(len, lines)) * _LETTER + 2 * _PADDING
    round_ = isinstance(declaration, Parameter | Observed | Potential)
    return _Box(declaration, lines, width * (1.2 if round_ else 1.0), len(lines) * _LINE + _PADDING)


def _layers(boxes: dict[str, _Box], parents: dict[str, list[str]]) -> list[list[_Place]]:
    """Put declarations and passing edges into layers, and into order there."""
    depth: dict[str, int] = {}
    for name in boxes:  # what is declared first is used later, never before
        depth[name] = 1 + max((depth[parent] for parent in parents[name]), default=-1)
    for name in boxes:  # what depends on nothing stands right above what uses it first
        uses = [depth[child] for child in boxes if name in parents[child]]
        if not parents[name] and uses:
            depth[name] = min(uses) - 1
    layers: list[list[_Place]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    above: dict[Any, list[Any]] = {}
    for name, box in boxes.items():
        layers[depth[name]].append(_Place(name, box.width))
        above[name] = []
        for parent in parents[name]:
            last: Any = parent
            for level in range(depth[parent] + 1, depth[name]):
                key = (parent, name, level)
                layers[level].append(_Place(key, _PASS))
                above[key], last = [last], key
            above[name].append(last)
    below: dict[Any, list[Any]] = {key: [] for key in above}
    for key, keys in above.items():
        for parent in keys:
            below[parent].append(key)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        ordered = range(1, len(layers)) if down else range(len(layers) - 2, -1, -1)
        for level in ordered:
            near = {p.key: i for i, p in enumerate(layers[level - 1 if down else level + 1])}
            _arrange(layers[level], above if down else below, near)
    return layers


def _arrange(layer: list[_Place], neighbours: dict[Any, list[Any]], near: dict[Any, int]) -> None:
    """Order a layer by the medians of its neighbours; what has none stays where it is."""
    own = {place.key: float(i) for i, place in enumerate(layer)}
    for place in layer:
        known = [near[key] for key in neighbours[place.key] if key in near]
        if known:
            own[place.key] = float(median(known))
    layer.sort(key=lambda place: own[place.key])


def _positions(
    layers: list[list[_Place]], boxes: dict[str, _Box]
) -> tuple[dict[Any, float], dict[Any, float], float, float]:
    """Middles of all places, and the size of the picture."""
    widths = [sum(p.width for p in layer) + _GAP_X * (len(layer) - 1) for layer in layers]
    whole, x, y, top = max(widths, default=0.0) + 2 * _GAP_X, {}, {}, _GAP_X
    for layer, width in zip(layers, widths, strict=True):
        left = 0.5 * (whole - width)
        height = max((boxes[p.key].height for p in layer if p.key in boxes), default=_LINE)
        for place in layer:
            x[place.key], y[place.key] = left + 0.5 * place.width, top + 0.5 * height
            left += place.width + _GAP_X
        top += height + _GAP_Y
    return x, y, whole, top - _GAP_Y + _GAP_X


def _paths(
    boxes: dict[str, _Box], parents: dict[str, list[str]], layers: list[list[_Place]]
) -> list[list[Any]]:
    """Places that each edge runs through, from parent to child."""
    level = {place.key: i for i, layer in enumerate(layers) for place in layer}
    return [
        [parent, *((parent, name, k) for k in range(level[parent] + 1, level[name])), name]
        for name in boxes
        for parent in parents[name]
    ]


def _edge(path: list[Any], x: dict[Any, float], y: dict[Any, float], boxes: dict[str, _Box]) -> str:
    """Draw a curve through places, upright at each."""
    points = [(x[key], y[key]) for key in path]
    points[0] = points[0][0], points[0][1] + 0.5 * boxes[path[0]].height
    points[-1] = points[-1][0], points[-1][1] - 0.5 * boxes[path[-1]].height
    text = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (a, b), (c, d) in itertools.pairwise(points):
        middle = 0.5 * (b + d)
        text += f"C{a:.1f} {middle:.1f} {c:.1f} {middle:.1f} {c:.1f} {d:.1f}"
    return f'<path d="{text}" fill="none" stroke="#555" marker-end="url(#tip)"/>'


def _drawn(box: _Box, x: float, y: float) -> str:
    """Draw a declaration around its middle."""
    declaration, w, h = box.declaration, 0.5 * box.width, 0.5 * box.height
    style = f'fill="{_FILL.get(type(declaration), "#fff")}" stroke="#333"'
    if isinstance(declaration, Parameter | Observed):
        shape = f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{w:.1f}" ry="{h:.1f}" {style}/>'
    elif isinstance(declaration, Potential):
        cut = 0.4 * h
        corners = [(-w + cut, -h), (w - cut, -h), (w, -h + cut), (w, h - cut)]
        corners += [(-a, -b) for a, b in corners]
        joined = " ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in corners)
        shape = f'<polygon points="{joined}" {style}/>'
    else:
        radius = 9 if isinstance(declaration, Deterministic) else 0
        shape = (
            f'<rect x="{x - w:.1f}" y="{y - h:.1f}" width="{2 * w:.1f}" height="{2 * h:.1f}" '
            f'rx="{radius}" {style}/>'
        )
    first = y - 0.5 * _LINE * (len(box.lines) - 1) + 4.0
    texts = "".join(
        f'<text x="{x:.1f}" y="{first + i * _LINE:.1f}" text-anchor="middle" style="{_FONT}" '
        f'fill="#111">{html.escape(line)}</text>'
        for i, line in enumerate(box.lines)
    )
    return shape + texts
