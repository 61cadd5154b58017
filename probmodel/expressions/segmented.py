"""Sums over the elements of groups, whose numbers come from data."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.types import Array

_LIMIT = 2.0**62  # below it, with room for rounding, a sum of integers fits into 64 bits


def segment_sum(x: Any, groups: Any, count: Any) -> Array:
    """Add up the elements of each group along the first axis: (n, ...), (n,) -> (count, ...).

    Raises a ValueError or an IndexError if there is not one group for each element, or a group has
    no such number.
    """
    x = np.asarray(x)
    groups, sizes = checked_groups(groups, count)
    if x.shape[:1] != groups.shape:
        raise ValueError(f"there are {groups.size} groups for elements of shape {x.shape}")
    total = np.zeros((len(sizes), *x.shape[1:]), dtype=np.result_type(x, np.int64))
    np.add.at(total, groups, x)
    if total.dtype.kind == "f":
        return total
    real = np.zeros(total.shape)  # integers wrap around where their sum does not fit
    np.add.at(real, groups, x)
    return real if np.any(np.abs(real) >= _LIMIT) else total


def checked_groups(groups: Any, count: Any) -> tuple[Array, Array]:
    """Return groups as whole numbers, and the number of elements of each: (n,), (count,)."""
    groups = np.asarray(groups)
    if groups.ndim != 1 or (groups.size and groups.dtype.kind not in "iu"):
        raise ValueError("groups are whole numbers along one axis, such as data('obs', dtype=int)")
    if np.ndim(count) or int(count) != count or count < 0:
        raise ValueError(f"count must be a whole number; got {count}")
    groups = groups.astype(np.int64)
    bad = (groups < 0) | (groups >= count)
    if bad.any():
        raise IndexError(f"group {groups[bad][0]} is not one of {int(count)} groups")
    return groups, np.bincount(groups, minlength=int(count))
