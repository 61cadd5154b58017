"""A log-Gaussian Cox process whose hyperparameters are sampled with its field, by FFT.

    n, m        cells, and torus points, along an axis: m is at least 2n and even
    s           area of a cell, 1/n^2
    y           counts                                               (n, n)
    z           white noise on the torus, standard normal            (chains, m, m)
    mu, w, b    mean, log variance and log length scale              (chains,)
    t           their distances from the prior's centre              (chains, 3)
    c           correlations on the torus, exp(-distance / (n e^b))  (m, m)
    r(b)        roots of the eigenvalues of c                        (chains, m, m/2 + 1)
    S           root of the circulant matrix of c: F^-1 diag(r) F, symmetric
    f           correlated field, the first n x n values of S z      (chains, n, n)
    x           log intensity, mu + e^(w/2) f                        (chains, n, n)
    u           slope of the log likelihood in x, y - s e^x          (chains, n, n)

    log p = sum(y x - s e^x) - (|z|^2 + |t|^2) / 2

Wang, Mohamed and de Freitas (2013), "Adaptive Hamiltonian and Riemann manifold Monte Carlo
samplers", section 5.2, samples the field with mu, sigma^2 = e^w and beta = e^b on 64 x 64 cells.
Circulant embedding: Dietrich and Newsam (1997), "Fast and exact simulation of stationary Gaussian
processes through circulant embedding of the covariance matrix", SIAM J. Sci. Comput. 18.

Deviations. The paper samples x itself, through a dense covariance matrix for every beta, and gives
no priors of the hyperparameters. Here they are normal with standard deviation 1 about the constants
of Girolami and Calderhead (2011), mu = log 126 - 1.91/2, w = log 1.91, b = log(1/33). The
covariance of the field is exact, but for rounding-like errors of `SOFTNESS`, where all eigenvalues
of c are positive: on a torus of 2n points, for lengths up to n/5 cells. For larger ones the few
negative eigenvalues, thousandths of the largest at most, fade out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from densities import Target
from scipy.fft import dctn, irfft2, rfft2

from probmodel.types import Array

VARIANCE, LENGTH = 1.91, 1.0 / 33.0
CENTRE = np.array([np.log(126.0) - VARIANCE / 2.0, np.log(VARIANCE), np.log(LENGTH)])
SOFTNESS = 1e-4  # where eigenvalues, of mean 1, bend into positive ones


class Roots(NamedTuple):
    """r(b), and its derivatives in b: (chains, m, m/2 + 1) each."""

    value: Array
    slope: Array
    curve: Array | None


class Point(NamedTuple):
    """What value, gradient and Hessian-vector products share at a point.

    Attributes
    ----------
    spectrum : (chains, m, m/2 + 1), F z
    roots : r and its derivatives
    scale : (chains,), e^(w/2)
    field, x, u : (chains, n, n)
    """

    spectrum: Array
    roots: Roots
    scale: Array
    field: Array
    x: Array
    u: Array


class JointCox(Target):
    """Log-Gaussian Cox process on n x n cells; a point is z, row by row, then t.

    Parameters
    ----------
    counts : (n, n), y
    torus : m; twice n if not given
    """

    def __init__(self, counts: Array, torus: int | None = None) -> None:
        self.counts = np.asarray(counts, dtype=float)
        self.n = len(self.counts)
        self.m = 2 * self.n if torus is None else torus
        super().__init__(self.m**2 + 3)
        lag = np.arange(self.m // 2 + 1)
        self.distance = np.hypot(lag[:, None], lag) / self.n
        self.mirrored = np.minimum(np.arange(self.m), self.m - np.arange(self.m))
        self.area = 1.0 / self.n**2

    def value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """Log density (chains,) and gradient (chains, dim), finite or not."""
        noise, t = self._split(x)
        p = self._point(noise, t)
        colored, bent = self._adjoint(p.u, p.roots)
        grad = np.empty_like(x)
        grad[:, :-3] = (p.scale[:, None, None] * colored - noise).reshape(len(x), -1)
        grad[:, -3:] = -t
        grad[:, -3] += _sum(p.u)
        grad[:, -2] += 0.5 * p.scale * _sum(p.u * p.field)
        grad[:, -1] += p.scale * _sum(bent * noise)
        likelihood = _sum(self.counts * p.x - self.area * np.exp(p.x))
        return likelihood - 0.5 * np.sum(x * x, axis=1), grad

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density at ``x`` times ``v``: (chains, dim) each.

        The gradient above, line by line, differentiated along ``v``.
        """
        noise, t = self._split(x)
        d_noise, dt = self._split(v)
        p = self._point(noise, t, curve=True)
        r, db = p.roots, dt[:, 2]
        dr = Roots(r.slope * _wide(db), r.curve * _wide(db), None)
        d_spectrum = rfft2(d_noise)
        d_field = self._crop(self._back(r.value * d_spectrum + dr.value * p.spectrum))
        d_scale = 0.5 * p.scale * dt[:, 1]
        dx = _wide(dt[:, 0]) + _wide(d_scale) * p.field + _wide(p.scale) * d_field
        du = -self.area * np.exp(p.x) * dx
        (colored, bent), (d_colored, d_bent) = self._adjoint(p.u, r), self._adjoint(du, r)
        more_colored, more_bent = self._adjoint(p.u, dr)
        out = np.empty_like(x)
        in_noise = _wide(d_scale) * colored + _wide(p.scale) * (d_colored + more_colored) - d_noise
        out[:, :-3] = in_noise.reshape(len(x), -1)
        out[:, -3:] = -dt
        out[:, -3] += _sum(du)
        turn = p.scale * _sum(du * p.field + p.u * d_field)
        out[:, -2] += 0.5 * (d_scale * _sum(p.u * p.field) + turn)
        change = (d_bent + more_bent) * noise + bent * d_noise
        out[:, -1] += d_scale * _sum(bent * noise) + p.scale * _sum(change)
        return out

    def log_intensity(self, x: Array) -> Array:
        """Field at points: (chains, dim) -> (chains, n, n)."""
        return self._point(*self._split(x)).x

    def simulate(self, rng: np.random.Generator) -> Array:
        """Draw a field at the constants of the paper: (n, n)."""
        x = np.concatenate([rng.standard_normal(self.dim - 3), np.zeros(3)])
        return self.log_intensity(x[None])[0]

    def _split(self, x: Array) -> tuple[Array, Array]:
        """White noise z, (chains, m, m), and t, (chains, 3)."""
        return x[:, :-3].reshape(len(x), self.m, self.m), x[:, -3:]

    def _point(self, noise: Array, t: Array, curve: bool = False) -> Point:
        mu, w, b = (CENTRE + t).T
        roots = self._roots(b, curve)
        spectrum = rfft2(noise)
        field = self._crop(self._back(roots.value * spectrum))
        scale = np.exp(0.5 * w)
        x = _wide(mu) + _wide(scale) * field
        return Point(spectrum, roots, scale, field, x, self.counts - self.area * np.exp(x))

    def _roots(self, b: Array, curve: bool) -> Roots:
        """Roots of the eigenvalues of c, and their derivatives in b.

        The correlations are even along both axes, so that their spectrum is a cosine transform. An
        eigenvalue l becomes (l + sqrt(l^2 + SOFTNESS^2)) / 2, which is l, or next to nothing.
        """
        q = self.distance * _wide(np.exp(-b))
        c = np.exp(-q)
        eigenvalues, slopes = dctn(np.stack([c, q * c]), type=1, axes=(2, 3))
        size = np.hypot(eigenvalues, SOFTNESS)
        positive = np.where(
            eigenvalues > 0.0,
            0.5 * (size + eigenvalues),
            0.5 * SOFTNESS**2 / (size - np.minimum(eigenvalues, 0.0)),
        )
        value = np.sqrt(positive)
        rate = 0.5 * slopes / size
        if not curve:
            return Roots(self._mirror(value), self._mirror(value * rate), None)
        curves = dctn((q * q - q) * c, type=1, axes=(1, 2))
        second = rate**2 * (1.0 - 2.0 * eigenvalues / size) + 0.5 * curves / size
        return Roots(*(self._mirror(value * factor) for factor in (1.0, rate, second)))

    def _mirror(self, quarter: Array) -> Array:
        """Even spectrum of a real transform from its quarter: (chains, m, m/2 + 1)."""
        return quarter[:, self.mirrored]

    def _adjoint(self, u: Array, roots: Roots) -> tuple[Array, Array]:
        """Multiply S and its slope in b by ``u``, zero outside the cells: (chains, m, m)."""
        padded = np.zeros((len(u), self.m, self.m))
        padded[:, : self.n, : self.n] = u
        spectrum = rfft2(padded)
        return self._back(roots.value * spectrum), self._back(roots.slope * spectrum)

    def _back(self, spectrum: Array) -> Array:
        return irfft2(spectrum, s=(self.m, self.m))

    def _crop(self, torus: Array) -> Array:
        return torus[:, : self.n, : self.n]


def _sum(a: Array) -> Array:
    """Sum over cells or torus points: (chains,)."""
    return a.sum(axis=(1, 2))


def _wide(a: Array) -> Array:
    """One number a chain, beside a grid: (chains, 1, 1)."""
    return a[:, None, None]
