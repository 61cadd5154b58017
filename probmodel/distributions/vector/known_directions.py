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
from probmodel.expressions.known_parts import Values, sum_of_known
from probmodel.numerics.linalg import cholesky, invert_lower, log_det_lower
from probmodel.types import Array

_WORST_CONDITION = 1e8  # of B: beyond, the density could show the rounding of D


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
    terms = sum_of_known(matrix, values, _symmetric)
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
    terms = sum_of_known(root, values, np.tril)
    if terms is None or len(terms) > 1:
        return None
    ((factor, known),) = terms
    if not np.all(np.diagonal(known) > 0.0):
        return None
    squared = factor * abs(factor)  # below zero where the root is none, as its diagonal is negative
    spectrum = _along(squared, np.ones(len(known)), values)
    inverse, log_det = invert_lower(known), float(log_det_lower(known))
    return Directions(spectrum, known, inverse, log_det, is_uniform=True)


def _symmetric(matrix: Array) -> Array:
    """Return the symmetric matrix with the lower triangle of another."""
    return np.tril(matrix) + np.tril(matrix, -1).T


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
