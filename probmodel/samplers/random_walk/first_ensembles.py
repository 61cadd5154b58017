"""Initial ensembles of a sampler with several points a chain.

    x       starting point of each chain, the centre of its ensemble       (chains, dim)
    N       points of one ensemble
    q_0     scale of the first ensembles                                   ()
    H       Hessian of the log density at a mode                           (chains, dim, dim)

    "normal"    N(x, q_0^2 I), with q_0 = 3 unless given: wide rather than narrow
    "prior"     draws from the prior of a model
    "mode"      N(mode, -q_0^2 H^-1), with q_0 = 1 unless given, at the mode that Newton's method
                finds from x; it suits parameters of any scale

First points without a density are drawn anew, nearer to the centre.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np

from probmodel.adaptation.mode import Mode, find_mode
from probmodel.errors import SamplerError
from probmodel.samplers.base import State
from probmodel.samplers.metropolis import check_start, evaluate_value
from probmodel.types import Array, CurvedLogDensity, LogDensity

Start = Literal["normal", "prior", "mode"]
Shape = tuple[int, int, int]

TRIES = 100  # draws of a first point
HALVE = 10  # tries after which they come from half as far
BLOCK = 256  # first points evaluated at a time
WIDE = 3.0  # q_0 around starting points, which are within 2 of zero unless given


class Source(NamedTuple):
    """Centres of the first ensembles, (chains, dim), and what draws offsets: (chains, N, dim).

    All chains take part in every draw, so that what one gets does not depend on the others.
    """

    centre: Array
    draw: Callable[[], Array]


def find_source(
    sampler: str,
    rng: np.random.Generator,
    density: LogDensity,
    x: Array,
    shape: Shape,
    start: Start | None,
    scale: float | None,
) -> Source:
    """Where the points of first ensembles come from.

    Parameters
    ----------
    sampler : its name, for messages
    rng : all randomness
    density : the target
    x : (chains, dim)
    shape : (chains, N, dim)
    start : None for the mode where there is one, else "normal"
    scale : q_0, or None

    Raises
    ------
    SamplerError
        If ``start`` asks for something that the density does not offer.
    """
    if start == "prior":
        return Source(x, _prior_offsets(sampler, rng, density, x, shape))
    has_hessian = getattr(density, "has_gradient", True) and isinstance(density, CurvedLogDensity)
    if start == "normal" or (start is None and not has_hessian):
        return Source(x, lambda: (scale or WIDE) * rng.standard_normal(shape))
    if not has_hessian:
        raise SamplerError(
            f'{sampler}: start="mode" needs the gradient and the Hessian of the log density, and '
            f'{_name(density)} does not offer them. Use start="normal".',
            setting="start",
        )
    mode = find_mode(density, x)
    if start == "mode":
        _check_found(sampler, mode)
    found = mode.found[:, None]
    across = np.where(
        found[:, :, None],
        (scale or 1.0) * np.swapaxes(mode.root, 1, 2),
        (scale or WIDE) * np.eye(shape[2]),
    )
    return Source(np.where(found, mode.x, x), lambda: rng.standard_normal(shape) @ across)


def _check_found(sampler: str, mode: Mode) -> None:
    """Raise SamplerError if a climb ended at no mode."""
    lost = np.flatnonzero(~mode.found)
    if lost.size:
        raise SamplerError(
            f'{sampler}: start="mode": Newton\'s method found no mode from the starting point of '
            f"chain {', '.join(map(str, lost[:10]))} of {len(mode.x)}; the log density may be flat "
            'or unbounded. Start elsewhere (inits=), or use start="normal".',
            chains=lost.tolist(), x=mode.x[lost],
        )  # fmt: skip


def _prior_offsets(
    sampler: str, rng: np.random.Generator, density: Any, x: Array, shape: Shape
) -> Callable[[], Array]:
    """Return what draws from the prior, as offsets from the starting points."""
    prior_draws = getattr(density, "prior_draws", None)
    if prior_draws is None:
        raise SamplerError(
            f'{sampler}: start="prior" needs a model; {_name(density)} has no prior to draw from. '
            'Use start="normal" or "mode".',
            setting="start",
        )
    return lambda: prior_draws(rng, shape[0] * shape[1]).reshape(shape) - x[:, None]


def draw_ensembles(
    sampler: str, density: LogDensity, source: Source, shape: Shape
) -> tuple[Array, Array]:
    """Draw first ensembles, and their log densities: (chains, N, dim) and (chains, N).

    Raises a `SamplerError` if the log density of a point is not finite however near to its centre.
    """
    points = np.empty(shape)
    log_densities = np.full(shape[:2], -np.inf)
    for attempt in range(TRIES):
        bad = ~np.isfinite(log_densities)
        if not bad.any():
            return points, log_densities
        candidates = source.centre[:, None] + 0.5 ** (attempt // HALVE) * source.draw()
        points[bad] = candidates[bad]
        log_densities[bad] = _evaluate_all(density, points[bad])
    check_start(sampler, State(source.centre, log_densities.min(axis=1), source.centre))
    return points, log_densities


def given_ensembles(
    sampler: str, density: LogDensity, x: Array, shape: Shape
) -> tuple[Array, Array]:
    """Ensembles that were given, and their log densities: (chains, N, dim) and (chains, N).

    Raises a `SamplerError` if they have another shape, or the log density of a point is not finite.
    """
    if x.shape != shape:
        raise SamplerError(
            f"{sampler}: each chain starts from {shape[1]} points; got starting points of shape "
            f"{x.shape}, expected {shape}.",
            shape=x.shape, expected=shape,
        )  # fmt: skip
    points = np.array(x, dtype=float)
    log_densities = _evaluate_all(density, points.reshape(-1, shape[2])).reshape(shape[:2])
    worst = np.argmin(log_densities, axis=1)
    chain = np.arange(shape[0])
    check_start(sampler, State(points[chain, worst], log_densities[chain, worst], points[:, 0]))
    return points, log_densities


def _evaluate_all(density: LogDensity, x: Array) -> Array:
    """Log densities of many points, a block at a time: (n, dim) -> (n,)."""
    blocks = np.array_split(x, -(-len(x) // BLOCK))
    return np.concatenate([evaluate_value(density, block).logp for block in blocks])


def _name(density: Any) -> str:
    return str(getattr(density, "name", "this density"))
