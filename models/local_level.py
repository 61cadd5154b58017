"""Summer temperatures over 62 years: a drifting level observed with noise.

The local level model is a random walk plus noise. ``GaussianDLM`` integrates the walk out by the
Kalman filter. Two of 64 parameters remain, without the funnel that a small drift gives the walk.
The gradients of the filter are costly. For the level itself, or for a long series, a ``RandomWalk``
with ``information=`` is quicker; see ``coal_random_walk.py``.

    probmodel sample gallery:local_level --data gallery:temperatures.csv

Reference: West and Harrison (1997), Bayesian Forecasting and Dynamic Models, chapter 2; Durbin and
Koopman (2012), Time Series Analysis by State Space Methods, chapter 2; data of the Finnish
Meteorological Institute.
"""

import numpy as np

from probmodel import Model, observed, param
from probmodel.distributions import GaussianDLM, HalfNormal


class LocalLevel(Model):
    drift = param(HalfNormal(1))  # of the level from year to year, in degrees
    noise = param(HalfNormal(2))

    one = np.eye(1)
    y = observed(
        GaussianDLM(one, one, noise**2 * one, drift**2 * one, np.array([9.0]), 9 * one),
        dims=("year", "series"),
    )
