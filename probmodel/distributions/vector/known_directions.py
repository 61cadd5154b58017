r"""Matrices whose eigenvectors do not depend on parameters: they are factorised once.

Where S = a A + b B with known matrices A and B and unknown numbers a and b, as in
``sa**2 * A + se**2 * np.eye(n)`` of an animal model, and B = L L' is positive definite,

.. math:: L^{-1} A L'^{-1} = U D U', \qquad S = L U (a D + b) U' L'

with D and U found once (the generalised eigenproblem). What is unknown is the diagonal a D + b,
and a density takes a product with one known matrix in place of a Cholesky factorisation. With B
alone D is zero, and U is left out: the root is a multiple of L.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.expressions import Expression, as_expression
from probmodel.expressions.known_parts import Values, known_parts
from probmodel.numerics.linalg import cholesky, invert_lower, log_det_lower
from probmodel.types import Array

_WORST_CONDITION = 1e8  # of B: beyond, the density could show the rounding of D
_SAME = 1e-14  # relative difference between a matrix and a multiple of another


class Directions(NamedTuple):
    """A symmetric matrix that varies, ``root @ diag(spectrum) @ root.T``.

    Attributes
    ----------
    spectrum : an expression, (n,), or (..., n) of a stack
    root : known, (n, n)
    inverse : that of the root
    log_det : log absolute determinant of the root
    is_uniform : whether all elements of the spectrum are one, and the root is triangular
    """

    spectrum: Expression
    root: Array
    inverse: Array
    log_det: float
    is_uniform: bool


def directions_of(matrix: Expression, values: Values) -> Directions | None:
    """Return a matrix by its known directions, or None where it has none."""
    terms = _sum_of_known(matrix, values)
    base = None if terms is None else _best_conditioned([known for _, known in terms])
    if terms is None or base is None:
        return None
    b, known = terms.pop(base)
    root = cholesky(known)
    inverse, log_det = invert_lower(root), float(log_det_lower(root))
    spectrum = _along(b, np.ones(len(root)), values)
    if not terms:
        return Directions(spectrum, root, inverse, log_det, is_uniform=True)
    ((a, other),) = terms
    d, u = np.linalg.eigh(inverse @ other @ inverse.T)
    spectrum = _along(a, d, values) + spectrum
    return Directions(spectrum, root @ u, u.T @ inverse, log_det, is_uniform=False)


def directions_of_root(root: Expression, values: Values) -> Directions | None:
    """Return the matrix of a triangular root, a known one times a number; None for others."""
    terms = _sum_of_known(root, values, triangular=True)
    if terms is None or len(terms) > 1:
        return None
    ((factor, known),) = terms
    if not np.all(np.diagonal(known) > 0.0):
        return None
    squared = factor * abs(factor)  # below zero where the root is none, as its diagonal is negative
    spectrum = _along(squared, np.ones(len(known)), values)
    inverse, log_det = invert_lower(known), float(log_det_lower(known))
    return Directions(spectrum, known, inverse, log_det, is_uniform=True)


def _sum_of_known(
    matrix: Expression, values: Values, triangular: bool = False
) -> list[tuple[Expression, Array]] | None:
    """Return one or two known matrices and their factors; None where it takes more, or others.

    Their lower triangle is read; they are symmetric, or ``triangular``.
    """
    size = values.shape(matrix)[-2:]
    parts = known_parts(matrix, values)
    if parts is None or size == (1, 1):
        return None
    terms: list[tuple[Expression, Array]] = []
    for factor, known in parts:
        if known.shape != size or not np.isfinite(known).all():
            return None
        read = np.tril(known) if triangular else np.tril(known) + np.tril(known, -1).T
        for i, (other, of_other) in enumerate(terms):
            ratio = _ratio(read, of_other)
            if ratio is not None:
                terms[i] = other + ratio * factor, of_other
                break
        else:
            if read.any():
                terms.append((factor, read))
    return terms if len(terms) in (1, 2) else None


def _ratio(a: Array, b: Array) -> float | None:
    """Return the number that turns the matrix b into a, or None if there is none."""
    ratio = float(np.vdot(a, b) / np.vdot(b, b))
    return ratio if np.all(np.abs(a - ratio * b) <= _SAME * np.abs(a)) else None


def _best_conditioned(matrices: list[Array]) -> int | None:
    """Return the place of the matrix whose factor rounds least; None if none is definite."""
    if len(matrices) == 1:
        return 0 if np.isfinite(cholesky(matrices[0])).all() else None
    spectra = [np.linalg.eigvalsh(matrix) for matrix in matrices]
    conditions = [s[-1] / s[0] if s[0] > 0.0 else np.inf for s in spectra]
    best = int(np.argmin(conditions))
    return best if conditions[best] < _WORST_CONDITION else None


def _along(factor: Expression, d: Array, values: Values) -> Expression:
    """Return a number, or one for each matrix of a stack, (..., 1, 1), times a vector."""
    number = factor[..., 0] if values.shape(factor) else factor
    return as_expression(number * d)
