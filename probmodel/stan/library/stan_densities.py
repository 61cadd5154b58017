"""Distributions of the Stan language, in terms of those of the modelling language."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from probmodel import distributions as d
from probmodel.constraints import Real
from probmodel.distributions.base import Parameter
from probmodel.distributions.domain import where_valid
from probmodel.expressions import Expression
from probmodel.numerics.linalg import transpose
from probmodel.numerics.special import LOG_2PI
from probmodel.numerics.special.bessel import log_i0e
from probmodel.stan.library.from_one import FromOne
from probmodel.types import Array


class Density(NamedTuple):
    """A distribution of the Stan language.

    Attributes
    ----------
    make : of its parameters, in Stan's order, arrays or symbols, to a distribution; where it
        ``takes_value``, the value comes before them
    ranks : how many axes a value has, and each parameter: 0 for numbers, 1 for vectors, 2 for
        matrices; axes before these are those of a batch, and broadcast. Where Stan takes less, a
        number for a vector or a row vector for a matrix, see `raised`. Regressions make a
        distribution of numbers, with the rows as the last axis of the batch.
    discrete : whether Stan's names are ``_lpmf`` and ``_lupmf``
    takes_value : whether what is made depends on the value, such as on what counts add up to
    """

    make: Callable[..., d.Distribution]
    ranks: tuple[int, ...]
    discrete: bool = False
    takes_value: bool = False


def density_of(name: str, kinds: Sequence[str]) -> Density:
    """Return the entry of a distribution for parameters of these kinds (`Value.kind`)."""
    if name == "gaussian_dlm_obs" and len(kinds) > 2 and kinds[2] == "vector":
        return Density(lambda *a: DiagonalSeries(*a), (2, 2, 2, 1, 2, 1, 2))
    return DENSITIES[name]


def raised(array: Any, own: int, rank: int) -> Any:
    """Return an argument with as many axes of its own as an entry asks for.

    A number becomes a vector of length one, a vector a matrix of one row. A number that is a
    symbol, which has no batch, stays as it is: it broadcasts.
    """
    if own == 0 and rank and not isinstance(array, Expression):
        return np.asarray(array)[(..., *(None,) * rank)]
    return array[..., None, :] if (own, rank) == (1, 2) else array


# -- regressions -----------------------------------------------------------------------------------


def _product(x: Any, beta: Any) -> Any:
    """Return a matrix times a vector, with the batches of both if they are no symbols."""
    if max(getattr(x, "ndim", 2) - 1, getattr(beta, "ndim", 1)) > 1:
        return (x @ beta[..., None])[..., 0]
    return x @ beta


def _by_row(alpha: Any) -> Any:
    """Give vectors that are the same in all rows an axis for these, if they have a batch."""
    return alpha[..., None, :] if getattr(alpha, "ndim", 1) > 1 else alpha


# -- what Stan has otherwise -----------------------------------------------------------------------


class AnyAngle(d.VonMises):
    r"""Von Mises distribution of angles of any number of turns, which is improper.

    .. math:: p(y) = \frac{\exp\{\kappa \cos(y - \mu)\}}{2 \pi I_0(\kappa)}

    Parameters
    ----------
    mu : mean direction
    kappa : concentration
    """

    domain = Real()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        mu, kappa = params
        kappa = where_valid(kappa > 0, kappa)
        half = xp.sin(0.5 * (value - mu))
        return -2.0 * kappa * half * half - log_i0e(kappa) - LOG_2PI


class Series(d.GaussianDLM):
    """Gaussian dynamic linear model of a value (n, T), whose second axis is time.

    Parameters
    ----------
    F, G, V, W, m0, C0 : as those of `GaussianDLM`
    """

    sequential = False

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        return super().log_kernel(xp, transpose(value), *params)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw series: ``shape`` ends with (n, T)."""
        turned = super().sample(rng, (*shape[:-2], shape[-1], shape[-2]), *params)
        return np.swapaxes(turned, -1, -2)


class DiagonalSeries(Series):
    """Gaussian dynamic linear model, (n, T), with independent errors.

    Parameters
    ----------
    F, G, V, W, m0, C0 : as those of `GaussianDLM`, but V the variances, (n,)
    """

    parameters: ClassVar = {**d.GaussianDLM.parameters, "V": Parameter(Real(), event_ndim=1)}

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        F, G, V, *others = params
        return super().log_kernel(xp, value, F, G, V[..., None] * np.eye(V.shape[-1]), *others)


# -- the table -------------------------------------------------------------------------------------

_NUMBERS = {1: (0, 0), 2: (0, 0, 0), 3: (0, 0, 0, 0), 4: (0, 0, 0, 0, 0)}


def _numbers(parameters: int, make: Callable[..., d.Distribution], discrete: bool) -> Density:
    return Density(make, _NUMBERS[parameters], discrete)


_DISCRETE: dict[str, tuple[int, Callable[..., d.Distribution]]] = {
    "bernoulli": (1, lambda p: d.Bernoulli(p)),
    "bernoulli_logit": (1, lambda a: d.BernoulliLogit(a)),
    "binomial": (2, lambda n, p: d.Binomial(n, p)),
    "binomial_logit": (2, lambda n, a: d.BinomialLogit(n, a)),
    "beta_binomial": (3, lambda n, a, b: d.BetaBinomial(n, a, b)),
    "beta_neg_binomial": (3, lambda r, a, b: d.BetaNegativeBinomial(r, a, b)),
    "discrete_range": (2, lambda low, high: d.DiscreteUniform(low, high)),
    "hypergeometric": (3, lambda n, a, b: d.Hypergeometric(n, a, b)),
    "neg_binomial": (2, lambda a, b: d.NegativeBinomial(a, b)),
    "neg_binomial_2": (2, lambda mu, phi: d.NegativeBinomial2(mu, phi)),
    "neg_binomial_2_log": (2, lambda eta, phi: d.NegativeBinomial2Log(eta, phi)),
    "poisson": (1, lambda rate: d.Poisson(rate)),
    "poisson_log": (1, lambda a: d.PoissonLog(a)),
    "yule_simon": (1, lambda a: d.YuleSimon(a)),
}
_CONTINUOUS: dict[str, tuple[int, Callable[..., d.Distribution]]] = {
    "beta": (2, lambda a, b: d.Beta(a, b)),
    "beta_proportion": (2, lambda mu, kappa: d.BetaProportion(mu, kappa)),
    "cauchy": (2, lambda mu, sigma: d.Cauchy(mu, sigma)),
    "chi_square": (1, lambda nu: d.ChiSquare(nu)),
    "double_exponential": (2, lambda mu, sigma: d.Laplace(mu, sigma)),
    "exp_mod_normal": (3, lambda mu, sigma, rate: d.ExpModNormal(mu, sigma, rate)),
    "exponential": (1, lambda rate: d.Exponential(rate)),
    "frechet": (2, lambda a, s: d.Frechet(a, s)),
    "gamma": (2, lambda a, b: d.Gamma(a, b)),
    "gumbel": (2, lambda mu, beta: d.Gumbel(mu, beta)),
    "inv_chi_square": (1, lambda nu: d.InvChiSquare(nu)),
    "inv_gamma": (2, lambda a, b: d.InverseGamma(a, b)),
    "logistic": (2, lambda mu, sigma: d.Logistic(mu, sigma)),
    "loglogistic": (2, lambda a, b: d.LogLogistic(a, b)),
    "lognormal": (2, lambda mu, sigma: d.LogNormal(mu, sigma)),
    "normal": (2, lambda mu, sigma: d.Normal(mu, sigma)),
    "pareto": (2, lambda least, a: d.Pareto(least, a)),
    "pareto_type_2": (3, lambda mu, scale, a: d.ParetoType2(mu, scale, a)),
    "rayleigh": (1, lambda sigma: d.Rayleigh(sigma)),
    "scaled_inv_chi_square": (2, lambda nu, s: d.ScaledInverseChi2(nu, s)),
    "skew_double_exponential": (3, lambda mu, s, tau: d.SkewDoubleExponential(mu, s, tau)),
    "skew_normal": (3, lambda xi, omega, a: d.SkewNormal(xi, omega, a)),
    "student_t": (3, lambda nu, mu, sigma: d.StudentT(nu, mu, sigma)),
    "uniform": (2, lambda low, high: d.Uniform(low, high)),
    "von_mises": (2, lambda mu, kappa: AnyAngle(mu, kappa)),
    "weibull": (2, lambda a, s: d.Weibull(a, s)),
    "wiener": (4, lambda a, tau, b, delta: d.Wiener(a, tau, b, delta)),
}

DENSITIES: dict[str, Density] = {
    **{name: _numbers(*entry, True) for name, entry in _DISCRETE.items()},
    **{name: _numbers(*entry, False) for name, entry in _CONTINUOUS.items()},
    "std_normal": Density(lambda: d.Normal(0.0, 1.0), (0,)),
    # Categories, which Stan counts from 1.
    "categorical": Density(lambda p: FromOne(d.Categorical(p)), (0, 1), True),
    "categorical_logit": Density(lambda a: FromOne(d.CategoricalLogit(a)), (0, 1), True),
    "ordered_logistic": Density(lambda eta, c: FromOne(d.OrderedLogistic(eta, c)), (0, 0, 1), True),
    "ordered_probit": Density(lambda eta, c: FromOne(d.OrderedProbit(eta, c)), (0, 0, 1), True),
    # Counts, whose total Stan takes from the value.
    "multinomial": Density(
        lambda y, p: d.Multinomial(np.sum(y, axis=-1), p), (1, 1), True, takes_value=True
    ),
    "multinomial_logit": Density(
        lambda y, a: d.MultinomialLogit(np.sum(y, axis=-1), a), (1, 1), True, takes_value=True
    ),
    "dirichlet_multinomial": Density(
        lambda y, a: d.DirichletMultinomial(np.sum(y, axis=-1), a), (1, 1), True, takes_value=True
    ),
    # Regressions.
    "normal_id_glm": Density(
        lambda x, a, b, sigma: d.Normal(a + _product(x, b), sigma), (1, 2, 1, 1, 1)
    ),
    "bernoulli_logit_glm": Density(
        lambda x, a, b: d.BernoulliLogit(a + _product(x, b)), (1, 2, 1, 1), True
    ),
    "binomial_logit_glm": Density(
        lambda n, x, a, b: d.BinomialLogit(n, a + _product(x, b)), (1, 1, 2, 1, 1), True
    ),
    "poisson_log_glm": Density(
        lambda x, a, b: d.PoissonLog(a + _product(x, b)), (1, 2, 1, 1), True
    ),
    "neg_binomial_2_log_glm": Density(
        lambda x, a, b, phi: d.NegativeBinomial2Log(a + _product(x, b), phi), (1, 2, 1, 1, 1), True
    ),
    "categorical_logit_glm": Density(
        lambda x, a, b: FromOne(d.CategoricalLogit(_by_row(a) + x @ b)), (1, 2, 1, 2), True
    ),
    "ordered_logistic_glm": Density(
        lambda x, b, c: FromOne(d.OrderedLogistic(_product(x, b), _by_row(c))), (1, 2, 1, 1), True
    ),
    # Vectors.
    "dirichlet": Density(lambda a: d.Dirichlet(a), (1, 1)),
    "multi_normal": Density(lambda mu, S: d.MvNormal(mu, covariance=S), (1, 1, 2)),
    "multi_normal_cholesky": Density(lambda mu, L: d.MvNormal(mu, cholesky=L), (1, 1, 2)),
    "multi_normal_prec": Density(lambda mu, P: d.MvNormal(mu, precision=P), (1, 1, 2)),
    "multi_student_t": Density(lambda nu, mu, S: d.MvStudentT(nu, mu, scale=S), (1, 0, 1, 2)),
    "multi_student_t_cholesky": Density(
        lambda nu, mu, L: d.MvStudentT(nu, mu, cholesky=L), (1, 0, 1, 2)
    ),
    # Matrices.
    "gaussian_dlm_obs": Density(lambda *a: Series(*a), (2, 2, 2, 2, 2, 1, 2)),
    "inv_wishart": Density(lambda nu, S: d.InverseWishart(nu, scale=S), (2, 0, 2)),
    "inv_wishart_cholesky": Density(
        lambda nu, L: d.InverseWishartCholesky(nu, cholesky=L), (2, 0, 2)
    ),
    "lkj_corr": Density(lambda eta: d.LKJ(eta), (2, 0)),
    "lkj_corr_cholesky": Density(lambda eta: d.LKJCholesky(eta), (2, 0)),
    "matrix_normal_prec": Density(
        lambda mu, P, Q: d.MatrixNormal(mu, row_precision=P, column_precision=Q), (2, 2, 2, 2)
    ),
    "multi_gp": Density(lambda K, w: d.MultiGP(covariance=K, w=w), (2, 2, 1)),
    "multi_gp_cholesky": Density(lambda L, w: d.MultiGP(cholesky=L, w=w), (2, 2, 1)),
    "wishart": Density(lambda nu, S: d.Wishart(nu, scale=S), (2, 0, 2)),
    "wishart_cholesky": Density(lambda nu, L: d.WishartCholesky(nu, cholesky=L), (2, 0, 2)),
}
