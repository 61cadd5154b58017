"""`resume` and `extend`: go on with a run, from its checkpoint or from its result."""

from __future__ import annotations

import os
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from probmodel.arguments import positive
from probmodel.density import as_posterior
from probmodel.errors import ModelError, OutputError, SamplerError, SamplingWarning, reason
from probmodel.inference.checkpoint import Checkpoint
from probmodel.inference.encoding import unpacked
from probmodel.inference.groups import resumed
from probmodel.inference.progress import Status
from probmodel.inference.request import Converged, asked_again
from probmodel.inference.signals import held
from probmodel.model.references import bound_again, difference
from probmodel.results.arviz_object import extended, group, group_names, in_order
from probmodel.results.attributes import package_version
from probmodel.results.reading import bound_in
from probmodel.samplers import find_sampler
from probmodel.sampling import RunStart, draw, finished
from probmodel.threads import at_most

_DAMAGED = (ValueError, KeyError, OSError, zipfile.BadZipFile)  # what reading a state raises


def resume(
    path: str | os.PathLike[str],
    model: Any = None,
    *,
    max_time: float | None = None,
    callback: Callable[[Status], Any] | None = None,
    executor: Any = None,
    progressbar: bool = True,
    quiet: bool = False,
) -> Any:
    """Go on with a run that ``infer(..., checkpoint=path)`` began, to its end.

    Whatever ended it, the draws are those that it would have had: from the last state that was
    written on they are made again, bit for bit, on the same machine with the same versions. A run
    that has ended already returns its result.

    Parameters
    ----------
    path : the folder
    model : bound model or LogDensity, optional
        What was sampled. A model is found by itself if the code of its file is what it was, or
        its class is imported; the data are in the checkpoint.
    max_time : float, optional
        Seconds, from now on, after which no further iteration is begun.
    executor : optional
        As for `infer`, of a run that was sampled in parts.
    callback, progressbar, quiet : as for `infer`

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        As `infer` returns it; draws are mapped from files in the folder.

    Raises
    ------
    OutputError
        If there is no checkpoint, it is damaged, of another version, model or data, or in use.
    ModelError
        If the model is not found, or has changed.
    """
    with held() as signals:
        before, version = len(signals), package_version("probmodel")
        checkpoint, asked, start = Checkpoint.open(path, version, _import_sampler)
        with checkpoint:
            remedy = f"Pass the model: resume({os.fspath(path)!r}, model=...)."
            model = same_model(model, asked["model"], f"the checkpoint {os.fspath(path)!r}", remedy)
            _check_parts(asked, executor)
            arguments = asked_again(
                asked, max_time=max_time, callback=callback, executor=executor,
                progressbar=progressbar, quiet=quiet,
            )  # fmt: skip
            begin = RunStart(asked["x0"], asked["density"], start, checkpoint)
            with at_most(arguments.cores):
                drawn = draw(model, asked["sampler"], arguments, {}, result=True, begin=begin)
                return finished(drawn, lambda: len(signals) > before, quiet)


def extend(
    fit: Any,
    draws: int | None = None,
    *,
    until: Converged | None = None,
    ess: float | None = None,
    model: Any = None,
    max_time: float | None = None,
    callback: Callable[[Status], Any] | None = None,
    executor: Any = None,
    progressbar: bool = True,
    quiet: bool = False,
) -> Any:
    """Go on with a run that has ended, and return all its draws.

    They are those that a longer run would have had, bit for bit, on the same machine with the same
    versions: nothing is warmed up again.

    Parameters
    ----------
    fit : arviz.InferenceData or xarray.DataTree
        What `infer` returned, or a file of it that was read again.
    draws : int, optional
        How many more draws a chain; at most, with `until` or `ess`.
    until, ess : optional
        As for `infer`: goes on until all draws together are good enough.
    model : bound model or LogDensity, optional
        What was sampled. A model is found by itself if the code of its file is what it was, or
        its class is imported; the data are in the fit.
    max_time, callback, progressbar, quiet : as for `infer`
    executor : optional
        As for `infer`, of a fit that was sampled in parts.

    Returns
    -------
    arviz.InferenceData or xarray.DataTree
        A new result, as `infer` returns it; ``fit`` stays as it is.

    Raises
    ------
    SamplerError
        If it is not said how far to go.
    OutputError
        If the fit cannot be gone on with: its parameters were not all saved, it was made by another
        version, of another model or data, or by a method whose settings are functions.
    ModelError
        If the model is not found, or has changed.
    """
    if isinstance(fit, str | os.PathLike):
        raise OutputError(
            f"extend takes a fit, as infer returned it; got the path {str(fit)!r}. Read it first: "
            f"load_fit({str(fit)!r}).extend(draws)."
        )
    if draws is None and until is None and ess is None:
        raise SamplerError(
            "extend: say how many draws to add (draws=), or when to stop (ess=, until=)."
        )
    more = None if draws is None else positive("draws", draws)
    with held() as signals:
        before, known = len(signals), Known(fit)
        _check_parts(known.asked, executor)
        remedy = "Pass the model: extend(fit, model=...)."
        model = same_model(model, bound_in(fit), "this fit", remedy)
        arguments = asked_again(
            known.asked, max_time=max_time, until=until, ess=ess, progressbar=progressbar,
            quiet=quiet, callback=callback, executor=executor, save_warmup=False,
            draws=None if more is None else known.draws + more,
        )  # fmt: skip
        with at_most(arguments.cores):
            beyond = known.draws - known.count  # a draw that an interrupt left unfinished
            begin = known.begin(
                as_posterior(model), beyond + (more or 0 if until is None and ess is None else 0)
            )
            arguments = replace(arguments, var_names=known.var_names)
            drawn = draw(model, known.asked["sampler"], arguments, {}, result=True, begin=begin)
            result = finished(drawn, lambda: len(signals) > before, quiet)
    warmup = [name for name in group_names(fit) if name.startswith("warmup_")]
    return extended(result, {name: group(fit, name) for name in warmup}) if warmup else result


class Known:
    """What a fit knows of the run that made it.

    Attributes
    ----------
    asked : what the run was asked for
    count : draws a chain, after which it can be gone on with
    draws : draws a chain in the fit: a few more, after some interrupts
    var_names : the variables that were saved
    """

    def __init__(self, fit: Any) -> None:
        if not hasattr(fit, "attrs") or "sampler_state" not in group_names(fit):
            raise OutputError(
                "this fit cannot be extended, as it does not hold the state of its run: it is no "
                "result of infer, or the run was interrupted when its chains had different numbers "
                "of draws, or a setting of its method is a function. Run infer again; a run with "
                "checkpoint= can be resumed after an interrupt."
            )
        self._fit, self.var_names = fit, [str(name) for name in group(fit, "posterior").data_vars]
        about = str(fit.attrs["inference_library_version"]), package_version("probmodel")
        if about[0] != about[1]:
            raise OutputError(
                f"this fit was made by probmodel {about[0]}, and only that version can extend it; "
                f"this is {about[1]}."
            )
        try:
            self.asked = _state(fit)
            self._start = self.asked["snapshot"]
            self.count = int(self._start["records"][0]["draw"]["count"])
            self.draws = max(self.count, group(fit, "posterior").sizes["draw"])
        except _DAMAGED as error:
            raise OutputError(f"the state in this fit is damaged: {reason(error)}.") from error

    def begin(self, posterior: Any, more: int) -> RunStart:
        """Return the run, to be gone on with for so many more draws."""
        start, count = self._start, self.count
        names = [v.name for v in posterior.variables if v.kind == "param"]
        known_names = [v.name for v in posterior.variables]
        self.var_names = [name for name in self.var_names if name in known_names]
        sizes = group(self._fit, "posterior").sizes
        places = np.concatenate([known["state"].x for known in start["groups"]])
        if sizes["chain"] != len(places) or sizes["draw"] < count:
            raise OutputError(
                f"this fit cannot be extended: the run had {len(places)} chains of {count} "
                f"draws, and it has {sizes['chain']} of {sizes['draw']}. Pass it as infer returned "
                "it, with all chains and draws."
            )
        lost = [name for name in names if name not in self.var_names]
        if lost:
            raise OutputError(
                f"this fit cannot be extended: it was made without the draws of "
                f"{', '.join(lost)} (var_names=). checkpoint= keeps a whole run."
            )
        if not hasattr(posterior, "unconstrained"):
            raise OutputError(
                f"{posterior.name} has no method `unconstrained`, which extend needs."
            )
        saved, stats = group(self._fit, "posterior"), group(self._fit, "sample_stats")
        dims = {v.name: v.dims for v in posterior.variables}
        whole = {name: in_order(saved[name], dims[name]).values for name in self.var_names}
        kept = {name: values[:, :count] for name, values in whole.items()}
        density, _ = posterior.resumed(start["density"], places)
        rows = len(places) * count
        flat = {name: kept[name].reshape(rows, *kept[name].shape[2:]) for name in names}
        x = density.unconstrained(flat).reshape(len(places), count, density.dim)
        thin = self.asked["arguments"].thin
        for known in start["groups"]:
            known["goal"] = thin * (count + more)
        columns = {str(name): in_order(v, ()).values[:, :count] for name, v in stats.items()}
        begin = {**start, "planned": count + more}
        return RunStart(start["origin"][0], {}, begin, drawn=(x, columns), kept=kept)


def same_model(model: Any, known: dict[str, Any] | None, what: str, remedy: str) -> Any:
    """Return the model of a run: the one that is given, if it is the same, or the one it names."""
    if model is None:
        if known is None:
            raise OutputError(f"{what} is of a log density, which is not stored with it. {remedy}")
        return bound_again(known, remedy)
    if different := difference(known, model):
        raise OutputError(f"{what} is of another model or data: {different}.")
    return model


def model_of(model: Any, fit: Any, what: str, remedy: str) -> Any:
    """Return the model of a fit, as `same_model`; a given one may have been changed since.

    Warns
    -----
    SamplingWarning
        If its log density at the last draws is not what the fit recorded.
    """
    found = same_model(model, bound_in(fit), what, remedy)
    if model is not None and not _same_density(model, fit):
        warnings.warn(
            f"{what} is of a model with another log density than {as_posterior(model).name} has: "
            "what is computed from its draws is right only if the change does not matter there.",
            SamplingWarning,
            stacklevel=3,
        )
    return found


def _state(fit: Any) -> dict[str, Any]:
    """Return what the run of a fit was asked for, and where it ended; see `_DAMAGED`."""
    _import_sampler(str(fit.attrs["method"]))
    state = group(fit, "sampler_state")["state"].values.astype(np.uint8)
    return unpacked(state.tobytes())


def _same_density(model: Any, fit: Any) -> bool:
    """Whether the log density is what the fit recorded; True where it recorded nothing."""
    version = fit.attrs.get("inference_library_version")
    if "sampler_state" not in group_names(fit) or version != package_version("probmodel"):
        return True
    try:
        start = _state(fit)["snapshot"]
    except _DAMAGED:
        return True
    try:
        return resumed(as_posterior(model), start)[1]
    except ModelError:  # of other parameters
        return False


def _check_parts(asked: dict[str, Any], executor: Any) -> None:
    if executor is not None and asked["arguments"].parts is None:
        raise SamplerError(
            "executor= is for runs that were sampled in parts, and this one was not. Leave it out."
        )


def _import_sampler(name: str) -> None:
    """Import the class of a method, if it is one that is found by name."""
    try:
        find_sampler(name)
    except Exception:  # of no package; then its class is imported already, or is not known
        return
