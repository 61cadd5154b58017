"""Distributions: log densities, supports, draws and closed-form derivatives.

`DISTRIBUTIONS` maps the name of each to its class; adding one takes a file and a line here.
`kernels` holds the covariance functions of `GaussianProcess`.
"""

from probmodel.distributions import kernels
from probmodel.distributions.affine import Affine
from probmodel.distributions.ar1 import AR1
from probmodel.distributions.base import Distribution
from probmodel.distributions.bernoulli import Bernoulli
from probmodel.distributions.bernoulli_logit import BernoulliLogit
from probmodel.distributions.beta import Beta
from probmodel.distributions.binomial import Binomial
from probmodel.distributions.binomial_logit import BinomialLogit
from probmodel.distributions.categorical import Categorical
from probmodel.distributions.categorical_logit import CategoricalLogit
from probmodel.distributions.cauchy import Cauchy
from probmodel.distributions.censored import Censored
from probmodel.distributions.dirichlet import Dirichlet
from probmodel.distributions.exponential import Exponential
from probmodel.distributions.flat import Flat
from probmodel.distributions.gamma import Gamma
from probmodel.distributions.gaussian_process import GaussianProcess
from probmodel.distributions.half_cauchy import HalfCauchy
from probmodel.distributions.half_normal import HalfNormal
from probmodel.distributions.half_student_t import HalfStudentT
from probmodel.distributions.inverse_gamma import InverseGamma
from probmodel.distributions.laplace import Laplace
from probmodel.distributions.logistic import Logistic
from probmodel.distributions.lognormal import LogNormal
from probmodel.distributions.mv_normal import MvNormal
from probmodel.distributions.negative_binomial2 import NegativeBinomial2
from probmodel.distributions.normal import Normal
from probmodel.distributions.poisson import Poisson
from probmodel.distributions.poisson_log import PoissonLog
from probmodel.distributions.scaled_inverse_chi2 import ScaledInverseChi2
from probmodel.distributions.student_t import StudentT
from probmodel.distributions.truncated import Truncated
from probmodel.distributions.uniform import Uniform

DISTRIBUTIONS: dict[str, type[Distribution]] = {
    "AR1": AR1,
    "Affine": Affine,
    "Bernoulli": Bernoulli,
    "BernoulliLogit": BernoulliLogit,
    "Beta": Beta,
    "Binomial": Binomial,
    "BinomialLogit": BinomialLogit,
    "Categorical": Categorical,
    "CategoricalLogit": CategoricalLogit,
    "Cauchy": Cauchy,
    "Censored": Censored,
    "Dirichlet": Dirichlet,
    "Exponential": Exponential,
    "Flat": Flat,
    "Gamma": Gamma,
    "GaussianProcess": GaussianProcess,
    "HalfCauchy": HalfCauchy,
    "HalfNormal": HalfNormal,
    "HalfStudentT": HalfStudentT,
    "InverseGamma": InverseGamma,
    "Laplace": Laplace,
    "LogNormal": LogNormal,
    "Logistic": Logistic,
    "MvNormal": MvNormal,
    "NegativeBinomial2": NegativeBinomial2,
    "Normal": Normal,
    "Poisson": Poisson,
    "PoissonLog": PoissonLog,
    "ScaledInverseChi2": ScaledInverseChi2,
    "StudentT": StudentT,
    "Truncated": Truncated,
    "Uniform": Uniform,
}

__all__ = [
    "AR1",
    "DISTRIBUTIONS",
    "Affine",
    "Bernoulli",
    "BernoulliLogit",
    "Beta",
    "Binomial",
    "BinomialLogit",
    "Categorical",
    "CategoricalLogit",
    "Cauchy",
    "Censored",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "Flat",
    "Gamma",
    "GaussianProcess",
    "HalfCauchy",
    "HalfNormal",
    "HalfStudentT",
    "InverseGamma",
    "Laplace",
    "LogNormal",
    "Logistic",
    "MvNormal",
    "NegativeBinomial2",
    "Normal",
    "Poisson",
    "PoissonLog",
    "ScaledInverseChi2",
    "StudentT",
    "Truncated",
    "Uniform",
    "kernels",
]
