"""First-passage times of a diffusion between two boundaries: choices and reaction times."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import NonNegative, Positive, Real, UnitInterval
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.domain import where_inside, where_valid
from probmodel.numerics.special.passage import log_passage, passage_given_first
from probmodel.types import Array


class _NotZero(Real):
    """Real numbers with a sign."""

    name = "other than 0"

    def check(self, y: Array, *bounds: Any) -> Array:
        """Whether ``y`` is finite and not zero."""
        return np.isfinite(y) & (np.asarray(y) != 0)


class Wiener(Distribution):
    r"""Choice and reaction time of a diffusion model.

    Evidence starts at :math:`\alpha \beta`, drifts with :math:`\delta` and unit noise, and stops at
    0 or at :math:`\alpha`; the reaction comes :math:`\tau` later. The value is the reaction time,
    positive if the upper boundary was reached and negative if the lower one was:

    .. math:: p(y) = \alpha^{-2} \exp\{s \delta \alpha w - \tfrac12 \delta^2 t\}\,
              g(t / \alpha^2, w), \qquad s = \operatorname{sign} y, \quad t = |y| - \tau

    where :math:`w` is the distance to that boundary over :math:`\alpha`, :math:`1 - \beta` or
    :math:`\beta`, and :math:`g(\cdot, w)` the density of the time at which Brownian motion from
    :math:`w` reaches 0 before 1.

    Parameters
    ----------
    alpha : separation of the boundaries, positive
    tau : time that is no decision, 0 or more, below all reaction times
    beta : where it starts, between 0 and 1 from the lower boundary to the upper
    delta : drift

    Notes
    -----
    Stan: ``wiener(alpha, tau, beta, delta)`` of reactions at the upper boundary; of those at the
    lower, ``-y`` with ``1 - beta`` and ``-delta``. SciPy: none.

    References
    ----------
    Ratcliff (1978), A theory of memory retrieval. Navarro and Fuss (2009), Fast and accurate
    calculations for first-passage times in Wiener diffusion models.
    """

    parameters: ClassVar = {
        "alpha": Parameter(Positive()),
        "tau": Parameter(NonNegative()),
        "beta": Parameter(UnitInterval()),
        "delta": Parameter(Real()),
    }
    domain = _NotZero()  # without density between -tau and tau

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        alpha, tau, beta, delta = params
        sign, time, u, w = _standardise(xp, value, alpha, tau, beta)
        free = sign * delta * alpha * w - 0.5 * delta * delta * time - 2.0 * xp.log(alpha)
        return where_inside(time > 0.0, free + log_passage(u, w))

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw the boundary, then the time, by exact rejection from inverse Gaussian times.

        The time at which one boundary is reached given that it is, is that with the drift turned
        towards it; without the other boundary it would be inverse Gaussian, which is accepted with
        the probability that the other has not been reached. Two proposals a draw, at most, are
        expected.
        """
        alpha, tau, beta, delta = (np.broadcast_to(p, shape).reshape(-1) for p in params)
        upper = rng.random(alpha.size) < _upper_probability(alpha, beta, delta)
        w = np.where(upper, 1.0 - beta, beta)
        speed = np.abs(delta) * alpha
        u = np.empty(alpha.size)
        pending = np.arange(alpha.size)
        while pending.size:
            proposed = _inverse_gaussian(rng, w[pending], speed[pending])
            kept = rng.random(pending.size) < passage_given_first(proposed, w[pending])
            u[pending[kept]] = proposed[kept]
            pending = pending[~kept]
        time = tau + u * alpha * alpha
        return np.where(upper, time, -time).reshape(shape)


def _standardise(xp: Any, value: Any, alpha: Any, tau: Any, beta: Any) -> tuple[Any, Any, Any, Any]:
    """Sign of the value, decision time, that in units of alpha^2, and distance to the boundary."""
    alpha = where_valid(alpha > 0.0, alpha)
    tau = where_valid(tau >= 0.0, tau)
    beta = where_valid((beta > 0.0) & (beta < 1.0), beta)
    sign = np.where(_plain(value) < 0.0, -1.0, 1.0)
    time = sign * value - tau
    positive = xp.where(time > 0.0, time, 1.0 + 0.0 * time)  # elsewhere there is no density
    w = 0.5 + sign * (0.5 - beta)
    u = positive / (alpha * alpha)
    return sign, time, u + 0.0 * w, w + 0.0 * u


def _plain(value: Any) -> Array:
    """Return the array inside the boxes of autograd."""
    while hasattr(value, "_value"):
        value = value._value
    return np.asarray(value)


def _upper_probability(alpha: Array, beta: Array, delta: Array) -> Array:
    """Probability of reaching the upper boundary first."""
    rise = 2.0 * np.abs(delta) * alpha
    start = np.where(delta < 0.0, 1.0 - beta, beta)  # from the boundary that drift leads away from
    steady = np.where(rise > 0.0, rise, 1.0)
    ahead = np.where(rise > 0.0, np.expm1(-steady * start) / np.expm1(-steady), start)
    return np.where(delta < 0.0, 1.0 - ahead, ahead)


def _inverse_gaussian(rng: np.random.Generator, distance: Array, speed: Array) -> Array:
    """Draw times at which Brownian motion with drift covers a distance; speed may be zero.

    Michael, Schucany and Haas (1976), with the small root written without cancellation.
    """
    y, inverse_mean = rng.standard_normal(distance.size) ** 2, speed / distance
    shape = distance * distance
    root = np.sqrt(y * (4.0 * inverse_mean * shape + y))
    small = 1.0 / (inverse_mean + 0.5 * (y + root) / shape)
    is_small = rng.random(distance.size) * (1.0 + inverse_mean * small) <= 1.0
    return np.where(is_small, small, 1.0 / np.where(is_small, 1.0, inverse_mean**2 * small))
