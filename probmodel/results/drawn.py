"""From what the driver returned to the ArviZ object. No step on the way loses the draws.

Every step may fail or be interrupted. What can be done without is attempted, and a finding says
what is missing: first the deterministic quantities, then the diagnostics. The rest was rehearsed
before the run began, and signals are held back from it by whoever calls.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probmodel.density import LogDensity
from probmodel.density.posterior import ModelDensity
from probmodel.errors import reason
from probmodel.inference.checkpoint import Checkpoint
from probmodel.inference.encoding import EncodingError, packed
from probmodel.inference.request import Request, described
from probmodel.inference.sample_run import SampleRun, array_in_memory
from probmodel.inference.signals import attempt
from probmodel.model.lints import mistakes
from probmodel.results.arviz_object import arviz_object
from probmodel.results.attributes import findings_json, run_attributes
from probmodel.results.diagnostics import diagnose
from probmodel.results.draws import Kept, kept_draws
from probmodel.results.enough import Enough
from probmodel.results.findings import Finding
from probmodel.results.run_checks import check_length
from probmodel.samplers.base import Sampler
from probmodel.types import Array


class Drawn(NamedTuple):
    """A run with its draws and what was found about them, before the ArviZ object is made.

    Attributes
    ----------
    run : what the driver returned
    posterior : the density that was sampled
    names : the variables that were to be kept
    draws, warmup_draws : name -> (chains, draws, *shape), those that could be computed; no warm-up
        where it was not saved
    sampler, request : the method with its settings, and the sizes of the run
    findings : reasons not to trust the draws
    interrupted : whether the run, or a step after it, was interrupted
    """

    run: SampleRun
    posterior: LogDensity
    names: tuple[str, ...]
    draws: dict[str, Array]
    warmup_draws: dict[str, Array]
    sampler: Sampler
    request: Request
    findings: list[Finding]
    interrupted: bool


def drawn_from(
    run: SampleRun,
    names: tuple[str, ...],
    sampler: Sampler,
    request: Request,
    enough: Enough,
    checkpoint: Checkpoint | None = None,
    before: dict[str, Array] | None = None,
) -> Drawn:
    """Compute the variables and diagnose them.

    Where the run has a checkpoint, variables are kept in files, too. ``before`` are those of the
    first draws, which are known already.
    """
    posterior = run.density
    allocate = array_in_memory if checkpoint is None else checkpoint.allocate
    known = len(next(iter(before.values()))[0]) if before else 0
    kept, warmup = kept_draws(posterior, run.x[:, known:], names, allocate), Kept({}, [], False)
    if before:
        both = {k: np.concatenate([before[k], new], axis=1) for k, new in kept.draws.items()}
        kept = kept._replace(draws=both)
    if run.warmup_x is not None:
        warmup = kept_draws(posterior, run.warmup_x, names)
    findings = kept.findings + [f for f in warmup.findings if f not in kept.findings]
    found, error = attempt(
        lambda: [
            *_mistakes(posterior),
            *enough.shortfall(posterior, run.x, run.groups),
            *diagnose(run, posterior, kept.draws, sampler, request),
        ]
    )
    findings += found or []
    if checkpoint is not None and checkpoint.failure is not None:
        findings.append(_not_kept(str(checkpoint.folder), checkpoint.failure))
    if error is not None:
        findings += [*check_length(run, request), _unchecked(error)]
    stopped = isinstance(error, KeyboardInterrupt)
    return Drawn(
        run, posterior, names, kept.draws, warmup.draws, sampler, request, findings,
        interrupted=run.interrupted or kept.interrupted or warmup.interrupted or stopped,
    )  # fmt: skip


def _mistakes(posterior: LogDensity) -> list[Finding]:
    """Look for what makes a result answer another question than was meant, however well it ran."""
    if not isinstance(posterior, ModelDensity):
        return []
    return [
        Finding(advice.kind.replace(" ", "_"), f"{advice}", (advice.declaration,))
        for advice in mistakes(posterior.model)
    ]


def callback_failed(error: Exception) -> Finding:
    """Say that the user's callback raised."""
    message = (
        f"callback= raised {reason(error)}, and was not called any more; the draws are complete."
    )
    return Finding("callback", message)


def _not_kept(folder: str, failure: Exception) -> Finding:
    message = (
        f"The run ended because its checkpoint {folder!r} could not be written "
        f"({reason(failure)}). The result holds the draws made until then. Once this is "
        f"solved, resume({folder!r}) continues from the last state that was written."
    )
    return Finding("checkpoint", message)


def _unchecked(error: BaseException) -> Finding:
    rest = "unchecked: look at arviz.summary and the trace plots."
    if isinstance(error, KeyboardInterrupt):
        message = f"The diagnostics were interrupted and skipped. The draws are complete but {rest}"
        return Finding("diagnostics_skipped", message)
    message = f"The diagnostics failed ({reason(error)}). The draws are complete but {rest}"
    return Finding("diagnostics_failed", message)


def result_of(drawn: Drawn) -> Any:
    """Make the ArviZ object."""
    attributes = run_attributes(drawn.request, drawn.sampler, drawn.run, drawn.findings)
    attributes["interrupted"] = int(drawn.interrupted)
    parameters = {v.name for v in drawn.posterior.variables if v.kind == "param"}
    lost = parameters & set(drawn.names) - drawn.draws.keys()
    return arviz_object(
        drawn.run, drawn.posterior, drawn.draws, attributes, drawn.warmup_draws or None,
        unconstrained=bool(lost), state=_state(drawn),
    )  # fmt: skip


def _state(drawn: Drawn) -> bytes | None:
    """Return what `extend` needs to go on, if the run can be gone on with."""
    run, request = drawn.run, drawn.request
    if run.snapshot is None:
        return None
    counts = {record["draw"]["count"] for record in run.snapshot["records"]}
    if len(counts) > 1 or not 0 < max(counts) <= run.draws_done:
        return None
    try:
        about = described(drawn.sampler, request, request)
        return packed({"snapshot": run.snapshot, **about})
    except EncodingError:  # a setting that is a function
        return None


def mark_interrupted(result: Any, findings: list[Finding]) -> None:
    """Say in a result that signals came when nothing could be left out any more."""
    if not result.attrs["interrupted"]:
        findings.append(Finding("interrupted", "Interrupted after the last draw: nothing is lost."))
        result.attrs.update(interrupted=1, warnings=findings_json(findings))
