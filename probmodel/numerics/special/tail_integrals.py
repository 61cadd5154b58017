"""Tail probabilities of log-concave densities by Gauss's rule, for distribution functions.

On its way out from where the tail begins, such a density only falls faster and faster. A rule of
fixed size on the stretch until it is negligible is then exact to rounding, whether the density is
as wide as a normal, as long as an exponential, or cut off. Its derivatives in exponents are means
and variances of logarithms in the tail, from the same nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

from probmodel.numerics.special import Recorded, inverse_expm1, log1m_exp, product
from probmodel.types import Array

# The densities fall by exp(-DROP) over the stretch.
DROP = 42.0
_SIZE = 40
# Elements whose nodes are worked on at a time.
_BLOCK = 4096


def _gauss_rule(size: int) -> tuple[Array, Array]:
    """Nodes between 0 and 1 and weights of Gauss's rule, each to its last digit.

    Those of NumPy, where they start, have twelve near the ends.
    """
    nodes, weights = np.empty(size), np.empty(size)
    with localcontext(prec=40):
        for i, start in enumerate(np.polynomial.legendre.leggauss(size)[0]):
            x = Decimal(float(start))
            for _ in range(3):
                last, current = Decimal(1), x
                for n in range(2, size + 1):
                    last, current = current, ((2 * n - 1) * x * current - (n - 1) * last) / n
                slope = size * (last - x * current) / (1 - x * x)
                x -= current / slope
            nodes[i], weights[i] = (1 + x) / 2, 1 / ((1 - x * x) * slope * slope)
    return nodes, weights


NODES, WEIGHTS = _gauss_rule(_SIZE)


def column(x: Any) -> Any:
    """Return ``x`` with an axis for the nodes."""
    return np.expand_dims(x, -1)


def mean(weights: Any, values: Any) -> Any:
    """Weighted mean over the nodes."""
    return np.sum(weights * values, axis=-1) / np.sum(weights, axis=-1)


def covariance(weights: Any, values: Any, others: Any) -> Any:
    """Weighted covariance over the nodes."""
    first = values - column(mean(weights, values))
    return mean(weights, first * (others - column(mean(weights, others))))


def stretch(slope: Any, bend: Any) -> Any:
    """Bound on where ``slope v + bend (exp(-v) - 1 + v)`` reaches `DROP`, for positive ``v``."""
    linear = 2.0 * slope - DROP
    root = np.sqrt(linear * linear + 8.0 * (slope + bend) * DROP)
    # The two forms of a root, of which one cancels.
    far = (root - linear) / (2.0 * (slope + bend))
    return np.where(linear > 0, 4.0 * DROP / (abs(linear) + root), far)


def by_blocks(function: Callable[..., tuple[Any, ...]], *args: Any) -> Sequence[Any]:
    """Call a function of numbers that returns several, on as many at a time as fit in cache."""
    if any(isinstance(arg, Recorded) for arg in args):
        return function(*args)
    args = tuple(np.asarray(arg, dtype=float) for arg in args)
    shape = np.broadcast_shapes(*(arg.shape for arg in args))
    size = int(np.prod(shape))
    with np.errstate(all="ignore"):
        if size <= _BLOCK:
            return function(*args)
        flat = [np.broadcast_to(arg, shape).reshape(-1) for arg in args]
        starts = range(0, size, _BLOCK)
        parts = [function(*(arg[i : i + _BLOCK] for arg in flat)) for i in starts]
    return [np.concatenate(part).reshape(shape) for part in zip(*parts, strict=True)]


def log_of_side(own: Any, log: Any) -> Any:
    """Log probability of the tail where it is the one wanted, of all the rest elsewhere."""
    with np.errstate(all="ignore"):
        return np.where(own, log, log1m_exp(-log))


def slope_of_side(own: Any, log: Any, slope: Any) -> Any:
    """Return the derivative of `log_of_side`, given that of ``log``."""
    with np.errstate(all="ignore"):
        return np.where(own, slope, -product(inverse_expm1(-log), slope))


def bend_of_side(own: Any, log: Any, slope: Any, other_slope: Any, bend: Any) -> Any:
    """Return the second derivative of `log_of_side`, given the derivatives of ``log``."""
    with np.errstate(all="ignore"):
        odds = inverse_expm1(-log)
        return np.where(own, bend, -odds * (bend + slope * other_slope * (1.0 + odds)))
