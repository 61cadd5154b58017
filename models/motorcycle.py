"""Head acceleration in a simulated motorcycle crash: smooth curves for mean and log deviation.

Both are Gaussian processes, approximated by sums of sine waves on an interval three times as wide
as the data. The weights of the waves are normal, with the square root of the spectral density as
their standard deviation. The waves are expressions of the times.

    probmodel sample gallery:motorcycle --data gallery:motorcycle.csv

Where sd is large, the data determine the slow waves so well that the posterior of their
standardised weights z is narrow. Trajectories therefore take some hundred steps.

Reference: Silverman (1985), Some aspects of the spline smoothing approach to non-parametric
regression curve fitting; Riutort-Mayol et al. (2023), Practical Hilbert space approximate
Bayesian Gaussian processes for probabilistic programming; priors as brms gives them.
"""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import HalfStudentT, InverseGamma, Normal, StudentT


class Motorcycle(Model):
    time = data(dims="obs")  # milliseconds after the impact
    x = (time - np.mean(time)) / (np.max(time) - np.min(time))

    boundary = 1.5
    frequency = np.pi * np.arange(1, 41) / (2 * boundary)
    waves = np.sin(frequency * (x[:, None] + boundary)) / np.sqrt(boundary)

    intercept = param(StudentT(3, -13, 36))
    sd = param(HalfStudentT(3, 36))
    length = param(InverseGamma(1.124909, 0.0177))
    z = param(Normal(0, 1), shape=40)
    weights = sd * np.sqrt(np.sqrt(2 * np.pi) * length) * np.exp(-((length * frequency / 2) ** 2))
    mean = intercept + waves @ (weights * z)

    log_intercept = param(StudentT(3, 0, 10))
    log_sd = param(HalfStudentT(3, 36))
    log_length = param(InverseGamma(1.124909, 0.0177))
    log_z = param(Normal(0, 1), shape=20)
    slow = frequency[:20]
    log_weights = (
        log_sd * np.sqrt(np.sqrt(2 * np.pi) * log_length) * np.exp(-((log_length * slow / 2) ** 2))
    )
    log_deviation = log_intercept + waves[:, :20] @ (log_weights * log_z)

    accel = observed(Normal(mean, np.exp(log_deviation)), dims="obs")
