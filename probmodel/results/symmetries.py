"""Symmetries: what can swap or change sign without any change of the posterior.

    y    draws of all parameters
    q    log density on the scale of the model: without the Jacobians of transformations
    T    swaps elements along axes of equal length, as those of a mixture's components; or changes
         the signs of parameters, or of slices along such axes, as of a factor's loadings

Where q(T y) = q(y) for every T of a kind, labels or signs mean nothing, nor do summaries of the
draws. Few draws tell, as numbers do not agree to nine digits by chance. The fewest parameters that
T can be made of are named. It is asked only where chains are in different modes, and up to `_MOST`
sets of parameters are tried. Whether the chains differ in nothing else is seen once many draws have
the labels and signs of one of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, islice

import numpy as np

from probmodel.density.posterior import ModelDensity
from probmodel.results.alignment import Along, Moves, aligned, transformed
from probmodel.results.convergence import convergence
from probmodel.types import Array, Posterior, Variable

DISAGREE = 1.1  # R-hat from which on it is worth asking whether there are modes
_POINTS = 3
_MOST = 200
_LARGE = 6  # axes of one length, of which not all subsets are tried
_EQUAL = 1e-9  # of the sum of the sizes of the terms
_LABELS = 32  # that may swap or change sign
_ALIGNED = 250  # draws of a chain that are aligned
_NAMED = 3
_OF_AXIS = {1: ("elements",), 2: ("rows", "columns")}  # by the number of axes


def symmetry(
    posterior: Posterior, draws: Mapping[str, Array], names: list[str]
) -> tuple[str, bool]:
    """Say what can swap or change sign, what to do, and whether chains differ in anything else.

    Parameters
    ----------
    posterior : the density that was sampled
    draws : name -> (chains, draws, *shape)
    names : of the quantities in which chains disagree, such as ``mu[0]``

    Returns
    -------
    str
        Nothing if nothing is found. If chains differ in more, it ends without a full stop.
    bool
        Whether this explains all that chains of parameters disagree about.
    """
    parameters = [v for v in posterior.variables if v.kind == "param"]
    if not isinstance(posterior, ModelDensity) or any(v.name not in draws for v in parameters):
        return "", False
    apart = {name.partition("[")[0] for name in names} & {v.name for v in parameters}
    found: list[Moves] = []
    others: list[str] = []
    for moves in _found(posterior, draws, parameters, apart):
        found.append(moves)
        for chosen in ([moves], found)[: len(found)]:
            others = _others(chosen, draws, apart)
            if not others:
                return f"{_said(chosen)} Chains differ in nothing else.", True
    if not found:
        return "", False
    return f"{_said(found)} Chains differ in more, as in {_listed(others[:_NAMED])}", False


def _others(found: list[Moves], draws: Mapping[str, Array], apart: set[str]) -> list[str]:
    """Parameters about which chains disagree though they have the same labels and signs."""
    chains, length = next(iter(draws.values())).shape[:2]
    stride = max(1, length // _ALIGNED)
    names = {part.name for moves in found for part in moves.parts}
    values = {name: np.concatenate(draws[name][:, ::stride]) for name in names}
    for parts in dict.fromkeys(moves.parts for moves in found):
        alike = [moves for moves in found if moves.parts == parts]
        swaps, signs = sum((m.swaps for m in alike), ()), sum((m.signs for m in alike), ())
        values |= aligned(Moves(parts, swaps, signs), values)
    rows = {name: value.reshape(chains, -1, value[0].size) for name, value in values.items()}
    rhat = {name: convergence(np.moveaxis(row, 2, 0)).rhat for name, row in rows.items()}
    return sorted(apart - names | {name for name in names if (rhat[name] > DISAGREE).any()})


def _found(
    density: ModelDensity, draws: Mapping[str, Array], parameters: list[Variable], apart: set[str]
) -> Iterator[Moves]:
    """Find what leaves the posterior as it is and changes what chains disagree about."""
    level = _Level(density, draws)
    signed = [v for v in parameters if np.min(draws[v.name]) < 0.0 < np.max(draws[v.name])]
    whole = [Along(v.name, v.shape, None) for v in signed]
    for keeps, groups in (level.swaps, _axes(parameters)), (level.signs, [*_axes(signed), whole]):
        before: set[str] = set()
        for parts in islice(_sets(groups), _MOST):
            names = {part.name for part in parts}
            moves = keeps(parts) if apart & names and not before & names else None
            if moves is not None:
                before |= names
                yield moves


def _axes(parameters: list[Variable]) -> list[list[Along]]:
    """Axes of parameters, those of each length together."""
    lengths: dict[int, list[Along]] = {}
    for variable in parameters:
        for axis, length in enumerate(variable.shape):
            lengths.setdefault(length, []).append(Along(variable.name, variable.shape, axis))
    return [axes for length, axes in lengths.items() if 1 < length <= _LABELS]


def _sets(groups: list[list[Along]]) -> Iterator[tuple[Along, ...]]:
    """Subsets of each group, small ones first; of a large group singles, pairs and the whole."""
    for size in range(1, max(map(len, groups), default=0) + 1):
        for group in groups:
            if len(group) <= _LARGE or size in (1, 2, len(group)):
                yield from combinations(group, size)


class _Level:
    """The log density at some draws, and whether it is the same elsewhere."""

    def __init__(self, density: ModelDensity, draws: Mapping[str, Array]) -> None:
        chains = np.unique(np.linspace(0, len(next(iter(draws.values()))) - 1, _POINTS).astype(int))
        self._density = density
        names = [v.name for v in density.variables if v.kind == "param"]
        self._points = {name: draws[name][chains, -1] for name in names}
        self._values, self._sizes = self._at(density.unconstrained(self._points))

    def _at(self, x: Array) -> tuple[Array, Array]:
        """q, and the sum of the sizes of its terms."""
        with np.errstate(all="ignore"):
            terms = self._density.terms(x)
        own = [value for title, value in terms.items() if not title.startswith("jacobian of ")]
        return np.sum(own, axis=0), np.sum(np.abs(own), axis=0)

    def swaps(self, parts: tuple[Along, ...]) -> Moves | None:
        """Find the labels that swap with the first and keep q, if the second does."""
        labels = np.arange(parts[0].labels)
        one, orders = np.ones(len(labels)), np.tile(labels, (len(labels), 1))
        orders[:, 0], orders[labels, labels] = labels, 0
        if not self._same(parts, orders[1], one):
            return None
        return Moves(
            parts, swaps=tuple(k for k, o in enumerate(orders) if self._same(parts, o, one))
        )

    def signs(self, parts: tuple[Along, ...]) -> Moves | None:
        """Find the labels whose signs change and keep q, if that of the first does."""
        labels = np.arange(parts[0].labels)
        signs = 1.0 - 2.0 * np.eye(len(labels))
        if not self._same(parts, labels, signs[0]):
            return None
        return Moves(
            parts, signs=tuple(k for k, s in enumerate(signs) if self._same(parts, labels, s))
        )

    def _same(self, parts: tuple[Along, ...], order: Array, signs: Array) -> bool:
        """Whether q is the same at T y."""
        points = self._points | transformed(parts, self._points, order, signs)
        x = self._density.unconstrained(points)
        if not np.isfinite(x).all():
            return False
        back = self._density.constrain(x, tuple(points))
        if any(not np.allclose(back[name], points[name]) for name in points):
            return False  # outside of a support
        return bool((np.abs(self._at(x)[0] - self._values) <= _EQUAL * self._sizes).all())


def _said(found: list[Moves]) -> str:
    return " ".join(_swap(moves) if moves.swaps else _sign(moves) for moves in found)


def _swap(moves: Moves) -> str:
    together = " together" if len(moves.parts) > 1 else ""
    some = "some " if len(moves.swaps) < moves.parts[0].labels else ""
    return (
        f"The posterior is the same when {some}{_slices(moves.parts)} swap{together}: labels mean "
        "nothing here, nor do summaries of single elements. Order one of them (an ordered vector), "
        "or look at quantities that do not depend on labels."
    )


def _sign(moves: Moves) -> str:
    parts = moves.parts
    first = parts[0].name
    whole = parts[0].axis is None
    what = _listed([p.name for p in parts]) if whole else f"one of the {_slices(parts)}"
    change = "change sign together" if len(parts) > 1 else "changes sign"
    return (
        f"The posterior is the same when {what} {change}: signs mean nothing here, nor do means. "
        f"Bound an element of {first} that is far from 0 by lower=0, or look at quantities that do "
        "not depend on signs."
    )


def _slices(parts: tuple[Along, ...]) -> str:
    """Name what lies along axes: elements, rows, columns of some parameters."""
    kinds: dict[str, list[str]] = {}
    for name, shape, axis in parts:
        of_axis = _OF_AXIS.get(len(shape))
        kind = of_axis[axis or 0] if of_axis else f"slices along axis {axis}"
        kinds.setdefault(kind, []).append(name)
    return _listed([f"{kind} of {_listed(names)}" for kind, names in kinds.items()])


def _listed(items: list[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
