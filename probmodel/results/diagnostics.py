"""What is wrong with a result: every check, in the order in which to act on the findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from probmodel.results import quantity_checks, run_checks
from probmodel.results.angles import check_angle_ends
from probmodel.results.divergences import check_divergences
from probmodel.results.evidence import check_evidence
from probmodel.results.findings import Finding
from probmodel.results.improper import check_improper
from probmodel.results.jumping import check_jumps, jumping
from probmodel.results.modes import check_modes
from probmodel.results.quantities import quantities
from probmodel.results.tails import check_tails
from probmodel.results.unbounded import check_unbounded
from probmodel.types import Array, Posterior

if TYPE_CHECKING:
    from probmodel.inference.request import Request
    from probmodel.inference.sample_run import SampleRun
    from probmodel.samplers.base import Sampler


def diagnose(
    run: SampleRun,
    posterior: Posterior,
    draws: Mapping[str, Array],
    sampler: Sampler,
    request: Request,
) -> list[Finding]:
    """Check a run and its draws.

    Parameters
    ----------
    run : what the driver returned
    posterior : names and labels
    draws : name -> (chains, draws, *shape), the variables that were saved
    sampler : the method with its settings
    request : what was asked of the run

    Returns
    -------
    list of Finding
        Empty if nothing speaks against the result. A symptom that an earlier finding explains is
        left out: chains that are stuck, or fall into an edge, are not reported as separate modes
        too, nor trajectories that diverge as proposals that are not finite.
    """
    findings = run_checks.check_length(run, request)
    if not run.draws_done:
        return findings
    stuck = run_checks.check_stuck(run, sampler)
    unbounded = check_unbounded(run, posterior, draws)
    findings += [*stuck, *unbounded]
    found = quantities(run, posterior, draws, sampler.coupling == "ensemble")
    diverged = check_divergences(run, posterior, draws, found, sampler, request.thin)
    findings += diverged or run_checks.check_not_finite_proposals(run, request.thin)
    findings += run_checks.check_energy(run)
    findings += run_checks.check_warmup(sampler, request)
    findings += run_checks.check_acceptance(run, sampler)
    findings += run_checks.check_remarks(run, sampler)
    findings += check_evidence(run)
    findings += quantity_checks.check_not_finite(found)
    if not unbounded:
        jumps = jumping(run, found, sampler)
        findings += check_jumps(run, posterior, sampler, jumps)
        findings += check_improper(run, posterior, draws, found, bool(jumps.size))
    unclear = bool(stuck or unbounded)
    modes = [] if unclear else check_modes(found, posterior, draws, run.stats.get("lp"))
    findings += modes
    findings += [] if stuck else check_angle_ends(run, posterior, modes)
    if not stuck:
        findings += check_tails(run, found, sampler)
    restarted = len({r.chain for r in run.restarted})
    findings += quantity_checks.check_rhat(found, restarted, bool(modes))
    findings += quantity_checks.check_ess(found, request.draws, bool(modes))
    return findings
