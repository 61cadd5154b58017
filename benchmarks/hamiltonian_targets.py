"""Gaussians and logistic regressions of the two papers on adaptive Hamiltonian samplers.

    anisotropic_100, _1000, _10000   independent coordinates, variances 1 to 100 on a log scale
    ill_conditioned                  100 independent coordinates, variances 1 to 10^6
    iid_10                           10 standard normal coordinates
    pima_wide, ...                   logistic regressions with prior variance 100, for WMF13
    pima_unit, ...                   logistic regressions with prior variance 1, for HTD21

WMF13 is Wang, Mohamed and de Freitas (2013), *Adaptive Hamiltonian and Riemann manifold Monte Carlo
samplers*; HTD21 is Hirt, Titsias and Dellaportas (2021), *Entropy-based adaptive Hamiltonian Monte
Carlo*. The correlated Gaussian in 51 dimensions and the banana of HTD21 are `gauss51` and `banana`
of `targets`.

HTD21 prints variances 10^(3 (i - 1)/(d - 1)) "between 1 and 100" for the first Gaussian; the
authors' program has standard deviations 1 to 10, which is the exponent 2 used here.

The regressions are written in the package's own language, on inputs brought to mean 0 and variance
1 (divisor n - 1). WMF13 leaves their prior variance open; 100 is that of Girolami and Calderhead
(2011), whose protocol it follows.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from datasets import SMALL_SETS, logistic_data
from densities import Gaussian

from probmodel.density import ModelDensity
from probmodel.distributions import BernoulliLogit, Normal
from probmodel.model import Model, data, observed, param
from probmodel.types import LogDensity

WIDE_SETS = ("australian", "german", "heart", "pima", "ripley")  # the five of WMF13
PRIOR_SCALES = {"wide": 10.0, "unit": 1.0}


class ScaledLogisticRegression(Model):
    """Bayesian logistic regression; X holds the column of ones."""

    X = data(dims=("obs", "feature"))
    prior_scale = data(lower=0)

    beta = param(Normal(0, prior_scale), dims="feature")

    y = observed(BernoulliLogit(X @ beta), dims="obs")


def anisotropic(dim: int, decades: float = 2.0) -> Gaussian:
    """Independent coordinates of mean 0, variances from 1 to ``10**decades`` on a log scale."""
    return Gaussian(np.zeros(dim), np.logspace(0.0, decades, dim))


def logistic_model(name: str, prior: str) -> ModelDensity:
    """Logistic regression on standardised inputs, compiled from the model language.

    Parameters
    ----------
    name : one of `datasets.SMALL_SETS`
    prior : a key of `PRIOR_SCALES`
    """
    X, y = logistic_data(name, standardise=True)
    model = ScaledLogisticRegression(X=X, y=y.astype(int), prior_scale=PRIOR_SCALES[prior])
    return ModelDensity(model)


HAMILTONIAN: dict[str, Callable[[], LogDensity]] = {
    "anisotropic_100": partial(anisotropic, 100),
    "anisotropic_1000": partial(anisotropic, 1000),
    "anisotropic_10000": partial(anisotropic, 10_000),
    "ill_conditioned": partial(anisotropic, 100, 6.0),
    "iid_10": partial(anisotropic, 10, 0.0),
    **{f"{name}_wide": partial(logistic_model, name, "wide") for name in WIDE_SETS},
    **{f"{name}_unit": partial(logistic_model, name, "unit") for name in SMALL_SETS},
}
