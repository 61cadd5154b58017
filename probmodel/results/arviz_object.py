"""Draws and statistics as the object that the installed ArviZ uses.

The groups are plain xarray data sets in ArviZ's schema. From ArviZ 1.0 on the result is an
``xarray.DataTree``, which needs no ArviZ to be built; before, it is an ``arviz.InferenceData``.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.errors import ModelError
from probmodel.results.attributes import Attributes, library_attributes, package_version
from probmodel.results.divergences import divergence_group
from probmodel.results.draws import dim_labels, plain_labels
from probmodel.types import Array, Posterior

if TYPE_CHECKING:
    import xarray as xr

    from probmodel.inference.sample_run import SampleRun


def arviz_object(
    run: SampleRun,
    posterior: Posterior,
    draws: Mapping[str, Array],
    attributes: Attributes,
    warmup_draws: Mapping[str, Array] | None = None,
    unconstrained: bool = False,
    state: bytes | None = None,
) -> Any:
    """Assemble the result.

    Parameters
    ----------
    run : what the driver returned
    posterior : names, dims, labels and data
    draws : name -> (chains, draws, *shape), the variables to keep
    attributes : of the result as a whole
    warmup_draws : the same for the warm-up, where it was saved
    unconstrained : whether to add the draws before they were transformed
    state : what the run needs to go on, if it is known

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        Groups ``posterior``, ``sample_stats``, ``divergences``, ``observed_data``,
        ``constant_data``, ``sampler_state``, and ``warmup_posterior``, ``warmup_sample_stats`` if
        the warm-up was saved; ``unconstrained_posterior`` on request. Groups that would hold
        nothing are left out.
    """
    timing = {"sampling_time": float(run.seconds_sampling), "tuning_steps": int(run.warmup_done)}
    common = {**library_attributes(), **timing}
    groups: dict[str, xr.Dataset] = {}
    if run.draws_done:
        groups["posterior"] = _variables(posterior, draws, common)
        groups["sample_stats"] = _statistics(run.stats, common)
    if run.draws_done and unconstrained:
        # On the scale of the model as declared: another may have been sampled.
        as_declared = getattr(posterior, "as_declared", np.asarray)
        arrays = {"x": (("coordinate",), as_declared(run.x))}
        groups["unconstrained_posterior"] = draws_group(
            arrays, {"coordinate": np.asarray(posterior.coordinate_names)}, common
        )
    if run.divergences.chain.size:
        places = divergence_group(run, posterior, draws, library_attributes())
        if places.data_vars:
            groups["divergences"] = places
    if run.draws_done and state is not None:
        content = {"state": (("byte",), np.frombuffer(state, dtype=np.uint8))}
        import xarray as xr

        groups["sampler_state"] = xr.Dataset(content, attrs=library_attributes())
    if warmup_draws is not None and run.warmup_stats is not None and run.warmup_done:
        groups["warmup_posterior"] = _variables(posterior, warmup_draws, common)
        groups["warmup_sample_stats"] = _statistics(run.warmup_stats, common)
    return wrap({**groups, **_data_groups(posterior)}, attributes)


def _data_groups(posterior: Posterior) -> dict[str, xr.Dataset]:
    return {
        name: data_group(arrays, posterior.coords, library_attributes())
        for name in ("observed_data", "constant_data")
        if (arrays := getattr(posterior, name))
    }


def rehearse(posterior: Posterior, names: Collection[str], attributes: Attributes) -> None:
    """Assemble a result of one draw of zeros: what cannot be had fails before the sampling.

    ``names`` are the variables to keep. Raises a `ModelError` if names, dims or labels do not go
    into an ArviZ object.
    """
    draws = {v.name: np.zeros((1, 1, *v.shape)) for v in posterior.variables if v.name in names}
    try:
        wrap({"posterior": _variables(posterior, draws, {}), **_data_groups(posterior)}, attributes)
    except (ValueError, TypeError) as error:
        raise ModelError(
            f"the draws of {posterior.name} cannot be stored in an ArviZ object: {error}. Nothing "
            "was drawn. Rename the variable or dim in question; 'chain' and 'draw' are reserved.",
            model=posterior.name,
        ) from error


def wrap(groups: Mapping[str, xr.Dataset], attributes: Attributes) -> Any:
    """Put groups into the container of the installed ArviZ."""
    if arviz_before_1():
        return import_arviz().InferenceData(attrs=dict(attributes), **groups)
    import xarray as xr

    return xr.DataTree.from_dict({"/": xr.Dataset(attrs=dict(attributes)), **groups})


def extended(result: Any, groups: Mapping[str, xr.Dataset]) -> Any:
    """Return a new object with the groups of a result and more, which replace those of their name.

    The result stays as it is; what is in its groups is shared, not copied.
    """
    own = {name: group(result, name) for name in group_names(result)}
    return wrap({**own, **groups}, dict(result.attrs))


def draws_group(
    arrays: Mapping[str, tuple[tuple[str, ...], Array]],
    labels: Mapping[str, Array],
    attributes: Attributes,
    sample: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Make a data set of quantities that have draws.

    Parameters
    ----------
    arrays : name -> names of the dims and values, (chains, draws, *shape)
    labels : of the dims that have some; the others count from 0
    attributes : of the group
    sample : labels of the dims ``chain`` and ``draw``; counts from 0 by default
    """
    import xarray as xr

    coords: dict[str, Any] = {}
    for dims, values in arrays.values():
        if not coords:
            coords.update(sample or _sample_coords(*values.shape[:2]))
        for dim, size in zip(dims, values.shape[2:], strict=True):
            coords[dim] = plain_labels(labels.get(dim, np.arange(size)))
    variables = {
        name: (("chain", "draw", *dims), values) for name, (dims, values) in arrays.items()
    }
    return xr.Dataset(variables, coords=coords, attrs=attributes)


def import_arviz() -> Any:
    """Import ArviZ, which takes a second or two, without its advance notice of version 1.0."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"\s*ArviZ is undergoing", FutureWarning)
        import arviz
    return arviz


@functools.cache
def arviz_before_1() -> bool:
    """Whether the installed ArviZ uses ``InferenceData``; found without importing it."""
    return int(package_version("arviz").split(".")[0]) < 1


def group_names(result: Any) -> tuple[str, ...]:
    """Names of the groups of a result of either kind."""
    names = result.children if hasattr(result, "children") else result.groups()
    return tuple(names)


def group(result: Any, name: str) -> xr.Dataset:
    """Return one group of a result of either kind as a data set."""
    found = result[name]
    dataset: xr.Dataset = found.to_dataset() if hasattr(found, "to_dataset") else found
    return dataset


def as_numbers(dataset: xr.Dataset) -> xr.Dataset:
    """Return a data set with truth values as 0 and 1: NumPy and ArviZ 1 do not subtract them."""
    truths = [name for name, values in dataset.data_vars.items() if values.dtype.kind == "b"]
    return dataset.assign({name: dataset[name].astype(int) for name in truths})


def in_order(values: xr.DataArray, dims: Sequence[str]) -> xr.DataArray:
    """Return draws with chain and draw first, the other axes in an order of names if they have it.

    Whoever works on a result may have put its axes in another order, which their names tell.
    """
    values = values.transpose("chain", "draw", ...)
    by_name = sorted(map(str, values.dims[2:])) == sorted(dims)
    return values.transpose("chain", "draw", *dims) if by_name else values


def groups_of(result: Any, *names: str) -> dict[str, xr.Dataset]:
    """Return those of some groups that a result has, by name."""
    return {name: group(result, name) for name in names if name in group_names(result)}


def _variables(
    posterior: Posterior, draws: Mapping[str, Array], attributes: Attributes
) -> xr.Dataset:
    """Make the data set of named variables with their dims and labels."""
    kept = [v for v in posterior.variables if v.name in draws]
    labels: dict[str, Array] = {}
    for variable in kept:
        labels.update(dim_labels(variable, posterior.coords))
    return draws_group({v.name: (v.dims, draws[v.name]) for v in kept}, labels, attributes)


def _statistics(stats: Mapping[str, Array], attributes: Attributes) -> xr.Dataset:
    """Make the data set of the statistics of each draw: (chains, draws) each."""
    import xarray as xr

    arrays = {name: (("chain", "draw"), np.asarray(values)) for name, values in stats.items()}
    shape = next(iter(stats.values())).shape
    return xr.Dataset(arrays, coords=_sample_coords(*shape), attrs=attributes)


def data_group(
    arrays: Mapping[str, tuple[tuple[str, ...], Array]],
    labels: Mapping[str, Array],
    attributes: Attributes,
) -> xr.Dataset:
    """Make the data set of data that have no chain and no draw."""
    import xarray as xr

    coords = {
        dim: plain_labels(labels.get(dim, np.arange(size)))
        for dims, values in arrays.values()
        for dim, size in zip(dims, np.shape(values), strict=True)
    }
    return xr.Dataset(dict(arrays), coords=coords, attrs=attributes)


def _sample_coords(chains: int, draws: int) -> dict[str, Any]:
    return {"chain": np.arange(chains), "draw": np.arange(draws)}
