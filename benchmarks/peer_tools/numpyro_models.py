"""The posteriors in NumPyro's language, in double precision.

Eight schools is non-centred, the Cox process whitened by the root of its covariance, and volatility
has standard normal shocks, as the Stan User's Guide writes them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

Array = Any
numpyro.enable_x64()


def logistic_regression(X: Array, y: Array) -> None:
    """Put standard normal priors on all coefficients."""
    alpha = numpyro.sample("alpha", dist.Normal(0, 1))
    beta = numpyro.sample("beta", dist.Normal(0, 1).expand([X.shape[1]]).to_event(1))
    numpyro.sample("y", dist.BernoulliLogits(alpha + X @ beta), obs=y)


def eight_schools(y: Array, sigma: Array) -> None:
    """Write the effects non-centred."""
    mu = numpyro.sample("mu", dist.Normal(0, 5))
    tau = numpyro.sample("tau", dist.HalfCauchy(5))
    z = numpyro.sample("z", dist.Normal(0, 1).expand([len(y)]).to_event(1))
    theta = numpyro.deterministic("theta", mu + tau * z)
    numpyro.sample("y", dist.Normal(theta, sigma), obs=y)


def neal(sd: Array) -> None:
    """Write independent normal coordinates."""
    numpyro.sample("x", dist.Normal(jnp.zeros(len(sd)), sd).to_event(1))


def gaussian_process_regression(x: Array, y: Array) -> None:
    """Integrate the curve out."""
    rho = numpyro.sample("rho", dist.Gamma(25, 4))
    alpha = numpyro.sample("alpha", dist.HalfNormal(2))
    sigma = numpyro.sample("sigma", dist.HalfNormal(1))
    gap = x[:, None] - x
    covariance = alpha**2 * jnp.exp(-0.5 * (gap / rho) ** 2) + sigma * jnp.eye(len(x))
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(x)), covariance), obs=y)


def log_gaussian_cox(y: Array, northing: Array, easting: Array, share: Array) -> None:
    """Whiten the field."""
    mean, root = field(northing, easting)
    z = numpyro.sample("z", dist.Normal(0, 1).expand([len(root)]).to_event(1))
    x = numpyro.deterministic("x", mean + jnp.asarray(root) @ z)
    numpyro.sample("y", dist.Poisson(share * jnp.exp(x)), obs=y.reshape(-1))


def field(northing: Array, easting: Array) -> tuple[float, Array]:
    """Return the mean of the Cox process' log intensity, and the root of its covariance."""
    variance, length_scale = 1.91, 10 / 33
    points = np.stack(np.meshgrid(northing, easting, indexing="ij"), axis=-1).reshape(-1, 2)
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    covariance = variance * (np.exp(-distance / length_scale) + 1e-8 * np.eye(len(points)))
    return np.log(126) - variance / 2, np.linalg.cholesky(covariance)


def stochastic_volatility(y: Array) -> None:
    """Let standard normal shocks drive the log variance."""
    mu = numpyro.sample("mu", dist.Cauchy(0, 2))
    u = numpyro.sample("u", dist.Beta(20, 1.5))
    sigma = numpyro.sample("sigma", dist.HalfCauchy(1))
    z = numpyro.sample("z", dist.Normal(0, 1).expand([len(y)]).to_event(1))
    phi = numpyro.deterministic("phi", 2 * u - 1)
    first = sigma * z[0] / jnp.sqrt((1 - phi) * (1 + phi))

    def step(before: Any, shock: Any) -> tuple[Any, Any]:
        after = phi * before + sigma * shock
        return after, after

    _, rest = jax.lax.scan(step, first, z[1:])
    h = numpyro.deterministic("h", mu + jnp.concatenate([first[None], rest]))
    numpyro.sample("y", dist.Normal(0, jnp.exp(h / 2)), obs=y)


MODELS: dict[str, Callable[..., None]] = {
    "logistic_regression": logistic_regression,
    "eight_schools": eight_schools,
    "neal": neal,
    "gaussian_process_regression": gaussian_process_regression,
    "log_gaussian_cox": log_gaussian_cox,
    "stochastic_volatility": stochastic_volatility,
}
