"""Fits that know their model: read from a file, they predict, and go on."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.arguments import path_of
from probmodel.errors import DataError, ModelError, SamplingWarning, alike
from probmodel.html_tables import folded, table
from probmodel.model import Model
from probmodel.model.containers import Labelled, as_labels, unpack
from probmodel.model.counted_dims import counted_dims
from probmodel.model.declarations import Data, Observed
from probmodel.model.frames import as_table, from_frame
from probmodel.predictive import (
    compute_deterministics,
    log_likelihood,
    log_prior,
    loo,
    posterior_predictive,
    predict,
)
from probmodel.predictive.relabelled import column_labels, new_labels, relabelled, with_new_groups
from probmodel.results.reading import load
from probmodel.results.summary import heading, summary_text
from probmodel.resuming import extend, model_of
from probmodel.types import Array

_SHOWN = 10  # columns that a message lists
_VERSIONS = {"probmodel": "inference_library_version"} | {
    name: f"{name}_version" for name in ("numpy", "scipy", "autograd")
}


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

    def _repr_html_(self) -> str:
        summary = folded("summary", summary_text(self.result))
        shown = folded("model", repr(self.model))
        return f"<div>{table(self.model._binding.name, self._rows())}{summary}{shown}</div>"

    def _rows(self) -> Iterator[tuple[str, str]]:
        """Yield what is known of the fit, and what can be done with it."""
        attrs, data = self.result.attrs, self.model._binding.data
        sizes = self.result["posterior"].sizes
        shapes = (f"{n} ({', '.join(map(str, v.shape))})" if v.ndim else n for n, v in data.items())
        yield "data", ", ".join(shapes) or "none"
        if "method" in attrs:
            yield "method", f"{attrs['method']}, seed {attrs['seed']}"
            yield "warm-up", f"{attrs['warmup_done']} iterations"
        yield (
            "draws",
            f"{sizes['chain']} chain{'' if sizes['chain'] == 1 else 's'} of {sizes['draw']}",
        )
        made = str(attrs.get("created_at", "")).replace("T", " ").partition("+")[0]
        yield "made", f"{made} UTC" if made else "at an unknown time"
        versions = [f"{n} {attrs[key]}" for n, key in _VERSIONS.items() if key in attrs]
        yield "versions", ", ".join(versions) or "unknown"
        findings = json.loads(attrs.get("warnings") or "[]")
        for finding in findings:
            yield "finding", str(finding["message"])
        if not findings:
            yield "findings", "none"
        yield (
            "to use",
            ".predict(new_data), .posterior_predictive(), .loo(), .extend(draws), .result",
        )

    def predict(
        self,
        new_data: Mapping[str, Any] | None = None,
        *,
        coords: dict[str, Any] | None = None,
        origin: Any = None,
        seed: int | None = None,
        new_groups: str = "error",
        var_names: str | Sequence[str] | None = None,
        noise: bool = True,
        executor: Any = None,
        **columns: str | Sequence[str],
    ) -> Any:
        """Predict what is observed at new data.

        Parameters
        ----------
        new_data : mapping of names to values, or a data frame
            Data that are not modelled and not given are those of the fit. A data frame is read as
            by `Model.from_frame`, its groups looked up in the labels of the fit; what becomes of
            groups that these lack is said by ``new_groups``.
        coords : labels by dim, of new dims and of those with other labels than in the fit
        origin : of dates, as for `Model.from_frame`; that of the fit, if it was made of a frame
        seed, new_groups, var_names, noise, executor : as for `predict`
        **columns : by datum, another column of a frame (its name) or columns (a list)

        Raises
        ------
        DataError, ShapeError
            If new data do not fit together, or not to the model.
        """
        kind, binding = type(self.model), self.model._binding
        if hasattr(new_data, "columns"):
            bound = self._of_frame(new_data, coords or {}, origin, new_groups, columns)
            return predict(
                bound, self.result, seed, new_groups, var_names, noise, executor=executor
            )
        if not isinstance(new_data, Mapping | None):
            raise DataError(
                "predict of a fit takes new data first, a dict of values by name or a data frame; "
                f"got {type(new_data).__name__}. The fit knows its model. For another one, call "
                "predict(model, fit.result) of probmodel.",
                given=new_data,
            )
        if columns:
            raise DataError(
                f"predict of a fit has no argument {next(iter(columns))!r}. New data come first, "
                "in a dict of values by name; columns are named for a data frame alone.",
                names=list(columns),
            )
        given = dict(new_data) if new_data is not None else {}
        if "coords" not in kind._takes():  # as a file of data has them
            coords = {**given.pop("coords", {}), **(coords or {})}
        found = new_labels(binding, given, coords or {})
        given, counted = self._coded(given, found), counted_dims(kind)
        changed = self._dims(given)
        constants = relabelled(binding, self._constants(given), found, counted)
        labels = {dim: values for dim, values in binding.labels.items() if dim not in changed}
        labels |= self._unmeasured(changed | self._dims(constants))
        bound = kind(**constants, **given, coords={**labels, **(coords or {})})
        return predict(bound, self.result, seed, new_groups, var_names, noise, executor=executor)

    def _coded(self, given: dict[str, Any], coords: Mapping[str, Any]) -> dict[str, Any]:
        """Return data with text for groups looked up in the labels of their dim."""
        found = dict(given)
        for name, dim in counted_dims(type(self.model)).items():
            labels = coords.get(dim, self.model._binding.labels.get(dim))
            if name not in given or labels is None:
                continue
            declared = self.model._binding.declarations[name]
            values, own = unpack(given[name], declared.dims)
            texts = np.asarray(values)
            if texts.dtype.kind not in "UO":
                _warn_of_numbers(declared, texts, dim, as_labels(labels))
                continue
            places = {str(label): i for i, label in enumerate(as_labels(labels))}
            unknown = [text for text in map(str, texts.flat) if text not in places]
            if unknown:
                shown = ", ".join(list(places)[:_SHOWN])
                raise declared.data_error(
                    f"{declared.title} has {unknown[0]!r}, which is no label of {dim!r} in the "
                    f"fit: {shown}{', ...' * (len(places) > _SHOWN)}. For new groups pass a data "
                    f"frame, or all labels as coords={{{dim!r}: [...]}}.",
                    name=name,
                    unknown=unknown,
                )
            codes = np.reshape([places[str(text)] for text in texts.flat], texts.shape)
            found[name] = Labelled(codes, own)
        return found

    def _constants(self, given: Iterable[str]) -> dict[str, Any]:
        """Return the data of the fit that are not modelled, but for those that are given."""
        binding, names = self.model._binding, set(given)
        kinds = {name: binding.declarations[name].kind for name in binding.data}
        return {n: v for n, v in binding.data.items() if kinds[n] == "data" and n not in names}

    def _unmeasured(self, measured: set[str]) -> dict[str, Any]:
        """Return labels of the dims that have their size from what was observed alone."""
        binding = self.model._binding
        sizes = binding.dimensions.sizes.items()
        return {d: binding.labels.get(d, range(n)) for d, n in sizes if d not in measured}

    def _dims(self, names: Iterable[str]) -> set[str]:
        """Return the dims of some data of the fit."""
        binding = self.model._binding
        known = [name for name in names if name in binding.data]
        return {
            dim
            for name in known
            for dim in binding.dimensions.names(
                binding.declarations[name], binding.data[name].shape
            )
        }

    def _of_frame(
        self,
        frame: Any,
        coords: dict[str, Any],
        origin: Any,
        new_groups: str,
        columns: Mapping[str, Any],
    ) -> Any:
        """Bind the model to a frame, with the groups of the fit and what no column gives."""
        kind, labels = type(self.model), self.model._binding.labels
        table = as_table(kind, frame)
        grouped = set(counted_dims(kind).values())
        known = {dim: values for dim, values in labels.items() if dim in grouped}
        stems = {str(column).partition(".")[0] for column in table.columns} | columns.keys()
        self._check_columns([str(column) for column in table.columns], stems)
        of_rows = self._dims(self.model._binding.data.keys() & stems) - grouped
        found = column_labels(self.model._binding, table, columns)
        rows = of_rows - found.keys()
        self._check_rows(stems, rows)
        constants = {n: v for n, v in self._constants(stems).items() if not self._dims([n]) & rows}
        found |= new_labels(self.model._binding, {}, coords)
        constants = relabelled(self.model._binding, constants, found, counted_dims(kind))
        more = {
            dim: with_new_groups(
                table, self._groups_in(table, dim, columns), dim, known[dim], new_groups
            )
            for dim in known
            if dim not in coords
        }
        for dim in [dim for dim in more if len(more[dim]) > len(known[dim])]:
            self._check_members(dim, stems)
        before = {
            name: self._labels_of(name, values)
            for name, values in self._constants(()).items()
            if self._dims([name]) & more.keys()
        }
        measured = of_rows | grouped | self._dims(constants)
        every = {**self._unmeasured(measured), **known, **more, **coords}
        origin = self.model._origin if origin is None else origin
        return from_frame(kind, table, every, origin, {**constants, **columns}, before)

    def _groups_in(self, table: Any, dim: str, columns: Mapping[str, Any]) -> list[str]:
        """Return the columns of a frame that hold groups of a dim."""
        names = [n for n, d in counted_dims(type(self.model)).items() if d == dim]
        sources = [columns.get(name, name) for name in names]
        return [s for s in sources if isinstance(s, str) and s in table.columns]

    def _labels_of(self, name: str, values: Array) -> Array:
        """Return data of the fit with the labels of groups in the place of their numbers."""
        labels = self.model._binding.labels.get(counted_dims(type(self.model)).get(name, ""))
        return values if labels is None else labels[values]

    def _check_members(self, dim: str, columns: set[str]) -> None:
        """Refuse new groups of which the model has data that neither fit nor frame have."""
        members = [n for n in self._constants(columns) if dim in self._dims([n])]
        if members:
            raise DataError(
                f"the frame has groups that the labels of the dim {dim!r} lack, and the model has "
                f"values for each group: {', '.join(members)}. Give the frame columns of these.",
                dim=dim,
                names=members,
            )

    def _check_rows(self, columns: set[str], dims: set[str]) -> None:
        """Refuse a frame without columns of a datum that has a value for each of its rows."""
        for name in self._constants(columns):
            own = self.model._binding.declarations[name].dims or ()
            if dims.intersection(own[:1]):
                members = f", nor any {name}.…" * (len(own) > 1)
                raise DataError(
                    f"the frame has no column {name!r}{members}, and the model has a "
                    "value of it for each row. Say what to read, as Model.from_frame was told: "
                    f"predict(frame, {name}=...).",
                    name=name,
                )

    def _check_columns(self, columns: Sequence[str], stems: set[str]) -> None:
        """Refuse a frame of which the model takes nothing: its own data would be predicted."""
        name, declared = self.model._binding.name, self.model._binding.declarations
        takes = [key for key, d in declared.items() if isinstance(d, Data | Observed)]
        if stems.intersection(takes):
            return
        hint = next(filter(None, (alike(stem, takes) for stem in sorted(stems))), "")
        shown = ", ".join(map(repr, columns[:_SHOWN])) + ", ..." * (len(columns) > _SHOWN)
        raise DataError(
            f"no column of the frame is a datum of {name}: it has "
            f"{shown or 'no columns'}.{hint} {name} takes: {', '.join(takes)}. "
            "For predictions at the data of the fit, call predict without a frame.",
            columns=columns,
            expected=takes,
        )

    def posterior_predictive(
        self,
        seed: int | None = None,
        var_names: str | Sequence[str] | None = None,
        *,
        executor: Any = None,
    ) -> Any:
        """Draw what was observed anew for every draw."""
        return posterior_predictive(self.model, self.result, seed, var_names, executor=executor)

    def compute_deterministics(
        self, var_names: str | Sequence[str] | None = None, *, executor: Any = None
    ) -> Any:
        """Compute deterministic quantities that the fit does not have."""
        return compute_deterministics(self.model, self.result, var_names, executor=executor)

    def log_likelihood(
        self, var_names: str | Sequence[str] | None = None, *, executor: Any = None
    ) -> Any:
        """Compute the log density of each observation."""
        return log_likelihood(self.model, self.result, var_names, executor=executor)

    def log_prior(self, *, executor: Any = None) -> Any:
        """Compute the log prior density of each element of the parameters."""
        return log_prior(self.model, self.result, executor=executor)

    def loo(self, **options: Any) -> Any:
        """Estimate the expected log predictive density by leaving one out."""
        return loo(self.model, self.result, **options)

    def extend(self, draws: int | None = None, **options: Any) -> SavedFit:
        """Go on with the run, for so many more draws a chain."""
        return SavedFit(extend(self.result, draws, model=self.model, **options), self.model)


def _warn_of_numbers(declared: Any, given: Array, dim: str, labels: Array) -> None:
    """Warn of numbers of groups that may be meant as their labels."""
    if not {given.dtype.kind, labels.dtype.kind} <= set("iuf") or not given.size:
        return
    number, counts = given.flat[0], np.array_equal(labels, np.arange(len(labels)))
    if np.isin(given, labels).all() and not counts and 0 <= number < len(labels):
        warnings.warn(
            f"predict: {declared.title} has numbers, which count the groups of {dim!r} from 0: "
            f"{number} is {labels[int(number)]}. All of them are labels of {dim!r}, too. A data "
            "frame takes labels.",
            SamplingWarning,
            stacklevel=4,
        )


def load_fit(path: str | os.PathLike[str], model: Any = None) -> SavedFit:
    """Read a fit that was saved, with its model.

    The fit is read into memory, up to 16 GiB, and the file is closed: it can be written again.

    Parameters
    ----------
    path : a netCDF file that ``probmodel sample --out`` or a result's own ``to_netcdf`` wrote
    model : a bound model, optional
        What was fitted, where it is not found: it is, if the code of its file is what it was, or
        its class is imported. A model file that is found is loaded, which runs it.

    Raises
    ------
    OutputError
        If there is no such file, or it is damaged, or the model that is given is another one.
    ModelError
        If the model is not found, or has changed; the message says how. If what is given is none.
    DataError
        If the fit is not of a model.

    Warns
    -----
    SamplingWarning
        If the log density of the model that is given is not that of the fit.
    """
    if not isinstance(model, Model | None):
        what = f"the class {model.__name__}" if isinstance(model, type) else type(model).__name__
        raise ModelError(
            "load_fit(path, model=...) takes a model that is bound to the data of the fit, such as "
            f"Line(x=x, y=y); got {what}.",
            given=model,
        )
    path = str(path_of("the path of a fit", path))
    result = load(path)
    if "model" not in result.attrs and model is None:
        raise DataError(
            f"{path!r} does not name its model. Pass it: load_fit(path, model=...).", path=path
        )
    if model is not None and json.loads(result.attrs.get("model") or "null") is None:
        return SavedFit(result, model)
    remedy = f"Pass the model: load_fit({path!r}, model=...)."
    return SavedFit(result, model_of(model, result, f"the fit {path!r}", remedy))
