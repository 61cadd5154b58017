"""Divergences: what is said of them, and the group of a result that holds them.

What sets the places where trajectories diverge apart from the other draws is looked for one scalar
quantity at a time, by the Kolmogorov-Smirnov distance between the two samples. It is compared with
what chance would give:

    n       stretches of one autocorrelation time in which a trajectory diverged
    D       largest distance between the two empirical distribution functions

If divergences have nothing to do with any of m quantities, those stretches are a random choice
among all, and D sqrt(n) exceeds sqrt(log(2 m / p) / 2) for any of them with a probability below p.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probmodel.results.attributes import Attributes
from probmodel.results.draws import dim_labels, kept_draws, named_draws
from probmodel.results.findings import Finding, share, worst
from probmodel.results.hierarchy_advice import hierarchy_advice
from probmodel.results.quantities import Quantities, rows_of
from probmodel.types import Array, Posterior

if TYPE_CHECKING:
    import xarray as xr

    from probmodel.inference.collectors import Divergences
    from probmodel.inference.sample_run import SampleRun
    from probmodel.samplers.base import Sampler

POINTS = ("start", "breakdown")
_FEW = 1e-4  # share of the trajectories up to which they are rejections like others
_CHANCE = 0.05  # probability of naming a quantity that has nothing to do with the divergences
_CLEAR = 0.3  # a smaller distance explains little, however certain it is
_ALSO = 0.8  # share of the largest distance below which a quantity follows from others
_MOST = 0.5  # share of the trajectories from which on their starts tell nothing
_MOST_NAMED = 3
_MOST_PLACES = 3
_MOST_CHAINS = 6
_REFERENCE = 4000  # draws that the starts are compared with; more would tell no more
_HIGH_TARGET = 0.95  # from here on, shorter steps are no advice


class Apart(NamedTuple):
    """How far the places of divergences are from the other draws, one entry per quantity.

    Attributes
    ----------
    distance : D
    reach : the distance that chance would give; above 1 where nothing can be told
    """

    distance: Array
    reach: Array


def check_divergences(
    run: SampleRun,
    posterior: Posterior,
    draws: Mapping[str, Array],
    found: Quantities,
    sampler: Sampler,
    thin: int,
) -> list[Finding]:
    """Look for trajectories that left the posterior, and for what their starts have in common.

    A method whose trajectories have one step only has none: there a proposal out of proportion is
    a rejection like others. So is one among ten thousand trajectories.
    """
    count = int(run.divergences.counts.sum())
    steps = run.stats.get("n_steps")
    trajectories = run.divergences.counts.size * thin
    if count <= _FEW * trajectories or steps is None or np.max(steps) <= 1:
        return []
    names: tuple[str, ...] = ()
    where = "So many have one reason: the steps are far too long, or the warm-up is too short."
    if count < _MOST * trajectories:
        names, where = _explain(run, posterior, draws, found)
    message = (
        f"{count} of {trajectories} trajectories diverged ({share(count, trajectories)}): "
        f"{_places(run)}. Parts of the posterior may be missed. {where} {_advice(run, sampler)}"
    )
    return [Finding("divergences", message, names)]


def _places(run: SampleRun) -> str:
    """List chains with their counts, and the first draws: ``12 in chain 0, first at ...``."""
    per_chain = run.divergences.counts.sum(axis=1)
    chains = np.flatnonzero(per_chain)
    if len(chains) > _MOST_CHAINS:
        text = f"in {len(chains)} of {len(per_chain)} chains"
    else:
        text = ", ".join(f"{per_chain[c]} in chain {c}" for c in chains)
    draws, chains = np.nonzero(run.divergences.counts.T)
    first = zip(chains[:_MOST_PLACES], draws[:_MOST_PLACES], strict=True)
    listed = ", ".join(f"chain {c} draw {d}" for c, d in first)
    return f"{text}, {'first' if len(draws) > _MOST_PLACES else 'namely'} at {listed}"


def _advice(run: SampleRun, sampler: Sampler) -> str:
    target = sampler.aim
    if target is None:
        first = "Shorten the steps (step_size)"
    elif target < _HIGH_TARGET:
        first = f"Raise target_accept (it was {target:g}) to {_HIGH_TARGET}"
    else:
        first = f"Shorter steps will hardly help (target_accept was {target:g})"
    tries = [first, hierarchy_advice(run)]
    tries.append("or give scales that the data say little about a stronger prior.")
    return "; ".join(part for part in tries if part)


def _explain(
    run: SampleRun, posterior: Posterior, draws: Mapping[str, Array], found: Quantities
) -> tuple[tuple[str, ...], str]:
    """Name the parameters that set the starts apart, and say so in a sentence."""
    names, blocks = rows_of(posterior, run.x, draws, derived=False)
    at_start = run.divergences.start[None]
    values = named_draws(posterior, at_start, _parameters(posterior, draws))
    _, starts = rows_of(posterior, at_start, values, derived=False)
    sizes = dict(zip(found.names, found.convergence.ess_bulk, strict=True))
    ess = np.array([sizes[name] for name in names])
    apart = _apart(run, blocks, starts, ess)
    if not (apart.reach < 1.0).any():
        return (), "Too few draws are independent to tell which parameters they depend on."
    clear = apart.distance > np.maximum(apart.reach, _CLEAR)
    clear &= apart.distance >= _ALSO * apart.distance.max()
    top = worst(apart.distance, clear, highest=True)[:_MOST_NAMED]
    if not top.size:
        return (), "No single parameter tells their starting points from the other draws."
    rows = [row for block in blocks for row in block]
    points = [row for block in starts for row in block]
    ranges = [f"{names[i]} {_range(points[i])} (all draws: {_range(rows[i])})" for i in top]
    text = f"Most of them start where other draws seldom are: {' and '.join(ranges)}."
    return tuple(names[i] for i in top), text


def _apart(run: SampleRun, blocks: list[Array], starts: list[Array], ess: Array) -> Apart:
    """Compare the starts with the draws, quantity by quantity."""
    chains, length = run.divergences.counts.shape
    lengths = np.where(np.isnan(ess), 1.0, chains * length / np.maximum(ess, 1.0))
    events = _stretches(run.divergences, lengths)
    step = -(-chains * length // _REFERENCE)
    found = [
        distances(points[:, 0], block[:, :, ::step].reshape(len(block), -1))
        for block, points in zip(blocks, starts, strict=True)
    ]
    reach = np.sqrt(0.5 * np.log(2.0 * len(ess) / _CHANCE) / events)
    return Apart(np.concatenate(found), reach)


def _stretches(divergences: Divergences, lengths: Array) -> Array:
    """Count the stretches of the chains that hold a divergence, for each length: (rows,)."""
    chain, draw = divergences.chain, divergences.draw
    cells = np.floor_divide(draw, np.maximum(lengths, 1.0)[:, None]) + chain * (draw.max() + 1.0)
    cells.sort(axis=1)
    return 1 + np.count_nonzero(np.diff(cells, axis=1), axis=1)


def distances(a: Array, b: Array) -> Array:
    """Kolmogorov-Smirnov distance of each row of ``a``: (rows, n) and ``b``: (rows, N).

    Rows with a value that is not a number have a distance of 0.
    """
    result = np.zeros(len(a))
    for i in np.flatnonzero(~(np.isnan(a).any(axis=1) | np.isnan(b).any(axis=1))):
        first, second = np.sort(a[i]), np.sort(b[i])
        both = np.concatenate([first, second])
        gap = np.searchsorted(first, both, side="right") / len(first)
        gap -= np.searchsorted(second, both, side="right") / len(second)
        result[i] = np.abs(gap).max()
    return result


def _range(values: Array) -> str:
    """Say where nine in ten of the values are: ``between 0.02 and 0.3``."""
    low, high = np.quantile(values, (0.05, 0.95))
    return f"between {low:.3g} and {high:.3g}"


def divergence_group(
    run: SampleRun, posterior: Posterior, names: Collection[str], attributes: Attributes
) -> xr.Dataset:
    """Make the data set of the parameters where trajectories began and where they broke down.

    Parameters
    ----------
    run : what the driver returned
    posterior : names, dims and labels
    names : the variables to keep; those that are no parameters are left out
    attributes : of the data set
    """
    import xarray as xr

    found = run.divergences
    keys = _parameters(posterior, names)
    taken = {name for v in posterior.variables for name in (v.name, *v.dims)}
    event, point = (_unused(name, taken) for name in ("divergence", "point"))
    with np.errstate(all="ignore"):
        values = kept_draws(posterior, np.stack([found.start, found.end]), keys).draws
    kept = [v for v in posterior.variables if v.name in values]
    arrays = {v.name: ((event, point, *v.dims), np.swapaxes(values[v.name], 0, 1)) for v in kept}
    coords: dict[str, Any] = {
        "chain": (event, found.chain),
        "draw": (event, found.draw),
        point: list(POINTS),
    }
    for variable in kept:
        coords.update(dim_labels(variable, posterior.coords))
    return xr.Dataset(arrays, coords=coords, attrs=attributes)


def _parameters(posterior: Posterior, names: Collection[str]) -> list[str]:
    """Return the names that are parameters."""
    return [v.name for v in posterior.variables if v.kind == "param" and v.name in names]


def _unused(name: str, taken: set[str]) -> str:
    """Return a name of a dim that no variable and no dim of the model has."""
    while name in taken:
        name += "_"
    return name
