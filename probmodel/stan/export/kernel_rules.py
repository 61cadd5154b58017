"""Kernels of Gaussian processes as functions of Stan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.distributions.kernels.algebra import columns
from probmodel.distributions.spatial.kronecker import grid_points
from probmodel.stan.export.code_blocks import braced
from probmodel.stan.export.code_forms import PRODUCT, SUM, Form, call
from probmodel.stan.export.code_writer import Writer
from probmodel.types import Array

_STAN = {
    "ExpQuad": "gp_exp_quad_cov",
    "Exponential": "gp_exponential_cov",
    "Matern32": "gp_matern32_cov",
    "Matern52": "gp_matern52_cov",
    "Periodic": "gp_periodic_cov",
}


def points_of(writer: Writer, coordinates: Sequence[Any]) -> Array:
    """Return points, (n, k): those given, or those of a grid row by row."""
    arrays = [np.asarray(writer.value(c), dtype=float) for c in coordinates]
    return columns(arrays[0]) if len(arrays) == 1 else grid_points(*arrays)


def covariance(writer: Writer, kernel: Any, values: Mapping[str, Any], *points: Array) -> Form:
    """Return the covariance matrix at points, or between two sets of them."""
    kind = type(kernel).__name__
    if kind in ("Sum", "Product"):
        left = dict(list(values.items())[: len(kernel.left.arguments)])
        right = dict(list(values.items())[len(kernel.left.arguments) :])
        one = covariance(writer, kernel.left, _renamed(kernel.left, left), *points)
        other = covariance(writer, kernel.right, _renamed(kernel.right, right), *points)
        operator, tight = ("+", SUM) if kind == "Sum" else (".*", PRODUCT)
        return Form(f"{one.inside(tight)} {operator} {other.inside(tight + 1)}", "matrix", tight)
    if kind == "Constant":
        sizes = [str(len(p)) for p in (points[0], points[-1])]
        level = f"square({writer.scalar(values['amplitude'])})"
        return call("rep_matrix", level, *sizes, kind="matrix")
    if kind not in _STAN:
        amplitude, *others = values.values()
        x, y = (p if kernel.axes is None else p[:, kernel.axes] for p in (points[0], points[-1]))
        return writer.reals(amplitude**2 * kernel.formula(np, x, y, *others))
    at = [_places(writer, kernel, p) for p in points]
    return call(_STAN[kind], *at, *map(writer.scalar, values.values()), kind="matrix")


def _renamed(kernel: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    return dict(zip(kernel.arguments, values.values(), strict=True))


def _places(writer: Writer, kernel: Any, points: Array) -> str:
    """Return points as an array, which kernels take, in transformed data."""
    shared = writer.shared
    chosen = points if kernel.axes is None else points[:, kernel.axes]
    if chosen.shape[1] == 1:
        return call("to_array_1d", shared.from_data(chosen[:, 0], "points")).text
    table = shared.given(None, chosen, "points")
    known = shared.point_arrays
    if table.text not in known:
        name, at = shared.names.fresh(f"{table.text}_array"), shared.names.loop(0)
        n, k = chosen.shape
        shared.constants.add(
            f"array[{n}] vector[{k}] {name};",
            *braced(f"for ({at} in 1:{n})", [f"{name}[{at}] = {table.text}[{at}]';"]),
        )
        known[table.text] = name
    return known[table.text]
