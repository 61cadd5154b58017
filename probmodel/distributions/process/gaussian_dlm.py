"""Gaussian dynamic linear models: the likelihood of the Kalman filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import autograd.numpy as anp
import numpy as np

from probmodel.constraints import PositiveDefinite, Real
from probmodel.distributions.base import Parameter
from probmodel.distributions.process.series import Series
from probmodel.numerics.linalg import cholesky, log_det_lower, solve_lower, transpose
from probmodel.numerics.recurrences import repeat
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class GaussianDLM(Series):
    r"""Gaussian dynamic linear model, with the states integrated out.

    .. math:: \theta_0 \sim N(m_0, C_0), \qquad \theta_t \sim N(G \theta_{t-1}, W), \qquad
              y_t \sim N(F' \theta_t, V)

    Parameters
    ----------
    F : design matrix, (r, n)
    G : transition matrix, (r, r)
    V : covariance of the observations, (n, n)
    W : covariance of the steps of the state, (r, r); it may be singular
    m0 : mean of the state before the first time, (r,)
    C0 : its covariance, (r, r); it may be singular

    Notes
    -----
    The value is (T, n): time is the first axis, unlike in Stan, where it is the second. Stan:
    ``gaussian_dlm_obs``, with the same arguments. SciPy: none. ``W`` and ``C0`` are not checked to
    be positive semidefinite. Of symmetric matrices derivatives are taken with respect to symmetric
    changes.

    References
    ----------
    West and Harrison (1997), Bayesian Forecasting and Dynamic Models, chapter 4.
    """

    parameters: ClassVar = {
        "F": Parameter(Real(), event_ndim=2),
        "G": Parameter(Real(), event_ndim=2),
        "V": Parameter(PositiveDefinite(), event_ndim=2),
        "W": Parameter(Real(), event_ndim=2),
        "m0": Parameter(Real(), event_ndim=1),
        "C0": Parameter(Real(), event_ndim=2),
    }
    event_ndim = 2

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN where a covariance of predictions has no factor."""
        F, G, V, W, m0, C0 = params
        eye = np.eye(np.shape(G)[-1])

        def step(state: Sequence[Any], elements: Sequence[Any], same: Sequence[Any]) -> Any:
            (mean, covariance), (y,), (F, G, V, W) = state, elements, same
            mean, spread = _times(G, mean), _sandwich(G, covariance) + W
            loaded = anp.matmul(transpose(F), spread)
            root = cholesky(anp.matmul(loaded, F) + V)
            missed = y - _times(transpose(F), mean)
            gain = transpose(solve_lower(root, solve_lower(root, loaded), True))
            z = solve_lower(root, missed[..., None])[..., 0]
            # Joseph's form, which stays accurate where the state is hardly known before.
            left = eye - anp.matmul(gain, transpose(F))
            after = [mean + _times(gain, missed), _sandwich(left, spread) + _sandwich(gain, V)]
            return after, -0.5 * anp.sum(z * z, axis=-1) - log_det_lower(root)

        _, total = repeat(step, [m0, C0], [anp.moveaxis(value, -2, 0)], [F, G, V, W])
        return total - 0.5 * LOG_2PI * value.shape[-2] * value.shape[-1]

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw series, one time after another: ``shape`` ends with (T, n)."""
        F, G, V, W, m0, C0 = (np.asarray(p, dtype=float) for p in params)
        batch, times, r = shape[:-2], shape[-2], F.shape[-2]
        state = m0 + _colored(C0, rng.standard_normal((*batch, r)))
        steps, noise = rng.standard_normal((*batch, times, r)), rng.standard_normal(shape)
        y = np.empty(shape)
        for t in range(times):
            state = (G @ state[..., None])[..., 0] + _colored(W, steps[..., t, :])
            seen = (np.swapaxes(F, -1, -2) @ state[..., None])[..., 0]
            y[..., t, :] = seen + _colored(V, noise[..., t, :])
        return y


def _times(matrix: Any, vector: Any) -> Any:
    """Return a matrix times a vector."""
    return anp.sum(matrix * vector[..., None, :], axis=-1)


def _sandwich(a: Any, b: Any) -> Any:
    """Return ``a b a'``."""
    return anp.matmul(anp.matmul(a, b), transpose(a))


def _colored(covariance: Array, z: Array) -> Array:
    """Give standard normal vectors a covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    scaled = (
        np.sqrt(np.maximum(values, 0.0)) * (np.swapaxes(vectors, -1, -2) @ z[..., None])[..., 0]
    )
    return np.asarray((vectors @ scaled[..., None])[..., 0])
