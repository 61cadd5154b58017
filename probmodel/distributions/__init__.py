"""Distributions: log densities, supports, draws and closed-form derivatives.

`DISTRIBUTIONS` maps the name of each to its class; adding one takes a file and a line here.
`kernels` holds the covariance functions of Gaussian processes; `glm` spells regressions as Stan
does.
"""

from probmodel.distributions import kernels
from probmodel.distributions.affine import Affine
from probmodel.distributions.ar import AR
from probmodel.distributions.ar1 import AR1
from probmodel.distributions.arma import ARMA
from probmodel.distributions.base import Distribution
from probmodel.distributions.bernoulli import Bernoulli
from probmodel.distributions.bernoulli_logit import BernoulliLogit
from probmodel.distributions.beta import Beta
from probmodel.distributions.beta_binomial import BetaBinomial
from probmodel.distributions.beta_negative_binomial import BetaNegativeBinomial
from probmodel.distributions.beta_proportion import BetaProportion
from probmodel.distributions.binomial import Binomial
from probmodel.distributions.binomial_logit import BinomialLogit
from probmodel.distributions.bym2 import BYM2
from probmodel.distributions.car import CAR
from probmodel.distributions.categorical import Categorical
from probmodel.distributions.categorical_logit import CategoricalLogit
from probmodel.distributions.cauchy import Cauchy
from probmodel.distributions.censored import Censored
from probmodel.distributions.chi_square import ChiSquare
from probmodel.distributions.circulant_gp import CirculantGP
from probmodel.distributions.dirichlet import Dirichlet
from probmodel.distributions.dirichlet_multinomial import DirichletMultinomial
from probmodel.distributions.discrete_uniform import DiscreteUniform
from probmodel.distributions.exp_mod_normal import ExpModNormal
from probmodel.distributions.exponential import Exponential
from probmodel.distributions.flat import Flat
from probmodel.distributions.frechet import Frechet
from probmodel.distributions.gamma import Gamma
from probmodel.distributions.garch import GARCH
from probmodel.distributions.gaussian_dlm import GaussianDLM
from probmodel.distributions.gaussian_process import GaussianProcess
from probmodel.distributions.geometric import Geometric
from probmodel.distributions.glm import (
    BernoulliLogitGLM,
    BinomialLogitGLM,
    CategoricalLogitGLM,
    NegBinomial2LogGLM,
    NormalIdGLM,
    OrderedLogisticGLM,
    PoissonLogGLM,
)
from probmodel.distributions.gumbel import Gumbel
from probmodel.distributions.half_cauchy import HalfCauchy
from probmodel.distributions.half_normal import HalfNormal
from probmodel.distributions.half_student_t import HalfStudentT
from probmodel.distributions.hidden_markov import HiddenMarkov
from probmodel.distributions.hilbert_space_gp import HilbertSpaceGP
from probmodel.distributions.hurdle import Hurdle
from probmodel.distributions.hypergeometric import Hypergeometric
from probmodel.distributions.icar import ICAR
from probmodel.distributions.inv_chi_square import InvChiSquare
from probmodel.distributions.inverse_gamma import InverseGamma
from probmodel.distributions.inverse_wishart import InverseWishart
from probmodel.distributions.inverse_wishart_cholesky import InverseWishartCholesky
from probmodel.distributions.kumaraswamy import Kumaraswamy
from probmodel.distributions.laplace import Laplace
from probmodel.distributions.lkj import LKJ
from probmodel.distributions.lkj_cholesky import LKJCholesky
from probmodel.distributions.log_logistic import LogLogistic
from probmodel.distributions.logistic import Logistic
from probmodel.distributions.lognormal import LogNormal
from probmodel.distributions.matrix_normal import MatrixNormal
from probmodel.distributions.mixture import Mixture
from probmodel.distributions.multi_gp import MultiGP
from probmodel.distributions.multinomial import Multinomial
from probmodel.distributions.multinomial_logit import MultinomialLogit
from probmodel.distributions.mv_normal import MvNormal
from probmodel.distributions.mv_student_t import MvStudentT
from probmodel.distributions.negative_binomial import NegativeBinomial
from probmodel.distributions.negative_binomial2 import NegativeBinomial2
from probmodel.distributions.negative_binomial2_log import NegativeBinomial2Log
from probmodel.distributions.normal import Normal
from probmodel.distributions.ordered_logistic import OrderedLogistic
from probmodel.distributions.ordered_probit import OrderedProbit
from probmodel.distributions.pareto import Pareto
from probmodel.distributions.pareto_type2 import ParetoType2
from probmodel.distributions.poisson import Poisson
from probmodel.distributions.poisson_log import PoissonLog
from probmodel.distributions.random_walk import RandomWalk
from probmodel.distributions.rayleigh import Rayleigh
from probmodel.distributions.scaled_inverse_chi2 import ScaledInverseChi2
from probmodel.distributions.skew_double_exponential import SkewDoubleExponential
from probmodel.distributions.skew_normal import SkewNormal
from probmodel.distributions.student_t import StudentT
from probmodel.distributions.truncated import Truncated
from probmodel.distributions.uniform import Uniform
from probmodel.distributions.von_mises import VonMises
from probmodel.distributions.weibull import Weibull
from probmodel.distributions.wiener import Wiener
from probmodel.distributions.wishart import Wishart
from probmodel.distributions.wishart_cholesky import WishartCholesky
from probmodel.distributions.yule_simon import YuleSimon
from probmodel.distributions.zero_inflated import ZeroInflated
from probmodel.distributions.zero_sum_normal import ZeroSumNormal

DISTRIBUTIONS: dict[str, type[Distribution]] = {
    "Affine": Affine,
    "AR": AR,
    "AR1": AR1,
    "ARMA": ARMA,
    "Bernoulli": Bernoulli,
    "BernoulliLogit": BernoulliLogit,
    "Beta": Beta,
    "BetaBinomial": BetaBinomial,
    "BetaNegativeBinomial": BetaNegativeBinomial,
    "BetaProportion": BetaProportion,
    "Binomial": Binomial,
    "BinomialLogit": BinomialLogit,
    "BYM2": BYM2,
    "CAR": CAR,
    "Categorical": Categorical,
    "CategoricalLogit": CategoricalLogit,
    "Cauchy": Cauchy,
    "Censored": Censored,
    "ChiSquare": ChiSquare,
    "CirculantGP": CirculantGP,
    "Dirichlet": Dirichlet,
    "DirichletMultinomial": DirichletMultinomial,
    "DiscreteUniform": DiscreteUniform,
    "ExpModNormal": ExpModNormal,
    "Exponential": Exponential,
    "Flat": Flat,
    "Frechet": Frechet,
    "Gamma": Gamma,
    "GARCH": GARCH,
    "GaussianDLM": GaussianDLM,
    "GaussianProcess": GaussianProcess,
    "Geometric": Geometric,
    "Gumbel": Gumbel,
    "HalfCauchy": HalfCauchy,
    "HalfNormal": HalfNormal,
    "HalfStudentT": HalfStudentT,
    "HilbertSpaceGP": HilbertSpaceGP,
    "HiddenMarkov": HiddenMarkov,
    "Hurdle": Hurdle,
    "Hypergeometric": Hypergeometric,
    "ICAR": ICAR,
    "InvChiSquare": InvChiSquare,
    "InverseGamma": InverseGamma,
    "InverseWishart": InverseWishart,
    "InverseWishartCholesky": InverseWishartCholesky,
    "Kumaraswamy": Kumaraswamy,
    "Laplace": Laplace,
    "LKJ": LKJ,
    "LKJCholesky": LKJCholesky,
    "Logistic": Logistic,
    "LogLogistic": LogLogistic,
    "LogNormal": LogNormal,
    "MatrixNormal": MatrixNormal,
    "Mixture": Mixture,
    "MultiGP": MultiGP,
    "Multinomial": Multinomial,
    "MultinomialLogit": MultinomialLogit,
    "MvNormal": MvNormal,
    "MvStudentT": MvStudentT,
    "NegativeBinomial": NegativeBinomial,
    "NegativeBinomial2": NegativeBinomial2,
    "NegativeBinomial2Log": NegativeBinomial2Log,
    "Normal": Normal,
    "OrderedLogistic": OrderedLogistic,
    "OrderedProbit": OrderedProbit,
    "Pareto": Pareto,
    "ParetoType2": ParetoType2,
    "Poisson": Poisson,
    "PoissonLog": PoissonLog,
    "RandomWalk": RandomWalk,
    "Rayleigh": Rayleigh,
    "ScaledInverseChi2": ScaledInverseChi2,
    "SkewDoubleExponential": SkewDoubleExponential,
    "SkewNormal": SkewNormal,
    "StudentT": StudentT,
    "Truncated": Truncated,
    "Uniform": Uniform,
    "VonMises": VonMises,
    "Weibull": Weibull,
    "Wishart": Wishart,
    "WishartCholesky": WishartCholesky,
    "Wiener": Wiener,
    "YuleSimon": YuleSimon,
    "ZeroSumNormal": ZeroSumNormal,
    "ZeroInflated": ZeroInflated,
}

__all__ = [
    "AR",
    "AR1",
    "ARMA",
    "BYM2",
    "CAR",
    "DISTRIBUTIONS",
    "GARCH",
    "ICAR",
    "LKJ",
    "Affine",
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
    "Categorical",
    "CategoricalLogit",
    "CategoricalLogitGLM",
    "Cauchy",
    "Censored",
    "ChiSquare",
    "CirculantGP",
    "Dirichlet",
    "DirichletMultinomial",
    "DiscreteUniform",
    "Distribution",
    "ExpModNormal",
    "Exponential",
    "Flat",
    "Frechet",
    "Gamma",
    "GaussianDLM",
    "GaussianProcess",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "HalfStudentT",
    "HiddenMarkov",
    "HilbertSpaceGP",
    "Hurdle",
    "Hypergeometric",
    "InvChiSquare",
    "InverseGamma",
    "InverseWishart",
    "InverseWishartCholesky",
    "Kumaraswamy",
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
