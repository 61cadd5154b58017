"""Symmetric block circulant matrices, by the fast Fourier transform, as autograd primitives.

Such a matrix is a real, even function on a torus; its eigenvalues are the transform of that. They
are kept as NumPy keeps transforms of real arrays: the last axis has m // 2 + 1 of them. The rules
of derivation are closed: each function here is differentiated by the others. ``axes`` is the
number of axes of the torus, which come last; axes before them broadcast.
"""

from __future__ import annotations

from math import prod

import numpy as np
from autograd.extend import defvjp
from autograd.numpy.numpy_vjps import unbroadcast_f

from probmodel.numerics.special import differentiable
from probmodel.types import Array


def multiplicity(shape: tuple[int, ...]) -> Array:
    """How many eigenvalues each of those that are kept stands for: (shape[-1] // 2 + 1,)."""
    weights = np.full(shape[-1] // 2 + 1, 2.0)
    weights[0] = 1.0
    if shape[-1] % 2 == 0:
        weights[-1] = 1.0
    return weights


@differentiable
def eigenvalues(column: Array, axes: int) -> Array:
    """Eigenvalues of the matrix with an even first column: (..., *torus)."""
    return np.fft.rfftn(column, axes=_last(axes)).real


@differentiable
def from_eigenvalues(values: Array, shape: tuple[int, ...]) -> Array:
    """Transpose of `eigenvalues`: a sum of cosines, (..., *shape)."""
    halves = values / multiplicity(shape)
    return prod(shape) * np.fft.irfftn(halves, s=shape, axes=_last(len(shape)))


@differentiable
def multiply(values: Array, z: Array, axes: int) -> Array:
    """Multiply by the circulant matrix with eigenvalues ``values``: (..., *torus)."""
    last = _last(axes)
    return np.fft.irfftn(values * np.fft.rfftn(z, axes=last), s=z.shape[-axes:], axes=last)


@differentiable
def power(a: Array, b: Array, axes: int) -> Array:
    """Return the derivative of ``sum(a * multiply(values, b))`` in the eigenvalues."""
    shape = a.shape[-axes:]
    product = np.conj(np.fft.rfftn(a, axes=_last(axes))) * np.fft.rfftn(b, axes=_last(axes))
    return product.real * (multiplicity(shape) / prod(shape))


def _last(axes: int) -> tuple[int, ...]:
    return tuple(range(-axes, 0))


defvjp(
    eigenvalues,
    lambda ans, c, axes: lambda g: from_eigenvalues(g, np.shape(c)[-axes:]),
    argnums=(0,),
)
defvjp(
    from_eigenvalues, lambda ans, values, shape: lambda g: eigenvalues(g, len(shape)), argnums=(0,)
)
defvjp(
    multiply,
    lambda ans, values, z, axes: unbroadcast_f(values, lambda g: power(z, g, axes)),
    lambda ans, values, z, axes: unbroadcast_f(z, lambda g: multiply(values, g, axes)),
    argnums=(0, 1),
)
defvjp(
    power,
    lambda ans, a, b, axes: unbroadcast_f(a, lambda g: multiply(g, b, axes)),
    lambda ans, a, b, axes: unbroadcast_f(b, lambda g: multiply(g, a, axes)),
    argnums=(0, 1),
)
