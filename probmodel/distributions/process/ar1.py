"""The stationary first-order autoregressive process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import autograd.numpy as anp
import numpy as np
from autograd.extend import Box, defvjp_argnums
from autograd.numpy.numpy_vjps import unbroadcast_f

from probmodel.constraints import Interval, Positive, Real
from probmodel.distributions.base import Parameter
from probmodel.distributions.noncentered_forms import OfStandardNormal
from probmodel.distributions.process.series import Series
from probmodel.distributions.vector.conditioning import at_times, nearest_known
from probmodel.numerics.linalg import geometric_filter
from probmodel.numerics.special import LOG_2PI, differentiable
from probmodel.types import Array


@differentiable
def ar1_path(z: Any, phi: Any, sigma: Any, mean: Any) -> Any:
    """Path of a stationary autoregression that is driven by standard normal shocks.

    These are ``z``, (..., n); ``phi``, ``sigma`` and ``mean`` are (...,).
    """
    batch = np.broadcast_shapes(*(np.shape(a) for a in (z[..., 0], phi, sigma, mean)))
    shocks = np.array(np.broadcast_to(z, (*batch, z.shape[-1])))
    shocks[..., 0] *= _start(np, phi)
    path = geometric_filter(phi, shocks)
    path *= sigma[..., None]
    path += mean[..., None]
    return path


def _start(xp: Any, phi: Any) -> Any:
    """Return the standard deviation of the first value over that of the innovations."""
    return 1.0 / xp.sqrt((1.0 - phi) * (1.0 + phi))


def _path_vjps(argnums: Sequence[int], ans: Any, args: Any, kwargs: Any) -> Any:
    """Differentiate `ar1_path`: its derivatives share one filter that runs backwards."""
    z, phi, sigma, mean = args

    def vjp(g: Any) -> tuple[Any, ...]:
        xp = anp if any(isinstance(a, Box) for a in (ans, g, *args)) else np
        spread = xp.expand_dims(sigma, -1)
        shocks = geometric_filter(phi, (g * spread)[..., ::-1])[..., ::-1]
        path = ans - xp.expand_dims(mean, -1)
        start = _start(xp, phi)

        def in_z() -> Any:
            first = shocks[..., :1] * xp.expand_dims(start, -1)
            return xp.concatenate([first, shocks[..., 1:]], axis=-1)

        def in_phi() -> Any:
            lagged = xp.sum(shocks[..., 1:] * path[..., :-1] / spread, axis=-1)
            return lagged + shocks[..., 0] * z[..., 0] * phi * start * start * start

        def in_sigma() -> Any:
            return xp.sum(g * path, axis=-1) / sigma

        def in_mean() -> Any:
            return xp.sum(g, axis=-1)

        slopes = (in_z, in_phi, in_sigma, in_mean)
        return tuple(unbroadcast_f(args[i], lambda _, i=i: slopes[i]())(g) for i in argnums)

    return vjp


defvjp_argnums(ar1_path, _path_vjps)


class AR1(OfStandardNormal, Series):
    r"""Stationary autoregressive process of order one, of any length.

    .. math:: y_1 \sim N\bigl(m, \sigma / \sqrt{1 - \phi^2}\bigr), \qquad
              y_t \sim N(m + \phi (y_{t-1} - m), \sigma)

    Parameters
    ----------
    phi : persistence, :math:`-1 < \phi < 1`
    sigma : standard deviation :math:`\sigma > 0` of the innovations
    mean : :math:`m` at all times, 0 unless given

    Notes
    -----
    The value is a vector: the process at equally spaced times. Time is the last axis. Stan: written
    out as the two sampling statements above. SciPy: ``multivariate_normal`` with covariance
    :math:`\sigma^2 \phi^{|s - t|} / (1 - \phi^2)`.

    References
    ----------
    Kim, Shephard and Chib (1998), Stochastic volatility: likelihood inference and comparison with
    ARCH models.
    """

    parameters: ClassVar = {
        "phi": Parameter(Interval(-1.0, 1.0)),
        "sigma": Parameter(Positive()),
        "mean": Parameter(Real(), default=0.0),
    }
    takes_pseudo_data = "series"
    noncentered_primitive: ClassVar = staticmethod(ar1_path)

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN where the process is not stationary."""
        phi, sigma, mean = params
        n = value.shape[-1]
        centered = value - xp.expand_dims(mean, -1)
        quadratic = _quadratic(xp, *_innovations(xp, centered, phi), phi)
        return (
            0.5 * xp.log((1.0 - phi) * (1.0 + phi))
            - n * (xp.log(sigma) + 0.5 * LOG_2PI)
            - 0.5 * quadratic / (sigma * sigma)
        )

    def condition(self, free: Array, value: Array, known: Array, *params: Array) -> Array:
        """Give the unknown times what follows from known ones: on from the last, and between.

        An unconditional path is corrected by what it misses at the nearest known times on either
        side, weighted as the conditional mean weighs them: those beyond tell nothing more.
        """
        missed = np.where(known, value - free, 0.0)
        return np.where(known, value, free + _bridge(missed, known, np.asarray(params[0])))

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Run the process on standard normal innovations ``z``."""
        return ar1_path(z, *params)

    def standardise(self, value: Array, *params: Any) -> Array:
        """Return the innovations, each over its standard deviation."""
        phi, sigma, mean = params
        first, innovations = _innovations(np, value - np.expand_dims(mean, -1), phi)
        z = np.concatenate([(first / _start(np, phi))[..., None], innovations], axis=-1)
        return np.asarray(z / np.expand_dims(sigma, -1))

    def noncentered_log_det(self, xp: Any, event: tuple[int, ...], *params: Any) -> Any:
        """Count sigma for every time, and the longer first innovation."""
        phi, sigma, _ = params
        return event[0] * xp.log(sigma) - 0.5 * xp.log((1.0 - phi) * (1.0 + phi))

    def informed(self, information: Any, value: Any = 0.0) -> AR1:
        r"""Return the process of the same kind whose inverse covariance is larger by ``w I``.

        Away from its ends the inverse covariance has the rows
        :math:`(-\phi, 1 + \phi^2, -\phi) / \sigma^2`. With :math:`w` added in the middle they are
        those of the persistence :math:`\phi / k` and the standard deviation
        :math:`\sigma / \sqrt{k}`, where
        :math:`k^2 - (1 + \phi^2 + w \sigma^2) k + \phi^2 = 0`. The mean shrinks
        towards ``value`` by :math:`(1 - \phi)^2 / ((1 - \phi)^2 + w \sigma^2)`.
        """
        phi, sigma, mean = (self.args[name] for name in ("phi", "sigma", "mean"))
        told = information * sigma**2
        root = np.sqrt(((1.0 - phi) ** 2 + told) * ((1.0 + phi) ** 2 + told))
        k = 0.5 * (1.0 + phi**2 + told + root)
        pull = (1.0 - phi) ** 2
        return AR1(phi / k, sigma / np.sqrt(k), value + (mean - value) * (pull / (pull + told)))


def _innovations(xp: Any, value: Any, phi: Any) -> tuple[Any, Any]:
    """First value, and what the others add to ``phi`` times their predecessor."""
    return value[..., 0], value[..., 1:] - xp.expand_dims(phi, -1) * value[..., :-1]


def _quadratic(xp: Any, first: Any, innovations: Any, phi: Any) -> Any:
    """Sum of squared innovations, the first value standing for an infinite past."""
    return xp.sum(innovations * innovations, axis=-1) + (1.0 - phi) * (1.0 + phi) * first * first


def _bridge(missed: Array, known: Array, phi: Array) -> Array:
    """Conditional mean of a process of mean zero, given its values at the known times.

    ``missed``, (..., n), is zero where it is not ``known``, which may have fewer axes.
    """
    n = known.shape[-1]
    times = np.arange(n)
    before, after = nearest_known(known)
    since = np.where(before < 0, np.inf, times - before)
    until = np.where(after == n, np.inf, after - times)
    phi = phi[..., None]
    with np.errstate(all="ignore"):  # the weights of known times are not used
        log_phi = np.log(np.abs(phi))
        whole = np.expm1(2.0 * (since + until) * log_phi)
        from_before = phi**since * np.expm1(2.0 * until * log_phi) / whole
        from_after = phi**until * np.expm1(2.0 * since * log_phi) / whole
    return from_before * at_times(missed, before) + from_after * at_times(missed, after)
