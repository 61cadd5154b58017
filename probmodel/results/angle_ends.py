"""Angles whose posterior goes on beyond the end of their interval, where no chain has been.

    low, high   ends of the interval, one turn apart, which are one direction
    q           log density on the scale of the model
    R           mirrors an angle at that direction: low + d to high - d, and back
    F, G        share of the draws that moves across the end, from the upper side and the lower

Draws within a quarter turn of an end are mirrored and accepted as a Metropolis step would be, by
min(1, exp(q(R) - q)). In equilibrium as much goes one way as the other, F = G. Where all chains lie
on one side one of them is zero, and the other, F, at most the odds of what lies beyond the end to
the rest: its share is F / (1 + F) or more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from probmodel.constraints import Interval
from probmodel.density.posterior import ModelDensity
from probmodel.results.angles import (
    INTERVALS,
    moved_density,
    one_direction,
    other_forms,
    same_at_ends,
)
from probmodel.results.draws import element_labels
from probmodel.results.findings import MOST_NAMED, Finding
from probmodel.types import Array, Posterior

if TYPE_CHECKING:
    from probmodel.inference.sample_run import SampleRun

_LEAST = 0.005  # share of the posterior beyond an end that is reported
_ONE_WAY = 0.25  # of the larger flow: less comes back
_NEAR = 0.5 * np.pi
_DRAWS = 4000  # that are looked at
_POINTS = 3  # at which the ends are compared
_MOST = 20  # elements


def check_angle_ends(
    run: SampleRun, posterior: Posterior, earlier: Sequence[Finding]
) -> list[Finding]:
    """Look for angles that chains cannot follow across the end of their interval.

    Parameters
    ----------
    run : what the driver returned
    posterior : the density that was sampled
    earlier : findings about modes, whose quantities are left out
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
        for a, b, low, high in INTERVALS:
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
    if not same_at_ends(density, last, element, low, high):
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
        f"{one_direction(label, a, b)} The posterior goes on beyond {end}, and at least "
        f"{100 * share:.2g} % of it lies next to {other}, where there are too few draws.{more} "
        f"{other_forms(parameter)}"
    )
    return Finding("angle_ends", message, tuple(names[:MOST_NAMED]))
