"""Kernels of the distance alone that have a spectral density: ExpQuad and the Matern family."""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma, log, pi, sqrt
from typing import Any, ClassVar

from probmodel.distributions.kernels.algebra import Kernel, Simple, distances
from probmodel.expressions import call_error
from probmodel.types import Array


class Isotropic(Simple):
    r"""Covariance ``amplitude**2 * correlation(distance / length_scale)``.

    Parameters
    ----------
    amplitude : standard deviation of the process, positive
    length_scale : distance over which it varies, positive
    axes : column of the points that it depends on, or a sequence of these; all unless given

    Both may be numbers, expressions or parameters of the model. Length scales that differ from axis
    to axis are those of a product: ``ExpQuad(a, l0, axes=0) * ExpQuad(1.0, l1, axes=1)``.
    """

    separable: ClassVar[bool] = False

    def __init__(
        self, amplitude: Any = 1.0, length_scale: Any = 1.0, *,
        axes: int | Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(axes, amplitude=amplitude, length_scale=length_scale)

    @property
    def amplitude(self) -> Any:
        """Standard deviation of the process."""
        return self.values["amplitude"]

    @property
    def length_scale(self) -> Any:
        """Distance over which it varies."""
        return self.values["length_scale"]

    def formula(self, xp: Any, x: Array, y: Array, *values: Any) -> Any:
        """Correlations at the distances of the points."""
        return self.correlation(xp, distances(x, y) / values[0])

    @staticmethod
    def correlation(xp: Any, s: Any) -> Any:
        """Correlation at the distance ``s``, in units of the length scale."""
        raise NotImplementedError

    @staticmethod
    def stretch(s: Any, rho: Any) -> Any:
        """Return the derivative of the correlation ``rho`` in the log length scale."""
        raise NotImplementedError

    @staticmethod
    def log_spectrum(xp: Any, square: Any, axes: int) -> tuple[Any, Any]:
        """Log spectral density of the correlation, and half its slope in the log length scale.

        Parameters
        ----------
        square : squared angular frequency, times the squared length scale
        axes : dimension of the space

        Returns
        -------
        density : its logarithm for unit length scale; it is ``length_scale**axes`` times as large
        slope : half the derivative of that logarithm in the log of the length scale
        """
        raise NotImplementedError


def check_isotropic(name: str, kernel: Any) -> None:
    """Refuse what is no single kernel of the distance over all axes, for a distribution.

    The `ModelError` says what to do instead.
    """
    if isinstance(kernel, Isotropic) and kernel.axes is None:
        return
    got = f"{kernel}" if isinstance(kernel, Kernel) else type(kernel).__name__
    if isinstance(kernel, Isotropic):
        got += f" of the axes {kernel.axes}"
    advice = (
        f" For a sum, declare a {name} for each part and add them; a GaussianProcess takes any."
        if isinstance(kernel, Kernel)
        else ""
    )
    raise call_error(
        f"{name} takes a kernel first, one of ExpQuad, Matern12, Matern32 and Matern52; got {got}."
        f"{advice}"
    )


def _matern_spectrum(nu: float, xp: Any, square: Any, axes: int) -> tuple[Any, Any]:
    """Spectral density of a Matern correlation (Rasmussen and Williams 2006, eq. 4.15)."""
    power = nu + 0.5 * axes
    constant = axes * (log(2.0) + 0.5 * log(pi)) + lgamma(power) - lgamma(nu) + nu * log(2.0 * nu)
    total = 2.0 * nu + square
    return constant - power * xp.log(total), -power * square / total


class ExpQuad(Isotropic):
    r"""Exponentiated quadratic :math:`\exp(-s^2 / 2)`; on a grid, a product over the axes."""

    separable = True

    @staticmethod
    def correlation(xp: Any, s: Any) -> Any:
        """Correlation at the distance ``s``."""
        return xp.exp(-0.5 * s * s)

    @staticmethod
    def stretch(s: Any, rho: Any) -> Any:
        """Return ``-s`` times the derivative in ``s``."""
        return s * s * rho

    @staticmethod
    def log_spectrum(xp: Any, square: Any, axes: int) -> tuple[Any, Any]:
        """Log spectral density, and half its slope in the log length scale."""
        return 0.5 * axes * log(2.0 * pi) - 0.5 * square, -0.5 * square


class Exponential(Isotropic):
    r"""Exponential :math:`\exp(-s)`, also known as Matérn 1/2."""

    @staticmethod
    def correlation(xp: Any, s: Any) -> Any:
        """Correlation at the distance ``s``."""
        return xp.exp(-s)

    @staticmethod
    def stretch(s: Any, rho: Any) -> Any:
        """Return ``-s`` times the derivative in ``s``."""
        return s * rho

    @staticmethod
    def log_spectrum(xp: Any, square: Any, axes: int) -> tuple[Any, Any]:
        """Log spectral density, and half its slope in the log length scale."""
        return _matern_spectrum(0.5, xp, square, axes)


Matern12 = Exponential


class Matern32(Isotropic):
    r"""Matérn 3/2: :math:`(1 + \sqrt 3 s) \exp(-\sqrt 3 s)`."""

    @staticmethod
    def correlation(xp: Any, s: Any) -> Any:
        """Correlation at the distance ``s``."""
        t = sqrt(3.0) * s
        return (1.0 + t) * xp.exp(-t)

    @staticmethod
    def stretch(s: Any, rho: Any) -> Any:
        """Return ``-s`` times the derivative in ``s``."""
        t = sqrt(3.0) * s
        return rho * t * t / (1.0 + t)

    @staticmethod
    def log_spectrum(xp: Any, square: Any, axes: int) -> tuple[Any, Any]:
        """Log spectral density, and half its slope in the log length scale."""
        return _matern_spectrum(1.5, xp, square, axes)


class Matern52(Isotropic):
    r"""Matérn 5/2: :math:`(1 + \sqrt 5 s + 5 s^2 / 3) \exp(-\sqrt 5 s)`."""

    @staticmethod
    def correlation(xp: Any, s: Any) -> Any:
        """Correlation at the distance ``s``."""
        t = sqrt(5.0) * s
        return (1.0 + t + t * t / 3.0) * xp.exp(-t)

    @staticmethod
    def stretch(s: Any, rho: Any) -> Any:
        """Return ``-s`` times the derivative in ``s``."""
        t = sqrt(5.0) * s
        return rho * t * t * (1.0 + t) / (3.0 + t * (3.0 + t))

    @staticmethod
    def log_spectrum(xp: Any, square: Any, axes: int) -> tuple[Any, Any]:
        """Log spectral density, and half its slope in the log length scale."""
        return _matern_spectrum(2.5, xp, square, axes)
