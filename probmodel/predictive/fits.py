"""Draws of a fit as values for the parameters of a model, matched by name and by label."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.compiler.symbols import Symbol
from probmodel.constraints import Real, SumToZero, SumToZeroMatrix
from probmodel.density.forward_runs import Forward
from probmodel.density.prior import check_whole, draw_from_prior, drawable, needs_redraws
from probmodel.distributions import Flat
from probmodel.distributions.base import Distribution
from probmodel.errors import DataError, nearest
from probmodel.model.binding import Binding
from probmodel.model.declarations import Deterministic
from probmodel.model.parameters import FreeParameter
from probmodel.predictive.anchors import Anchors
from probmodel.predictive.matching import all_known, check_times, find_places, old_labels
from probmodel.predictive.possible import check_bounds, check_event, in_part, support_of
from probmodel.results.arviz_object import (
    draws_group,
    extended,
    group,
    group_names,
    groups_of,
    in_order,
    wrap,
)
from probmodel.results.attributes import library_attributes
from probmodel.types import Array, Variable

if TYPE_CHECKING:
    import xarray as xr

NEW_GROUPS = ("error", "zero", "draw")
_FEW = 2  # draws that workers are sent, to make a plan by
_SHOWN = 5  # labels that a message lists


class Fit:
    """The posterior draws of a result.

    Parameters
    ----------
    result : an ArviZ object of either kind, as `infer` returns it

    Raises
    ------
    DataError
        If it holds no posterior draws.
    """

    def __init__(self, result: Any) -> None:
        if not hasattr(result, "groups") and not hasattr(result, "children"):
            raise DataError(
                "expected the result of infer(...) after the model; got "
                f"{type(result).__name__}. The model comes first, the fit second.",
                given=result,
            )
        found = group_names(result)
        if "posterior" not in found:
            raise DataError(
                f"the fit has no group 'posterior'; it has {', '.join(found) or 'no groups'}. Pass "
                "what infer returned, and not a part of it.",
                groups=found,
            )
        self.result = result
        self.posterior: xr.Dataset = group(result, "posterior")
        sizes = self.posterior.sizes
        if "chain" not in sizes or "draw" not in sizes:
            raise DataError(
                "the posterior of the fit needs the dims 'chain' and 'draw'; it has "
                f"{', '.join(map(str, sizes)) or 'none'}. Pass the fit as infer returned it, with "
                "its draws not stacked and no dim of length 1 dropped.",
                dims=tuple(sizes),
            )
        self.shape = (sizes["chain"], sizes["draw"])
        self.rows = self.shape[0] * self.shape[1]
        if not self.rows:
            plural = "" if sizes["chain"] == 1 else "s"
            raise DataError(
                f"the fit has no draws: {sizes['chain']} chain{plural} of {sizes['draw']}.",
                sizes=dict(sizes),
            )

    @property
    def _about(self) -> dict[str, Any]:
        """What the fit says of its model."""
        try:
            return json.loads(self.result.attrs["model"]) or {}
        except (KeyError, TypeError, ValueError):  # of another program, or of no model
            return {}

    @property
    def labelled(self) -> frozenset[str]:
        """Dims that were given labels, as far as the fit says so."""
        return frozenset(self._about.get("labelled", ()))

    def check_origin(self, model: Any) -> None:
        """Raise a `DataError` if dates of the model count from another one than in the fit."""
        then = self._about.get("origin")
        if then is not None and model._origin not in (None, then):
            raise DataError(
                f"dates of the fit are days since {then}, those of the model are days since "
                f"{model._origin}. Give from_frame the origin of the fit: origin={then!r}.",
                then=then,
                now=model._origin,
            )

    def group(
        self,
        labels: Mapping[str, Array],
        arrays: Mapping[str, tuple[tuple[str, ...], Array]],
        **more: Any,
    ) -> xr.Dataset:
        """Make a data set of quantities of which each draw has one: dims and (rows, *shape)."""
        shaped = {
            name: (dims, values.reshape(*self.shape, *values.shape[1:]))
            for name, (dims, values) in arrays.items()
        }
        sample = {dim: self.posterior[dim].values for dim in ("chain", "draw")}
        attributes = {**library_attributes(), **more}
        return draws_group(shaped, labels, attributes, sample)

    def few(self) -> Any:
        """Return a result of a few of its draws, with its data: enough to match parameters."""
        posterior = self.posterior.isel(chain=slice(0, 1), draw=slice(0, _FEW))
        known = groups_of(self.result, "constant_data", "observed_data")
        attributes = {key: v for key, v in self.result.attrs.items() if key == "model"}
        return wrap({"posterior": posterior, **known}, attributes)

    def extended(self, **groups: xr.Dataset) -> Any:
        """Return a new result that has these groups besides."""
        return extended(self.result, groups)


class FromFit:
    """Takes the values of parameters from a fit.

    Parameters
    ----------
    binding : of the model whose parameters are looked for
    fit : where
    new_groups : what becomes of elements whose labels the fit does not know; None where there is no
        such choice, and they are refused
    """

    def __init__(self, binding: Binding, fit: Fit, new_groups: str | None = None) -> None:
        known = isinstance(new_groups, str) and new_groups in NEW_GROUPS
        if new_groups is not None and not known:
            raise DataError(
                f"new_groups must be one of {', '.join(map(repr, NEW_GROUPS))}; got "
                f"{new_groups!r}.{nearest(str(new_groups), NEW_GROUPS)}",
                new_groups=new_groups,
            )
        self._binding = binding
        self._fit = fit
        self._new_groups = new_groups
        self._undrawn = False  # whether new elements are refused here alone
        self.anchors = Anchors(binding, fit.result)
        self.filled: list[str] = []  # parameters of which the fit does not know all elements
        self.taken: dict[str, list[Array]] = {}  # places in the fit of all that was asked for
        self.moved: dict[str, list[Array]] = {}  # places in the fit, where elements differ from its

    @property
    def rows(self) -> int:
        """Number of draws."""
        return self._fit.rows

    def at(self, binding: Binding, draw: bool = True) -> FromFit:
        """Return the same for another binding; new elements are not drawn unless ``draw``."""
        drawn = self._new_groups == "draw"
        other = FromFit(binding, self._fit, None if drawn and not draw else self._new_groups)
        other._undrawn = drawn and not draw
        return other

    def __call__(self, forward: Forward, free: FreeParameter) -> Symbol:
        """Return the values of one parameter, its new elements filled in.

        Raises a `DataError` if the fit lacks it, or it does not fit the model.
        """
        values = self._values(free)
        variable = self._variable(free)
        places = find_places(free, variable, values, self._fit.labelled)
        self.anchors.check(free, places, variable.dims)
        self.taken[free.name] = places
        known = all_known(places)
        if free.shape and not known.all() and self._new_groups in (None, "error"):
            raise self._unknown(free, places)
        if not known.all():
            self.filled.append(free.name)
        stacked = values.values.reshape(self._fit.rows, *values.shape[2:])
        if all(
            np.array_equal(p, np.arange(n)) for p, n in zip(places, values.shape[2:], strict=True)
        ):
            check_bounds(free, self._binding.evaluator, stacked, known)
            return forward.given(stacked)
        self.moved[free.name] = places
        picked = np.where(known, stacked[np.ix_(np.arange(self._fit.rows), *places)], 0.0)
        check_event(free, picked, known)
        check_bounds(free, self._binding.evaluator, picked, known)
        value = forward.given(picked)
        if known.all():
            return value
        self._check_event(free, places, values)
        fill = self._centred if self._new_groups == "zero" else self._completed
        return fill(forward, free, value, known)

    def _check_event(self, free: FreeParameter, places: list[Array], values: xr.DataArray) -> None:
        """Refuse new elements of a process without all the known ones that they depend on."""
        prior = free.declaration.prior
        event = 0 if prior is None else prior.event_ndim
        variable = self._variable(free)
        sizes = values.shape[2:]
        for axis in range(len(sizes) - event, len(sizes)):
            dim = variable.dims[axis]
            left_out = np.setdiff1d(np.arange(sizes[axis]), places[axis])
            if left_out.size and (places[axis] < 0).any():
                raise free.declaration.data_error(
                    f"{free.declaration.title}: new elements along {dim!r} depend on all those of "
                    f"the fit, of which {left_out.size} of {sizes[axis]} are left out here. Bind "
                    f"the model to the labels of the fit and the new ones together.",
                    name=free.name,
                    dim=dim,
                )
            if prior is not None and prior.sequential:
                labels = variable.coords.get(dim)
                check_times(free, dim, places[axis], labels, old_labels(values, axis))

    def _completed(
        self, forward: Forward, free: FreeParameter, value: Symbol, known: Array
    ) -> Symbol:
        """Draw the elements that are not known, given those that are."""
        check_whole(free)
        prior = drawable(forward, free)
        tied = 0 if free.frame is not None else free.constraint.event_ndim
        cut = needs_redraws(free, prior)
        if in_part(known, max(tied, prior.event_ndim)) and (tied or (cut and prior.event_ndim)):
            raise free.declaration.model_error(
                f"{free.declaration.title}: its elements depend on each other by its constraint, "
                "so that new ones cannot be drawn while the others stay as they are.",
                name=free.name,
            )
        if cut or tied:
            drawn = draw_from_prior(forward, free)
            return forward.apply(
                free.declaration,
                lambda given, new: np.asarray(np.where(known, given, new)),
                [value, drawn],
            )

        def complete(rng: np.random.Generator, rows: int, given: Array, *params: Array) -> Array:
            return prior.complete(rng, given, known, *params)

        operands = [value, *forward.parameters(prior, free.shape)]
        return forward.draw(free.declaration, prior, complete, operands)

    def _centred(
        self, forward: Forward, free: FreeParameter, value: Symbol, known: Array
    ) -> Symbol:
        """Let the elements that are not known be the centre of what they would be drawn from."""
        prior = _with_center(free)
        support = support_of(free)

        def central(given: Array, *params: Array) -> Array:
            filled = prior.central(given, known, *params)
            if support.event_ndim and not np.all(support.check(filled)):
                raise _without_center(
                    free, f"is {support.name}, which the known elements and this centre are not"
                )
            return filled

        params = forward.parameters(prior, free.shape)
        return forward.apply(free.declaration, central, [value, *params])

    def _values(self, free: FreeParameter) -> xr.DataArray:
        """Look a parameter up: (chain, draw, ...)."""
        posterior, name = self._fit.posterior, free.name
        if name not in posterior:
            raise free.declaration.data_error(
                f"the fit has no draws of {free.declaration.title}, which {self._binding.name} "
                f"needs here. It has {', '.join(map(str, posterior.data_vars)) or 'none'}: give "
                "the fit of this model, and keep the parameter (var_names of infer).",
                name=name,
            )
        dims = posterior[name].dims
        if "chain" not in dims or "draw" not in dims:
            raise free.declaration.data_error(
                f"{free.declaration.title} has the dims {', '.join(map(str, dims)) or 'none'} in "
                "the fit; expected 'chain' and 'draw' among them.",
                name=name,
            )
        values = in_order(posterior[name], self._variable(free).dims)
        if values.ndim - 2 != len(free.shape):
            raise free.declaration.data_error(
                f"{free.declaration.title} has the shape {free.shape} in {self._binding.name} and "
                f"{values.shape[2:]} in the fit, which is that of another model.",
                expected=free.shape,
                shape=values.shape[2:],
            )
        return values

    def _variable(self, free: FreeParameter) -> Variable:
        return next(v for v in self._binding.variables if v.name == free.name)

    def _unknown(self, free: FreeParameter, places: list[Array]) -> DataError:
        """Name the labels that the fit does not know."""
        variable = self._variable(free)
        dim, place = next(
            (d, p) for d, p in zip(variable.dims, places, strict=True) if (p < 0).any()
        )
        new = [str(label) for label in variable.coords[dim][place < 0]]
        advice = (
            "Bind the model to labels of the fit; predict(...) takes new ones."
            if self._new_groups is None
            else "Say in predict(...) what becomes of these elements: "
            'new_groups="draw" draws them given the other parameters, new_groups="zero" sets them '
            "to the centre of their population."
        )
        if self._undrawn:
            advice = "These are drawn where old and new points are bound together."
        more = f" and {len(new) - _SHOWN} more" if len(new) > _SHOWN else ""
        return free.declaration.data_error(
            f"{free.declaration.title} has new labels along {dim!r}, which the fit does not know: "
            f"{', '.join(new[:_SHOWN])}{more}. {advice}",
            name=free.name,
            dim=dim,
            labels=new,
        )


def deterministic_names(binding: Binding) -> tuple[str, ...]:
    """Names of the deterministic quantities."""
    return tuple(name for name, d in binding.declarations.items() if isinstance(d, Deterministic))


def _with_center(free: FreeParameter) -> Distribution:
    """Return the prior of a parameter, if its centre is what ``new_groups="zero"`` stands for."""
    prior = free.declaration.prior
    if prior is None or isinstance(prior, Flat):
        raise _without_center(free, "has a flat prior, which is no population")
    if not prior.has_center:
        raise _without_center(free, f"has the prior {prior.name}, which is not symmetric")
    if needs_redraws(free, prior):
        raise _without_center(free, f"has the prior {prior.name} cut by bounds")
    constraint = free.declaration.constraint
    if constraint is not None and not isinstance(constraint, (Real, SumToZero, SumToZeroMatrix)):
        raise _without_center(free, f"is held to be {constraint.name}")
    return prior


def _without_center(free: FreeParameter, what: str) -> DataError:
    return free.declaration.data_error(
        f'{free.declaration.title} {what}, so that new_groups="zero", a deviation of zero from the '
        "centre of a symmetric population, does not say what its new elements are. Use "
        'new_groups="draw".',
        name=free.name,
    )
