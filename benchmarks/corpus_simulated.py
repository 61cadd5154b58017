"""Three models with starts far from the posterior, and data simulated with a fixed seed.

    ordered_mixture  three normal components with ordered means; some starts lead to a mode where
                     one component covers two groups, of a log density lower by 40
    moving_average   MA(1), whose errors grow without bounds where ``|theta|`` is above 1, as it is
                     at half of all uniform places: log densities go down to -1e100
    compartment      concentrations of a drug that is absorbed and eliminated (Michaelis and
                     Menten): a differential equation with half-Cauchy priors

The last has the form of ``one_comp_mm_elim_abs`` of posteriordb.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import solve_ivp

from probmodel import Model, data, deterministic, observed, param
from probmodel.constraints import Ordered
from probmodel.density import ModelDensity, as_posterior
from probmodel.distributions import (
    ARMA,
    Dirichlet,
    HalfCauchy,
    HalfNormal,
    LogNormal,
    Mixture,
    Normal,
)
from probmodel.functions import solve_ode
from probmodel.types import Array

SEED = 20
DOSE, VOLUME = 30.0, 2.0


class OrderedMixture(Model):
    """Three components, the means in order."""

    weight = param(Dirichlet(np.ones(3)))
    mu = param(Normal(0, 5), constraint=Ordered(), shape=3)
    sigma = param(HalfNormal(2), shape=3)
    y = observed(Mixture(weight, Normal(mu, sigma)), dims="obs")


class MovingAverage(Model):
    """Each error stays for another day."""

    mu = param(Normal(0, 5))
    theta = param(Normal(0, 2), shape=1)
    sigma = param(HalfNormal(2))
    y = observed(ARMA([0.0], theta, sigma, mu), dims="day")


def slope(t: Any, c: Any, k_a: Any, k_m: Any, v_m: Any) -> list[Any]:
    """Change of the concentration: absorption of a dose, and elimination that saturates."""
    absorbed = np.exp(-k_a * t) * DOSE * k_a / VOLUME
    return [absorbed - v_m / VOLUME * c[0] / (k_m + c[0])]


class Compartment(Model):
    """One compartment, with multiplicative errors of the measurements."""

    ts = data(dims="time")

    k_a = param(HalfCauchy(1))
    k_m = param(HalfCauchy(1))
    v_m = param(HalfCauchy(1))
    sigma = param(HalfCauchy(1))
    c = deterministic(solve_ode(slope, [0.0], 0, ts, k_a, k_m, v_m)[:, 0], dims="time")
    y = observed(LogNormal(np.log(c), sigma), dims="time")


def mixture_data(rng: np.random.Generator, truth: Mapping[str, Any]) -> dict[str, Array]:
    """300 draws."""
    group = rng.choice(3, size=300, p=truth["weight"])
    mu, sigma = (np.array(truth[name])[group] for name in ("mu", "sigma"))
    return {"y": rng.normal(mu, sigma)}


def moving_average_data(rng: np.random.Generator, truth: Mapping[str, Any]) -> dict[str, Array]:
    """200 days, after a quiet past."""
    errors = rng.normal(0.0, truth["sigma"], 200)
    before = np.concatenate([[0.0], errors[:-1]])
    return {"y": truth["mu"] + errors + truth["theta"][0] * before}


def compartment_data(rng: np.random.Generator, truth: Mapping[str, Any]) -> dict[str, Array]:
    """20 measurements, every half hour, of SciPy's solution."""
    ts = 0.5 * np.arange(1, 21)
    rates = [truth[name] for name in ("k_a", "k_m", "v_m")]
    solved = solve_ivp(slope, (0.0, ts[-1]), [0.0], t_eval=ts, args=rates, rtol=1e-10, atol=1e-12)
    return {"ts": ts, "y": rng.lognormal(np.log(solved.y[0]), truth["sigma"])}


class Simulated(NamedTuple):
    """A model with its data.

    Attributes
    ----------
    model : the class
    truth : values of the parameters
    simulate : makes data from a generator and these values
    """

    model: type[Model]
    truth: Mapping[str, Any]
    simulate: Callable[[np.random.Generator, Mapping[str, Any]], dict[str, Array]]

    def build(self) -> ModelDensity:
        """Compile the posterior."""
        return as_posterior(self.model(**self.simulate(np.random.default_rng(SEED), self.truth)))


SIMULATED = {
    "ordered_mixture": Simulated(
        OrderedMixture,
        {"weight": [0.3, 0.3, 0.4], "mu": [-6.0, -2.0, 4.0], "sigma": [0.9, 0.9, 1.0]},
        mixture_data,
    ),
    "moving_average": Simulated(
        MovingAverage, {"mu": 1.0, "theta": [0.6], "sigma": 1.0}, moving_average_data
    ),
    "compartment": Simulated(
        Compartment, {"k_a": 0.75, "k_m": 0.25, "v_m": 1.0, "sigma": 0.1}, compartment_data
    ),
}
