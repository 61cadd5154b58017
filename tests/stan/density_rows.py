"""Rows for each distribution of Stan: values, parameters, and the log density by other means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from density_formulas import (
    beta_neg_binomial,
    dirichlet_multinomial,
    dlm,
    exp_mod_normal,
    glm,
    inv_wishart,
    inv_wishart_cholesky,
    lkj,
    lkj_cholesky,
    matrix_normal_prec,
    multi_gp,
    ordered,
    ordered_mean,
    skew_double_exponential,
    student_vector,
    wiener,
    wishart_cholesky,
)
from scipy import stats
from scipy.special import expit, i0e, log_softmax, ndtr, softmax


class Row(NamedTuple):
    """Two values with parameters, and a log density by SciPy, or by the formula in Stan's manual.

    ``mean`` gives the mean of draws, and ``arguments`` those of the generator where they are not
    the parameters.
    """

    values: Sequence[Any]
    params: Sequence[tuple[Any, ...]]
    reference: Callable[..., Any]
    mean: Callable[..., Any] | None = None
    arguments: Callable[..., tuple[Any, ...]] | None = None


def spd(seed: int, n: int = 2) -> Any:
    a = np.random.default_rng(seed).standard_normal((n, n))
    return a @ a.T + n * np.eye(n)


S1, S2, S3 = spd(1), spd(2), spd(3, 3)
L1, L2 = np.linalg.cholesky(S1), np.linalg.cholesky(S2)
C1, C2 = np.array([[1.0, 0.3], [0.3, 1.0]]), np.array([[1.0, -0.6], [-0.6, 1.0]])
X = np.array([[0.5, -1.0], [1.5, 0.3], [-0.2, 0.8]])
ALPHA, BETA = np.array([0.2, -0.4, 0.1]), np.array([0.7, -0.3])
ALPHA2, BETA2 = np.array([-0.2, 0.9, 0.3]), np.array([-0.5, 1.1])
P1, P2 = np.array([0.2, 0.5, 0.3]), np.array([0.6, 0.1, 0.3])
CUTS1, CUTS2 = np.array([-0.5, 0.8]), np.array([-1.0, 0.1])


def frozen(law: Callable[..., Any], discrete: bool = False) -> dict[str, Callable[..., Any]]:
    """Reference and mean by a distribution of SciPy."""
    name = "logpmf" if discrete else "logpdf"
    return {"reference": lambda y, *p: getattr(law(*p), name)(y), "mean": lambda *p: law(*p).mean()}


def counts(law: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    return frozen(law, discrete=True)


GLM_PARAMS = [(X, ALPHA, BETA), (X + 0.1, ALPHA2, BETA2)]
ALPHA_K, BETA_K = np.array([0.1, 0.5, -0.3]), np.array([[0.2, -0.1, 0.4], [0.5, 0.3, -0.7]])

ROWS: dict[str, Row] = {
    # -- whole numbers ---------------------------------------------------------------------------
    "bernoulli": Row([0, 1], [(0.3,), (0.8,)], **counts(lambda p: stats.bernoulli(p))),
    "bernoulli_logit": Row(
        [0, 1], [(0.3,), (-1.8,)], **counts(lambda a: stats.bernoulli(expit(a)))
    ),
    "binomial": Row([3, 0], [(7, 0.3), (4, 0.1)], **counts(stats.binom)),
    "binomial_logit": Row(
        [3, 2], [(7, 0.3), (4, -0.8)], **counts(lambda n, a: stats.binom(n, expit(a)))
    ),
    "beta_binomial": Row([3, 2], [(7, 1.3, 2.2), (4, 0.8, 0.5)], **counts(stats.betabinom)),
    "beta_neg_binomial": Row(
        [3, 2],
        [(7.5, 8.3, 2.2), (4.0, 9.8, 0.5)],
        beta_neg_binomial,
        lambda r, a, b: r * b / (a - 1),
    ),
    "discrete_range": Row(
        [3, -2], [(-1, 4), (-3, -2)], **counts(lambda a, b: stats.randint(a, b + 1))
    ),
    "hypergeometric": Row(
        [3, 2], [(6, 5, 7), (4, 8, 3)], **counts(lambda n, a, b: stats.hypergeom(a + b, a, n))
    ),
    "neg_binomial": Row(
        [3, 2], [(2.5, 0.7), (4.0, 2.0)], **counts(lambda a, b: stats.nbinom(a, b / (b + 1)))
    ),
    "neg_binomial_2": Row(
        [3, 2],
        [(2.5, 0.7), (4.0, 2.0)],
        **counts(lambda mu, phi: stats.nbinom(phi, phi / (mu + phi))),
    ),
    "neg_binomial_2_log": Row(
        [3, 2],
        [(0.5, 0.7), (-0.4, 2.0)],
        **counts(lambda a, phi: stats.nbinom(phi, phi / (np.exp(a) + phi))),
    ),
    "poisson": Row([3, 0], [(2.5,), (0.7,)], **counts(stats.poisson)),
    "poisson_log": Row([3, 0], [(1.5,), (-0.7,)], **counts(lambda a: stats.poisson(np.exp(a)))),
    "yule_simon": Row([3, 1], [(5.5,), (4.7,)], **counts(stats.yulesimon)),
    # -- categories ------------------------------------------------------------------------------
    "categorical": Row(
        [3, 1], [(P1,), (P2,)], lambda y, p: np.log(p[y - 1]), lambda p: p @ [1, 2, 3]
    ),
    "categorical_logit": Row(
        [3, 1],
        [(ALPHA,), (ALPHA2,)],
        lambda y, a: log_softmax(a)[y - 1],
        lambda a: softmax(a) @ [1, 2, 3],
    ),
    "ordered_logistic": Row(
        [3, 1], [(0.3, CUTS1), (-0.2, CUTS2)], ordered(expit), ordered_mean(expit)
    ),
    "ordered_probit": Row([3, 1], [(0.3, CUTS1), (-0.2, CUTS2)], ordered(ndtr), ordered_mean(ndtr)),
    # -- counts ----------------------------------------------------------------------------------
    "multinomial": Row(
        [np.array([2, 0, 3]), np.array([1, 1, 0])],
        [(P1,), (P2,)],
        lambda y, p: stats.multinomial(y.sum(), p).logpmf(y),
        lambda p: 6 * p,
        lambda p: (p, 6),
    ),
    "multinomial_logit": Row(
        [np.array([2, 0, 3]), np.array([1, 1, 0])],
        [(ALPHA,), (ALPHA2,)],
        lambda y, a: stats.multinomial(y.sum(), softmax(a)).logpmf(y),
        lambda a: 6 * softmax(a),
        lambda a: (a, 6),
    ),
    "dirichlet_multinomial": Row(
        [np.array([2, 0, 3]), np.array([1, 1, 0])],
        [(3 * P1,), (4 * P2,)],
        dirichlet_multinomial,
        lambda a: 6 * a / a.sum(),
        lambda a: (a, 6),
    ),
    # -- regressions -----------------------------------------------------------------------------
    "normal_id_glm": Row(
        [np.array([0.3, 1.0, -0.2]), np.array([-0.3, 0.0, 1.2])],
        [(*p, np.array([0.5, 1.2, 0.9])) for p in GLM_PARAMS],
        glm(stats.norm.logpdf),
        lambda x, a, b, s: a + x @ b,
    ),
    "bernoulli_logit_glm": Row(
        [np.array([0, 1, 1]), np.array([1, 1, 0])],
        GLM_PARAMS,
        glm(lambda y, eta: stats.bernoulli.logpmf(y, expit(eta))),
        lambda x, a, b: expit(a + x @ b),
    ),
    "binomial_logit_glm": Row(
        [np.array([0, 1, 1]), np.array([1, 1, 0])],
        [(np.array([4, 3, 2]), *p) for p in GLM_PARAMS],
        lambda y, n, x, a, b: stats.binom.logpmf(y, n, expit(a + x @ b)),
        lambda n, x, a, b: n * expit(a + x @ b),
    ),
    "poisson_log_glm": Row(
        [np.array([0, 1, 3]), np.array([1, 2, 0])],
        GLM_PARAMS,
        glm(lambda y, eta: stats.poisson.logpmf(y, np.exp(eta))),
        lambda x, a, b: np.exp(a + x @ b),
    ),
    "neg_binomial_2_log_glm": Row(
        [np.array([0, 1, 3]), np.array([1, 2, 0])],
        [(*p, np.array([2.5, 1.2, 0.9])) for p in GLM_PARAMS],
        glm(lambda y, eta, phi: stats.nbinom.logpmf(y, phi, phi / (np.exp(eta) + phi))),
        lambda x, a, b, phi: np.exp(a + x @ b),
    ),
    "categorical_logit_glm": Row(
        [np.array([2, 1, 3]), np.array([1, 2, 1])],
        [(X, ALPHA_K, BETA_K), (X + 0.1, ALPHA_K - 0.3, BETA_K.copy() * 0.5)],
        lambda y, x, a, b: log_softmax(a + x @ b, axis=-1)[np.arange(3), y - 1],
        lambda x, a, b: softmax(a + x @ b, axis=-1) @ [1, 2, 3],
    ),
    "ordered_logistic_glm": Row(
        [np.array([2, 1, 3]), np.array([1, 2, 1])],
        [(X, BETA, CUTS1), (X + 0.1, BETA2, CUTS2)],
        lambda y, x, b, c: np.array(
            [ordered(expit)(e, m, c) for e, m in zip(y, x @ b, strict=True)]
        ),
        lambda x, b, c: np.array([ordered_mean(expit)(m, c) for m in x @ b]),
    ),
    # -- numbers ---------------------------------------------------------------------------------
    "beta": Row([0.3, 0.9], [(1.5, 0.7), (2.0, 3.0)], **frozen(stats.beta)),
    "beta_proportion": Row(
        [0.3, 0.9],
        [(0.4, 3.7), (0.2, 3.0)],
        **frozen(lambda mu, k: stats.beta(mu * k, (1 - mu) * k)),
    ),
    "cauchy": Row([0.3, -2.9], [(0.4, 3.7), (0.2, 3.0)], frozen(stats.cauchy)["reference"]),
    "chi_square": Row([0.3, 2.9], [(0.4,), (3.2,)], **frozen(stats.chi2)),
    "double_exponential": Row([0.3, -2.9], [(0.4, 3.7), (0.2, 3.0)], **frozen(stats.laplace)),
    "exp_mod_normal": Row(
        [0.3, 2.9],
        [(0.4, 1.7, 0.8), (0.2, 0.7, 2.1)],
        exp_mod_normal,
        lambda mu, sigma, rate: mu + 1 / rate,
    ),
    "exponential": Row([0.3, 2.9], [(0.4,), (3.2,)], **frozen(lambda r: stats.expon(0, 1 / r))),
    "frechet": Row(
        [0.3, 2.9], [(4.4, 0.5), (3.2, 2.0)], **frozen(lambda a, s: stats.invweibull(a, 0, s))
    ),
    "gamma": Row(
        [0.3, 2.9], [(0.4, 0.5), (3.2, 2.0)], **frozen(lambda a, b: stats.gamma(a, 0, 1 / b))
    ),
    "gumbel": Row([0.3, -2.9], [(0.4, 0.5), (-3.2, 2.0)], **frozen(stats.gumbel_r)),
    "inv_chi_square": Row(
        [0.3, 2.9], [(6.4,), (8.2,)], **frozen(lambda nu: stats.invgamma(nu / 2, 0, 0.5))
    ),
    "inv_gamma": Row(
        [0.3, 2.9], [(4.4, 0.5), (5.2, 2.0)], **frozen(lambda a, b: stats.invgamma(a, 0, b))
    ),
    "logistic": Row([0.3, -2.9], [(0.4, 0.5), (-3.2, 2.0)], **frozen(stats.logistic)),
    "loglogistic": Row(
        [0.3, 2.9], [(0.4, 4.5), (3.2, 5.0)], **frozen(lambda a, b: stats.fisk(b, 0, a))
    ),
    "lognormal": Row(
        [0.3, 2.9], [(0.4, 0.5), (-0.2, 0.9)], **frozen(lambda m, s: stats.lognorm(s, 0, np.exp(m)))
    ),
    "normal": Row([0.3, -2.9], [(0.4, 0.5), (-3.2, 2.0)], **frozen(stats.norm)),
    "pareto": Row(
        [0.7, 2.9], [(0.4, 4.5), (1.2, 5.0)], **frozen(lambda m, a: stats.pareto(a, 0, m))
    ),
    "pareto_type_2": Row(
        [0.7, 2.9],
        [(0.4, 1.5, 4.2), (1.2, 5.0, 5.1)],
        **frozen(lambda m, s, a: stats.lomax(a, m, s)),
    ),
    "rayleigh": Row([0.3, 2.9], [(0.4,), (3.2,)], **frozen(lambda s: stats.rayleigh(0, s))),
    "scaled_inv_chi_square": Row(
        [0.3, 2.9],
        [(6.4, 0.7), (8.2, 1.4)],
        **frozen(lambda nu, s: stats.invgamma(nu / 2, 0, nu * s * s / 2)),
    ),
    "skew_double_exponential": Row(
        [0.3, -2.9],
        [(0.4, 0.7, 0.3), (-3.2, 1.4, 0.8)],
        skew_double_exponential,
        lambda mu, s, tau: mu + s / 2 * (1 / tau - 1 / (1 - tau)),
    ),
    "skew_normal": Row(
        [0.3, -2.9],
        [(0.4, 0.7, 2.3), (-3.2, 1.4, -0.8)],
        **frozen(lambda xi, omega, a: stats.skewnorm(a, xi, omega)),
    ),
    "std_normal": Row([0.3, -2.9], [(), ()], **frozen(stats.norm)),
    "student_t": Row([0.3, -2.9], [(4.4, 0.7, 2.3), (5.2, -1.4, 0.8)], **frozen(stats.t)),
    "uniform": Row(
        [0.3, -2.9], [(0.1, 0.7), (-5.2, 1.4)], **frozen(lambda a, b: stats.uniform(a, b - a))
    ),
    "von_mises": Row(
        [0.3, 8.9],
        [(0.1, 4.7), (0.2, 5.4)],
        lambda y, mu, k: k * (np.cos(y - mu) - 1) - np.log(2 * np.pi * i0e(k)),
        lambda mu, k: mu,  # symmetric about it, and nearly all within pi of zero
    ),
    "weibull": Row(
        [0.3, 2.9], [(1.4, 0.7), (2.2, 1.4)], **frozen(lambda a, s: stats.weibull_min(a, 0, s))
    ),
    "wiener": Row([0.9, 1.4], [(1.4, 0.3, 0.4, 0.7), (2.2, 0.1, 0.6, -0.3)], wiener),
    # -- vectors ---------------------------------------------------------------------------------
    "dirichlet": Row(
        [P1, P2],
        [(4 * P2,), (np.array([1.5, 0.6, 2.0]),)],
        lambda y, a: stats.dirichlet(a).logpdf(y),
        lambda a: a / a.sum(),
    ),
    "multi_normal": Row(
        [BETA, BETA2],
        [(CUTS1, S1), (CUTS2, S2)],
        lambda y, mu, S: stats.multivariate_normal(mu, S).logpdf(y),
        lambda mu, S: mu,
    ),
    "multi_normal_cholesky": Row(
        [BETA, BETA2],
        [(CUTS1, L1), (CUTS2, L2)],
        lambda y, mu, L: stats.multivariate_normal(mu, L @ L.T).logpdf(y),
        lambda mu, S: mu,
    ),
    "multi_normal_prec": Row(
        [BETA, BETA2],
        [(CUTS1, S1), (CUTS2, S2)],
        lambda y, mu, P: stats.multivariate_normal(mu, np.linalg.inv(P)).logpdf(y),
        lambda mu, S: mu,
    ),
    "multi_student_t": Row(
        [BETA, BETA2],
        [(5.2, CUTS1, S1), (6.1, CUTS2, S2)],
        lambda y, nu, mu, S: stats.multivariate_t(mu, S, nu).logpdf(y),
        lambda nu, mu, S: mu,
    ),
    "multi_student_t_cholesky": Row(
        [BETA, BETA2], [(5.2, CUTS1, L1), (6.1, CUTS2, L2)], student_vector, lambda nu, mu, S: mu
    ),
    # -- matrices --------------------------------------------------------------------------------
    "gaussian_dlm_obs": Row(
        [np.vstack([ALPHA, ALPHA2]), np.vstack([ALPHA2, P1])],
        [
            (np.array([[1.0, 0.4]]), np.array([[0.8]]), S1, np.array([[0.3]]), BETA[:1], C1[:1, :1])
            for S1 in (S1, S2)
        ],
        dlm,
    ),
    "inv_wishart": Row(
        [S2, S1], [(7.5, S1), (6.2, S2)], inv_wishart, lambda nu, S: S / (nu - len(S) - 1)
    ),
    "inv_wishart_cholesky": Row([L2, L1], [(7.5, L1), (6.2, L2)], inv_wishart_cholesky),
    "lkj_corr": Row([C1, C2], [(1.5,), (0.7,)], lkj, lambda eta: np.eye(2), lambda eta: (2, eta)),
    "lkj_corr_cholesky": Row(
        [np.linalg.cholesky(C1), np.linalg.cholesky(C2)],
        [(1.5,), (0.7,)],
        lkj_cholesky,
        None,
        lambda eta: (2, eta),
    ),
    "matrix_normal_prec": Row(
        [X, X - 0.2], [(X.copy() * 0.3, S3, S1), (X[::-1], 2 * S3, S2)], matrix_normal_prec
    ),
    "multi_gp": Row([X.T, X.T + 0.1], [(S3, BETA**2), (2 * S3, BETA2**2)], multi_gp),
    "multi_gp_cholesky": Row(
        [X.T, X.T + 0.1],
        [(np.linalg.cholesky(S3), BETA**2), (2 * np.linalg.cholesky(S3), BETA2**2)],
        lambda y, L, w: multi_gp(y, L @ L.T, w),
    ),
    "wishart": Row(
        [S2, S1],
        [(7.5, S1), (6.2, S2)],
        lambda y, nu, S: stats.wishart(nu, S).logpdf(y),
        lambda nu, S: nu * S,
    ),
    "wishart_cholesky": Row([L2, L1], [(7.5, L1), (6.2, L2)], wishart_cholesky),
}
