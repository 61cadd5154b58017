"""Examples of Gaussian processes in bases: of eigenfunctions, and of waves on a torus."""

from __future__ import annotations

from math import gamma
from typing import Any

import numpy as np

from examples.case import BAD_SCALE, Case, normal_vector
from examples.gaussian import RHO
from probmodel import distributions as d
from probmodel.distributions import kernels

TIMES = np.array([0.0, 0.4, 1.1, 2.6, 3.0])
PLACES = np.array([[0.0, 0.1], [1.0, 0.4], [0.3, 1.7], [2.0, 1.0]])
JITTER = 1e-3
NU = {kernels.Exponential: 0.5, kernels.Matern32: 1.5, kernels.Matern52: 2.5}


def spectral_density(kernel: Any, omega: Any, length: float, axes: int) -> Any:
    """Spectral densities as in Riutort-Mayol et al. (2023), section 2.2, for any dimension."""
    if kernel is kernels.ExpQuad:
        return (np.sqrt(2 * np.pi) * length) ** axes * np.exp(-0.5 * (length * omega) ** 2)
    nu = NU[kernel]
    front = 2**axes * np.pi ** (axes / 2) * gamma(nu + axes / 2) * (2 * nu) ** nu
    inner = 2 * nu / length**2 + omega**2
    return front / (gamma(nu) * length ** (2 * nu)) * inner ** -(nu + axes / 2)


def hilbert(kernel: Any, points: Any, n_basis: Any) -> Case:
    dist = d.HilbertSpaceGP(kernel(), points, n_basis, 1.3)
    frequencies = dist.args["frequencies"]

    def moments(amplitude: float, length: float, frequencies: Any) -> Any:
        omega = np.sqrt((frequencies**2).sum(axis=1))
        density = spectral_density(kernel, omega, length, frequencies.shape[1])
        return np.zeros(len(omega)), amplitude**2 * np.diag(density)

    params = [(1.2, 0.9, frequencies), (0.8, 0.5, frequencies)]
    bad = {0: BAD_SCALE, 1: BAD_SCALE}
    return normal_vector(dist, params, moments, (len(frequencies),), invalid=bad, fixed=(3,))


def torus(kernel: Any, *grid: Any) -> Case:
    dist = d.CirculantGP(kernel(1.0, 0.1), grid, jitter=JITTER)
    distances = dist.args["distances"]
    shape = distances.shape

    def moments(amplitude: float, length: float, distances: Any) -> Any:
        places = np.array(list(np.ndindex(shape)))
        lags = (places[:, None] - places) % np.array(shape)
        matrix = RHO[kernel](distances[tuple(np.moveaxis(lags, -1, 0))] / length)
        return np.zeros(len(places)), amplitude**2 * (matrix + JITTER * np.eye(len(places)))

    params = [(1.2, 0.4, distances), (0.8, 0.7, distances)]
    bad = {0: BAD_SCALE, 1: BAD_SCALE}
    return normal_vector(dist, params, moments, shape, invalid=bad, fixed=(3,))


CASES: dict[str, Case] = {
    "HilbertSpaceGP ExpQuad": hilbert(kernels.ExpQuad, TIMES, 4),
    "HilbertSpaceGP Exponential": hilbert(kernels.Exponential, TIMES, 4),
    "HilbertSpaceGP Matern32": hilbert(kernels.Matern32, PLACES, (2, 3)),
    "HilbertSpaceGP Matern52": hilbert(kernels.Matern52, PLACES, 2),
    "CirculantGP Exponential": torus(kernels.Exponential, np.arange(3) * 0.5, np.arange(3) * 0.6),
    "CirculantGP Matern32": torus(kernels.Matern32, np.arange(4) * 1.0),
    "CirculantGP ExpQuad": torus(kernels.ExpQuad, np.arange(4) * 1.0),
}
NOT_NONCENTERED: set[str] = set()
NOT_INFORMED: dict[str, list[str]] = {}
