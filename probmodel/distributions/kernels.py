"""Covariance functions of stationary, isotropic Gaussian processes."""

from __future__ import annotations

from math import sqrt
from typing import Any, ClassVar


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
        self.amplitude = amplitude
        self.length_scale = length_scale

    @staticmethod
    def correlation(xp: Any, s: Any) -> Any:
        """Correlation at the distance ``s``, in units of the length scale."""
        raise NotImplementedError

    @staticmethod
    def stretch(s: Any, rho: Any) -> Any:
        """Return the derivative of the correlation ``rho`` in the log length scale."""
        raise NotImplementedError


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
