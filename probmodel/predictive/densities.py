"""Log densities of each draw, element by element, and what is made of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.density.forward_runs import Forward, Plan
from probmodel.distributions.base import Distribution
from probmodel.errors import DataError, SamplingWarning
from probmodel.expressions import as_expression
from probmodel.model import Model
from probmodel.model.binding import Binding, Groups
from probmodel.model.declarations import Declaration, Observed, Parameter, Potential
from probmodel.model.imputation import positions
from probmodel.model.model_graph import dependencies, reachable
from probmodel.predictive.anchors import other_data
from probmodel.predictive.draws_in_blocks import drawn
from probmodel.predictive.fits import Fit, FromFit
from probmodel.predictive.models import binding_of, dims_of, likelihood_names, warn_of_parts
from probmodel.results.arviz_object import group, groups_of, import_arviz, in_order
from probmodel.types import Array

if TYPE_CHECKING:
    import xarray as xr


def log_likelihood(
    model: Model, fit: Any, var_names: str | Sequence[str] | None = None, *, executor: Any = None
) -> Any:
    """Compute the log likelihood of each observation for every posterior draw.

    Parameters
    ----------
    model : Model
        The model that was fitted, bound to its data.
    fit : arviz.InferenceData or xarray.DataTree
        What `infer` returned.
    var_names : str or sequence of str, optional
        Observed quantities, all by default; or potentials that add up a log likelihood for each
        observation. Of a model without observed quantities these are the default.
    executor : optional
        As for `posterior_predictive`.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        The groups of ``fit`` and ``log_likelihood``: one number for each element of an observed
        quantity, one for each vector or matrix where its distribution is one of those; and the
        elements of potentials, also where the sum of them is written. Imputed
        elements, and vectors that have some, are no observations and are left out; the dim is
        ``<name>_observed_dim_0`` then.

    Raises
    ------
    DataError
        If the model was bound without these data, the fit lacks parameters, or a name is unknown.

    Warns
    -----
    SamplingWarning
        If a Stan program gives some elements of data a distribution and counts others elsewhere;
        or if, by default, an observed quantity of which every value has missing elements is left
        out.
    """
    names = likelihood_names(binding_of(model), var_names)
    if var_names is None:
        names = _with_scores(binding_of(model), names)
    scored = _scored(model, Fit(fit), names, executor)
    warn_of_parts(model, names)
    return scored


def _scored(model: Model, known: Fit, names: Sequence[str], executor: Any) -> Any:
    """Compute the log likelihood of some quantities."""
    binding = binding_of(model)
    for declaration in binding.unbound:
        if declaration.name in names:
            datum = model._datum_of(str(declaration.name))
            raise declaration.data_error(
                f"{declaration.title} was bound without data, which have no likelihood then. Pass "
                f"them: {binding.name}(..., {datum}=...).",
                name=declaration.name,
            )
    return known.extended(log_likelihood=_densities(model, known, names, executor))


def log_prior(model: Model, fit: Any, *, executor: Any = None) -> Any:
    """Compute the log prior density of each element of the parameters for every posterior draw.

    It is the density on the scale of the model, without the Jacobian of the map that is sampled;
    0 for flat priors. Bounds do not normalise a prior again.

    Parameters
    ----------
    model : Model
        The model that was fitted, bound to its data.
    fit : arviz.InferenceData or xarray.DataTree
        What `infer` returned.
    executor : optional
        As for `posterior_predictive`.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        The groups of ``fit`` and ``log_prior``, one number for each vector or matrix where the
        prior is a distribution of those.

    Raises
    ------
    DataError
        If the fit lacks parameters of the model.
    """
    binding = binding_of(model)
    known = Fit(fit)
    names = [free.name for free in binding.free if free.name in binding.declarations]
    return known.extended(log_prior=_densities(model, known, names, executor))


def loo(model: Model, fit: Any, **options: Any) -> Any:
    """Estimate how well the model predicts single observations that it has not seen.

    Parameters
    ----------
    model : Model
        The model that was fitted, bound to its data.
    fit : arviz.InferenceData or xarray.DataTree
        What `infer` returned. The log likelihood is computed if it has none.
    **options
        Of ``arviz.loo``, such as ``pointwise=True`` and, with several observed quantities,
        ``var_name``, which may be a potential whose elements are log likelihoods. Elements that
        are the same in all draws, as zeros of missing observations are, are left out.

    Returns
    -------
    What ``arviz.loo`` returns
        Leave-one-out cross-validation by Pareto-smoothed importance sampling.

    Raises
    ------
    DataError
        As `log_likelihood`; or if there are several quantities and no ``var_name``; or if
        all values of the quantity have one log density together, as those of a series have, or are
        the same in all draws; or if the model is bound to other data than those that the fit holds.

    Warns
    -----
    SamplingWarning
        If elements other than zero are left out, because they are the same in all draws; or as
        `log_likelihood`.
    """
    binding = binding_of(model)
    names = likelihood_names(binding)
    if len(names) > 1 and options.get("var_name") is None:
        observed = isinstance(binding.declarations[names[0]], Observed)
        raise DataError(
            f"loo: there are several {'observed quantities' if observed else 'potentials'} "
            f"({', '.join(names)}); choose one by var_name=.",
            expected=names,
        )
    wanted = options.get("var_name") or names[0]
    if not isinstance(wanted, str):
        raise DataError(
            f"loo: var_name= is the name of one quantity, of {', '.join(names)}; got {wanted!r}. "
            "For the observations of several together, add their log densities in one potential.",
            expected=names,
            given=wanted,
        )
    known = Fit(fit)
    if wanted in binding.declarations:
        _check_data(binding, known, wanted)
    if binding.imputed.get(wanted) is not None and not _batch(binding, wanted):
        raise _one_density(wanted)
    if not _has_scores(model, known, wanted):
        fit = _scored(model, known, likelihood_names(binding, wanted), None)
    warn_of_parts(model, [wanted])
    values = group(fit, "log_likelihood")[wanted]
    if values.ndim == 2:
        raise _one_density(wanted)
    varying = _varying(values, wanted)
    if varying is not values:
        fit = Fit(fit).extended(log_likelihood=varying.to_dataset(name=wanted))
    with np.errstate(over="ignore"):  # of weights in arviz, one over what overflows: they are zero
        return import_arviz().loo(fit, **{**options, "var_name": wanted})


def _has_scores(model: Model, known: Fit, name: str) -> bool:
    """Whether a fit has the log likelihood of a quantity, that of this model, by its first draws.

    It may have that of new data, or of a model that was changed since.
    """
    groups = groups_of(known.result, "log_likelihood")
    if not groups or name not in groups["log_likelihood"]:
        return False
    few = Fit(known.few())
    first = _densities(model, few, [name], None)[name].values
    values = in_order(groups["log_likelihood"][name], ())
    some = values.isel(chain=slice(first.shape[0]), draw=slice(first.shape[1])).values
    whole = values.shape[:2] == known.shape and some.shape == first.shape
    return whole and np.allclose(some, first, equal_nan=True)


def _varying(values: xr.DataArray, name: str) -> xr.DataArray:
    """Return the elements that are not the same in all draws, along one axis if some are.

    Each draw has the same weight where such an element is left out, whose score is known. There is
    no tail to which a Pareto distribution could be fitted.
    """
    lowest, highest = values.min(("chain", "draw")), values.max(("chain", "draw"))
    same = ((lowest == highest) & np.isfinite(lowest)).values
    if not same.any():
        return values
    if same.all():
        raise DataError(
            f"loo: {name!r} has the same values in all draws. No parameter bears on it.", name=name
        )
    if total := float(lowest.values[same].sum()):
        warnings.warn(
            f"loo leaves out {np.sum(same)} of the {same.size} elements of {name!r}, which are the "
            "same in all draws: nothing that was estimated bears on them. They add up to "
            f"{total:.6g}, which counts where models are compared in which they differ.",
            SamplingWarning,
            stacklevel=3,
        )
    if same.ndim == 1:
        return values.isel({lowest.dims[0]: ~same})
    dim = "observation"
    while dim in values.dims:
        dim += "_"
    flat = values.stack({dim: lowest.dims})  # in the order of the elements
    return flat.isel({dim: ~same.reshape(-1)}).reset_index(dim)


def _check_data(binding: Binding, fit: Fit, wanted: str) -> None:
    """Refuse to leave out single data that are not among those of the fit."""
    used = reachable([wanted], dependencies(binding.declarations))
    names = [name for name in binding.declarations if name in used]
    if other := other_data(binding, fit.result, names):
        few = len(other) == 1
        raise DataError(
            f"loo: {binding.name} is bound to other data than the fit: {', '.join(other)} "
            f"{'differs' if few else 'differ'} from those that it holds. Single observations are "
            "left out of the data of the fit: bind the model to these. Scores of new data, which "
            "the fit has not seen, are the log_likelihood(...) of a model that is bound to them.",
            names=other,
        )


def _batch(binding: Binding, name: str) -> int:
    """Return how many axes the log densities of an observed quantity have."""
    declaration = binding.declarations[name]
    assert isinstance(declaration, Observed)
    return len(binding.evaluator.shape(declaration)) - declaration.distribution.event_ndim


def _one_density(name: str) -> DataError:
    return DataError(
        f"loo: {name!r} has one log density for all of its values together, so that there is "
        "nothing to leave out. Observations have to be independent given the parameters, and "
        "have an element of a potential each; of a series, compare forecasts of its last "
        "values.",
        name=name,
    )


def _densities(model: Model, fit: Fit, names: Sequence[str], executor: Any) -> Any:
    """Make the data set of the log densities of some declarations."""
    binding = binding_of(model)
    again, seed = partial(_again, model, fit.few(), names), np.random.SeedSequence(0)
    values = drawn(_plan(model, fit, names), again, seed, fit.rows, executor)
    arrays: Groups = {}
    labels = dict(binding.dimensions.coords)
    for name, array in values.items():
        if name in binding.imputed:
            kept = _complete(binding, name, array.ndim - 1)
            dim = f"{name}_observed_dim_0"
            arrays[name] = (dim,), array[:, kept]
            labels[dim] = positions(binding.declarations[name], kept, binding.dimensions)
        else:
            arrays[name] = dims_of(binding, name)[: array.ndim - 1], array
    return fit.group(labels, arrays)


def _again(model: Model, few: Any, names: Sequence[str]) -> Plan:
    """Make the plan in a worker, of a few draws of the fit."""
    return _plan(model, Fit(few), names)


def _plan(model: Model, fit: Fit, names: Sequence[str]) -> Plan:
    """Return what computes the log densities of declarations."""
    binding = binding_of(model)
    forward = Forward(binding, FromFit(binding, fit))
    outputs: dict[str, Any] = {}
    for name in names:
        declaration = binding.declarations[name]
        if isinstance(declaration, Potential):
            outputs[name] = forward.value(declaration.elements)
        else:
            outputs[name] = _elements(forward, declaration, _distribution(declaration))
    return forward.plan(outputs)


def _distribution(declaration: Declaration) -> Distribution | None:
    if isinstance(declaration, Observed):
        return declaration.distribution
    assert isinstance(declaration, Parameter)
    return declaration.prior


def _with_scores(binding: Binding, names: tuple[str, ...]) -> tuple[str, ...]:
    """Leave out quantities of which no value is complete, with a warning, if there are others."""
    none = [
        name
        for name in names
        if name in binding.imputed and not _kept(binding, name, _batch(binding, name)).any()
    ]
    if not none or len(none) == len(names):
        return names
    warnings.warn(
        f"log_likelihood leaves out {', '.join(none)}: every value there has missing elements, so "
        "that none has a likelihood of its own.",
        SamplingWarning,
        stacklevel=3,
    )
    return tuple(name for name in names if name not in none)


def _kept(binding: Binding, name: str, batch: int) -> Array:
    """Tell which values of an observed quantity have no imputed element: batch shape."""
    missing = binding.imputed[name].missing
    return np.asarray(~missing.any(axis=tuple(range(batch, missing.ndim))))


def _complete(binding: Binding, name: str, batch: int) -> Array:
    """As `_kept`; raise a `DataError` if there are none."""
    kept = _kept(binding, name, batch)
    if not kept.any():
        declaration = binding.declarations[name]
        raise declaration.data_error(
            f"{declaration.title}: every value has missing elements, so that none has a likelihood "
            "of its own. Leave it out (var_names=).",
            name=name,
        )
    return kept


def _elements(forward: Forward, declaration: Declaration, distribution: Distribution | None) -> Any:
    if distribution is None:
        return np.zeros(forward.evaluator.shape(declaration))
    params = [as_expression(arg) for arg in distribution.args.values()]
    return forward.pointwise(distribution, params, declaration)
