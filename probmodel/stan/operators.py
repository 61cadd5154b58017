"""Operators of the language, and the kinds of what they make."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from probmodel.expressions import Expression as Symbolic
from probmodel.stan.indexing import MisfitError, SizeError
from probmodel.stan.stan_values import RANKS, Tuple, Value
from probmodel.stan.traced_graph import Operation

Frame = dict[str, Any]  # variables by name

# Where a branch of a condition on parameters is not taken, what it computes is computed at these
# arguments instead, so that no infinite slope meets the zero that the branch counts.
SAFE = {
    "log": 1.0, "divide": 1.0, "sqrt": 1.0, "power": 1.0, "log1p": 0.0, "log1m": 0.0, "inv": 1.0,
    "logit": 0.5, "lgamma": 1.0, "acos": 0.0, "asin": 0.0, "atanh": 0.0, "log_diff_exp": 1.0,
    "log1m_exp": -1.0, "inv_sqrt": 1.0, "pow": 1.0, "inv_Phi": 0.5, "exp": 0.0, "digamma": 1.0,
}  # fmt: skip


def truncated_quotient(a: Any, b: Any) -> Any:
    """Divide whole numbers towards zero, as Stan does."""
    quotient = np.floor_divide(np.abs(a), np.abs(b)) * np.sign(a) * np.sign(b)
    return quotient if np.ndim(quotient) else int(quotient)


def _power(a: Any, b: Any) -> Any:
    if isinstance(a, Symbolic) or isinstance(b, Symbolic):
        return a**b
    return np.power(np.asarray(a, dtype=np.result_type(a, float)), b)


ADD = Operation("add", lambda a, b: a + b)
MULTIPLY = Operation("multiply", lambda a, b: a * b)
DIVIDE = Operation("divide", lambda a, b: np.divide(a, b))
NEGATE = Operation("negative", lambda a: -a)
CHOOSE = Operation("where", lambda c, a, b: np.where(c, a, b))
# The same where data alone decide: conditions are numbers then, and no truth values of symbols.
CHOOSE_BY_DATA = Operation("where", lambda c, a, b: np.where(c, a, b))
NOT = Operation("not", lambda a: np.logical_not(a))
AND = Operation("and", lambda a, b: np.logical_and(a, b))
OR = Operation("or", lambda a, b: np.logical_or(a, b))
BY_ELEMENT = {
    "+": ADD,
    "-": Operation("subtract", lambda a, b: a - b),
    ".*": MULTIPLY,
    "./": DIVIDE,
    "^": Operation("power", _power),
    ".^": Operation("power", _power),
}
AS_NUMBER = Operation("number", lambda a: a + 0.0)  # of symbols, which may be truth values
COMPARISONS = {
    "==": Operation("equal", lambda a, b: a == b),
    "!=": Operation("not_equal", lambda a, b: a != b),
    "<": Operation("less", lambda a, b: a < b),
    "<=": Operation("less_equal", lambda a, b: a <= b),
    ">": Operation("greater", lambda a, b: a > b),
    ">=": Operation("greater_equal", lambda a, b: a >= b),
}
PRODUCTS = {
    ("matrix", "matrix"), ("matrix", "vector"), ("row_vector", "matrix"),
    ("row_vector", "vector"), ("vector", "row_vector"),
}  # fmt: skip


def container(left: Value, right: Value) -> str:
    """Return the kind of what an operation on elements makes of two values."""
    if left.rank and right.rank and left.shape != right.shape:
        raise SizeError(f"sizes differ: {left.shape} and {right.shape}")
    if RANKS[left.kind] and RANKS[right.kind] and left.kind != right.kind:
        raise MisfitError(f"a {left.kind} meets a {right.kind}; transpose one of them")
    kinds = {left.kind, right.kind}
    for kind in ("matrix", "vector", "row_vector", "complex", "real"):
        if kind in kinds:
            return kind
    return "int"


def as_complex(value: Value) -> Value:
    """Return numbers as complex ones; the elements of those that parameters decide stay real."""
    if value.is_complex:
        return value
    array = value.array if value.traced else np.asarray(value.array, dtype=complex)[()]
    kind = value.kind if RANKS[value.kind] else "complex"
    found = Value(kind, array, value.traced, value.laned, value.source)
    found.shared = value.traced
    return found


def restricted(frame: Frame, chosen: Any, names: Collection[str]) -> Frame:
    """Return variables, those of some names in some of the lanes alone."""
    parts = {name: in_part(frame[name], chosen) for name in names if name in frame}
    return frame | parts


def in_part(value: Any, chosen: Any) -> Any:
    """Return a value in some of the lanes alone."""
    if isinstance(value, Value):
        return value.like(value.array[chosen]) if value.laned else value
    if isinstance(value, Tuple):
        return Tuple([in_part(item, chosen) for item in value.items])
    if isinstance(value, list):
        return [in_part(item, chosen) for item in value]
    return value
