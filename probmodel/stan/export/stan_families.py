"""Distributions of numbers that Stan has, and what it takes for ours."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any, NamedTuple

import numpy as np

from probmodel.expressions import OPERATIONS, Apply
from probmodel.stan.library.stan_densities import CONTINUOUS, DISCRETE

Arguments = dict[str, Any]


class Family(NamedTuple):
    """A distribution of Stan.

    Attributes
    ----------
    stan : its name
    arguments : of our parameters, by name, to its own
    constant : what is added to its log density to make ours
    from_one : whether its values count from 1
    """

    stan: str
    arguments: Callable[[Arguments], list[Any]] = lambda a: list(a.values())
    constant: float = 0.0
    from_one: bool = False


FAMILIES: dict[str, Family] = {
    **{ours: Family(stan) for stan, (ours, _) in {**DISCRETE, **CONTINUOUS}.items()},
    "HalfNormal": Family("normal", lambda a: [0, a["scale"]], log(2)),
    "HalfCauchy": Family("cauchy", lambda a: [0, a["scale"]], log(2)),
    "HalfStudentT": Family("student_t", lambda a: [a["df"], 0, a["scale"]], log(2)),
    "Categorical": Family("categorical", from_one=True),
    "CategoricalLogit": Family("categorical_logit", from_one=True),
    "OrderedLogistic": Family("ordered_logistic", from_one=True),
    "OrderedProbit": Family("ordered_probit", from_one=True),
    "VonMises": Family("von_mises"),
    "Geometric": Family("neg_binomial", lambda a: [1, a["p"] / (1 - a["p"])]),
    # Vectors and matrices.
    "Dirichlet": Family("dirichlet"),
    "LKJCholesky": Family("lkj_corr_cholesky"),
    "LKJ": Family("lkj_corr"),
    "Multinomial": Family("multinomial", lambda a: [a["p"]]),
    "MultinomialLogit": Family("multinomial_logit", lambda a: [a["logits"]]),
    "DirichletMultinomial": Family("dirichlet_multinomial", lambda a: [a["concentration"]]),
}
# Distributions whose distribution function Stan has under another name: that, the parameters, and
# the value.
_Of = Callable[[Any], Any]
PROBABILITIES: dict[str, tuple[str, Callable[[Arguments], list[Any]], _Of]] = {
    "BernoulliLogit": ("bernoulli", lambda a: [_expit(a["logit"])], lambda y: y),
    "BinomialLogit": ("binomial", lambda a: [a["n"], _expit(a["logit"])], lambda y: y),
    "PoissonLog": ("poisson", lambda a: [np.exp(a["log_rate"])], lambda y: y),
    "NegativeBinomial2Log": ("neg_binomial_2", lambda a: [np.exp(a["eta"]), a["phi"]], lambda y: y),
    "LogLogistic": ("logistic", lambda a: [np.log(a["alpha"]), 1 / a["beta"]], np.log),
}
ONE_BY_ONE = {"Hypergeometric"}  # Stan takes no arrays of their values
WITHOUT_PROBABILITIES = {"Hypergeometric", "Wiener"}


def _expit(x: Any) -> Any:
    return Apply(OPERATIONS["expit"], (x,))


# Distributions whose parameters have a name of their own for each form of a matrix.
MATRIX_FORMS: dict[str, dict[str, str]] = {
    "MvNormal": {
        "covariance": "multi_normal",
        "cholesky": "multi_normal_cholesky",
        "precision": "multi_normal_prec",
    },
    "MvStudentT": {"scale": "multi_student_t", "cholesky": "multi_student_t_cholesky"},
    "Wishart": {"scale": "wishart"},
    "WishartCholesky": {"cholesky": "wishart_cholesky"},
    "InverseWishart": {"scale": "inv_wishart"},
    "InverseWishartCholesky": {"cholesky": "inv_wishart_cholesky"},
    "MultiGP": {"covariance": "multi_gp", "cholesky": "multi_gp_cholesky"},
}


def family_of(name: str, parameters: Any) -> Family | None:
    """Return the distribution of Stan that one of ours is; None if there is none."""
    for parameter, stan in MATRIX_FORMS.get(name, {}).items():
        if parameter in parameters:
            return Family(stan)
    if name in MATRIX_FORMS:  # the matrix is given in a form that Stan does not take
        return Family(next(iter(MATRIX_FORMS[name].values())))
    return FAMILIES.get(name)
