"""Lip cancer in 56 districts of Scotland: a map of relative risks, smoothed over neighbours.

Cases are Poisson with the expected number as offset, so the linear predictor is the log relative
risk. The district effects have a BYM2 prior: ``sigma`` is their standard deviation and ``rho`` the
spatially structured share of their variance. The share of people who work outdoors is itself smooth
over the map, so it competes with the structured part.

    probmodel sample gallery:lip_cancer --data gallery:lip_cancer.json

Reference: Clayton and Kaldor (1987), Empirical Bayes estimates of age-standardized relative risks
for use in disease mapping, Biometrics 43; Riebler et al. (2016), An intuitive Bayesian spatial
model for disease mapping that accounts for scaling; Breslow and Clayton (1993), JASA 88.
"""

import numpy as np

from probmodel import Model, data, deterministic, observed, param
from probmodel.distributions import BYM2, Beta, HalfNormal, Normal, PoissonLog


class LipCancer(Model):
    edges = data(dims=("edge", "end"), dtype=int, lower=0)  # neighbours, counted from 0
    expected = data(dims="district", lower=0)
    outdoor = data(dims="district", lower=0, upper=100)  # per cent in farming, fishing, forestry

    alpha = param(Normal(0, 1))
    beta = param(Normal(0, 1))  # per ten per cent
    sigma = param(HalfNormal(1))
    rho = param(Beta(0.5, 0.5))
    effect = param(BYM2(sigma, rho, edges), dims="district", noncentered=True)

    log_risk = alpha + beta * outdoor / 10 + effect
    risk = deterministic(np.exp(log_risk), dims="district")
    cases = observed(PoissonLog(np.log(expected) + log_risk), dims="district")
