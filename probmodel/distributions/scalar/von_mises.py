"""The von Mises distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from autograd.tracer import getval

from probmodel.constraints import Interval, Positive, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.domain import where_inside, where_valid
from probmodel.numerics.special import LOG_2PI
from probmodel.numerics.special.bessel import bessel_gap, bessel_ratio, bessel_ratio_slope, log_i0e
from probmodel.numerics.special.circle_arcs import log_arc, mean_of_arc
from probmodel.types import Array


class VonMises(Distribution):
    r"""Von Mises distribution of an angle in radians, the normal distribution of the circle.

    .. math:: p(y) = \frac{\exp\{\kappa \cos(y - \mu)\}}{2 \pi I_0(\kappa)},
              \quad -\pi \le y \le \pi

    Parameters
    ----------
    mu : mean direction :math:`\mu`; whole turns more or less make no difference
    kappa : concentration :math:`\kappa > 0`, for large ones about the inverse of the variance

    Notes
    -----
    Stan: ``von_mises(mu, kappa)``, for angles of any number of turns. Here an angle lies in
    :math:`[-\pi, \pi]` whatever the mean direction is, so that the density integrates to one;
    ``np.angle(np.exp(1j * y))`` brings others there. A parameter whose mean direction is near
    :math:`\pi` has a mode at each end of the interval: measure its angles from another direction,
    or take the angle of a unit vector.
    SciPy: ``vonmises(kappa, mu)``.

    References
    ----------
    Mardia and Jupp (2000), Directional statistics: the information.
    """

    parameters: ClassVar = {"mu": Parameter(Real()), "kappa": Parameter(Positive())}
    domain: ClassVar[Constraint] = Interval(-np.pi, np.pi)
    remedy: ClassVar[str] = (
        "Angles are in radians: np.angle(np.exp(1j * y)) takes whole turns off y, and np.radians "
        "turns degrees into radians."
    )

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; ``cos(d) - 1`` as a square is accurate for small ``d``."""
        mu, kappa = params
        kappa = where_valid(kappa > 0, kappa)
        half = xp.sin(0.5 * (value - mu))
        logp = -2.0 * kappa * half * half - log_i0e(kappa) - LOG_2PI
        return where_inside(xp.abs(value) <= np.pi, logp)

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of angles from -pi to ``x``."""
        return _log_cdf(x, *params)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of angles from ``x`` to pi."""
        return _log_ccdf(x, *params)

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on mean direction and concentration, which are orthogonal by symmetry."""
        _, kappa = params
        return {
            ("mu", "mu"): lambda: kappa * bessel_ratio(kappa),
            ("kappa", "kappa"): lambda: bessel_ratio_slope(kappa),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        mu, kappa = params
        return np.asarray(rng.vonmises(mu, kappa, shape))


def _arc(xp: Any, x: Any, mu: Any, upper: bool) -> tuple[Any, Any]:
    """Return where the arc on one side of ``x`` begins, from the mode, and how long it is."""
    inside = xp.minimum(xp.maximum(x, -np.pi), np.pi)
    start = (inside if upper else -np.pi) - mu
    turns = np.floor((getval(start) + np.pi) / (2.0 * np.pi))
    return start - 2.0 * np.pi * turns, np.pi - inside if upper else inside + np.pi


def _side(upper: bool) -> Callable[..., Any]:
    """Return the log probability of the angles above, or below, one."""

    def formula(xp: Any, x: Any, *params: Any) -> Any:
        mu, kappa = params
        kappa = where_valid(kappa > 0, kappa)
        return log_arc(*_arc(xp, x, mu, upper), kappa) - log_i0e(kappa) - LOG_2PI

    def slopes(xp: Any, x: Any, *params: Any) -> Sequence[Thunk]:
        mu, kappa = params
        log, sign = run(x, *params), -1.0 if upper else 1.0

        def density(at: Any) -> Any:
            half = xp.sin(0.5 * (at - mu))
            return xp.exp(-2.0 * kappa * half * half - log_i0e(kappa) - LOG_2PI - log)

        def in_kappa() -> Any:
            start, length = _arc(xp, x, mu, upper)
            mean = mean_of_arc(xp, start, length, kappa, log + log_i0e(kappa) + LOG_2PI)
            return mean + bessel_gap(kappa)

        def in_x() -> Any:
            return xp.where(xp.abs(x) <= np.pi, sign * density(x), 0.0)

        return in_x, lambda: sign * (density(np.pi) - density(x)), in_kappa

    run = closed_form(formula, slopes)
    return run


_log_cdf, _log_ccdf = _side(False), _side(True)
