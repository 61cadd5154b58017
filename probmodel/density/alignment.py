"""Giving operands the chain axis, and axes behind it.

NumPy aligns trailing axes and the chain axis leads, so a per-chain scalar (c,) against n data
must become (c, 1). A `Ref` carries a chain axis, an array does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from probmodel.density import primitives as own
from probmodel.density.program import Recorder
from probmodel.density.reference import Ref

Operand = Any  # Ref, array, or a list of them
Shape = tuple[int, ...]
Rule = Callable[..., Operand]


def align(recorder: Recorder, operand: Operand, rank: int) -> Operand:
    """Give a batched operand ``rank`` axes behind its chain axis; constants align by themselves."""
    if not isinstance(operand, Ref):
        array = np.asarray(operand)
        return array.item() if array.ndim == 0 else array
    missing = rank - len(operand.shape)
    if missing == 0:
        return operand
    shape = (1,) * missing + operand.shape
    return recorder.emit(own.insert_axes, operand, missing, shape=shape)


def batched(recorder: Recorder, operand: Operand, like: Ref) -> Ref:
    """Give a constant the chain axis; leave a `Ref` as it is."""
    if isinstance(operand, Ref):
        return operand
    array = np.asarray(operand, dtype=np.float64)
    return recorder.emit(own.repeat_for_chains, array, like, shape=array.shape)


def shape_of(operand: Operand) -> Shape:
    """Shape of an operand without the chain axis."""
    return operand.shape if isinstance(operand, Ref) else np.shape(operand)


def first_ref(operands: list[Operand]) -> Ref:
    """Return one batched operand; there is one wherever a rule is called."""
    return next(o for o in operands if isinstance(o, Ref))
