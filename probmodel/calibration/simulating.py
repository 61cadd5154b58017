"""Parameters from the prior, data from the likelihood, and a model bound to those data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from probmodel.arguments import names_among
from probmodel.calibration.ranking import LOG_LIKELIHOOD, log_likelihood
from probmodel.density.posterior import ModelDensity
from probmodel.density.prior import prior_plan
from probmodel.errors import DataError, ModelError, ShapeError, nearest
from probmodel.model import Model, ModelMeta
from probmodel.model.binding import redrawn
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    Potential,
)
from probmodel.types import Array


class Simulated(NamedTuple):
    """One draw from the joint distribution.

    Attributes
    ----------
    density : posterior of the inferring model given the simulated data
    truth : the true values of what is ranked, by name
    """

    density: ModelDensity
    truth: dict[str, Array]


class Simulation:
    """Draws from one model and binds what it observes to another, or to the same.

    Parameters
    ----------
    model : the class whose posterior is inferred
    simulator : the class that simulates
    data : what is fixed, by name; observed quantities lend their shapes alone
    coords : labels by dim; they may be among ``data`` too
    var_names : variables to rank; by default the parameters that both classes have

    Raises
    ------
    ModelError
        If the simulator cannot be drawn from: its prior is improper or not normalised, it has a
        potential, or it observes nothing.
    DataError
        If a datum is missing or superfluous, or an observed quantity is not simulated.
    SamplerError
        If ``var_names`` names something else.
    """

    def __init__(
        self,
        model: Any,
        simulator: Any,
        data: Mapping[str, Any] | None,
        coords: dict[str, Any] | None,
        var_names: Any,
    ) -> None:
        for kind in (model, simulator):
            _check_class(kind)
        for name, value in (("data", data), ("coords", coords)):
            if not isinstance(value, Mapping | None):
                raise DataError(f"{name} must be a dict of names and values; got {value!r}.")
        given = dict(data or {})  # as `read_data` makes it: coords may be among the data
        own, other = model._outline(given), simulator._outline(given)
        _check_prior(simulator.__name__, other)
        self._model, self._coords = model, {**given.pop("coords", {}), **(coords or {})}
        _check_names(model.__name__, given, own, other)
        self._data = {k: v for k, v in given.items() if k in _takes(own, Data)}
        _check_observed(own, simulator.__name__, other)
        shares = _takes(other, (Data, Observed))
        bound: Model = simulator(
            coords=_known(self._coords, other), **{k: v for k, v in given.items() if k in shares}
        )
        self._plan = prior_plan(redrawn(bound._binding))
        self.names = _ranked_names(
            f"{model.__name__} and {simulator.__name__}", own, other, var_names
        )
        kinds = (Data, Observed)
        simulated = _takes(other, Observed)
        self._fed = [name for name in _takes(own, kinds) if name in simulated]
        self._labels = _known(self._coords, own)
        self._parameters = _takes(own, Parameter)
        self._whole = all(name in _takes(other, Parameter) for name in self._parameters)

    def draw(self, rng: np.random.Generator) -> Simulated:
        """Draw once, and bind; raise a `DataError` if what was drawn is not finite."""
        try:
            with np.errstate(all="ignore"):
                drawn = {name: value[0] for name, value in self._plan.run(rng, 1).items()}
        except ModelError as error:  # NumPy refuses parameters that overflow
            raise DataError(
                f"data cannot be simulated from these parameters: {error.message}",
                location=error.location,
            ) from error
        needed = {*self._fed, *self.names, *self._parameters}
        for name, value in drawn.items():
            if name in needed and not np.isfinite(value).all():
                raise DataError(f"the simulated {name!r} is not finite.", name=name)
        data = {**self._data, **{name: drawn[name] for name in self._fed}}
        density = ModelDensity(self._model(coords=self._labels, **data))
        shapes = {v.name: v.shape for v in density.variables}
        truth = {name: np.asarray(drawn[name], dtype=float) for name in self.names}
        for name, value in truth.items():
            if value.shape != shapes[name]:
                raise ShapeError(
                    f"{name!r} is simulated with shape {value.shape}, but {density.name} infers "
                    f"it with shape {shapes[name]}. Give both models the same sizes.",
                    name=name, shape=value.shape, expected=shapes[name],
                )  # fmt: skip
        if self._whole:
            parameters = {name: drawn[name] for name in self._parameters}
            x = density.unconstrain(parameters, np.zeros(density.dim))
            truth[LOG_LIKELIHOOD] = log_likelihood(density, x[None])[0]
        return Simulated(density, truth)


Outline = Mapping[str, Declaration]  # what a model declares, by name


def _takes(outline: Outline, of: Any) -> list[str]:
    """Return the names of the declarations of some kinds."""
    return [name for name, d in outline.items() if isinstance(d, of)]


def _known(coords: dict[str, Any], outline: Outline) -> dict[str, Any]:
    """Return the labels of the dims that a model declares."""
    dims = {dim for d in outline.values() for dim in d.dims or d.axes or ()}
    return {dim: labels for dim, labels in coords.items() if dim in dims}


def _check_class(kind: Any) -> None:
    if isinstance(kind, ModelMeta):
        return
    name = type(kind).__name__
    hint = f"sbc({name}, n, data=...)" if isinstance(kind, Model) else "a subclass of Model"
    raise ModelError(
        f"sbc takes a model class and binds simulated data itself: {hint}; got "
        f"{'a bound ' if isinstance(kind, Model) else ''}{name}.",
        given=kind,
    )


def _check_prior(name: str, outline: Outline) -> None:
    """Refuse what cannot be drawn from."""
    for declaration in outline.values():
        if isinstance(declaration, Potential):
            raise declaration.model_error(
                f"{declaration.title} changes the density in a way that cannot be simulated. Give "
                "simulate_with= a model that simulates what the potential stands for."
            )
    if not _takes(outline, Observed):
        raise ModelError(f"{name} observes nothing, so there is nothing to simulate.")


def _check_names(model: str, given: dict[str, Any], *outlines: Outline) -> None:
    takes = {name for outline in outlines for name in _takes(outline, (Data, Observed))}
    for name in given:
        if name not in takes:
            raise DataError(f"{model} has no datum {name!r}.{nearest(name, takes)}", name=name)


def _check_observed(model: Outline, name_of_simulator: str, simulator: Outline) -> None:
    simulated = _takes(simulator, Observed)
    for name in _takes(model, Observed):
        if name not in simulated:
            declaration = model[name]
            raise declaration.data_error(
                f"{declaration.title} is not simulated: {name_of_simulator} observes "
                f"{', '.join(simulated)}. Observe the same names in both models.",
                name=name,
            )


def _ranked_names(both: str, model: Outline, simulator: Outline, wanted: Any) -> tuple[str, ...]:
    """Return the variables to rank, in the order of the model."""
    kinds = (Parameter, Deterministic)
    known = [name for name in _takes(model, kinds) if name in _takes(simulator, kinds)]
    if wanted is None:
        names = [name for name in known if name in _takes(model, Parameter)]
        if not names:
            raise ModelError(f"{both} have no parameter in common, so there is nothing to rank.")
        return tuple(names)
    return names_among(known, wanted, of=both.partition(" ")[0], which="that is simulated")
