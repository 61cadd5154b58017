"""probmodel: declarative Bayesian models, sampled by adaptive MCMC methods.

Write a model as a class, bind data by making an instance, and hand it to `infer`:

>>> from probmodel import Model, data, param, observed, infer
>>> from probmodel.distributions import Normal, BernoulliLogit
>>> class LogisticRegression(Model):
...     X = data(dims=("obs", "feature"))
...     beta = param(Normal(0, 1), dims="feature")
...     y = observed(BernoulliLogit(X @ beta), dims="obs")
>>> posterior = infer(LogisticRegression(X=X, y=y), method="fisher_mala")

What comes back is an ArviZ object.
"""

from probmodel import distributions
from probmodel.density import LogDensity, check_model
from probmodel.errors import (
    DataError,
    InitializationError,
    ModelError,
    OutputError,
    ProbmodelError,
    SamplerError,
    SamplingWarning,
    ShapeError,
)
from probmodel.infer import infer
from probmodel.model import (
    Model,
    data,
    deterministic,
    load_model,
    observed,
    param,
    potential,
    read_data,
)

__version__ = "0.1.0"

__all__ = [
    "DataError",
    "InitializationError",
    "LogDensity",
    "Model",
    "ModelError",
    "OutputError",
    "ProbmodelError",
    "SamplerError",
    "SamplingWarning",
    "ShapeError",
    "check_model",
    "data",
    "deterministic",
    "distributions",
    "infer",
    "load_model",
    "observed",
    "param",
    "potential",
    "read_data",
]
