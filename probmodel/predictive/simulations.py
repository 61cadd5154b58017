"""Draws that need no fit: from the prior, and data for given values of the parameters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from probmodel.arguments import positive, seed_sequence
from probmodel.compiler.symbols import Symbol
from probmodel.density.forward_runs import Forward, Plan
from probmodel.density.prior import draw_exactly, prior_plan
from probmodel.errors import DataError, SamplingWarning, nearest
from probmodel.expressions import as_expression
from probmodel.model import Model
from probmodel.model.binding import Binding, redrawn
from probmodel.model.containers import unpack
from probmodel.model.parameters import FreeParameter
from probmodel.predictive.draws_in_blocks import drawn
from probmodel.predictive.matching import find_labels
from probmodel.predictive.models import binding_of, dims_of, observed_names
from probmodel.predictive.possible import support_of
from probmodel.predictive.predictions import Seed
from probmodel.predictive.undrawn import undrawn
from probmodel.results.arviz_object import data_group, draws_group, wrap
from probmodel.results.attributes import library_attributes, seed_attributes
from probmodel.types import Array, Variable

_NO_NUMBERS = {"c": "holds complex numbers", "U": "holds text", "S": "holds text"}


def prior_predictive(
    model: Model, draws: int = 500, seed: Seed = None, *, executor: Any = None
) -> Any:
    """Draw parameters from their priors, and data given these.

    Every parameter is drawn given those declared before it; there is no sampler involved.
    Potentials are left out: they have no distribution to draw from.

    Parameters
    ----------
    model : Model
        A bound model; its observed quantities may be without data.
    draws : int
        Number of draws, which are independent.
    seed : int or SeedSequence, optional
        The same seed gives the same draws.
    executor : optional
        As for `posterior_predictive`.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        With the groups ``prior`` (parameters and deterministic quantities), ``prior_predictive``
        (observed quantities), and the data that were bound.

    Raises
    ------
    ModelError
        If a prior is improper or cannot be drawn from; the message names it.

    Warns
    -----
    SamplingWarning
        If some values are NaN, as what they depend on is impossible there.
    """
    bound = binding_of(model)
    rows = positive("draws", draws)
    sequence = seed_sequence(seed)
    binding = redrawn(bound)
    found = drawn(prior_plan(binding), partial(_prior, model), sequence, rows, executor)
    for message in undrawn(binding, found):
        warnings.warn(message, SamplingWarning, stacklevel=2)
    arrays = {name: (dims_of(binding, name), values[None]) for name, values in found.items()}
    labels, own = binding.dimensions.coords, library_attributes()
    attributes = {**own, **seed_attributes(sequence)}
    prior = {name: array for name, array in arrays.items() if name in binding.saved}
    groups = {"prior": draws_group(prior, labels, attributes)}
    data = {name: array for name, array in arrays.items() if name not in binding.saved}
    if data:
        groups["prior_predictive"] = draws_group(data, labels, attributes)
    for name, known in zip(("observed_data", "constant_data"), bound.data_groups(), strict=True):
        if known:
            groups[name] = data_group(known, labels, own)
    return wrap(groups, {**attributes, "name": binding.name})


def _prior(model: Model) -> Plan:
    return prior_plan(redrawn(binding_of(model)))


def simulate(
    model: Model,
    params: Mapping[str, Any],
    seed: Seed = None,
    draws: int | None = None,
    *,
    executor: Any = None,
) -> dict[str, Array]:
    """Draw data for given values of the parameters.

    Parameters
    ----------
    model : Model
        A bound model; its observed quantities may be without data, and are drawn anyway.
    params : mapping
        Values of parameters by name, on the scale of the model. The others are drawn from their
        priors given these. Labels that values have, as those of a fit do, are matched.
    seed : int or SeedSequence, optional
        The same seed gives the same data.
    draws : int, optional
        Number of data sets; without it there is one, and no axis for it.
    executor : optional
        As for `posterior_predictive`.

    Returns
    -------
    dict
        Observed quantities by name: (draws, *shape), or their shape alone without ``draws``. One
        data set can be bound: ``Model(..., **simulate(model, params))``.

    Raises
    ------
    DataError
        If a name is no parameter, or a value has the wrong shape or is not possible.
    ModelError
        If a parameter that is not given cannot be drawn from its prior.

    Warns
    -----
    SamplingWarning
        As `prior_predictive`.
    """
    bound = binding_of(model)
    names = observed_names(bound)
    rows = 1 if draws is None else positive("draws", draws)
    if not isinstance(params, Mapping):
        raise DataError(
            f"simulate takes a dict of parameters by their names; got {params!r}.", given=params
        )
    again = partial(_simulation, model, dict(params))
    found = drawn(again(rows), again, seed_sequence(seed), rows, executor)
    for message in undrawn(bound, {name: found[name] for name in names}):
        warnings.warn(message, SamplingWarning, stacklevel=2)
    return {name: found[name][0] if draws is None else found[name] for name in names}


def _simulation(model: Model, params: dict[str, Any], rows: int = 1) -> Plan:
    binding = redrawn(binding_of(model))
    forward = Forward(binding, _Given(binding, params, rows))
    names = observed_names(binding)
    # Parameters that nothing depends on are outputs, too: what is given is checked in any case.
    wanted = [*names, *(name for name in params if name not in names)]
    return forward.plan({name: binding.declarations[name] for name in wanted})


class _Given:
    """Takes the values of parameters from a mapping, and draws the others."""

    def __init__(self, binding: Binding, params: Mapping[str, Any], rows: int) -> None:
        known = {free.name: free for free in binding.free}
        for name in params:
            if name not in known:
                raise DataError(
                    f"params names {name!r}, which is no param of {binding.name}."
                    f"{nearest(str(name), known)}",
                    name=name,
                )
        self._rows, variables = rows, {v.name: v for v in binding.variables}
        self._values = {
            name: _read(known[name], _in_order(variables[name], given))
            for name, given in params.items()
        }

    def __call__(self, forward: Forward, free: FreeParameter) -> Symbol:
        """Return one parameter."""
        if free.name not in self._values:
            return draw_exactly(forward, free)
        value = self._values[free.name]
        given = forward.given(np.broadcast_to(value, (self._rows, *free.shape)))
        support = support_of(free)
        bounds = [as_expression(b) for b in support.bounds]

        def check(values: Array, *limits: Array) -> Array:
            if not np.all(support.check(values, *limits)):
                raise free.declaration.data_error(
                    f"params[{free.name!r}] is not possible ({support.name}): got "
                    f"{value.reshape(-1)[:5]}.",
                    name=free.name,
                )
            return values

        operands = [given, *forward.aligned(bounds, free.shape)]
        return forward.apply(free.declaration, check, operands)


def _in_order(variable: Variable, given: Any) -> Any:
    """Return what is given, its elements in the order of the labels of a parameter, if it has some.

    Raises a `DataError` if it has other labels.
    """
    values, labels = unpack(given, variable.dims)
    for axis, own in labels.items():
        dim = variable.dims[axis] if axis < len(variable.dims) else ""
        if not own.named or dim not in variable.coords:
            continue
        place = find_labels(variable.coords[dim], own.values)
        if (place < 0).any() or len(place) != len(own.values):
            raise DataError(
                f"params[{variable.name!r}] has the labels {', '.join(map(str, own.values[:5]))} "
                f"along {dim!r}; expected {', '.join(map(str, variable.coords[dim][:5]))}, in any "
                "order. Pass an array without labels to give values by position.",
                name=variable.name,
                dim=dim,
            )
        values = np.take(values, place, axis=axis)
    return values


def _read(free: FreeParameter, given: Any) -> Array:
    """Return a given value in the shape of its parameter."""
    try:
        array = np.asarray(given)
    except ValueError:  # rows that differ in length
        found = "is a ragged list"
    else:
        kind = array.dtype.kind
        if kind in "biuf":
            try:
                return np.broadcast_to(array.astype(float), free.shape)
            except ValueError:
                found = f"has shape {array.shape}"
        else:
            found = _NO_NUMBERS.get(kind, f"is of type {type(given).__name__}")
    expected = f"numbers of shape {free.shape}" if free.shape else "a number"
    raise DataError(
        f"params[{free.name!r}] {found}; expected {expected}.", name=free.name, expected=free.shape
    )
