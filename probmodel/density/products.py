"""Batching rules of matrix products and matrix functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel import matrices
from probmodel.density import primitives as own
from probmodel.density.alignment import Operand, Rule, Shape, align, batched, first_ref, shape_of
from probmodel.density.arithmetic import elementwise, total
from probmodel.density.program import Recorder
from probmodel.density.reference import Ref
from probmodel.density.shapes import getitem


def matmul(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    """Matrix product; a constant matrix times a vector is one product for all chains."""
    rank_a, rank_b = len(shape_of(a)), len(shape_of(b))
    if rank_a == 1 and rank_b == 1:
        first, second = (a, b) if isinstance(a, Ref) else (b, a)
        return recorder.emit(own.row_dot, first, second, shape=())
    if not isinstance(a, Ref) and rank_a == 2 and rank_b == 1:
        return recorder.emit(own.linear_map, b, np.asarray(a, dtype=float).T, shape=shape)
    if not isinstance(b, Ref) and rank_b == 2 and rank_a == 1:
        return recorder.emit(own.linear_map, a, np.asarray(b, dtype=float), shape=shape)
    rank = max(rank_a, rank_b, 2)
    left = align(recorder, _as_matrix(recorder, a, rank_a, column=False), rank)
    right = align(recorder, _as_matrix(recorder, b, rank_b, column=True), rank)
    full = shape
    full = (*full[:-1], 1, full[-1]) if rank_a == 1 else full
    full = (*full, 1) if rank_b == 1 else full
    product = recorder.emit(anp.matmul, left, right, shape=full)
    return recorder.emit(own.reshape_rows, product, shape, shape=shape)


def _as_matrix(recorder: Recorder, operand: Operand, rank: int, *, column: bool) -> Operand:
    """Turn a vector into a one-column or one-row matrix."""
    if rank != 1:
        return operand if isinstance(operand, Ref) else np.asarray(operand, dtype=float)
    n = shape_of(operand)[0]
    shape = (n, 1) if column else (1, n)
    if isinstance(operand, Ref):
        return recorder.emit(own.reshape_rows, operand, shape, shape=shape)
    return np.asarray(operand, dtype=float).reshape(shape)


def dot(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    """Product of numbers, or matrix product."""
    if not shape_of(a) or not shape_of(b):
        return elementwise("multiply")(recorder, shape, a, b)
    return matmul(recorder, shape, a, b)


def outer(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    """Outer product of two vectors."""
    n, m = shape
    column = _reshaped(recorder, a, (n, 1))
    row = _reshaped(recorder, b, (1, m))
    return recorder.emit(anp.multiply, column, row, shape=shape)


def _reshaped(recorder: Recorder, operand: Operand, shape: Shape) -> Operand:
    if isinstance(operand, Ref):
        return recorder.emit(own.reshape_rows, operand, shape, shape=shape)
    return np.reshape(operand, shape)


def matrix_function(function: Callable[..., Any]) -> Rule:
    """Make the rule of a function of one matrix."""

    def rule(recorder: Recorder, shape: Shape, a: Ref) -> Ref:
        return recorder.emit(function, a, shape=shape)

    return rule


def solve(recorder: Recorder, shape: Shape, a: Operand, b: Operand) -> Ref:
    """Solution of a linear system."""
    right = _as_matrix(recorder, b, len(shape_of(b)), column=True)
    like = first_ref([a, b])
    left = batched(recorder, a, like)
    right = batched(recorder, right, like)
    solution = recorder.emit(matrices.solve, left, right, shape=shape_of(right))
    return recorder.emit(own.reshape_rows, solution, shape, shape=shape)


def triangle(function: Callable[..., Any]) -> Rule:
    """Make the rule of np.tril or np.triu."""

    def rule(recorder: Recorder, shape: Shape, m: Ref, k: int = 0) -> Ref:
        mask = function(np.ones(shape), k=k)
        return recorder.emit(anp.multiply, m, mask, shape=shape)

    return rule


def diag(recorder: Recorder, shape: Shape, v: Ref) -> Ref:
    """Diagonal of a matrix, or the matrix with a diagonal."""
    if len(v.shape) == 2:
        n = np.arange(shape[0])
        return getitem(recorder, shape, v, (n, n))
    column = recorder.emit(own.reshape_rows, v, (*v.shape, 1), shape=(*v.shape, 1))
    return recorder.emit(anp.multiply, column, np.eye(v.shape[0]), shape=shape)


def trace(recorder: Recorder, shape: Shape, a: Ref) -> Ref:
    """Sum of the diagonal."""
    diagonal = diag(recorder, (min(a.shape),), a)
    return total(recorder, shape, diagonal)
