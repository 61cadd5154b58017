"""Checks of a run as a whole: its length, its moves and its warm-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probmodel.errors import beyond
from probmodel.results.findings import MOST_NAMED, Finding, share
from probmodel.results.hierarchy_advice import hierarchy_advice
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.inference.request import Request
    from probmodel.inference.sample_run import SampleRun
    from probmodel.samplers.base import Sampler

_FEW_DRAWS = 100
_STUCK = 0.01  # share of moves below which a chain counts as stuck
_NOT_FINITE = 0.01  # share of proposals
_LEAST_BFMI = 0.3  # as Stan
_DRIFT = 0.15  # change of the mean acceptance between the halves of sampling
_DRIFT_DRAWS = 400  # fewer draws in all do not tell a drift from chance


def check_length(run: SampleRun, request: Request) -> list[Finding]:
    """Look for an early end, too few chains, too few draws."""
    findings = []
    if run.interrupted:
        findings.append(Finding("interrupted", f"Interrupted {_end(run, request)}"))
    if run.timed_out:
        limit = f"The time limit of {request.max_time:g} s ended the run {_end(run, request)}"
        findings.append(Finding("time_limit", limit))
    if run.lost:
        findings.append(_lost(run))
    if not run.draws_done:
        return findings
    if request.chains < 2:
        message = (
            "Only one chain: R-hat cannot be computed, and a chain that missed part of the "
            "posterior would go unnoticed. Run at least 2, better 4 (chains=4)."
        )
        findings.append(Finding("one_chain", message))
    if run.draws_done < _FEW_DRAWS:
        some = "1 draw" if run.draws_done == 1 else f"{run.draws_done} draws"
        message = (
            f"Only {some} per chain: too few for reliable diagnostics. "
            f"Run at least {_FEW_DRAWS}, better 1000 (draws=1000)."
        )
        findings.append(Finding("few_draws", message))
    return findings


def _lost(run: SampleRun) -> Finding:
    chains = sorted(chain for rows in run.lost for chain in rows)
    whys = "; ".join(dict.fromkeys(run.lost.values()))
    what = f"Workers of executor= were lost ({whys}), and with them the chains "
    numbers = ", ".join(map(str, chains))
    if run.snapshot is None:
        return Finding("lost_workers", f"{what}{numbers}. The others are complete.")
    message = f"Workers of executor= were lost ({whys}), all of them, which ended the run."
    return Finding("lost_workers", f"{message} The result has what was drawn until then.")


def _end(run: SampleRun, request: Request) -> str:
    if not run.draws_done:
        return (
            f"in warm-up, after {run.warmup_done} of {request.warmup} iterations: there are no "
            "draws, only the warm-up that was asked to be saved."
        )
    if run.draws_done == request.draws:
        return "after the last draw: the result holds them all."
    return (
        f"after {run.draws_done} of {request.draws} draws per chain: the result holds those. They "
        "are valid draws, only fewer than were asked for."
    )


def stuck_chains(x: Array, least: float = _STUCK) -> Array:
    """Which chains moved in less than that share of draws: (chains, draws, dim) -> (chains,)."""
    if x.shape[1] < 2:
        return np.zeros(len(x), dtype=bool)
    moved = [np.mean((chain[1:] != chain[:-1]).any(axis=1)) for chain in x]
    return np.array(moved) < least


def check_stuck(run: SampleRun, sampler: Sampler) -> list[Finding]:
    """Look for chains that never or hardly moved.

    In an ensemble one member may move at a time, so each is asked for its part only.
    """
    members = len(run.x) // run.groups if sampler.coupling == "ensemble" else 1
    stuck = stuck_chains(run.x, _STUCK / members)
    if not stuck.any():
        return []
    numbers = ", ".join(str(c) for c in np.flatnonzero(stuck)[:10])
    more = ", ..." if stuck.sum() > 10 else ""
    message = (
        f"{int(stuck.sum())} of {len(stuck)} chains hardly moved (chain {numbers}{more}): fewer "
        "than 1 % of their moves were accepted. Their draws say nothing about the posterior: "
        "raise warmup, start elsewhere (inits=), or lower the step size."
    )
    return [Finding("stuck_chains", message)]


def check_not_finite_proposals(run: SampleRun, thin: int) -> list[Finding]:
    """Look for proposals at which the log density or its gradient was not finite."""
    proposals = run.x.shape[0] * run.draws_done * thin
    if run.nonfinite <= _NOT_FINITE * proposals:
        return []
    message = (
        f"The log density or its gradient was not finite at {share(run.nonfinite, proposals)} of "
        "the proposals while sampling. They were rejected, which is valid but may keep the chains "
        "out of a region: look for overflow (exp of a large number), log or sqrt of a negative "
        "number, also in the branch of np.where that is not taken, or missing bounds."
    )
    return [Finding("not_finite_proposals", message)]


def bfmi(energy: Array) -> Array:
    """Estimated Bayesian fraction of missing information: (chains, draws) -> (chains,).

    Betancourt (2016), "Diagnosing suboptimal cotangent disintegrations in Hamiltonian Monte Carlo".
    NaN for a chain whose energy is constant or not finite.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        changes = np.mean(np.square(np.diff(energy, axis=1)), axis=1)
        return np.asarray(changes / np.var(energy, axis=1, ddof=1))


def check_energy(run: SampleRun) -> list[Finding]:
    """Look for chains whose energy changes too little from one trajectory to the next."""
    energy = run.stats.get("energy")
    if energy is None or run.draws_done < _FEW_DRAWS:
        return []
    fractions = bfmi(energy)
    low = np.flatnonzero(fractions < _LEAST_BFMI)
    if not low.size:
        return []
    what = ", ".join(
        f"{beyond(fractions[c], _LEAST_BFMI, 2)} in chain {c}" for c in low[:MOST_NAMED]
    )
    more = f" and {len(low) - MOST_NAMED} more" if len(low) > MOST_NAMED else ""
    tries = [hierarchy_advice(run), "give scales and heavy tails a more informative prior"]
    tries.append("or raise draws.")
    advice = ", ".join(part for part in tries if part)
    message = (
        f"E-BFMI below {_LEAST_BFMI} ({what}{more}): the energy changes too slowly from draw to "
        f"draw, and the tails of the posterior may be missed. {advice[0].upper()}{advice[1:]}"
    )
    return [Finding("energy", message)]


def check_acceptance(run: SampleRun, sampler: Sampler) -> list[Finding]:
    """Look for an acceptance far from the target, or changing, once the step size is frozen."""
    rate = run.stats.get("acceptance_rate")
    if rate is None or not np.size(rate) or not np.isfinite(rate).all():
        return []
    target = sampler.aim
    mean = float(np.mean(rate))
    half = rate.shape[1] // 2
    floor = bool(getattr(sampler, "target_is_floor", False))
    most = 1.0 if floor or target is None else target + 0.8 * (1.0 - target)
    if target is not None and not 0.5 * target <= mean <= most:
        message = (
            f"The acceptance rate while sampling was {mean:.2f}, far from its target "
            f"{target:.2f}: the warm-up did not find the right step size. Raise warmup."
        )
        return [Finding("acceptance", message)]
    if np.size(rate) < _DRIFT_DRAWS or half == 0 or getattr(sampler, "adapts_forever", False):
        return []
    first, second = (float(np.mean(part)) for part in (rate[:, :half], rate[:, half:]))
    if abs(first - second) > _DRIFT:
        message = (
            f"The acceptance rate changed from {first:.2f} in the first half of sampling to "
            f"{second:.2f} in the second: the chains had not reached the posterior when sampling "
            "began. Raise warmup."
        )
        return [Finding("acceptance_drift", message)]
    return []


def check_warmup(sampler: Sampler, request: Request) -> list[Finding]:
    """Look for a warm-up that ended before the method began to learn."""
    initial = getattr(sampler, "initial_steps", None)
    if initial is None or request.warmup > initial:
        return []
    message = (
        f"The warm-up of {request.warmup} iterations ended before {sampler.name} learned the shape "
        f"of the posterior, which it does after the first {initial}: raise warmup well beyond "
        f"{initial}, or lower initial_steps."
    )
    return [Finding("short_warmup", message)]


def check_remarks(run: SampleRun, sampler: Sampler) -> list[Finding]:
    """Ask the sampler itself, group by group; what several groups say is reported once."""
    found: dict[str, Finding] = {}
    for chains, params in zip(
        np.array_split(np.arange(len(run.x)), run.groups), run.params, strict=True
    ):
        stats = {name: column[chains] for name, column in run.stats.items()}
        for remark in sampler.remarks(params, stats):
            found.setdefault(remark.kind, Finding(remark.kind, remark.message))
    return list(found.values())
