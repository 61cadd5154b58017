"""Party identification as an ordered outcome: a cumulative logistic regression.

The seven answers, from strong Democrat to strong Republican, have an order but no distances. Each
answer is an interval of a latent scale. The cutpoints between intervals are parameters, and their
constraint keeps them in order. `nes.py` treats the same answers as numbers.

    probmodel sample gallery:party_identification --data gallery:party1996.csv

Reference: McCullagh (1980), Regression models for ordinal data, JRSS B 42; Gelman and Hill (2007),
Data Analysis Using Regression and Multilevel Models, section 6.5.
"""

from probmodel import Model, data, observed, param
from probmodel.constraints import Ordered
from probmodel.distributions import Normal, OrderedLogistic


class PartyIdentification(Model):
    X = data(dims=("voter", "feature"))

    beta = param(Normal(0, 2), dims="feature")
    cutpoints = param(Normal(0, 10), constraint=Ordered(), shape=6)

    party = observed(OrderedLogistic(X @ beta, cutpoints), dims="voter")
