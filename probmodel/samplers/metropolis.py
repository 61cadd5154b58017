"""Common parts of Metropolis-Hastings kernels: evaluation, acceptance, and non-finite rows.

A row whose log density or gradient is not finite is marked by ``logp = -inf`` and a zero gradient.
The zero is a mark and not a slope: such a proposal is rejected and kept out of every average of the
adaptation.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeVar

import numpy as np

from probmodel.errors import SamplerError
from probmodel.samplers.base import Info, State
from probmodel.types import Array, LogDensity

DIVERGENCE = -1000.0  # log ratio below which a step counts as out of proportion

StateT = TypeVar("StateT", bound=NamedTuple)


def evaluate(density: LogDensity, x: Array) -> State:
    """State at ``x``: (chains, dim), with rows that are not finite marked."""
    logp, grad = density(x)
    flat = grad.reshape(-1)
    # Sums of squares are finite unless something in them is not (or, harmlessly, they overflow).
    if math.isfinite(float(np.dot(logp, logp)) + float(np.dot(flat, flat))):
        return State(x, logp, grad)
    bad = ~(np.isfinite(logp) & np.isfinite(grad).all(axis=1))
    if bad.any():
        logp = np.where(bad, -np.inf, logp)
        grad = np.where(bad[:, None], 0.0, grad)
    return State(x, logp, grad)


def evaluate_value(density: LogDensity, x: Array) -> State:
    """State at ``x`` for a method without gradients; rows that are not finite are marked."""
    logp = density.log_density(x)
    logp = np.where(np.isfinite(logp), logp, -np.inf)
    return State(x, logp, np.zeros_like(x))


def check_start(sampler: str, state: Any) -> Any:
    """Return a starting state (of any kind) all of whose rows are finite.

    Raises a `SamplerError` if the log density or its gradient is not finite in a row.
    """
    bad = np.flatnonzero(~np.isfinite(state.logp))
    if bad.size:
        raise SamplerError(
            f"{sampler} cannot start where the log density or its gradient is not finite: chain "
            f"{', '.join(map(str, bad[:10]))} of {len(state.logp)}. Start elsewhere (inits=).",
            chains=bad.tolist(), x=state.x[bad],
        )  # fmt: skip
    return state


def select(accepted: Array, new: StateT, old: StateT) -> StateT:
    """Take the rows of ``new`` where ``accepted``, else those of ``old``.

    The first axes of all arrays are those of ``accepted``: (chains,), or others.
    """
    if accepted.all():
        return new
    arrays = [
        np.where(accepted.reshape(*accepted.shape, *(1,) * (a.ndim - accepted.ndim)), a, b)
        for a, b in zip(new, old, strict=True)
    ]
    return type(old)(*arrays)


def placed(whole: StateT, rows: Array, part: StateT) -> StateT:
    """Put some chains in their places: ``rows`` are their numbers, or a mask."""
    arrays = [values.copy() for values in whole]
    for values, new in zip(arrays, part, strict=True):
        values[rows] = new
    return type(whole)(*arrays)


def acceptance(log_ratio: Array) -> Array:
    """Metropolis-Hastings probability; zero where the ratio is not finite.

    A ratio of plus infinity can only come from an invalid evaluation.
    """
    log_ratio = np.where(np.isfinite(log_ratio), log_ratio, -np.inf)
    return np.asarray(np.exp(np.minimum(0.0, log_ratio)))


def decide(
    rng: np.random.Generator, log_ratio: Array, state: Any, proposal: Any, n_grad: int
) -> tuple[Any, Info]:
    """Accept or reject each chain's proposal, by the logarithm of the Metropolis-Hastings ratio.

    One uniform number is drawn per chain, whatever its fate. Both states are of one kind;
    ``n_grad`` are the gradients that the proposal took, per chain.
    """
    log_ratio = np.where(np.isfinite(proposal.logp), log_ratio, -np.inf)
    accept_prob = acceptance(log_ratio)
    accepted = rng.random(len(accept_prob)) < accept_prob
    diverging = ~(log_ratio >= DIVERGENCE)
    gradients = np.full(len(accept_prob), n_grad)
    info = Info(accept_prob, accepted, diverging, gradients, state, proposal, {})
    return select(accepted, proposal, state), info


def adaptable(values: Array, info: Info) -> Array:
    """Entries of ``values``: (chains, ...) whose proposal was finite, for the adaptation.

    If no proposal was finite, one zero is returned: the step is too long for all chains, and a rule
    that never hears of it would stay there.
    """
    finite = np.isfinite(info.proposal.logp)
    return values[finite] if finite.any() else np.zeros_like(values[:1], dtype=float)
