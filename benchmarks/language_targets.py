"""The targets written by hand, once more in the package's own model language.

`--engine model` runs these. The targets of `hamiltonian_targets` and `latent_targets` that are
models come from the language with either engine.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from bnn import LAYERS, dexter
from datasets import LOGISTIC_DATA, logistic_data, simulated_linear_data
from densities import Banana, Gaussian
from hamiltonian_targets import ScaledLogisticRegression
from joint_cox import CENTRE, JointCox
from scipy import sparse
from targets import make_target

from probmodel.density import ModelDensity
from probmodel.distributions import (
    BernoulliLogit,
    CirculantGP,
    Laplace,
    MvNormal,
    Normal,
    PoissonLog,
    kernels,
)
from probmodel.functions import segment_sum
from probmodel.model import Model, data, observed, param
from probmodel.types import LogDensity


class IndependentNormal(Model):
    """Independent coordinates."""

    mean = data(dims="coordinate")
    scale = data(lower=0, dims="coordinate")

    x = param(Normal(mean, scale), dims="coordinate")


class CorrelatedNormal(Model):
    """Normal distribution with a full covariance."""

    mean = data(dims="coordinate")
    covariance = data(dims=("coordinate", "other"))

    x = param(MvNormal(mean, covariance), dims="coordinate")


class BentNormal(Model):
    """Normal distribution of two coordinates, bent along a parabola."""

    bend = data()

    first = param(Normal(0, 10))
    second = param(Normal(bend * (first**2 - 100), 1))


class SparseLogisticRegression(Model):
    """Logistic regression on a sparse matrix: its entries, with their rows and columns."""

    n_obs = data(dtype=int)
    n_features = data(dtype=int)
    row = data(dims="entry", dtype=int)
    column = data(dims="entry", dtype=int)
    value = data(dims="entry")

    beta = param(Normal(0, 1), shape=n_features)

    y = observed(BernoulliLogit(segment_sum(value * beta[column], row, n_obs)), dims="obs")


class LaplaceRegression(Model):
    """Bayesian linear regression with noise of known size; X holds the column of ones."""

    X = data(dims=("obs", "feature"))

    beta = param(Laplace(0, 1), dims="feature")

    y = observed(Normal(X @ beta, 10), dims="obs")


class TanhNetwork(Model):
    """Network with two hidden layers and a logistic output."""

    X = data(dims=("text", "word"))

    weights_1 = param(Normal(0, LAYERS[0] ** -0.5), shape=LAYERS[0:2])
    bias_1 = param(Normal(0, 1), shape=LAYERS[1])
    weights_2 = param(Normal(0, LAYERS[1] ** -0.5), shape=LAYERS[1:3])
    bias_2 = param(Normal(0, 1), shape=LAYERS[2])
    weights_3 = param(Normal(0, LAYERS[2] ** -0.5), shape=LAYERS[2])
    bias_3 = param(Normal(0, 1))

    hidden = np.tanh(np.tanh(X @ weights_1 + bias_1) @ weights_2 + bias_2)

    y = observed(BernoulliLogit(hidden @ weights_3 + bias_3), dims="text")


class JointCoxProcess(Model):
    """Cox process whose hyperparameters are sampled with its field, as in `joint_cox`.

    Length scales that are too long for the torus have no density here.
    """

    northing = data(dims="row")
    easting = data(dims="column")
    share = data(lower=0)

    mean = param(Normal(CENTRE[0], 1))
    log_variance = param(Normal(CENTRE[1], 1))
    log_length = param(Normal(CENTRE[2], 1))
    process = CirculantGP(
        kernels.Exponential(np.exp(0.5 * log_variance), np.exp(log_length)),
        (northing, easting),
        padding=2.03,  # 32 points for 16 cells, and 128 for 64
        jitter=0.0,
    )
    torus = param(process, noncentered=True)

    y = observed(PoissonLog(np.log(share) + mean + process.on_grid(torus)), dims=("row", "column"))


def language_model(target: str, *, standardise: bool = False) -> Model:
    """Write a target in the model language.

    Coordinates are those of the target by hand. `JointCoxProcess` has its hyperparameters first,
    and by hand their prior's centre is subtracted from them.
    """
    if target == "linear":
        X, y = simulated_linear_data()
        return LaplaceRegression(X=X, y=y)
    if target == "dexter":
        texts = dexter()
        return TanhNetwork(X=texts.X, y=texts.y.astype(int))
    if target in LOGISTIC_DATA:
        X, y = logistic_data(target, standardise=standardise)
        if not sparse.issparse(X):
            return ScaledLogisticRegression(X=X, y=y.astype(int), prior_scale=1.0)
        found, (n, dim) = X.tocoo(), X.shape
        entries = {"row": found.row, "column": found.col, "value": found.data}
        return SparseLogisticRegression(**entries, n_obs=n, n_features=dim, y=y.astype(int))
    by_hand = make_target(target)
    if isinstance(by_hand, ModelDensity):
        return by_hand.model
    if isinstance(by_hand, JointCox):
        axis, counts = np.arange(by_hand.n) / by_hand.n, by_hand.counts.astype(int)
        return JointCoxProcess(northing=axis, easting=axis, share=by_hand.area, y=counts)
    if isinstance(by_hand, Banana):
        return BentNormal(bend=by_hand.bend)
    normal = cast(Gaussian, by_hand)
    if normal.diagonal:
        return IndependentNormal(mean=normal.mean, scale=np.sqrt(normal.covariance))
    return CorrelatedNormal(mean=normal.mean, covariance=normal.covariance)


def compiled_density(target: str, *, standardise: bool = False) -> LogDensity:
    """Compile a target from the model language."""
    return ModelDensity(language_model(target, standardise=standardise))
