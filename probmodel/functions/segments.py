"""Sums and the like of the elements of a vector by group, for data whose groups differ in size."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.expressions import Expression, as_expression, of_data
from probmodel.expressions.segmented import checked_groups
from probmodel.functions.log_scale import logsumexp
from probmodel.functions.recorded_calls import operate
from probmodel.types import Array


def segment_sum(x: Any, groups: Any, count: Any) -> Any:
    """Sum the elements of each group.

    Parameters
    ----------
    x : (n, ...), summed along the first axis
    groups : the group of each element, whole numbers from 0 to ``count - 1`` from data: (n,)
    count : number of groups, from data

    Returns
    -------
    (count, ...); zero for a group without elements. NumPy: ``np.bincount(groups, x, count)``.
    """
    return operate("segment_sum", x, groups, count=count)


def segment_max(x: Any, groups: Any, count: Any) -> Any:
    """Largest element of each group of a vector: (count,).

    Parameters
    ----------
    x : (n,)
    groups, count : as for `segment_sum`

    Returns
    -------
    (count,); minus infinity for a group without elements
    """
    return np.max(_in_rows(x, groups, count), axis=1)


def segment_logsumexp(x: Any, groups: Any, count: Any) -> Any:
    """``log(sum(exp(x)))`` of each group of a vector; parameters and shape as for `segment_max`."""
    return logsumexp(_in_rows(x, groups, count), axis=1)


def _in_rows(x: Any, groups: Any, count: Any) -> Any:
    """Put each group in a row as long as the largest group, filled up with minus infinity."""
    members = of_data("members", _members, groups, count)
    each = of_data("as_many_as", lambda g: np.zeros(len(g)), groups)  # no other number
    if isinstance(members, Expression):
        x = as_expression(x)
    return np.concatenate([x + each, np.array([-np.inf])])[members]


def _members(groups: Array, count: Array) -> Array:
    """Positions of the elements of each group, (count, longest); the end where a row is shorter."""
    groups, sizes = checked_groups(groups, count)
    order = np.argsort(groups, kind="stable")
    rank = np.arange(len(groups)) - (np.cumsum(sizes) - sizes)[groups[order]]
    found = np.full((len(sizes), max(1, sizes.max(initial=0))), len(groups))
    found[groups[order], rank] = order
    return found
