"""Target distributions of the papers by name.

References
----------
Titsias (2023), *Optimal preconditioning and Fisher adaptive Langevin sampling* (gp100,
gauss2d_995, inhomogeneous, mnist, logistic regressions on raw inputs); Titsias and Dellaportas
(2019), *Gradient-based adaptive MCMC* (gauss51, gauss2d_99, neal100, caravan on standardised
inputs); Zhu (2019), *Sample adaptive MCMC* (mnist_7v9, census, covtype, linear); Hirt, Titsias and
Dellaportas (2021), *Entropy-based adaptive Hamiltonian Monte Carlo* (banana, and those of
`hamiltonian_targets` and `latent_targets`); Wang, Mohamed and de Freitas (2013), *Adaptive
Hamiltonian and Riemann manifold Monte Carlo samplers* (those too, and dexter).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from bnn import dexter_network
from datasets import LOGISTIC_DATA, logistic_data, simulated_linear_data
from densities import Banana, Gaussian
from hamiltonian_targets import HAMILTONIAN
from latent_targets import LATENT
from regressions import LaplaceLinear, Logistic

from probmodel.types import LogDensity


def gp100() -> Gaussian:
    """Gaussian process at 100 points of [1, 2], variance growing along the way; mean 1."""
    s = np.linspace(1.0, 2.0, 100)
    kernel = np.outer(s, s) * np.exp(-0.5 * (s[:, None] - s) ** 2 / 0.09)
    return Gaussian(np.ones(100), kernel + 0.001 * np.eye(100))


def gauss51() -> Gaussian:
    """Gaussian process at 51 points of [0, 4]; mean 0, eigenvalues 0.01 to 12.07."""
    s = np.linspace(0.0, 4.0, 51)
    kernel = np.exp(-0.5 * (s[:, None] - s) ** 2 / 0.16)
    return Gaussian(np.zeros(51), kernel + 0.01 * np.eye(51))


def gauss2d_99() -> Gaussian:
    """Two coordinates with correlation 0.99."""
    return Gaussian(np.zeros(2), np.array([[1.0, 0.99], [0.99, 1.0]]))


def gauss2d_995() -> Gaussian:
    """Two coordinates with correlation 0.995; mean 1."""
    return Gaussian(np.ones(2), np.array([[1.0, 0.995], [0.995, 1.0]]))


def neal100() -> Gaussian:
    """Independent coordinates with standard deviations 0.01, 0.02, ..., 1; mean 0."""
    return Gaussian(np.zeros(100), (0.01 * np.arange(1, 101)) ** 2)


def inhomogeneous() -> Gaussian:
    """`neal100` with mean 1."""
    return Gaussian(np.ones(100), (0.01 * np.arange(1, 101)) ** 2)


def logistic(name: str, *, standardise: bool = False) -> Logistic:
    """Logistic regression with prior N(0, I) on one of the classification sets."""
    return Logistic(*logistic_data(name, standardise=standardise))


GAUSSIANS: dict[str, Callable[[], Gaussian]] = {
    "gp100": gp100,
    "inhomogeneous": inhomogeneous,
    "neal100": neal100,
    "gauss51": gauss51,
    "gauss2d_99": gauss2d_99,
    "gauss2d_995": gauss2d_995,
}
OTHERS: dict[str, Callable[[], LogDensity]] = {
    "banana": Banana,
    "linear": lambda: LaplaceLinear(*simulated_linear_data()),
    "dexter": dexter_network,
    **HAMILTONIAN,
    **LATENT,
}
TARGETS: tuple[str, ...] = (*GAUSSIANS, *OTHERS, *LOGISTIC_DATA)


def make_target(name: str, *, standardise: bool = False) -> LogDensity:
    """Build a target by its name.

    ``standardise`` concerns the logistic regressions called like their data only.
    """
    if name in GAUSSIANS:
        return GAUSSIANS[name]()
    if name in OTHERS:
        return OTHERS[name]()
    if name in LOGISTIC_DATA:
        return logistic(name, standardise=standardise)
    raise ValueError(f"unknown target {name!r}; choose from {', '.join(TARGETS)}")
