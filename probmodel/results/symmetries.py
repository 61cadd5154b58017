"""Symmetries: what can swap or change sign without any change of the posterior.

    y    draws of all parameters
    q    log density on the scale of the model: without the Jacobians of transformations
    T    swaps two elements along axes of equal length, as those of a mixture's components; or
         changes the signs of parameters, or of one slice along such axes, as of a factor's loadings

Where q(T y) = q(y), labels or signs mean nothing, nor do summaries of the draws. Chains that differ
in nothing else have not failed; whether they do is not asked. Few draws tell, as numbers do not
agree to nine digits by chance. The fewest parameters that T can be made of are named. It is asked
only where chains are in different modes, and up to `_MOST` transformations are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np

from probmodel.density.posterior import ModelDensity
from probmodel.types import Array, Posterior, Variable

_POINTS = 3
_MOST = 200
_LARGE = 6  # axes of one length, of which not all subsets are tried
_EQUAL = 1e-9  # of the sum of the sizes of the terms
_OF_AXIS = {1: ("elements",), 2: ("rows", "columns")}  # by the number of axes


class _Along(NamedTuple):
    """A parameter, and the axis along which its elements swap; none if all change sign."""

    variable: Variable
    axis: int | None


def symmetry(posterior: Posterior, draws: Mapping[str, Array], names: list[str]) -> str:
    """Say what can swap or change sign, and what to do; nothing if nothing is found.

    Parameters
    ----------
    posterior : the density that was sampled
    draws : name -> (chains, draws, *shape)
    names : of the quantities in which chains disagree, such as ``mu[0]``
    """
    parameters = [v for v in posterior.variables if v.kind == "param"]
    if not isinstance(posterior, ModelDensity) or any(v.name not in draws for v in parameters):
        return ""
    chains = np.unique(np.linspace(0, len(draws[parameters[0].name]) - 1, _POINTS).astype(int))
    points = {v.name: draws[v.name][chains, -1] for v in parameters}
    apart = {name.partition("[")[0] for name in names}
    level = _Level(posterior, points)
    for parts in islice(_sets(_axes(parameters)), _MOST):
        if apart & {part.variable.name for part in parts} and level.holds(parts, _swapped):
            return _swap(parts)
    signed = [v for v in parameters if np.min(draws[v.name]) < 0.0 < np.max(draws[v.name])]
    whole = [[_Along(v, None) for v in signed]]
    for parts in islice(_sets([*_axes(signed), *whole]), _MOST):
        if apart & {part.variable.name for part in parts} and level.holds(parts, _negated):
            return _sign(parts)
    return ""


def _axes(parameters: list[Variable]) -> list[list[_Along]]:
    """Axes of parameters, those of each length together."""
    lengths: dict[int, list[_Along]] = {}
    for variable in parameters:
        for axis, length in enumerate(variable.shape):
            lengths.setdefault(length, []).append(_Along(variable, axis))
    return [axes for length, axes in lengths.items() if length > 1]


def _sets(groups: list[list[_Along]]) -> Iterator[tuple[_Along, ...]]:
    """Subsets of each group, small ones first; of a large group singles, pairs and the whole."""
    for size in range(1, max(map(len, groups), default=0) + 1):
        for group in groups:
            if len(group) <= _LARGE or size in (1, 2, len(group)):
                yield from combinations(group, size)


def _swapped(value: Array, axis: int | None) -> Array:
    """Swap the first two elements along an axis of a draw; the first axis is that of the draws."""
    assert axis is not None
    order = np.arange(value.shape[axis + 1])
    order[:2] = 1, 0
    return np.take(value, order, axis=axis + 1)


def _negated(value: Array, axis: int | None) -> Array:
    """Change the sign of all elements, or of the first ones along an axis."""
    if axis is None:
        return -value
    signs = np.ones(value.shape[axis + 1])
    signs[0] = -1.0
    return value * signs.reshape(-1, *(1,) * (value.ndim - axis - 2))


_Change = Callable[[Array, int | None], Array]


class _Level:
    """The log density at some points, and whether it is the same at others."""

    def __init__(self, density: ModelDensity, points: Mapping[str, Array]) -> None:
        self._density = density
        self._points = points
        self._values, self._sizes = self._at(density.unconstrained(points))

    def _at(self, x: Array) -> tuple[Array, Array]:
        """q, and the sum of the sizes of its terms."""
        with np.errstate(all="ignore"):
            terms = self._density.terms(x)
        own = [value for title, value in terms.items() if not title.startswith("jacobian of ")]
        return np.sum(own, axis=0), np.sum(np.abs(own), axis=0)

    def holds(self, parts: tuple[_Along, ...], change: _Change) -> bool:
        """Whether q stays the same under a change of some parameters."""
        points = dict(self._points)
        for variable, axis in parts:
            points[variable.name] = change(points[variable.name], axis)
        x = self._density.unconstrained(points)
        if not np.isfinite(x).all():
            return False
        back = self._density.constrain(x, tuple(points))
        if any(not np.allclose(back[name], points[name]) for name in points):
            return False  # outside of a support
        return bool((np.abs(self._at(x)[0] - self._values) <= _EQUAL * self._sizes).all())


def _swap(parts: tuple[_Along, ...]) -> str:
    together = " together" if len(parts) > 1 else ""
    return (
        f"The posterior is the same when {_slices(parts)} swap{together}: labels mean nothing "
        "here, nor do summaries of single elements. Order one of them (an ordered vector), or look "
        "at quantities that do not depend on labels."
    )


def _sign(parts: tuple[_Along, ...]) -> str:
    first = parts[0].variable.name
    whole = parts[0].axis is None
    what = _listed([p.variable.name for p in parts]) if whole else f"one of the {_slices(parts)}"
    change = "change sign together" if len(parts) > 1 else "changes sign"
    return (
        f"The posterior is the same when {what} {change}: signs mean nothing here, nor do means. "
        f"Bound an element of {first} that is far from 0 by lower=0, or look at quantities that do "
        "not depend on signs."
    )


def _slices(parts: tuple[_Along, ...]) -> str:
    """Name what lies along axes: elements, rows, columns of some parameters."""
    kinds: dict[str, list[str]] = {}
    for variable, axis in parts:
        of_axis = _OF_AXIS.get(len(variable.shape))
        kind = of_axis[axis or 0] if of_axis else f"slices along axis {axis}"
        kinds.setdefault(kind, []).append(variable.name)
    return _listed([f"{kind} of {_listed(names)}" for kind, names in kinds.items()])


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
