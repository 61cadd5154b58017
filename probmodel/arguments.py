"""Checks of arguments that several functions take."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from probmodel.errors import SamplerError


def positive(name: str, value: Any) -> int:
    """Return a whole number of at least 1."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral) or value < 1:
        raise SamplerError(
            f"{name} must be a whole number of at least 1, got {value!r}.", name=name, value=value
        )
    return int(value)


def seed_sequence(seed: Any) -> np.random.SeedSequence:
    """Return the seed as a SeedSequence; a fresh one, short enough to be typed, for ``None``."""
    if seed is None:
        return np.random.SeedSequence(int(np.random.SeedSequence().generate_state(1)[0]))
    if isinstance(seed, np.random.SeedSequence):
        return seed
    whole = isinstance(seed, numbers.Integral) and not isinstance(seed, bool | np.bool_)
    if not whole or seed < 0:
        raise SamplerError(
            f"seed must be a whole number of at least 0, a SeedSequence or None, got {seed!r}.",
            name="seed", value=seed,
        )  # fmt: skip
    return np.random.SeedSequence(int(seed))
