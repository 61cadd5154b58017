"""probmodel: declarative Bayesian models, sampled by adaptive MCMC methods.

Write a model as a class, bind data by making an instance, and hand it to `infer`:

>>> from probmodel import Model, data, param, observed, infer
>>> from probmodel.distributions import Normal, BernoulliLogit
>>> class LogisticRegression(Model):
...     X = data(dims=("obs", "feature"))
...     beta = param(Normal(0, 1), dims="feature")
...     y = observed(BernoulliLogit(X @ beta), dims="obs")
>>> posterior = infer(LogisticRegression(X=X, y=y))

What comes back is an ArviZ object.

Names are imported when they are first used, so that ``import probmodel`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from probmodel.version import __version__ as __version__

if TYPE_CHECKING:
    from probmodel import distributions
    from probmodel.calibration import Calibration, sbc
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
        TimeLimitError,
    )
    from probmodel.fit_page import report
    from probmodel.held_out import HeldOut, folds
    from probmodel.inference.request import Converged
    from probmodel.model import (
        Model,
        data,
        deterministic,
        load_model,
        observed,
        param,
        potential,
        read_data,
        to_dot,
        to_svg,
    )
    from probmodel.predictive import (
        compute_deterministics,
        log_likelihood,
        log_prior,
        loo,
        posterior_predictive,
        predict,
        prior_predictive,
        simulate,
    )
    from probmodel.resuming import extend, resume
    from probmodel.sampling import infer
    from probmodel.saved_fits import SavedFit, load_fit
    from probmodel.stan.export import StanProgram, to_stan
    from probmodel.stan.stan_model import Stan, load_stan
    from probmodel.studies import infer_many

__all__ = [
    "Calibration",
    "Converged",
    "DataError",
    "HeldOut",
    "InitializationError",
    "LogDensity",
    "Model",
    "ModelError",
    "OutputError",
    "ProbmodelError",
    "SamplerError",
    "SamplingWarning",
    "SavedFit",
    "ShapeError",
    "Stan",
    "StanProgram",
    "TimeLimitError",
    "check_model",
    "compute_deterministics",
    "data",
    "deterministic",
    "distributions",
    "extend",
    "folds",
    "infer",
    "infer_many",
    "load_fit",
    "load_model",
    "load_stan",
    "log_likelihood",
    "log_prior",
    "loo",
    "observed",
    "param",
    "posterior_predictive",
    "potential",
    "predict",
    "prior_predictive",
    "read_data",
    "report",
    "resume",
    "sbc",
    "simulate",
    "to_dot",
    "to_stan",
    "to_svg",
]

_HOMES = {
    "probmodel.calibration": ("Calibration", "sbc"),
    "probmodel.density": ("LogDensity", "check_model"),
    "probmodel.held_out": ("HeldOut", "folds"),
    "probmodel.inference.request": ("Converged",),
    "probmodel.model": (
        "Model",
        "data",
        "deterministic",
        "load_model",
        "observed",
        "param",
        "potential",
        "read_data",
        "to_dot",
        "to_svg",
    ),
    "probmodel.predictive": (
        "compute_deterministics",
        "log_likelihood",
        "log_prior",
        "loo",
        "posterior_predictive",
        "predict",
        "prior_predictive",
        "simulate",
    ),
    "probmodel.fit_page": ("report",),
    "probmodel.resuming": ("extend", "resume"),
    "probmodel.sampling": ("infer",),
    "probmodel.saved_fits": ("SavedFit", "load_fit"),
    "probmodel.stan.export": ("StanProgram", "to_stan"),
    "probmodel.stan.stan_model": ("Stan", "load_stan"),
    "probmodel.studies": ("infer_many",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "distributions":
        return importlib.import_module("probmodel.distributions")
    if name not in __all__:
        raise AttributeError(f"module 'probmodel' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF.get(name, "probmodel.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
