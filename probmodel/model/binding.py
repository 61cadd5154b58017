"""Binding: a declared model plus data becomes sizes, labels, constants and density terms."""

from __future__ import annotations

import traceback
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np

from probmodel.errors import DataError, ModelError, ProbmodelError, ShapeError, alike, reason
from probmodel.expressions import Expression
from probmodel.expressions.location import caller_location
from probmodel.model.axes import check_axes, differing_dims
from probmodel.model.checks import check_distribution, check_observed, implied_sizes, spread
from probmodel.model.containers import Labels
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    Potential,
)
from probmodel.model.density_calls import check_density_calls, term_of
from probmodel.model.dimensions import Dimensions
from probmodel.model.evaluation import Evaluator
from probmodel.model.imputation import Imputation, impute
from probmodel.model.parameters import FreeParameter, elaborate
from probmodel.model.pseudo_data import PseudoData
from probmodel.model.terms import Term
from probmodel.model.values import check_bounds, read_value
from probmodel.types import Array, Variable

Groups = dict[str, tuple[tuple[str, ...], Array]]  # name -> names of the dims and values


@dataclass
class Binding:
    """Everything the density needs to know of a bound model.

    Attributes
    ----------
    name : the model's name
    evaluator : values of data expressions and shapes of all expressions
    dimensions : sizes and labels of the dims
    free : the parameters, with their unconstrained symbols, in declared order
    terms : the terms of the log density, in declared order
    variables : what is saved with the draws
    saved : the expression behind each saved variable
    data : the arrays that were bound, by name
    unbound : observed quantities that were given no data
    declarations : what was declared, by name
    shapes : of observed quantities without data, as far as they are known
    imputed : observed quantities that have missing elements, by name
    pseudo_data : what standardises the parameters of hierarchies, by name
    found_dims : the dims along the axes of each declaration, None where they are not known
    unnamed : labels of the axes of observed quantities without dims, by name
    """

    name: str
    evaluator: Evaluator = field(default_factory=Evaluator)
    dimensions: Dimensions = field(default_factory=Dimensions)
    free: list[FreeParameter] = field(default_factory=list)
    terms: list[Term] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    saved: dict[str, Expression] = field(default_factory=dict)
    data: dict[str, Array] = field(default_factory=dict)
    unbound: list[Observed] = field(default_factory=list)
    declarations: dict[str, Declaration] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    imputed: dict[str, Imputation] = field(default_factory=dict)
    pseudo_data: Mapping[str, PseudoData] = field(default_factory=dict)
    found_dims: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    unnamed: dict[str, dict[int, Labels]] = field(default_factory=dict)

    @property
    def labels(self) -> dict[str, Array]:
        """Labels of the declared dims: with ``data`` they are all that a model is bound to."""
        known = {dim for d in self.declarations.values() for dim in d.dims or d.axes or ()}
        return {dim: labels for dim, labels in self.dimensions.coords.items() if dim in known}

    def data_groups(self, constant: Collection[str] = ()) -> tuple[Groups, Groups]:
        """Return observed data and others, to which those observed that are ``constant`` belong."""
        observed: Groups = {}
        others: Groups = {}
        for name, array in self.data.items():
            declaration = self.declarations[name]
            modelled = isinstance(declaration, Observed) and name not in constant
            group = observed if modelled else others
            group[name] = (self.dimensions.names(declaration, array.shape), array)
        return observed, others

    def save(self, declaration: Declaration, expression: Expression, kind: str) -> None:
        """Add a variable to what is saved with the draws."""
        shape = self.evaluator.shape(expression)
        dims = self.dimensions.names(declaration, shape)
        coords = {d: self.dimensions.coords[d] for d in dims if d in self.dimensions.coords}
        name = str(declaration.name)
        self.variables.append(Variable(name, shape, dims, coords, kind))
        self.saved[name] = expression


def bind(
    name: str,
    declarations: Mapping[str, Declaration],
    values: dict[str, Any],
    coords: dict[str, Any],
    redraw: Collection[str] = (),
    pseudo_data: Mapping[str, PseudoData] | None = None,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> Binding:
    """Bind data to declarations, in declared order.

    The data of the observed quantities named in ``redraw`` give sizes and labels alone; of others
    ``shapes`` may have the shape. Parameters that ``pseudo_data`` names are standardised by it.
    Raises a `DataError`, `ShapeError` or `ModelError` at the first declaration that does not work
    out, naming it and its line.
    """
    binding = Binding(
        name,
        declarations=dict(declarations),
        shapes=dict(shapes or {}),
        pseudo_data=pseudo_data or {},
    )
    _check_names(name, declarations, values)
    _read_data(binding, declarations, values, coords, redraw)
    checked: set[int] = set()
    for declaration in declarations.values():
        try:
            _BINDERS[type(declaration)](binding, declaration)
            check_density_calls(declaration, binding.evaluator, checked)
        except Exception as raised:  # functions of the user, and NumPy's, may raise anything
            error = _with_dims(raised, binding, declaration)
            place = getattr(error, "location", None)
            if isinstance(error, ProbmodelError) and place not in (None, caller_location()):
                raise error from raised.__cause__
            raise _located(error, declaration) from raised
    binding.found_dims = check_axes(declarations, binding.evaluator, binding.dimensions.sizes)
    for key, labels in binding.unnamed.items():
        binding.dimensions.compare(declarations[key], labels, binding.found_dims[key])
    _check_freedom(binding)
    return binding


def _check_freedom(binding: Binding) -> None:
    """Refuse a model in which nothing can vary."""
    name, free = binding.name, binding.free
    if not free:
        raise ModelError(
            f"{name} declares no parameters, so there is nothing to infer.", model=name
        )
    if all(0 in parameter.shape for parameter in free):
        raise ModelError(
            f"no parameter of {name} has an element: the sizes are zero. There is nothing to "
            "infer.",
            model=name,
        )
    if all(0 in parameter.free_shape for parameter in free):
        known = ", ".join(parameter.name for parameter in free)
        raise ModelError(
            f"no parameter of {name} can vary: for the shape of {known} there is one value only, "
            "such as the simplex of one element, which is 1. Give more elements. There is nothing "
            "to infer.",
            model=name,
        )


def _with_dims(error: Exception, binding: Binding, declaration: Declaration) -> Exception:
    """Return the error that names the dims in the place of one about shapes that do not fit."""
    misfit, sizes = binding.evaluator.misfit, binding.dimensions.sizes
    if misfit is None or not isinstance(error, ShapeError):
        return error
    if error.values.get("expression") != repr(misfit):
        return error
    before = takewhile(lambda d: d is not declaration, binding.declarations.values())
    return differing_dims(misfit, before, binding.evaluator, sizes) or error


def _located(error: Exception, declaration: Declaration) -> ProbmodelError:
    """Return an error of this package that names a line of the model, not the one that binds it."""
    where, title = declaration.location, declaration.title
    if isinstance(error, ProbmodelError):
        message = error.message if title in error.message else f"{title}: {error.message}"
        return type(error)(message, location=where, **error.values)
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f.lineno for f in frames if where and f.filename == where.file and f.lineno]
    return ModelError(
        f"{title} cannot be evaluated: {reason(error)}.",
        location=where and where._replace(line=lines[-1] if lines else where.line),
        name=declaration.name,
    )


def redrawn(binding: Binding, names: Collection[str] | None = None) -> Binding:
    """Bind a model anew, with some observed quantities unknown: all by default.

    Their data give sizes and labels alone. What is known is bound as it was. Raises a `ModelError`
    if one of them decides an index or a shape, which only data can.
    """
    declared = binding.declarations
    if names is None:
        names = {name for name, d in declared.items() if isinstance(d, Observed)}
    return bind(binding.name, declared, binding.data, binding.labels, names, shapes=binding.shapes)


def standardised(binding: Binding, pseudo_data: Mapping[str, PseudoData]) -> Binding:
    """Bind a model anew, with parameters standardised by what the data tell of them."""
    return bind(
        binding.name, binding.declarations, binding.data, binding.labels, pseudo_data=pseudo_data
    )


def _check_names(
    name: str, declarations: Mapping[str, Declaration], values: dict[str, Any]
) -> None:
    takes = [key for key, d in declarations.items() if isinstance(d, (Data, Observed))]
    missing = [k for k in takes if isinstance(declarations[k], Data) and k not in values]
    for key in values:
        if key not in takes:
            hint = alike(key, missing or takes)
            known = declarations.get(key)
            if known is not None:
                hint = f" {key!r} is a {known.kind}(...), which takes no data."
            raise DataError(
                f"{name} has no datum {key!r}.{hint} It takes: {', '.join(takes) or 'none'}.",
                name=key,
                expected=takes,
            )
    if missing:
        first = declarations[missing[0]]
        dims = f" with dims {', '.join(first.dims)}" if first.dims else ", a single number"
        remedy = f"Write {name}({', '.join(f'{k}=...' for k in takes)})."
        raise first.data_error(
            f"{name} needs the datum {missing[0]!r}{dims}; it was not given. {remedy}",
            needs=missing,
            remedy=remedy,
        )


def _read_data(
    binding: Binding,
    declarations: Mapping[str, Declaration],
    values: dict[str, Any],
    coords: dict[str, Any],
    redraw: Collection[str],
) -> None:
    """Read all data, with the labels that they have."""
    dims = [dim for d in declarations.values() for dim in d.dims or d.axes or ()]
    binding.dimensions.label(coords, dims)
    for key, given in values.items():
        declaration = declarations[key]
        array, labels = read_value(declaration, given)
        binding.dimensions.measure(declaration, array.shape, labels)
        if declaration.dims is None and labels and isinstance(declaration, Observed):
            binding.unnamed[key] = labels
        if key in redraw:
            binding.shapes[key] = array.shape
            continue
        binding.data[key] = array
        if not np.isnan(array).any():  # else it is defined once its missing elements are imputed
            binding.evaluator.define(declaration, array, random=False)


def _bind_data(binding: Binding, declaration: Data) -> None:
    bounds = map(binding.evaluator.known, (declaration.lower, declaration.upper))
    check_bounds(declaration, binding.data[str(declaration.name)], *bounds)


def _bind_parameter(binding: Binding, declaration: Parameter) -> None:
    pseudo_data = binding.pseudo_data.get(str(declaration.name))
    free = elaborate(declaration, binding.evaluator, binding.dimensions, pseudo_data)
    binding.free.append(free)
    binding.terms += free.terms
    binding.save(declaration, declaration, "param")


def _bind_observed(binding: Binding, declaration: Observed) -> None:
    data = binding.data.get(str(declaration.name))
    distribution = declaration.distribution
    if data is None:
        given = binding.shapes.get(str(declaration.name))
        binding.dimensions.complete_last(
            declaration, lambda: implied_sizes(declaration, distribution, binding.evaluator)
        )
        shape = binding.dimensions.shape(declaration) if given is None else given
        shape = check_distribution(declaration, distribution, shape, binding.evaluator)
        binding.unbound.append(declaration)
        # Its value is unknown, so whatever uses it has a shape and a type, but no density yet.
        kind = int if distribution.discrete else float
        binding.evaluator.define(declaration, np.zeros(shape, kind), random=True)
        return
    check_distribution(declaration, distribution, data.shape, binding.evaluator)
    if np.isnan(data).any():
        data = _impute(binding, declaration, data)
    check_observed(declaration, data, binding.evaluator)
    full = spread(distribution, data.shape, binding.evaluator)
    binding.terms.append(
        Term.of_distribution(str(declaration.name), "likelihood", full, declaration)
    )


def _impute(binding: Binding, declaration: Observed, data: Array) -> Array:
    """Make a parameter of the missing elements; returns the data with a probing value for them."""
    name = str(declaration.name)
    if f"{name}_missing" in binding.declarations:
        taken = binding.declarations[f"{name}_missing"]
        raise taken.model_error(
            f"{taken.title} has the name that the missing elements of {declaration.title} are "
            "given. Choose another.",
            name=taken.name,
        )
    imputation = impute(declaration, data, binding.evaluator, binding.dimensions)
    free = imputation.free
    binding.imputed[name] = imputation
    binding.free.append(free)
    binding.terms += free.terms
    binding.save(free.declaration, free.declaration, "param")
    completed = binding.evaluator.value(imputation.completed)
    binding.evaluator.define(declaration, completed, random=True)
    return completed


def _bind_deterministic(binding: Binding, declaration: Deterministic) -> None:
    binding.dimensions.complete(declaration, binding.evaluator.shape(declaration.expression))
    binding.save(declaration, declaration.expression, "deterministic")
    binding.evaluator.define(
        declaration,
        binding.evaluator.value(declaration.expression),
        random=not binding.evaluator.is_constant(declaration.expression),
    )


def _bind_potential(binding: Binding, declaration: Potential) -> None:
    binding.evaluator.shape(declaration.expression)
    binding.terms.append(term_of(declaration, binding.evaluator))


_BINDERS: dict[type[Declaration], Any] = {
    Data: _bind_data,
    Parameter: _bind_parameter,
    Observed: _bind_observed,
    Deterministic: _bind_deterministic,
    Potential: _bind_potential,
}
