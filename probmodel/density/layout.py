"""Where the parameters lie in a point of unconstrained space."""

from __future__ import annotations

import numpy as np

from probmodel.model.parameters import FreeParameter


def blocks(parameters: list[FreeParameter]) -> list[tuple[FreeParameter, slice]]:
    """Return each parameter with its coordinates, one after another."""
    blocks, start = [], 0
    for free in parameters:
        size = int(np.prod(free.free_shape, dtype=int))
        blocks.append((free, slice(start, start + size)))
        start += size
    return blocks


def coordinate_names(free: FreeParameter) -> list[str]:
    """Return a name for each coordinate of a parameter, such as ``beta[2]``."""
    if not free.free_shape:
        return [free.name]
    return [f"{free.name}[{', '.join(map(str, index))}]" for index in np.ndindex(*free.free_shape)]
