"""Log densities that grow without bound towards zero, the edge of a parameter such as a scale.

Of data that are all alike, or a model that meets them without any noise left, the likelihood grows
with each power of 1 / s as the scale s goes to 0. Where that is faster than prior and volume shrink
the posterior has no finite mass, and chains fall into the edge as far as numbers go.

Rounding ends that fall where data are not all alike, but fitted exactly: the errors that are left
are as large as the last digits of the data. There draws that are less than `_ROUNDING` times the
largest observation are looked at: that is where the likelihood alone falls as fast if the parameter
is `_FARTHER` times as large, by about as much from there to the half of the way (on the log scale)
as on the rest: so falls a power of 1 / s, but not an exponential of a rate, which is small where
times are long.

Observations that are all zero have no last digit, and chains fall slowly, for with them falls what
their mean depends on. There the likelihood is asked of parameters whose draws fall in every chain,
from each quarter of the run to the next, or have fallen far when the run begins.

Else it is told by draws that are nearer to zero than `NEAREST`, where no bounded density has any:
where the parameter is `_FACTOR` times as large, and all else the same, the log density is lower by
more than the logarithm of that. 1 / s itself, which is lower by just that, has no finite integral.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from probmodel.density.posterior import ModelDensity
from probmodel.results.angles import moved_density, moved_terms
from probmodel.results.draws import element_labels
from probmodel.results.findings import MOST_NAMED, Finding
from probmodel.types import Array, Posterior

if TYPE_CHECKING:
    from probmodel.inference.sample_run import SampleRun

NEAREST = 1e-100
_NEAR = 1e-30  # of observations that are all zero
_FACTOR = 1e50
_ROUNDING = 4.0 * float(np.finfo(float).eps)
_FARTHER = 1e6
_FASTER = 1.05  # than 1 / s
_EVEN = 3.0  # times what a power of 1 / s gains on the way's second half, for the first at most
_DRAWS = 20  # that are looked at, the nearest ones
_QUARTERS = 4
_FEWEST = 25  # draws in a quarter


def check_unbounded(
    run: SampleRun, posterior: Posterior, draws: Mapping[str, Array]
) -> list[Finding]:
    """Look for parameters that fall into zero because the log density grows towards it."""
    if not isinstance(posterior, ModelDensity):
        return []
    names, least = [], []
    sizes = _sizes(posterior)
    most = max(NEAREST, *(_ROUNDING * size for size in sizes.values()), 0.0)
    zeros = 0.0 in sizes.values()
    for variable in posterior.variables:
        if variable.kind != "param" or variable.name not in draws:
            continue
        values = draws[variable.name].reshape(run.x.shape[0] * run.x.shape[1], -1)
        nearest = values.min(axis=0, initial=np.inf)
        fallen = np.zeros(len(nearest), dtype=bool)
        if zeros:
            positive = nearest >= 0.0
            fallen[positive] = _fallen(values[:, positive].reshape(*run.x.shape[:2], -1))
            fallen |= positive & (nearest < _NEAR)
        for k in np.flatnonzero((nearest >= 0.0) & ((nearest < most) | fallen)):
            rows = np.argsort(values[:, k], kind="stable")[:_DRAWS]
            x = run.x.reshape(len(values), -1)[rows]
            asked = {t: size for t, size in sizes.items() if size or fallen[k]}
            if _falls(posterior, x, values[rows, k], asked, (variable.name, int(k))):
                names.append(element_labels(variable, posterior.coords)[int(k)])
                least.append(float(nearest[k]))
    if not names:
        return []
    shown = ", ".join(names[:MOST_NAMED])
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    message = (
        f"The log density seems to grow without bound as {shown}{more} goes to 0, where draws are "
        f"as small as {min(least):.2g}: the posterior seems to have no finite mass there, and "
        "these draws mean nothing. Data that are all alike, or fitted without any error left, do "
        f"that. Look at the data, give {names[0]} a prior that keeps it from 0, such as LogNormal "
        "or InverseGamma, or add the error of measurement or rounding to it."
    )
    return [Finding("unbounded", message, tuple(names[:MOST_NAMED]))]


def _fallen(values: Array) -> Array:
    """Whether draws fall in every chain: (chains, draws, elements) to (elements,)."""
    chains, draws, elements = values.shape
    if chains < 2 or draws < _QUARTERS * _FEWEST:
        return np.zeros(elements, dtype=bool)
    quarters = np.array_split(values, _QUARTERS, axis=1)
    medians = np.stack([np.median(quarter, axis=1) for quarter in quarters])
    return np.all(np.diff(medians, axis=0) < 0.0, axis=(0, 1))


def _sizes(density: ModelDensity) -> dict[str, float]:
    """Return the largest absolute value of each set of observations, by the title of its term."""
    return {
        f"likelihood of {name}": float(np.max(np.abs(y), initial=0.0, where=np.isfinite(y)))
        for name, (_, y) in density.observed_data.items()
    }


def _falls(
    density: ModelDensity,
    x: Array,
    own: Array,
    sizes: Mapping[str, float],
    element: tuple[str, int],
) -> bool:
    """Whether an element falls into zero, as far as numbers or the digits of data go."""
    if own.min() < NEAREST:
        return _grows(density, x[own < NEAREST], element)
    return any(
        _is_scale(density, x[own < _ROUNDING * size] if size else x, element, title)
        for title, size in sizes.items()
        if own.min() < _ROUNDING * size or not size
    )


def _is_scale(density: ModelDensity, x: Array, element: tuple[str, int], title: str) -> bool:
    """Whether a likelihood grows faster than 1 / s towards these points: (n, dim)."""
    points = _points(density, x)
    own = points[element[0]].reshape(len(x), -1)[:, element[1]]
    here = moved_terms(density, points, element, own)
    if title not in here:  # it is not written as the distribution of what was observed
        return False
    between, farther = (
        moved_terms(density, points, element, factor * own)[title]
        for factor in (np.sqrt(_FARTHER), _FARTHER)
    )
    gained, before = np.median(here[title] - farther), np.median(between - farther)
    return bool(gained > _FASTER * np.log(_FARTHER) and before < _EVEN * (gained - before))


def _points(density: ModelDensity, x: Array) -> dict[str, Array]:
    return density.constrain(x, tuple(v.name for v in density.variables if v.kind == "param"))


def _grows(density: ModelDensity, x: Array, element: tuple[str, int]) -> bool:
    """Whether the log density grows faster than 1 / s towards zero at some points: (n, dim)."""
    points = _points(density, x)
    own = points[element[0]].reshape(len(x), -1)[:, element[1]]
    here, _ = moved_density(density, points, element, own)
    farther, _ = moved_density(density, points, element, _FACTOR * own)
    with np.errstate(invalid="ignore"):
        gained = here - farther
    return bool(
        np.any(np.isfinite(here))
        and np.median(gained[np.isfinite(here)]) > _FASTER * np.log(_FACTOR)
    )
