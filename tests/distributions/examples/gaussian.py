"""Examples of Gaussian vectors, processes and fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from examples.case import BAD_SCALE, Case, normal_vector, symmetric
from probmodel import distributions as d
from probmodel.distributions import kernels

ROOT = np.array([[1.1, 0.0, 0.0], [0.4, 0.8, 0.0], [-0.3, 0.2, 1.4]])
ROOT_2 = np.array([[0.7, 0.0, 0.0], [-0.2, 1.2, 0.0], [0.5, 0.1, 0.9]])
COV, COV_2 = ROOT @ ROOT.T, ROOT_2 @ ROOT_2.T
NOT_PD = np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
BAD_ROOT = np.diag([1.0, -1.0, 1.0])
MEANS = (np.array([0.2, -0.1, 0.4]), np.array([-0.3, 0.5, 0.1]))


def ar1_moments(phi: float, sigma: float, mean: float) -> Any:
    t = np.arange(6)
    return np.full(6, mean), sigma**2 / (1 - phi**2) * phi ** abs(t[:, None] - t)


RHO = {
    kernels.ExpQuad: lambda s: np.exp(-0.5 * s**2),
    kernels.Exponential: lambda s: np.exp(-s),
    kernels.Matern32: lambda s: (1 + np.sqrt(3) * s) * np.exp(-np.sqrt(3) * s),
    kernels.Matern52: lambda s: (1 + np.sqrt(5) * s + 5 * s**2 / 3) * np.exp(-np.sqrt(5) * s),
}
POINTS = np.array([0.0, 0.7, 1.1, 2.4, 3.0])
PLANE = np.array([[0.0, 0.1], [1.0, 0.4], [0.3, 1.7], [2.0, 1.0]])
AXES = (np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.8]))
JITTER = 1e-3


def correlation(kernel: Any, x: Any, length_scale: float) -> Any:
    x = x.reshape(len(x), -1)
    distance = np.sqrt(((x[:, None] - x) ** 2).sum(-1))
    return RHO[kernel](distance / length_scale) + JITTER * np.eye(len(x))


def process(kernel: Any, points: Any = None, grid: Any = None) -> Case:
    dist = d.GaussianProcess(kernel(), points, grid=grid, jitter=JITTER)
    coordinates = (points,) if grid is None else grid
    shape = tuple(len(x) for x in coordinates)

    def moments(mean: Any, amplitude: float, length_scale: float, *axes: Any) -> Any:
        if len(axes) == 1:
            matrix = correlation(kernel, axes[0], length_scale)
        elif kernel is kernels.ExpQuad:
            matrix = np.kron(*(correlation(kernel, x, length_scale) for x in axes))
        else:
            mesh = np.array([[a, b] for a in axes[0] for b in axes[1]])
            matrix = correlation(kernel, mesh, length_scale)
        return mean.ravel(), amplitude**2 * matrix

    wave = np.sin(np.arange(np.prod(shape))).reshape(shape)
    params = [(0.3 + wave, 1.2, 0.9, *coordinates), (wave - 0.2, 0.8, 1.6, *coordinates)]
    fixed = tuple(range(4, 4 + len(coordinates)))
    bad = {1: BAD_SCALE, 2: BAD_SCALE}
    return normal_vector(dist, params, moments, shape, invalid=bad, fixed=fixed)


def noisy_process(kernel: Any, covariance: Any, params: Any, grid: Any = None) -> Case:
    """Process and noise, with a kernel of several parts."""
    coordinates = (POINTS,) if grid is None else grid
    where = {"points": POINTS} if grid is None else {"grid": grid}
    dist = d.GaussianProcess(kernel, **where, noise=0.5, jitter=JITTER)
    shape = tuple(len(x) for x in coordinates)
    mesh = np.stack([m.ravel() for m in np.meshgrid(*coordinates, indexing="ij")], axis=1)
    n = len(kernel.arguments)

    def moments(mean: Any, *rest: Any) -> Any:
        matrix = covariance(mesh, *rest[:n])
        added = JITTER * np.trace(matrix) / len(matrix) + rest[n].ravel() ** 2
        return mean.ravel(), matrix + added * np.eye(len(matrix))

    wave = np.sin(np.arange(np.prod(shape))).reshape(shape)
    first, second = params
    both = [
        (wave, *first, 0.5 + 0.1 * wave, *coordinates),
        (-wave, *second, 0.9 - 0.1 * wave, *coordinates),
    ]
    bad = {i: BAD_SCALE for i, (_, above) in enumerate(kernel.arguments.values(), 1) if above}
    bad[n + 1] = [np.full(shape, -0.5), np.full(shape, np.nan)]
    fixed = tuple(range(n + 3, n + 3 + len(coordinates)))
    return normal_vector(dist, both, moments, shape, invalid=bad, fixed=fixed)


def rational_and_linear(x: Any, a: Any, b: Any, c: Any, slope: Any, center: Any) -> Any:
    squares = ((x[:, None] - x) ** 2).sum(-1)
    lines = ((x[:, None] - center) * (x - center)).sum(-1)
    return a**2 * (1 + squares / (2 * b**2 * c)) ** -c + slope**2 * lines


def locally_periodic(x: Any, a: Any, b: Any, c: Any, e: Any, period: Any) -> Any:
    gaps = x[:, None] - x
    waves = (np.sin(np.pi * gaps / period) ** 2).sum(-1)
    return (a * c) ** 2 * np.exp(-0.5 * (gaps[..., 0] / b) ** 2 - 2 * waves / e**2)


CASES: dict[str, Case] = {
    "MvNormal": normal_vector(
        d.MvNormal(0, COV),
        [(MEANS[0], COV), (MEANS[1], COV_2)],
        lambda m, c: (m, c),
        (3,),
        invalid={1: [NOT_PD, np.full((3, 3), np.nan)]},
        tangent={2: symmetric},
    ),
    "MvNormal cholesky": normal_vector(
        d.MvNormal(0, cholesky=ROOT),
        [(MEANS[0], ROOT), (MEANS[1], ROOT_2)],
        lambda m, c: (m, c @ c.T),
        (3,),
        invalid={1: [BAD_ROOT, np.full((3, 3), np.nan), np.zeros((3, 3))]},
        tangent={2: np.tril},
    ),
    "MvNormal precision": normal_vector(
        d.MvNormal(0, precision=COV),
        [(MEANS[0], COV), (MEANS[1], COV_2)],
        lambda m, c: (m, np.linalg.inv(c)),
        (3,),
        invalid={1: [NOT_PD, np.full((3, 3), np.nan)]},
        tangent={2: symmetric},
    ),
    "AR1": normal_vector(
        d.AR1(0.5, 1),
        [(0.85, 0.6, 0.7), (-0.3, 1.4, -2.0)],
        ar1_moments,
        (6,),
        invalid={0: [1.0, -1.0, 1.5, -1.5, np.nan], 1: BAD_SCALE},
    ),
    "GaussianProcess ExpQuad": process(kernels.ExpQuad, POINTS),
    "GaussianProcess Exponential": process(kernels.Exponential, PLANE),
    "GaussianProcess Matern32": process(kernels.Matern32, POINTS),
    "GaussianProcess Matern52": process(kernels.Matern52, PLANE),
    "GaussianProcess Kronecker": process(kernels.ExpQuad, grid=AXES),
    "GaussianProcess dense grid": process(kernels.Matern52, grid=AXES),
    "GaussianProcess noise": noisy_process(
        kernels.RationalQuadratic() + kernels.Linear(),
        rational_and_linear,
        [(1.2, 0.9, 1.5, 0.4, 0.3), (0.6, 1.4, 0.5, 0.6, -0.7)],
    ),
    "GaussianProcess noise grid": noisy_process(
        kernels.ExpQuad(axes=0) * kernels.Periodic(),
        locally_periodic,
        [(0.7, 2.0, 1.3, 0.8, 1.6), (0.9, 1.0, 0.7, 1.2, 2.1)],
        AXES,
    ),
    "Affine of AR1": normal_vector(
        d.Affine(d.AR1(0.5, 1), loc=0, scale=1),
        [(0.85, 0.6, 0.3, 0.7, 1.3), (-0.3, 1.4, 0.0, -0.2, 0.8)],
        lambda phi, sigma, mean, m, s: (
            m + s * mean + np.zeros(6),
            s**2 * ar1_moments(phi, sigma, mean)[1],
        ),
        (6,),
        invalid={0: [1.0, -1.5], 1: BAD_SCALE, 4: BAD_SCALE},
    ),
}

NOT_NONCENTERED: set[str] = set()
NOT_INFORMED = {
    "AR1": ["phi", "sigma", "mean"],
    "Affine of AR1": ["dist.phi", "dist.sigma", "dist.mean", "loc", "scale"],
}
