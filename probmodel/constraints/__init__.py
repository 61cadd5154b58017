"""Constraints: sets of values, and the maps that sample them without constraint.

A new constraint is a file with a class, and a line in `CONSTRAINTS`.
"""

from probmodel.constraints.base import Constraint
from probmodel.constraints.between import between
from probmodel.constraints.interval import Interval, UnitInterval
from probmodel.constraints.lower import Lower
from probmodel.constraints.offset_multiplier import OffsetMultiplier
from probmodel.constraints.ordered import Ordered, PositiveOrdered
from probmodel.constraints.positive import NonNegative, Positive
from probmodel.constraints.real import Real
from probmodel.constraints.sets import CholeskyFactor, IntegerInterval, PositiveDefinite
from probmodel.constraints.simplex import Simplex
from probmodel.constraints.upper import Upper

CONSTRAINTS: dict[str, type[Constraint]] = {
    "real": Real,
    "positive": Positive,
    "non_negative": NonNegative,
    "lower": Lower,
    "upper": Upper,
    "interval": Interval,
    "unit_interval": UnitInterval,
    "offset_multiplier": OffsetMultiplier,
    "ordered": Ordered,
    "positive_ordered": PositiveOrdered,
    "simplex": Simplex,
    "integer_interval": IntegerInterval,
    "positive_definite": PositiveDefinite,
    "cholesky_factor": CholeskyFactor,
}

__all__ = [
    "CONSTRAINTS",
    "CholeskyFactor",
    "Constraint",
    "IntegerInterval",
    "Interval",
    "Lower",
    "NonNegative",
    "OffsetMultiplier",
    "Ordered",
    "Positive",
    "PositiveDefinite",
    "PositiveOrdered",
    "Real",
    "Simplex",
    "UnitInterval",
    "Upper",
    "between",
]
