"""RealNVP: an invertible nonlinear map of two networks, by which a sampler changes coordinates.

    z            coordinates in which the sampler moves           (rows, d), d even, halves z1, z2
    x            f(z), coordinates of the target                  (rows, d)
    s, t         the outputs of a network: scale and shift        (rows, d/2) each
    g(s)         2 sigma(s) + sigma(-s)/2, between 1/2 and 2      sigma: the logistic function
    c            scales of the last layer                         (d,)
    theta        all parameters in one vector                     (size,)

The map is f = f3 o f2 o f1 with

    f1(z) = (z1, z2 g(s(z1)) + t(z1)),    f2(y) = (y1 g(s(y2)) + t(y2), y2),    f3(y) = c y.

Each of the two networks goes from d/2 numbers over two hidden layers with ELU to s and t. The
layers are inverted in closed form, and their Jacobians are triangular.

    Dinh, Sohl-Dickstein and Bengio (2017), "Density estimation using Real NVP"; the layers and g
    are those of Hirt, Titsias and Dellaportas (2021), section 4.5.

The gradient in z is written out, since every leapfrog step needs it, in operations that autograd
can differentiate once more, in theta. Second derivatives in z come from jets (`flow_layers`): each
number carries its derivatives along two directions through one forward pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np

from probmodel.adaptation.flow_layers import (
    affine,
    columns,
    elu,
    elu_back,
    elu_jet,
    jet_affine,
    jet_product,
    jets,
    log_scale_jet,
    part,
    scale,
    scale_jet,
    scale_slope,
)
from probmodel.errors import SamplerError
from probmodel.types import Array

LOG_SCALE = -1.0  # log c at the start
SMALL = 0.01  # weights of the last layers at the start, relative to those of the others
NO_SCALING = -float(np.log(2.0))  # s where g(s) = 1


class FlowPoint(NamedTuple):
    """Points on both sides of a map.

    Attributes
    ----------
    z, x : (rows, d), with x = f(z)
    log_det : (rows,), log|det Df(z)|
    saved
        What the map's own `RealNVP.gradient` needs besides.
    """

    z: Any
    x: Any
    log_det: Any
    saved: Any


class Network(NamedTuple):
    """Weights and biases of three layers; the last layer gives s and t side by side."""

    W1: Any
    b1: Any
    W2: Any
    b2: Any
    W3: Any
    b3: Any


class Weights(NamedTuple):
    """The networks of f1 and f2, and log c."""

    first: Network
    second: Network
    log_scale: Any


@dataclass(frozen=True)
class RealNVP:
    """The map at the head of this file, whose derivatives autograd can differentiate in theta.

    Parameters
    ----------
    dim : int
        d, even.
    width : int
        Units of a hidden layer.

    Raises
    ------
    SamplerError
        If ``dim`` is odd.
    """

    dim: int
    width: int = 50

    def __post_init__(self) -> None:
        if self.dim % 2:
            raise SamplerError(
                "RealNVP needs an even number of unconstrained parameters, because it moves one "
                f"half given the other; here there are {self.dim}. Choose another preconditioner.",
                dim=self.dim,
            )

    def start(self, rng: np.random.Generator) -> Array:
        """Return a random theta under which f is nearly a scaling by exp(-1)."""
        theta = np.concatenate([rng.standard_normal(shape).ravel() for shape in self._shapes()])
        weights = self.weights(theta)
        for net in (weights.first, weights.second):
            for W in (net.W1, net.W2, net.W3):
                W /= np.sqrt(len(W))
            for b in (net.b1, net.b2, net.b3):
                b[:] = 0.0
            net.W3[:] *= SMALL
            net.b3[: self.dim // 2] = NO_SCALING
        weights.log_scale[:] = LOG_SCALE
        return theta

    def weights(self, theta: Any) -> Weights:
        """Cut theta into its parts."""
        parts, start = [], 0
        for shape in self._shapes():
            parts.append(part(theta, start, shape))
            start += int(np.prod(shape))
        return Weights(Network(*parts[:6]), Network(*parts[6:12]), parts[12])

    def forward(self, weights: Weights, z: Any) -> FlowPoint:
        """Map ``z``: (rows, d)."""
        z1, z2 = self._halves(z)
        first = self._run(weights.first, z1)
        y2 = z2 * first.scale + first.t
        second = self._run(weights.second, y2)
        y1 = z1 * second.scale + second.t
        x = anp.concatenate([y1, y2], axis=1) * anp.exp(weights.log_scale)
        return FlowPoint(z, x, _log_det(weights, first, second), (first, second))

    def inverse(self, weights: Weights, x: Any) -> FlowPoint:
        """Undo the layers one by one: (rows, d)."""
        y1, y2 = self._halves(x * anp.exp(-weights.log_scale))
        second = self._run(weights.second, y2)
        z1 = (y1 - second.t) / second.scale
        first = self._run(weights.first, z1)
        z2 = (y2 - first.t) / first.scale
        z = anp.concatenate([z1, z2], axis=1)
        return FlowPoint(z, x, _log_det(weights, first, second), (first, second))

    def gradient(self, weights: Weights, point: FlowPoint, u: Any, log_det: float = 1.0) -> Any:
        """Gradient in z of ``u . f(z) + log_det log|det Df(z)|``, from the last layer back.

        Where u is the gradient of a log density at f(z), it is that of the density's pull-back:
        (rows, d).
        """
        z1, z2 = self._halves(point.z)
        first, second = point.saved
        y1_bar, y2_bar = self._halves(u * anp.exp(weights.log_scale))
        s_bar = scale_slope(second.s) * (y1_bar * z1 + log_det / second.scale)
        y2_bar = y2_bar + _run_back(weights.second, second, s_bar, y1_bar)
        s_bar = scale_slope(first.s) * (y2_bar * z2 + log_det / first.scale)
        z1_bar = y1_bar * second.scale + _run_back(weights.first, first, s_bar, y2_bar)
        return anp.concatenate([z1_bar, y2_bar * first.scale], axis=1)

    def second(self, weights: Weights, z: Any, u: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
        """Differentiate at ``z`` along the directions ``a`` and ``b``, (rows, d) each, by jets.

        Returns Df a and Df b, (rows, d), and the second derivative of
        ``u . f(z) + log|det Df(z)|`` along both directions, (rows,).
        """
        z1, z2 = self._halves(jets(z, a, b))
        s1, t1 = self._run_jet(weights.first, z1)
        y2 = jet_product(z2, scale_jet(s1)) + t1
        s2, t2 = self._run_jet(weights.second, y2)
        y1 = jet_product(z1, scale_jet(s2)) + t2
        x = anp.concatenate([y1, y2], axis=2) * anp.exp(weights.log_scale)
        log_det = log_scale_jet(s1) + log_scale_jet(s2)
        return x[1], x[2], anp.sum(u * x[3], axis=1) + anp.sum(log_det[3], axis=1)

    def _shapes(self) -> list[tuple[int, ...]]:
        """Shapes of the parts of theta."""
        half, w = self.dim // 2, self.width
        network: list[tuple[int, ...]] = [(half, w), (w,), (w, w), (w,), (w, self.dim), (self.dim,)]
        return [*network, *network, (self.dim,)]

    def _halves(self, rows: Any) -> tuple[Any, Any]:
        half = self.dim // 2
        return columns(rows, 0, half), columns(rows, half, self.dim)

    def _run(self, net: Network, x: Any) -> _Outputs:
        a1 = affine(x, net.W1, net.b1)
        a2 = affine(elu(a1), net.W2, net.b2)
        s, t = self._halves(affine(elu(a2), net.W3, net.b3))
        return _Outputs(s, t, scale(s), (a1, a2))

    def _run_jet(self, net: Network, jet: Any) -> tuple[Any, Any]:
        """Jets of s and t."""
        jet = elu_jet(jet_affine(jet, net.W1, net.b1))
        jet = elu_jet(jet_affine(jet, net.W2, net.b2))
        return self._halves(jet_affine(jet, net.W3, net.b3))


class _Outputs(NamedTuple):
    """What a network returns: s, t, g(s), and what entered its hidden units."""

    s: Any
    t: Any
    scale: Any
    units: tuple[Any, Any]


def _run_back(net: Network, outputs: _Outputs, s_bar: Any, t_bar: Any) -> Any:
    """Gradient in a network's input, from the gradients in s and t."""
    bar = anp.concatenate([s_bar, t_bar], axis=1)
    bar = elu_back(elu_back(bar, net.W3, outputs.units[1]), net.W2, outputs.units[0])
    return bar @ net.W1.T


def _log_det(weights: Weights, first: _Outputs, second: _Outputs) -> Any:
    return anp.sum(anp.log(first.scale * second.scale), axis=1) + anp.sum(weights.log_scale)
