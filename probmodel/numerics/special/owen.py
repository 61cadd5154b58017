r"""Owen's function of the skew normal distribution, as a tail that does not cancel.

Twice what Owen's ``T(z, .)`` grows by from ``alpha`` to infinity is
``int_alpha^inf exp(-z**2 (1 + s**2) / 2) / (1 + s**2) ds / pi``. With ``s = sinh(w)`` that is the
integral of a log-concave function of ``w``, as `tail_integrals` wants it. For small ``z`` and
``alpha`` it is long; there, the integral up to ``alpha`` is what is left of a normal tail.

References
----------
Owen (1956), Tables for computing bivariate normal probabilities.
"""

from __future__ import annotations

from math import log, pi
from typing import Any

import numpy as np

from probmodel.numerics.special import ndtr
from probmodel.numerics.special.tail_integrals import DROP, NODES, WEIGHTS, by_blocks, column

_LEAST = 1e-150
_SHORT_Z, _SHORT_ALPHA = 0.05, 3.0
_LOG_PI = log(pi)
_LOG_2 = log(2.0)


def log_owen_rest(z: Any, alpha: Any) -> Any:
    """Logarithm of that integral, for ``alpha >= 0``."""
    return by_blocks(_log_owen_rest, z, alpha)[0]


def _log_owen_rest(z: Any, alpha: Any) -> tuple[Any]:
    square = np.square(np.maximum(abs(z), _LEAST))
    root = np.sqrt(1.0 + alpha * alpha)
    linear, bend = 2.0 * alpha * root, 1.0 + 2.0 * alpha * alpha
    end = _end(square, alpha, root, linear, bend)
    v = column(end) * NODES
    sinh, cosh = np.sinh(v), np.cosh(v)
    fall = column(0.5 * square) * sinh * (column(linear) * cosh + column(bend) * sinh)
    weights = WEIGHTS * np.exp(-fall) / (cosh + column(alpha / root) * sinh)
    start = -0.5 * square * root * root - np.log(root) - _LOG_PI
    is_short = (abs(z) < _SHORT_Z) & (alpha < _SHORT_ALPHA)
    left = np.log(ndtr(-abs(z)) - _twice_owen(square, np.where(is_short, alpha, 0.0)))
    return (np.where(is_short, left, start + np.log(end * np.sum(weights, axis=-1))),)


def _twice_owen(square: Any, alpha: Any) -> Any:
    tangent = column(alpha) * NODES
    rise = 1.0 + np.square(tangent)
    return alpha / pi * np.sum(WEIGHTS * np.exp(column(-0.5 * square) * rise) / rise, axis=-1)


def _end(square: Any, alpha: Any, root: Any, linear: Any, bend: Any) -> Any:
    """Bound on where the function of ``w`` has fallen far enough: the least of three."""
    drop = 2.0 * DROP / square
    near = 2.0 * drop / (linear + np.sqrt(linear * linear + 4.0 * bend * drop))
    far = np.arccosh(np.sqrt(root * root + drop)) - np.arcsinh(alpha)
    return np.minimum(np.where(drop > root * root, far, near), DROP + _LOG_2)
