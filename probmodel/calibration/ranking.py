"""Ranks of the true values among thinned draws of one inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from probmodel.density.posterior import ModelDensity
from probmodel.errors import DataError
from probmodel.results.convergence import convergence, ensemble_convergence
from probmodel.results.drawn import Drawn
from probmodel.results.quantities import element_rows
from probmodel.types import Array

LOG_LIKELIHOOD = "log likelihood"  # no name of a declaration has a space
_CHUNK = 1024  # points at which terms are evaluated at a time


class Ranked(NamedTuple):
    """What one inference says of the true values.

    Attributes
    ----------
    ranks : name -> how many thinned draws are below the true value, of the variable's shape
    constant : name -> whether all draws are the true value, of the variable's shape
    ess : the smallest effective sample size of all quantities
    rhat : the largest R-hat
    """

    ranks: dict[str, Array]
    constant: dict[str, Array]
    ess: float
    rhat: float


def rank(drawn: Drawn, truth: Mapping[str, Array], size: int, rng: np.random.Generator) -> Ranked:
    """Rank the true values among ``size`` draws that are evenly spaced along the chains.

    ``truth`` has by name the variables that were kept, and `LOG_LIKELIHOOD` if there is one;
    ``rng`` decides between equal values. Raises a `DataError` if a draw or a true value is not
    finite.
    """
    draws = dict(drawn.draws)
    if LOG_LIKELIHOOD in truth:
        assert isinstance(drawn.posterior, ModelDensity)
        draws[LOG_LIKELIHOOD] = log_likelihood(drawn.posterior, drawn.run.x)
    rows = np.concatenate([element_rows(draws[name]) for name in truth])
    values = np.concatenate([np.reshape(value, -1) for value in truth.values()])
    if not (np.isfinite(rows).all() and np.isfinite(values).all()):
        raise DataError("a draw or a true value is not finite.")
    groups = drawn.run.groups
    ensemble = drawn.sampler.coupling == "ensemble"
    found = ensemble_convergence(rows, groups) if ensemble else convergence(rows)
    thinned = thin(rows.reshape(len(rows), -1), size)
    below = np.sum(thinned < values[:, None], axis=1)
    same = np.sum(thinned == values[:, None], axis=1)
    ranks = below + rng.integers(0, same + 1)
    return Ranked(
        _shaped(ranks, truth),
        _shaped(same == size, truth),
        float(np.nanmin(found.ess_bulk, initial=np.inf)),
        float(np.nanmax(found.rhat, initial=-np.inf)),
    )


def thin(draws: Array, size: int) -> Array:
    """Take ``size`` evenly spaced draws, chain after chain: (rows, n) -> (rows, size)."""
    n = draws.shape[1]
    return draws[:, (np.arange(size) * n) // size]


def log_likelihood(density: ModelDensity, x: Array) -> Array:
    """Return the sum of likelihood and potential terms: (..., dim) -> (...)."""
    flat = x.reshape(-1, density.dim)
    parts = [
        sum(
            value
            for title, value in density.terms(flat[start : start + _CHUNK]).items()
            if title.startswith(("likelihood of ", "potential of "))
        )
        for start in range(0, len(flat), _CHUNK)
    ]
    return np.concatenate(parts).reshape(x.shape[:-1])


def _shaped(flat: Array, truth: Mapping[str, Array]) -> dict[str, Array]:
    """Cut a flat array into the shapes of the variables."""
    sizes: Sequence[int] = [np.size(value) for value in truth.values()]
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    return {
        name: part.reshape(np.shape(value))
        for (name, value), part in zip(truth.items(), parts, strict=True)
    }
