"""Effective sample size as two papers compute it, needed to compare with their tables.

A third definition, rank-normalised and split over chains, is ArviZ's; use `arviz.ess` for that.
Both functions here take the draws of one chain and return one number per dimension.

    N      number of draws
    c_k    autocovariance at lag k
    R_k    autocorrelation c_k / c_0
    tau    integrated autocorrelation time; ESS = N / tau

References
----------
Titsias (2023), *Optimal preconditioning and Fisher adaptive Langevin sampling*: `"tfp"`.
Titsias and Dellaportas (2019), *Gradient-based adaptive MCMC*: `"geyer"`, after Geyer (1992),
*Practical Markov chain Monte Carlo*.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def autocovariance(x: Array) -> Array:
    """Sum over t of the centred products x_t x_{t+k}, for all lags at once by FFT.

    Parameters
    ----------
    x : (n, dim)
        Draws of one chain.

    Returns
    -------
    (n, dim)
        Sums (not means) of n - k products at lag k.
    """
    n = len(x)
    length = 1 << (2 * n - 1).bit_length()  # zero padding: no wrap-around
    centred = np.ascontiguousarray((x - x.mean(axis=0)).T)
    spectrum = np.fft.rfft(centred, length)
    power = spectrum.real**2 + spectrum.imag**2
    return np.fft.irfft(power, length)[:, :n].T


def ess_tfp(x: Array) -> Array:
    """Sum autocorrelations up to the first negative one.

    ``c_k`` is divided by N - k, and ``tau = -1 + 2 sum_k (N - k)/N R_k``. May exceed N.

    Parameters
    ----------
    x : (n, dim)
        Draws of one chain.

    Returns
    -------
    (dim,)
        Effective sample size; NaN for a dimension that never moved.
    """
    n = len(_checked(x))
    products = n - np.arange(n)
    correlation = _normalised(autocovariance(x) / products[:, None])
    before_negative = np.logical_and.accumulate(~(correlation < 0.0), axis=0)
    kept = np.where(before_negative, correlation, 0.0)
    return n / (-1.0 + 2.0 * (products / n) @ kept)


def ess_geyer(x: Array) -> Array:
    """Sum the initial monotone sequence of pairs of autocorrelations.

    ``c_k`` is divided by N, ``Gamma_j = R_2j + R_2j+1`` is made non-increasing, the positive
    ones are summed: ``tau = max(1, -1 + 2 sum_j Gamma_j)``. Never exceeds N.

    Parameters
    ----------
    x : (n, dim)
        Draws of one chain.

    Returns
    -------
    (dim,)
        Effective sample size; NaN for a dimension that never moved.
    """
    n = len(_checked(x))
    correlation = _normalised(autocovariance(x))
    pairs = correlation[0 : 2 * (n // 2) : 2] + correlation[1 : 2 * (n // 2) : 2]
    monotone = np.minimum.accumulate(pairs, axis=0)
    return n / np.maximum(1.0, -1.0 + 2.0 * np.maximum(monotone, 0.0).sum(axis=0))


ESTIMATORS: dict[str, Callable[[Array], Array]] = {"tfp": ess_tfp, "geyer": ess_geyer}


def _normalised(covariance: Array) -> Array:
    """Autocorrelations; NaN where the variance is zero."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(covariance[0] > 0.0, covariance / covariance[0], np.nan)


def _checked(x: Array) -> Array:
    """Refuse anything but the draws of one chain."""
    if x.ndim != 2 or len(x) < 4:
        raise ValueError(
            f"draws must be (n, dim) with n at least 4, got shape {x.shape}; "
            "pass the chains one by one"
        )
    return x
