"""Special functions of this package as formulas of symbols.

Those that are not here are made of NumPy's functions and of others of these: they are written down
as they run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from probmodel.compiler.array_functions import concatenate, on_stacks, recurrence, stack, where
from probmodel.compiler.python_calls import called
from probmodel.compiler.symbols import (
    FORMULAS,
    NotTraceableError,
    Symbol,
    place,
    positions,
    record,
    spread,
    value_of,
    view,
)
from probmodel.distributions.process.forward_algorithm import hmm_slopes
from probmodel.distributions.spatial import circulant
from probmodel.numerics import linalg, square_matrices
from probmodel.numerics.special.logs import log_less
from probmodel.numerics.special.passage import passage_series
from probmodel.types import Array

SMALL = 4  # rows of matrices that are factorised element by element
LARGE = 40  # rows, beyond which LAPACK is faster


def _scipy(name: str) -> Callable[..., Any]:
    def recorded(*args: Any) -> Any:
        import scipy.special

        return record(name, getattr(scipy.special, name), args)

    return recorded


def _polygamma(n: int, x: Any) -> Any:
    import scipy.special

    factor = (-1.0) ** (n + 1) * float(scipy.special.factorial(n))
    return factor * record("zeta", scipy.special.zeta, (n + 1.0, x))


def _log1m_exp(x: Any) -> Any:
    log_2 = float(np.log(2.0))
    small = np.log(-np.expm1(-np.minimum(x, log_2)))
    return where(x < log_2, small, np.log1p(-np.exp(-np.maximum(x, log_2))))


def _erfinv(y: Any) -> Any:
    """Improve quantiles of the normal distribution, which are inaccurate near zero, by a step."""
    first = np.sqrt(0.5) * _scipy("ndtri")(0.5 + 0.5 * y)
    inside = np.isfinite(first)
    x = where(inside, first, 0.0)
    step = (_scipy("erf")(x) - y) * np.exp(x * x) * (0.5 * np.sqrt(np.pi))
    return where(inside, x - step, first)


def _log_less(y: Any, m: Any) -> Any:
    """Take the logarithm of known numbers apart, so that no digits are lost near it.

    Numbers that were computed are rounded already, and have no more digits than their logarithm.
    """
    if isinstance(y, Symbol):
        if _is_input(y):
            raise NotTraceableError("digits of a logarithm")
        return (y.args[0] if y.op == "exp" else np.log(y)) - m
    log = np.log(y)
    return (log - m) + log_less(y, log)


def _is_input(y: Symbol) -> bool:
    """Whether a symbol stands for numbers that are given, in whatever order."""
    while y.op == "view":
        y = y.args[0]
    return y.op == "input"


def _diagonal(a: Any) -> Any:
    return view(a, np.diagonal(positions(np.shape(a)), axis1=-2, axis2=-1))


def _embed_diagonal(d: Any) -> Any:
    return _along_time(d) * np.eye(np.shape(d)[-1])


def _along_time(number: Any) -> Any:
    return np.expand_dims(number, -1)


def _linear_recurrence(a: Any, x: Any, initial: Any, axis: int = -1) -> Any:
    shape = np.broadcast_shapes(np.shape(a), np.shape(x), np.shape(initial))
    a, x, initial = (np.moveaxis(spread(v, shape), axis, -1) for v in (a, x, initial))
    first = np.arange(shape[axis]) == 0
    return np.moveaxis(recurrence(x + where(first, a * initial, 0.0), a), -1, axis)


def _ar1_path(z: Any, phi: Any, sigma: Any, mean: Any) -> Any:
    start = np.reciprocal(np.sqrt((1.0 - phi) * (1.0 + phi)))
    first = np.arange(np.shape(z)[-1]) == 0
    path = recurrence(z * where(first, _along_time(start), 1.0), _along_time(phi))
    return path * _along_time(sigma) + _along_time(mean)


def _finite_filter(coefficients: Any, x: Any) -> Any:
    n, q = np.shape(x)[-1], np.shape(coefficients)[-1]
    batch = np.broadcast_shapes(np.shape(coefficients)[:-1], np.shape(x)[:-1])
    padded = concatenate([np.zeros((*batch, q)), spread(x, (*batch, n))], -1)
    lags = (coefficients[..., k, None] * padded[..., q - 1 - k : q - 1 - k + n] for k in range(q))
    return sum(lags, x)


def _recursive_filter(coefficients: Any, x: Any) -> Any:
    q = np.shape(coefficients)[-1]
    return recurrence(x, *(_along_time(coefficients[..., k]) for k in range(q)))


def _cholesky(a: Any) -> Any:
    """Cholesky factors; of small matrices element by element."""
    n = np.shape(a)[-1]
    if n > SMALL:
        batch = np.shape(a)[:-2]
        return on_stacks("factor", batch, [(a, (_not_large(n), n))], linalg.cholesky)
    rows = _elements(a, n)
    factor: list[list[Any]] = [[np.zeros(np.shape(a)[:-2])] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            rest = rows[i][j] - sum(factor[i][k] * factor[j][k] for k in range(j))
            factor[i][j] = np.sqrt(rest) if i == j else rest / factor[j][j]
    good = sum(factor[i][i] for i in range(n))  # NaN where a pivot is not positive
    good = where(factor[n - 1][n - 1] > 0.0, good, np.nan)
    unknown = where(np.isnan(good), np.nan, 0.0)
    return stack([stack([e + unknown for e in row], -1) for row in factor], -2)


def _solve_lower(factor: Any, b: Any, transposed: bool = False) -> Any:
    """Solve with triangular factors; with small ones element by element."""
    n = np.shape(factor)[-1]
    if n > SMALL:
        batch = np.broadcast_shapes(np.shape(factor)[:-2], np.shape(b)[:-2])
        operands = [(factor, (_not_large(n), n)), (b, np.shape(b)[-2:])]
        solve = partial(linalg.solve_lower, transposed=transposed)
        return on_stacks("solve", batch, operands, solve, transposed)
    rows = _elements(factor, n)
    order = range(n)[::-1] if transposed else range(n)
    solved: dict[int, Any] = {}
    for i in order:
        known = sum(
            (rows[k][i] if transposed else rows[i][k])[..., None] * value
            for k, value in solved.items()
        )
        solved[i] = (b[..., i, :] - known) / rows[i][i][..., None]
    return stack([solved[i] for i in range(n)], -2)


def _equations(a: Any, b: Any) -> Any:
    """Solve with square matrices of any kind."""
    n = np.shape(a)[-1]
    if n == 1:
        return where(np.equal(a, 0.0), np.nan, b / a)
    batch = np.broadcast_shapes(np.shape(a)[:-2], np.shape(b)[:-2])
    operands = [(a, (_not_large(n), n)), (b, np.shape(b)[-2:])]
    return on_stacks("equations", batch, operands, square_matrices.solve)


def _inverse(a: Any) -> Any:
    return _equations(a, np.eye(np.shape(a)[-1]))


def _determinant(a: Any, log: bool = False) -> Any:
    n, batch = np.shape(a)[-1], np.shape(a)[:-2]

    def at_a_point(a: Array) -> Any:
        return (square_matrices.log_abs_det(a) if log else square_matrices.det(a))[:, None, None]

    found = on_stacks("determinant", batch, [(a, (_not_large(n), n))], at_a_point, log)
    return found[..., 0, 0]


def _not_large(n: int) -> int:
    if n > LARGE:
        raise NotTraceableError(f"{n} by {n} matrices")
    return n


def _elements(a: Any, n: int) -> list[list[Any]]:
    return [[a[..., i, j] for j in range(n)] for i in range(n)]


def _lagged_products(g: Any, x: Any, count: int) -> Any:
    n = np.shape(x)[-1]
    return stack(
        [
            np.sum(g[..., k + 1 :] * x[..., : n - 1 - k], axis=-1) if k < n - 1
            else np.zeros(np.broadcast_shapes(np.shape(g)[:-1], np.shape(x)[:-1]))
            for k in range(count)
        ],
        -1,
    )  # fmt: skip


def _graph_product(vectors: Any, matrix: Any) -> Any:
    entries = matrix.tocoo()
    where = positions(np.shape(vectors))
    products = view(vectors, where[..., entries.col]) * entries.data
    return place(products, where[..., entries.row], np.shape(vectors))


def _hmm_slopes(log_emissions: Any, initial: Any, transition: Any) -> Any:
    K = np.shape(log_emissions)[-1]
    args = (log_emissions, np.expand_dims(initial, -2), transition)
    shapes = (np.shape(log_emissions)[-2:], (1, K), (K, K))
    batch = np.broadcast_shapes(*(np.shape(a)[:-2] for a in args))

    def at_a_point(e: Array, p: Array, A: Array) -> Array:
        return hmm_slopes(e, p[:, 0], A)[:, None]

    operands = list(zip(args, shapes, strict=True))
    return on_stacks("hidden Markov", batch, operands, at_a_point)[..., 0, :]


def _ratio(x: Any, y: Any) -> Any:
    zero = np.equal(y, 0.0)
    return where(zero, 0.0, x / where(zero, 1.0, y))


def _alike(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call a function of arrays whose axes broadcast against each other, the last ones first."""

    def recorded(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            shape = np.shape(function(*map(value_of, args)))
        rank = max(np.ndim(a) for a in args if isinstance(a, Symbol))
        aligned = [
            np.reshape(a, (1,) * (rank - a.ndim) + a.shape) if isinstance(a, Symbol) else a
            for a in args
        ]
        return called(function.__name__, function, aligned, shape)

    return recorded


CALLED_ALIKE = (
    circulant.eigenvalues, circulant.from_eigenvalues, circulant.multiply, circulant.power,
)  # fmt: skip
FORMULAS.update({function.__name__: _alike(function) for function in CALLED_ALIKE})
FORMULAS.update({
    **{
        name: _scipy(name)
        for name in (
            "gammaln", "betaln", "expit", "log_expit", "erf", "erfc", "ndtr", "log_ndtr",
            "ndtri", "i0e", "i1e",
        )
    },
    "logit": lambda p: np.log(p / (1.0 - p)),
    "xlogy": lambda x, y: where(np.equal(x, 0.0), 0.0, x * np.log(y)),
    "xlog1py": lambda x, y: where(np.equal(x, 0.0), 0.0, x * np.log1p(y)),
    "digamma": _scipy("psi"),
    "erfinv": _erfinv,
    "polygamma": _polygamma,
    "where": where,
    "log1p_exp": lambda x: np.logaddexp(0.0, x),
    "log1m_exp": _log1m_exp,
    "inverse_expm1": lambda x: np.exp(-x) / -np.expm1(-x),
    "inverse_mills": lambda x: (
        np.sqrt(2.0 / np.pi) / _scipy("erfcx")(-np.sqrt(0.5) * x)
    ),
    "ratio": _ratio,
    "hmm_slopes": _hmm_slopes,
    "hmm_log_likelihood": lambda *args: _hmm_slopes(*args)[..., 0],
    "graph_product": _graph_product,
    "log_less": _log_less,
    "log_passage": lambda u, w: passage_series(u, w, 0)[0],
    "passage_ratio": lambda n, u, w: passage_series(u, w, n)[1][n - 1],
    "diagonal": _diagonal,
    "embed_diagonal": _embed_diagonal,
    "geometric_filter": lambda ratio, x: recurrence(x, _along_time(ratio)),
    "recursive_filter": _recursive_filter,
    "cholesky": _cholesky,
    "solve_lower": _solve_lower,
    "solve": _equations,
    "inv": _inverse,
    "det": _determinant,
    "log_abs_det": partial(_determinant, log=True),
    "linear_recurrence": _linear_recurrence,
    "ar1_path": _ar1_path,
    "finite_filter": _finite_filter,
    "lagged_products": _lagged_products,
    "product": lambda x, y: where(np.equal(x, 0.0), 0.0, x * y),
})  # fmt: skip
