"""Alignment: draws whose labels and signs are those of one of them, the pivot.

    a_l   what lies at label l of a draw, in standard deviations over all draws and labels
    p_k   the same of the pivot: of one draw at first, then the mean of the aligned draws
    T     puts label l(k) of a draw at k and multiplies it by s_k, which is 1 or -1

Of all T that are allowed each draw takes the one with the largest sum over k of s_k a_l(k)' p_k,
which is that with the smallest distance from the pivot.

    Marin, Mengersen, Robert (2005), "Bayesian modelling and inference on mixtures of
    distributions", Handbook of Statistics 25 (pivotal reordering).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from probmodel.types import Array

_PASSES = 3  # over the draws, each with the pivot of the last
_NUMBERS = 200  # of a parameter at one label, by which draws are compared


class Along(NamedTuple):
    """A parameter, and the axis along which it has labels; none if all of it has one label."""

    name: str
    shape: tuple[int, ...]
    axis: int | None

    @property
    def labels(self) -> int:
        """Number of labels."""
        return 1 if self.axis is None else self.shape[self.axis]


class Moves(NamedTuple):
    """What T may do with some parameters, which have equally many labels.

    Attributes
    ----------
    swaps : labels that may swap
    signs : labels whose signs may change
    """

    parts: tuple[Along, ...]
    swaps: tuple[int, ...] = ()
    signs: tuple[int, ...] = ()


def aligned(moves: Moves, draws: Mapping[str, Array]) -> dict[str, Array]:
    """Align the parameters of ``moves``, at first to the first draw: name -> (draws, *shape)."""
    a = _compared(moves.parts, draws)
    p = a[0]
    for _ in range(_PASSES):
        order, signs = _nearest(moves, a, p)
        p = _moved(a, order, signs, 0).mean(axis=0)
    return transformed(moves.parts, draws, order, signs)


def transformed(
    parts: tuple[Along, ...], draws: Mapping[str, Array], order: Array, signs: Array
) -> dict[str, Array]:
    """Apply T to parameters: name -> (draws, *shape).

    ``order`` and ``signs`` are l(k) and s_k: (draws, labels) or (labels,).
    """
    result = {part.name: draws[part.name] for part in parts}
    for part in parts:
        result[part.name] = _moved(result[part.name], order, signs, part.axis)
    return result


def _compared(parts: tuple[Along, ...], draws: Mapping[str, Array]) -> Array:
    """Return a, (draws, labels, numbers); where two axes have the same labels, the diagonal."""
    columns = []
    for name in dict.fromkeys(part.name for part in parts):
        axes = [p.axis + 1 for p in parts if p.name == name and p.axis is not None]
        value = np.moveaxis(draws[name], axes, range(1, len(axes) + 1))
        for _ in axes[1:]:
            value = np.moveaxis(np.diagonal(value, axis1=1, axis2=2), -1, 1)
        labels = value.reshape(len(value), parts[0].labels, -1)
        labels = labels[:, :, :: math.ceil(labels.shape[2] / _NUMBERS)]
        columns.append(labels / max(float(labels.std()), np.finfo(float).tiny))
    return np.concatenate(columns, axis=2)


def _nearest(moves: Moves, a: Array, p: Array) -> tuple[Array, Array]:
    """l(k) and s_k of each draw: (draws, labels)."""
    labels = np.arange(len(p))
    free, signed = np.isin(labels, moves.swaps), np.isin(labels, moves.signs)
    order = np.tile(labels, (len(a), 1))
    if moves.swaps:
        from scipy.optimize import linear_sum_assignment  # takes a tenth of a second to import

        products = np.einsum("dlj,kj->dkl", a, p)
        products[:, signed] = np.abs(products[:, signed])
        products[:, ~(np.eye(len(p), dtype=bool) | np.outer(free, free))] = -np.inf
        order = np.array([linear_sum_assignment(table, maximize=True)[1] for table in products])
    chosen = np.einsum("dkj,kj->dk", np.take_along_axis(a, order[:, :, None], axis=1), p)
    return order, np.where((chosen < 0.0) & signed, -1.0, 1.0)


def _moved(value: Array, order: Array, signs: Array, axis: int | None) -> Array:
    """Put the labels along an axis in their order and change their signs: (draws, *shape)."""
    shape = [-1, *(1,) * (value.ndim - 1)]
    if axis is not None:
        shape[axis + 1] = order.shape[-1]
        value = np.take_along_axis(value, order.reshape(shape), axis=axis + 1)
    return np.asarray(value * signs.reshape(shape))
