"""Which sets lie in which: intervals of the line, and sets of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.constraints.cholesky_factor import CholeskyFactor
from probmodel.constraints.correlation import Correlation
from probmodel.constraints.correlation_cholesky import CorrelationCholesky
from probmodel.constraints.positive_definite import PositiveDefinite
from probmodel.constraints.real import Real

# Sets that hold all of another one.
_LARGER: dict[type[Constraint], type[Constraint]] = {
    Correlation: PositiveDefinite,
    CorrelationCholesky: CholeskyFactor,
}


def limits(constraint: Constraint) -> tuple[Any, Any] | None:
    """Lower and upper limit of an interval of the real line, None where there is none.

    Returns None altogether for sets that are no intervals.
    """
    if constraint.event_ndim or constraint.integer:
        return None
    return constraint.limits


def same_limits(first: Constraint, second: Constraint) -> bool:
    """Whether two constraints are intervals with the same limits, as far as that can be seen."""
    known, other = limits(first), limits(second)
    if known is None or other is None:
        return False
    return all(
        a is b or (_is_known(a) and _is_known(b) and np.array_equal(a, b))
        for a, b in zip(known, other, strict=True)
    )


def _elements_within(constraint: Constraint, support: Constraint) -> bool:
    """Whether elements are known to lie in an interval of the line, the support of a prior."""
    own, known = constraint.element_limits, limits(support)
    if own is None or known is None:
        return False
    return all(
        limit is None
        or mine is limit
        or (_is_known(limit) and _is_known(mine) and np.all(beyond(mine, limit)))
        for mine, limit, beyond in zip(own, known, (np.greater_equal, np.less_equal), strict=True)
    )


def _is_known(limit: Any) -> bool:
    """Whether a limit is a number, or one for each element, and no expression."""
    return isinstance(limit, int | float | np.number | np.ndarray)


def lies_in(constraint: Constraint, support: Constraint) -> bool:
    """Whether all values that a constraint allows are in the support of a prior."""
    if isinstance(support, Real) or same_limits(support, constraint):
        return True
    if _elements_within(constraint, support):
        return True
    if isinstance(constraint, CholeskyFactor | CorrelationCholesky):  # one derives from the other
        return type(support) in (type(constraint), _LARGER.get(type(constraint)))
    return isinstance(support, type(constraint))
