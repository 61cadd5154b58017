"""The same posteriors written in the package's own model language, for `--engine model`."""

from __future__ import annotations

from datasets import SMALL_SETS, logistic_data

from probmodel.density import as_posterior
from probmodel.distributions import BernoulliLogit, Normal
from probmodel.model import Model, data, observed, param
from probmodel.types import LogDensity


class LogisticRegression(Model):
    """Bayesian logistic regression; X holds the column of ones."""

    X = data(dims=("obs", "feature"))
    beta = param(Normal(0, 1), dims="feature")
    y = observed(BernoulliLogit(X @ beta), dims="obs")


def compiled_density(target: str, *, standardise: bool = False) -> LogDensity:
    """Compile the model of a logistic regression."""
    if target not in SMALL_SETS:
        raise ValueError(
            f"the model engine runs the logistic regressions on {', '.join(SMALL_SETS)}, "
            f"not {target!r}; leave out --engine model"
        )
    X, y = logistic_data(target, standardise=standardise)
    return as_posterior(LogisticRegression(X=X, y=y.astype(int)))
