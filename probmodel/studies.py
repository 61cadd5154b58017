"""`infer_many`: one model and many data sets, here or on the workers of an executor."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from probmodel.arguments import flag, seed_sequence
from probmodel.calibration.live_line import watched
from probmodel.errors import DataError, ModelError, SamplerError, SamplingWarning, reason
from probmodel.inference.tasks import mapped
from probmodel.model import Model, ModelMeta
from probmodel.samplers import DEFAULT_METHOD
from probmodel.samplers.base import Sampler
from probmodel.sampling import infer, spawned


def infer_many(
    model: type[Model],
    datasets: Iterable[Mapping[str, Any]],
    method: str | Sampler = DEFAULT_METHOD,
    *,
    executor: Any = None,
    seed: int | np.random.SeedSequence | None = None,
    progressbar: bool = True,
    **arguments: Any,
) -> list[Any]:
    """Draw from the posteriors of one model given many data sets.

    Parameters
    ----------
    model : Model subclass
    datasets : iterable of mappings
        What the model takes for each: ``model(**dataset)``.
    method : str or Sampler
        As for `infer`.
    executor : optional
        Anything with a method ``submit``, whose workers take a data set each. Results do not depend
        on it.
    seed : int or SeedSequence, optional
        Decides everything; each data set has a seed of its own.
    progressbar : bool
        Whether to show the progress on a terminal, or in a notebook.
    **arguments
        Other arguments of `infer`, and settings of the method.

    Returns
    -------
    list
        A result for each data set, in their order, whose ``attrs["warnings"]`` say what speaks
        against it; or the exception, for one that failed.

    Raises
    ------
    DataError
        If the data sets are not a list of dicts.
    ModelError
        If ``model`` is no model class.
    SamplerError
        If the model cannot be sent to the workers.

    Warns
    -----
    SamplingWarning
        If some data sets failed, or the study was interrupted: then the list is shorter.
    """
    if not isinstance(model, ModelMeta):
        raise ModelError(
            f"infer_many takes a model class, and the data sets beside it; got {model!r}."
        )
    for name in ("checkpoint", "callback"):
        if arguments.get(name) is not None:
            raise SamplerError(f"infer_many takes no {name}=, which is of a single run.", name=name)
    data = _data_sets(datasets)
    seeds = spawned(seed_sequence(seed), len(data))
    bar = flag("progressbar", progressbar)
    found: list[Any] = []
    interrupted = False
    try:
        tasks = zip(data, seeds, strict=True)
        with watched(len(data), bar) as line:
            for result in mapped(_Once(model, method, arguments), tasks, executor):
                found.append(result)
                if not isinstance(result, Exception) and result.attrs["interrupted"]:
                    interrupted = True
                    break
                failures = sum(isinstance(one, Exception) for one in found)
                line.update(len(found) - failures, failures)
    except KeyboardInterrupt:
        if not found:
            raise
        interrupted = True
    if interrupted:
        message = f"Interrupted after {len(found)} of {len(data)} data sets, the last one in part."
        warnings.warn(message, SamplingWarning, stacklevel=2)
    failed = [i for i, one in enumerate(found) if isinstance(one, Exception)]
    if failed:
        what = f"{len(failed)} of {len(found)} data sets failed; the first is number {failed[0]}"
        message = f"{what}: {reason(found[failed[0]])}"
        warnings.warn(message, SamplingWarning, stacklevel=2)
    return found


def _data_sets(given: Any) -> list[dict[str, Any]]:
    try:
        return [dict(one) for one in given]
    except (TypeError, ValueError) as error:
        raise DataError(
            "infer_many takes a list of data sets, each of them a dict of the data by name; got "
            f"{given!r}: {reason(error)}.",
            given=given,
        ) from error


class _Once:
    """Draws from one posterior; it can be sent to other processes."""

    def __init__(self, model: Any, method: str | Sampler, arguments: dict[str, Any]) -> None:
        self._model, self._method, self._arguments = model, method, arguments

    def __call__(self, given: tuple[dict[str, Any], np.random.SeedSequence]) -> Any:
        data, seed = given
        bound = self._model(**data)
        return infer(bound, self._method, seed=seed, **{**self._arguments, "quiet": True})
