"""Stationary Gaussian processes on regular grids, by circulant embedding."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, ClassVar, NamedTuple

import autograd.numpy as anp
import numpy as np
from autograd.extend import Box

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.kernels.isotropic import Isotropic, check_isotropic
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.distributions.spatial import circulant
from probmodel.distributions.spatial.gaussian_process import check_jitter
from probmodel.distributions.vector.whitening import Memory
from probmodel.errors import ModelError
from probmodel.expressions import Expression, caller_location, of_data
from probmodel.numerics.special import LOG_2PI, Recorded
from probmodel.types import Array


class Spectrum(NamedTuple):
    """Eigenvalues of the correlation matrix on the torus, and their derivatives.

    Attributes
    ----------
    values : (..., m_1, ..., m_k // 2 + 1)
    stretch : derivatives in the log length scale
    """

    values: Any
    stretch: Any


class CirculantGP(OfStandardNormal):
    r"""Stationary Gaussian process on a regular grid, extended to a torus around it.

    .. math:: y \sim N\bigl(0, \alpha^2 (C + \epsilon I)\bigr), \qquad
              C_{ij} = \rho(|x_i - x_j|_{\text{torus}} / \ell)

    Parameters
    ----------
    kernel : covariance function with amplitude :math:`\alpha` and length scale :math:`\ell`
    grid : coordinates of each axis, (n_1,), (n_2,), ...; equally spaced, from data
    padding : how many times the grid the torus is long along each axis, 2 or more
    jitter : :math:`\epsilon \ge 0`, relative to the variance

    The value is the process on the whole torus, (m_1, m_2, ...); ``process.on_grid(value)`` is the
    process on the grid, which has the kernel's covariance exactly.

    Notes
    -----
    The covariance matrix is circulant, so that a gradient takes fast Fourier transforms: of the
    order of m log m for m points, with 2 to the power of the number of axes as many of them as the
    grid has. That is the cost of the method. The points beyond the grid are parameters too, which
    no data inform, so that the non-centred form is mostly the one to sample: `infer` decides.

    The matrix has negative eigenvalues where the length scale is too long for the torus. A number
    as length scale is then refused; where it is a parameter, such length scales have no density,
    and ``padding`` has to be large enough that the posterior does not reach them: with 2, length
    scales to a fifth of the grid are safe. Stan, SciPy: none.

    References
    ----------
    Dietrich and Newsam (1997), Fast and exact simulation of stationary Gaussian processes through
    circulant embedding of the covariance matrix. Taylor and Diggle (2014), INLA or MCMC? A tutorial
    and comparative evaluation for spatial prediction in log-Gaussian Cox processes.

    Raises
    ------
    ModelError
        If the padding is below 2, or the jitter negative.
    """

    event_ndim: ClassVar[int] = 1
    domain = Real()
    takes_pseudo_data = "whole"

    def __init__(
        self, kernel: Isotropic, grid: Sequence[Any], padding: float = 2.0, jitter: float = 1e-8
    ) -> None:
        self.location = caller_location()
        check_isotropic(type(self).__name__, kernel)
        if not isinstance(grid, tuple | list) or not grid:
            raise self._error("grid, a list of the coordinates of each axis, such as (x, y)")
        if not padding >= 2.0:
            raise self._error(f"padding, 2 or more times the grid; got {padding:g}")
        check_jitter(type(self).__name__, jitter)
        self.kernel, self.padding, self.jitter = kernel, float(padding), float(jitter)
        self.grid = tuple(x if isinstance(x, Expression) else np.array(x, float) for x in grid)
        self.args = {
            "amplitude": kernel.amplitude,
            "length_scale": kernel.length_scale,
            "distances": of_data("torus", self._distances, *self.grid),
        }
        parameters = {
            "amplitude": Parameter(Positive()),
            "length_scale": Parameter(Positive()),
            "distances": Parameter(Real(), event_ndim=len(self.grid), known=True),
        }
        self._take_form(parameters, event_ndim=len(self.grid))
        self._constant = Memory(self._find_spectrum)

    def _error(self, expected: str) -> ModelError:
        return self.model_error(f"CirculantGP takes {expected}.")

    def anchors(self) -> dict[str, tuple[Any, tuple[int | None, ...]]]:
        """Return the axes of the grid, which the torus is made from."""
        return {f"grid[{k}]": (x, ()) for k, x in enumerate(self.grid)}

    def on_grid(self, value: Any) -> Any:
        """Process on the grid, (n_1, n_2, ...), from its ``value`` on the torus."""
        return value[tuple(slice(of_data("size", np.size, x)) for x in self.grid)]

    def _distances(self, *axes: Array) -> Array:
        """Distances of the points of the torus from its first: (m_1, m_2, ...)."""
        squares: Any = 0.0
        for k, x in enumerate(axes):
            steps = np.diff(x) if np.ndim(x) == 1 else np.empty(0)
            if not steps.size or not np.allclose(steps, steps[0], rtol=1e-6, atol=0.0):
                raise self.data_error(
                    f"CirculantGP: axis {k} of the grid must be two or more equally spaced "
                    "coordinates. GaussianProcess takes any."
                )
            if steps[0] == 0.0:
                raise self._error(f"different coordinates; those of axis {k} are all {x[0]:g}")
            size = _fast_size(ceil(self.padding * len(steps)))
            lags = np.minimum(np.arange(size), size - np.arange(size)) * steps.mean()
            squares = squares + (lags**2).reshape((size,) + (1,) * (len(axes) - 1 - k))
        return np.sqrt(squares)

    def event_shape(self, *params: Array) -> tuple[int, ...]:
        """One value for each point of the torus."""
        return tuple(params[2].shape)

    def _find_spectrum(self, length_scale: Any, distances: Array) -> Spectrum:
        xp = anp if isinstance(length_scale, Box) else np
        length_scale = where_valid(length_scale > 0.0, length_scale)
        scaled = distances / self._over_event(xp, length_scale)
        rho = self.kernel.correlation(xp, scaled)
        values = circulant.eigenvalues(rho, self.event_ndim) + self.jitter
        stretch = circulant.eigenvalues(self.kernel.stretch(scaled, rho), self.event_ndim)
        return Spectrum(values, stretch)

    def _spectrum(self, length_scale: Any, distances: Array) -> Spectrum:
        """Return the eigenvalues, from memory if the length scale is a constant."""
        if isinstance(length_scale, Box | Recorded) or np.ndim(length_scale):
            return self._find_spectrum(length_scale, distances)
        spectrum: Spectrum = self._constant(np.asarray(length_scale), distances)
        if not isinstance(self.args["length_scale"], Expression) and spectrum.values.min() <= 0:
            raise self.model_error(
                f"CirculantGP: the length scale {float(length_scale):g} is too long for its torus "
                f"of {' by '.join(map(str, distances.shape))} points, whose covariance matrix is "
                f"not positive definite. Raise padding= (now {self.padding:g}), or jitter= for a "
                "smooth kernel."
            )
        return spectrum

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density, from one product with the precision: batch shape."""
        amplitude, length_scale, distances = params
        size, count = distances.size, circulant.multiplicity(distances.shape)
        axes = tuple(range(-self.event_ndim, 0))
        values, _ = self._spectrum(length_scale, distances)
        pull = circulant.multiply(1.0 / values, value, self.event_ndim)
        quadratic = xp.sum(value * pull, axis=axes) / (amplitude * amplitude)
        log_det = xp.sum(count * xp.log(values), axis=axes)
        log_scale = size * (xp.log(amplitude) + 0.5 * LOG_2PI)
        return -0.5 * (log_det + quadratic) - log_scale

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on amplitude and length scale."""
        amplitude, length_scale, distances = params
        values, stretch = self._spectrum(length_scale, distances)
        count = circulant.multiplicity(distances.shape)
        axes, rates = tuple(range(-self.event_ndim, 0)), stretch / values
        mixed = amplitude * length_scale
        return {
            ("amplitude", "amplitude"): lambda: 2.0 * distances.size / amplitude**2,
            ("amplitude", "length_scale"): lambda: np.sum(count * rates, axis=axes) / mixed,
            ("length_scale", "length_scale"): lambda: (
                0.5 * np.sum(count * rates**2, axis=axes) / length_scale**2
            ),
        }

    def spectrum(self, event: tuple[int, ...], *params: Array) -> Array:
        """All eigenvalues, as often as they occur."""
        amplitude, length_scale, distances = params
        values = np.asarray(self._spectrum(length_scale, distances).values)
        count = circulant.multiplicity(distances.shape).astype(int)
        all_of_them = np.repeat(values, count, axis=-1)
        flat = all_of_them.reshape(*all_of_them.shape[: -self.event_ndim], -1)
        return np.asarray(amplitude)[..., None] ** 2 * flat

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Multiply white noise by the symmetric root of the covariance matrix."""
        amplitude, length_scale, distances = params
        roots = xp.sqrt(self._spectrum(length_scale, distances).values)
        return self._over_event(xp, amplitude) * circulant.multiply(roots, z, self.event_ndim)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Multiply by the inverse of that root."""
        amplitude, length_scale, distances = params
        roots = np.sqrt(self._spectrum(length_scale, distances).values)
        return np.asarray(
            circulant.multiply(1.0 / roots, value, self.event_ndim)
            / self._over_event(np, amplitude)
        )


def _fast_size(least: int) -> int:
    """Smallest even number from ``least`` on without prime factors above 5."""
    size = max(least + least % 2, 2)
    while True:
        rest = size
        for factor in (2, 3, 5):
            while rest % factor == 0:
                rest //= factor
        if rest == 1:
            return size
        size += 2
