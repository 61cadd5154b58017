"""The loss of entropy-based adaptive HMC where a map takes the place of the mass matrix.

    f        a map with parameters theta, x = f(z)                       see `realnvp`
    U~       potential in z: -log density(f(z)) - log|det Df(z)|
    g_l      gradient of the log density at a point of a trajectory      (rows, dim)
    s_l      -grad U~ there: Df(z_l)'g_l + grad log|det Df(z_l)|         (rows, dim)
    v, r_L   momentum at the start and the end of a trajectory           (rows, dim)
    h, L     step size, leapfrog steps
    Delta    energy in z at the end less that at the start               (rows,)
    D        kappa times the Hessian of -U~ halfway                      (rows, dim, dim)
    mu       largest eigenvalue of D in size, with direction b
    beta     weight of the proposal's entropy
    gamma    weight of the penalty for |mu| above delta

The loss of one trajectory is, up to a constant,

    E = max(0, Delta) - beta [log|det Df(z_L)| + log|det(I + D)| - gamma penalty(|mu|)],

and a map f(z) = C z makes it that of `entropy_loss`. Its gradient in theta comes from autograd.
What follows theta are z_0 = f^-1(x_0); the s_l, at points z_l and with g_l that are held fixed;
z_L, which is a sum of z_0, v and the s_l; and the middle, z = f^-1(x) for an x that is held fixed
with its g and its Hessian. The gradient of log|det(I + D)| is that of ``y'D eps``, with signs eps
and ``y = (I + D)^-1 eps`` (`roulette`), and the gradient of mu that of ``b'D b``.

    Hirt, Titsias and Dellaportas (2021), "Entropy-based adaptive Hamiltonian Monte Carlo",
    appendix C.

Deviations. Appendix C prints U~ as U(H(z)) in place of U(f(z)), and Delta with the wrong sign of
log|det Df(z_L)|. It lets the point z_0 of s_0 follow theta in one place and not in another; here it
is fixed. The Hessian of the target halfway is computed as a whole. It counts as many gradients as
there are dimensions: fewer than the Hessian-vector products of the series would be, in the few
dimensions in which such a map can be learned.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np
from autograd.core import make_vjp

from probmodel.adaptation.entropy_loss import Weights
from probmodel.adaptation.projections import Products
from probmodel.adaptation.realnvp import RealNVP
from probmodel.adaptation.roulette import Expansion, curvature_factor, expand
from probmodel.types import Array

UNIT = Products(lambda v: v, lambda v: v)  # the root of the mass matrix in z


class FlowPath(NamedTuple):
    """Trajectories of L leapfrog steps in z, all of them finite: what the loss holds fixed.

    Attributes
    ----------
    z : (L + 1, rows, dim), the points
    grad : (L + 1, rows, dim), g_l
    first, middle : (rows, dim), x at the start, and after L/2 steps
    hessian : (rows, dim, dim), of the log density at ``middle``
    momentum : (rows, dim), v
    uphill : (rows,), whether Delta is positive
    whole : (rows,), whether E counts as a whole, or only what it says of D
    step_size : h
    """

    z: Array
    grad: Array
    first: Array
    middle: Array
    hessian: Array
    momentum: Array
    uphill: Array
    whole: Array
    step_size: float

    @property
    def n_steps(self) -> int:
        """L."""
        return len(self.z) - 1

    @property
    def kappa(self) -> float:
        """Factor of the Hessian in D."""
        return curvature_factor(self.step_size, self.n_steps)


def expand_flow(flow: RealNVP, theta: Array, path: FlowPath, eps: Array, terms: Array) -> Expansion:
    """Sum the series of `roulette.expand` for D, which begins with eps: (rows, dim)."""
    hessian = pulled_hessian(flow, theta, path)
    return expand(lambda v: -_times(hessian, v), UNIT, path.kappa, eps, terms)


def pulled_hessian(flow: RealNVP, theta: Array, path: FlowPath) -> Array:
    """Hessian of -U~ halfway: (rows, dim, dim)."""
    rows, dim = path.first.shape
    i, j = np.triu_indices(dim)
    pairs = (np.tile(np.eye(dim)[k], (rows, 1)) for k in (i, j))
    mid = path.n_steps // 2
    z, g, hessian = (
        np.repeat(c, len(i), axis=0) for c in (path.z[mid], path.grad[mid], path.hessian)
    )
    entries = _form(flow, flow.weights(theta), z, g, hessian, *pairs).reshape(rows, -1)
    out = np.empty((rows, dim, dim))
    out[:, i, j] = out[:, j, i] = entries
    return out


def flow_gradient(
    flow: RealNVP,
    theta: Array,
    path: FlowPath,
    expansion: Expansion,
    eps: Array,
    weights: Weights,
    bend: Array,
) -> Array:
    """Gradient in theta of the mean of E over the rows.

    Parameters
    ----------
    flow, theta : the map
    path : the trajectories
    expansion, eps : the series of `expand_flow`, and the signs it began with
    weights : beta and gamma
    bend : (rows,), derivative of the penalty at |mu|
    """
    beta, gamma = weights
    rows, push = len(eps), beta * gamma * bend * np.sign(expansion.mu)
    left = np.concatenate([expansion.y, expansion.direction])
    right = np.concatenate([eps, expansion.direction])
    factors = path.kappa * np.concatenate([np.full(rows, -beta), push])
    g, hessian = (np.concatenate([c, c]) for c in (path.grad[path.n_steps // 2], path.hessian))

    def mean_loss(theta: Any) -> Any:
        w = flow.weights(theta)
        fixed = flow.inverse(w, np.concatenate([path.first, path.middle]))
        energy, log_det = _end(flow, w, path, fixed.z[:rows], fixed.log_det[:rows])
        total = anp.sum(path.uphill * energy - beta * path.whole * log_det)
        if path.kappa > 0.0:
            z = fixed.z[rows:]
            form = _form(flow, w, anp.concatenate([z, z]), g, hessian, left, right)
            total = total + anp.sum(factors * form)
        return total / rows

    vjp, _ = make_vjp(mean_loss, theta)
    return np.asarray(vjp(1.0))


def _end(flow: RealNVP, w: Any, path: FlowPath, z0: Any, log_det0: Any) -> tuple[Any, Any]:
    """Delta, up to a constant, and log|det Df(z_L)| as functions of theta: (rows,) each."""
    L, h = path.n_steps, path.step_size
    z, g = (a.reshape(-1, a.shape[2]) for a in (path.z, path.grad))
    slopes = flow.gradient(w, flow.forward(w, z), g).reshape(path.z.shape)
    drift, kick = h * h * np.arange(L, -1.0, -1.0), np.full(L + 1, h)
    drift[0] *= 0.5
    kick[[0, -1]] *= 0.5
    last = flow.forward(w, z0 + L * h * path.momentum + anp.tensordot(drift, slopes, 1))  # eq. (3)
    r = path.momentum + anp.tensordot(kick, slopes, 1)  # eq. (4)
    potential = log_det0 - last.log_det - anp.sum(path.grad[-1] * last.x, axis=1)
    return potential + 0.5 * anp.sum(r * r, axis=1), last.log_det


def _form(flow: RealNVP, w: Any, z: Any, g: Array, hessian: Array, a: Array, b: Array) -> Any:
    """Second derivative of -U~ at ``z`` along ``a`` and ``b``: (rows,)."""
    along_a, along_b, both = flow.second(w, z, g, a, b)
    return anp.sum(along_a * _times(hessian, along_b), axis=1) + both


def _times(matrices: Array, v: Any) -> Any:
    """Product of each row of ``v`` with its matrix."""
    return anp.matmul(matrices, v[:, :, None])[:, :, 0]
