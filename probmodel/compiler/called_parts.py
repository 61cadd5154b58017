"""Parts of a model that have no operations of their own: functions in NumPy are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.compiler.differentiation import taken
from probmodel.compiler.python_calls import SOLVERS, called, is_unknown
from probmodel.compiler.symbols import positions
from probmodel.distributions.base import Distribution
from probmodel.distributions.sums import summed
from probmodel.numerics import linalg, square_matrices

Shape = tuple[int, ...]


def called_density(distribution: Distribution, operands: Sequence[Any]) -> Any:
    """Sum the log density of a distribution, whose operands have axes that broadcast."""
    return called(distribution.name, partial(summed, distribution), operands, ())


# -- operations of the language: functions of the shape of the result, and of the operands ---------


def _formula(
    shape: Shape,
    *operands: Any,
    function: Callable[..., Any],
    event_ndims: Sequence[int],
    primitive: Callable[..., Any] | None,
) -> Any:
    rank = max(np.ndim(o) - e for o, e in zip(operands, event_ndims, strict=True))
    aligned = [_padded(o, rank + e) for o, e in zip(operands, event_ndims, strict=True)]
    run = primitive or (lambda *args: function(anp, *args))
    return called(function.__name__, run, aligned, shape)


def _padded(x: Any, rank: int) -> Any:
    """Give what is unknown axes of length one in front."""
    missing = rank - np.ndim(x)
    return anp.reshape(x, (1,) * missing + np.shape(x)) if missing and is_unknown(x) else x


def _function_of_matrix(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda shape, a: called(function.__name__, function, [a], shape)


def _solve(shape: Shape, a: Any, b: Any) -> Any:
    def solve(*operands: Any) -> Any:
        full = np.shape(operands[1])
        return called("solve", square_matrices.solve, operands, full, rows=True)

    return solve_in_stacks(a, b, solve)


def solve_in_stacks(a: Any, b: Any, solve: Callable[..., Any]) -> Any:
    """Solve as `numpy.linalg.solve` does, by a function of two stacks of matrices alike."""
    right = _column(b)
    batch = np.broadcast_shapes(np.shape(a)[:-2], np.shape(right)[:-2])
    solved = solve(_in_stack(a, batch), _in_stack(right, batch))
    return anp.reshape(solved, np.shape(solved)[:-1]) if np.ndim(b) == 1 else solved


def _in_stack(x: Any, batch: Shape) -> Any:
    """Repeat matrices along the axes in front of others."""
    shape = np.shape(x)
    full = (*batch, *shape[-2:])
    return x if shape == full else taken(x, np.broadcast_to(positions(shape), full))


def _column(x: Any) -> Any:
    return anp.reshape(x, (-1, 1)) if np.ndim(x) == 1 else x


def _matmul(shape: Shape, a: Any, b: Any) -> Any:
    left, right = anp.reshape(a, (1, -1)) if np.ndim(a) == 1 else a, _column(b)
    rank = max(np.ndim(left), np.ndim(right))
    full = np.broadcast_shapes(np.shape(left)[:-2], np.shape(right)[:-2])
    full += (np.shape(left)[-2], np.shape(right)[-1])
    operands = [_padded(left, rank), _padded(right, rank)]
    return anp.reshape(called("matmul", anp.matmul, operands, full), shape)


def _dot(shape: Shape, a: Any, b: Any) -> Any:
    if np.ndim(a) < 2 or np.ndim(b) < 3:
        return _matmul(shape, a, b)
    rows = (*np.shape(a)[:-1], np.size(b) // np.shape(b)[-2])
    return dot_of_stacks(a, b, partial(_matmul, rows))


def dot_of_stacks(a: Any, b: Any, matmul: Callable[..., Any]) -> Any:
    """Multiply (..., n) by (*batch, n, k) to (..., *batch, k), by one product of matrices."""
    *batch, n, k = np.shape(b)
    where = np.moveaxis(positions(np.shape(b)), -2, 0).reshape(n, -1)
    return anp.reshape(matmul(a, taken(b, where)), (*np.shape(a)[:-1], *batch, k))


def _solver(name: str) -> Callable[..., Any]:
    """Make the form of an operation that takes a function."""

    def solved(shape: Shape, first: Any, *captured: Any, **options: Any) -> Any:
        kinds = [np.shape(c) if is_unknown(c) else c for c in captured]
        solver = SOLVERS[name](shape, np.shape(first), kinds, **options)
        operands = [first, *(c for c in captured if is_unknown(c))]
        return called(name, solver, operands, shape, rows=True)

    return solved


CALLED: dict[str, Callable[..., Any]] = {
    "call": _formula,
    "inv": _function_of_matrix(square_matrices.inv),
    "det": _function_of_matrix(square_matrices.det),
    "log_determinant": _function_of_matrix(square_matrices.log_abs_det),
    "cholesky": _function_of_matrix(linalg.cholesky),
    "solve": _solve,
    "matmul": _matmul,
    "dot": _dot,
    **{name: _solver(name) for name in ("solve_ode", "solve_newton")},
}
