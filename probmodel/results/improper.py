"""Improper posteriors: directions along which the density does not fall off.

    x, g   draws on the unconstrained scale, and their scores       (n, dim)
    u      direction in which the draws vary most                   (dim,)
    t      u'x less its mean, over all chains                       (n,)
    E      mean of t u'g

Integration by parts gives E = -1 for every proper posterior. Where the density does not change
along u, as that of a parameter on which nothing depends, or of the sum of two levels that are told
apart by nothing, chains wander without end, and E is 0. (Modes between which no chain goes do not
change E: the mean score of each is zero.)

It is asked only where R-hat says that chains disagree, as they do on the way: no gradient is
evaluated for the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from probmodel.results.findings import MOST_NAMED, Finding
from probmodel.results.quantities import Quantities
from probmodel.types import Posterior

if TYPE_CHECKING:
    from probmodel.inference.course import SampleRun

_DISAGREE = 1.1  # R-hat from which on it is worth asking
_NEAR = -0.05  # least E of what does not fall off
_LEAST, _ERRORS = -0.5, 3.0  # the same, less so many standard errors
_DRAWS = 50  # of each chain that are looked at
_SHARE = 0.3  # of the largest component of u, from which on a coordinate is named
_FEWEST = 3  # chains, whose means tell the standard error


def check_improper(run: SampleRun, posterior: Posterior, found: Quantities) -> list[Finding]:
    """Look for a direction in which chains wander, and the density does not fall off."""
    x, density = run.x[:, :: -(-run.x.shape[1] // _DRAWS)], run.density
    disagree = np.nan_to_num(found.convergence.rhat, nan=0.0).max(initial=0.0) > _DISAGREE
    if not disagree or len(x) < _FEWEST or not np.isfinite(x).all():
        return []
    if density is None or not density.has_gradient:
        return []
    with np.errstate(all="ignore"):
        moved = x - x.mean(axis=(0, 1))
        largest = np.abs(moved).max()
        if not 0.0 < largest < np.inf:
            return []
        u = np.linalg.svd((moved / largest).reshape(-1, x.shape[2]), full_matrices=False)[2][0]
        score = density(x.reshape(-1, x.shape[2])).grad.reshape(x.shape) @ u
        of_chains = np.mean((moved @ u) * score, axis=1)
        error = np.std(of_chains, ddof=1) / np.sqrt(len(x))
        E = np.mean(of_chains)
        if not (E > _NEAR and E - _ERRORS * error > _LEAST):
            return []
    size = np.abs(u) / np.abs(u).max()
    top = np.argsort(-size, kind="stable")[: min(MOST_NAMED, int(np.sum(size > _SHARE)))]
    names = tuple(posterior.coordinate_names[i] for i in top)
    where = f"along {names[0]}" if len(names) == 1 else f"as {', '.join(names)} move together"
    message = (
        f"The posterior seems to be improper: its density does not fall off {where}, as far as the "
        "chains went. Neither data nor priors bound it there: give a proper prior."
    )
    return [Finding("improper", message, names)]
