"""Metropolis-within-Gibbs: single coordinates in which the density jumps, moved by themselves.

    j        coordinate in which the log density jumps, or has an edge       (k,)
    s_j      scale of its proposals                                          (k,)
    y_j      proposal, x_j + s_j e, e standard Cauchy                        (chains,)
    alpha_j  Metropolis probability                                          (chains, k)

A gradient says nothing of a jump. A trajectory that crosses one meets an error of its energy that
no shorter step makes smaller, so that step sizes would shrink without end, in all coordinates. Here
such coordinates stay where they are during a trajectory, which is then one of the conditional
density of the others, and are moved one after the other when it has ended. Both leave the posterior
invariant. The tails of the proposals reach other modes, as change points have.

The scales are steered to an acceptance of `TARGET` in the warm-up: of one coordinate that is normal
the variance of the mean is then 6.4 times that of independent draws, of one that is exponential,
from an edge on, 15 times. (By solving for the transition operator on a grid.)

    Metropolis et al. (1953), "Equation of state calculations by fast computing machines".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.numerics.jumps import find_jumps
from probmodel.samplers.base import State
from probmodel.samplers.hamiltonian.dynamics import Phase, with_momentum
from probmodel.samplers.metropolis import acceptance, evaluate, select
from probmodel.types import Array, LogDensity

TARGET = 0.35
GAIN, DECAY = 3.0, 0.6  # log s changes by GAIN n^-DECAY for a whole unit of acceptance
SWEEPS = 3  # times that each coordinate is moved in an iteration, or
MOVES = 20  # fewer times, if all together would be moved more often than this
MOST = 50  # coordinates


class Gibbs(NamedTuple):
    """Coordinates that are moved by themselves.

    Attributes
    ----------
    coordinates : (k,) int
    log_scale : (k,), log s
    n : iterations that s has been learned from
    """

    coordinates: Array
    log_scale: Array
    n: int = 0

    def numbers(self, chains: int) -> int:
        """Return how many uniform numbers an iteration takes."""
        return 2 * self._sweeps * chains * len(self.coordinates)

    @property
    def _sweeps(self) -> int:
        return max(1, min(SWEEPS, MOVES // len(self.coordinates)))

    def moved(self, density: LogDensity, phase: Phase, u: Array) -> tuple[Phase, Array, Array]:
        """Move each coordinate of all chains in turn.

        Returns alpha, too, and in which chains this ended where only the gradient is not finite:
        these stay.
        """
        sweeps, k = self._sweeps, len(self.coordinates)
        of_steps, of_acceptance = u.reshape(2, sweeps * k, -1)
        steps = np.tile(np.exp(self.log_scale), sweeps)[:, None] * np.tan(np.pi * (of_steps - 0.5))
        x, logp, alpha = phase.x.copy(), phase.logp, np.empty_like(steps)
        for i, j in enumerate(np.tile(self.coordinates, sweeps)):
            y = x.copy()
            y[:, j] += steps[i]
            proposed = density.log_density(y)
            with np.errstate(invalid="ignore"):
                alpha[i] = acceptance(proposed - logp)
            accepted = of_acceptance[i] < alpha[i]
            x[accepted], logp = y[accepted], np.where(accepted, proposed, logp)
        state = evaluate(density, x)
        fine = np.isfinite(state.logp)
        moved = with_momentum(select(fine, state, phase.state), phase.momentum)
        return moved, alpha.reshape(sweeps, k, -1).mean(axis=0).T, ~fine

    def smooth(self, phase: Phase) -> Phase:
        """Return a phase without the scores of these coordinates, of which nobody is to learn."""
        grad = phase.grad.copy()
        grad[:, self.coordinates] = 0.0
        return phase._replace(grad=grad)

    def learned(self, alpha: Array) -> Gibbs:
        """Steer the scales by the acceptance of an iteration: (chains, k)."""
        gain = GAIN / (self.n + 1) ** DECAY
        log_scale = self.log_scale + gain * (alpha.mean(axis=0) - TARGET)
        return self._replace(log_scale=log_scale, n=self.n + 1)


def separated(density: LogDensity, state: State, known: Gibbs | None = None) -> Gibbs | None:
    """Find the coordinates in which the density jumps, beside those known; None if it does in none.

    None, too, if they are more than `MOST`: then they move as the others do.
    """
    jumps = find_jumps(density, state.x)
    log_scale = np.log(np.maximum(np.std(state.x, axis=0), np.finfo(float).tiny))
    log_scale[np.ptp(state.x, axis=0) == 0.0] = 0.0
    if known is not None:
        jumps[known.coordinates], log_scale[known.coordinates] = True, known.log_scale
    coordinates = np.flatnonzero(jumps)
    if not 0 < len(coordinates) <= MOST:
        return None
    return Gibbs(coordinates, log_scale[coordinates], 0 if known is None else known.n)
