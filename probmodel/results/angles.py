"""Angles: parameters whose interval ends at one direction, where chains cannot cross.

    a, b    ends of the interval, one turn apart: -pi and pi, or 0 and 2 pi
    q       log density on the scale of the model: without the Jacobians of transformations

A posterior near that direction has one mode on the circle, and one at each end of the interval. It
is an angle if q is the same at both ends, at some draws of everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from probmodel.density.posterior import ModelDensity
from probmodel.types import Array, Posterior

INTERVALS = (("-pi", "pi", -np.pi, np.pi), ("0", "2 pi", 0.0, 2.0 * np.pi))
_APART = 1.5 * np.pi  # groups that are nearer may be modes of their own
_POINTS = 3
_INSIDE = 1e-9  # of an end
_EQUAL = 1e-6  # of the sum of the sizes of the terms


def across_the_end(
    posterior: Posterior, draws: Mapping[str, Array], name: str, row: Array, apart: float
) -> str:
    """Say what to do if chains lie on both sides of the end of an angle's interval.

    Parameters
    ----------
    posterior : the density that was sampled
    draws : name -> (chains, draws, *shape)
    name : of a quantity, such as ``omega[0]``
    row : (chains, draws), its draws
    apart : distance between two groups of chains

    Returns
    -------
    Nothing if it is no angle, or the groups are less far apart within the interval.
    """
    parameter = name.partition("[")[0]
    known = any(v.kind == "param" and v.name == parameter for v in posterior.variables)
    if apart < _APART or not known or not isinstance(posterior, ModelDensity):
        return ""
    if any(v.kind == "param" and v.name not in draws for v in posterior.variables):
        return ""
    for a, b, low, high in INTERVALS:
        within = low <= row.min() and row.max() <= high
        if within and _same_at_ends(posterior, draws, parameter, row, low, high):
            return f"{one_direction(name, a, b)} {other_forms(parameter)}"
    return ""


def one_direction(name: str, a: str, b: str) -> str:
    """Say that the ends of the interval of an angle are the same."""
    return f"{name} is an angle: {a} and {b} are one direction, and chains cannot cross it."


def other_forms(parameter: str) -> str:
    """Say how to write an angle whose posterior is near the end of its interval."""
    return (
        "Measure the angle from a direction on the other side, or sample a unit vector, "
        f"u = param(constraint=UnitVector(), shape=2), with {parameter} = np.arctan2(u[1], u[0])."
    )


def _same_at_ends(
    density: ModelDensity,
    draws: Mapping[str, Array],
    parameter: str,
    row: Array,
    low: float,
    high: float,
) -> bool:
    """Whether q is the same at both ends for the element of a parameter that has these draws."""
    flat = draws[parameter].reshape(*row.shape, -1)
    elements = [k for k in range(flat.shape[2]) if np.array_equal(flat[:, :, k], row)]
    if len(elements) != 1:
        return False
    chains = np.unique(np.linspace(0, len(row) - 1, _POINTS).astype(int))
    names = [v.name for v in density.variables if v.kind == "param"]
    points = {name: np.array(draws[name][chains, -1], dtype=float) for name in names}
    return same_at_ends(density, points, (parameter, elements[0]), low, high)


def same_at_ends(
    density: ModelDensity,
    points: Mapping[str, Array],
    element: tuple[str, int],
    low: float,
    high: float,
) -> bool:
    """Whether q is the same at both ends of an element of a parameter, at all of some points."""
    at_low, size = moved_density(density, points, element, low + _INSIDE)
    at_high, _ = moved_density(density, points, element, high - _INSIDE)
    return bool((np.abs(at_high - at_low) <= _EQUAL * size).all())


def moved_density(
    density: ModelDensity, points: Mapping[str, Array], element: tuple[str, int], to: Any
) -> tuple[Array, Array]:
    """Return q, and the sum of the sizes of its terms, where one element is moved elsewhere.

    Parameters
    ----------
    points : name -> (n, *shape), all parameters
    element : name of a parameter, and which of its elements
    to : number or (n,)
    """
    name, k = element
    moved = np.array(points[name], dtype=float)
    moved.reshape(len(moved), -1)[:, k] = to
    x = density.unconstrained({**points, name: moved})
    with np.errstate(all="ignore"):
        terms = density.terms(x)
    own = [value for title, value in terms.items() if not title.startswith("jacobian of ")]
    return np.sum(own, axis=0), np.sum(np.abs(own), axis=0)
