"""How many draws a run lacks, of one whose draws are left to the method.

    n     draws a chain so far           R     largest R-hat
    e     smallest effective size, bulk or tail

The excess of R-hat over 1 and the relative error of a quantile go down as draws are added: the
first by 1 / n, the second so that e goes up by n. So what is missing for R-hat 1.01 and e = 400 can
be told, as long as chains differ by chance alone. Where far more would be needed they do not: modes
lie apart, or the method fails, and more draws are no remedy.

A run that goes on because of an estimate is not stopped where its draws happen to look good: it is
stopped where they were too few, and its draws before and after are kept alike.
"""

from __future__ import annotations

import math

import numpy as np

from probmodel.results.convergence import ESS_LIMIT, RHAT_LIMIT, screened, screening_stride
from probmodel.types import Array

MARGIN = 1.2  # more than the estimates ask for, as these are uncertain
_SUSPECTS = 8  # coordinates that are looked at closely, by each of two simple measures
_LEAST = 4  # draws that R-hat takes
_MOST_NUMBERS = 1 << 27  # in all draws of a run that goes on: 1 GB
_ENOUGH_DRAWS = 250  # of a chain, that tell which coordinates are suspect


def missing_draws(x: Array, most: int) -> int:
    """Return how many more draws a chain takes for the chains to have converged.

    Parameters
    ----------
    x : (chains, draws, dim), what has been drawn
    most : draws a chain that there may be in the end

    Returns
    -------
    int
        0 if they have, or if no number up to ``most`` that fits in the memory would do
    """
    chains, draws, dim = x.shape
    most = min(most, _MOST_NUMBERS // max(1, chains * dim))
    if draws < _LEAST or most <= draws:
        return 0
    worst = suspects(x)
    found = screened(np.moveaxis(x[:, :, worst], 2, 0), screening_stride(chains, draws))
    excess = float(np.max(found.rhat, initial=1.0)) - 1.0
    ess = float(np.min([found.ess_bulk, found.ess_tail], initial=math.inf))
    factor = max(excess / (RHAT_LIMIT - 1.0), ESS_LIMIT / max(ess, 1e-300))
    if not 1.0 < factor <= most / draws:  # nor if it is NaN
        return 0
    return min(math.ceil(draws * factor * MARGIN), most) - draws


def suspects(x: Array) -> Array:
    """Return the coordinates in whose means, or spreads, halves of chains differ most: (k,).

    Of many draws every so many are looked at.
    """
    x = x[:, :: max(1, x.shape[1] // _ENOUGH_DRAWS)]
    with np.errstate(all="ignore"):
        spreads = np.abs(x - x.mean(axis=(0, 1)))
    parts = (_disagreement(x), _disagreement(spreads))
    order = [np.argsort(-part, kind="stable")[:_SUSPECTS] for part in parts]
    return np.unique(np.concatenate(order))


def _disagreement(x: Array) -> Array:
    """Variance of the means of half chains, in units of that within them: (coordinates,)."""
    half = x.shape[1] // 2
    parts = np.concatenate([x[:, :half], x[:, half : 2 * half]])
    with np.errstate(all="ignore"):
        ratio = parts.mean(axis=1).var(axis=0) / parts.var(axis=1).mean(axis=0)
    return np.nan_to_num(ratio, nan=0.0, posinf=np.inf)
