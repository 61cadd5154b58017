"""nutpie on PyMC models with numba: 4 chains, and its defaults, 400 + 1000 iterations.

Eight schools is non-centred, the Cox process whitened as ``pm.gp.Latent`` does it, the Gaussian
process integrated out by ``pm.gp.Marginal``, and volatility centred, as ``pm.AR`` has it: with
standard normal shocks and a scan it made no more effective draws in a second, and took twice as
long to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import nutpie
import pymc as pm
import pytensor.tensor as pt

from peer_tools import Draws, Run
from peer_tools.cases import Case

PACKAGES = ("nutpie", "pymc", "pytensor", "numba", "arviz")
CHAINS = 4
Array = Any


def logistic_regression(X: Array, y: Array) -> None:
    """Put standard normal priors on all coefficients."""
    alpha = pm.Normal("alpha", 0, 1)
    beta = pm.Normal("beta", 0, 1, shape=X.shape[1])
    pm.Bernoulli("y", logit_p=alpha + pt.dot(X, beta), observed=y)


def eight_schools(y: Array, sigma: Array) -> None:
    """Write the effects non-centred."""
    mu = pm.Normal("mu", 0, 5)
    tau = pm.HalfCauchy("tau", 5)
    z = pm.Normal("z", 0, 1, shape=len(y))
    theta = pm.Deterministic("theta", mu + tau * z)
    pm.Normal("y", theta, sigma, observed=y)


def neal(sd: Array) -> None:
    """Write independent normal coordinates."""
    pm.Normal("x", 0, sd, shape=len(sd))


def gaussian_process_regression(x: Array, y: Array) -> None:
    """Integrate the curve out; PyMC adds no jitter, which the others have not."""
    rho = pm.Gamma("rho", 25, 4)
    alpha = pm.HalfNormal("alpha", 2)
    sigma = pm.HalfNormal("sigma", 1)
    process = pm.gp.Marginal(cov_func=alpha**2 * pm.gp.cov.ExpQuad(1, ls=rho))
    process.marginal_likelihood("y", X=x[:, None], y=y, sigma=pt.sqrt(sigma), jitter=0.0)


def log_gaussian_cox(y: Array, northing: Array, easting: Array, share: Array) -> None:
    """Whiten the field."""
    variance, length_scale = 1.91, 10 / 33
    points = np.stack(np.meshgrid(northing, easting, indexing="ij"), axis=-1).reshape(-1, 2)
    process = pm.gp.Latent(
        mean_func=pm.gp.mean.Constant(np.log(126) - variance / 2),
        cov_func=variance * pm.gp.cov.Matern12(2, ls=length_scale),
    )
    x = process.prior("x", X=points, jitter=1e-8 * variance)
    pm.Poisson("y", mu=share * pt.exp(x), observed=y.reshape(-1))


def stochastic_volatility(y: Array) -> None:
    """Write the log variance, less its mean, as PyMC's own autoregression."""
    mu = pm.Cauchy("mu", 0, 2)
    u = pm.Beta("u", 20, 1.5)
    sigma = pm.HalfCauchy("sigma", 1)
    phi = pm.Deterministic("phi", 2 * u - 1)
    first = pm.Normal.dist(0, sigma / pt.sqrt((1 - phi) * (1 + phi)), shape=1)
    path = pm.AR("path", phi[None], sigma, init_dist=first, shape=len(y))
    h = pm.Deterministic("h", mu + path)
    pm.Normal("y", 0, pt.exp(h / 2), observed=y)


MODELS: dict[str, Callable[..., None]] = {
    "logistic_regression": logistic_regression,
    "eight_schools": eight_schools,
    "neal": neal,
    "gaussian_process_regression": gaussian_process_regression,
    "log_gaussian_cox": log_gaussian_cox,
    "stochastic_volatility": stochastic_volatility,
}


def build(case: Case, data: dict[str, Any]) -> Any:
    """Return the PyMC model with its data."""
    with pm.Model() as model:
        MODELS[case.model](**data)
    return model


def prepare(case: Case, data: dict[str, Any]) -> Run:
    """Return the run of a model that is compiled once."""
    compiled = nutpie.compile_pymc_model(build(case, data))

    def run(seed: int, more: float) -> Draws:
        result = nutpie.sample(
            compiled, chains=CHAINS, draws=int(1000 * more), seed=seed, progress_bar=False
        )
        return {name: result.posterior[name].values for name in case.names}

    return run
