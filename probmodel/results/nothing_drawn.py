"""The error of a run that ended before the first draw: how far it was, and where the chains are."""

from __future__ import annotations

from probmodel.errors import SamplerError, TimeLimitError
from probmodel.inference.checkpoint import Checkpoint
from probmodel.inference.progress import Progress
from probmodel.inference.request import Request
from probmodel.inference.sample_run import SampleRun
from probmodel.inference.signals import attempt
from probmodel.results.draws import named_draws
from probmodel.types import Array, Posterior


def nothing_drawn(
    run: SampleRun,
    asked: Request,
    takes_inits: bool,
    progress: Progress | None,
    checkpoint: Checkpoint | None,
) -> BaseException:
    """Make the error of a run that ended before there was anything to keep but places.

    ``takes_inits`` tells whether the method begins where it is told to, ``progress``
    whether a callback ended it, and ``checkpoint`` is what is kept of it.
    """
    inits, _ = attempt(lambda: _as_inits(run.density, run.positions))
    inits = inits if takes_inits else None
    done = f"{run.warmup_done} of {asked.warmup} warm-up iterations, before the first draw"
    advice = " To start from where the chains are now: infer(..., inits=error.inits)."
    advice = advice if inits else ""
    if checkpoint is not None:
        folder = str(checkpoint.folder)
        advice = f" To go on from here: resume({folder!r}), or probmodel resume {folder}."
    if progress is not None and progress.ended:
        found = SamplerError(
            f"callback= returned True after {done}, which ended the run: there is nothing to "
            f"return. Let it wait for draws, status.phase == 'sampling'.{advice}",
            warmup_done=run.warmup_done, inits=inits,
        )  # fmt: skip
        found.inits = inits  # type: ignore[attr-defined]
        return found
    if not run.timed_out:
        error = KeyboardInterrupt()
        error.inits = inits  # type: ignore[attr-defined]
        return error
    return TimeLimitError(
        f"max_time={asked.max_time:g} seconds had passed after {done}. Give more time, or ask for "
        f"a shorter warm-up (warmup=) or fewer chains.{advice}",
        max_time=asked.max_time, warmup_done=run.warmup_done, inits=inits,
    )  # fmt: skip


def _as_inits(posterior: Posterior, x: Array) -> list[dict[str, Array]]:
    """Return positions, (chains, dim), as `infer` takes them: a dict of parameters a chain."""
    names = [variable.name for variable in posterior.variables if variable.kind == "param"]
    values = named_draws(posterior, x[:, None], names)
    return [{name: values[name][chain, 0] for name in names} for chain in range(len(x))]
