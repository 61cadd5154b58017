"""Kernel of `fisher_hmc`: trajectories or Langevin steps, several at once if the density can.

T         length of a trajectory in time; zero for one Langevin step
h         step size
C         root of the inverse mass matrix                          see `numerics.roots`
rho       what is kept of the momentum

Coordinates in which the density jumps stay where they are, and are moved afterwards, see
`within_gibbs`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from probmodel.numerics.roots import Root
from probmodel.samplers.base import Info, Stretch
from probmodel.samplers.hamiltonian.dynamics import TWO_STAGE, Phase, with_momentum
from probmodel.samplers.hamiltonian.several_transitions import Drawn, Record, leapfrogs, several
from probmodel.samplers.hamiltonian.step_halving import FINEST, MOST, one_leapfrog, simulate_halving
from probmodel.samplers.hamiltonian.within_gibbs import Gibbs
from probmodel.samplers.metropolis import acceptance, select
from probmodel.samplers.streams import Streams
from probmodel.types import Array, Followed, LogDensity


class Kernel(NamedTuple):
    """A transition kernel of the chains.

    Attributes
    ----------
    step_size : h; of Langevin steps it may differ between chains, (chains,)
    length : T
    root : C
    gibbs : coordinates that are moved by themselves, if any
    jitter : share by which the lengths of trajectories vary
    persistence : rho
    max_steps : of a trajectory
    """

    step_size: float | Array
    length: float
    root: Root
    gibbs: Gibbs | None
    jitter: float
    persistence: float
    max_steps: int

    def drawn(self, streams: Streams, shape: tuple[int, int], n: int) -> Drawn:
        """Draw what is random in n transitions: momenta from one generator, numbers from another.

        Of a trajectory these are the number of its length, the levels of all chains, and the
        acceptance of all; of a Langevin step the last alone. What moves single coordinates follows.
        """
        rng, uniform = streams.generators
        columns = 1 + shape[0] * (FINEST + 1) if self.length else shape[0]
        columns += self._of_gibbs(shape[0])
        return rng.standard_normal((n, *shape)), uniform.random((n, columns))

    def drawn_once(self, rng: np.random.Generator, shape: tuple[int, int]) -> Drawn:
        """Draw what is random in one transition, a row for each chain at a time."""
        momenta, chains = rng.standard_normal(shape)[None], shape[0]
        levels = [rng.random(1), rng.random((chains, FINEST)).ravel()] if self.length else []
        numbers = [*levels, rng.random(chains), rng.random(self._of_gibbs(chains))]
        return momenta, np.concatenate(numbers)[None]

    def _of_gibbs(self, chains: int) -> int:
        """Numbers that moving single coordinates takes."""
        return 0 if self.gibbs is None else self.gibbs.numbers(chains)

    def made(self, density: LogDensity, start: Phase, drawn: Drawn) -> Stretch:
        """Make all transitions at once if the density can, or else the first one."""
        found = None
        if self.gibbs is not None:
            return Stretch(*self._moved_in_turn(density, start, drawn[0][0], drawn[1][0]))
        if not self.length:
            found = leapfrogs(density, start, self.root, drawn, self.step_size)
        elif not self.persistence:
            plan, most = self.plan, min(MOST, self.max_steps)
            found = several(density, start, self.root, drawn, plan, most)
        if found is None:
            return Stretch(*self._moved(density, start, drawn[0][0], drawn[1][0]))
        return found

    def _moved_in_turn(
        self, density: LogDensity, state: Phase, momentum: Array, numbers: Array
    ) -> tuple[Phase, Info]:
        """One transition, and moves of single coordinates."""
        gibbs: Any = self.gibbs
        own = len(numbers) - gibbs.numbers(len(momentum))
        new, info = self._moved(density, gibbs.smooth(state), momentum, numbers[:own])
        new, alpha, lost = gibbs.moved(density, new, numbers[own:])
        record, proposal = info.record._replace(single=alpha), gibbs.smooth(info.proposal)
        proposal = proposal._replace(logp=np.where(lost, -np.inf, proposal.logp))
        info = info._replace(n_grad=info.n_grad + 1, record=record, proposal=proposal)
        return gibbs.smooth(new), info

    def _moved(
        self, density: LogDensity, state: Phase, momentum: Array, numbers: Array
    ) -> tuple[Phase, Info]:
        """One transition, with what was drawn for it."""
        rho = self.persistence if self.length else 0.0
        if rho:
            momentum = rho * state.momentum + np.sqrt(1.0 - rho * rho) * momentum
        start, chains = with_momentum(state, momentum), len(momentum)
        time, cut_off, made = self._trajectory(density, start, numbers[:-chains])
        with np.errstate(invalid="ignore"):
            log_ratio = made.before - made.after + made.log_weight
        end = Phase(made.x, made.logp, made.grad, made.momentum)
        lost = made.failed | ~np.isfinite(end.logp)
        accept_prob = acceptance(np.where(lost, -np.inf, log_ratio))
        accepted = numbers[-chains:] < accept_prob
        stats = {
            "n_steps": made.taken,
            "energy": np.where(accepted, made.after, made.before),
            "cut_off": np.full(chains, cut_off),
        }
        record = Record(time, 0.5 * (1.0 + made.first) * accept_prob)
        new = select(accepted, end, start._replace(momentum=-momentum))
        return new, Info(accept_prob, accepted, made.failed, made.taken, state, end, stats, record)

    def _trajectory(
        self, density: LogDensity, start: Phase, numbers: Array
    ) -> tuple[float, bool, Followed]:
        """Length in time of the next trajectory, whether it was cut off, and the trajectory."""
        if not self.length:  # one leapfrog step: Langevin
            return 0.0, False, one_leapfrog(density, start, self.root, self.step_size)
        planned = self.plan(2.0 * numbers[:1] - 1.0)
        step, n, cut_off = (column.item() for column in planned)
        most, u = min(MOST, self.max_steps), numbers[1:].reshape(len(start.x), -1)
        made = simulate_halving(density, start, self.root, step, n, u, TWO_STAGE, most)
        return n * step, cut_off, made

    def plan(self, u: Array) -> tuple[Array, Array, Array]:
        """Usual step sizes and numbers of steps of trajectories, and whether they are cut off."""
        t, h = self.length * (1.0 + self.jitter * u), float(self.step_size)
        with np.errstate(divide="ignore", over="ignore"):
            wanted = np.maximum(1.0, np.round(t / h))
        n = np.minimum(wanted, self.max_steps)
        return np.minimum(h, t / n), n.astype(int), n < wanted
