"""Draws of the fit that new data of their elements do not change.

The effect of a store has a prior that depends on its size. In a prediction the effects of known
stores are those of the fit, also where the store is said to be larger now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from probmodel.expressions import Expression
from probmodel.model.binding import Binding
from probmodel.model.counted_dims import counted_in
from probmodel.model.declarations import Data, Parameter
from probmodel.predictive.anchors import same
from probmodel.predictive.changed_starts import leaves_of
from probmodel.predictive.fits import FromFit
from probmodel.predictive.matching import find_labels, kind_of, matched
from probmodel.types import Array


def kept_draws(binding: Binding, parameters: FromFit) -> Iterator[str]:
    """Yield a warning for each datum of known elements that is another one than in the fit.

    ``parameters`` are the values from the fit, after a plan has asked for them.
    """
    old = parameters.anchors.fitted()
    if old is None:
        return
    counted = counted_in(binding.declarations)
    for name, places in parameters.taken.items():
        declaration = binding.declarations.get(name)
        if not isinstance(declaration, Parameter) or not declaration.dims:
            continue
        along = dict(zip(declaration.dims, places, strict=True))
        for leaf in _predictors(declaration):
            before, now = (
                _meant(b, leaf, counted.get(str(leaf.name), ""), (binding, old))
                for b in (old, binding)
            )
            dim = next((dim for dim in leaf.dims or () if dim in along), None)
            if dim is not None and _differ(before, now, leaf.dims or (), along, (old, binding)):
                yield (
                    f"predict: the prior of {name!r} depends on {str(leaf.name)!r}, which is not "
                    f"what it was in the fit for elements along {dim!r} that the fit knows. Their "
                    "draws are those of the fit, and do not heed the change. To predict what "
                    f"would be with other values, label such elements as new ones "
                    f'(new_groups="draw"), or fit a model with {str(leaf.name)!r} beside {name!r} '
                    "in what is observed, not in its prior."
                )


def _predictors(declaration: Parameter) -> list[Data]:
    """Return the data that the prior of a parameter depends on."""
    args = [] if declaration.prior is None else declaration.prior.args.values()
    leaves = [leaf for a in args if isinstance(a, Expression) for leaf in leaves_of(a)]
    return list({id(leaf): leaf for leaf in leaves if isinstance(leaf, Data)}.values())


def _meant(binding: Binding, leaf: Data, dim: str, both: Sequence[Binding]) -> Array:
    """Return the values of a datum, of numbers of groups the labels if these are known."""
    values = np.asarray(binding.data[str(leaf.name)])
    labels = [b.dimensions.coords.get(dim) for b in both]
    if labels[0] is None or labels[1] is None or kind_of(labels[0]) != kind_of(labels[1]):
        return values
    return np.asarray(find_labels(binding.dimensions.coords[dim], labels[1]))[values]


def _differ(
    before: Array, now: Array, dims: Sequence[str], along: dict[str, Array], both: Sequence[Binding]
) -> bool:
    """Whether two arrays differ where their elements are the same."""
    for axis, dim in enumerate(dims):
        place = along.get(dim)
        labels = [b.dimensions.coords.get(dim) for b in both]
        if place is None and labels[0] is not None and labels[1] is not None:
            place = find_labels(labels[1], labels[0])
        if place is not None:
            before, now = matched(before, now, axis, place)
    return before.shape == now.shape and not same(before, now)
