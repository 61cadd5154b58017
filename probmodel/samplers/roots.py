"""A root R of a covariance, applied to one vector for each chain.

R is a matrix (dim, dim), a diagonal given by a vector (dim,), or None for the identity.
"""

from __future__ import annotations

import numpy as np

from probmodel.types import Array


def times(root: Array | None, v: Array) -> Array:
    """Return R v for each row of ``v``."""
    if root is None:
        return v
    return np.asarray(v * root if root.ndim == 1 else v @ root.T)


def transposed_times(root: Array | None, v: Array) -> Array:
    """Return R'v for each row of ``v``."""
    if root is None:
        return v
    return np.asarray(v * root if root.ndim == 1 else v @ root)
