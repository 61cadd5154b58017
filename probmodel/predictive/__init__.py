"""What is computed after sampling or without it: predictions, simulations, pointwise densities."""

from probmodel.predictive.densities import log_likelihood, log_prior, loo
from probmodel.predictive.predictions import compute_deterministics, posterior_predictive, predict
from probmodel.predictive.simulations import prior_predictive, simulate

__all__ = [
    "compute_deterministics",
    "log_likelihood",
    "log_prior",
    "loo",
    "posterior_predictive",
    "predict",
    "prior_predictive",
    "simulate",
]
