"""Finding points to start from, and saying why when there are none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.constraints import UnitInterval
from probmodel.errors import InitializationError, ProbmodelError
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.density.log_density import LogDensity

RADIUS = 2.0
CANDIDATES = 8  # places of which a chain that may start anywhere gets the best
TRIES = 100
RADII = 10  # the radius halves so often, before it is the first again
BLOCK = 4  # draws from the prior that are made at a time: most of the time goes into the first

Draw = Callable[[int], Array]  # given how often it has been tried


def initial_points(
    density: LogDensity, rng: np.random.Generator, chains: int, inits: Any = None
) -> Array:
    """Return points with a finite log density and gradient, if it has one: (chains, dim).

    Without inits a chain starts at the best of `CANDIDATES` places: half are drawn uniformly in
    (-2, 2) in each unconstrained coordinate, and half from the prior. Where none of these will do,
    more are tried for that chain. The radius halves from draw to draw then, because models are more
    often defined near the centre; but as some are nowhere defined there, it starts again every ten
    draws, and falls faster each time, down to 2^-90: exponentials of inputs in raw units overflow
    but for coefficients near zero. Draws that are no better than what a chain has go to one that
    still lacks a place. Raises an `InitializationError` with the terms of the log density at the
    last point tried.
    """
    draw, alike = _drawing(density, rng, chains, inits), not isinstance(inits, Sequence)
    x = draw(0)
    level = _level(density, x)
    for attempt in range(1, TRIES):
        compared, lacking = inits is None and attempt < CANDIDATES, np.isneginf(level)
        if not (compared or lacking.any()):
            return x
        new = draw(attempt)
        found = _level(density, new)
        if alike:  # those that will do go first to the chains that lack a place
            order = np.argsort(~lacking, kind="stable")
            best = np.argsort(np.isneginf(found), kind="stable")
            new[order], found[order] = new[best], found[best]
        better = (found > level) & (compared | lacking)
        x[better], level[better] = new[better], found[better]
    bad = np.isneginf(level)
    if not bad.any():
        return x
    where = int(np.argmax(bad))
    raise InitializationError(
        f"no starting point with a finite log density and gradient was found for "
        f"{density.name} ({int(bad.sum())} of {chains} chains, {TRIES} tries each). "
        f"At the last point tried:\n{density.explain(x[where])}\n"
        f"{_advice(density)}",
        point=x[where],
    )


def _advice(density: LogDensity) -> str:
    """Say what to do where there is no point to start from."""
    binding = getattr(getattr(density, "model", None), "_binding", None)
    data = {} if binding is None else binding.data
    for name, values in data.items():
        distribution = getattr(binding and binding.declarations[name], "distribution", None)
        if distribution is None or not isinstance(distribution.domain, UnitInterval):
            continue
        ends = int(np.isin(values, (0.0, 1.0)).sum())
        if ends and not distribution.discrete:
            return (
                f"{ends} of {np.size(values)} values of {name} are 0 or 1, where the density of "
                f"{distribution.name} is zero or infinite. Give zeros a probability of their own, "
                f"Hurdle(p, {distribution.name}(...)), and model ones apart; or move all n values "
                f"inside: ({name} * (n - 1) + 0.5) / n."
            )
    return "Give inits={...} with values where the model is defined, or mend what is not finite."


def _drawing(density: LogDensity, rng: np.random.Generator, chains: int, inits: Any) -> Draw:
    """Return what draws starting points."""
    prior = _Prior(density, rng, chains)
    if isinstance(inits, str):
        if inits != "prior" or not prior.known:
            known = "inits='prior' is the only word" if prior.known else "there is no prior to draw"
            raise InitializationError(f"inits={inits!r}: {known} for {density.name}.", inits=inits)
        return lambda attempt: prior.draw()
    radius, fixed = _read_inits(chains, inits)

    def draw(attempt: int) -> Array:
        if inits is None and attempt % 2:
            drawn = prior.draw_if_possible()
            if drawn is not None:
                return drawn
        tried = max(0, attempt - CANDIDATES) if inits is None else attempt
        rounds, halvings = divmod(tried, RADII)
        return _uniform(density, rng, chains, radius * 0.5 ** (halvings * (1 + rounds)), fixed)

    return draw


class _Prior:
    """Draws from the prior, a few at a time.

    Attributes
    ----------
    known : whether there is one
    """

    def __init__(self, density: LogDensity, rng: np.random.Generator, chains: int) -> None:
        self._draws = getattr(density, "prior_draws", None)
        self._rng, self._chains = rng, chains
        self._left: list[Array] = []
        self.known = self._draws is not None

    def draw(self) -> Array:
        """Return a draw for each chain: (chains, dim)."""
        if not self._left:
            assert self._draws is not None
            drawn = np.asarray(self._draws(self._rng, BLOCK * self._chains))
            self._left = np.split(drawn, BLOCK)
        return self._left.pop()

    def draw_if_possible(self) -> Array | None:
        """Return a draw for each chain, or None: there are other places where chains may start."""
        try:
            return self.draw() if self.known else None
        except (ProbmodelError, ArithmeticError, ValueError):
            self.known = False
            return None


def _read_inits(chains: int, inits: Any) -> tuple[float, list[Mapping[str, Any]]]:
    """Return the radius of random starts, and the values given for each chain."""
    if inits is None:
        return RADIUS, [{}] * chains
    if isinstance(inits, Mapping):
        return RADIUS, [inits] * chains
    if isinstance(inits, (int, float, np.number)) and not isinstance(inits, bool):
        if not 0 <= inits < np.inf:
            raise InitializationError(f"inits={inits} must be zero or a positive radius.")
        return float(inits), [{}] * chains
    if isinstance(inits, Sequence) and all(isinstance(i, Mapping) for i in inits):
        if len(inits) != chains:
            raise InitializationError(
                f"inits lists {len(inits)} starting points for {chains} chains; give one a chain."
            )
        return RADIUS, list(inits)
    raise InitializationError(
        "inits takes 'prior', a radius, a dict of values by parameter, a list of dicts (one a "
        f"chain), or a fit; got {type(inits).__name__}.",
        inits=inits,
    )


def _level(density: LogDensity, x: Array) -> Array:
    """Log densities, minus infinity where a chain cannot start: (chains,)."""
    logp = density(x).logp if density.has_gradient else density.log_density(x)
    return np.where(np.isfinite(logp), logp, -np.inf)


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
