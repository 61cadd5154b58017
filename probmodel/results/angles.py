"""Angles: parameters whose interval ends at one direction, where chains cannot cross.

    a, b        ends of the interval in words: -pi and pi, or 0 and 2 pi
    low, high   the ends, one turn apart
    q           log density on the scale of the model: without the Jacobians of transformations
    R           mirrors an angle at that direction: low + d to high - d, and back
    F, G        share of the draws that moves across the end, from the upper side and the lower

A posterior near that direction has one mode on the circle, and one at each end of the interval. It
is an angle if q is the same at both ends, at some draws of everything else. Chains on both sides
look like two modes: `across_the_end`. Chains on one side miss what lies beyond: `check_angle_ends`.

For the latter, draws within a quarter turn of an end are mirrored and accepted as a Metropolis step
would be, by min(1, exp(q(R) - q)). In equilibrium as much goes one way as the other, F = G. Where
all chains lie on one side one of them is zero, and the other, F, at most the odds of what lies
beyond the end to the rest: its share is F / (1 + F) or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.constraints import Interval
from probmodel.density.posterior import ModelDensity
from probmodel.results.draws import element_labels
from probmodel.results.findings import MOST_NAMED, Finding
from probmodel.types import Array, Posterior

if TYPE_CHECKING:
    from probmodel.inference.sample_run import SampleRun

_INTERVALS = (("-pi", "pi", -np.pi, np.pi), ("0", "2 pi", 0.0, 2.0 * np.pi))
_APART = 1.5 * np.pi  # groups that are nearer may be modes of their own
_POINTS = 3  # at which the ends are compared
_INSIDE = 1e-9  # of an end
_EQUAL = 1e-6  # of the sum of the sizes of the terms
_LEAST = 0.005  # share of the posterior beyond an end that is reported
_ONE_WAY = 0.25  # of the larger flow: less comes back
_NEAR = 0.5 * np.pi
_DRAWS = 4000  # that are looked at
_MOST = 20  # elements


# -- chains on both sides of an end ----------------------------------------------------------------


def across_the_end(
    posterior: Posterior, draws: Mapping[str, Array], name: str, row: Array, apart: float
) -> str:
    """Say what to do if chains lie on both sides of the end of an angle's interval.

    ``draws`` map names to (chains, draws, *shape); ``row`` are those of the quantity with a name
    such as ``omega[0]``, and ``apart`` is the distance between two groups of chains. Returns
    nothing if it is no angle, or the groups are less far apart within the interval.
    """
    parameter = name.partition("[")[0]
    known = any(v.kind == "param" and v.name == parameter for v in posterior.variables)
    if apart < _APART or not known or not isinstance(posterior, ModelDensity):
        return ""
    if any(v.kind == "param" and v.name not in draws for v in posterior.variables):
        return ""
    for a, b, low, high in _INTERVALS:
        within = low <= row.min() and row.max() <= high
        if within and _same_for_draws(posterior, draws, parameter, row, low, high):
            return f"{_one_direction(name, a, b)} {_other_forms(parameter)}"
    return ""


def _same_for_draws(
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
    return _same_at_ends(density, points, (parameter, elements[0]), low, high)


# -- chains on one side ----------------------------------------------------------------------------


def check_angle_ends(
    run: SampleRun, posterior: Posterior, earlier: Sequence[Finding]
) -> list[Finding]:
    """Look for angles that chains cannot follow across the end of their interval.

    Quantities of ``earlier`` findings about modes are left out.
    """
    if not isinstance(posterior, ModelDensity):
        return []
    angles = list(_angles(posterior))
    if not angles:
        return []
    x = run.x.reshape(-1, run.x.shape[2])
    x = x[np.unique(np.linspace(0, len(x) - 1, _DRAWS).astype(int))]
    names = tuple(v.name for v in posterior.variables if v.kind == "param")
    points = posterior.constrain(x, names)
    told = {name for finding in earlier for name in finding.variables}
    found = []
    for name, a, b, low, high in angles:
        flat = points[name].reshape(len(x), -1)
        near = np.minimum(flat - low, high - flat) < _NEAR
        variable = next(v for v in posterior.variables if v.name == name)
        labels = element_labels(variable, variable.coords)
        shares = np.mean(near, axis=0)
        for k in [int(k) for k in np.argsort(-shares)[:_MOST] if shares[k] >= _LEAST]:
            if labels[k] not in told:
                upper, lower = _flows(posterior, points, (name, k), low, high)
                found.append((max(upper, lower), upper, lower, labels[k], name, a, b))
    worst = sorted((f for f in found if _one_way(*f[1:3])), key=lambda f: -f[0])
    return [_finding(worst[0], [f[3] for f in worst])] if worst else []


def _angles(posterior: ModelDensity) -> Iterator[tuple[str, str, str, float, float]]:
    """Yield parameters whose interval is one turn, with its ends as they are written."""
    for free in posterior.model._binding.free:
        if not isinstance(free.constraint, Interval):
            continue
        limits = free.constraint.limits
        if not all(isinstance(limit, int | float | np.number) for limit in limits):
            continue
        for a, b, low, high in _INTERVALS:
            if np.allclose(limits, (low, high)):
                yield free.name, a, b, low, high


def _flows(
    density: ModelDensity,
    points: dict[str, Array],
    element: tuple[str, int],
    low: float,
    high: float,
) -> tuple[float, float]:
    """Return F and G, both zero for what is no angle."""
    name, k = element
    row = points[name].reshape(len(points[name]), -1)[:, k]
    near = np.minimum(row - low, high - row) < _NEAR
    some = {key: value[near] for key, value in points.items()}
    few = np.unique(np.linspace(0, int(near.sum()) - 1, _POINTS).astype(int))
    last = {key: value[few] for key, value in some.items()}
    if not _same_at_ends(density, last, element, low, high):
        return 0.0, 0.0
    own = row[near]
    here, _ = moved_density(density, some, element, own)
    there, _ = moved_density(density, some, element, low + high - own)
    with np.errstate(invalid="ignore"):
        accepted = np.nan_to_num(np.exp(np.minimum(there - here, 0.0)), nan=0.0)
    above = own > 0.5 * (low + high)
    total = len(row)
    return float(accepted[above].sum() / total), float(accepted[~above].sum() / total)


def _one_way(upper: float, lower: float) -> bool:
    return max(upper, lower) > _LEAST and min(upper, lower) < _ONE_WAY * max(upper, lower)


def _finding(worst: tuple[float, float, float, str, str, str, str], names: list[str]) -> Finding:
    share, upper, lower, label, parameter, a, b = worst
    end, other = (b, a) if upper > lower else (a, b)
    share /= 1.0 + share
    more = f" The same holds for {', '.join(names[1:MOST_NAMED])}." if len(names) > 1 else ""
    message = (
        f"{_one_direction(label, a, b)} The posterior goes on beyond {end}, and at least "
        f"{100 * share:.2g} % of it lies next to {other}, where there are too few draws.{more} "
        f"{_other_forms(parameter)}"
    )
    return Finding("angle_ends", message, tuple(names[:MOST_NAMED]))


# -- what both have in common ----------------------------------------------------------------------


def _one_direction(name: str, a: str, b: str) -> str:
    """Say that the ends of the interval of an angle are the same."""
    return f"{name} is an angle: {a} and {b} are one direction, and chains cannot cross it."


def _other_forms(parameter: str) -> str:
    """Say how to write an angle whose posterior is near the end of its interval."""
    return (
        "Measure the angle from a direction on the other side, or sample a unit vector, "
        f"u = param(constraint=UnitVector(), shape=2), with {parameter} = np.arctan2(u[1], u[0])."
    )


def _same_at_ends(
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
    """Return q, and the sum of the sizes of its terms, where one element is moved elsewhere."""
    own = list(moved_terms(density, points, element, to).values())
    return np.sum(own, axis=0), np.sum(np.abs(own), axis=0)


def moved_terms(
    density: ModelDensity, points: Mapping[str, Array], element: tuple[str, int], to: Any
) -> dict[str, Array]:
    """Return the terms of q by title, (n,) each, where one element is moved elsewhere.

    ``points`` map names of all parameters to (n, *shape); ``element`` is a name, and which of its
    elements; it is moved ``to`` a number or (n,).
    """
    name, k = element
    moved = np.array(points[name], dtype=float)
    moved.reshape(len(moved), -1)[:, k] = to
    x = density.unconstrained({**points, name: moved})
    with np.errstate(all="ignore"):
        terms = density.terms(x)
    return {title: value for title, value in terms.items() if not title.startswith("jacobian of ")}
