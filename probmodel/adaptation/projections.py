"""Parametric forms of a mass matrix root: gradients from outer products, and parameter updates.

    C        root of the inverse mass matrix                     (dim, dim), as a map
    theta    its parameters                                      one array
    l, r     factors of a gradient in C, the sum of l r'         rows of (n, dim)

    form          C                           theta                                   log|det C|
    Diagonal      diag(c)                     c, (dim,)                               sum log|c|
    Lower         lower triangular            C, (dim, dim)                           sum log|C_ii|
    Bidiagonal    B^-1, B upper bidiagonal    diagonal b, then e above, (2 dim - 1,)  -sum log|b|

Parameters can take two kinds of steps. Additive ones change theta itself. Relative ones change it
in units of C: ``C <- C (I + A)`` for a lower triangular (or diagonal) A, so that their size means
the same whatever the scales and correlations of the target; for a bidiagonal B the rows are
multiplied, and e is moved in units of the spread of the coordinate that it multiplies.

    Hirt, Titsias and Dellaportas (2021), "Entropy-based adaptive Hamiltonian Monte Carlo",
    section 3; the relative steps are this package's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from probmodel.numerics.linalg import solve_bidiagonal
from probmodel.types import Array

LONGEST = 0.1  # spectral norm of a relative step of a matrix
POWERS = 4  # of A'A, for that norm
FLOOR = 1e-3  # of the diagonal of theta after an additive step, where it started at one or above


class Products(NamedTuple):
    """C as a map: functions of rows (n, dim) that return C v and C'v for each row v."""

    times: Callable[[Array], Array]
    transposed: Callable[[Array], Array]


class Form(ABC):
    """How C depends on theta."""

    @abstractmethod
    def start(self, scale: float, dim: int) -> Array:
        """Return theta of ``scale`` times the identity."""

    @abstractmethod
    def random_start(self, rng: np.random.Generator, scale: float, dim: int) -> Array:
        """Return a random theta of about that scale, as in the paper's experiments."""

    @abstractmethod
    def products(self, theta: Array) -> Products:
        """Return C as a map."""

    @abstractmethod
    def project(self, theta: Array, left: Array, right: Array) -> Array:
        """Gradient in theta of a function whose gradient in C is the sum of ``l r'``."""

    @abstractmethod
    def log_det(self, theta: Array) -> float:
        """Logarithm of the absolute determinant of C."""

    @abstractmethod
    def log_det_gradient(self, theta: Array) -> Array:
        """Gradient of `log_det`."""

    @abstractmethod
    def relative(self, theta: Array, gradient: Array) -> Array:
        """Gradient in the relative step, from that in theta."""

    @abstractmethod
    def move(self, theta: Array, step: Array) -> Array:
        """Take a relative step."""

    @abstractmethod
    def diagonal(self, theta: Array) -> Array:
        """Return the entries of theta that must not become zero, as a view."""

    def add(self, theta: Array, step: Array, floor: float) -> Array:
        """Take an additive step, which leaves no `diagonal` smaller than ``floor``."""
        new = theta + step
        entries = self.diagonal(new)
        entries[:] = np.copysign(np.maximum(np.abs(entries), floor), entries)
        return new


class Diagonal(Form):
    """C = diag(theta)."""

    def start(self, scale: float, dim: int) -> Array:
        """Return ``scale`` for every coordinate."""
        return np.full(dim, scale)

    def random_start(self, rng: np.random.Generator, scale: float, dim: int) -> Array:
        """Return absolute values of normal numbers."""
        return scale * np.abs(rng.standard_normal(dim))

    def products(self, theta: Array) -> Products:
        """Return C as a map."""
        return Products(lambda v: v * theta, lambda v: v * theta)

    def project(self, theta: Array, left: Array, right: Array) -> Array:
        """Return the diagonal of the sum."""
        return np.einsum("ij,ij->j", left, right)

    def log_det(self, theta: Array) -> float:
        """Logarithm of the absolute determinant."""
        return float(np.sum(np.log(np.abs(theta))))

    def log_det_gradient(self, theta: Array) -> Array:
        """Return 1/c."""
        return 1.0 / theta

    def relative(self, theta: Array, gradient: Array) -> Array:
        """Gradient in the logarithms of c."""
        return theta * gradient

    def move(self, theta: Array, step: Array) -> Array:
        """Add to the logarithms of c."""
        return np.asarray(theta * np.exp(step))

    def diagonal(self, theta: Array) -> Array:
        """Return all of theta."""
        return theta


class Lower(Form):
    """C is theta, a lower triangular matrix."""

    def start(self, scale: float, dim: int) -> Array:
        """Return ``scale`` times the identity."""
        return scale * np.eye(dim)

    def random_start(self, rng: np.random.Generator, scale: float, dim: int) -> Array:
        """Return a diagonal of absolute values of normal numbers."""
        return np.diag(scale * np.abs(rng.standard_normal(dim)))

    def products(self, theta: Array) -> Products:
        """Return C as a map."""
        return Products(lambda v: v @ theta.T, lambda v: v @ theta)

    def project(self, theta: Array, left: Array, right: Array) -> Array:
        """Return the lower triangle of the sum, by one matrix product."""
        return np.tril(left.T @ right)

    def log_det(self, theta: Array) -> float:
        """Logarithm of the absolute determinant."""
        return float(np.sum(np.log(np.abs(self.diagonal(theta)))))

    def log_det_gradient(self, theta: Array) -> Array:
        """Return the inverse of the diagonal of C: all that C^-T has in the lower triangle."""
        return np.diag(1.0 / self.diagonal(theta))

    def relative(self, theta: Array, gradient: Array) -> Array:
        """Gradient in A of C (I + A); the upper triangle of ``gradient`` has no part in it."""
        return np.tril(theta.T @ gradient)

    def move(self, theta: Array, step: Array) -> Array:
        """Multiply C by I + A, with exponentials on the diagonal, which keep the sign of C's.

        A is shortened to a norm of `LONGEST`: a step of which many entries have one pattern is
        long, and I + A with a long A below the diagonal is nearly singular.
        """
        step = step * min(1.0, LONGEST / max(_norm(step), LONGEST))
        factor = np.tril(step, -1)
        self.diagonal(factor)[:] = np.exp(np.diagonal(step))
        return np.asarray(theta @ factor)

    def diagonal(self, theta: Array) -> Array:
        """Return the diagonal of C."""
        return np.einsum("ii->i", theta)


class Bidiagonal(Form):
    """C = B^-1; theta holds the diagonal of B and then what is above it."""

    def start(self, scale: float, dim: int) -> Array:
        """Return a diagonal B."""
        return np.concatenate([np.full(dim, 1.0 / scale), np.zeros(dim - 1)])

    def random_start(self, rng: np.random.Generator, scale: float, dim: int) -> Array:
        """Return one b for all coordinates, within some 5 %, and e of about 1 % of it."""
        b = abs(1.0 + 0.05 * rng.standard_normal())
        return np.concatenate([np.full(dim, b), 0.01 * rng.standard_normal(dim - 1)]) / scale

    def products(self, theta: Array) -> Products:
        """Return C as a map, by banded solves."""
        b, e = split(theta)
        return Products(
            lambda v: solve_bidiagonal(b, e, v),
            lambda v: solve_bidiagonal(b, e, v, transposed=True),
        )

    def project(self, theta: Array, left: Array, right: Array) -> Array:
        """Return the band of ``-(C'l) (C r)'``, because dC = -C dB C."""
        times, transposed = self.products(theta)
        a, c = transposed(left), times(right)
        band = np.einsum("ij,ij->j", a, c), np.einsum("ij,ij->j", a[:, :-1], c[:, 1:])
        return -np.concatenate(band)

    def log_det(self, theta: Array) -> float:
        """Logarithm of the absolute determinant of C."""
        return -float(np.sum(np.log(np.abs(self.diagonal(theta)))))

    def log_det_gradient(self, theta: Array) -> Array:
        """Return -1/b, and zeros for e."""
        b, e = split(theta)
        return np.concatenate([-1.0 / b, np.zeros(len(e))])

    def relative(self, theta: Array, gradient: Array) -> Array:
        """Gradient in the logarithms of the rows' scales, and in e in units of C."""
        b, e = split(theta)
        by_b, by_e = split(gradient)
        rows = b * by_b
        rows[:-1] += e * by_e
        return np.concatenate([rows, _units(b, e) * by_e])

    def move(self, theta: Array, step: Array) -> Array:
        """Multiply the rows of B, then move e."""
        b, e = split(theta)
        rows, above = split(step)
        factor = np.exp(rows)
        return np.concatenate([b * factor, e * factor[:-1] + _units(b, e) * above])

    def diagonal(self, theta: Array) -> Array:
        """Return b."""
        return split(theta)[0]


def split(theta: Array) -> tuple[Array, Array]:
    """Return the diagonal of B, (dim,), and what is above it, (dim - 1,), as views."""
    dim = (len(theta) + 1) // 2
    return theta[:dim], theta[dim:]


def _norm(A: Array) -> float:
    """Spectral norm by power iteration from the largest row; exact for an outer product."""
    v = A[np.argmax(np.einsum("ij,ij->i", A, A))]
    length = 0.0
    for _ in range(POWERS):
        size = np.linalg.norm(v)
        if size == 0.0:
            break
        u = A @ (v / size)
        length = float(np.linalg.norm(u))
        v = u @ A
    return length


def _units(b: Array, e: Array) -> Array:
    """Inverse spreads under C C' of the coordinates that e multiplies: (dim - 1,).

    Their squares s follow from the last coordinate backwards, b_i² s_i = 1 + e_i² s_{i+1}.
    """
    squares = solve_bidiagonal(b * b, -e * e, np.ones((1, len(b))))[0, 1:]
    return np.asarray(1.0 / np.sqrt(squares))


FORMS: dict[str, Form] = {"diag": Diagonal(), "dense": Lower(), "tridiagonal": Bidiagonal()}
