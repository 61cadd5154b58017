"""Distributions: log densities, supports, draws and closed-form derivatives.

`FILES` says where each is; adding one takes a file, and its name in `FOLDERS`. They are imported
when they are first asked for, all of them by `DISTRIBUTIONS`, which maps names to classes.
`kernels` holds the covariance functions of Gaussian processes; `glm` spells regressions as Stan
does.
"""

from importlib import import_module
from typing import Any

from probmodel.class_names import snake_case
from probmodel.distributions.base import Distribution
from probmodel.distributions.other_names import OTHER_NAMES

# Names by folder. Each is in a file of its name in snake case, but for a few.
FOLDERS = {
    "scalar": (
        "Bernoulli BernoulliLogit Beta BetaBinomial BetaNegativeBinomial BetaProportion Binomial "
        "BinomialLogit Categorical CategoricalLogit Cauchy ChiSquare DiscreteUniform ExpModNormal "
        "Exponential Flat Frechet Gamma GeneralizedExtremeValue GeneralizedPareto Geometric "
        "Gumbel HalfCauchy HalfNormal HalfStudentT Hypergeometric InvChiSquare InverseGamma "
        "Kumaraswamy Laplace Logistic LogLogistic LogNormal NegativeBinomial NegativeBinomial2 "
        "NegativeBinomial2Log Normal OrderedLogistic OrderedProbit Pareto ParetoType2 Poisson "
        "PoissonLog Rayleigh ScaledInverseChi2 SkewDoubleExponential SkewNormal StudentT Uniform "
        "VonMises Weibull Wiener YuleSimon"
    ),
    "vector": (
        "Dirichlet DirichletMultinomial InverseWishart InverseWishartCholesky LKJ LKJCholesky "
        "MatrixNormal Multinomial MultinomialLogit MvNormal MvStudentT Wishart WishartCholesky "
        "ZeroSumNormal"
    ),
    "process": "AR AR1 ARMA GARCH GaussianDLM HiddenMarkov RandomWalk",
    "spatial": "BYM2 CAR CirculantGP GaussianProcess HilbertSpaceGP ICAR MultiGP",
    "compound": "Affine Censored Hurdle Mixture Truncated ZeroInflated",
}
_OTHER_FILES = {
    "GeneralizedExtremeValue": "generalized_extremes",
    "GeneralizedPareto": "generalized_extremes",
    "LogNormal": "lognormal",
}
_FILES = {
    name: f"{folder}.{_OTHER_FILES.get(name) or snake_case(name)}"
    for folder, names in FOLDERS.items()
    for name in names.split()
}
FILES = {name: _FILES[name] for name in sorted(_FILES, key=str.lower)}
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
