"""Bayesian logistic regression with standard normal priors.

It fits the Pima Indians diabetes data (532 women, 7 measurements) and five other classic data sets.
No column is centred or scaled, which makes the posteriors hard for methods without a
preconditioner.

    probmodel sample gallery:logistic_regression --data gallery:pima.npz

Reference: Titsias (2023), Optimal preconditioning and Fisher adaptive Langevin sampling.
"""

from probmodel import Model, data, observed, param
from probmodel.distributions import BernoulliLogit, Normal


class LogisticRegression(Model):
    X = data(dims=("obs", "feature"))

    alpha = param(Normal(0, 1))
    beta = param(Normal(0, 1), dims="feature")

    y = observed(BernoulliLogit(alpha + X @ beta), dims="obs")
