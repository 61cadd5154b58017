"""Diameter of pine saplings by height: a regression of censored values, the Tobit model.

Diameters are measured at breast height, and small trees get a zero. ``Censored`` gives a value at
the bound the probability of everything beyond it. So the line may go below zero, where an ordinary
regression would bend towards the zeros.

    probmodel sample gallery:tobit --data gallery:finpines_sizes.csv

Reference: Tobin (1958), Estimation of relationships for limited dependent variables, Econometrica
26; data of Kellomaki and Penttinen.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import Censored, HalfNormal, Normal


class Tobit(Model):
    height = data(dims="tree", lower=0)  # metres

    alpha = param(Normal(0, 5))
    beta = param(Normal(0, 5))
    sigma = param(HalfNormal(5))

    latent = Normal(alpha + beta * height, sigma)
    diameter = observed(Censored(latent, lower=0), dims="tree")  # centimetres
