"""Gaussian processes at points and on grids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd import make_jvp
from autograd.extend import Box

from probmodel.constraints import Lower, Positive, Real
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.kernels.algebra import Kernel, Simple, columns
from probmodel.distributions.kernels.isotropic import Isotropic
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.distributions.spatial.kronecker import Factorised, grid_points
from probmodel.distributions.vector.conditioning import complete_normal
from probmodel.distributions.vector.mv_normal import MvNormal
from probmodel.distributions.vector.whitening import Memory
from probmodel.errors import ModelError
from probmodel.expressions import Expression, call_error, call_of, caller_location, of_data
from probmodel.numerics.linalg import cholesky, outer
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class GaussianProcess(OfStandardNormal):
    r"""Gaussian process at scattered points or on a regular grid, with or without noise.

    .. math:: y \sim N\bigl(\mu, K + (\sigma^2 + \epsilon \bar k) I\bigr), \qquad
              K_{ij} = k(x_i, x_j)

    Parameters
    ----------
    kernel : covariance function :math:`k`, such as ``kernels.ExpQuad(amplitude, length_scale)``, a
        sum or a product of such
    points : (n,) or (n, k), where the process is wanted; the value is then a vector of length n
    grid : instead of points, a sequence of axes: coordinates (n_1,), (n_2,), ...; the value then
        has shape (n_1, n_2, ...)
    mean : :math:`\mu`, a number, or the mean at each point
    noise : standard deviation :math:`\sigma` of independent normal errors, a number or one for each
        point; without it the value is the process itself
    jitter : :math:`\epsilon \ge 0`, relative to the mean variance :math:`\bar k`, for a stable
        factorisation

    Notes
    -----
    With noise, the process itself is integrated out: observe ``y`` so, and `predict` draws new
    observations given the old ones, or with ``noise=False`` the process itself. On a grid a
    separable kernel (`kernels.ExpQuad`) without noise is factorised axis by axis, and the jitter is
    added to the correlation matrix of each axis; others take one dense matrix. A matrix that does
    not depend on parameters, but for the amplitude of a single kernel, is factorised once. Stan:
    ``gp_exp_quad_cov``, ``gp_exponential_cov``, ``gp_matern32_cov``, ``gp_matern52_cov``,
    ``gp_periodic_cov``, ``gp_dot_prod_cov`` with ``multi_normal``. SciPy: ``multivariate_normal``.

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

    domain = Real()
    takes_pseudo_data = "elements"

    def __init__(
        self,
        kernel: Kernel,
        points: Any = None,
        *,
        grid: Sequence[Any] | None = None,
        mean: Any = 0.0,
        noise: Any = None,
        jitter: float = 1e-8,
    ) -> None:
        self.location = caller_location()
        if not isinstance(kernel, Kernel):
            raise self._error(f"a kernel first, {type(kernel).__name__} was given.")
        if (points is None) == (grid is None):
            raise self._error("either points= or grid=: exactly one of them.")
        check_jitter(type(self).__name__, jitter)
        coordinates = {"points": as_columns(points)} if grid is None else _named_axes(grid)
        event = 1 if grid is None else len(coordinates)
        self.kernel, self.jitter = kernel, float(jitter)
        vars(self).update(is_noisy=noise is not None)
        if event > 1:  # on a grid a dense matrix of all points would cost too much
            vars(self).update(takes_pseudo_data="whole")
        # The amplitude of a single kernel with constant variance and no noise is left out of the
        # matrix, which then has ones on its diagonal.
        self._scales, self._function = False, kernel.covariance
        if isinstance(kernel, Simple) and kernel.stationary and not self.is_noisy:
            self._scales, self._function = True, kernel.unit
        self._kronecker = grid is not None and self._scales and is_separable(kernel)
        given = kernel.arguments
        noises = {"noise": noise} if self.is_noisy else {}
        # Event axes of the parameters of the matrix: of the kernel, and the noise.
        self._shapes = [0] * (len(given) - self._scales) + [event] * len(noises)
        of_kernel = {name: value for name, (value, _) in given.items()}
        self.args = {"mean": mean, **of_kernel, **noises, **coordinates}
        parameters = {
            "mean": Parameter(Real(), event_ndim=event, spreads=True),
            **{n: Parameter(Positive() if above else Real()) for n, (_, above) in given.items()},
            **{n: Parameter(Lower(0.0), event_ndim=event, spreads=True) for n in noises},
            **{
                name: Parameter(Real(), event_ndim=len(along), known=True, along=along)
                for name, along in _axes_of(coordinates, grid is not None).items()
            },
        }
        self._take_form(parameters, event_ndim=event)
        self._constant = Memory(self._factorise)

    @property
    def batch_hint(self) -> str:
        """What to do where parameters have more axes than there are values, in sentences."""
        return (
            "The parameters of the kernel are one number for each process; a mean or a noise that "
            "is no number has the points as its last axes."
        )

    def _error(self, expected: str) -> ModelError:
        return self.model_error(f"GaussianProcess takes {expected}")

    def event_shape(self, *params: Array) -> tuple[int, ...]:
        """One value for each point, or for each point of the grid."""
        return tuple(len(x) for x in self._split(params)[3])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN where the matrix is not positive definite."""
        mean, amplitude, shapes, coordinates = self._split(params)
        matrix = self._matrix(shapes, coordinates)
        z = matrix.whiten((value - mean) / self._over_event(xp, amplitude))
        log_scale = matrix.size * (xp.log(amplitude) + 0.5 * LOG_2PI)
        return matrix.log_det - log_scale - 0.5 * xp.sum(z * z, axis=self._axes)

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information (Mardia and Marshall 1984); the mean is orthogonal."""
        _, amplitude, shapes, coordinates = self._split(params)
        of_mean, of_amplitude, of_shapes, moved = self._split(changes)
        if any(change is not None for change in moved):
            names = list(self.parameters)[-len(moved) :]
            raise self._without_information(
                [name for name, change in zip(names, moved, strict=True) if change is not None]
            )
        matrix = self._matrix(shapes, coordinates)
        total: Any = 0.0
        if of_mean is not None:
            z = matrix.whiten(of_mean + np.zeros(matrix.shape)) / self._over_event(np, amplitude)
            total = xp.sum(z * z, axis=self._axes)
        moving = of_amplitude if self._scales else None
        if moving is not None or any(change is not None for change in of_shapes):
            relative = 0.0 if moving is None else 2.0 * moving / amplitude
            of_matrices = self._changes(xp, of_shapes, shapes, coordinates)
            total = total + 0.5 * matrix.squared_change(xp, relative, of_matrices)
        return total

    def condition(self, free: Array, value: Array, known: Array, *params: Array) -> Array:
        """Give the process at new points what follows from where it is known: kriging."""
        flat, given, mask = map(self._flat, (free, value, known))
        covariance = self._covariance(value, params)
        return complete_normal(flat, given, mask, covariance, flat[0, ..., 0].size).reshape(
            value.shape
        )

    def complete_without_noise(
        self, rng: np.random.Generator, value: Array, known: Array, *params: Array
    ) -> Array:
        """Draw the process itself at all points, given values with noise at those that are known.

        Process and noise are drawn, and the process is corrected by what their sum misses, as
        `complete_normal` has it: f + K (K + N)^-1 (y - f - e).
        """
        at = list(self.parameters).index("noise")
        noise = np.asarray(params[at])
        quiet = (*params[:at], np.zeros_like(noise), *params[at + 1 :])
        still = copy(self)
        still.jitter, still._constant = self.jitter or 1e-8, Memory(still._factorise)
        process = still.sample(rng, value.shape, *quiet)
        errors = noise * rng.standard_normal(value.shape)
        # The process stands before its noisy values: both together are one normal vector.
        free = np.concatenate([self._flat(process), self._flat(process + errors)], axis=-1)
        given = np.concatenate([np.zeros(self._flat(value).shape), self._flat(value)], axis=-1)
        mask = np.concatenate(
            [np.zeros(self._flat(known).shape, dtype=bool), self._flat(known)], -1
        )
        silent, noisy = still._covariance(value, quiet), still._covariance(value, params)

        def covariance(rows: slice) -> Array:
            inner, outer = np.broadcast_arrays(silent(rows), noisy(rows))
            return np.concatenate(
                [np.concatenate([inner, inner], -1), np.concatenate([inner, outer], -1)], -2
            )

        done = complete_normal(free, given, mask, covariance, free[0, ..., 0].size)
        return done[..., : free.shape[-1] // 2].reshape(value.shape)

    def moments(self, event: tuple[int, ...], *params: Array) -> tuple[Array, Array]:
        """Mean and covariance, the points of a grid in a row."""
        mean, amplitude, shapes, coordinates = self._split([np.asarray(p) for p in params])
        matrix = self._matrix(shapes, coordinates).matrix()
        batch = mean.shape[: max(mean.ndim - self.event_ndim, 0)]
        flat = np.broadcast_to(mean, (*batch, *event)).reshape(*batch, -1)
        return flat, np.asarray(amplitude)[..., None, None] ** 2 * matrix

    def spectrum(self, event: tuple[int, ...], *params: Array) -> Array:
        """Products of the eigenvalues along the axes of a grid."""
        _, amplitude, shapes, coordinates = self._split([np.asarray(p) for p in params])
        found = np.asarray(amplitude)[..., None] ** 2
        for matrix in self._matrices(shapes, coordinates):
            found = outer(found, np.linalg.eigvalsh(matrix))
        return found

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Give independent standard normal values the mean and covariance of the process."""
        mean, amplitude, shapes, coordinates = self._split(params)
        return mean + self._over_event(xp, amplitude) * self._matrix(shapes, coordinates).color(z)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Whiten the deviations from the mean."""
        mean, amplitude, shapes, coordinates = self._split([np.asarray(p) for p in params])
        away = (value - mean) / self._over_event(np, amplitude)
        return np.asarray(self._matrix(shapes, coordinates).whiten(away))

    @property
    def vector_form(self) -> Distribution:
        """The process at its points as a normal vector, by the factor of its covariance."""
        if self.event_ndim > 1:
            return self
        mean, amplitude, shapes, coordinates = self._split(list(self.args.values()))
        ndims = (*self._shapes, *self.event_ndims[-len(coordinates) :])
        root: Any = call_of(self._root, (*shapes, *coordinates), ndims)
        if self._scales:
            root = call_of(_of_matrices, (amplitude,), (0,)) * root
        return MvNormal(mean, cholesky=root)

    def _root(self, xp: Any, *params: Any) -> Any:
        """Return the Cholesky factor at points, but for an amplitude that is left out."""
        shapes, coordinates = params[: len(self._shapes)], params[len(self._shapes) :]
        return cholesky(self._matrices(shapes, coordinates)[0])

    def _split(self, params: Sequence[Any]) -> tuple[Any, Any, Sequence[Any], Sequence[Any]]:
        """Mean, amplitude that is left out of the matrix, parameters of that, coordinates."""
        first = 1 + self._scales
        last = first + len(self._shapes)
        return params[0], params[1] if self._scales else 1.0, params[first:last], params[last:]

    def _matrix(self, shapes: Sequence[Any], coordinates: Sequence[Array]) -> Factorised:
        """Return the factorised matrix, from memory if its parameters are constants."""
        paired = zip(shapes, self._shapes, strict=True)
        if any(isinstance(p, Box) or np.ndim(p) > n for p, n in paired):
            return self._factorise(*shapes, *coordinates)
        constant: Factorised = self._constant(*map(np.asarray, shapes), *coordinates)
        return constant

    def _factorise(self, *params: Any) -> Factorised:
        shapes, coordinates = params[: len(self._shapes)], params[len(self._shapes) :]
        return Factorised(self._matrices(shapes, coordinates), tuple(map(len, coordinates)))

    def _matrices(self, shapes: Sequence[Any], coordinates: Sequence[Array]) -> list[Any]:
        """Matrices of each axis, or of all points, with what is added to their diagonals."""
        xp = anp if any(isinstance(p, Box) for p in shapes) else np
        of_kernel = shapes[:-1] if self.is_noisy else shapes
        matrices = []
        for x in self._places(coordinates):
            matrix = self._function(xp, of_kernel, x, x)
            added: Any = self.jitter
            if not self._scales:
                trace = xp.sum(matrix * np.eye(len(x)), axis=(-2, -1), keepdims=True)
                added = added * trace / len(x)
            if self.is_noisy:
                noise = where_valid(shapes[-1] >= 0, shapes[-1])
                noise = noise + np.zeros(tuple(map(len, coordinates)))
                added = added + self._flat(noise * noise)[..., None, :]
            matrices.append(matrix + added * np.eye(len(x)))
        return matrices

    def _places(self, coordinates: Sequence[Array]) -> list[Array]:
        """Points of each matrix: (n, k) each."""
        if self._kronecker or len(coordinates) == 1:
            return [columns(x) for x in coordinates]
        return [grid_points(*coordinates)]

    def _changes(
        self, xp: Any, changes: Sequence[Any], shapes: Sequence[Any], coordinates: Sequence[Array]
    ) -> list[Any]:
        """Return the changes of the matrices that changes of their parameters make."""
        total = []
        for axis, x in enumerate(self._places(coordinates)):
            change: Any = None
            for i, (of_shape, ndim) in enumerate(zip(changes, self._shapes, strict=True)):
                if of_shape is None:
                    continue
                if ndim:  # the noise
                    slope = 2.0 * self._flat(shapes[i] * of_shape)[..., None, :] * np.eye(len(x))
                else:
                    slope = of_shape[..., None, None] * self._slope(i, axis, shapes, coordinates)
                change = slope if change is None else change + slope
            total.append(change)
        return total

    def _slope(
        self, i: int, axis: int, shapes: Sequence[Any], coordinates: Sequence[Array]
    ) -> Array:
        """Return the derivative of the matrix of an axis in one parameter of the kernel."""

        def matrix(value: Any) -> Any:
            return self._matrices([*shapes[:i], value, *shapes[i + 1 :]], coordinates)[axis]

        here = np.asarray(shapes[i], dtype=float)
        return np.asarray(make_jvp(matrix)(here)(np.ones(here.shape))[1])

    def _covariance(self, value: Array, params: Sequence[Array]) -> Callable[[slice], Array]:
        """Covariance matrix of some draws, but for the amplitude that is left out of it."""
        _, _, shapes, coordinates = self._split([np.asarray(p) for p in params])

        def covariance(rows: slice) -> Array:
            full = value.ndim - self.event_ndim
            chosen = [
                p[rows] if p.ndim == full + ndim and len(p) == len(value) else p
                for p, ndim in zip(shapes, self._shapes, strict=True)
            ]
            return self._matrix(chosen, coordinates).matrix()

        return covariance

    @property
    def _axes(self) -> tuple[int, ...]:
        return tuple(range(-self.event_ndim, 0))

    def _flat(self, value: Any) -> Any:
        """Put the points of a grid in a row."""
        return value.reshape((*np.shape(value)[: max(np.ndim(value) - self.event_ndim, 0)], -1))


def _of_matrices(xp: Any, number: Any) -> Any:
    """Give a number, or one for each matrix of a stack, two axes."""
    return number[..., None, None]


def check_jitter(name: str, jitter: Any) -> None:
    """Refuse a jitter that is no number from 0 up: a symbol, or a negative one."""
    advice = ""
    if isinstance(jitter, Expression):
        advice = (
            " It keeps matrices factorisable and is no parameter. Noise has a place of its own: "
            "observe GaussianProcess(kernel, points, noise=sigma), or declare the process as a "
            "param f and observe Normal(f, sigma)."
        )
    elif isinstance(jitter, int | float | np.number) and jitter >= 0.0:
        return
    raise call_error(
        f"{name} takes a jitter >= 0 that is a number; got {jitter!r}.{advice}", jitter=jitter
    )


def _named_axes(grid: Sequence[Any]) -> dict[str, Any]:
    return {f"axis_{i}": x for i, x in enumerate(grid)}


def as_columns(points: Any) -> Any:
    """Return points as (n, k), where a symbol does not tell how many axes it has."""
    unknown = isinstance(points, Expression) and getattr(points, "ndim", None) is None
    return of_data("points", columns, points) if unknown else points


def is_separable(kernel: Kernel) -> bool:
    """Whether it is a product over the axes of a grid."""
    return isinstance(kernel, Isotropic) and kernel.separable and kernel.axes is None


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
