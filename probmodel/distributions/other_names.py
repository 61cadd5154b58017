"""What other programs call distributions, and parameters, that have different names here."""

from __future__ import annotations

from collections.abc import Collection, Iterable

OTHER_NAMES = {
    "AsymmetricLaplace": "SkewDoubleExponential",
    "BernoulliLogits": "BernoulliLogit",
    "BernoulliProbs": "Bernoulli",
    "BinomialLogits": "BinomialLogit",
    "BinomialProbs": "Binomial",
    "CategoricalLogits": "CategoricalLogit",
    "CategoricalProbs": "Categorical",
    "Chi2": "ChiSquare",
    "ChiSquared": "ChiSquare",
    "DoubleExponential": "Laplace",
    "ExGaussian": "ExpModNormal",
    "ExponentiallyModifiedGaussian": "ExpModNormal",
    "GEV": "GeneralizedExtremeValue",
    "GPD": "GeneralizedPareto",
    "GammaPoisson": "NegativeBinomial",
    "Gaussian": "Normal",
    "GaussianRandomWalk": "RandomWalk",
    "HSGP": "HilbertSpaceGP",
    "HurdleGamma": "Hurdle",
    "HurdleLogNormal": "Hurdle",
    "HurdleNegativeBinomial": "Hurdle",
    "HurdlePoisson": "Hurdle",
    "ImproperUniform": "Flat",
    "InvGamma": "InverseGamma",
    "InverseChiSquare": "InvChiSquare",
    "LKJCholeskyCov": "LKJCholesky",
    "LKJCorr": "LKJ",
    "Lognormal": "LogNormal",
    "Lomax": "ParetoType2",
    "MatrixNormalCholesky": "MatrixNormal",
    "MixtureSameFamily": "Mixture",
    "MultiNormal": "MvNormal",
    "MultiNormalCholesky": "MvNormal",
    "MultiStudentT": "MvStudentT",
    "MultinomialLogits": "MultinomialLogit",
    "MultinomialProbs": "Multinomial",
    "MultivariateNormal": "MvNormal",
    "MultivariateStudentT": "MvStudentT",
    "NormalMixture": "Mixture",
    "OrderedLogit": "OrderedLogistic",
    "ScaledInvChiSquare": "ScaledInverseChi2",
    "StudentsT": "StudentT",
    "TruncatedNormal": "Truncated",
    "ZeroInflatedBinomial": "ZeroInflated",
    "ZeroInflatedDistribution": "ZeroInflated",
    "ZeroInflatedNegativeBinomial": "ZeroInflated",
    "ZeroInflatedNegativeBinomial2": "ZeroInflated",
    "ZeroInflatedPoisson": "ZeroInflated",
    "dbern": "Bernoulli",
    "dbetabin": "BetaBinomial",
    "dbin": "Binomial",
    "dcat": "Categorical",
    "dchisqr": "ChiSquare",
    "ddexp": "Laplace",
    "ddirch": "Dirichlet",
    "ddirich": "Dirichlet",
    "dgamma": "Gamma",
    "dlnorm": "LogNormal",
    "dlogis": "Logistic",
    "dmnorm": "MvNormal",
    "dmulti": "Multinomial",
    "dnegbin": "NegativeBinomial",
    "dnorm": "Normal",
    "dpois": "Poisson",
    "dunif": "Uniform",
    "dweib": "Weibull",
    "dwish": "Wishart",
}
"""Name in Stan, PyMC, NumPyro, TensorFlow Probability or BUGS, and the name here."""

_SIZE = "The size is that of the parameter: param({name}(eta), shape=(3, 3))."
OTHER_PARAMETERS: dict[str, tuple[str, ...]] = {
    "L": ("cholesky",),
    "N": ("n",),
    "Sigma": ("covariance",),
    "V": ("scale",),
    "a": ("concentration",),
    "alpha": ("concentration",),
    "b": ("scale",),
    "beta": ("scale",),
    "chol": ("cholesky",),
    "concentration": ("alpha", "phi"),
    "concentration0": ("beta", "b"),
    "concentration1": ("alpha", "a"),
    "cov": ("covariance",),
    "covariance_matrix": ("covariance",),
    "high": ("upper",),
    "lam": ("rate", "scale=1 / np.sqrt(lam)"),
    "lambda_": ("rate",),
    "lmbda": ("rate",),
    "loc": ("mu",),
    "low": ("lower",),
    "lower": ("low",),
    "mean": ("loc", "mu"),
    "mu": ("loc", "mean"),
    "nu": ("df",),
    "prec": ("scale=1 / np.sqrt(prec)", "sigma=1 / np.sqrt(prec)"),
    "precision": ("scale=1 / np.sqrt(precision)", "sigma=1 / np.sqrt(precision)"),
    "precision_matrix": ("precision",),
    "predictor": ("eta",),
    "comp_dists": ("components",),
    "component_distribution": ("components",),
    "dists": ("components",),
    "gate": ("p",),
    "prob": ("p",),
    "probs": ("p",),
    "rate": ("beta",),
    "s": ("scale",),
    "scale": ("sigma", "rate=1 / scale"),
    "scale_tril": ("cholesky",),
    "sd": ("scale", "sigma"),
    "sigma": ("scale",),
    "std": ("scale", "sigma"),
    "stddev": ("scale", "sigma"),
    "tau": ("precision", "scale=1 / np.sqrt(tau)", "sigma=1 / np.sqrt(tau)"),
    "total_count": ("n",),
    "trials": ("n",),
    "upper": ("high",),
    "w": ("weights",),
    "Cauchy.alpha": ("loc",),
    "Gamma.mu": ("alpha=mu**2 / sigma**2",),
    "Gamma.scale": ("beta=1 / scale",),
    "Gamma.sigma": ("beta=mu / sigma**2",),
    "Gumbel.scale": ("beta",),
    "InverseGamma.scale": ("beta",),
    "Hurdle.*": ("p is the probability of zero; in PyMC psi = 1 - p.",),
    "LKJ.*": (_SIZE,),
    "LKJCholesky.*": (_SIZE,),
    "NegativeBinomial2.alpha": ("phi",),
    "Pareto.m": ("y_min",),
    "Pareto.scale": ("y_min",),
    "Poisson.mu": ("rate",),
    "VonMises.concentration": ("kappa",),
    "VonMises.loc": ("mu",),
    "Weibull.beta": ("sigma",),
    "ZeroInflated.*": ("p is the probability of a zero that is not of dist; in PyMC psi = 1 - p.",),
}
"""Name in other programs, and the parameter here, or what to write for it; the first that is one
of the distribution's. A name of a distribution in front limits it to that, and a star stands for
all arguments that it does not take, and a whole sentence that is said of them."""


def parameters_here(name: str, given: Iterable[str], parameters: Collection[str]) -> str:
    """Say what arguments that a distribution does not take are called here; empty if unknown.

    ``name`` is that of the distribution, ``given`` are those of the arguments.
    """
    found = []
    for key in given:
        own = OTHER_PARAMETERS.get(f"{name}.{key}", OTHER_PARAMETERS.get(key, ()))
        here = next((text for text in own if text.partition("=")[0] in parameters), None)
        if here is not None:
            found.append(f"{key} is {'written' if '=' in here else 'called'} {here}")
    text = f" Here, {', '.join(found)}." if found else ""
    rest = OTHER_PARAMETERS.get(f"{name}.*", ())
    return text + "".join(f" {sentence.format(name=name)}" for sentence in rest)
