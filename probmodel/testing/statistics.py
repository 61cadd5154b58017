"""Comparisons of draws with the truth, in units of their Monte Carlo error."""

from __future__ import annotations

import numpy as np

from probmodel.results.convergence import convergence
from probmodel.testing.runs import require
from probmodel.testing.targets import Gaussian
from probmodel.types import Array

BINS = 10
LIMIT = 4.0  # z-scores of draws that start exact
POSTERIOR_LIMIT = 5.0  # of long runs, whose error is itself an estimate
LEAST_ESS = 50.0  # below this the error is not known well enough to compare with


def tamed(x: Array, exact: Array) -> Array:
    """Return ``x`` without NaN, and cut to the range of exact draws: (n, dim) each.

    The variance of a chain that ran away would drown what is wrong with the others.
    """
    return np.clip(np.nan_to_num(x), exact.min(axis=0), exact.max(axis=0))


def deviations(x: Array, exact: Array) -> dict[str, float]:
    """z-scores of moments and bin counts of ``x`` against as many exact draws: (n, dim) each.

    Both hold independent rows of the same range. The moments are those of order one to three of
    each coordinate, and the products of neighbouring coordinates. The bins are between deciles of
    the exact draws.
    """
    scores = {}
    for j in range(x.shape[1]):
        for power in (1, 2, 3):
            name = f"mean of x{j}" + f"^{power}" * (power > 1)
            scores[name] = _difference(x[:, j] ** power, exact[:, j] ** power)
        scores[f"distribution of x{j}"] = _bin_score(x[:, j], exact[:, j])
    for j in range(1, x.shape[1]):
        scores[f"mean of x{j - 1} x{j}"] = _difference(
            x[:, j - 1] * x[:, j], exact[:, j - 1] * exact[:, j]
        )
    return scores


def _difference(a: Array, b: Array) -> float:
    """z-score of the difference of two means."""
    return float((a.mean() - b.mean()) / np.sqrt((a.var() + b.var()) / len(a)))


def _bin_score(a: Array, b: Array) -> float:
    """z-score of the chi-squared statistic of two samples' counts in ten bins.

    The cube root of a chi-squared variable is nearly normal (Wilson and Hilferty 1931).
    """
    edges = np.quantile(b, np.linspace(0.0, 1.0, BINS + 1)[1:-1])
    counts = [np.bincount(np.searchsorted(edges, c), minlength=BINS) for c in (a, b)]
    chi2 = np.sum((counts[0] - counts[1]) ** 2 / np.maximum(counts[0] + counts[1], 1))
    spread = 2.0 / (9.0 * (BINS - 1))
    return float((np.cbrt(chi2 / (BINS - 1)) - (1.0 - spread)) / np.sqrt(spread))


def worst(scores: dict[str, float]) -> tuple[str, float]:
    """Name and z-score of what deviates most."""
    name = max(scores, key=lambda key: abs(scores[key]))
    return name, scores[name]


def require_moments(target: Gaussian, x: Array) -> None:
    """Require means and covariances, of (chains, draws, dim), within five standard errors.

    Raises an AssertionError if one is further off, or the draws are too few to tell.
    """
    dim = target.dim
    scale = np.sqrt(np.diag(target.cov))
    z = (x - target.mean) / scale
    products = (z[:, :, :, None] * z[:, :, None, :]).reshape(*z.shape[:2], -1)
    functions = np.concatenate([z, products], axis=2)
    truth = np.concatenate([np.zeros(dim), (target.cov / np.outer(scale, scale)).ravel()])
    ess = convergence(np.moveaxis(functions, 2, 0)).ess_bulk
    require(
        bool(np.all(ess > LEAST_ESS)),
        f"{x.shape[0]} chains of {x.shape[1]} draws have an effective sample size of "
        f"{np.min(ess):.0f} for the slowest moment of a normal target in {dim} dimensions; "
        f"{LEAST_ESS:.0f} are needed to check it. If the sampler learns slowly, raise warmup or "
        "draws of Effort.",
    )
    error = functions.std(axis=(0, 1)) / np.sqrt(ess)
    scores = (functions.mean(axis=(0, 1)) - truth) / error
    names = [f"mean of x{i}" for i in range(dim)]
    names += [f"covariance of x{i} and x{j}" for i in range(dim) for j in range(dim)]
    name, score = worst(dict(zip(names, scores.tolist(), strict=True)))
    require(
        abs(score) < POSTERIOR_LIMIT,
        f"On a normal target in {dim} dimensions the {name} is off by {score:.1f} Monte Carlo "
        "standard errors. Either the kernel does not leave the target invariant, or the chains had "
        "not reached it: see check_invariance.",
    )
