"""Gaussian processes at points and on grids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
from autograd.extend import Box

from probmodel.constraints import Positive, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.kernels import Kernel
from probmodel.distributions.scalar.normal import Normal
from probmodel.distributions.spatial.kronecker import Correlation, find_distances, grid_points
from probmodel.distributions.vector.conditioning import complete_normal
from probmodel.distributions.vector.whitening import (
    Memory,
)
from probmodel.errors import ModelError
from probmodel.expressions import Expression, caller_location, of_data
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class GaussianProcess(Distribution):
    r"""Gaussian process with constant mean, at scattered points or on a regular grid.

    .. math:: y \sim N\bigl(\mu 1, \alpha^2 (R + \epsilon I)\bigr), \qquad
              R_{ij} = \rho(|x_i - x_j| / \ell)

    Parameters
    ----------
    kernel : covariance function with amplitude :math:`\alpha` and length scale :math:`\ell`
    points : (n,) or (n, k), where the process is wanted; the value is then a vector of length n
    grid : instead of points, a sequence of axes: coordinates (n_1,), (n_2,), ...; the value then
        has shape (n_1, n_2, ...)
    mean : :math:`\mu`, one number per batch element; a mean that changes from point to point is
        added to the process, or is the ``loc`` of a `MvNormal`
    jitter : :math:`\epsilon \ge 0`, relative to the variance, for a stable factorisation

    Notes
    -----
    On a grid a separable kernel (`kernels.ExpQuad`) is factorised axis by axis, and the jitter is
    added to the correlation matrix of each axis; other kernels take one dense matrix. With a
    constant length scale the matrix is factorised once. Stan: ``gp_exp_quad_cov``,
    ``gp_exponential_cov``, ``gp_matern32_cov``, ``gp_matern52_cov`` with ``multi_normal``. SciPy:
    ``multivariate_normal``.

    References
    ----------
    Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, chapters 2, 4 and 5.
    Mardia and Marshall (1984), Maximum likelihood estimation of models for residual covariance in
    spatial regression: the information.

    Raises
    ------
    ModelError
        If not exactly one of points and grid is given, or the jitter is negative.
    """

    batch_hint: ClassVar = (
        "mean, amplitude and length scale are one number for each process. Add a mean that changes "
        "from point to point to a process f without one, mean + f, or observe a MvNormal with it"
    )

    def __init__(
        self,
        kernel: Kernel,
        points: Any = None,
        *,
        grid: Sequence[Any] | None = None,
        mean: Any = 0.0,
        jitter: float = 1e-8,
    ) -> None:
        self.location = caller_location()
        if not isinstance(kernel, Kernel):
            raise self._error(f"a kernel first, {type(kernel).__name__} was given.")
        if (points is None) == (grid is None):
            raise self._error("either points= or grid=: exactly one of them.")
        check_jitter(type(self).__name__, jitter, self.location)
        coordinates = {"points": as_columns(points)} if grid is None else _named_axes(grid)
        self.kernel, self.jitter = kernel, float(jitter)
        self.args = {
            "mean": mean,
            "amplitude": kernel.amplitude,
            "length_scale": kernel.length_scale,
            **coordinates,
        }
        parameters = {
            "mean": Parameter(Real()),
            "amplitude": Parameter(Positive()),
            "length_scale": Parameter(Positive()),
            **{
                name: Parameter(Real(), event_ndim=len(along), known=True, along=along)
                for name, along in _axes_of(coordinates, grid is not None).items()
            },
        }
        self._take_form(parameters, event_ndim=1 if grid is None else len(coordinates))
        self._kronecker = grid is not None and kernel.separable
        self._distances = Memory(self._find_distances)
        self._constant = Memory(self._factorise)

    def _error(self, expected: str) -> ModelError:
        return ModelError(f"GaussianProcess takes {expected}", location=self.location)

    def support(self) -> Constraint:
        """All real numbers, at each point."""
        return Real()

    def event_shape(self, *params: Array) -> tuple[int, ...]:
        """One value for each point, or for each point of the grid."""
        return tuple(len(coordinates) for coordinates in params[3:])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN where the matrix is not positive definite."""
        mean, amplitude, length_scale, *coordinates = params
        correlation = self._correlation(length_scale, coordinates)
        z = self._whiten(xp, correlation, value, mean, amplitude)
        return self._log_det(xp, correlation, amplitude) - 0.5 * xp.sum(z * z, axis=self._axes)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on mean, amplitude and length scale (Mardia and Marshall 1984)."""
        _, amplitude, length_scale, *coordinates = params
        correlation = self._correlation(length_scale, coordinates)
        moments = cache(correlation.stretch_moments)

        def in_mean() -> Any:
            ones = correlation.whiten(np.ones(correlation.shape))
            return np.sum(ones * ones, axis=self._axes) / (amplitude * amplitude)

        return {
            ("mean", "mean"): in_mean,
            ("amplitude", "amplitude"): lambda: 2.0 * correlation.size / (amplitude * amplitude),
            ("amplitude", "length_scale"): lambda: moments()[0] / (amplitude * length_scale),
            ("length_scale", "length_scale"): lambda: 0.5 * moments()[1] / length_scale**2,
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw processes: ``shape`` ends with their shape."""
        return np.asarray(self.noncentered(np, rng.standard_normal(shape), *params))

    def condition(self, free: Array, value: Array, known: Array, *params: Array) -> Array:
        """Give the process at new points what follows from where it is known: kriging."""
        _, _, length_scale, *coordinates = (np.asarray(p) for p in params)
        event = self.event_ndim
        varies = length_scale.ndim == value.ndim - event and len(length_scale) == len(value)

        def covariance(rows: slice) -> Array:
            scale = length_scale[rows] if varies else length_scale
            # The amplitude cancels: it multiplies all covariances alike.
            return self._correlation(scale, coordinates).matrix()

        flat, given, mask = (
            a.reshape(*a.shape[: a.ndim - event], -1) for a in (free, value, known)
        )
        completed = complete_normal(flat, given, mask, covariance, flat[0, ..., 0].size)
        return completed.reshape(value.shape)

    def moments(self, event: tuple[int, ...], *params: Array) -> tuple[Array, Array]:
        """Mean and covariance, the points of a grid in a row."""
        mean, amplitude, length_scale, *coordinates = params
        matrix = self._correlation(np.asarray(length_scale), coordinates).matrix()
        square = np.asarray(amplitude)[..., None, None] ** 2
        return np.asarray(mean)[..., None] + np.zeros(matrix.shape[-1]), square * matrix

    def base(self) -> Distribution:
        """Return the standard normal: independent values at the points."""
        return Normal(0.0, 1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Give independent standard normal values the mean and covariance of the process."""
        mean, amplitude, length_scale, *coordinates = params
        colored = self._correlation(length_scale, coordinates).color(z)
        return self._expand(xp, mean) + self._expand(xp, amplitude) * colored

    def _correlation(self, length_scale: Any, coordinates: Sequence[Array]) -> Correlation:
        """Return the factorised correlation matrix, from memory if the length scale is constant."""
        if np.ndim(length_scale) == 0 and not isinstance(length_scale, Box):
            constant: Correlation = self._constant(np.asarray(length_scale), *coordinates)
            return constant
        return self._factorise(length_scale, *coordinates)

    def _factorise(self, length_scale: Any, *coordinates: Array) -> Correlation:
        shape = tuple(len(x) for x in coordinates)
        varying = np.ndim(length_scale) > 0
        find = self._distances if varying else self._find_distances
        return Correlation(
            self.kernel, length_scale, partial(find, *coordinates), shape, self.jitter
        )

    def _find_distances(self, *coordinates: Array) -> tuple[Array, ...]:
        if self._kronecker or len(coordinates) == 1:
            return find_distances(*coordinates)
        return find_distances(grid_points(*coordinates))

    @property
    def _axes(self) -> tuple[int, ...]:
        return tuple(range(-self.event_ndim, 0))

    def _whiten(
        self, xp: Any, correlation: Correlation, value: Any, mean: Any, amplitude: Any
    ) -> Any:
        residual = (value - self._expand(xp, mean)) / self._expand(xp, amplitude)
        return correlation.whiten(residual)

    def _log_det(self, xp: Any, correlation: Correlation, amplitude: Any) -> Any:
        return correlation.log_det - correlation.size * (xp.log(amplitude) + 0.5 * LOG_2PI)

    def _expand(self, xp: Any, number: Any) -> Any:
        """Align one number per batch element with values that have event axes."""
        if not self.event_ndim or not np.ndim(number):
            return number
        return xp.reshape(number, np.shape(number) + (1,) * self.event_ndim)


def check_jitter(name: str, jitter: Any, location: Any) -> None:
    """Refuse a jitter that is no number from 0 up.

    Raises
    ------
    ModelError
        If it is a symbol or negative.
    """
    advice = ""
    if isinstance(jitter, Expression):
        advice = (
            " It keeps matrices factorisable and is no parameter. Noise that is one has a place of "
            "its own: declare the process as a param f and observe Normal(f, sigma), or observe a "
            "MvNormal with sigma**2 on the diagonal of its covariance."
        )
    elif isinstance(jitter, int | float | np.number) and jitter >= 0.0:
        return
    raise ModelError(
        f"{name} takes a jitter >= 0 that is a number; got {jitter!r}.{advice}",
        location=location,
        jitter=jitter,
    )


def _named_axes(grid: Sequence[Any]) -> dict[str, Any]:
    return {f"axis_{i}": x for i, x in enumerate(grid)}


def as_columns(points: Any) -> Any:
    """Return points as (n, k), where a symbol does not tell how many axes it has."""
    unknown = isinstance(points, Expression) and getattr(points, "ndim", None) is None
    return of_data("points", _columns, points) if unknown else points


def _columns(points: Array) -> Array:
    return points[:, None] if points.ndim == 1 else points


def _axes_of(coordinates: dict[str, Any], gridded: bool) -> dict[str, tuple[int | None, ...]]:
    """Which axis of the process the axes of each coordinate run along: that of the points first."""
    if gridded:
        return {name: (axis,) for axis, name in enumerate(coordinates)}
    return {name: (0, *(None,) * (_rank(x) - 1)) for name, x in coordinates.items()}


def _rank(coordinates: Any) -> int:
    """Axes of an array or of a symbol that knows them; others are made columns."""
    if isinstance(coordinates, Expression):
        return int(getattr(coordinates, "ndim", 2))
    return int(np.ndim(coordinates))
