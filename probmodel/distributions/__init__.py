"""Distributions: log densities, supports, draws and closed-form derivatives.

`FILES` says where each is; adding one takes a file and a line there. They are imported when they
are first asked for, all of them by `DISTRIBUTIONS`, which maps names to classes. `kernels` holds
the covariance functions of Gaussian processes; `glm` spells regressions as Stan does.
"""

from importlib import import_module
from typing import Any

from probmodel.distributions.base import Distribution
from probmodel.distributions.other_names import OTHER_NAMES

FILES = {
    "Affine": "compound.affine",
    "AR": "process.ar",
    "AR1": "process.ar1",
    "ARMA": "process.arma",
    "Bernoulli": "scalar.bernoulli",
    "BernoulliLogit": "scalar.bernoulli_logit",
    "Beta": "scalar.beta",
    "BetaBinomial": "scalar.beta_binomial",
    "BetaNegativeBinomial": "scalar.beta_negative_binomial",
    "BetaProportion": "scalar.beta_proportion",
    "Binomial": "scalar.binomial",
    "BinomialLogit": "scalar.binomial_logit",
    "BYM2": "spatial.bym2",
    "CAR": "spatial.car",
    "Categorical": "scalar.categorical",
    "CategoricalLogit": "scalar.categorical_logit",
    "Cauchy": "scalar.cauchy",
    "Censored": "compound.censored",
    "ChiSquare": "scalar.chi_square",
    "CirculantGP": "spatial.circulant_gp",
    "Dirichlet": "vector.dirichlet",
    "DirichletMultinomial": "vector.dirichlet_multinomial",
    "DiscreteUniform": "scalar.discrete_uniform",
    "ExpModNormal": "scalar.exp_mod_normal",
    "Exponential": "scalar.exponential",
    "Flat": "scalar.flat",
    "Frechet": "scalar.frechet",
    "Gamma": "scalar.gamma",
    "GARCH": "process.garch",
    "GaussianDLM": "process.gaussian_dlm",
    "GaussianProcess": "spatial.gaussian_process",
    "GeneralizedExtremeValue": "scalar.generalized_extremes",
    "GeneralizedPareto": "scalar.generalized_extremes",
    "Geometric": "scalar.geometric",
    "Gumbel": "scalar.gumbel",
    "HalfCauchy": "scalar.half_cauchy",
    "HalfNormal": "scalar.half_normal",
    "HalfStudentT": "scalar.half_student_t",
    "HilbertSpaceGP": "spatial.hilbert_space_gp",
    "HiddenMarkov": "process.hidden_markov",
    "Hurdle": "compound.hurdle",
    "Hypergeometric": "scalar.hypergeometric",
    "ICAR": "spatial.icar",
    "InvChiSquare": "scalar.inv_chi_square",
    "InverseGamma": "scalar.inverse_gamma",
    "InverseWishart": "vector.inverse_wishart",
    "InverseWishartCholesky": "vector.inverse_wishart_cholesky",
    "Kumaraswamy": "scalar.kumaraswamy",
    "Laplace": "scalar.laplace",
    "LKJ": "vector.lkj",
    "LKJCholesky": "vector.lkj_cholesky",
    "Logistic": "scalar.logistic",
    "LogLogistic": "scalar.log_logistic",
    "LogNormal": "scalar.lognormal",
    "MatrixNormal": "vector.matrix_normal",
    "Mixture": "compound.mixture",
    "MultiGP": "spatial.multi_gp",
    "Multinomial": "vector.multinomial",
    "MultinomialLogit": "vector.multinomial_logit",
    "MvNormal": "vector.mv_normal",
    "MvStudentT": "vector.mv_student_t",
    "NegativeBinomial": "scalar.negative_binomial",
    "NegativeBinomial2": "scalar.negative_binomial2",
    "NegativeBinomial2Log": "scalar.negative_binomial2_log",
    "Normal": "scalar.normal",
    "OrderedLogistic": "scalar.ordered_logistic",
    "OrderedProbit": "scalar.ordered_probit",
    "Pareto": "scalar.pareto",
    "ParetoType2": "scalar.pareto_type2",
    "Poisson": "scalar.poisson",
    "PoissonLog": "scalar.poisson_log",
    "RandomWalk": "process.random_walk",
    "Rayleigh": "scalar.rayleigh",
    "ScaledInverseChi2": "scalar.scaled_inverse_chi2",
    "SkewDoubleExponential": "scalar.skew_double_exponential",
    "SkewNormal": "scalar.skew_normal",
    "StudentT": "scalar.student_t",
    "Truncated": "compound.truncated",
    "Uniform": "scalar.uniform",
    "VonMises": "scalar.von_mises",
    "Weibull": "scalar.weibull",
    "Wishart": "vector.wishart",
    "WishartCholesky": "vector.wishart_cholesky",
    "Wiener": "scalar.wiener",
    "YuleSimon": "scalar.yule_simon",
    "ZeroSumNormal": "vector.zero_sum_normal",
    "ZeroInflated": "compound.zero_inflated",
}
GLM = (
    "BernoulliLogitGLM",
    "BinomialLogitGLM",
    "CategoricalLogitGLM",
    "NegBinomial2LogGLM",
    "NormalIdGLM",
    "OrderedLogisticGLM",
    "PoissonLogGLM",
)

__all__ = ["DISTRIBUTIONS", "Distribution", "kernels", *FILES, *GLM]


def __getattr__(name: str) -> Any:
    if name == "DISTRIBUTIONS":
        return {each: _found(each) for each in FILES}
    if name == "kernels":
        return import_module(f"{__name__}.kernels")
    return _found(name)


def _found(name: str) -> Any:
    file = FILES.get(name) or ("glm" if name in GLM else "")
    if name in OTHER_NAMES:  # Python leaves out what an AttributeError says about an import
        raise ImportError(f"{__name__} has no {name}: it is called {OTHER_NAMES[name]} here")
    if not file:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = getattr(import_module(f"{__name__}.{file}"), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
