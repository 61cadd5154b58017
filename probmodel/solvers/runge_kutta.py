"""Initial value problems for a batch of chains, with a step size of its own for each.

All chains take their steps together; one that has arrived, or whose step was refused, takes a step
of size zero. What a chain computes does not depend on the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from probmodel.solvers.tableau import Tableau
from probmodel.types import Array

_SAFETY, _SHRINK, _GROW = 0.9, 0.2, 10.0
_NEWTON_STEPS = 8
_NEWTON_TOLERANCE = 1e-3  # of the tolerance of the step


class System(Protocol):
    """Right-hand side ``dy/dt = f(t, y)`` for a batch: leading axes (..., chains)."""

    def __call__(self, t: Array, y: Array) -> Array:
        """Slopes: times (..., chains), states (..., chains, n) -> (..., chains, n)."""

    def jacobian(self, t: Array, y: Array) -> Array:
        """Return the derivatives in the state: (..., chains, n, n), rows for slopes."""


class Tolerances(NamedTuple):
    """How accurate each step is to be, and how many there may be."""

    relative: float
    absolute: float
    max_steps: int


class Step(NamedTuple):
    """One step of all chains.

    Attributes
    ----------
    t, h : (chains,), its start and its size; zero where a chain did not move
    y : (chains, n), the value at its start
    k : (stages, chains, n)
    chain, output, fraction : (m,), which requested times lie in the steps of which chains, and how
        far into them
    """

    t: Array
    h: Array
    y: Array
    k: Array
    chain: Array
    output: Array
    fraction: Array


@dataclass
class Solution:
    """Values at the requested times, and the steps that led there.

    Attributes
    ----------
    y : (chains, times, n); NaN for chains that failed
    steps : in order of time
    """

    y: Array
    steps: list[Step] = field(default_factory=list)


def solve(
    system: System, tableau: Tableau, y0: Array, times: Array, tolerances: Tolerances
) -> Solution:
    """Solve from ``times[0]`` on.

    Parameters
    ----------
    system : the right-hand side
    tableau : the method
    y0 : (chains, n), the state at ``times[0]``
    times : (1 + m,), increasing; the state is returned at all but the first
    tolerances : of a step

    Returns
    -------
    Solution
        NaN for a chain whose state is not finite, or that needs more steps than allowed.
    """
    chains, n = y0.shape
    t, y, wanted = np.full(chains, times[0]), y0, times[1:]
    solution = Solution(np.full((chains, len(wanted), n), np.nan))
    slope = system(t, y)
    h = _first_step(system, t, y, slope, tableau.order, tolerances)
    rejected = np.zeros(chains, dtype=bool)
    active = np.isfinite(h)
    done = np.zeros(chains, dtype=np.intp)
    for _ in range(tolerances.max_steps):
        if not active.any():
            break
        h = np.where(active, np.minimum(h, times[-1] - t), 0.0)
        k, solved = stages(system, tableau, t, y, h, slope, tolerances)
        y1 = y + h[:, None] * _combine(tableau.b, k)
        error = _norm(h[:, None] * _combine(tableau.error, k), y, y1, tolerances)
        accepted = active & solved & (error <= 1.0)
        taken = np.where(accepted, h, 0.0)
        kept = np.where(accepted[:, None], k, 0.0)
        step = _record(solution, tableau, Step(t, taken, y, kept, done, done, t), wanted, done)
        done = done + np.bincount(step.chain, minlength=chains)
        t = np.where(done == len(wanted), times[-1], t + taken)
        y = np.where(accepted[:, None], y1, y)
        slope = np.where(accepted[:, None], k[-1], k[0])
        h = h * _factor(error, solved, rejected, tableau.order)
        rejected = active & ~accepted
        active = active & (done < len(wanted)) & (t + h > t)
    solution.y[done < len(wanted)] = np.nan
    return solution


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
        base = y + step * _combine(tableau.A[i, :i], k[:i])
        at = t + tableau.c[i] * h
        if diagonal:
            k[i], converged = _newton(system, at, base, step * diagonal, k[i - 1], newton, scale)
            solved &= converged
        else:
            k[i] = system(at, base)
    return k, solved


def _newton(
    system: System, t: Array, base: Array, step: Array, k: Array, newton: Array, scale: Array
) -> tuple[Array, Array]:
    """Solve ``k = f(t, base + step * k)`` by Newton's method with one matrix for all stages."""
    converged = np.zeros(len(base), dtype=bool)
    for _ in range(_NEWTON_STEPS):
        gap = system(t, base + step * k) - k
        change = (newton @ gap[..., None])[..., 0]
        k = k + change
        size = np.max(np.abs(step * change) / scale, axis=-1)
        converged = size <= _NEWTON_TOLERANCE
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
        factor = _SAFETY * error ** (-1.0 / (order + 1))
    factor = np.clip(factor, _SHRINK, np.where(rejected, 1.0, _GROW))
    return np.where(solved, factor, _SHRINK)


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


def _record(solution: Solution, tableau: Tableau, step: Step, wanted: Array, done: Array) -> Step:
    """Keep a step, and write the values at the requested times that it passes."""
    end = step.t + step.h
    reached = np.searchsorted(wanted, end + 1e-12 * np.abs(end), side="right")
    count = np.where(step.h > 0.0, reached - done, 0)
    chain = np.repeat(np.arange(len(count)), count)
    start = np.cumsum(count) - count
    output = done[chain] + np.arange(len(chain)) - start[chain]
    fraction = (wanted[output] - step.t[chain]) / step.h[chain]
    step = step._replace(chain=chain, output=output, fraction=fraction)
    solution.steps.append(step)
    if len(chain):
        weights = at_fraction(tableau, fraction)
        rise = np.einsum("ms,smn->mn", weights, step.k[:, chain])
        solution.y[chain, output] = step.y[chain] + step.h[chain, None] * rise
    return step


def at_fraction(tableau: Tableau, fraction: Array) -> Array:
    """Weights of the stages a fraction into a step: (m,) -> (m, stages)."""
    powers = fraction[:, None] ** np.arange(1, tableau.between.shape[1] + 1)
    weights: Array = powers @ tableau.between.T
    return weights
