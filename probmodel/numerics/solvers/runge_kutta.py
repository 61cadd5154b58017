"""Initial value problems for a batch of chains, with a step size of its own for each.

All chains take their steps together; one that has arrived, or whose step was refused, takes a step
of size zero. What a chain computes does not depend on the others.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from probmodel.numerics.solvers.tableau import Tableau
from probmodel.types import Array

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0
NEWTON_STEPS = 8
NEWTON_TOLERANCE = 1e-3  # of the tolerance of the step


class System(Protocol):
    """Right-hand side ``dy/dt = f(t, y)`` for a batch: leading axes (..., chains).

    Attributes
    ----------
    autonomous : whether f does not depend on t, so that any time will do
    """

    autonomous: bool

    def __call__(self, t: Array, y: Array) -> Array:
        """Slopes: times (..., chains), states (..., chains, n) -> (..., chains, n)."""

    def jacobian(self, t: Array, y: Array) -> Array:
        """Return the derivatives in the state: (..., chains, n, n), rows for slopes."""


class Tolerances(NamedTuple):
    """How accurate each step is to be, and how many there may be."""

    relative: float
    absolute: float
    max_steps: int


class Steps(NamedTuple):
    """Steps of all chains, in order of time.

    Attributes
    ----------
    t, h : (steps, chains), their starts and their sizes; zero where a chain did not move
    y : (steps, chains, n), the values at their starts
    k : (steps, stages, chains, n)
    """

    t: Array
    h: Array
    y: Array
    k: Array


class Passages(NamedTuple):
    """Which requested times lie in which steps: one entry for each time that is reached.

    Attributes
    ----------
    step, chain, output : (m,), indices of the step, the chain and the time
    fraction : (m,), how far into the step
    """

    step: Array
    chain: Array
    output: Array
    fraction: Array


class Solution(NamedTuple):
    """Values at the requested times, and the steps that led there.

    Attributes
    ----------
    y : (chains, times, n); NaN for chains that failed
    steps : all steps
    passages : where the requested times lie
    """

    y: Array
    steps: Steps
    passages: Passages


def solve(
    system: System, tableau: Tableau, y0: Array, times: Array, tolerances: Tolerances
) -> Solution:
    """Solve a system from ``times[0]`` on, where its state is ``y0``, (chains, n), by a method.

    The times increase; the state is returned at all but the first. It is NaN for a chain whose
    state is not finite, or that needs more steps than allowed.
    """
    t, y, end = np.full(len(y0), times[0]), y0, times[-1]
    slope = system(t, y)
    h = _first_step(system, t, y, slope, tableau.order, tolerances)
    rejected = np.zeros(len(y0), dtype=bool)
    active = np.isfinite(h)
    steps = []
    for _ in range(tolerances.max_steps):
        if not active.any():
            break
        h = np.where(active, np.minimum(h, end - t), 0.0)
        k, solved = stages(system, tableau, t, y, h, slope, tolerances)
        y1 = y + h[:, None] * _combine(tableau.b, k)
        error = _norm(h[:, None] * _combine(tableau.error, k), y, y1, tolerances)
        accepted = active & solved & (error <= 1.0)
        moved = accepted[:, None]
        steps.append((t, np.where(accepted, h, 0.0), y, np.where(moved, k, 0.0)))
        arrived = accepted & (h == end - t)
        t = np.where(arrived, end, np.where(accepted, t + h, t))
        y = np.where(moved, y1, y)
        slope = np.where(moved, k[-1], k[0])
        h = h * _factor(error, solved, rejected, tableau.order)
        rejected = active & ~accepted
        active = active & ~arrived & (t + h > t)
    if not steps:
        return _nothing(y0, len(times) - 1, tableau)
    return _solution(tableau, Steps(*map(np.stack, zip(*steps, strict=True))), times)


def stages(
    system: System, tableau: Tableau, t: Array, y: Array, h: Array, slope: Array, tol: Tolerances
) -> tuple[Array, Array]:
    """Compute the stages of one step: (stages, chains, n), and which chains' equations hold."""
    k = np.empty((len(tableau.b), *y.shape))
    k[0] = slope
    step = h[:, None]
    solved = np.ones(len(y), dtype=bool)
    diagonal = tableau.A[1, 1]
    if diagonal:
        scale = tol.absolute + tol.relative * np.abs(y)
        newton = inverse(system.jacobian(t, y), h * diagonal)
    for i in range(1, len(k)):
        base = _combine(tableau.A[i, :i], k[:i])
        base *= step
        base += y
        at = t if system.autonomous else t + tableau.c[i] * h
        if diagonal:
            k[i], converged = _newton(system, at, base, step * diagonal, k[i - 1], newton, scale)
            solved &= converged
        else:
            k[i] = system(at, base)
    return k, solved


def _newton(
    system: System, t: Array, base: Array, step: Array, k: Array, newton: Array, scale: Array
) -> tuple[Array, Array]:
    """Solve ``k = f(t, base + step * k)`` by Newton's method with one matrix for all stages.

    A chain that has found its stage stays there while others go on.
    """
    converged = np.zeros(len(base), dtype=bool)
    for _ in range(NEWTON_STEPS):
        gap = system(t, base + step * k) - k
        change = np.where(converged[:, None], 0.0, (newton @ gap[..., None])[..., 0])
        k = k + change
        size = np.max(np.abs(step * change) / scale, axis=-1)
        converged = size <= NEWTON_TOLERANCE
        if np.all(converged | ~np.isfinite(size)):
            break
    return k, converged


def inverse(jacobian: Array, step: Array) -> Array:
    """Inverse of ``I - step * J``: (..., n, n), (...,) -> (..., n, n); NaN if not finite."""
    n = jacobian.shape[-1]
    matrix = np.eye(n) - step[..., None, None] * jacobian
    bad = ~np.isfinite(matrix).all(axis=(-1, -2))
    matrix[bad] = np.eye(n)
    try:
        result = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        result = np.linalg.pinv(matrix)
    result[bad] = np.nan
    return result


def _combine(weights: Array, k: Array) -> Array:
    """Weighted sum of stages: (s,), (s, chains, n) -> (chains, n)."""
    total: Array = (weights @ k.reshape(len(k), -1)).reshape(k.shape[1:])
    return total


def _norm(error: Array, y: Array, y1: Array, tol: Tolerances) -> Array:
    """Root mean square of an error over its tolerance: (chains,); infinite if not finite."""
    scale = tol.absolute + tol.relative * np.maximum(np.abs(y), np.abs(y1))
    ratio = error / scale
    norm = np.sqrt(np.vecdot(ratio, ratio) / y.shape[-1])
    return np.where(np.isfinite(norm), norm, np.inf)


def _factor(error: Array, solved: Array, rejected: Array, order: int) -> Array:
    """How much to change the step size by; after a refused step it does not grow at once."""
    with np.errstate(divide="ignore"):
        factor = SAFETY * error ** (-1.0 / (order + 1))
    factor = np.clip(factor, SHRINK, np.where(rejected, 1.0, GROW))
    return np.where(solved, factor, SHRINK)


def _first_step(
    system: System, t: Array, y: Array, slope: Array, order: int, tol: Tolerances
) -> Array:
    """Guess a step size from the size of the slope and of its change; NaN where not finite.

    Hairer, Norsett and Wanner (1993), Solving Ordinary Differential Equations I, section II.4.
    """
    scale = tol.absolute + tol.relative * np.abs(y)
    size, speed = (np.sqrt(np.mean((a / scale) ** 2, axis=-1)) for a in (y, slope))
    small = (size < 1e-5) | (speed < 1e-5)
    h = np.where(small, 1e-6, 0.01 * size / np.where(small, 1.0, speed))
    change = system(t + h, y + h[:, None] * slope) - slope
    bend = np.sqrt(np.mean((change / scale) ** 2, axis=-1)) / h
    most = np.maximum(speed, bend)
    root = (0.01 / np.where(most > 1e-15, most, 1.0)) ** (1.0 / (order + 1))
    return np.minimum(100.0 * h, np.where(most > 1e-15, root, np.maximum(1e-6, 1e-3 * h)))


def _solution(tableau: Tableau, steps: Steps, times: Array) -> Solution:
    """Read off the values at the requested times."""
    n_steps, _, chains, n = steps.k.shape
    wanted = times[1:]
    ends = np.where(steps.h > 0.0, steps.t + steps.h, -np.inf)
    reached = np.searchsorted(wanted, ends + 1e-12 * np.abs(times).max(), side="right")
    reached = np.maximum.accumulate(np.where(np.isfinite(ends), reached, 0), axis=0)
    count = np.diff(reached, axis=0, prepend=0).reshape(-1)
    place = np.repeat(np.arange(n_steps * chains), count)
    step, chain = np.divmod(place, chains)
    output = (reached.reshape(-1) - count)[place] + np.arange(len(place))
    output -= (np.cumsum(count) - count)[place]
    h = steps.h[step, chain]
    fraction = (wanted[output] - steps.t[step, chain]) / h
    rise = np.einsum("ms,msn->mn", at_fraction(tableau, fraction), steps.k[step, :, chain])
    y = np.full((chains, len(wanted), n), np.nan)
    y[chain, output] = steps.y[step, chain] + h[:, None] * rise
    y[reached[-1] < len(wanted)] = np.nan
    return Solution(y, steps, Passages(step, chain, output, fraction))


def _nothing(y0: Array, times: int, tableau: Tableau) -> Solution:
    """Return a solution without a step, where no chain can take one."""
    chains, n = y0.shape
    none = np.zeros((0, chains))
    steps = Steps(none, none, np.zeros((0, chains, n)), np.zeros((0, len(tableau.b), chains, n)))
    index = np.zeros(0, dtype=np.intp)
    passages = Passages(index, index, index, np.zeros(0))
    return Solution(np.full((chains, times, n), np.nan), steps, passages)


def at_fraction(tableau: Tableau, fraction: Array) -> Array:
    """Weights of the stages a fraction into a step: (m,) -> (m, stages)."""
    powers = fraction[:, None] ** np.arange(1, tableau.between.shape[1] + 1)
    weights: Array = powers @ tableau.between.T
    return weights
