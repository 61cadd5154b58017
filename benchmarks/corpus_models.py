"""Models of Stan users with their data, as they wrote them: centred where theirs are.

`MODELS` has them by their names in posteriordb or in Stan's example models
(github.com/stan-dev/posteriordb and github.com/stan-dev/example-models, BSD 3-clause), written in
the package's own language. The densities are those of the programs; names of data are those of the
files in ``data/corpus``, which `build` binds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from corpus_series import MixtureOfMany, MixtureOfTwo, Recaptures, RoadDeaths
from scipy.special import expit

from probmodel import Model, data, deterministic, observed, param, potential, read_data
from probmodel.constraints import Correlation
from probmodel.density import ModelDensity, as_posterior
from probmodel.distributions import (
    Bernoulli,
    BernoulliLogit,
    BinomialLogit,
    Exponential,
    Gamma,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    LKJCholesky,
    Logistic,
    MvNormal,
    Normal,
    Poisson,
    PoissonLog,
    StudentT,
    Uniform,
)

DATA = Path(__file__).resolve().parent / "data" / "corpus"


def build(name: str) -> ModelDensity:
    """Compile one of `MODELS` with its data."""
    return as_posterior(MODELS[name](**read_data(DATA / f"{name}.npz")))


# -- groups of counts and of binary outcomes ------------------------------------------------------


def with_interaction(alpha: Any, x1: Any, x2: Any) -> Any:
    """Two inputs and their product, with an intercept."""
    return alpha[0] + alpha[1] * x1 + alpha[2] * x2 + alpha[3] * x1 * x2


class Seeds(Model):
    """Germinated seeds with an effect of each plate, BUGS Examples I; vague priors."""

    N = data(dims="plate", dtype=int)
    x1 = data(dims="plate")
    x2 = data(dims="plate")

    alpha = param(Normal(0, 1e3), shape=4)
    tau = param(Gamma(1e-3, 1e-3))
    sigma = deterministic(1 / np.sqrt(tau))
    b = param(Normal(0, sigma), dims="plate")

    n = observed(BinomialLogit(N, with_interaction(alpha, x1, x2) + b), dims="plate")


class SeedsCentred(Model):
    """The same with effects less their mean, and a half-Cauchy prior of their deviation."""

    N = data(dims="plate", dtype=int)
    x1 = data(dims="plate")
    x2 = data(dims="plate")

    alpha = param(Normal(0, 1), shape=4)
    sigma = param(HalfCauchy(1))
    c = param(Normal(0, sigma), dims="plate")
    b = deterministic(c - np.mean(c))

    n = observed(BinomialLogit(N, with_interaction(alpha, x1, x2) + b), dims="plate")


class ItemResponse(Model):
    """Answers of persons ``jj`` to items ``ii``: two parameters an item, which are correlated."""

    ii = data(dims="obs", dtype=int)
    jj = data(dims="obs", dtype=int)
    I = data(dtype=int)  # noqa: E741
    J = data(dtype=int)

    mu = param(Normal(0, [1, 5]))
    tau = param(Exponential(0.1), shape=2)
    L = param(LKJCholesky(4), shape=(2, 2))
    xi = param(MvNormal(mu, cholesky=tau[:, None] * L), shape=(I, 2))
    theta = param(Normal(0, 1), shape=J)
    alpha = deterministic(np.exp(xi[:, 0]))  # discrimination
    beta = deterministic(xi[:, 1])  # difficulty
    y = observed(BernoulliLogit(alpha[ii] * (theta[jj] - beta[ii])), dims="obs")


class Dogs(Model):
    """Dogs that learn to avoid a shock: what earlier shocks and avoidances leave, by dog."""

    shock = data(dims=("dog", "trial"))  # before the trial
    avoid = data(dims=("dog", "trial"))

    mu = param(Logistic(0, 1), shape=2)
    sigma = param(HalfNormal(1), shape=2)
    L = param(LKJCholesky(2), shape=(2, 2))
    z = param(Normal(0, 1), dims=("dog", "ab"))
    logits = mu + z @ (sigma[:, None] * L)
    a = deterministic(expit(logits[:, 0]))
    b = deterministic(expit(logits[:, 1]))
    y = observed(Bernoulli(a[:, None] ** shock * b[:, None] ** avoid), dims=("dog", "trial"))


def cubic(alpha: Any, beta: Any, x: Any) -> Any:
    """Polynomial of the third degree."""
    return alpha + beta[0] * x + beta[1] * x**2 + beta[2] * x**3


class PoissonTrend(Model):
    """Counts of peregrine falcons by year: a cubic trend of their log (Kery and Schaub 2012)."""

    year = data(dims="t")

    alpha = param(lower=-20, upper=20)
    beta = param(lower=-10, upper=10, shape=3)
    log_lambda = deterministic(cubic(alpha, beta, year))
    C = observed(PoissonLog(log_lambda), dims="t")


class PoissonTrendWithYears(Model):
    """The same with an effect of each year."""

    year = data(dims="t")

    alpha = param(Uniform(-20, 20))
    beta = param(Uniform(-10, 10), shape=3)
    sigma = param(Uniform(0, 5))
    eps = param(Normal(0, sigma), dims="t")
    C = observed(PoissonLog(cubic(alpha, beta, year) + eps), dims="t")


class Pumps(Model):
    """Failures of pumps in a power plant, BUGS Examples I."""

    t = data(dims="pump")  # hours of operation, in thousands

    alpha = param(Exponential(1))
    beta = param(Gamma(0.1, 1))
    theta = param(Gamma(alpha, beta), dims="pump")
    x = observed(Poisson(theta * t), dims="pump")


class Alligators(Model):
    """What alligators of two sizes eat in four lakes, BUGS Examples II, as Poisson counts."""

    zero = data(dims="one")  # the effect of the first food

    alpha0 = param(Normal(0, 320), shape=4)
    beta0 = param(Normal(0, 320), shape=(3, 4))
    gamma0 = param(Normal(0, 320), shape=(1, 4))
    lam = param(Normal(0, 320), shape=(4, 2))
    alpha = np.concatenate([zero, alpha0])
    of_lakes = np.concatenate([np.zeros((1, 4)), beta0], axis=0)
    beta = np.concatenate([np.zeros((4, 1)), of_lakes], axis=1)
    of_sizes = np.concatenate([np.zeros((1, 4)), gamma0], axis=0)
    gamma = np.concatenate([np.zeros((2, 1)), of_sizes], axis=1)
    log_rate = lam[:, :, None] + alpha + beta[:, None, :] + gamma
    X = observed(PoissonLog(log_rate), dims=("lake", "size", "food"))


class Seizures(Model):
    """Epileptic seizures, with effects of patients and of visits, BUGS Examples I."""

    base = data(dims="patient")
    trt = data(dims="patient")
    BT = data(dims="patient")
    age = data(dims="patient")
    V4 = data(dims="visit")

    a0 = param(Normal(0, 100))
    alpha_base = param(Normal(0, 100))
    alpha_trt = param(Normal(0, 100))
    alpha_bt = param(Normal(0, 100))
    alpha_age = param(Normal(0, 100))
    alpha_v4 = param(Normal(0, 100))
    sigmasq_b = param(InverseGamma(0.001, 0.001))
    sigmasq_b1 = param(InverseGamma(0.001, 0.001))
    b1 = param(Normal(0, np.sqrt(sigmasq_b1)), dims="patient")
    b = param(Normal(0, np.sqrt(sigmasq_b)), dims=("patient", "visit"))
    of_patient = a0 + alpha_base * base + alpha_trt * trt + alpha_bt * BT + alpha_age * age + b1
    y = observed(PoissonLog(of_patient[:, None] + alpha_v4 * V4 + b), dims=("patient", "visit"))


# -- groups of measurements -----------------------------------------------------------------------


class RadonByCounty(Model):
    """Log radon in 12,573 houses of the United States: a mean of each county."""

    county = data(dims="obs", dtype=int)
    J = data(dtype=int)

    mu_a = param(Normal(0, 1))
    sigma_a = param(lower=0, upper=100)
    sigma_y = param(lower=0, upper=100)
    a = param(Normal(mu_a, sigma_a), shape=J)
    y = observed(Normal(a[county], sigma_y), dims="obs")


class RadonIntercepts(Model):
    """Radon in Minnesota: intercepts by county, with floor and uranium as inputs."""

    county = data(dims="obs", dtype=int)
    u = data(dims="obs")
    floor = data(dims="obs")
    J = data(dtype=int)

    mu_alpha = param(Normal(0, 10))
    sigma_alpha = param(HalfNormal(1))
    sigma_y = param(HalfNormal(1))
    beta = param(Normal(0, 10), shape=2)
    alpha = param(Normal(mu_alpha, sigma_alpha), shape=J)
    y = observed(Normal(alpha[county] + beta[0] * u + beta[1] * floor, sigma_y), dims="obs")


class RadonSlopes(Model):
    """Radon in Minnesota: intercepts and effects of the floor by county."""

    county = data(dims="obs", dtype=int)
    floor = data(dims="obs")
    J = data(dtype=int)

    sigma_y = param(HalfNormal(1))
    sigma_alpha = param(HalfNormal(1))
    sigma_beta = param(HalfNormal(1))
    mu_alpha = param(Normal(0, 10))
    mu_beta = param(Normal(0, 10))
    alpha = param(Normal(mu_alpha, sigma_alpha), shape=J)
    beta = param(Normal(mu_beta, sigma_beta), shape=J)
    y = observed(Normal(alpha[county] + floor * beta[county], sigma_y), dims="obs")


class RadonWishart(Model):
    """Radon with scaled coefficients and a Wishart prior (Gelman and Hill 2007, section 17.2).

    The precision matrix is restricted to correlations, where the density of Wishart(3, I) is
    constant. One pair of coefficients stands for those of all counties.
    """

    x = data(dims="obs")
    u = data(dims="area")

    sigma = param(lower=0)
    mu_a = param(Normal(0, 100))
    mu_b = param(Normal(0, 100))
    xi_a = param(Uniform(0, 100))
    xi_b = param(Uniform(0, 100))
    Tau = param(constraint=Correlation(), shape=(2, 2))
    B = param(shape=2)
    deviation = B - np.stack([xi_a * mu_a * (1 + u), xi_b * mu_b * (1 + u)], axis=1)
    squares = np.sum((deviation @ Tau) * deviation, axis=1)
    of_counties = potential(-0.5 * squares + 0.5 * np.log(1 - Tau[0, 1] ** 2))
    y = observed(Normal(xi_a * B[0] + xi_b * B[1] * x, sigma), dims="obs")


class ElectricCompany(Model):
    """Test scores of pairs of classes, one of which watched television, non-centred."""

    pair = data(dims="obs", dtype=int)
    treatment = data(dims="obs")
    n_pair = data(dtype=int)

    mu_a = param(Normal(0, 1))
    beta = param(Normal(0, 1))
    sigma_a = param(lower=0, upper=100)
    sigma_y = param(lower=0, upper=100)
    a = param(Normal(100 * mu_a, sigma_a), shape=n_pair, noncentered=True)
    y = observed(Normal(a[pair] + beta * treatment, sigma_y), dims="obs")


class Hiv(Model):
    """Immune cells of children with HIV: lines whose coefficients vary by child, non-centred."""

    person = data(dims="obs", dtype=int)
    time = data(dims="obs")
    J = data(dtype=int)

    mu_a1 = param(Normal(0, 1))
    mu_a2 = param(Normal(0, 1))
    sigma_a1 = param(lower=0, upper=100)
    sigma_a2 = param(lower=0, upper=100)
    sigma_y = param(lower=0, upper=100)
    a1 = param(Normal(mu_a1, sigma_a1), shape=J, noncentered=True)
    a2 = param(Normal(0.1 * mu_a2, sigma_a2), shape=J, noncentered=True)
    y = observed(Normal(a1[person] + a2[person] * time, sigma_y), dims="obs")


class Hepatitis(Model):
    """Antibodies after a vaccination, with an error in the first of them, BUGS Examples III."""

    tvec = data(dims="obs")
    idx = data(dims="obs", dtype=int)
    y0_mean = data()

    sigmasq_y = param(InverseGamma(0.001, 0.001))
    sigmasq_alpha = param(InverseGamma(0.001, 0.001))
    sigmasq_beta = param(InverseGamma(0.001, 0.001))
    sigma_mu0 = param(InverseGamma(0.001, 0.001))
    gamma = param(Normal(0, 1000))
    alpha0 = param(Normal(0, 1000))
    beta0 = param(Normal(0, 1000))
    theta = param(Normal(0, 1000))
    mu0 = param(Normal(theta, sigma_mu0), dims="child")
    alpha = param(Normal(alpha0, np.sqrt(sigmasq_alpha)), dims="child")
    beta = param(Normal(beta0, np.sqrt(sigmasq_beta)), dims="child")
    sigma_y = deterministic(np.sqrt(sigmasq_y))
    growth = alpha[idx] + beta[idx] * (tvec - 6.5)
    Yvec1 = observed(Normal(growth + gamma * (mu0[idx] - y0_mean), sigma_y), dims="obs")
    y0 = observed(Normal(mu0, sigma_y), dims="child")


class WorldCup(Model):
    """Abilities of the teams of the World Cup 2014, from roots of the differences in goals."""

    prior_score = data(dims="team")
    team_1 = data(dims="game", dtype=int)
    team_2 = data(dims="game", dtype=int)
    df = data()
    b = data()

    alpha = param(Normal(0, 1), dims="team")
    sigma_a = param(lower=0)
    sigma_y = param(lower=0)
    a = deterministic(b * prior_score + sigma_a * alpha)
    sqrt_dif = observed(StudentT(df, a[team_1] - a[team_2], sigma_y), dims="game")


MODELS: dict[str, type[Model]] = {
    "seeds_model": Seeds,
    "hier_2pl": ItemResponse,
    "radon_county": RadonByCounty,
    "GLM_Poisson_model": PoissonTrend,
    "GLMM_Poisson_model": PoissonTrendWithYears,
    "seeds_centered_model": SeedsCentred,
    "state_space_stochastic_level_stochastic_seasonal": RoadDeaths,
    "normal_mixture_k": MixtureOfMany,
    "radon_hierarchical_intercept_centered": RadonIntercepts,
    "normal_mixture": MixtureOfTwo,
    "dogs_nonhierarchical": Dogs,
    "radon_variable_intercept_slope_centered": RadonSlopes,
    "pump": Pumps,
    "electric_chr": ElectricCompany,
    "alli2": Alligators,
    "radon_wishart_17.2": RadonWishart,
    "hiv_chr": Hiv,
    "epil": Seizures,
    "worldcup_first_try_noprior": WorldCup,
    "cjs_group": Recaptures,
    "hepatitisME": Hepatitis,
}
