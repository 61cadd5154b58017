"""Quantities of each posterior draw: replicated data, predictions, deterministic quantities."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from probmodel.arguments import flag, seed_sequence
from probmodel.density.forward_runs import Forward, Plan
from probmodel.errors import DataError, ModelError, SamplingWarning
from probmodel.model import Model
from probmodel.model.binding import Binding, Groups, redrawn
from probmodel.model.declarations import Observed
from probmodel.model.model_graph import dependencies, reachable
from probmodel.model.references import bound_model, other_values
from probmodel.predictive.anchors import other_data
from probmodel.predictive.changed_statistics import changed_statistics
from probmodel.predictive.draws_in_blocks import drawn
from probmodel.predictive.fits import Fit, FromFit, deterministic_names
from probmodel.predictive.generated_draws import GeneratedDraws
from probmodel.predictive.kept_draws import kept_draws
from probmodel.predictive.models import binding_of, chosen, dims_of, observed_names, warn_of_parts
from probmodel.predictive.processes import Observations
from probmodel.predictive.undrawn import undrawn
from probmodel.predictive.unheeded import unheeded
from probmodel.results.arviz_object import data_group
from probmodel.results.attributes import library_attributes, seed_attributes
from probmodel.results.reading import bound_in

Seed = int | np.random.SeedSequence | None


def posterior_predictive(
    model: Model,
    fit: Any,
    seed: Seed = None,
    var_names: str | Sequence[str] | None = None,
    *,
    executor: Any = None,
) -> Any:
    """Draw the observed quantities anew for every posterior draw.

    Parameters
    ----------
    model : Model
        The model that was fitted, bound to its data.
    fit : arviz.InferenceData or xarray.DataTree
        What `infer` returned.
    seed : int or SeedSequence, optional
        The same seed gives the same draws.
    var_names : str or sequence of str, optional
        The observed quantities to draw, all by default. The others keep their data, where
        something depends on them.
    executor : optional
        Anything with a method ``submit``, whose workers make some of the draws, which do not depend
        on it. It pays where draws are many and large: fewer are made here.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        The groups of ``fit`` and ``posterior_predictive``.

    Raises
    ------
    DataError
        If the fit lacks parameters of the model or is of other data, or a name is unknown.
    ModelError
        If ``model`` is no bound model, or observes nothing.

    Warns
    -----
    SamplingWarning
        If some values are NaN, as their distribution cannot be drawn from; or as
        `log_likelihood`.
    """
    bound = binding_of(model)
    names = chosen(bound, var_names, observed_names(bound))
    known = Fit(fit)
    _check_data(model, known, names)
    warn_of_parts(model, names)
    binding = redrawn(bound, names)
    sequence = seed_sequence(seed)
    found = _drawn(Wanted(model, names, redraw=names), known, sequence, executor)
    for message in found.warnings:
        warnings.warn(message, SamplingWarning, stacklevel=2)
    group = known.group(binding.dimensions.coords, found.arrays, **seed_attributes(sequence))
    return known.extended(posterior_predictive=group)


def _check_data(model: Model, fit: Fit, drawn: Sequence[str]) -> None:
    """Raise a `DataError` if the fit is of other data, those that are drawn anew excepted."""
    then, now = bound_in(fit.result), bound_model(model)
    found = other_values(then, now, drawn) if then is not None and now is not None else ""
    if found:
        raise _of_other_data("posterior_predictive", model._binding, found)


def _of_other_data(what: str, binding: Binding, found: str) -> DataError:
    return DataError(
        f"the fit is of other data than {binding.name} has here: {found}. {what}(model, fit) takes "
        "the model with the data of the fit; predict(model, fit) is for new data."
    )


def predict(
    model: Model,
    fit: Any,
    seed: Seed = None,
    new_groups: str = "error",
    var_names: str | Sequence[str] | None = None,
    noise: bool = True,
    *,
    executor: Any = None,
) -> Any:
    """Predict at new data: draw what the model observes there, for every posterior draw.

    Parameters of the fit are matched to those of ``model`` by name; along dims that have labels by
    label, along others by position. New points of an observed process (`MvNormal`,
    `GaussianProcess`) are drawn given what was observed at those of the fit.

    Parameters
    ----------
    model : Model
        The model bound to new data, of any length. What it observes may be left out. Where it is
        given, and what is predicted depends on it, it keeps its data, and its missing elements are
        drawn given the others; otherwise its data are not looked at.
    fit : arviz.InferenceData or xarray.DataTree
        What `infer` returned for the model bound to other data.
    seed : int or SeedSequence, optional
        The same seed gives the same predictions.
    new_groups : {"error", "zero", "draw"}
        What becomes of elements of parameters whose labels the fit does not know. ``"draw"`` draws
        them from their prior, given the draw of the other parameters: groups of the same
        population, times that follow, new places of a Gaussian process. ``"zero"`` sets them to
        the centre of that distribution, which has to be symmetric.
    var_names : str or sequence of str, optional
        What to compute: by default, the deterministic quantities, the generated ones of a Stan
        program, and the observed ones, except where these have data and others depend on them.
        Observed quantities that are named are drawn, whether they have data or not. Parameters can
        be named, too.
    noise : bool
        Whether an observed `GaussianProcess` with ``noise=`` is predicted with it. Without, the
        values are those of the process itself, also at the points of the fit.
    executor : optional
        Anything with a method ``submit``, whose workers make some of the draws, which do not depend
        on it. It pays where draws are many and large: fewer are made here.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        The groups of ``fit``, ``predictions`` and ``predictions_constant_data``.

    Raises
    ------
    DataError
        If parameters or labels do not match, or a name is unknown.
    ModelError
        If ``model`` is no bound model, or new elements cannot be drawn, or not given those that
        the fit observed.

    Warns
    -----
    SamplingWarning
        If a longer observed series is predicted, which starts anew and does not go on from the
        observed one, or a recurrence starts at another row than in the fit; if new elements have
        data, which are not looked at; or if the fit does not hold the data of an observed process.
    """
    bound = binding_of(model)
    generated = GeneratedDraws(model)
    names = _predicted(bound, var_names, generated)
    needs = generated.needs(names)
    kept = _kept(bound, needs)
    part = [name for name in kept if np.isnan(bound.data[name]).any()]
    redraw = [
        n
        for n, d in bound.declarations.items()
        if isinstance(d, Observed) and (n not in kept or n in part)
    ]
    binding = redrawn(bound, redraw)
    draws = Fit(fit)
    draws.check_origin(model)
    warn_of_parts(model, redraw)
    sequence = seed_sequence(seed)
    if not flag("noise", noise):
        _check_noise(binding, needs)
    asked = Wanted(model, needs, redraw, new_groups, observe=True, noise=noise, part=part)
    found = _drawn(asked, draws, sequence, executor)
    missed = unheeded(bound, draws, needs, found.filled)
    for message in (*found.warnings, *missed):
        warnings.warn(message, SamplingWarning, stacklevel=2)
    arrays = generated.completed(names, found.arrays, sequence)
    labels, about = {**binding.dimensions.coords, **generated.labels}, seed_attributes(sequence)
    groups = {"predictions": draws.group(labels, arrays, **about)}
    constants = bound.data_groups(kept)[1]
    if constants:
        groups["predictions_constant_data"] = data_group(constants, labels, library_attributes())
    return draws.extended(**groups)


def _predicted(
    bound: Binding, var_names: str | Sequence[str] | None, generated: GeneratedDraws
) -> tuple[str, ...]:
    """Return the names of what is predicted; by default, not those data that others depend on."""
    saved = {v.name for v in bound.variables}
    computed = [n for n, d in bound.declarations.items() if d.kind in ("observed", "deterministic")]
    known = [n for n in bound.declarations if n in computed or n in saved]
    if var_names is None:
        kept = {
            name
            for other in computed
            if isinstance(bound.declarations[other], Observed)
            for name in _kept(bound, [other])
        }
        var_names = [*(n for n in computed if n not in kept), *generated.names]
        if not var_names:
            raise DataError(
                f"{bound.name} declares nothing to predict: no observed(...) that nothing depends "
                "on, and no deterministic(...). A potential(...) has no distribution to draw from. "
                "Declare what is to be predicted, such as a probability of survival, as a "
                "deterministic(...), or name parameters in var_names.",
                model=bound.name,
            )
    return chosen(bound, var_names, [*known, *generated.names])


def _kept(bound: Binding, names: Sequence[str]) -> set[str]:
    """Return the observed quantities that have data, and on which named ones depend."""
    above = reachable(names, dependencies(bound.declarations)).difference(names)
    return {n for n in above if n in bound.data and isinstance(bound.declarations[n], Observed)}


def _check_noise(binding: Binding, names: Sequence[str]) -> None:
    """Refuse predictions without noise of a model that has none to leave out."""
    used = reachable(names, dependencies(binding.declarations))
    named = [binding.declarations[name] for name in used]
    if not any(isinstance(d, Observed) and d.distribution.is_noisy for d in named):
        raise ModelError(
            f"predict(noise=False) leaves out the noise of a GaussianProcess(..., noise=...), and "
            f"{binding.name} predicts none: {', '.join(names)}.",
            model=binding.name,
        )


def compute_deterministics(
    model: Model, fit: Any, var_names: str | Sequence[str] | None = None, *, executor: Any = None
) -> Any:
    """Compute deterministic quantities for every posterior draw, and those a program generates.

    ``infer(..., var_names=[...])`` can leave them out while sampling, and a program may be given
    others afterwards.

    Parameters
    ----------
    model : Model
        The model that was fitted, bound to its data.
    fit : arviz.InferenceData or xarray.DataTree
        What `infer` returned.
    var_names : str or sequence of str, optional
        The quantities to compute, all by default.
    executor : optional
        As for `posterior_predictive`.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        The groups of ``fit``; its ``posterior`` has the quantities besides.

    Raises
    ------
    DataError
        If the fit lacks parameters of the model or is of other data, or a name is unknown.
    """
    binding = binding_of(model)
    generated = GeneratedDraws(model)
    names = chosen(binding, var_names, [*deterministic_names(binding), *generated.names])
    if not names:
        raise DataError(f"{binding.name} declares no deterministic(...).", model=binding.name)
    known = Fit(fit)
    if other := other_data(binding, fit, binding.data):
        raise _of_other_data("compute_deterministics", binding, f"{other[0]} has other values")
    wanted = Wanted(model, generated.needs(names))
    found = _drawn(wanted, known, seed_sequence(0), executor).arrays
    arrays, labels = generated.completed(names, found, None), binding.dimensions.coords
    kept = known.posterior.drop_vars([name for name in names if name in known.posterior])
    posterior = kept.merge(
        known.group({**labels, **generated.labels}, arrays), join="exact", combine_attrs="override"
    )
    return known.extended(posterior=posterior)


class Wanted(NamedTuple):
    """What is computed for each draw of a fit.

    Attributes
    ----------
    model : the bound model
    names : of what is computed
    redraw : observed quantities that are drawn anew; all for None, () for none
    new_groups : as for `predict`; None where there is no such choice
    observe : whether observed processes are drawn given what was observed
    noise : whether they are drawn with their noise
    part : observed quantities of which those elements are drawn that have no data
    """

    model: Model
    names: Sequence[str]
    redraw: Sequence[str] | None = ()
    new_groups: str | None = None
    observe: bool = False
    noise: bool = True
    part: Sequence[str] = ()


class _Found(NamedTuple):
    """What was computed: dims and (rows, *shape) by name; elements filled in, and warnings."""

    arrays: Groups
    filled: list[str]
    warnings: list[str]


def _drawn(wanted: Wanted, fit: Fit, seed: np.random.SeedSequence, executor: Any) -> _Found:
    """Compute named quantities of a model for every draw of a fit."""
    binding, parameters, observations = _sources(wanted, fit, seed)
    plan = _plan(wanted, binding, parameters, observations)
    again = partial(_again, wanted, fit.few(), seed)
    arrays = drawn(plan, again, seed, fit.rows, executor)
    named = {name: (dims_of(binding, name), values) for name, values in arrays.items()}
    found = [*observations.warnings, *undrawn(binding, arrays)]
    if wanted.new_groups is not None:
        found += changed_statistics(binding, parameters, wanted.names)
        found += kept_draws(binding, parameters)
    return _Found(named, parameters.filled, found)


def _again(wanted: Wanted, few: Any, seed: np.random.SeedSequence) -> Plan:
    """Make the plan in a worker, of a few draws of the fit."""
    return _plan(wanted, *_sources(wanted, Fit(few), seed))


def _sources(
    wanted: Wanted, fit: Fit, seed: np.random.SeedSequence
) -> tuple[Binding, FromFit, Observations]:
    bound = binding_of(wanted.model)
    binding = bound if wanted.redraw == () else redrawn(bound, wanted.redraw)
    parameters = FromFit(binding, fit, wanted.new_groups)
    part = {name: bound.data[name] for name in wanted.part}
    return binding, parameters, Observations(binding, parameters, seed, wanted.noise, part)


def _plan(
    wanted: Wanted, binding: Binding, parameters: FromFit, observations: Observations
) -> Plan:
    forward = (
        Forward(binding, parameters, observations)
        if wanted.observe
        else Forward(binding, parameters)
    )
    return forward.plan({name: binding.declarations[name] for name in wanted.names})
