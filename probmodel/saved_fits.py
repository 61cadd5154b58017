"""Fits that know their model: read from a file, they predict, and go on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from probmodel.errors import DataError
from probmodel.model import Model
from probmodel.predictive import log_likelihood, loo, posterior_predictive, predict
from probmodel.results.reading import load
from probmodel.results.summary import heading, summary_text
from probmodel.resuming import bound_in, extend, same_model


class SavedFit:
    """A fit with its model, whose functions need not be told of either.

    Each returns what the function of the same name returns.

    Attributes
    ----------
    result : arviz.InferenceData or xarray.DataTree
        What `infer` returned.
    model : Model
        The model, bound to the data of the fit.
    """

    def __init__(self, result: Any, model: Model) -> None:
        self.result, self.model = result, model

    def __repr__(self) -> str:
        about = f"{heading(self.result.attrs)}\n" if "method" in self.result.attrs else ""
        return f"{about}{summary_text(self.result)}"

    def predict(
        self,
        new_data: Mapping[str, Any] | None = None,
        *,
        coords: dict[str, Any] | None = None,
        seed: int | None = None,
        new_groups: str = "error",
        var_names: str | Sequence[str] | None = None,
    ) -> Any:
        """Predict what is observed at new data.

        Parameters
        ----------
        new_data : mapping of names to values, or a data frame
            Data that are not modelled and not given are those of the fit.
        coords : labels by dim, of new dims and of those with other labels than in the fit
        seed, new_groups, var_names : as for `predict`

        Raises
        ------
        DataError, ShapeError
            If new data do not fit together, or not to the model.
        """
        kind, binding = type(self.model), self.model._binding
        given = dict(new_data) if new_data is not None else {}
        known = {name: binding.declarations[name] for name in binding.data}
        old = {n: v for n, v in binding.data.items() if known[n].kind == "data" and n not in given}
        names, changed = binding.dimensions.names, set[str]()
        for name in given.keys() & known.keys():
            changed.update(names(known[name], binding.data[name].shape))
        labels = {dim: values for dim, values in binding.labels.items() if dim not in changed}
        bound = kind(**old, **given, coords={**labels, **(coords or {})})
        return predict(bound, self.result, seed, new_groups, var_names)

    def posterior_predictive(self, seed: int | None = None) -> Any:
        """Draw what was observed anew for every draw."""
        return posterior_predictive(self.model, self.result, seed)

    def log_likelihood(self) -> Any:
        """Compute the log density of each observation."""
        return log_likelihood(self.model, self.result)

    def loo(self, **options: Any) -> Any:
        """Estimate the expected log predictive density by leaving one out."""
        return loo(self.model, self.result, **options)

    def extend(self, draws: int | None = None, **options: Any) -> SavedFit:
        """Go on with the run, for so many more draws a chain."""
        return SavedFit(extend(self.result, draws, model=self.model, **options), self.model)


def load_fit(path: str | os.PathLike[str], model: Any = None) -> SavedFit:
    """Read a fit that was saved, with its model.

    Parameters
    ----------
    path : a netCDF file that ``probmodel sample --out`` or a result's own ``to_netcdf`` wrote
    model : a bound model, optional
        What was fitted, where it is not found: it is, if its file is what it was, or its class is
        imported. A model file that is found is loaded, which runs it.

    Raises
    ------
    OutputError
        If there is no such file, or it is damaged, or the model that is given is another one.
    ModelError
        If the model is not found, or has changed; the message says how.
    DataError
        If the fit is not of a model.
    """
    result = load(os.fspath(path))
    if "model" not in result.attrs and model is None:
        raise DataError(
            f"{os.fspath(path)!r} does not say of which model it is: load_fit(path, model=...) "
            "takes it from you.",
            path=os.fspath(path),
        )
    known = bound_in(result) if "model" in result.attrs else None
    remedy = f"load_fit({os.fspath(path)!r}, model=...) takes the model from you."
    if known is None and model is not None:
        return SavedFit(result, model)
    return SavedFit(result, same_model(model, known, f"the fit {os.fspath(path)!r}", remedy))
