"""The evidence of a model, where the method estimates it.

    Z_c    estimate of chain c: the probability of the data, averaged over the prior
    Z      mean of the Z_c where these are unbiased; where they are ratios, exp of the mean log Z_c

Means in the numerator and the denominator of a ratio lower and raise its logarithm by half their
relative variances, which are alike as a rule; whereas the mean of ratios is too large by all the
variance of the denominator, however many chains there are. Ratios that are not finite, or zero,
have no mean logarithm, and are averaged as they are.

The standard error of log Z is that of Z, over Z: chains are independent. It cannot be more than
one, however far they are from each other; so where the logarithms of the Z_c have a larger error,
that is taken, as it is of ratios. It has chains - 1 degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from probmodel.results.findings import Finding
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.inference.sample_run import SampleRun

STATISTIC = "log_evidence"
APART = 1.0  # standard deviation of log Z_c from which on it is not to be trusted


def evidence_attributes(stats: Mapping[str, Array], ratio: bool = False) -> dict[str, float]:
    """Return ``log_evidence`` and ``log_evidence_error``, by the last estimates of the chains.

    The error is NaN for a single chain. Statistics, (chains, draws), without `STATISTIC` have none.
    ``ratio`` tells whether estimates are ratios of means, see `Sampler.evidence_is_ratio`.
    """
    if STATISTIC not in stats or not stats[STATISTIC].shape[1]:
        return {}
    last = np.asarray(stats[STATISTIC][:, -1], dtype=float)
    top = last.max()
    if not np.isfinite(top):
        return {STATISTIC: float(top), f"{STATISTIC}_error": float("nan")}
    if ratio and np.isfinite(last).all():
        error = _spread(last) / np.sqrt(len(last))
        return {STATISTIC: float(last.mean()), f"{STATISTIC}_error": float(error)}
    z = np.exp(last - top)
    spread = np.std(z, ddof=1) if len(z) > 1 else np.nan
    apart = _spread(last)
    error = np.fmax(spread / z.mean(), apart) / np.sqrt(len(z))
    return {STATISTIC: float(top + np.log(z.mean())), f"{STATISTIC}_error": float(error)}


def check_evidence(run: SampleRun) -> list[Finding]:
    """Look for estimates that differ between chains, and for what is no prior of its own."""
    if STATISTIC not in run.stats:
        return []
    last, reasons = run.stats[STATISTIC][:, -1], []
    lost = np.count_nonzero(~np.isfinite(last))
    if lost:
        reasons.append(
            f"the estimates of {lost} of {len(last)} chains are not finite: raise warmup and "
            "draws, or particles"
        )
    elif _spread(last) > APART:
        reasons.append(
            f"the estimates of the chains have a standard deviation of {_spread(last):.2g}: raise "
            "draws, or particles"
        )
    tempering = getattr(run.density, "tempering", None)
    if tempering is not None:
        reasons += tempering.doubts(np.random.default_rng(0))
    if not reasons:
        return []
    return [Finding("evidence", f"The log evidence is in doubt: {'; '.join(reasons)}.")]


def _spread(last: Array) -> float:
    """Return the standard deviation of the logarithms, NaN where there is none."""
    with np.errstate(invalid="ignore"):
        return float(np.std(last, ddof=1)) if len(last) > 1 else np.nan
