"""Looking up what a bound model declares, for the functions that predict."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

from probmodel.arguments import names_among
from probmodel.errors import DataError, ModelError, SamplingWarning
from probmodel.model import Model, ModelMeta
from probmodel.model.binding import Binding
from probmodel.model.declarations import Declaration, Observed, Potential
from probmodel.model.density_calls import depends_on_parameters


def binding_of(model: Any) -> Binding:
    """Return what a model is bound to; raise a `ModelError` if it is no bound model."""
    if isinstance(model, Model):
        return model._binding
    if isinstance(model, ModelMeta):
        raise ModelError(
            f"{model.__name__} is a model without data. Bind it first: {model.__name__}(...); what "
            "is observed may be left out where it is to be drawn.",
            model=model.__name__,
        )
    raise ModelError(f"expected a bound Model first; got {type(model).__name__}.", given=model)


def observed_names(binding: Binding) -> tuple[str, ...]:
    """Names of the observed quantities; raise a `ModelError` if the model has none."""
    names = _names(binding, Observed)
    if not names:
        raise ModelError(
            f"{binding.name} declares no observed(...), so there is nothing of this kind to "
            "compute. A potential(...) has no distribution to draw from.",
            model=binding.name,
        )
    return names


def likelihood_names(
    binding: Binding, var_names: str | Sequence[str] | None = None
) -> tuple[str, ...]:
    """Names of what is to have a log likelihood: by default what is observed, or else potentials.

    Potentials that no parameter bears on, such as the constant of a prior, are left out by default
    if there are others. Raises a `ModelError` if the model has neither, and a `DataError` as
    `chosen`.
    """
    potentials = _names(binding, Potential)
    declared = binding.declarations
    bearing = tuple(n for n in potentials if depends_on_parameters(declared[n].expression))
    default = _names(binding, Observed) or bearing or potentials or observed_names(binding)
    if var_names is None:
        return default
    return chosen(binding, var_names, _names(binding, Observed, Potential))


def warn_of_parts(model: Model, names: Iterable[str]) -> None:
    """Warn of observed quantities that hold a part of their data, at the caller of the caller."""
    for name in names:
        if message := model._counted_elsewhere(name):
            warnings.warn(message, SamplingWarning, stacklevel=3)


def _names(binding: Binding, *kinds: type[Declaration]) -> tuple[str, ...]:
    return tuple(name for name, d in binding.declarations.items() if isinstance(d, kinds))


def chosen(
    binding: Binding, var_names: str | Sequence[str] | None, known: Sequence[str]
) -> tuple[str, ...]:
    """Return the names that were asked for, in the order of the model; all that are known for None.

    Raises a `DataError` if a name is unknown, or none is given.
    """
    which = "that can be computed here"
    return names_among(known, var_names, of=binding.name, which=which, refused=DataError)


def dims_of(binding: Binding, name: str) -> tuple[str, ...]:
    """Names of the axes of a saved or observed quantity, or of what a potential adds up."""
    declaration = binding.declarations[name]
    if isinstance(declaration, Potential):
        found = enumerate(binding.found_dims[name])
        return tuple(f"{name}_dim_{i}" if dim is None else dim for i, dim in found)
    return binding.dimensions.names(declaration, binding.evaluator.shape(declaration))
