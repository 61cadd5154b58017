"""Finding points to start from, and saying why when there are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.errors import InitializationError
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.density.log_density import LogDensity

RADIUS = 2.0
TRIES = 100


def initial_points(
    density: LogDensity, rng: np.random.Generator, chains: int, inits: Any = None
) -> Array:
    """Return points with a finite log density and gradient, if it has one: (chains, dim).

    Every chain's start is drawn uniformly in (-r, r) in each unconstrained coordinate, or from the
    prior, and drawn again where the log density is not finite; the radius halves every ten tries,
    because models are more often defined near the centre.

    Raises
    ------
    InitializationError
        With the terms of the log density at the last point tried.
    """
    draw = _drawing(density, rng, chains, inits)
    x = draw(0)
    bad = ~_is_finite(density, x)
    for attempt in range(1, TRIES):
        if not bad.any():
            return x
        x[bad] = draw(attempt)[bad]
        bad = ~_is_finite(density, x)
    if not bad.any():
        return x
    where = int(np.argmax(bad))
    raise InitializationError(
        f"no starting point with a finite log density and gradient was found for "
        f"{density.name} ({int(bad.sum())} of {chains} chains, {TRIES} tries each). "
        f"At the last point tried:\n{density.explain(x[where])}\n"
        "Give inits={...} with values where the model is defined, or mend the term that is not "
        "finite.",
        point=x[where],
    )


def _drawing(
    density: LogDensity, rng: np.random.Generator, chains: int, inits: Any
) -> Callable[[int], Array]:
    """Return what draws starting points, given how often it has been tried."""
    if isinstance(inits, str):
        prior_draws = getattr(density, "prior_draws", None)
        if inits != "prior" or prior_draws is None:
            known = "inits='prior' is the only word" if prior_draws else "there is no prior to draw"
            raise InitializationError(f"inits={inits!r}: {known} for {density.name}.", inits=inits)
        return lambda attempt: np.asarray(prior_draws(rng, chains))
    radius, fixed = _read_inits(density, chains, inits)
    return lambda attempt: _draw(density, rng, chains, radius * 0.5 ** (attempt // 10), fixed)


def _read_inits(
    density: LogDensity, chains: int, inits: Any
) -> tuple[float, list[Mapping[str, Any]]]:
    """Return the radius of random starts, and the values given for each chain."""
    if inits is None:
        return RADIUS, [{}] * chains
    if isinstance(inits, Mapping):
        return RADIUS, [inits] * chains
    if isinstance(inits, (int, float, np.number)) and not isinstance(inits, bool):
        if inits < 0 or not np.isfinite(inits):
            raise InitializationError(f"inits={inits} must be zero or a positive radius.")
        return float(inits), [{}] * chains
    if isinstance(inits, Sequence) and all(isinstance(i, Mapping) for i in inits):
        if len(inits) != chains:
            raise InitializationError(
                f"inits lists {len(inits)} starting points for {chains} chains; give one a chain."
            )
        return RADIUS, list(inits)
    raise InitializationError(
        "inits takes 'prior', a radius, a dict of values by parameter, or a list of dicts (one a "
        f"chain); got {type(inits).__name__}.",
        inits=inits,
    )


def _is_finite(density: LogDensity, x: Array) -> Array:
    """Where a chain can start: (chains,)."""
    return np.isfinite(density(x).logp if density.has_gradient else density.log_density(x))


def _draw(
    density: LogDensity,
    rng: np.random.Generator,
    chains: int,
    radius: float,
    fixed: list[Mapping[str, Any]],
) -> Array:
    x = rng.uniform(-1.0, 1.0, (chains, density.dim)) * radius
    for chain, values in enumerate(fixed):
        if values:
            x[chain] = density.unconstrain(dict(values), x[chain])
    return x
