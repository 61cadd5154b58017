"""Posterior means of the gallery's models from elsewhere, to hold default runs against.

References are independent of the samplers where that is possible: self-normalised importance
sampling from a multivariate t distribution at the mode for the logistic regressions, the published
reference draws for eight schools; otherwise a long run of `fisher_mala` with a seed of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from probmodel import infer
from probmodel.density import ModelDensity
from probmodel.results.convergence import convergence
from probmodel.types import Array

FREEDOM = 30.0  # degrees of freedom of the proposals of importance sampling
LONG_SEED = 999

# Means and Monte Carlo errors of the reference draws eight_schools-eight_schools_noncentered of
# posteriordb (Magnusson et al., BSD 3-clause).
EIGHT_SCHOOLS = {
    "mu": (4.41052, 0.03303),
    "tau": (3.60206, 0.03200),
    "theta[0]": (6.15050, 0.05589),
    "theta[1]": (4.93958, 0.04634),
    "theta[2]": (3.90591, 0.05408),
    "theta[3]": (4.79602, 0.04765),
    "theta[4]": (3.61444, 0.04633),
    "theta[5]": (4.05115, 0.04849),
    "theta[6]": (6.31717, 0.04993),
    "theta[7]": (4.88400, 0.05426),
}


class Reference(NamedTuple):
    """Posterior means with their Monte Carlo standard errors.

    Attributes
    ----------
    names : of the quantities, as `flat` names them
    mean, error : (quantities,)
    """

    names: Sequence[str]
    mean: Array
    error: Array


def reference(density: ModelDensity, kind: str) -> Reference:
    """Return what is known of a posterior.

    Parameters
    ----------
    density : the posterior
    kind : "importance", for models without constrained parameters; "published", for eight schools;
        "long", for a long run
    """
    if kind == "published":
        mean, error = np.array(list(EIGHT_SCHOOLS.values())).T
        return Reference(list(EIGHT_SCHOOLS), mean, error)
    if kind == "importance":
        return importance(density)
    run = infer(
        density, "fisher_mala", chains=8, warmup=4000, draws=10_000, thin=5, seed=LONG_SEED,
        quiet=True,
    )  # fmt: skip
    names, draws = flat(run)
    return Reference(names, draws.mean(axis=(0, 1)), standard_error(draws))


def importance(density: ModelDensity, draws: int = 200_000) -> Reference:
    """Sample from a multivariate t distribution at the mode, and weigh the draws.

    The names are those of the coordinates, which have to be those of the parameters.
    """
    mode, factor = _mode(density)
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((draws, density.dim))
    z = noise * np.sqrt(FREEDOM / rng.chisquare(FREEDOM, draws))[:, None]
    x = mode + z @ factor.T
    log_q = -0.5 * (FREEDOM + density.dim) * np.log1p((z * z).sum(axis=1) / FREEDOM)
    log_p = np.concatenate([density.log_density(part) for part in np.array_split(x, 400)])
    weight = np.exp(log_p - log_q - (log_p - log_q).max())
    weight /= weight.sum()
    mean = weight @ x
    error = np.sqrt((weight**2) @ (x - mean) ** 2)
    return Reference(list(density.coordinate_names), mean, error)


def _mode(density: ModelDensity) -> tuple[Array, Array]:
    """Mode, and a root of the inverse of minus the Hessian there."""
    start = np.zeros(density.dim)
    # Coordinates in units of their rough scales, from the curvature at zero.
    scale = np.maximum(-np.diagonal(density.hessian(start[None])[0]), 1.0) ** -0.5

    def objective(z: Array) -> tuple[float, Array]:
        logp, grad = density((z * scale)[None])
        return -float(logp[0]), -grad[0] * scale

    found = minimize(objective, start, jac=True, method="BFGS", options={"gtol": 1e-6})
    mode = found.x * scale
    return mode, np.linalg.cholesky(np.linalg.inv(-density.hessian(mode[None])[0]))


def flat(run: Any) -> tuple[list[str], Array]:
    """Return the names and the draws of all variables of a result: (chains, draws, quantities)."""
    group = run["posterior"]
    names: list[str] = []
    columns = []
    for name in group.data_vars:
        values = np.asarray(group[name])
        columns.append(values.reshape(*values.shape[:2], -1))
        names += [f"{name}{list(i) if i else ''}" for i in np.ndindex(*values.shape[2:])]
    return names, np.concatenate(columns, axis=2)


def standard_error(draws: Array) -> Array:
    """Monte Carlo standard errors of the means: (chains, draws, quantities) -> (quantities,)."""
    ess = convergence(np.moveaxis(draws, 2, 0)).ess_bulk
    return draws.std(axis=(0, 1)) / np.sqrt(ess)


def distance(names: Sequence[str], draws: Array, known: Reference) -> float:
    """Return the largest distance of a mean from its reference, in combined standard errors."""
    position = {name: i for i, name in enumerate(names)}
    chosen = draws[:, :, [position[name] for name in known.names]]
    gap = np.abs(chosen.mean(axis=(0, 1)) - known.mean)
    return float(np.max(gap / np.hypot(standard_error(chosen), known.error)))
