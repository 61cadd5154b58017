"""Operations where data say that what they make does not count, and what they are given there."""

from __future__ import annotations

import numpy as np

from probmodel.stan.operators import COMPARISONS, SAFE
from probmodel.stan.stan_values import Value

# What is finite, with finite slopes, at all numbers that are finite.
_OPERATORS = (
    "add", "subtract", "multiply", "negative", "where", "not", "and", "or", "number",
    "matrix*matrix", "matrix*vector", "row_vector*matrix", "row_vector*vector",
    "vector*row_vector",
)  # fmt: skip
_FUNCTIONS = (
    "square", "abs", "fabs", "fmin", "fmax", "min:numbers", "max:numbers", "fma", "fdim", "step",
    "sin", "cos", "tanh", "atan", "inv_logit", "Phi", "Phi_approx", "erf", "erfc", "log1p_exp",
    "log_sum_exp:numbers", "log_inv_logit", "log1m_inv_logit", "log_sum_exp", "softmax",
    "log_softmax", "sum", "mean", "dot_product", "dot_self", "cumulative_sum", "min", "max",
)  # fmt: skip
FINITE = frozenset({*_OPERATORS, *_FUNCTIONS, *(o.name for o in COMPARISONS.values())})
_NO_FINITE_ONE = ("log_diff_exp",)  # at equal arguments
HARMLESS = {name: at for name, at in SAFE.items() if name not in _NO_FINITE_ONE}
_LARGE = 1e100  # numbers up to this one, and positive ones down to its inverse, stay as they are


def harmless(value: Value, counted: Value, positive: bool) -> Value:
    """Return numbers with ones where these do not count and may make infinite ones.

    Parameters
    ----------
    value : numbers that are known
    counted : where the result of the operation counts, a number or one for each lane
    positive : whether the operation is such that numbers from zero down may do so
    """
    array = np.asarray(value.array)
    fine = np.abs(array) < _LARGE
    if positive:
        fine &= array > 1.0 / _LARGE
    if fine.all():
        return value
    counts = np.asarray(counted.array, dtype=bool)
    if counted.laned:
        counts = counts.reshape(-1, *(1,) * value.rank)
        if not value.laned:
            array, fine = array[None], fine[None]
    found = np.where(counts | fine, array, np.asarray(1, dtype=array.dtype))[()]
    return Value(value.kind, found, laned=value.laned or counted.laned)
