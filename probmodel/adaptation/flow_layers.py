"""Building blocks of `realnvp`, with derivatives written out: one entry each in autograd's record.

    x, s      rows that enter a layer or a function       (rows, k)
    W, b      weights and biases                          (k, m), (m,)
    g(s)      2 sigma(s) + sigma(-s)/2 = 5/4 + 3/4 tanh(s/2), between 1/2 and 2
    jet       rows with derivatives                       (4, rows, k)

A jet holds values, their derivatives along a direction a and along a direction b, and the second
derivatives along both. Carrying it through a function F takes F, F' and F'': the last entry of the
result is ``F' jet_ab + F'' jet_a jet_b``. Where the second derivative of the ELU jumps, at zero, it
is taken from the right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from autograd.extend import defvjp, primitive

from probmodel.types import Array

Derivatives = Callable[[Array], tuple[Array, Array, Array, Array]]


# -- parts of arrays -------------------------------------------------------------------------------


@primitive
def part(theta: Array, start: int, shape: tuple[int, ...]) -> Array:
    """Return a part of a vector in the given shape."""
    return theta[start : start + int(np.prod(shape))].reshape(shape)


@primitive
def columns(rows: Array, start: int, end: int) -> Array:
    """Return some columns of rows or jets."""
    return rows[..., start:end]


def _put(like: Array, where: Any, bar: Array) -> Array:
    out = np.zeros(like.shape)
    out[where] = bar
    return out


defvjp(
    part,
    lambda ans, theta, start, shape: (
        lambda bar: _put(theta, slice(start, start + ans.size), bar.ravel())
    ),
)
defvjp(columns, lambda ans, rows, start, end: lambda bar: _put(rows, (..., slice(start, end)), bar))


# -- rows ------------------------------------------------------------------------------------------


@primitive
def affine(x: Array, W: Array, b: Array) -> Array:
    """Return ``x W + b``."""
    return x @ W + b


@primitive
def elu(x: Array) -> Array:
    """Return x where it is positive, exp(x) - 1 elsewhere."""
    return np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0)))


@primitive
def elu_back(bar: Array, W: Array, x: Array) -> Array:
    """Return the gradient in x of a function of ``elu(x) W`` whose gradient in that is ``bar``."""
    return (bar @ W.T) * _elu_slope(x)


@primitive
def scale(s: Array) -> Array:
    """Return g(s)."""
    return 1.25 + 0.75 * np.tanh(0.5 * s)


@primitive
def scale_slope(s: Array) -> Array:
    """Return g'(s)."""
    return _scale_derivatives(s)[1]


def _elu_slope(x: Array) -> Array:
    return np.asarray(np.exp(np.minimum(x, 0.0)))


defvjp(
    affine,
    lambda ans, x, W, b: lambda bar: bar @ W.T,
    lambda ans, x, W, b: lambda bar: x.T @ bar,
    lambda ans, x, W, b: lambda bar: bar.sum(axis=0),
)
defvjp(elu, lambda ans, x: lambda bar: bar * _elu_slope(x))
defvjp(
    elu_back,
    lambda ans, bar, W, x: lambda out: (out * _elu_slope(x)) @ W,
    lambda ans, bar, W, x: lambda out: (out * _elu_slope(x)).T @ bar,
    lambda ans, bar, W, x: lambda out: np.where(x < 0.0, out * ans, 0.0),
)
defvjp(scale, lambda ans, s: lambda bar: bar * _scale_derivatives(s)[1])
defvjp(scale_slope, lambda ans, s: lambda bar: bar * _scale_derivatives(s)[2])


# -- jets ------------------------------------------------------------------------------------------


@primitive
def jets(x: Array, a: Array, b: Array) -> Array:
    """Return rows with their derivatives along the directions ``a`` and ``b``: (rows, k) each."""
    return np.stack([x, a, b, np.zeros_like(a)])


@primitive
def jet_affine(jet: Array, W: Array, b: Array) -> Array:
    """Return ``x W + b``."""
    out = jet @ W
    out[0] += b
    return out


@primitive
def jet_product(p: Array, q: Array) -> Array:
    """Multiply two jets."""
    both = p[0] * q[3] + p[1] * q[2] + p[2] * q[1] + p[3] * q[0]
    return np.stack([p[0] * q[0], p[0] * q[1] + p[1] * q[0], p[0] * q[2] + p[2] * q[0], both])


def _product_back(bar: Array, q: Array) -> Array:
    value = bar[0] * q[0] + bar[1] * q[1] + bar[2] * q[2] + bar[3] * q[3]
    along = [bar[1] * q[0] + bar[3] * q[2], bar[2] * q[0] + bar[3] * q[1]]
    return np.stack([value, *along, bar[3] * q[0]])


defvjp(jets, *(lambda ans, x, a, b, k=k: lambda bar: bar[k] for k in range(3)))
defvjp(
    jet_affine,
    lambda ans, jet, W, b: lambda bar: bar @ W.T,
    lambda ans, jet, W, b: lambda bar: np.tensordot(jet, bar, ([0, 1], [0, 1])),
    lambda ans, jet, W, b: lambda bar: bar[0].sum(axis=0),
)
defvjp(
    jet_product,
    lambda ans, p, q: lambda bar: _product_back(bar, q),
    lambda ans, p, q: lambda bar: _product_back(bar, p),
)


def _on_jets(derivatives: Derivatives) -> Callable[[Any], Any]:
    """Carry a function to jets; ``derivatives`` returns it and its first three derivatives."""

    @primitive
    def function(jet: Array) -> Array:
        f, f1, f2, _ = derivatives(jet[0])
        return np.stack([f, f1 * jet[1], f1 * jet[2], f1 * jet[3] + f2 * jet[1] * jet[2]])

    def vjp(ans: Array, jet: Array) -> Callable[[Array], Array]:
        x, a, b, ab = jet
        _, f1, f2, f3 = derivatives(x)

        def back(bar: Array) -> Array:
            value = f1 * bar[0] + f2 * (a * bar[1] + b * bar[2] + ab * bar[3]) + f3 * a * b * bar[3]
            along = [f1 * bar[1] + f2 * b * bar[3], f1 * bar[2] + f2 * a * bar[3]]
            return np.stack([value, *along, f1 * bar[3]])

        return back

    defvjp(function, vjp)
    return function


def _elu_derivatives(x: Array) -> tuple[Array, Array, Array, Array]:
    slope = _elu_slope(x)
    bend = np.where(x < 0.0, slope, 0.0)
    return np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0))), slope, bend, bend


def _scale_derivatives(s: Array) -> tuple[Array, Array, Array, Array]:
    tanh = np.tanh(0.5 * s)
    slope = 0.375 * (1.0 - tanh * tanh)
    return 1.25 + 0.75 * tanh, slope, -tanh * slope, slope * (1.5 * tanh * tanh - 0.5)


def _log_scale_derivatives(s: Array) -> tuple[Array, Array, Array, Array]:
    g, g1, g2, g3 = _scale_derivatives(s)
    first = g1 / g
    second = g2 / g - first**2
    return np.log(g), first, second, g3 / g - first * (g2 / g + 2.0 * second)


elu_jet = _on_jets(_elu_derivatives)
scale_jet = _on_jets(_scale_derivatives)
log_scale_jet = _on_jets(_log_scale_derivatives)
