"""Exact gradients of functions of a trajectory's end: leapfrog steps, taken back in adjoint form.

    C              root of the inverse mass matrix                             a map
    h, L           step size, leapfrog steps
    q_l, g_l, H_l  positions, gradients and Hessians of the potential U        (chains, dim)
    r_{l+1/2}      whitened momenta halfway between the positions              (chains, dim)
    Delta          energy at the end less that at the start                    (chains,)
    a              acceptance probability, min(1, exp(-Delta))                 (chains,)
    J              jump, |q_L - q_0|^power                                     (chains,)
    lambda         running mean of a J
    l_q, l_r       derivatives of the function in q_L and r_L                  (chains, dim)

Nothing is held fixed, so that each step but the first takes a Hessian-vector product: L in all.

    Hirt, Titsias and Dellaportas (2021), "Entropy-based adaptive Hamiltonian Monte Carlo",
    appendix D, eq. (19) to (21).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from probmodel.adaptation.entropy_loss import Outer, Path
from probmodel.adaptation.projections import Products
from probmodel.types import Array

FIRST_SCALE = 1.0  # lambda before the first trajectory
KEEP = 0.99  # what lambda keeps of its past
NOTHING = 1e-300  # a J below which a trajectory teaches nothing

Curve = Callable[[Array, Array], Array]  # of x and v: the Hessian of U at x times v


def adjoint_outer(
    path: Path, h: float, C: Products, curve: Curve, by_position: Array, by_momentum: Array
) -> Outer:
    """Gradient in C of a function of q_L and r_L, as 2 L + 1 outer products.

    Parameters
    ----------
    path : the trajectories
    h : step size
    C : root
    curve : Hessian-vector products with the potential
    by_position, by_momentum : (chains, dim), l_q and l_r
    """
    L, g = path.n_steps, path.slopes
    l_q, l_r = by_position, by_momentum
    left, right = [-0.5 * h * g[L]], [l_r]
    l_q = l_q - 0.5 * h * curve(path.x[L], C.times(l_r))
    for step in reversed(range(L)):
        left.append(h * l_q)
        right.append(path.halves[step])
        l_r = l_r + h * C.transposed(l_q)
        left.append(-(h if step else 0.5 * h) * g[step])
        right.append(l_r)
        if step:
            l_q = l_q - h * curve(path.x[step], C.times(l_r))
    return np.stack(left), np.stack(right)


def energy_slopes(path: Path) -> tuple[Array, Array]:
    """Return the derivatives of max(0, Delta) in q_L and r_L (the first part of eq. 19)."""
    uphill = (path.delta > 0.0)[:, None]
    return uphill * path.slopes[-1], uphill * path.end


def jumps(path: Path, power: float) -> Array:
    """Return a J: (chains,)."""
    length = np.linalg.norm(path.x[-1] - path.x[0], axis=1)
    return np.asarray(np.exp(-np.maximum(path.delta, 0.0)) * length**power)


def jump_slopes(path: Path, power: float, by_jump: Array) -> tuple[Array, Array]:
    """Return the derivatives in q_L and r_L of a function of a J.

    ``power`` is that of the length of a jump, and ``by_jump``, (chains,), the derivative in a J.
    """
    move = path.x[-1] - path.x[0]
    length = np.maximum(np.linalg.norm(move, axis=1), NOTHING)
    weight = by_jump * np.exp(-np.maximum(path.delta, 0.0))
    along = weight * power * length ** (power - 2.0)
    back = weight * length**power * (path.delta > 0.0)
    by_position = along[:, None] * move - back[:, None] * path.slopes[-1]
    return by_position, -back[:, None] * path.end


def esjd(jump: Array) -> tuple[Array, Array]:
    """Minus the expected squared jump (eq. 20), and its derivative in a J, of each chain."""
    return -jump, np.full(len(jump), -1.0)


def l2hmc(jump: Array, scale: float) -> tuple[Array, Array]:
    """Loss that shuns short jumps too (eq. 21), and its derivative in a J; ``scale`` is lambda."""
    safe = np.maximum(jump, NOTHING)
    with np.errstate(over="ignore"):
        return scale / safe - safe / scale, -(scale / safe / safe + 1.0 / scale)


def mean_jump(scale: float, jump: Array) -> float:
    """Return lambda after some more jumps."""
    return KEEP * scale + (1.0 - KEEP) * float(np.mean(jump))
