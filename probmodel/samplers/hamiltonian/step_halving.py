"""Locally adaptive trajectories: steps are halved where the posterior is narrow.

    z        where a trajectory begins: position and momentum             see `hamiltonian`
    -z       the same with the momentum turned round
    j        level, from 0 to J: steps of size h / 2^j
    n_j      how many of them: n 2^j, for the same time, but no more than `MOST` (or n)
    z'       where the trajectory of level j ends
    D_j(z)   largest energy along that trajectory less the smallest       (chains,)
    a_j(z)   exp(-max(0, D_j(z) - `CERTAIN_RANGE`)), the probability of keeping to level j
    p_j(z)   a_j(z) prod_{i < j} (1 - a_i(z)), that of the level          (chains,)

One step size does not suit a posterior whose scale changes from place to place: where it narrows,
in a neck or along a ridge, the step of the bulk is never accepted, and chains can neither enter nor
leave. So a trajectory is tried with the usual step first, then with one half as long, and so on,
and each is kept to with the probability a_j. The level is thus drawn anew with each momentum, and
the end of the trajectory, turned round, is a proposal on the larger space of positions, momenta and
levels. Where halving goes on, trajectories take less time: longer ones would cost more than they
are worth in places that are seldom visited. The end is accepted with the probability

    min(1, exp(H(z) - H(z')) p_j(-z') / p_j(z)).

The same points lie on the trajectory from either end, hence a_j(-z') = a_j(z), and what is left of
the last ratio is prod_{i < j} (1 - a_i(-z')) / (1 - a_i(z)): the levels that were passed over are
tried from the end, too. Where D_0 is small, as it is nearly everywhere in most posteriors, nothing
is tried twice.

    Bou-Rabee, Carpenter and Marsden (2024), "GIST: Gibbs self-tuning for locally adaptive
    Hamiltonian Monte Carlo", arXiv:2404.15253: why drawing a setting like that is valid.
    Bou-Rabee, Carpenter, Kleppe and Liu (2025), "The within-orbit adaptive leapfrog no-U-turn
    sampler", arXiv:2506.18746: halved steps, and the range of the energy to judge them by.

Deviations. They choose a level for each step of a trajectory, which is finer; but a single step for
which another level would be chosen from the other end invalidates the whole trajectory. Along the
ridge of a differential equation's rate this was every second trajectory. And a_j falls smoothly,
where a sharp bound has the same effect.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.numerics.roots import Root
from probmodel.samplers.hamiltonian.dynamics import (
    LEAPFROG,
    Integrator,
    Phase,
    advance,
    follow,
    simulate,
)
from probmodel.samplers.metropolis import placed
from probmodel.types import Array, Followed, Halving, LogDensity

CERTAIN_RANGE = 2.0  # D_j up to which a level is always kept to
LARGEST_RANGE = 30.0  # D_j beyond which it never is, and the trajectory is broken off
FINEST = 10  # J
MOST = 16  # n_j, unless n is larger


def simulate_halving(
    density: LogDensity,
    start: Phase,
    root: Root,
    step_size: float,
    n_steps: int,
    u: Array,
    integrator: Integrator,
    most: int = MOST,
) -> Followed:
    """Follow the dynamics for the time ``step_size * n_steps``, halving steps where needed.

    Parameters
    ----------
    density : the target
    start : z
    root : C
    step_size, n_steps : h and n, of level 0
    u : (chains, J), uniform numbers, by which the levels are chosen
    most : n_j, unless n is larger

    Returns
    -------
    Followed
        The ends, z', or what was tried last where all levels failed; a_0(z), the logarithm of
        p_j(-z') / p_j(z), and j; ``taken`` counts the gradients of all that was tried.
    """
    chains, finest = u.shape
    halving = Halving(u, most, CERTAIN_RANGE, LARGEST_RANGE)
    made = follow(density, start, root, step_size, n_steps, integrator, halving)
    if made is not None:
        return made
    end, log_weight = start, np.zeros(chains)

    def followed(begin: Phase, j: int) -> _Tried:
        steps = max(n_steps, min(n_steps * 2**j, most))
        return _trajectories(density, begin, root, step_size / 2**j, steps, integrator)

    level, taken = np.zeros((2, chains), dtype=int)
    failed, first = np.zeros(chains, dtype=bool), np.zeros(chains)
    left = np.arange(chains)
    for j in range(finest + 1):
        begin = start if j == 0 else start.rows(left)
        tried = followed(begin, j)
        taken[left] += tried.taken
        level[left] = j
        if j == 0:
            first = tried.kept
        keep = tried.kept > (0.0 if j == finest else u[left, j])
        end = tried.end if j == 0 else placed(end, left, tried.end)
        left, refused = left[~keep], tried.kept[~keep]
        if j == finest:
            failed[left] = True
        elif not left.size:
            break
        else:
            log_weight[left] -= np.log1p(-refused)
    for j in range(int(level.max(initial=0))):
        rows = np.flatnonzero((level > j) & ~failed & np.isfinite(log_weight))
        back = end.rows(rows)
        tried = followed(back._replace(momentum=-back.momentum), j)
        taken[rows] += tried.taken
        with np.errstate(divide="ignore"):
            log_weight[rows] += np.log1p(-tried.kept)
    return _followed(start, end, first, log_weight, level, failed, taken)


def one_leapfrog(
    density: LogDensity, start: Phase, root: Root, step_size: float | Array
) -> Followed:
    """One leapfrog step of the given size, whatever the place; it may differ between chains."""
    end, taken = simulate(density, start, root, step_size, 1, LEAPFROG)
    no = np.zeros(len(taken))
    return _followed(
        start, end, np.ones(len(taken)), no, no.astype(int), np.isneginf(end.logp), taken
    )


def _followed(start: Phase, end: Phase, *found: Array) -> Followed:
    """Where trajectories led, and what else was found: from a_0(z) on."""
    x, logp, grad, momentum = end
    return Followed(x, grad, momentum, logp, start.energy, end.energy, *found)


class _Tried(NamedTuple):
    """Trajectories of one level: their ends, a_j, and the gradients they took."""

    end: Phase
    kept: Array
    taken: Array


def _trajectories(
    density: LogDensity,
    start: Phase,
    root: Root,
    step_size: float,
    n_steps: int,
    integrator: Integrator,
) -> _Tried:
    """Follow the dynamics for as long as the energy stays within bounds."""
    phase, energy = start, start.energy
    low, high = energy.copy(), energy.copy()
    kept, taken = np.zeros(len(energy)), np.zeros(len(energy), dtype=int)
    rows = np.arange(len(energy))
    for _ in range(n_steps):
        if not rows.size:
            break
        if rows.size == len(kept):
            phase = moved = advance(density, phase, root, step_size, integrator)
        else:
            moved = advance(density, phase.rows(rows), root, step_size, integrator)
            phase = placed(phase, rows, moved)
        energy = moved.energy
        taken[rows] += integrator.gradients
        low[rows], high[rows] = np.fmin(low[rows], energy), np.fmax(high[rows], energy)
        with np.errstate(invalid="ignore"):
            rows = rows[high[rows] - low[rows] <= LARGEST_RANGE]
    kept[rows] = np.exp(-np.maximum(high[rows] - low[rows] - CERTAIN_RANGE, 0.0))
    return _Tried(phase, kept, taken)
