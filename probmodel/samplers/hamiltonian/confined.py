"""A log density confined to a ball or a box of the unconstrained space.

The proofs of methods that adapt for ever require a compact state space. Outside the region the log
density is minus infinity, so that a trajectory which leaves it ends there and is rejected.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probmodel.errors import SamplerError
from probmodel.samplers.settings import check_number, must_be
from probmodel.types import Array, Dynamics, Evaluation, LogDensity

Bounds = float | tuple[Any, Any]


class Region(NamedTuple):
    """A ball around the origin, or a box.

    Attributes
    ----------
    radius : of the ball; None for a box
    lower, upper : limits of the box, () or (dim,); infinite for a ball
    """

    radius: float | None
    lower: Array
    upper: Array

    def contains(self, x: Array) -> Array:
        """Which rows lie in it: (chains, dim) -> (chains,)."""
        if self.radius is not None:
            with np.errstate(over="ignore"):
                return np.asarray(np.einsum("ij,ij->i", x, x) <= self.radius**2)
        return np.asarray(((x >= self.lower) & (x <= self.upper)).all(axis=1))

    def check_starts(self, sampler: str, x: Array) -> None:
        """Raise SamplerError unless all starting points, (chains, dim), lie in it."""
        if self.lower.ndim and len(self.lower) != x.shape[1]:
            raise SamplerError(
                f"{sampler}: bounds have {len(self.lower)} limits, and there are {x.shape[1]} "
                "unconstrained parameters. Give one lower and one upper limit for each, or two "
                "numbers for all.",
                setting="bounds", dim=x.shape[1],
            )  # fmt: skip
        outside = np.flatnonzero(~self.contains(x))
        if outside.size:
            raise SamplerError(
                f"{sampler} cannot start outside its bounds: chain "
                f"{', '.join(map(str, outside[:10]))} of {len(x)}. Widen them, or start elsewhere "
                "(inits=).",
                setting="bounds", chains=outside.tolist(), x=x[outside],
            )  # fmt: skip


class Confined:
    """A log density that is minus infinity outside a region, and unchanged inside.

    Parameters
    ----------
    density : the target
    region : where it is kept
    """

    def __init__(self, density: LogDensity, region: Region) -> None:
        self._density, self._region = density, region
        self.dim = density.dim
        self.coordinate_names = getattr(density, "coordinate_names", ())

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient at ``x``: (chains, dim)."""
        logp, grad = self._density(x)
        return Evaluation(np.where(self._region.contains(x), logp, -np.inf), grad)

    def log_density(self, x: Array) -> Array:
        """Log density alone at ``x``: (chains, dim) -> (chains,)."""
        return np.where(self._region.contains(x), self._density.log_density(x), -np.inf)

    def simulate_dynamics(self, dynamics: Dynamics) -> None:
        """Do none, so that the caller takes the steps: machine code knows of no region."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._density, name)


def read_bounds(sampler: str, bounds: Any) -> Region:
    """Return the region that a setting ``bounds`` of a sampler describes.

    They are a radius, or lower and upper limits, each a number or (dim,). Raises a `SamplerError`
    if they are neither, or a lower limit is not below its upper one.
    """
    if not isinstance(bounds, tuple | list):
        check_number(sampler, "bounds", bounds, above=0.0)
        return Region(float(bounds), np.array(-np.inf), np.array(np.inf))
    try:
        lower, upper = np.broadcast_arrays(*(np.asarray(limit, dtype=float) for limit in bounds))
    except (TypeError, ValueError):
        lower = upper = np.array(np.nan)
    if lower.ndim > 1 or not (lower < upper).all():
        allowed = "a radius above 0, or a pair of lower and upper limits (numbers, or one for each"
        raise must_be(sampler, "bounds", bounds, f"{allowed} unconstrained parameter)")
    return Region(None, lower, upper)
