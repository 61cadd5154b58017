"""Covariance functions of stationary, isotropic Gaussian processes."""

from __future__ import annotations

from math import lgamma, log, pi, sqrt
from typing import Any, ClassVar

from probmodel.expressions import settle


class Kernel:
    r"""Covariance ``amplitude**2 * correlation(distance / length_scale)``.

    Parameters
    ----------
    amplitude : standard deviation of the process, positive
    length_scale : distance over which it varies, positive

    Both may be numbers, expressions or parameters of the model.
    """

    separable: ClassVar[bool] = False

    def __init__(self, amplitude: Any = 1.0, length_scale: Any = 1.0) -> None:
        self.amplitude = settle(amplitude)
        self.length_scale = settle(length_scale)

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


def _matern_spectrum(nu: float, xp: Any, square: Any, axes: int) -> tuple[Any, Any]:
    """Spectral density of a Matern correlation (Rasmussen and Williams 2006, eq. 4.15)."""
    power = nu + 0.5 * axes
    constant = axes * (log(2.0) + 0.5 * log(pi)) + lgamma(power) - lgamma(nu) + nu * log(2.0 * nu)
    total = 2.0 * nu + square
    return constant - power * xp.log(total), -power * square / total


class ExpQuad(Kernel):
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


class Exponential(Kernel):
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


class Matern32(Kernel):
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


class Matern52(Kernel):
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
