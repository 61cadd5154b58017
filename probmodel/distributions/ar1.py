"""The stationary first-order autoregressive process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Interval, Positive, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter, Thunk, reduce_to, row_sum
from probmodel.distributions.normal import Normal
from probmodel.linalg import geometric_filter
from probmodel.special import LOG_2PI
from probmodel.types import Array


class AR1(Distribution):
    r"""Stationary autoregressive process of order one and mean zero, of any length.

    .. math:: y_1 \sim N\bigl(0, \sigma / \sqrt{1 - \phi^2}\bigr), \qquad
              y_t \sim N(\phi y_{t-1}, \sigma)

    Parameters
    ----------
    phi : persistence, :math:`-1 < \phi < 1`
    sigma : standard deviation :math:`\sigma > 0` of the innovations

    Notes
    -----
    The value is a vector: the process at equally spaced times. Stan: written out as the two
    sampling statements above. SciPy: ``multivariate_normal`` with covariance
    :math:`\sigma^2 \phi^{|s - t|} / (1 - \phi^2)`.

    References
    ----------
    Kim, Shephard and Chib (1998), Stochastic volatility: likelihood inference and comparison with
    ARCH models.
    """

    parameters: ClassVar = {"phi": Parameter(Interval(-1.0, 1.0)), "sigma": Parameter(Positive())}
    event_ndim = 1

    def support(self) -> Constraint:
        """All real numbers, at each time."""
        return Real()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN where the process is not stationary."""
        phi, sigma = params
        n = value.shape[-1]
        quadratic = _quadratic(xp, *_innovations(xp, value, phi), phi)
        return (
            0.5 * xp.log((1.0 - phi) * (1.0 + phi))
            - n * (xp.log(sigma) + 0.5 * LOG_2PI)
            - 0.5 * quadratic / (sigma * sigma)
        )

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to value, persistence and standard deviation."""
        phi, sigma = params
        first, innovations = _innovations(xp, value, phi)
        n = value.shape[-1]
        precision = 1.0 / (sigma * sigma)
        variance_ratio = (1.0 - phi) * (1.0 + phi)

        def slope_in_value() -> Any:
            start = xp.expand_dims(variance_ratio * first, -1)
            pushed = xp.expand_dims(phi, -1) * innovations
            ahead = xp.concatenate([pushed, xp.zeros_like(start)], axis=-1)
            behind = xp.concatenate([start, innovations], axis=-1)
            return (ahead - behind) * xp.expand_dims(precision, -1)

        def slope_in_phi() -> Any:
            lagged = xp.sum(innovations * value[..., :-1], axis=-1)
            return precision * (lagged + phi * first * first) - phi / variance_ratio

        def slope_in_sigma() -> Any:
            return (precision * _quadratic(xp, first, innovations, phi) - n) / sigma

        return (slope_in_value, slope_in_phi, slope_in_sigma)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw processes: ``shape`` ends with their length."""
        return np.asarray(self.noncentered(np, rng.standard_normal(shape), *params))

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of the log density per chain, with partials, from one pass of innovations."""
        phi, sigma = (np.asarray(p) for p in params)
        first, lagged = value[..., 0], value[..., :-1]
        push = phi[..., None] * lagged
        e = value[..., 1:] - push
        if first.shape != e.shape[:-1]:
            return super()._summed(wanted, value, *params)
        n = value.shape[-1]
        ratio = (1.0 - phi) * (1.0 + phi)
        precision = 1.0 / (sigma * sigma)
        quadratic = np.vecdot(e, e) + ratio * first * first
        log_scale = 0.5 * np.log(ratio) - n * (np.log(sigma) + 0.5 * LOG_2PI)
        terms = log_scale - 0.5 * precision * quadratic
        batch = terms.shape
        logp = row_sum(terms, batch)

        def slope_in_value() -> Array:
            if n == 1:
                return -(precision * ratio)[..., None] * value
            behind = e * precision[..., None]
            reused = push if push.shape == behind.shape else None
            ahead = np.multiply(behind, phi[..., None], out=reused)
            slope = np.empty((*batch, n))
            slope[..., 0] = ahead[..., 0] - precision * ratio * first
            np.subtract(ahead[..., 1:], behind[..., :-1], out=slope[..., 1:-1])
            slope[..., -1] = -behind[..., -1]
            return slope

        def slope_in_phi() -> Any:
            moment = np.vecdot(e, lagged)
            return precision * (moment + phi * first * first) - phi / ratio

        args = (value, phi, sigma)
        slopes = (slope_in_value, slope_in_phi, lambda: (precision * quadratic - n) / sigma)
        return logp, [reduce_to(args[i], slopes[i](), batch, int(i == 0)) for i in wanted]

    def base(self) -> Distribution:
        """Return the standard normal: independent innovations of unit variance."""
        return Normal(0.0, 1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Run the process on standard normal innovations ``z``."""
        phi, sigma = params
        start = xp.expand_dims(1.0 / xp.sqrt((1.0 - phi) * (1.0 + phi)), -1)
        shocks = xp.concatenate([z[..., :1] * start, z[..., 1:] + xp.zeros_like(start)], axis=-1)
        return xp.expand_dims(sigma, -1) * geometric_filter(phi, shocks)


def _innovations(xp: Any, value: Any, phi: Any) -> tuple[Any, Any]:
    """First value, and what the others add to ``phi`` times their predecessor."""
    return value[..., 0], value[..., 1:] - xp.expand_dims(phi, -1) * value[..., :-1]


def _quadratic(xp: Any, first: Any, innovations: Any, phi: Any) -> Any:
    """Sum of squared innovations, the first value standing for an infinite past."""
    return xp.sum(innovations * innovations, axis=-1) + (1.0 - phi) * (1.0 + phi) * first * first
