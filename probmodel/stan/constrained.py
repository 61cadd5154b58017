"""Vectors and matrices that a type constrains: what they must be, and what is wrong with one.

Tolerances are Stan's: 1e-8 for sums, lengths, diagonals of correlations, and symmetry.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from probmodel import constraints as c
from probmodel.types import Array

_TOLERANCE = 1e-8


class Constrained(NamedTuple):
    """A constraint of vectors or matrices.

    Attributes
    ----------
    check : of an array, whether each vector or matrix in its last axes is one
    what : what each must be, in words
    fault : of one that is not, what is wrong, in words; places count from 1
    violated : in operations that symbols have too, where something is wrong, as what is NaN is;
        none of covariances and factors, which fail where they are used
    """

    check: Callable[[Array], Array]
    what: str
    fault: Callable[[Array], str]
    violated: tuple[Callable[[Any], Any], ...] = ()


def _lower(y: Array) -> Array:
    """Whether matrices, with no more columns than rows, are factors."""
    return np.asarray(
        np.isfinite(y).all(axis=(-2, -1))
        & (np.triu(y, 1) == 0).all(axis=(-2, -1))
        & (np.diagonal(y, axis1=-2, axis2=-1) > 0).all(axis=-1)
        & (y.shape[-2] >= y.shape[-1])
    )


def _definite(y: Array) -> Array:
    """Whether matrices are symmetric and positive definite."""
    finite = np.asarray(np.isfinite(y).all(axis=(-2, -1)))
    usable = np.where(finite[..., None, None], y, np.eye(y.shape[-1]))
    symmetric = (np.abs(usable - np.swapaxes(usable, -1, -2)) <= _TOLERANCE).all(axis=(-2, -1))
    return np.asarray(finite & symmetric & (np.linalg.eigvalsh(usable) > 0).all(axis=-1))


def _correlations(y: Array) -> Array:
    ones = np.abs(np.diagonal(y, axis1=-2, axis2=-1) - 1.0) <= _TOLERANCE
    return np.asarray(_definite(y) & ones.all(axis=-1))


def _place(bad: Array) -> str:
    """Return the place of the first element that is true, from 1: ``[2, 1]``."""
    return f"[{', '.join(str(i + 1) for i in np.argwhere(bad)[0])}]"


def _sum_fault(y: Array) -> str:
    if not (y >= 0).all():
        bad = ~(y >= 0)
        return f"element {_place(bad)} is {y[bad][0]:.9g}"
    return f"its elements sum to {y.sum():.9g}"


def _zero_fault(y: Array) -> str:
    if y.ndim == 1 or not np.isfinite(y).all():
        return f"its elements sum to {y.sum():.9g}"
    for axis, what in ((1, "row"), (0, "column")):
        sums = y.sum(axis=axis)
        worst = int(np.abs(sums).argmax())
        if abs(sums[worst]) > _TOLERANCE:
            return f"{what} {worst + 1} sums to {sums[worst]:.9g}"
    return ""


def _stochastic_fault(axis: int) -> Callable[[Array], str]:
    def fault(y: Array) -> str:
        if not (y >= 0).all():
            return _sum_fault(y)
        sums = y.sum(axis=axis)
        worst = int(np.abs(sums - 1.0).argmax())
        return f"{'row' if axis == -1 else 'column'} {worst + 1} sums to {sums[worst]:.9g}"

    return fault


def _order_fault(y: Array) -> str:
    bad = ~(np.diff(y) > 0)
    if not bad.any():
        return f"element [1] is {y[0]:.9g}" if not y[0] >= 0 else "an element is not finite"
    i = int(bad.argmax())
    return f"elements {i + 1} and {i + 2} are {y[i]:.9g} and {y[i + 1]:.9g}"


def _matrix_fault(y: Array) -> str:
    if not np.isfinite(y).all():
        return f"element {_place(~np.isfinite(y))} is not finite"
    gap = np.abs(y - y.T)
    if gap.max() > _TOLERANCE:
        i, j = np.unravel_index(gap.argmax(), gap.shape)
        return (
            f"elements [{i + 1}, {j + 1}] and [{j + 1}, {i + 1}] are {y[i, j]:.9g} and "
            f"{y[j, i]:.9g}"
        )
    return f"its smallest eigenvalue is {np.linalg.eigvalsh(y)[0]:.9g}"


def _correlation_fault(y: Array) -> str:
    off = ~(np.abs(np.diag(y) - 1.0) <= _TOLERANCE)
    if off.any() and np.isfinite(y).all():
        i = int(off.argmax())
        return f"element [{i + 1}, {i + 1}] is {y[i, i]:.9g}"
    return _matrix_fault(y)


def _factor_fault(y: Array) -> str:
    if y.shape[0] < y.shape[1]:
        return f"it has {y.shape[0]} rows and {y.shape[1]} columns"
    above = np.triu(y, 1) != 0
    if above.any():
        return f"element {_place(above)}, above the diagonal, is {y[above][0]:.9g}"
    bad = ~(np.diag(y) > 0)
    if bad.any():
        i = int(bad.argmax())
        return f"element [{i + 1}, {i + 1}], on the diagonal, is {y[i, i]:.9g}"
    if not np.isfinite(y).all():
        return f"element {_place(~np.isfinite(y))} is not finite"
    squares = (y * y).sum(axis=1)
    worst = int(np.abs(squares - 1.0).argmax())
    return f"the squares of row {worst + 1} sum to {squares[worst]:.9g}"


def _positive_ordered(y: Array) -> Array:
    return np.asarray(c.Ordered().check(y) & (y[..., 0] >= 0))


def _sums_off(value: float, axis: int = -1) -> Callable[[Any], Any]:
    return lambda y: np.logical_not(np.abs(np.sum(y, axis=axis) - value) <= _TOLERANCE)


def _negative(y: Any) -> Any:
    return np.logical_not(y >= 0)


def _not_increasing(y: Any) -> Any:
    return np.logical_not(y[..., 1:] > y[..., :-1])


def _starts_below_zero(y: Any) -> Any:
    return np.logical_not(y[..., :1] >= 0)


def _of(kind: Any) -> Callable[[Array], Array]:
    return lambda y: np.asarray(kind.check(y))


CONSTRAINED: dict[str, Constrained] = {
    "simplex": Constrained(
        _of(c.Simplex()), "non-negative, with the sum 1", _sum_fault, (_negative, _sums_off(1.0))
    ),
    "unit_vector": Constrained(
        _of(c.UnitVector()),
        "of length 1",
        lambda y: f"its squares sum to {(y * y).sum():.9g}",
        (lambda y: _sums_off(1.0)(y * y),),
    ),
    "sum_to_zero_vector": Constrained(
        _of(c.SumToZero()), "of sum 0", _zero_fault, (_sums_off(0.0),)
    ),
    "sum_to_zero_matrix": Constrained(
        _of(c.SumToZeroMatrix()),
        "of sum 0 in each row and column",
        _zero_fault,
        (_sums_off(0.0), _sums_off(0.0, -2)),
    ),
    "ordered": Constrained(_of(c.Ordered()), "increasing", _order_fault, (_not_increasing,)),
    "positive_ordered": Constrained(
        _positive_ordered,
        "increasing from 0 up",
        _order_fault,
        (_not_increasing, _starts_below_zero),
    ),
    "row_stochastic_matrix": Constrained(
        _of(c.RowStochastic()),
        "non-negative, with the sum 1 in each row",
        _stochastic_fault(-1),
        (_negative, _sums_off(1.0)),
    ),
    "column_stochastic_matrix": Constrained(
        _of(c.ColumnStochastic()),
        "non-negative, with the sum 1 in each column",
        _stochastic_fault(-2),
        (_negative, _sums_off(1.0, -2)),
    ),
    "cov_matrix": Constrained(_definite, "symmetric and positive definite", _matrix_fault),
    "corr_matrix": Constrained(
        _correlations,
        "symmetric and positive definite, with ones on the diagonal",
        _correlation_fault,
    ),
    "cholesky_factor_cov": Constrained(
        _lower, "lower triangular, with a positive diagonal", _factor_fault
    ),
    "cholesky_factor_corr": Constrained(
        _of(c.CorrelationCholesky()),
        "lower triangular, with a positive diagonal and rows of length 1",
        _factor_fault,
    ),
}
