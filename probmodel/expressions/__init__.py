"""The symbolic expression graph: what a model body builds instead of numbers."""

from probmodel.expressions.closure import Closure, called, trace
from probmodel.expressions.expression import (
    Apply,
    Constant,
    Expression,
    FreeSymbol,
    Symbol,
    as_expression,
    call_of,
    of_data,
    settle,
)
from probmodel.expressions.graph import children, leaves, map_leaves, topological
from probmodel.expressions.location import call_error, caller_location
from probmodel.expressions.operations import OPERATIONS, Operation, supported_functions
from probmodel.expressions.text import to_text

__all__ = [
    "OPERATIONS",
    "Apply",
    "Closure",
    "Constant",
    "Expression",
    "FreeSymbol",
    "Operation",
    "Symbol",
    "as_expression",
    "call_error",
    "call_of",
    "called",
    "caller_location",
    "children",
    "leaves",
    "map_leaves",
    "of_data",
    "settle",
    "supported_functions",
    "to_text",
    "topological",
    "trace",
]
