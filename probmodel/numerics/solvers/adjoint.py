"""Derivatives of a Runge-Kutta solution: exact for the steps that were taken.

The steps of a solution are known, so everything but a recursion from step to step is worked out
for many of them at once. A step is linear in small changes: its transposed Jacobian is found by
pulling unit vectors back through its stages, together with what flows in from requested times that
lie inside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from probmodel.numerics.solvers.runge_kutta import Passages, Solution, System, at_fraction, inverse
from probmodel.numerics.solvers.tableau import Tableau
from probmodel.types import Array

_BLOCK = 400_000  # numbers in the largest arrays: steps are worked off in blocks


class Pull(NamedTuple):
    """What a block of steps pulls back: where f was evaluated, and the weight of each slope.

    Attributes
    ----------
    t : (steps, stages, chains)
    y, weight : (steps, stages, chains, n)
    """

    t: Array
    y: Array
    weight: Array


def pull_back(
    system: System, tableau: Tableau, solution: Solution, g: Array
) -> Iterator[Pull | Array]:
    """Pull derivatives of the values back to the slopes, and at last to the initial state.

    Parameters
    ----------
    system, tableau, solution : as in `solve`
    g : (chains, times, n), derivative with respect to the values

    Yields
    ------
    Pull
        One for each block of steps, the last first. Add up ``weight * df/dp`` for the derivative
        in whatever f depends on.
    Array
        At the end: (chains, n), the derivative in the initial state.
    """
    chains, _, n = solution.y.shape
    slope = np.zeros((chains, n))
    per_step = len(tableau.b) * chains * n * (n + 1)
    size = max(1, _BLOCK // per_step)
    for end in range(len(solution.steps.h), 0, -size):
        part = slice(max(0, end - size), end)
        slope, pull = _block(system, tableau, solution, part, g, slope)
        yield pull
    yield slope


def _block(
    system: System, tableau: Tableau, solution: Solution, part: slice, g: Array, slope: Array
) -> tuple[Array, Pull]:
    """Pull ``slope``, the derivative in the state after these steps, back through them."""
    start, h, y, k = (a[part] for a in solution.steps)
    t = start[:, None] + tableau.c[:, None] * h[:, None]
    rise = np.einsum("ij,bjcn->bicn", tableau.A, k)
    at = y[:, None] + h[:, None, :, None] * rise
    jacobian = system.jacobian(t, at)
    passages = solution.passages
    first, last = np.searchsorted(passages.step, [part.start, part.stop])
    inside = Passages(*(a[first:last] for a in passages))
    in_slopes, in_state = _sources(tableau, inside, part.start, g, h, y.shape)
    weights, state = _through_stages(tableau, jacobian, h, in_slopes, in_state)
    after = np.empty(y.shape)
    for i in range(len(y) - 1, -1, -1):
        after[i] = slope
        slope = np.einsum("cnm,cm->cn", state[i, ..., 1:], slope) + state[i, ..., 0]
    weight = np.einsum("bscnm,bcm->bscn", weights[..., 1:], after) + weights[..., 0]
    return slope, Pull(t, at, weight)


def _sources(
    tableau: Tableau, passages: Passages, start: int, g: Array, h: Array, shape: tuple[int, ...]
) -> tuple[Array, Array]:
    """Find what flows into slopes and states of the steps from ``start`` on, in 1 + n columns.

    Column 0 comes from the requested times inside the steps; the others are unit vectors of the
    state at the end of a step.

    Returns
    -------
    in_slopes : (steps, stages, chains, n, 1 + n)
    in_state : (steps, chains, n, 1 + n)
    """
    n = shape[-1]
    in_slopes = np.zeros((len(h), len(tableau.b), *shape[1:], 1 + n))
    in_state = np.zeros((*shape, 1 + n))
    units = np.eye(n)
    in_state[..., 1:] = units
    scaled = tableau.b[:, None] * h[:, None]
    in_slopes[..., 1:] = scaled[..., None, None] * units
    place, chain = passages.step - start, passages.chain
    flow = g[chain, passages.output]
    share = at_fraction(tableau, passages.fraction) * h[place, chain, None]
    np.add.at(in_state[..., 0], (place, chain), flow)
    inflow = in_slopes[..., 0].swapaxes(1, 2)
    np.add.at(inflow, (place, chain), share[:, :, None] * flow[:, None])
    return in_slopes, in_state


def _through_stages(
    tableau: Tableau, jacobian: Array, h: Array, in_slopes: Array, in_state: Array
) -> tuple[Array, Array]:
    """Pull columns back through the stages of all steps of a block, the last stage first."""
    transposed = np.swapaxes(jacobian, -1, -2)
    step = h[..., None, None]
    for i in range(len(tableau.b) - 1, -1, -1):
        diagonal = tableau.A[i, i]
        if diagonal:
            in_slopes[:, i] = inverse(transposed[:, i], diagonal * h) @ in_slopes[:, i]
        back = transposed[:, i] @ in_slopes[:, i]
        in_state += back
        for j in np.flatnonzero(tableau.A[i, :i]):
            in_slopes[:, j] += tableau.A[i, j] * step * back
    return in_slopes, in_state
