"""The multivariate normal distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Real
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.informed_directions import Along, InformedAlong
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.distributions.vector.conditioning import complete_normal
from probmodel.distributions.vector.matrix_forms import (
    Covariance,
    CovarianceRoot,
    KnownDirections,
    MatrixArguments,
    Precision,
)
from probmodel.expressions import Expression, call_of
from probmodel.numerics.linalg import cholesky, log_det_lower, solve_lower, transpose
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class MvNormal(OfStandardNormal, MatrixArguments):
    r"""Multivariate normal distribution, by its covariance, Cholesky factor or precision.

    .. math:: p(y) = (2\pi)^{-n/2} |\Sigma|^{-1/2}
              \exp\{-\tfrac12 (y - \mu)' \Sigma^{-1} (y - \mu)\}

    Parameters
    ----------
    loc : mean :math:`\mu`, (n,) or a number for all elements
    covariance : :math:`\Sigma`, (n, n), symmetric positive definite
    cholesky : its lower Cholesky factor :math:`L`, :math:`\Sigma = L L'`
    precision : its inverse :math:`\Sigma^{-1}`

    Exactly one of the three matrices is given. The value is a vector of length n.

    Notes
    -----
    Stan: ``multi_normal``, ``multi_normal_cholesky``, ``multi_normal_prec``. SciPy:
    ``multivariate_normal(loc, covariance)``. A matrix that does not depend on parameters is
    factorised once, and so is one or the sum of two of them, each times a number that may:
    ``sa**2 * A + se**2 * np.eye(n)``. Of symmetric matrices the lower triangle is read, and
    derivatives are taken with respect to symmetric changes.

    Raises
    ------
    ModelError
        If not exactly one matrix is given.
    """

    signature: ClassVar = {
        "loc": Parameter(Real(), event_ndim=1, spreads=True),
        "matrix": {"covariance": Covariance, "cholesky": CovarianceRoot, "precision": Precision},
    }
    event_ndim = 1
    takes_pseudo_data = "elements"
    domain = Real()
    any_root = True

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN for a matrix that is not positive definite."""
        loc, matrix = params
        w = self.forms["matrix"].vectors(matrix)
        z = w.whiten(value - loc)
        return w.log_det - 0.5 * xp.sum(z * z, axis=-1) - 0.5 * LOG_2PI * z.shape[-1]

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information on mean and matrix, which are orthogonal."""
        (_, matrix), (change_of_loc, change_of_matrix) = params, changes
        n = matrix.shape[-1]
        total: Any = 0.0
        if change_of_loc is not None:
            z = self.forms["matrix"].vectors(matrix).whiten(change_of_loc + np.zeros(n))
            total = xp.sum(z * z, axis=-1)
        if change_of_matrix is not None:
            s = self.forms["matrix"].whitened_change(matrix, change_of_matrix + np.zeros((n, n)))
            total = total + 0.5 * xp.sum(s * s, axis=(-2, -1))
        return total

    def condition(self, free: Array, value: Array, known: Array, *params: Array) -> Array:
        """Give the unknown elements what follows from the known ones."""
        matrix = np.asarray(params[1])
        varies = matrix.ndim == value.ndim + 1 and len(matrix) == len(value)

        def covariance(rows: slice) -> Array:
            return self.forms["matrix"].covariance(matrix[rows] if varies else matrix)

        return complete_normal(free, value, known, covariance, value[0, ..., 0].size)

    def moments(self, event: tuple[int, ...], *params: Array) -> tuple[Array, Array]:
        """Mean and covariance."""
        loc, matrix = params
        return loc, self.forms["matrix"].covariance(matrix)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Mix and shift independent standard normal coordinates."""
        loc, matrix = params
        return loc + self.forms["matrix"].vectors(matrix).color(z)

    def along(self, xp: Any, size: int, *params: Any) -> Along:
        """Return what a vector is made of, where its directions are known."""
        form = self.forms["matrix"]
        assert isinstance(form, KnownDirections)
        return Along(params[0], form.root, form.log_det, form.variances(params[1]))

    def informed(self, information: Any, value: Any = 0.0) -> Distribution:
        """Return the conditional distribution given the observations."""
        loc, matrix = self.args.values()
        form = self.forms["matrix"]
        if isinstance(form, KnownDirections):
            turn = _turn(form.root, information) if form.is_uniform else None
            return InformedAlong(self, information, value, turn)
        upper = form.colors_by_upper
        known = isinstance(form, CovarianceRoot)
        root = matrix if known else _called(form.root_of, (matrix,), (2,))
        inner = _called(_inner_of_upper if upper else _inner_of_lower, (root, information), (2, 1))
        return _InformedNormal(loc, root, inner, information, value, upper=upper)


class _InformedNormal(OfStandardNormal):
    r"""What a multivariate normal vector is sampled by once data tell about its elements.

    With :math:`\Sigma = R R'` and a diagonal matrix :math:`J` of information on each element, the
    covariance is :math:`V = (\Sigma^{-1} + J)^{-1} = R (I + R' J R)^{-1} R'`. Of its roots the one
    that is triangular as R is colours: it is R without information and tends to
    :math:`J^{-1/2}` with much. Any other would turn the vector by an angle that depends on
    :math:`\Sigma`, even where the data tell all there is to know of it.

    Parameters
    ----------
    loc : of the prior
    root : R, (n, n), triangular
    inner : lower root of I + R' J R, of R with its columns in the order of z, see `_ordered`
    information, value : J and what was observed, (n,)
    upper : whether R is upper triangular
    """

    parameters: ClassVar = {
        "loc": Parameter(Real(), event_ndim=1, spreads=True),
        "root": Parameter(Real(), event_ndim=2),
        "inner": Parameter(Real(), event_ndim=2),
        "information": Parameter(Real(), event_ndim=1, spreads=True),
        "value": Parameter(Real(), event_ndim=1, spreads=True),
    }
    event_ndim = 1

    def __init__(self, *args: Any, upper: bool) -> None:
        super().__init__(*args)
        self._upper = upper

    @property
    def prior_form(self) -> Distribution | None:
        """The prior by the root, so that it is factorised once."""
        loc, root, *_ = self.args.values()
        return None if self._upper else MvNormal(loc, cholesky=root)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Mix and shift independent standard normal coordinates."""
        loc, root, inner, information, value = params
        root = _ordered(root, self._upper)
        pull = transpose(root) @ (information * (value - loc))[..., None]
        w = solve_lower(inner, pull) + _ordered(z, self._upper)[..., None]
        return loc + (root @ solve_lower(inner, w, transposed=True))[..., 0]

    def noncentered_log_det(self, xp: Any, event: tuple[int, ...], *params: Any) -> Any:
        """Return the log determinant of the map, as an expression."""
        return _called(_log_det_of_ratio, params[1:3], (2, 2))


def _ordered(z: Any, upper: bool) -> Any:
    """Reverse the last axis if R is lower triangular, so that the product of both roots is."""
    return z if upper else z[..., ::-1]


def _inner_of_upper(xp: Any, root: Any, information: Any) -> Any:
    n = np.shape(root)[-1]
    told = (information + np.zeros(n))[..., None] * root
    return cholesky(np.eye(n) + transpose(root) @ told)


def _inner_of_lower(xp: Any, root: Any, information: Any) -> Any:
    return _inner_of_upper(xp, _ordered(root, upper=False), information)


def _log_det_of_ratio(xp: Any, root: Any, inner: Any) -> Any:
    return log_det_lower(root) - log_det_lower(inner)


def _called(function: Callable[..., Any], args: Sequence[Any], event_ndims: Sequence[int]) -> Any:
    """Return a formula of arrays with these event axes: its value, or an expression."""
    if not any(isinstance(arg, Expression) for arg in args):
        return function(np, *(np.asarray(arg, dtype=float) for arg in args))
    return call_of(function, args, event_ndims)


def _turn(root: Array, information: Any) -> Array | None:
    """Return what turns the columns of a root R so that R' J R is diagonal, where J is known.

    That of several vectors is on average.
    """
    if isinstance(information, Expression):
        return None
    n = len(root)
    each = np.mean((information + np.zeros(n)).reshape(-1, n), axis=0)
    return np.asarray(np.linalg.eigh(root.T @ (each[:, None] * root))[1])
