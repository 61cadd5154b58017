"""Gaussian dynamic linear models: the likelihood of the Kalman filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import autograd.numpy as anp
import numpy as np
from autograd.core import make_vjp

from probmodel.constraints import PositiveDefinite, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.linalg import cholesky, log_det_lower, solve_lower, transpose
from probmodel.matrices import inv
from probmodel.recurrences import matrix_recurrence
from probmodel.special import LOG_2PI
from probmodel.types import Array


class GaussianDLM(Distribution):
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

    There is no loop over time. Filtered covariances of twice as many times follow from those of
    the first half by one step of the filter over that many times, the elements of which are doubled
    as well; the means are a linear recurrence. Derivatives are those of automatic differentiation
    through these log2(T) levels.

    References
    ----------
    West and Harrison (1997), Bayesian Forecasting and Dynamic Models, chapter 4.
    Sarkka and Garcia-Fernandez (2021), Temporal parallelization of Bayesian smoothers,
    arXiv:1905.13002, section IV: the elements of the filter, and how two are joined.
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
    sequential = True

    def event_shape(self, *params: Array) -> None:
        """Leave the length to the declaration."""

    def support(self) -> Constraint:
        """All real numbers, at each time."""
        return Real()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN where a covariance of predictions has no factor."""
        F, G, V, W, m0, C0 = params
        filtered = _filtered_covariances(xp, F, G, V, W, C0, value.shape[-2])
        design, transition = F[..., None, :, :], G[..., None, :, :]
        predicted = _sandwich(xp, transition, filtered) + W[..., None, :, :]
        loaded = xp.matmul(transpose(design), predicted)
        root = cholesky(xp.matmul(loaded, design) + V[..., None, :, :])
        gain = transpose(solve_lower(root, solve_lower(root, loaded), True))
        pulled = xp.matmul(transition, gain)
        passed = transition - xp.matmul(pulled, transpose(design))
        driven = xp.matmul(pulled, value[..., None])[..., 0]
        # The states before each time: the first follows from the start, without an observation.
        first = transition + np.zeros(np.shape(passed[..., :1, :, :]))
        over = xp.concatenate([first, passed[..., :-1, :, :]], axis=-3)
        none = np.zeros(np.shape(driven[..., :1, :]))
        added = xp.concatenate([none, driven[..., :-1, :]], axis=-2)
        means = xp.matmul(matrix_recurrence(over, added, m0), F)
        z = solve_lower(root, (value - means)[..., None])[..., 0]
        squares = xp.sum(z * z, axis=(-2, -1))
        constant = 0.5 * LOG_2PI * value.shape[-2] * value.shape[-1]
        return -0.5 * squares - xp.sum(log_det_lower(root), axis=-1) - constant

    def _vjp(
        self, wanted: Sequence[int], args: Sequence[Any], weights: Array
    ) -> tuple[Any, Sequence[Any]]:
        """Log density and, for each wanted argument, the derivative of its weighted sum."""

        def of_wanted(moving: Any) -> Any:
            full = list(args)
            for i, x in zip(wanted, moving, strict=True):
                full[i] = x
            return self.log_kernel(anp, *full) + np.zeros(np.shape(weights))

        vjp, logp = make_vjp(of_wanted, tuple(args[i] for i in wanted))
        return logp, vjp(weights)

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


def _sandwich(xp: Any, a: Any, b: Any) -> Any:
    """Return ``a b a'``."""
    return xp.matmul(xp.matmul(a, b), transpose(a))


def _filtered_covariances(xp: Any, F: Any, G: Any, V: Any, W: Any, C0: Any, count: int) -> Any:
    """Covariances of the state given what was seen, from before the first time: (..., count, r, r).

    An element (A, C, J) says how the filter passes over a stretch of time: a covariance P before
    it becomes ``A (I + P J)^-1 P A' + C``.
    """
    eye = np.eye(np.shape(G)[-1])
    loaded = xp.matmul(transpose(F), W)
    root = cholesky(xp.matmul(loaded, F) + V)
    half, seen = solve_lower(root, loaded), solve_lower(root, xp.matmul(transpose(F), G))
    gain = xp.matmul(transpose(half), solve_lower(root, transpose(F)))
    A = xp.matmul(eye - gain, G)
    C = W - xp.matmul(transpose(half), half)
    J = xp.matmul(transpose(seen), seen)
    batch = np.broadcast_shapes(np.shape(A)[:-2], np.shape(C0)[:-2])
    known = (C0 + np.zeros((*batch, 1, 1)))[..., None, :, :]
    while (m := np.shape(known)[-3]) < count:
        before = known[..., : count - m, :, :]
        over, spread, told = (x[..., None, :, :] for x in (A, C, J))
        shrunk = xp.matmul(inv(eye + xp.matmul(before, told)), before)
        after = _sandwich(xp, over, shrunk) + spread
        known = xp.concatenate([known, after], axis=-3)
        middle = inv(eye + xp.matmul(C, J))
        told_twice = xp.matmul(transpose(middle), J)
        C, J = (
            _sandwich(xp, A, xp.matmul(middle, C)) + C,
            _sandwich(xp, transpose(A), told_twice) + J,
        )
        A = xp.matmul(A, xp.matmul(middle, A))
    return known


def _colored(covariance: Array, z: Array) -> Array:
    """Give standard normal vectors a covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    scaled = (
        np.sqrt(np.maximum(values, 0.0)) * (np.swapaxes(vectors, -1, -2) @ z[..., None])[..., 0]
    )
    return np.asarray((vectors @ scaled[..., None])[..., 0])
