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

# Distributions of numbers that take the parameters of ours, in this order: which one that is, and
# how many they are.
DISCRETE: dict[str, tuple[str, int]] = {
    "bernoulli": ("Bernoulli", 1), "bernoulli_logit": ("BernoulliLogit", 1),
    "binomial": ("Binomial", 2), "binomial_logit": ("BinomialLogit", 2),
    "beta_binomial": ("BetaBinomial", 3), "beta_neg_binomial": ("BetaNegativeBinomial", 3),
    "discrete_range": ("DiscreteUniform", 2), "hypergeometric": ("Hypergeometric", 3),
    "neg_binomial": ("NegativeBinomial", 2), "neg_binomial_2": ("NegativeBinomial2", 2),
    "neg_binomial_2_log": ("NegativeBinomial2Log", 2), "poisson": ("Poisson", 1),
    "poisson_log": ("PoissonLog", 1), "yule_simon": ("YuleSimon", 1),
}  # fmt: skip
CONTINUOUS: dict[str, tuple[str, int]] = {
    "beta": ("Beta", 2), "beta_proportion": ("BetaProportion", 2), "cauchy": ("Cauchy", 2),
    "chi_square": ("ChiSquare", 1), "double_exponential": ("Laplace", 2),
    "exp_mod_normal": ("ExpModNormal", 3), "exponential": ("Exponential", 1),
    "frechet": ("Frechet", 2), "gamma": ("Gamma", 2), "gumbel": ("Gumbel", 2),
    "inv_chi_square": ("InvChiSquare", 1), "inv_gamma": ("InverseGamma", 2),
    "logistic": ("Logistic", 2), "loglogistic": ("LogLogistic", 2),
    "lognormal": ("LogNormal", 2), "normal": ("Normal", 2), "pareto": ("Pareto", 2),
    "pareto_type_2": ("ParetoType2", 3), "rayleigh": ("Rayleigh", 1),
    "scaled_inv_chi_square": ("ScaledInverseChi2", 2),
    "skew_double_exponential": ("SkewDoubleExponential", 3), "skew_normal": ("SkewNormal", 3),
    "student_t": ("StudentT", 3), "uniform": ("Uniform", 2), "weibull": ("Weibull", 2),
    "wiener": ("Wiener", 4),
}  # fmt: skip


def _of_numbers(name: str, parameters: int, discrete: bool) -> Density:
    return Density(lambda *args: getattr(d, name)(*args), (0,) * (1 + parameters), discrete)


DENSITIES: dict[str, Density] = {
    **{name: _of_numbers(*entry, True) for name, entry in DISCRETE.items()},
    **{name: _of_numbers(*entry, False) for name, entry in CONTINUOUS.items()},
    "von_mises": Density(lambda mu, kappa: AnyAngle(mu, kappa), (0, 0, 0)),
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
