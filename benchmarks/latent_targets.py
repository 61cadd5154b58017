"""Latent Gaussian models of the two papers on adaptive Hamiltonian samplers.

    cox_8, cox_16, cox_64      log-Gaussian Cox processes on n x n cells, hyperparameters fixed
    cox_joint_16, _64          the same with mean, variance and length scale, see `joint_cox`
    volatility_2000            stochastic volatility of WMF13, 2000 simulated returns
    volatility_sp500           stochastic volatility of HTD21, ten years of the S&P 500

WMF13 is Wang, Mohamed and de Freitas (2013), *Adaptive Hamiltonian and Riemann manifold Monte Carlo
samplers*; HTD21 is Hirt, Titsias and Dellaportas (2021), *Entropy-based adaptive Hamiltonian Monte
Carlo*. The models are written in the package's own language, the gallery's where it has them; data
are simulated from them with fixed seeds.

Where the papers are silent or differ from the authors' programs:

* Cells of the Cox process have the width 1/n. Both papers print a length scale of n/33 cells. On
  the small grids the program of HTD21 has n^2/33 cells, without which neighbours are all but
  independent; so have `cox_8` and `cox_16`.
* `volatility_sp500` has returns in per cent, 2515 where the paper has 2516, and the log of sigma
  where the paper has the inverse of softplus.
* WMF13 does not say how its returns were simulated: Girolami and Calderhead (2011) have
  beta = 0.65, phi = 0.98, sigma = 0.15.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joint_cox import VARIANCE, JointCox

from probmodel import load_model, read_data, simulate
from probmodel.density import ModelDensity
from probmodel.distributions import AR1, GaussianProcess, Normal, PoissonLog, kernels
from probmodel.model import Model, data, observed, param, potential
from probmodel.types import Array, LogDensity

GALLERY = Path(__file__).resolve().parents[1] / "models"
COX_SEED, VOLATILITY_SEED = 2021, 2013
PLOT = 10.0  # width of the gallery's plot, whose length scale is 10/33
TRUE_VOLATILITY = (0.65, 0.98, 0.15)  # beta, phi, sigma


class KimVolatility(Model):
    """Stochastic volatility on the unconstrained scales of WMF13, which are those of its priors.

    ``beta = exp(b)`` has density 1/beta, ``phi = tanh(a)`` with (phi + 1)/2 ~ Beta(20, 1.5), and
    ``sigma = exp(g)`` with sigma^2 ~ scaled inverse chi^2(10, 0.05). The potentials are the priors
    with the Jacobians of these maps.
    """

    b = param()
    a = param()
    g = param()
    phi = np.tanh(a)
    h = param(AR1(phi, np.exp(g)), dims="day")

    in_phi = potential(20.0 * np.log1p(phi) + 1.5 * np.log1p(-phi))
    in_sigma = potential(-10.0 * g - 0.25 * np.exp(-2.0 * g))

    y = observed(Normal(0, np.exp(b + 0.5 * h)), dims="day")


class WhiteCox(Model):
    """Cox process of the gallery, sampled by the white noise that drives its field."""

    northing = data(dims="row")
    easting = data(dims="column")
    share = data(lower=0)

    covariance = kernels.Exponential(np.sqrt(VARIANCE), length_scale=10 / 33)
    x = param(
        GaussianProcess(covariance, grid=(northing, easting), mean=np.log(126) - VARIANCE / 2),
        dims=("row", "column"),
        noncentered=True,
    )

    y = observed(PoissonLog(np.log(share) + x), dims=("row", "column"))


def cox_inputs(n: int, *, cells: float | None = None) -> dict[str, Any]:
    """Axes and cell size of the gallery's Cox process on n x n cells.

    Parameters
    ----------
    n : rows, and columns
    cells : length scale of the process in cells; n/33 if not given
    """
    width = PLOT / 33.0 / (n / 33.0 if cells is None else cells)
    axis = width * np.arange(n)
    return {"northing": axis, "easting": axis, "share": 1.0 / n**2}


def length_in_cells(n: int) -> float:
    """Length scale of the grids of the papers; see the file's own text."""
    return n / 33.0 if n > 16 else n**2 / 33.0


def cox_process(n: int, cells: float | None = None, seed: int = COX_SEED) -> ModelDensity:
    """Log-Gaussian Cox process of the gallery on n x n cells with counts simulated from it."""
    model = load_model(GALLERY / "log_gaussian_cox.py")
    inputs = cox_inputs(n, cells=length_in_cells(n) if cells is None else cells)
    drawn = simulate(model(**inputs), {}, seed=seed)
    return ModelDensity(model(**inputs, y=drawn["y"]))


def white_cox(n: int) -> ModelDensity:
    """Return `cox_process` of n x n cells in white noise, on the counts of `cox_counts`."""
    return ModelDensity(WhiteCox(**cox_inputs(n), y=cox_counts(n).astype(int)))


def cox_counts(n: int, seed: int = COX_SEED) -> Array:
    """Simulate counts in n x n cells at the constants of WMF13: (n, n), and quickly."""
    rng, field = _cox_field(n, seed)
    return rng.poisson(np.exp(field) / n**2).astype(float)


def true_cox_field(n: int, seed: int = COX_SEED) -> Array:
    """Log intensity that `cox_counts` are drawn from: (n, n)."""
    return _cox_field(n, seed)[1]


def _cox_field(n: int, seed: int) -> tuple[np.random.Generator, Array]:
    """Draw a field, and return it with the generator behind it."""
    rng = np.random.default_rng(seed)
    return rng, JointCox(np.zeros((n, n))).simulate(rng)


def joint_cox(n: int) -> JointCox:
    """Cox process of WMF13 with field, mean, variance and length scale sampled together."""
    return JointCox(cox_counts(n))


def simulated_returns(days: int, seed: int = VOLATILITY_SEED) -> Array:
    """Simulate returns of the stochastic volatility model at `TRUE_VOLATILITY`: (days,)."""
    beta, phi, sigma = TRUE_VOLATILITY
    rng = np.random.default_rng(seed)
    h = AR1(phi, sigma).sample(rng, (days,), *(np.asarray(p) for p in (phi, sigma, 0.0)))
    return beta * np.exp(0.5 * h) * rng.standard_normal(days)


def volatility_wmf13(days: int = 2000) -> ModelDensity:
    """Stochastic volatility of WMF13 on simulated returns."""
    return ModelDensity(KimVolatility(y=simulated_returns(days)))


def volatility_sp500() -> ModelDensity:
    """Stochastic volatility of the gallery on ten years of the S&P 500."""
    model = load_model(GALLERY / "stochastic_volatility_centered.py")
    return ModelDensity(model(**read_data(GALLERY / "data" / "sp500.csv")))


LATENT: dict[str, Callable[[], LogDensity]] = {
    **{f"cox_{n}": partial(cox_process, n) for n in (8, 16, 64)},
    **{f"cox_joint_{n}": partial(joint_cox, n) for n in (16, 64)},
    "volatility_2000": volatility_wmf13,
    "volatility_sp500": volatility_sp500,
}
