r"""Log determinants of sums of known matrices, times unknown numbers: eigenvalues are found once.

With A and B known, as in ``np.eye(n) - rho * W`` of a spatial lag, and B invertible,

.. math:: \log|\det(a A + b B)| = \log|\det B| + \sum_k \log|a \lambda_k + b|

where :math:`\lambda_k` are the eigenvalues of :math:`B^{-1} A`, which may be complex (Ord, 1975,
Estimation methods for models of spatial interaction).
"""

from __future__ import annotations

import numpy as np

from probmodel.expressions.expression import Expression, as_expression
from probmodel.expressions.known_parts import Values, sum_of_known

_WORST_CONDITION = 1e8  # of B: beyond, the eigenvalues could show its rounding


def known_log_determinant(matrix: Expression, values: Values) -> Expression | None:
    """Return the log determinant of one matrix that varies, or None if it is no such sum."""
    terms = None if len(values.shape(matrix)) > 2 else sum_of_known(matrix, values, lambda m: m)
    if terms is None:
        return None
    with np.errstate(all="ignore"):
        base = int(np.argmin([np.linalg.cond(known) for _, known in terms]))
        b, known = terms.pop(base)
        if not np.linalg.cond(known) < _WORST_CONDITION:
            return None
    log_det, n = np.linalg.slogdet(known)[1], len(known)
    if not terms:
        return as_expression(log_det + n * np.log(np.abs(b)))
    ((a, other),) = terms
    eigenvalues = np.linalg.eigvals(np.linalg.solve(known, other))
    real, imaginary = np.real(eigenvalues), np.imag(eigenvalues)
    squares = (a * real + b) ** 2
    if imaginary.any():
        squares = squares + (a * imaginary) ** 2
    return as_expression(log_det + 0.5 * np.sum(np.log(squares)))
