"""Constraints: sets of values, and the maps that sample them without constraint.

A new constraint is a file with a class, which `CONSTRAINTS` maps its name to.
"""

from probmodel.class_names import snake_case
from probmodel.constraints.base import Constraint
from probmodel.constraints.between import between
from probmodel.constraints.cholesky_factor import CholeskyFactor
from probmodel.constraints.correlation import Correlation
from probmodel.constraints.correlation_cholesky import CorrelationCholesky
from probmodel.constraints.integer_interval import IntegerInterval
from probmodel.constraints.interval import Interval, UnitInterval
from probmodel.constraints.lower import Lower
from probmodel.constraints.offset_multiplier import OffsetMultiplier
from probmodel.constraints.ordered import Ordered, PositiveOrdered
from probmodel.constraints.positive import NonNegative, Positive
from probmodel.constraints.positive_definite import PositiveDefinite
from probmodel.constraints.real import Real
from probmodel.constraints.simplex import Simplex
from probmodel.constraints.stochastic import ColumnStochastic, RowStochastic
from probmodel.constraints.sum_to_zero import SumToZero
from probmodel.constraints.sum_to_zero_matrix import SumToZeroMatrix
from probmodel.constraints.tall_cholesky_factor import TallCholeskyFactor
from probmodel.constraints.unit_vector import UnitVector
from probmodel.constraints.upper import Upper

_KINDS: tuple[type[Constraint], ...] = (
    Real, Positive, NonNegative, Lower, Upper, Interval, UnitInterval, OffsetMultiplier, Ordered,
    PositiveOrdered, Simplex, SumToZero, SumToZeroMatrix, RowStochastic, ColumnStochastic,
    UnitVector, CholeskyFactor, PositiveDefinite, CorrelationCholesky, Correlation,
    IntegerInterval,
)  # fmt: skip
# By the names of the classes in snake case.
CONSTRAINTS = {snake_case(kind.__name__): kind for kind in _KINDS}

__all__ = [
    "CONSTRAINTS",
    "CholeskyFactor",
    "ColumnStochastic",
    "Constraint",
    "Correlation",
    "CorrelationCholesky",
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
    "RowStochastic",
    "Simplex",
    "SumToZero",
    "SumToZeroMatrix",
    "TallCholeskyFactor",
    "UnitInterval",
    "UnitVector",
    "Upper",
    "between",
]
