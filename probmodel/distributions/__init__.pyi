# Written by docs/generate.py: constructors with the parameters that the classes declare.

from typing import Any

from probmodel.distributions.process.ar import AR as _AR
from probmodel.distributions.process.ar1 import AR1 as _AR1
from probmodel.distributions.process.arma import ARMA as _ARMA
from probmodel.distributions.compound.affine import Affine as Affine
from probmodel.distributions.spatial.bym2 import BYM2 as _BYM2
from probmodel.distributions.scalar.bernoulli import Bernoulli as _Bernoulli
from probmodel.distributions.scalar.bernoulli_logit import BernoulliLogit as _BernoulliLogit
from probmodel.distributions.glm import BernoulliLogitGLM as BernoulliLogitGLM
from probmodel.distributions.scalar.beta import Beta as _Beta
from probmodel.distributions.scalar.beta_binomial import BetaBinomial as _BetaBinomial
from probmodel.distributions.scalar.beta_negative_binomial import BetaNegativeBinomial as _BetaNegativeBinomial
from probmodel.distributions.scalar.beta_proportion import BetaProportion as _BetaProportion
from probmodel.distributions.scalar.binomial import Binomial as _Binomial
from probmodel.distributions.scalar.binomial_logit import BinomialLogit as _BinomialLogit
from probmodel.distributions.glm import BinomialLogitGLM as BinomialLogitGLM
from probmodel.distributions.spatial.car import CAR as _CAR
from probmodel.distributions.scalar.categorical import Categorical as _Categorical
from probmodel.distributions.scalar.categorical_logit import CategoricalLogit as _CategoricalLogit
from probmodel.distributions.glm import CategoricalLogitGLM as CategoricalLogitGLM
from probmodel.distributions.scalar.cauchy import Cauchy as _Cauchy
from probmodel.distributions.compound.censored import Censored as Censored
from probmodel.distributions.scalar.chi_square import ChiSquare as _ChiSquare
from probmodel.distributions.spatial.circulant_gp import CirculantGP as CirculantGP
from probmodel.distributions.vector.dirichlet import Dirichlet as _Dirichlet
from probmodel.distributions.vector.dirichlet_multinomial import DirichletMultinomial as _DirichletMultinomial
from probmodel.distributions.scalar.discrete_uniform import DiscreteUniform as _DiscreteUniform
from probmodel.distributions.base import Distribution as Distribution
from probmodel.distributions.scalar.exp_mod_normal import ExpModNormal as _ExpModNormal
from probmodel.distributions.scalar.exponential import Exponential as _Exponential
from probmodel.distributions.scalar.flat import Flat as _Flat
from probmodel.distributions.scalar.frechet import Frechet as _Frechet
from probmodel.distributions.process.garch import GARCH as _GARCH
from probmodel.distributions.scalar.gamma import Gamma as _Gamma
from probmodel.distributions.process.gaussian_dlm import GaussianDLM as _GaussianDLM
from probmodel.distributions.spatial.gaussian_process import GaussianProcess as GaussianProcess
from probmodel.distributions.scalar.generalized_extremes import GeneralizedExtremeValue as _GeneralizedExtremeValue
from probmodel.distributions.scalar.generalized_extremes import GeneralizedPareto as _GeneralizedPareto
from probmodel.distributions.scalar.geometric import Geometric as _Geometric
from probmodel.distributions.scalar.gumbel import Gumbel as _Gumbel
from probmodel.distributions.scalar.half_cauchy import HalfCauchy as _HalfCauchy
from probmodel.distributions.scalar.half_normal import HalfNormal as _HalfNormal
from probmodel.distributions.scalar.half_student_t import HalfStudentT as _HalfStudentT
from probmodel.distributions.process.hidden_markov import HiddenMarkov as HiddenMarkov
from probmodel.distributions.spatial.hilbert_space_gp import HilbertSpaceGP as HilbertSpaceGP
from probmodel.distributions.compound.hurdle import Hurdle as Hurdle
from probmodel.distributions.scalar.hypergeometric import Hypergeometric as _Hypergeometric
from probmodel.distributions.spatial.icar import ICAR as _ICAR
from probmodel.distributions.scalar.inv_chi_square import InvChiSquare as _InvChiSquare
from probmodel.distributions.scalar.inverse_gamma import InverseGamma as _InverseGamma
from probmodel.distributions.vector.inverse_wishart import InverseWishart as _InverseWishart
from probmodel.distributions.vector.inverse_wishart_cholesky import InverseWishartCholesky as _InverseWishartCholesky
from probmodel.distributions.scalar.kumaraswamy import Kumaraswamy as _Kumaraswamy
from probmodel.distributions.vector.lkj import LKJ as _LKJ
from probmodel.distributions.vector.lkj_cholesky import LKJCholesky as _LKJCholesky
from probmodel.distributions.scalar.laplace import Laplace as _Laplace
from probmodel.distributions.scalar.log_logistic import LogLogistic as _LogLogistic
from probmodel.distributions.scalar.lognormal import LogNormal as _LogNormal
from probmodel.distributions.scalar.logistic import Logistic as _Logistic
from probmodel.distributions.vector.matrix_normal import MatrixNormal as _MatrixNormal
from probmodel.distributions.compound.mixture import Mixture as Mixture
from probmodel.distributions.spatial.multi_gp import MultiGP as _MultiGP
from probmodel.distributions.vector.multinomial import Multinomial as _Multinomial
from probmodel.distributions.vector.multinomial_logit import MultinomialLogit as _MultinomialLogit
from probmodel.distributions.vector.mv_normal import MvNormal as _MvNormal
from probmodel.distributions.vector.mv_student_t import MvStudentT as _MvStudentT
from probmodel.distributions.glm import NegBinomial2LogGLM as NegBinomial2LogGLM
from probmodel.distributions.scalar.negative_binomial import NegativeBinomial as _NegativeBinomial
from probmodel.distributions.scalar.negative_binomial2 import NegativeBinomial2 as _NegativeBinomial2
from probmodel.distributions.scalar.negative_binomial2_log import NegativeBinomial2Log as _NegativeBinomial2Log
from probmodel.distributions.scalar.normal import Normal as _Normal
from probmodel.distributions.glm import NormalIdGLM as NormalIdGLM
from probmodel.distributions.scalar.ordered_logistic import OrderedLogistic as _OrderedLogistic
from probmodel.distributions.glm import OrderedLogisticGLM as OrderedLogisticGLM
from probmodel.distributions.scalar.ordered_probit import OrderedProbit as _OrderedProbit
from probmodel.distributions.scalar.pareto import Pareto as _Pareto
from probmodel.distributions.scalar.pareto_type2 import ParetoType2 as _ParetoType2
from probmodel.distributions.scalar.poisson import Poisson as _Poisson
from probmodel.distributions.scalar.poisson_log import PoissonLog as _PoissonLog
from probmodel.distributions.glm import PoissonLogGLM as PoissonLogGLM
from probmodel.distributions.process.random_walk import RandomWalk as _RandomWalk
from probmodel.distributions.scalar.rayleigh import Rayleigh as _Rayleigh
from probmodel.distributions.scalar.scaled_inverse_chi2 import ScaledInverseChi2 as _ScaledInverseChi2
from probmodel.distributions.scalar.skew_double_exponential import SkewDoubleExponential as _SkewDoubleExponential
from probmodel.distributions.scalar.skew_normal import SkewNormal as _SkewNormal
from probmodel.distributions.scalar.student_t import StudentT as _StudentT
from probmodel.distributions.compound.truncated import Truncated as Truncated
from probmodel.distributions.scalar.uniform import Uniform as _Uniform
from probmodel.distributions.scalar.von_mises import VonMises as _VonMises
from probmodel.distributions.scalar.weibull import Weibull as _Weibull
from probmodel.distributions.scalar.wiener import Wiener as _Wiener
from probmodel.distributions.vector.wishart import Wishart as _Wishart
from probmodel.distributions.vector.wishart_cholesky import WishartCholesky as _WishartCholesky
from probmodel.distributions.scalar.yule_simon import YuleSimon as _YuleSimon
from probmodel.distributions.compound.zero_inflated import ZeroInflated as ZeroInflated
from probmodel.distributions.vector.zero_sum_normal import ZeroSumNormal as _ZeroSumNormal
from probmodel.distributions import kernels as kernels

DISTRIBUTIONS: dict[str, type[Distribution]]

class AR(_AR):
    def __init__(self, coefficients: Any, sigma: Any, intercept: Any = ..., *, initial: Any = ...) -> None: ...

class AR1(_AR1):
    def __init__(self, phi: Any, sigma: Any, mean: Any = ...) -> None: ...

class ARMA(_ARMA):
    def __init__(self, phi: Any, theta: Any, sigma: Any, mean: Any = ...) -> None: ...

class BYM2(_BYM2):
    def __init__(self, sigma: Any, rho: Any, adjacency: Any) -> None: ...

class Bernoulli(_Bernoulli):
    def __init__(self, p: Any) -> None: ...

class BernoulliLogit(_BernoulliLogit):
    def __init__(self, logit: Any) -> None: ...

class Beta(_Beta):
    def __init__(self, alpha: Any, beta: Any) -> None: ...

class BetaBinomial(_BetaBinomial):
    def __init__(self, n: Any, alpha: Any, beta: Any) -> None: ...

class BetaNegativeBinomial(_BetaNegativeBinomial):
    def __init__(self, r: Any, alpha: Any, beta: Any) -> None: ...

class BetaProportion(_BetaProportion):
    def __init__(self, mu: Any, kappa: Any) -> None: ...

class Binomial(_Binomial):
    def __init__(self, n: Any, p: Any) -> None: ...

class BinomialLogit(_BinomialLogit):
    def __init__(self, n: Any, logit: Any) -> None: ...

class CAR(_CAR):
    def __init__(self, tau: Any, alpha: Any, adjacency: Any, mean: Any = ...) -> None: ...

class Categorical(_Categorical):
    def __init__(self, p: Any) -> None: ...

class CategoricalLogit(_CategoricalLogit):
    def __init__(self, logits: Any) -> None: ...

class Cauchy(_Cauchy):
    def __init__(self, loc: Any, scale: Any) -> None: ...

class ChiSquare(_ChiSquare):
    def __init__(self, df: Any) -> None: ...

class Dirichlet(_Dirichlet):
    def __init__(self, concentration: Any) -> None: ...

class DirichletMultinomial(_DirichletMultinomial):
    def __init__(self, n: Any, concentration: Any) -> None: ...

class DiscreteUniform(_DiscreteUniform):
    def __init__(self, low: Any, high: Any) -> None: ...

class ExpModNormal(_ExpModNormal):
    def __init__(self, mu: Any, sigma: Any, rate: Any) -> None: ...

class Exponential(_Exponential):
    def __init__(self, rate: Any) -> None: ...

class Flat(_Flat):
    def __init__(self) -> None: ...

class Frechet(_Frechet):
    def __init__(self, alpha: Any, sigma: Any) -> None: ...

class GARCH(_GARCH):
    def __init__(self, mean: Any, omega: Any, alpha: Any, beta: Any, initial_variance: Any) -> None: ...

class Gamma(_Gamma):
    def __init__(self, alpha: Any, beta: Any) -> None: ...

class GaussianDLM(_GaussianDLM):
    def __init__(self, F: Any, G: Any, V: Any, W: Any, m0: Any, C0: Any) -> None: ...

class GeneralizedExtremeValue(_GeneralizedExtremeValue):
    def __init__(self, mu: Any, sigma: Any, xi: Any) -> None: ...

class GeneralizedPareto(_GeneralizedPareto):
    def __init__(self, mu: Any, sigma: Any, xi: Any) -> None: ...

class Geometric(_Geometric):
    def __init__(self, p: Any) -> None: ...

class Gumbel(_Gumbel):
    def __init__(self, mu: Any, beta: Any) -> None: ...

class HalfCauchy(_HalfCauchy):
    def __init__(self, scale: Any) -> None: ...

class HalfNormal(_HalfNormal):
    def __init__(self, scale: Any) -> None: ...

class HalfStudentT(_HalfStudentT):
    def __init__(self, df: Any, scale: Any) -> None: ...

class Hypergeometric(_Hypergeometric):
    def __init__(self, n: Any, a: Any, b: Any) -> None: ...

class ICAR(_ICAR):
    def __init__(self, adjacency: Any, scale: Any = ...) -> None: ...

class InvChiSquare(_InvChiSquare):
    def __init__(self, df: Any) -> None: ...

class InverseGamma(_InverseGamma):
    def __init__(self, alpha: Any, beta: Any) -> None: ...

class InverseWishart(_InverseWishart):
    def __init__(self, df: Any, scale: Any = ..., *, cholesky: Any = ...) -> None: ...

class InverseWishartCholesky(_InverseWishartCholesky):
    def __init__(self, df: Any, scale: Any = ..., *, cholesky: Any = ...) -> None: ...

class Kumaraswamy(_Kumaraswamy):
    def __init__(self, a: Any, b: Any) -> None: ...

class LKJ(_LKJ):
    def __init__(self, eta: Any) -> None: ...

class LKJCholesky(_LKJCholesky):
    def __init__(self, eta: Any) -> None: ...

class Laplace(_Laplace):
    def __init__(self, loc: Any, scale: Any) -> None: ...

class LogLogistic(_LogLogistic):
    def __init__(self, alpha: Any, beta: Any) -> None: ...

class LogNormal(_LogNormal):
    def __init__(self, mu: Any, sigma: Any) -> None: ...

class Logistic(_Logistic):
    def __init__(self, loc: Any, scale: Any) -> None: ...

class MatrixNormal(_MatrixNormal):
    def __init__(self, loc: Any, row_covariance: Any = ..., column_covariance: Any = ..., *, row_cholesky: Any = ..., row_precision: Any = ..., column_cholesky: Any = ..., column_precision: Any = ...) -> None: ...

class MultiGP(_MultiGP):
    def __init__(self, covariance: Any = ..., w: Any = ..., *, cholesky: Any = ...) -> None: ...

class Multinomial(_Multinomial):
    def __init__(self, n: Any, p: Any) -> None: ...

class MultinomialLogit(_MultinomialLogit):
    def __init__(self, n: Any, logits: Any) -> None: ...

class MvNormal(_MvNormal):
    def __init__(self, loc: Any, covariance: Any = ..., *, cholesky: Any = ..., precision: Any = ...) -> None: ...

class MvStudentT(_MvStudentT):
    def __init__(self, df: Any, loc: Any, scale: Any = ..., *, cholesky: Any = ...) -> None: ...

class NegativeBinomial(_NegativeBinomial):
    def __init__(self, alpha: Any, beta: Any) -> None: ...

class NegativeBinomial2(_NegativeBinomial2):
    def __init__(self, mu: Any, phi: Any) -> None: ...

class NegativeBinomial2Log(_NegativeBinomial2Log):
    def __init__(self, eta: Any, phi: Any) -> None: ...

class Normal(_Normal):
    def __init__(self, loc: Any, scale: Any) -> None: ...

class OrderedLogistic(_OrderedLogistic):
    def __init__(self, eta: Any, cutpoints: Any) -> None: ...

class OrderedProbit(_OrderedProbit):
    def __init__(self, eta: Any, cutpoints: Any) -> None: ...

class Pareto(_Pareto):
    def __init__(self, y_min: Any, alpha: Any) -> None: ...

class ParetoType2(_ParetoType2):
    def __init__(self, mu: Any, scale: Any, alpha: Any) -> None: ...

class Poisson(_Poisson):
    def __init__(self, rate: Any) -> None: ...

class PoissonLog(_PoissonLog):
    def __init__(self, log_rate: Any) -> None: ...

class RandomWalk(_RandomWalk):
    def __init__(self, sigma: Any, initial_scale: Any, drift: Any = ..., initial_loc: Any = ...) -> None: ...

class Rayleigh(_Rayleigh):
    def __init__(self, sigma: Any) -> None: ...

class ScaledInverseChi2(_ScaledInverseChi2):
    def __init__(self, df: Any, scale: Any) -> None: ...

class SkewDoubleExponential(_SkewDoubleExponential):
    def __init__(self, mu: Any, sigma: Any, tau: Any) -> None: ...

class SkewNormal(_SkewNormal):
    def __init__(self, loc: Any, scale: Any, alpha: Any) -> None: ...

class StudentT(_StudentT):
    def __init__(self, df: Any, loc: Any = ..., scale: Any = ...) -> None: ...

class Uniform(_Uniform):
    def __init__(self, low: Any, high: Any) -> None: ...

class VonMises(_VonMises):
    def __init__(self, mu: Any, kappa: Any) -> None: ...

class Weibull(_Weibull):
    def __init__(self, alpha: Any, sigma: Any) -> None: ...

class Wiener(_Wiener):
    def __init__(self, alpha: Any, tau: Any, beta: Any, delta: Any) -> None: ...

class Wishart(_Wishart):
    def __init__(self, df: Any, scale: Any = ..., *, cholesky: Any = ...) -> None: ...

class WishartCholesky(_WishartCholesky):
    def __init__(self, df: Any, scale: Any = ..., *, cholesky: Any = ...) -> None: ...

class YuleSimon(_YuleSimon):
    def __init__(self, alpha: Any) -> None: ...

class ZeroSumNormal(_ZeroSumNormal):
    def __init__(self, scale: Any) -> None: ...

__all__ = [
    "AR",
    "AR1",
    "ARMA",
    "Affine",
    "BYM2",
    "Bernoulli",
    "BernoulliLogit",
    "BernoulliLogitGLM",
    "Beta",
    "BetaBinomial",
    "BetaNegativeBinomial",
    "BetaProportion",
    "Binomial",
    "BinomialLogit",
    "BinomialLogitGLM",
    "CAR",
    "Categorical",
    "CategoricalLogit",
    "CategoricalLogitGLM",
    "Cauchy",
    "Censored",
    "ChiSquare",
    "CirculantGP",
    "DISTRIBUTIONS",
    "Dirichlet",
    "DirichletMultinomial",
    "DiscreteUniform",
    "Distribution",
    "ExpModNormal",
    "Exponential",
    "Flat",
    "Frechet",
    "GARCH",
    "Gamma",
    "GaussianDLM",
    "GaussianProcess",
    "GeneralizedExtremeValue",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "HalfStudentT",
    "HiddenMarkov",
    "HilbertSpaceGP",
    "Hurdle",
    "Hypergeometric",
    "ICAR",
    "InvChiSquare",
    "InverseGamma",
    "InverseWishart",
    "InverseWishartCholesky",
    "Kumaraswamy",
    "LKJ",
    "LKJCholesky",
    "Laplace",
    "LogLogistic",
    "LogNormal",
    "Logistic",
    "MatrixNormal",
    "Mixture",
    "MultiGP",
    "Multinomial",
    "MultinomialLogit",
    "MvNormal",
    "MvStudentT",
    "NegBinomial2LogGLM",
    "NegativeBinomial",
    "NegativeBinomial2",
    "NegativeBinomial2Log",
    "Normal",
    "NormalIdGLM",
    "OrderedLogistic",
    "OrderedLogisticGLM",
    "OrderedProbit",
    "Pareto",
    "ParetoType2",
    "Poisson",
    "PoissonLog",
    "PoissonLogGLM",
    "RandomWalk",
    "Rayleigh",
    "ScaledInverseChi2",
    "SkewDoubleExponential",
    "SkewNormal",
    "StudentT",
    "Truncated",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wiener",
    "Wishart",
    "WishartCholesky",
    "YuleSimon",
    "ZeroInflated",
    "ZeroSumNormal",
    "kernels",
]
