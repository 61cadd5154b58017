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
RADII = 10  # the radius halves so often, before it is the first again

Draw = Callable[[int], Array]  # given how often it has been tried


def initial_points(
    density: LogDensity, rng: np.random.Generator, chains: int, inits: Any = None
) -> Array:
    """Return points with a finite log density and gradient, if it has one: (chains, dim).

    They are drawn uniformly in (-r, r) in each unconstrained coordinate, or from the prior. As many
    as there are chains are drawn at a time, and those that will do go to the chains that still lack
    one, until all have one. From draw to draw the radius halves, because models are more often
    defined near the centre; but as some are nowhere defined there, it starts again every ten draws,
    and half of the later draws are from the prior.

    Raises
    ------
    InitializationError
        With the terms of the log density at the last point tried.
    """
    draw, alike = _drawing(density, rng, chains, inits)
    x = draw(0)
    bad = ~_is_finite(density, x)
    for attempt in range(1, TRIES):
        if not bad.any():
            return x
        new = draw(attempt)
        fine, rows = _is_finite(density, new), np.flatnonzero(bad)
        given = np.argsort(~fine, kind="stable")[: len(rows)] if alike else rows
        x[rows], bad[rows] = new[given], ~fine[given]
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
) -> tuple[Draw, bool]:
    """Return what draws starting points, and whether any of them will do for any chain."""
    from_prior = getattr(density, "prior_draws", None)
    if isinstance(inits, str):
        if inits != "prior" or from_prior is None:
            known = "inits='prior' is the only word" if from_prior else "there is no prior to draw"
            raise InitializationError(f"inits={inits!r}: {known} for {density.name}.", inits=inits)
        return lambda attempt: np.asarray(from_prior(rng, chains)), True
    radius, fixed = _read_inits(density, chains, inits)

    def draw(attempt: int) -> Array:
        if inits is None and from_prior is not None and attempt >= TRIES // 2 and attempt % 2 == 0:
            return np.asarray(from_prior(rng, chains))
        return _uniform(density, rng, chains, radius * 0.5 ** (attempt % RADII), fixed)

    return draw, not isinstance(inits, Sequence)


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


def _uniform(
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
