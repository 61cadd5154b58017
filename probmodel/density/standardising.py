"""What a model tells of the parameters of its hierarchies, measured where chains have been.

    theta_i      an element of a parameter whose prior depends on other parameters
    l            log density of the model without the prior of theta, and without the Jacobian
    J_i, m_i     information and value of the normal observation that stands for l

Seen from one element, ``l`` is about ``-J (theta - m)^2 / 2``: J is minus its second derivative,
and ``m = theta + l' / J``. For a normal likelihood with known scale that is exact, and theta,
standardised by its conditional distribution given that observation, is independent of the
parameters of its prior: where the data say much it is centred, where they say little non-centred,
and in between it is what suits (Papaspiliopoulos, Roberts and Skold, 2007, Statistical Science 22,
59-73). Second derivatives come from differences of the gradient along random signs of all elements
at once, whose products with the signs have the diagonal as their mean (Bekas, Kokiopoulou and Saad,
2007, Applied Numerical Mathematics 57, 1214-1229).

Data may tell of the sum of two effects alone. Then chains differ in m by more than J leaves open,
and in the location of the prior by as much, as both effects move against each other along a ridge.
If m were held fixed, the ridge would be bent on the standardised scale, and how would depend on the
scale of the prior. So m moves with that location then.

Each parameter is measured on its own scale, that of the logarithm where it has one bound and of the
log odds where it has two, with the others where they are on the scale that is sampled. So in a
hierarchy of several levels, once those below are standardised, what is measured is what the data
tell of a level with those below integrated out.

A parameter in which the density jumps, such as a threshold of each group, stays as it was written:
second derivatives do not tell what the data say, and on the standardised scale the parameters of
its prior would jump, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import prod

import numpy as np

from probmodel.density.posterior import ModelDensity
from probmodel.expressions import as_expression
from probmodel.model.parameters import FreeParameter, free_link
from probmodel.model.pseudo_data import PseudoData, location, on_free_scale, takes_pseudo_data
from probmodel.numerics.jumps import find_jumps
from probmodel.types import Array, LogDensity

STEP = 1e-3  # of differences, in standard deviations of the points
SIGNS = 8  # that a variance is averaged over
LOOSE = 1.0  # spread over chains of what is observed, in units of what J leaves open
TIED = 0.5  # share of that spread that is left beside the prior's location, if they move together
CENTRED = 0.6  # share of the directions that data decide, from which they stay as declared
MAD = 1.4826  # standard deviation over median absolute deviation, of a normal variable

Part = tuple[FreeParameter, slice]  # a parameter and its columns


def hierarchies(density: ModelDensity) -> list[Part]:
    """Parameters that are to be standardised; those above come before those below."""
    evaluator = density._binding.evaluator
    return [
        (free, cut)
        for free, cut in density._blocks
        if free.name in density._binding.declarations  # imputed elements are not
        and takes_pseudo_data(free.declaration, evaluator)
    ]


def measured(
    density: ModelDensity,
    points: Array,
    rng: np.random.Generator,
    count: Callable[[LogDensity], LogDensity],
) -> dict[str, PseudoData]:
    """Measure what a model tells of the parameters of its hierarchies.

    Parameters
    ----------
    density : as it is sampled now
    points : (times, chains, dim), where chains have been
    rng : of the signs
    count : returns a density that counts its evaluations
    """
    rows, known, found = points.reshape(-1, points.shape[-1]), density._binding.pseudo_data, {}
    jumps = find_jumps(count(density), points[-1]) if not known else np.zeros(density.dim)
    for index, (free, cut) in enumerate(hierarchies(density)):
        if jumps[cut].any() or (known and free.name not in known):
            continue
        own, x = density, rows
        if free.name in known:
            others = {name: pseudo_data for name, pseudo_data in known.items() if name != free.name}
            own = ModelDensity(density.model, others)
            x = translated(rows, density, own)
        part = hierarchies(own)[index][0], cut
        seen = *_seen(own, count(own), part, x, rng), _locations(own, part[0], x)
        pseudo_data = _robust(free, seen, points.shape[:2])
        if _kind(free) == "whole":
            share = _share(own, part[0], x[-points.shape[1] :], pseudo_data.information)
            pseudo_data = PseudoData(np.asarray(np.inf if share > CENTRED else 0.0), np.zeros(()))
        found[free.name] = pseudo_data
    return found


def _seen(
    density: ModelDensity, evaluate: LogDensity, part: Part, x: Array, rng: np.random.Generator
) -> tuple[Array, Array, Array]:
    """Return theta, the slope of l and minus its second derivative: (rows, elements) each."""
    free, cut = part
    prior = density._programs.prior(free)

    def slope(shift: Array | float) -> Array:
        there = x.copy()
        there[:, cut] += shift
        whole = evaluate(there)
        rest = whole.grad[:, cut] - prior(there)[1][:, cut]
        return np.where(np.isfinite(whole.logp)[:, None], rest, np.nan)

    with np.errstate(all="ignore"):
        spread = np.std(x[:, cut], axis=0)
        step = STEP * np.where((spread > 0.0) & np.isfinite(spread), spread, 1.0)
        signs = rng.choice([-1.0, 1.0], size=(len(x), len(step)))
        curvature = (slope(-step * signs) - slope(step * signs)) * signs / (2.0 * step)
        return x[:, cut], slope(0.0), curvature


def _locations(density: ModelDensity, free: FreeParameter, x: Array) -> Array:
    """Return where the location of a prior is: (rows, elements); NaN if it has none."""
    prior = free.declaration.prior
    assert prior is not None
    link = free_link(free.declaration, density._binding.evaluator)
    expression = location(on_free_scale(prior, link))
    if expression is None:
        return np.full((len(x), prod(free.free_shape)), np.nan)
    (values,) = density.values_at(x, [as_expression(expression)])
    values = values.reshape(
        len(x), *(1,) * (len(free.free_shape) + 1 - values.ndim), *values.shape[1:]
    )
    return np.broadcast_to(values, (len(x), *free.free_shape)).reshape(len(x), -1)


def _robust(free: FreeParameter, seen: Sequence[Array], times: tuple[int, int]) -> PseudoData:
    """Average over the times of each chain, and take the median over chains."""
    *parts, locations = (part.reshape(*times, -1) for part in seen)
    fine = np.isfinite(np.sum(parts, axis=0)).all(axis=2)
    chains = [
        [part[ok, c].mean(0) for part in (*parts, locations)]
        for c, ok in enumerate(fine.T)
        if ok.any()
    ]
    if not chains:
        return PseudoData(np.zeros(()), np.zeros(()))
    theta, slope, curvature, locations = (np.stack(part) for part in zip(*chains, strict=True))
    information = np.maximum(np.median(curvature, axis=0), 0.0)
    with np.errstate(all="ignore"):
        values = theta + slope / information
        value, origin = np.median(values, axis=0), np.median(locations, axis=0)
        alone, beside = (_spread(v, information) for v in (values, values - locations))
        follows = (alone > LOOSE) & (beside < TIED * alone)
        known = np.isfinite(value)
        information, value, origin, follows = (
            np.where(known, part, 0.0).reshape(free.free_shape)
            for part in (information, value, origin, follows)
        )
        if _kind(free) == "series":
            value = np.sum(information * value, axis=-1) / np.sum(information, axis=-1)
            information = np.mean(information, axis=-1)
            return PseudoData(information, np.where(information > 0.0, value, 0.0))
    if not follows.any():
        return PseudoData(information, value)
    return PseudoData(information, value, origin, follows)


def _spread(values: Array, information: Array) -> Array:
    """Spread over chains, in units of what the information leaves open: (elements,)."""
    away = np.abs(values - np.median(values, axis=0))
    return np.asarray(MAD * np.median(away, axis=0) * np.sqrt(information))


def _kind(free: FreeParameter) -> str | None:
    prior = free.declaration.prior
    return None if prior is None else prior.takes_pseudo_data


def _share(density: ModelDensity, free: FreeParameter, x: Array, information: Array) -> float:
    """Share of the directions of a normal value that the data decide, in the median over rows.

    With the eigenvalues v of its covariance and the mean information j on an element it is the mean
    of j v / (1 + j v).
    """
    prior = free.declaration.prior
    assert prior is not None
    event = free.shape[len(free.shape) - prior.event_ndim :]
    args = [as_expression(arg) for arg in prior.args.values()]
    shares = []
    with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
        for params in zip(*density.values_at(x, args), strict=True):
            told = np.mean(information) * prior.spectrum(event, *params)
            shares.append(np.mean(told / (1.0 + told)))
    fine = np.isfinite(shares)
    return float(np.median(np.array(shares)[fine])) if fine.any() else 0.0


def _maps_back(free: FreeParameter) -> bool:
    """Whether what standardises a value is undone by a formula, not by solving for columns."""
    return _kind(free) in ("series", "whole")


# -- from one scale to another --------------------------------------------------------------------


def translated(x: Array, origin: ModelDensity, target: ModelDensity) -> Array:
    """Return the points of one density on the scale that another one of the same model samples."""
    moved = x.copy()
    for free, cut in hierarchies(origin):
        if free.frame is not None:
            moved[:, cut] = _values(origin, free, x)
    for part in hierarchies(target):
        if part[0].frame is not None:
            with np.errstate(all="ignore"):
                moved[:, part[1]] = _standardised(target, part, moved)
    return moved


def centring(density: ModelDensity, x: Array) -> dict[str, Array]:
    """Return the share of the data in the precision of each element: (n, *shape) by parameter."""
    shares = {}
    for free, cut in hierarchies(density):
        pseudo_data = density._binding.pseudo_data.get(free.name)
        if pseudo_data is not None and free.frame is not None:
            variance = _variance(density, (free, cut), x).reshape(-1, *free.free_shape)
            if _kind(free) == "series":
                variance = np.mean(variance, axis=-1)
            shares[free.name] = pseudo_data.information * variance
    return shares


def _variance(density: ModelDensity, part: Part, x: Array) -> Array:
    """Return the variance of each element on the standardised scale: (rows, elements).

    That of a series or a grid is averaged over random signs, as its map has as many columns as
    there are elements.
    """
    free, cut = part
    if not _maps_back(free):
        return np.asarray(np.sum(np.square(_affine(density, part, x)[1]), axis=0))
    rng, there, total = np.random.default_rng(0), x.copy(), 0.0
    there[:, cut] = 0.0
    location = _values(density, free, there)
    for _ in range(SIGNS):
        there[:, cut] = rng.choice([-1.0, 1.0], size=location.shape)
        total = total + np.square(_values(density, free, there) - location) / SIGNS
    return np.asarray(total)


def _standardised(density: ModelDensity, part: Part, x: Array) -> Array:
    """Return the free values of a parameter whose values are in ``x``."""
    free, cut = part
    assert free.frame is not None
    if _maps_back(free):
        args = [as_expression(arg) for arg in free.frame.args.values()]
        values = x[:, cut].reshape(-1, *free.free_shape)
        rows = zip(values, *density.values_at(x, args), strict=True)
        return np.stack([free.frame.standardise(*row).reshape(-1) for row in rows])
    location, columns = _affine(density, part, x)
    residual = x[:, cut] - location
    if len(columns) == 1:
        return np.asarray(residual / columns[0])
    # (event, rows, elements) to one matrix for each vector of the batch
    size = len(columns)
    matrices = columns.reshape(size, -1, size).transpose(1, 2, 0)
    fine = np.isfinite(matrices).all(axis=(1, 2)) & np.isfinite(np.linalg.slogdet(matrices)[1])
    z = np.full((len(matrices), size), np.nan)
    z[fine] = np.linalg.solve(matrices[fine], residual.reshape(-1, size, 1)[fine])[..., 0]
    return z.reshape(residual.shape)


def _affine(density: ModelDensity, part: Part, x: Array) -> tuple[Array, Array]:
    """Return the map from free values to values: (rows, elements), (event, rows, elements).

    Vectors of a batch are mapped by themselves. The other columns of ``x`` say where.
    """
    free, cut = part
    assert free.frame is not None
    size = prod(free.free_shape[len(free.free_shape) - free.frame.event_ndim :])
    there = x.copy()
    there[:, cut] = 0.0
    location = _values(density, free, there)
    columns = np.empty((size, *location.shape))
    for j in range(size):
        there[:, cut] = np.tile(np.eye(size)[j], location.shape[1] // size)
        columns[j] = _values(density, free, there) - location
    return location, columns


def _values(density: ModelDensity, free: FreeParameter, x: Array) -> Array:
    """Return the values of a parameter where it would be free as declared: (rows, elements)."""
    value = density.constrain(x, (free.name,))[free.name]
    link = free_link(free.declaration, density._binding.evaluator)
    with np.errstate(all="ignore"):
        return np.asarray(link.inverse(value, *link.bounds)).reshape(len(x), -1)
