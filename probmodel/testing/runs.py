"""What the checks share: how long they run a sampler, and runs that start from exact draws."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from probmodel.inference.chains import run
from probmodel.samplers.base import Sampler
from probmodel.testing.targets import KnownTarget
from probmodel.types import Array, LogDensity

TEACHERS = 20  # chains that a warm-up learns from, at least
FRACTION = 4  # of the starts: as many ensembles, where a chain is one


@dataclass(frozen=True)
class Effort:
    """How long the checks run a sampler; raise ``warmup`` for one that learns slowly.

    Parameters
    ----------
    warmup : int
        Warm-up iterations, before a kernel is judged.
    draws : int
        Draws per chain whose moments are compared with the truth.
    starts : int
        Chains that start from exact draws, in the check that these stay exact.
    steps : int
        Transitions that each of them makes.
    """

    warmup: int = 600
    draws: int = 1500
    starts: int = 4000
    steps: int = 20


DEFAULT = Effort()


def require(condition: bool | np.bool_, message: str) -> None:
    """Raise AssertionError unless ``condition`` holds, also where ``assert`` is switched off."""
    if not condition:
        raise AssertionError(message)


def exact_starts(
    sampler: Sampler, target: KnownTarget, rng: np.random.Generator, chains: int
) -> Array:
    """Return exact draws for `Sampler.init`: (chains, dim), or (chains, points, dim)."""
    points = sampler.points_per_chain(target.dim)
    x = target.exact(rng, chains * points)
    return x if points == 1 else x.reshape(chains, points, target.dim)


def tuned(
    sampler: Sampler,
    target: KnownTarget,
    rng: np.random.Generator,
    warmup: int,
    density: LogDensity | None = None,
) -> Any:
    """Return the parameters after a warm-up of several chains that start from exact draws.

    ``density`` is the target, which gives the starts, in another guise, if it is to be evaluated
    so.
    """
    chains = max(TEACHERS, sampler.min_chains(target.dim))
    x0 = exact_starts(sampler, target, rng, chains)
    return run(sampler, target if density is None else density, x0, rng, warmup=warmup, draws=1)


def points_of(state: Any) -> Array:
    """Return all points of a state: (n, dim). Those of an ensemble are its field ``points``."""
    points: Array = getattr(state, "points", state.x)
    return points.reshape(-1, points.shape[-1])


def leaves(value: Any) -> list[Array]:
    """Return the numbers in nested tuples, lists, mappings and dataclasses, as arrays.

    ``None`` and what has no numbers, such as a function, are left out.
    """
    if isinstance(value, Mapping):
        parts: Any = value.values()
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, tuple | list):
        parts = value
    else:
        array = np.asarray(value)
        return [] if array.dtype == object else [array]
    return [leaf for part in parts for leaf in leaves(part)]


def fingerprint(value: Any) -> tuple[bytes, ...]:
    """Return the numbers of `leaves`, bit by bit, to be compared later."""
    return tuple(leaf.tobytes() for leaf in leaves(value))
