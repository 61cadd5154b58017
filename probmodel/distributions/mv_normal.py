"""The multivariate normal distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import CholeskyFactor, PositiveDefinite, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import (
    Distribution,
    Parameter,
    Summed,
    Thunk,
    batch_shape,
    reduce_to,
    row_sum,
)
from probmodel.distributions.normal import Normal
from probmodel.distributions.whitening import (
    FixedGaussian,
    Memory,
    Whitening,
    from_constant_lower,
    from_constant_precision_root,
    from_lower,
    from_precision_root,
    one_by_one,
    well_conditioned,
)
from probmodel.errors import ModelError
from probmodel.expressions import caller_location
from probmodel.linalg import cholesky, diagonal, embed_diagonal, solve_lower, transpose
from probmodel.special import LOG_2PI
from probmodel.types import Array


class MvNormal(Distribution):
    r"""Multivariate normal distribution, by its covariance, Cholesky factor or precision.

    .. math:: p(y) = (2\pi)^{-n/2} |\Sigma|^{-1/2}
              \exp\{-\tfrac12 (y - \mu)' \Sigma^{-1} (y - \mu)\}

    Parameters
    ----------
    loc : mean :math:`\mu`, (n,)
    covariance : :math:`\Sigma`, (n, n), symmetric positive definite
    cholesky : its lower Cholesky factor :math:`L`, :math:`\Sigma = L L'`
    precision : its inverse :math:`\Sigma^{-1}`

    Exactly one of the three matrices is given. The value is a vector of length n.

    Notes
    -----
    Stan: ``multi_normal``, ``multi_normal_cholesky``, ``multi_normal_prec``. SciPy:
    ``multivariate_normal(loc, covariance)``. A matrix that does not depend on parameters is
    factorised once. Of symmetric matrices the lower triangle is read, and derivatives are taken
    with respect to symmetric changes.

    Raises
    ------
    ModelError
        If not exactly one matrix is given.
    """

    parameters: ClassVar = {
        "loc": Parameter(Real(), event_ndim=1),
        "covariance": Parameter(PositiveDefinite(), event_ndim=2),
    }
    event_ndim = 1
    blockwise = False

    def __new__(cls, *args: Any, **kwargs: Any) -> MvNormal:
        """Return an instance of the class for the matrix that is given."""
        if cls is not MvNormal or not (args or kwargs):
            return object.__new__(cls)
        given = [name for name in _FORMS if name in kwargs]
        if len(args) > 1 and "covariance" not in given:
            given.insert(0, "covariance")
        if len(given) != 1:
            raise ModelError(
                "MvNormal takes loc and exactly one of covariance=, cholesky= and precision=; "
                f"{' and '.join(given) or 'none'} was given.",
                location=caller_location(),
                expected=list(_FORMS),
                given=given,
            )
        return object.__new__(_FORMS[given[0]])

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._constant = Memory(self._constant_whitening)

    @property
    def name(self) -> str:
        """The distribution's name as it is printed."""
        return "MvNormal"

    def support(self) -> Constraint:
        """All real numbers, in each coordinate."""
        return Real()

    def _whitening(self, matrix: Any) -> Whitening:
        """Whitening that belongs to a parameter that varies."""
        return one_by_one(from_lower(cholesky(matrix)))

    def _constant_whitening(self, matrix: Array) -> Whitening:
        return from_constant_lower(cholesky(matrix))

    def _of(self, matrix: Any) -> Whitening:
        if isinstance(matrix, np.ndarray) and matrix.ndim == 2:
            return self._constant(matrix)
        return self._whitening(matrix)

    def _slope_in_matrix(self, xp: Any, dual: Any, matrix: Any) -> Any:
        """Return the derivative in the matrix, given ``dual = W'W(y - loc)``."""
        outer = dual[..., :, None] * dual[..., None, :]
        return 0.5 * (outer - _inverse(cholesky(matrix)))

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN for a matrix that is not positive definite."""
        loc, matrix = params
        w = self._of(matrix)
        z = w.whiten(value - loc)
        return w.log_det - 0.5 * xp.sum(z * z, axis=-1) - 0.5 * LOG_2PI * z.shape[-1]

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to value, mean and matrix."""
        loc, matrix = params
        w = self._of(matrix)
        dual = w.adjoint(w.whiten(value - loc))
        return (lambda: -dual, lambda: dual, lambda: self._slope_in_matrix(xp, dual, matrix))

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information on mean and matrix, which are orthogonal."""
        (_, matrix), (change_of_loc, change_of_matrix) = params, changes
        n = matrix.shape[-1]
        total: Any = 0.0
        if change_of_loc is not None:
            z = self._of(matrix).whiten(change_of_loc + np.zeros(n))
            total = xp.sum(z * z, axis=-1)
        if change_of_matrix is not None:
            s = self._whitened_change(matrix, change_of_matrix + np.zeros((n, n)))
            total = total + 0.5 * xp.sum(s * s, axis=(-2, -1))
        return total

    def _whitened_change(self, matrix: Array, change: Any) -> Any:
        """Change of the matrix, whitened by the matrix: (..., n, n).

        The inverse of a matrix changes by as much, with the other sign, so this serves covariances
        and precisions. Only the symmetric part of a change counts.
        """
        root = cholesky(matrix)
        s = solve_lower(root, transpose(solve_lower(root, change)))
        return 0.5 * (s + transpose(s))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw vectors: ``shape`` ends with their length."""
        return np.asarray(self.noncentered(np, rng.standard_normal(shape), *params))

    def prepared(self, known: Sequence[Any]) -> Summed:
        """Turn a known matrix into a precision; value or mean must be known too."""
        value, loc, matrix = known
        if matrix is None or (value is None) == (loc is None) or np.ndim(matrix) != 2:
            return self.summed
        center = np.asarray(loc if value is None else value, dtype=float)
        whitening = self._constant_whitening(np.asarray(matrix, dtype=float))
        if center.ndim != 1 or not well_conditioned(whitening.color(np.eye(center.size))):
            return self.summed
        return FixedGaussian(whitening, center, 0 if value is None else 1)

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of the log density per chain, with partials, from one whitened residual."""
        loc, matrix = params
        batch = batch_shape((value, *params), (1, 1, 2))
        w = self._of(matrix)
        z = w.whiten(value - loc)
        logp = row_sum(w.log_det - 0.5 * np.vecdot(z, z) - 0.5 * LOG_2PI * z.shape[-1], batch)
        if not wanted:
            return logp, []
        dual = w.adjoint(z)
        partials = []
        for i in wanted:
            if i == 2:
                full = self._slope_in_matrix(np, dual, matrix)
                partials.append(reduce_to(matrix, full, batch, 2))
            else:
                partial = reduce_to((value, loc)[i], dual, batch, 1)
                partials.append(partial if i else -partial)
        return logp, partials

    def base(self) -> Distribution:
        """Return the standard normal: independent coordinates."""
        return Normal(0.0, 1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Mix and shift independent standard normal coordinates."""
        loc, matrix = params
        return loc + self._of(matrix).color(z)


class MvNormalCholesky(MvNormal):
    """`MvNormal` given the Cholesky factor of its covariance."""

    parameters: ClassVar = {
        "loc": Parameter(Real(), event_ndim=1),
        "cholesky": Parameter(CholeskyFactor(), event_ndim=2),
    }

    def _whitening(self, matrix: Any) -> Whitening:
        return one_by_one(from_lower(matrix))

    def _constant_whitening(self, matrix: Array) -> Whitening:
        return from_constant_lower(np.tril(matrix))

    def _slope_in_matrix(self, xp: Any, dual: Any, matrix: Any) -> Any:
        z = xp.matmul(transpose(matrix), dual[..., None])
        outer = dual[..., :, None] * transpose(z)
        lower = np.tril(np.ones(np.shape(matrix)[-2:]))
        return outer * lower - embed_diagonal(1.0 / diagonal(matrix))

    def _whitened_change(self, matrix: Array, change: Any) -> Any:
        lower = np.tril(np.ones(np.shape(matrix)[-2:]))
        s = solve_lower(matrix, change * lower)
        return s + transpose(s)


class MvNormalPrecision(MvNormal):
    """`MvNormal` given the inverse of its covariance."""

    parameters: ClassVar = {
        "loc": Parameter(Real(), event_ndim=1),
        "precision": Parameter(PositiveDefinite(), event_ndim=2),
    }

    def _whitening(self, matrix: Any) -> Whitening:
        return one_by_one(from_precision_root(cholesky(matrix)))

    def _constant_whitening(self, matrix: Array) -> Whitening:
        return from_constant_precision_root(cholesky(matrix))

    def _slope_in_matrix(self, xp: Any, dual: Any, matrix: Any) -> Any:
        covariance = _inverse(cholesky(matrix))
        residual = xp.matmul(covariance, dual[..., None])
        return 0.5 * (covariance - residual * transpose(residual))


def _inverse(root: Any) -> Any:
    """Inverse of ``L L'``: (..., n, n)."""
    eye = np.eye(np.shape(root)[-1])
    return solve_lower(root, solve_lower(root, eye), transposed=True)


_FORMS: dict[str, type[MvNormal]] = {
    "covariance": MvNormal,
    "cholesky": MvNormalCholesky,
    "precision": MvNormalPrecision,
}
