"""Vectors in order whose elements have a prior on an interval."""

from __future__ import annotations

from probmodel.constraints import Constraint, Ordered, PositiveOrdered
from probmodel.constraints.containment import limits
from probmodel.constraints.ordered_interval import OrderedInterval
from probmodel.model.evaluation import Evaluator


def ordered_within(constraint: Constraint, support: Constraint, evaluator: Evaluator) -> Constraint:
    """Return the vectors in order whose elements lie in an interval, where that is the support."""
    known = limits(support)
    if not isinstance(constraint, Ordered | PositiveOrdered) or known is None:
        return constraint
    if any(bound is not None and evaluator.shape(bound) for bound in known):
        return constraint
    low, high = known
    positive = low is not None and evaluator.is_constant(low) and evaluator.value(low) >= 0.0
    if high is None:
        return PositiveOrdered() if positive and evaluator.value(low) == 0.0 else constraint
    within = low is not None and (positive or isinstance(constraint, Ordered))
    return OrderedInterval(low, high) if within else constraint
