"""Sums over all elements, taken before what can be done to their result."""

from __future__ import annotations

from math import prod
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.density import primitives as own
from probmodel.density.alignment import Operand, shape_of
from probmodel.density.program import Recorder
from probmodel.density.reference import Ref


def total(recorder: Recorder, operand: Operand) -> Operand:
    """Sum over the elements: one number for each chain.

    Constant factors are multiplied with the sum, summands that are the same for many elements are
    counted instead of added up, and a sum of squares is one step, as in the log density of a
    normal distribution, ``-0.5 * z**2 - np.log(sigma)``.
    """
    if not isinstance(operand, Ref):
        return np.asarray(np.sum(operand, dtype=float))
    if not operand.shape:
        return operand
    if not operand.active:  # whole numbers or truth values, maybe
        return _plain(recorder, operand)
    function, args = recorder.made.get(operand.slot, (anp.sum, ()))
    if function is own.insert_axes:
        return total(recorder, args[0])
    if function is anp.negative:
        return recorder.emit(anp.negative, total(recorder, args[0]), shape=())
    if function is anp.square:
        return recorder.emit(own.sum_squares, args[0], shape=())
    if function in (anp.multiply, anp.divide):
        for factor, other in ((args[1], args[0]), (args[0], args[1])):
            if _is_number(factor) and (function is anp.multiply or factor is args[1]):
                return recorder.emit(function, total(recorder, other), factor, shape=())
    if function in (anp.add, anp.subtract) and any(_is_small(a, operand) for a in args):
        parts = [_counted(recorder, a, operand) for a in args]
        return recorder.emit(function, *parts, shape=())
    return _plain(recorder, operand)


def _plain(recorder: Recorder, operand: Ref) -> Ref:
    axes = tuple(range(1, len(operand.shape) + 1))
    return recorder.emit(anp.sum, operand, axis=axes, shape=())


def _is_number(operand: Any) -> bool:
    return isinstance(operand, (int, float))


def _is_small(summand: Operand, whole: Ref) -> bool:
    """Whether a summand is known, or the same for many elements."""
    return not isinstance(summand, Ref) or prod(summand.shape) < prod(whole.shape)


def _counted(recorder: Recorder, summand: Operand, whole: Ref) -> Operand:
    """Sum of a summand over all elements of the whole."""
    count = prod(whole.shape) // max(prod(shape_of(summand)), 1)
    if not isinstance(summand, Ref):
        return float(np.sum(summand, dtype=float)) * count
    partial = total(recorder, summand)
    return partial if count == 1 else recorder.emit(anp.multiply, partial, count, shape=())
