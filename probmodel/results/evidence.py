"""The evidence of a model, where the method estimates it.

    Z_c    estimate of chain c: the probability of the data, averaged over the prior
    Z      mean of the Z_c

The standard error of log Z is that of Z, over Z: chains are independent.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from probmodel.types import Array

STATISTIC = "log_evidence"


def evidence_attributes(stats: Mapping[str, Array]) -> dict[str, float]:
    """Return log Z and its standard error, by the last estimates of the chains.

    Parameters
    ----------
    stats : name -> (chains, draws); without `STATISTIC` there are no attributes

    Returns
    -------
    ``log_evidence`` and ``log_evidence_error``; the latter is NaN for a single chain.
    """
    if STATISTIC not in stats or not stats[STATISTIC].shape[1]:
        return {}
    last = np.asarray(stats[STATISTIC][:, -1], dtype=float)
    top = last.max()
    if not np.isfinite(top):
        return {STATISTIC: float(top), f"{STATISTIC}_error": float("nan")}
    z = np.exp(last - top)
    spread = np.std(z, ddof=1) if len(z) > 1 else np.nan
    error = spread / z.mean() / np.sqrt(len(z))
    return {STATISTIC: float(top + np.log(z.mean())), f"{STATISTIC}_error": float(error)}
