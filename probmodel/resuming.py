"""`resume`: go on with a run that was kept in a checkpoint."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy as np

from probmodel.arguments import flag
from probmodel.errors import OutputError
from probmodel.inference.checkpoint import Checkpoint
from probmodel.inference.signals import held
from probmodel.model.references import bound_again, difference
from probmodel.results.attributes import package_version
from probmodel.samplers import find_sampler
from probmodel.sampling import Begun, draw, finished
from probmodel.threads import at_most


def resume(
    path: str | os.PathLike[str],
    model: Any = None,
    *,
    max_time: float | None = None,
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
        What was sampled. A model is found by itself if its file is what it was, or its class is
        imported; the data are in the checkpoint.
    max_time : float, optional
        Seconds, from now on, after which no further iteration is begun.
    progressbar, quiet : as for `infer`

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
            known = asked["model"]
            remedy = f"resume({os.fspath(path)!r}, model=...) takes the model from you."
            if model is None:
                if known is None:
                    raise OutputError(
                        f"the checkpoint {os.fspath(path)!r} is of a log density, which cannot be "
                        f"kept in a file. {remedy}",
                        path=os.fspath(path),
                    )
                model = bound_again(known, remedy)
            elif what := difference(known, model):
                raise OutputError(
                    f"the checkpoint {os.fspath(path)!r} is of another model or data: {what}.",
                    path=os.fspath(path),
                )
            entropy, key, pool = asked["seed"]
            arguments = dataclasses.replace(
                asked["arguments"],
                seed=np.random.SeedSequence(entropy, spawn_key=key, pool_size=pool),
                max_time=max_time, progressbar=progressbar, quiet=quiet,
            )  # fmt: skip
            with at_most(arguments.cores):
                drawn = draw(
                    model, asked["sampler"], arguments, {},
                    show=not flag("quiet", quiet), result=True,
                    begun=Begun(checkpoint, asked["x0"], asked["density"], start),
                )  # fmt: skip
                return finished(drawn, lambda: len(signals) > before, quiet)


def _import_sampler(name: str) -> None:
    """Import the class of a method, if it is one that is found by name."""
    try:
        find_sampler(name)
    except Exception:  # of no package; then its class is imported already, or is not known
        return
