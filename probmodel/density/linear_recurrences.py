"""Batching rules of recurrences in time."""

from __future__ import annotations

import numpy as np

from probmodel import recurrences
from probmodel.density import primitives as own
from probmodel.density.alignment import Operand, Shape, align
from probmodel.density.program import Recorder
from probmodel.density.reference import Ref


def linear(
    recorder: Recorder,
    shape: Shape,
    coefficient: Operand,
    x: Operand,
    initial: Operand = 0.0,
) -> Ref:
    """Solution along the first axis behind the chains."""
    rank = len(shape)
    start = align(recorder, initial, rank - 1)
    if isinstance(start, Ref):
        first = (1, *start.shape)
        start = recorder.emit(own.reshape_rows, start, first, shape=first)
    a, driven = (align(recorder, operand, rank) for operand in (coefficient, x))
    return recorder.emit(recurrences.linear_recurrence, a, driven, start, -rank, shape=shape)


def matrix(
    recorder: Recorder, shape: Shape, matrix: Operand, x: Operand, initial: Operand = 0.0
) -> Ref:
    """Solution of a recurrence of vectors."""
    start = initial
    if not isinstance(start, Ref):
        start = np.broadcast_to(np.asarray(start, dtype=float), shape[1:])
    elif start.shape != shape[1:]:
        aligned = align(recorder, start, 1)
        start = recorder.emit(own.spread_rows, aligned, shape[1:], shape=shape[1:])
    if not isinstance(matrix, Ref):
        matrix = np.reshape(matrix, (-1, *np.shape(matrix)[-2:]))
    elif len(matrix.shape) == 2:
        matrix = recorder.emit(
            own.reshape_rows, matrix, (1, *matrix.shape), shape=(1, *matrix.shape)
        )
    return recorder.emit(recurrences.matrix_recurrence, matrix, x, start, shape=shape)
