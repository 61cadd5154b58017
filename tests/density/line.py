"""A regression line, and four values of its data."""

import numpy as np

from probmodel import Model, data, observed, param
from probmodel.distributions import HalfNormal, Normal

Y = np.array([1.0, 2.0, 0.5, 3.0])


class Line(Model):
    x = data(dims="obs")
    a = param(Normal(0, 1))
    b = param(Normal(0, 1))
    s = param(HalfNormal(1))
    y = observed(Normal(a + b * x, s), dims="obs")
