"""Improper posteriors: directions along which the density does not fall off.

    x, g   draws on the unconstrained scale, and their scores       (n, dim)
    u      direction in which the draws vary most                   (dim,)
    t      u'x less its mean, over all chains                       (n,)
    E      mean of t u'g

Integration by parts gives E = -1 for every proper posterior. Where the density does not change
along u, as that of a parameter on which nothing depends, or of the sum of two levels that are told
apart by nothing, chains wander without end, and E is 0. (Modes between which no chain goes do not
change E: the mean score of each is zero.)

Far out, where x is as large as 1e8, scores along u may be errors of rounding, which t makes large.
They are larger than 1 over the spread of t then, though the density does not change over it.

The density need not be level for ever. A proper posterior may lie so far away that chains have seen
nothing of it: where they climb far from their last draws, see `adaptation.ascent`, that is told.

It is asked only where R-hat says that chains disagree, as they do on the way: no gradient is
evaluated for the others. Across jumps the identity does not hold. Coordinates that are moved by
themselves, see `samplers.hamiltonian.within_gibbs`, have long steps where nothing holds them, and
their chains agree. Of these the log density is asked `FAR` times as far out as they have been: that
of a proper posterior falls off by more than the logarithm of the distance. And whatever is moved
how, parameters as large as `ENDLESS` are held by nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.adaptation.ascent import climb
from probmodel.results.draws import coordinate_labels, element_labels
from probmodel.results.findings import MOST_NAMED, Finding
from probmodel.results.quantities import Quantities
from probmodel.types import Array, LogDensity, Posterior

if TYPE_CHECKING:
    from probmodel.inference.sample_run import SampleRun

_DISAGREE = 1.1  # R-hat from which on it is worth asking
_NEAR = -0.05  # least E of what does not fall off
_LEAST, _ERRORS = -0.5, 3.0  # the same, less so many standard errors
_DRAWS = 50  # of each chain that are looked at
_SHARE = 0.3  # of the largest component of u, from which on a coordinate is named
_FEWEST = 3  # chains, whose means tell the standard error
FAR = 1e3  # times the spread of the draws, and so many times farther
CLIMB, SMALL = 150, 0.1  # trial points of a climb, and the gain of a small step
LOW = 10.0  # nats below the last draws, that do not matter
ENDLESS = 1e100


def check_improper(
    run: SampleRun, posterior: Posterior, draws: Mapping[str, Array], found: Quantities, jumps: bool
) -> list[Finding]:
    """Look for a direction in which the density does not fall off; ``jumps`` says if it jumps."""
    names, away = _endless(posterior, draws) or _level(run, posterior), False
    if not names and not jumps:
        names, away = _wandering(run, posterior, found)
    if not names:
        return []
    if away:
        return [_far_away(names)]
    where = f"along {names[0]}" if len(names) == 1 else f"as {', '.join(names)} move together"
    message = (
        f"The posterior seems to be improper: its density does not fall off {where}, as far as the "
        "chains went. Neither data nor priors bound it there: give a proper prior."
    )
    return [Finding("improper", message, names)]


def _far_away(names: tuple[str, ...]) -> Finding:
    """Tell that the chains did not come to the bulk."""
    where = f"along {names[0]}" if len(names) == 1 else f"as {', '.join(names)} move together"
    message = (
        f"The chains did not arrive at the posterior: far from them, {where}, its density is "
        "higher. They cannot go that far, because the scales of the parameters differ too much. "
        "Standardise data that are large or small numbers, centre inputs such as years or dates, "
        "or give inits."
    )
    return Finding("far_away", message, names)


def _endless(posterior: Posterior, draws: Mapping[str, Array]) -> tuple[str, ...]:
    """Return the first parameter that has become so large that nothing can hold it."""
    for variable in posterior.variables:
        if variable.kind == "param" and variable.name in draws:
            values = np.abs(draws[variable.name]).max(axis=(0, 1), initial=0.0).ravel()
            large = (values > ENDLESS) & (values < np.inf)
            if large.any():
                return (element_labels(variable, posterior.coords)[int(np.argmax(large))],)
    return ()


def _level(run: SampleRun, posterior: Posterior) -> tuple[str, ...]:
    """Return a coordinate that was moved by itself, and along which the density stays level."""
    apart = [getattr(params, "gibbs", None) for params in run.params]
    coordinates = sorted({int(j) for gibbs in apart if gibbs for j in gibbs.coordinates})
    last, density = run.x[:, -1], run.density
    if density is None or not np.isfinite(last).all():
        return ()
    with np.errstate(all="ignore"):
        here = density.log_density(last) if coordinates else np.zeros(0)
        for j in coordinates:
            spread = np.ptp(np.quantile(run.x[:, :, j], [0.25, 0.75]))
            for side in (-1.0, 1.0):
                far, farther = (last.copy() for _ in range(2))
                far[:, j] += side * FAR * spread
                farther[:, j] += side * FAR * FAR * spread
                f, g = density.log_density(far), density.log_density(farther)
                if ((f > here - LOW) & (g > f - np.log(FAR)) & np.isfinite(g)).any() and spread:
                    return coordinate_labels(posterior, [j])
    return ()


def _only_rounded(density: Any, x: Array, u: Array, score: Array) -> bool:
    """Whether scores along u are errors of rounding: as far as draws lie, the density is level."""
    spread = np.std(x @ u)
    if not np.median(np.abs(score)) * spread > 1.0:
        return False
    points = x.reshape(-1, x.shape[2])
    here = density.log_density(points)
    sides = (density.log_density(points + step * u) - here for step in (-spread, spread))
    return all(abs(np.median(gained)) < -_NEAR for gained in sides)


def _gradients(density: LogDensity, x: Array) -> Array:
    """Return gradients at draws, (chains, draws, dim).

    Machine code is made for as many chains as a run has. It takes one draw of each at a time, as
    code for all draws at once would have to be made for this alone.
    """
    if getattr(density, "engine", "numpy") == "numpy":
        return density(x.reshape(-1, x.shape[2])).grad.reshape(x.shape)
    return np.stack([density(x[:, k]).grad for k in range(x.shape[1])], axis=1)


def _higher_elsewhere(density: Any, x: Array) -> bool:
    """Whether chains climb far from where they ended, (chains, dim)."""
    here = density.log_density(x)
    *_, there = climb(density, x, np.random.default_rng(0), CLIMB, SMALL)
    return bool(np.median(density.log_density(there) - here) > LOW + x.shape[1])


def _wandering(
    run: SampleRun, posterior: Posterior, found: Quantities
) -> tuple[tuple[str, ...], bool]:
    """Return the coordinates of the direction in which chains wander and E is 0.

    With them whether the density is much higher elsewhere.
    """
    x, density = run.x[:, :: -(-run.x.shape[1] // _DRAWS)], run.density
    disagree = np.nan_to_num(found.convergence.rhat, nan=0.0).max(initial=0.0) > _DISAGREE
    if not disagree or len(x) < _FEWEST or not np.isfinite(x).all():
        return (), False
    if density is None or not density.has_gradient:
        return (), False
    with np.errstate(all="ignore"):
        moved = x - x.mean(axis=(0, 1))
        largest = np.abs(moved).max()
        if not 0.0 < largest < np.inf:
            return (), False
        u = np.linalg.svd((moved / largest).reshape(-1, x.shape[2]), full_matrices=False)[2][0]
        score = _gradients(density, x) @ u
        of_chains = np.mean((moved @ u) * score, axis=1)
        error = np.std(of_chains, ddof=1) / np.sqrt(len(x))
        E = np.mean(of_chains)
        told = E > _NEAR and E - _ERRORS * error > _LEAST
        if not told and not _only_rounded(density, x, u, score):
            return (), False
        away = _higher_elsewhere(density, x[:, -1])
    size = np.abs(u) / np.abs(u).max()
    top = np.argsort(-size, kind="stable")[: min(MOST_NAMED, int(np.sum(size > _SHARE)))]
    return coordinate_labels(posterior, top), away
