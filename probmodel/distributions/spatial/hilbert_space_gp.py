"""Gaussian processes as sums of a few basis functions."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, Real
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.domain import where_valid
from probmodel.distributions.kernels.algebra import columns
from probmodel.distributions.kernels.isotropic import Isotropic, check_isotropic
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.distributions.scalar.normal import Normal
from probmodel.errors import ModelError
from probmodel.expressions import call_of, caller_location, of_data, settle
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class HilbertSpaceGP(OfStandardNormal):
    r"""Weights of a Gaussian process in the eigenfunctions of the Laplacian on a box.

    .. math:: f(x) = \sum_j w_j \phi_j(x), \qquad w_j \sim N\bigl(0, S(\sqrt{\lambda_j})\bigr),
              \qquad \phi_j(x) = \prod_k L_k^{-1/2}
              \sin\Bigl\{\tfrac{\pi j_k}{2 L_k} (x_k - c_k + L_k)\Bigr\}

    Parameters
    ----------
    kernel : covariance function, with spectral density :math:`S`
    points : (n,) or (n, k), from data: the box is centred on their range and ``boundary`` times as
        wide
    n_basis : number m of functions along each axis, one number or one for each axis; there are as
        many weights as their product
    boundary : :math:`L_k` over half the range of the points along axis k, above 1; one number or
        one for each axis

    The value is the vector of weights. ``process.basis(x) @ weights`` is the process at ``x``: at
    the same points or at others inside the box.

    Notes
    -----
    Each gradient takes a product with an n by m matrix. The process is close to the exact one
    where m and the box are large enough for the length scale: for half a range of 1 and the
    exponentiated quadratic kernel, ``boundary >= 3.2 * length_scale`` (and 1.2) and
    ``n_basis >= 1.75 * boundary / length_scale``; 4.1 and 2.65 for Matérn 5/2, 4.5 and 3.42 for
    Matérn 3/2. Stan, SciPy: none.

    References
    ----------
    Solin and Sarkka (2020), Hilbert space methods for reduced-rank Gaussian process regression.
    Riutort-Mayol, Burkner, Andersen, Solin and Vehtari (2023), Practical Hilbert space approximate
    Bayesian Gaussian processes for probabilistic programming.

    Raises
    ------
    ModelError
        If the number of functions is not a positive integer, or the box no wider than the points.
    """

    event_ndim: ClassVar[int] = 1
    domain = Real()
    takes_pseudo_data = "elements"

    def __init__(
        self, kernel: Isotropic, points: Any, n_basis: int | Sequence[int], boundary: Any = 1.5
    ) -> None:
        self.location = caller_location()
        check_isotropic(type(self).__name__, kernel)
        counts = np.atleast_1d(np.asarray(n_basis, dtype=object))
        if not all(isinstance(m, int | np.integer) and m >= 1 for m in counts):
            raise self._error(f"n_basis, 1 or more functions along an axis; got {n_basis!r}")
        if not np.all(np.asarray(boundary, dtype=float) > 1.0):
            raise self._error(f"a boundary above 1, where the points end; got {boundary!r}")
        self.kernel, self.points = kernel, settle(points)
        self.n_basis = tuple(int(m) for m in counts)
        self.boundary = np.atleast_1d(np.array(boundary, dtype=float))
        self.args = {
            "amplitude": kernel.amplitude,
            "length_scale": kernel.length_scale,
            "frequencies": of_data("frequencies", self._frequencies, self.points),
        }
        parameters = {
            "amplitude": Parameter(Positive()),
            "length_scale": Parameter(Positive()),
            "frequencies": Parameter(Real(), event_ndim=2, known=True),
        }
        self._take_form(parameters, event_ndim=1)

    def _error(self, expected: str) -> ModelError:
        return self.model_error(f"HilbertSpaceGP takes {expected}.")

    def basis(self, points: Any) -> Any:
        """Basis functions at points from data: (n, number of weights), to be multiplied by them.

        Parameters
        ----------
        points : (n,) or (n, k), inside the box

        Raises
        ------
        DataError
            If a point lies outside the box: as soon as the data are there.
        """
        return of_data("basis", self._basis, points, self.points)

    def _box(self, points: Array) -> tuple[Array, Array]:
        """Centre and half widths of the box, (k,), from the points it was declared with."""
        places = columns(points)
        low, high = places.min(axis=0), places.max(axis=0)
        if not np.all(high > low):
            raise self.data_error(
                "HilbertSpaceGP: the points must differ along each axis; those of axis "
                f"{int(np.argmin(high > low))} are all {low[np.argmin(high > low)]:g}."
            )
        axes = places.shape[1]
        for name, given in (("n_basis", self.n_basis), ("boundary", self.boundary)):
            if len(given) not in (1, axes):
                raise self._error(f"one {name}, or one for each of {axes} axes; got {len(given)}")
        return 0.5 * (low + high), 0.5 * (high - low) * self.boundary

    def _indices(self, axes: int) -> Array:
        """Numbers j of the basis functions along each axis, from 1: (number of weights, k)."""
        counts = self.n_basis * axes if len(self.n_basis) == 1 else self.n_basis
        return np.stack([a.ravel() for a in np.indices(counts)], axis=1) + 1

    def _frequencies(self, points: Array) -> Array:
        """Roots of the eigenvalues along each axis: (number of weights, k)."""
        _, half = self._box(points)
        return np.asarray(0.5 * pi * self._indices(len(half)) / half)

    def _basis(self, points: Array, declared: Array) -> Array:
        centre, half = self._box(declared)
        places = columns(points)
        if places.shape[1] != len(half):
            raise self._error(f"points of {len(half)} coordinates; got {places.shape[1]}")
        outside = np.abs(places - centre) > half
        if outside.any():
            i, k = np.argwhere(outside)[0]
            raise self.data_error(
                f"HilbertSpaceGP: point {i} lies at {places[i, k]:g} on axis {k}, outside the box "
                f"from {(centre - half)[k]:g} to {(centre + half)[k]:g}. Raise boundary=, or "
                "declare the process with points as far out."
            )
        shifted = places - centre + half
        indices = self._indices(len(half))
        functions = np.ones((len(places), len(indices)))
        for k, numbers in enumerate(indices.T):
            angles = 0.5 * pi / half[k] * shifted[:, k, None] * numbers
            functions *= np.sin(angles) / np.sqrt(half[k])
        return functions

    def anchors(self) -> dict[str, tuple[Any, tuple[int | None, ...]]]:
        """Return the box: the weights are those of its basis functions."""
        return {"points": (of_data("box", self._corners, self.points), ())}

    def _corners(self, points: Array) -> Array:
        centre, half = self._box(points)
        return np.stack([centre - half, centre + half])

    def event_shape(self, *params: Array) -> tuple[int, ...]:
        """One weight for each function."""
        return (len(params[2]),)

    @property
    def vector_form(self) -> Distribution:
        """The weights as normal numbers."""
        return Normal(0.0, call_of(self._scales, list(self.args.values()), (0, 0, 2)))

    def _scales(self, xp: Any, *params: Any) -> Any:
        return xp.exp(self._log_scales(xp, *params)[0])

    def _log_scales(self, xp: Any, amplitude: Any, length_scale: Any, frequencies: Array) -> Any:
        """Log standard deviations of the weights, and their slopes in the log length scale."""
        axes = frequencies.shape[1]
        length_scale = where_valid(length_scale > 0.0, length_scale)
        length = xp.expand_dims(length_scale, -1)
        squares = np.sum(frequencies**2, axis=1) * length * length
        log_density, slope = self.kernel.log_spectrum(xp, squares, axes)
        log_scale = xp.expand_dims(xp.log(amplitude), -1) + 0.5 * (
            axes * xp.log(length) + log_density
        )
        return log_scale, 0.5 * axes + slope

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        amplitude, length_scale, frequencies = params
        log_scales, _ = self._log_scales(xp, amplitude, length_scale, frequencies)
        z = value * xp.exp(-log_scales)
        terms = log_scales + 0.5 * z * z
        return -xp.sum(terms, axis=-1) - 0.5 * len(frequencies) * LOG_2PI

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on amplitude and length scale."""
        amplitude, length_scale, frequencies = params
        _, stretch = self._log_scales(np, *params)
        return {
            ("amplitude", "amplitude"): lambda: 2.0 * len(frequencies) / amplitude**2,
            ("amplitude", "length_scale"): lambda: (
                2.0 * stretch.sum(axis=-1) / (amplitude * length_scale)
            ),
            ("length_scale", "length_scale"): lambda: (
                2.0 * (stretch * stretch).sum(axis=-1) / length_scale**2
            ),
        }

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Give each weight its standard deviation."""
        return z * self._scales(xp, *params)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Divide each weight by its standard deviation."""
        return np.asarray(value * np.exp(-self._log_scales(np, *map(np.asarray, params))[0]))
