"""Effective sample size as three papers compute it, needed to compare with their tables.

A fourth definition, rank-normalised and of split chains, is ArviZ's; use `arviz.ess` for that. The
first two functions take the draws of one chain, the third those of several; each returns one number
per dimension.

    N      number of draws of a chain
    c_k    autocovariance at lag k
    R_k    autocorrelation c_k / c_0
    tau    integrated autocorrelation time; ESS = N / tau

References
----------
Titsias (2023), *Optimal preconditioning and Fisher adaptive Langevin sampling*: `"tfp"`.
Titsias and Dellaportas (2019), *Gradient-based adaptive MCMC*: `"geyer"`, after Geyer (1992),
*Practical Markov chain Monte Carlo*.
Zhu (2019), *Sample adaptive MCMC*: `"stan"`, after Gelman, Carlin, Stern, Dunson, Vehtari and Rubin
(2013), *Bayesian Data Analysis*, section 11.5, with autocovariances as in RStan.
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


def ess_stan(x: Array) -> Array:
    """Sum autocorrelations of all chains up to the first negative pair.

    With W the mean variance within chains (divisor N - 1), B/N the variance of their means and
    ``V = (N - 1)/N W + B/N``: ``R_k = 1 - (W - c_k)/V``, where ``c_k`` is divided by N and averaged
    over chains; ``tau = -1 + 2 sum_j (R_2j + R_2j+1)`` up to the first negative pair. Chains are
    not split and values not ranked. May exceed the number of draws.

    Parameters
    ----------
    x : (chains, n, dim)
        Draws of at least one chain.

    Returns
    -------
    (dim,)
        Effective sample size of all chains; NaN for a dimension that never moved.
    """
    chains, n, _ = x.shape
    covariance = sum(autocovariance(_checked(chain)) for chain in x) / (chains * n)
    within = covariance[0] * n / (n - 1)
    between = x.mean(axis=1).var(axis=0, ddof=1) if chains > 1 else 0.0
    total = covariance[0] + between
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.where(total > 0.0, 1.0 - (within - covariance) / total, np.nan)
    correlation[0] = np.where(total > 0.0, 1.0, np.nan)
    pairs = correlation[0 : 2 * (n // 2) : 2] + correlation[1 : 2 * (n // 2) : 2]
    before_negative = np.logical_and.accumulate(~(pairs < 0.0), axis=0)
    return chains * n / (-1.0 + 2.0 * np.where(before_negative, pairs, 0.0).sum(axis=0))


ONE_CHAIN: dict[str, Callable[[Array], Array]] = {"tfp": ess_tfp, "geyer": ess_geyer}
ESTIMATORS = (*ONE_CHAIN, "stan")


def effective_sizes(estimator: str, x: Array) -> Array:
    """Effective sample size of all chains together: (dim,).

    Parameters
    ----------
    estimator : one of `ESTIMATORS`; those of one chain are added up over chains
    x : (chains, n, dim)
    """
    if estimator == "stan":
        return ess_stan(x)
    return np.sum([ONE_CHAIN[estimator](chain) for chain in x], axis=0)


def successive(centred: Array) -> Array:
    """Correlation of successive draws of each coordinate: (dim,).

    Parameters
    ----------
    centred : (chains, n, dim), draws about their mean
    """
    products = np.einsum("cnd,cnd->d", centred[:, 1:], centred[:, :-1])
    with np.errstate(invalid="ignore"):
        return np.asarray(products / np.einsum("cnd,cnd->d", centred, centred))


def rhat(x: Array) -> Array:
    """Split R-hat of each coordinate: (dim,); NaN for one that never moved.

    Gelman, Carlin, Stern, Dunson, Vehtari and Rubin (2013), *Bayesian Data Analysis*, section 11.4:
    each chain is cut in halves, and the variance of all is compared with that within them.

    Parameters
    ----------
    x : (chains, n, dim)
    """
    half = x.shape[1] // 2
    parts = np.concatenate([x[:, :half], x[:, x.shape[1] - half :]])
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.sqrt((half - 1.0) / half + between / within))


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
