"""Log densities of Stan's distributions, as its manual has them, where SciPy has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, stats
from scipy.special import betaln, erfcx, gammaln, multigammaln


def beta_neg_binomial(y: float, r: float, a: float, b: float) -> float:
    ways = gammaln(y + r) - gammaln(y + 1) - gammaln(r)
    return ways + betaln(a + r, b + y) - betaln(a, b)


def exp_mod_normal(y: float, mu: float, sigma: float, rate: float) -> float:
    # lambda/2 exp(lambda/2 (2 mu + lambda sigma^2 - 2 y)) erfc(u), which is erfcx(u) exp(-u^2)
    u = (mu + rate * sigma**2 - y) / (np.sqrt(2) * sigma)
    power = 0.5 * rate * (2 * mu + rate * sigma**2 - 2 * y)
    return np.log(rate / 2) + power + np.log(erfcx(u)) - u * u


def skew_double_exponential(y: float, mu: float, sigma: float, tau: float) -> float:
    side = (1 - tau) * (mu - y) if y < mu else tau * (y - mu)
    return np.log(2 * tau * (1 - tau) / sigma) - 2 / sigma * side


def wiener(y: float, a: float, tau: float, b: float, delta: float) -> float:
    t = y - tau
    k = np.arange(-50, 51)
    w = 1 - b  # at the upper boundary: the other one with the drift turned
    series = np.sum((w + 2 * k) * np.exp(-((w + 2 * k) ** 2) * a * a / (2 * t)))
    front = a / np.sqrt(2 * np.pi * t**3) * np.exp(delta * a * w - 0.5 * delta**2 * t)
    return np.log(front * series)


def ordered(cdf: Callable[[Any], Any]) -> Callable[..., Any]:
    def reference(y: Any, eta: Any, cuts: Any) -> Any:
        ends = np.concatenate([[-np.inf], cuts, [np.inf]])
        return np.log(cdf(ends[y] - eta) - cdf(ends[y - 1] - eta))

    return reference


def ordered_mean(cdf: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda eta, cuts: 1 + np.sum(cdf(eta - cuts))


def wishart_cholesky(L: Any, nu: float, root: Any) -> float:
    n = len(L)
    jacobian = n * np.log(2) + np.sum((n - np.arange(n)) * np.log(np.diag(L)))
    return stats.wishart(nu, root @ root.T).logpdf(L @ L.T) + jacobian


def inv_wishart_cholesky(L: Any, nu: float, root: Any) -> float:
    n = len(L)
    jacobian = n * np.log(2) + np.sum((n - np.arange(n)) * np.log(np.diag(L)))
    return stats.invwishart(nu, root @ root.T).logpdf(L @ L.T) + jacobian


def inv_wishart(y: Any, nu: float, scale: Any) -> float:
    n = len(y)
    halves = nu * np.linalg.slogdet(scale)[1] - (nu + n + 1) * np.linalg.slogdet(y)[1]
    constant = -nu * n / 2 * np.log(2) - multigammaln(nu / 2, n)
    return constant + 0.5 * (halves - np.trace(scale @ np.linalg.inv(y)))


def lkj(y: Any, eta: float) -> float:
    """For two by two matrices the constant is one integral."""
    constant = integrate.quad(lambda r: (1 - r * r) ** (eta - 1), -1, 1, epsabs=1e-12)[0]
    return (eta - 1) * np.log(np.linalg.det(y)) - np.log(constant)


def lkj_cholesky(L: Any, eta: float) -> float:
    """As `lkj`, whose Jacobian in the element below the diagonal is one for two by two."""
    return lkj(L @ L.T, eta)


def multi_gp(y: Any, K: Any, w: Any) -> float:
    return sum(
        stats.multivariate_normal(np.zeros(len(K)), K / each).logpdf(row)
        for row, each in zip(y, w, strict=True)
    )


def matrix_normal_prec(y: Any, mu: Any, P: Any, Q: Any) -> float:
    return stats.matrix_normal(mu, np.linalg.inv(P), np.linalg.inv(Q)).logpdf(y)


def dlm(y: Any, F: Any, G: Any, V: Any, W: Any, m0: Any, C0: Any) -> float:
    """The joint normal distribution of all observations, (n, T)."""
    V = np.diag(V) if np.ndim(V) == 1 else V
    (n, times), r = y.shape, len(G)
    mean, cov = np.zeros(n * times), np.zeros((n * times, n * times))
    states: list[Any] = []  # covariance of each state with itself
    m, C = m0, C0
    for t in range(times):
        m, C = G @ m, G @ C @ G.T + W
        states.append(C)
        mean[n * t : n * t + n] = F.T @ m
        across = np.eye(r)
        for s in range(t, -1, -1):
            block = F.T @ across @ states[s] @ F
            cov[n * t : n * t + n, n * s : n * s + n] = block + (V if s == t else 0)
            cov[n * s : n * s + n, n * t : n * t + n] = cov[n * t : n * t + n, n * s : n * s + n].T
            across = across @ G
    return stats.multivariate_normal(mean, cov).logpdf(y.T.reshape(-1))


def dirichlet_multinomial(y: Any, a: Any) -> float:
    n, total = y.sum(), a.sum()
    own = np.sum(gammaln(y + a) - gammaln(y + 1) - gammaln(a))
    return gammaln(total) + gammaln(n + 1) - gammaln(n + total) + own


def student_vector(y: Any, nu: float, mu: Any, root: Any) -> float:
    return stats.multivariate_t(mu, root @ root.T, nu).logpdf(y)


def glm(law: Callable[..., Any]) -> Callable[..., Any]:
    """Sum over rows of a log density of values, linear predictors, and what else there is."""
    return lambda y, x, a, b, *more: law(y, a + x @ b, *more)


def by_rows(law: Callable[..., Any], y: Any, *params: Any) -> Any:
    return np.array([law(each, *(p[i] for p in params)) for i, each in enumerate(y)])
