"""Constraints: sets of values, and the maps that sample them without constraint.

A new constraint is a file with a class, and a line in `CONSTRAINTS`.
"""

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
    "sum_to_zero": SumToZero,
    "sum_to_zero_matrix": SumToZeroMatrix,
    "row_stochastic": RowStochastic,
    "column_stochastic": ColumnStochastic,
    "unit_vector": UnitVector,
    "cholesky_factor": CholeskyFactor,
    "positive_definite": PositiveDefinite,
    "correlation_cholesky": CorrelationCholesky,
    "correlation": Correlation,
    "integer_interval": IntegerInterval,
}

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
