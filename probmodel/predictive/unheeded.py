"""What a prediction does not look at, though its reader may think so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from probmodel.model.binding import Binding
from probmodel.model.declarations import Observed, Potential
from probmodel.model.model_graph import dependencies, reachable
from probmodel.predictive.fits import Fit
from probmodel.predictive.label_forms import other_forms
from probmodel.predictive.matching import find_labels
from probmodel.predictive.models import dims_of
from probmodel.results.arviz_object import groups_of


def unheeded(
    binding: Binding, fit: Fit, names: Sequence[str], filled: Sequence[str]
) -> Iterator[str]:
    """Yield warnings about predictions of some names by a model from a fit.

    ``filled`` are parameters of which the fit does not know all elements.
    """
    yield from other_forms(binding, fit, filled)
    yield from _new_series(binding, fit, names)
    yield from _data_of_new_elements(binding, names, filled)
    yield from _potentials_of_new_elements(binding, filled)


def _new_series(binding: Binding, fit: Fit, names: Sequence[str]) -> Iterator[str]:
    """Observed series that are longer than in the fit, or have other times."""
    observed = groups_of(fit.result, "observed_data").get("observed_data")
    if observed is None:
        return
    for name in names:
        declaration = binding.declarations[name]
        if not isinstance(declaration, Observed) or name not in observed:
            continue
        distribution = declaration.distribution
        axis = -distribution.event_ndim
        if not distribution.sequential or not axis:
            continue
        length = binding.evaluator.shape(declaration)[axis]
        before = np.shape(observed[name])[axis]
        labels = binding.dimensions.coords.get(dims_of(binding, name)[axis])
        times = observed[name].dims[axis]
        known = np.asarray(observed[name].coords.get(times, np.arange(before)))
        if length > before or (labels is not None and (find_labels(labels, known) < 0).any()):
            yield (
                f"predict: {name!r} is a new series of {length} values from its start, not the "
                f"observed one of {before} values gone on. To forecast, declare "
                'observed(..., missing="impute"), let NaN follow the observed values, and fit: '
                f"'{name}_missing' is the forecast."
            )


def _potentials_of_new_elements(binding: Binding, filled: Sequence[str]) -> Iterator[str]:
    """Find potentials that tell of new elements, which are filled in by their prior alone."""
    for parameter, below in _below(binding, filled):
        terms = sorted(n for n in below if isinstance(binding.declarations[n], Potential))
        if terms:
            yield (
                f"predict: new elements of {parameter!r} come from their prior alone, without "
                f"{', '.join(map(repr, terms))}: a potential has no distribution to draw from. A "
                "prior that says how elements depend on each other, such as RandomWalk or "
                "MvNormal, has."
            )


def _below(binding: Binding, names: Sequence[str]) -> Iterator[tuple[str, set[str]]]:
    """Yield each name with all that depends on it."""
    children: dict[str, list[str]] = {name: [] for name in binding.declarations}
    for name, above in dependencies(binding.declarations).items():
        for parent in above:
            children[parent].append(name)
    for name in dict.fromkeys(names):
        yield name, reachable([name], children)


def _data_of_new_elements(
    binding: Binding, names: Sequence[str], filled: Sequence[str]
) -> Iterator[str]:
    """Find data that tell of new elements, beside others that are to be predicted from these."""
    for parameter, below in _below(binding, filled):
        observed = [n for n in below if isinstance(binding.declarations[n], Observed)]
        given = sorted(n for n in observed if n in binding.data)
        if given and any(n in names and n not in binding.data for n in observed):
            yield (
                f"predict: the data of {', '.join(map(repr, given))} tell of new elements of "
                f"{parameter!r} and are not looked at: those are filled in without them. "
                "To condition on them, fit again with these data."
            )
