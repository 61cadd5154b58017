"""Affine-invariant ensemble: chains move along lines through others, and need no tuning.

    x, y       positions of the chains that move, proposals              (chains / 2, dim)
    x_j, x_k   positions of chains of the other half, drawn at random    (chains / 2, dim)
    z          stretch, with the density g(z) ~ 1 / sqrt(z) on [1/a, a]  (chains / 2,)
    gamma      scale of a difference of two chains                       (chains / 2,)
    alpha      acceptance probability                                    (chains,)

    stretch       y = x_j + z (x - x_j),      alpha = min(1, z^(dim - 1) pi(y) / pi(x))
    difference    y = x + gamma (x_j - x_k),  alpha = min(1, pi(y) / pi(x))

    Goodman and Weare (2010), "Ensemble samplers with affine invariance", CAMCoS 5(1): the stretch
    move.
    Foreman-Mackey, Hogg, Lang and Goodman (2013), "emcee: the MCMC hammer", PASP 125, Algorithm 3:
    two halves of the ensemble, each moved at once with the other one fixed. Numbers of equations
    are those of this paper.
    ter Braak (2006), "A Markov chain Monte Carlo version of the genetic algorithm differential
    evolution", Statistics and Computing 16: differences, with gamma = 2.38 / sqrt(2 dim), or one in
    a tenth of them, which takes chains from mode to mode.

A linear map of the posterior maps the moves, so that scales and correlations do not matter. All
chains of a group are one Markov chain, whose law is the product of as many posteriors. The halves
are drawn anew in each iteration. The chains have to span the space, and so has either half of them:
moves leave the chains of their half, and go within what the others span.

Deviations: each move is a difference with probability ``difference``, else a stretch; differences
carry the information of two positions and are worth several times as much from five dimensions on.
gamma varies by a twentieth unless it is one, where ter Braak adds a little noise to y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from probmodel.adaptation.ensemble import overstatement
from probmodel.errors import SamplerError
from probmodel.samplers.base import Coupling, Info, Need, Remark, State
from probmodel.samplers.metropolis import check_start, decide, evaluate_value, placed
from probmodel.samplers.settings import check_number, check_share
from probmodel.samplers.untuned import NoParams, UntunedSampler
from probmodel.types import Array, LogDensity

WHOLE = 0.1  # share of the differences with gamma = 1
VARIATION = 0.05  # standard deviation of gamma over its mean
TIMES = 50  # correlation times that a run is to last
SLOW = 1.7  # what `overstatement` finds in a run that lasts `TIMES`, and more in a shorter one


@dataclass(frozen=True)
class AffineEnsemble(UntunedSampler):
    """Affine-invariant ensemble sampler with stretch moves and differences.

    Parameters
    ----------
    scale : float
        a, above 1: the longest stretch; 1/a is the shortest.
    difference : float
        Share of the moves that are differences of two chains, from 0 to below 1; with 0 all are
        stretches, as in emcee by default.
    """

    scale: float = 2.0
    difference: float = 0.8

    name: ClassVar[str] = "stretch"
    summary: ClassVar[str] = "affine-invariant ensemble of chains, no gradients"
    paper: ClassVar[str] = "Goodman and Weare (2010); ter Braak (2006)"
    needs: ClassVar[Need] = "log density"
    learns: ClassVar[str] = "nothing: chains move along others"
    cost: ClassVar[str] = "1 log density"
    coupling: ClassVar[Coupling] = "ensemble"
    default_warmup: ClassVar[int] = 2000
    default_draws: ClassVar[int] = 6000
    default_chains: ClassVar[int] = 32

    def __post_init__(self) -> None:
        check_number(self.name, "scale", self.scale, above=1.0)
        check_share(self.name, "difference", self.difference)

    def min_chains(self, dim: int) -> int:
        """Return how many span the space twice."""
        return 2 * (dim + 1)

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        """State at the starting points; its gradient is zeros.

        Raises
        ------
        SamplerError
            If the log density is not finite at a starting point, or they span no volume.
        """
        state: State = check_start(self.name, evaluate_value(density, x))
        offsets = x - x.mean(axis=0)
        size = np.abs(offsets).max(axis=0)
        rank = np.linalg.matrix_rank(offsets / np.where(size > 0.0, size, 1.0))
        if rank < x.shape[1]:
            raise SamplerError(
                f"{self.name}: the {len(x)} starting points span {rank} of {x.shape[1]} "
                "dimensions, and no move leaves what they span. Give points in general position "
                "(inits=), or leave them out.",
                rank=int(rank), dim=x.shape[1],
            )  # fmt: skip
        return state

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: NoParams
    ) -> tuple[State, Info]:
        """Move one half of the chains, drawn at random, and then the other."""
        first, second = np.array_split(rng.permutation(len(state.x)), 2)
        new, moved = state, []
        for own, others in ((first, second), (second, first)):
            before = _rows(new, own)
            y, log_factor = self._propose(rng, before.x, new.x[others])
            proposal = evaluate_value(density, y)
            with np.errstate(over="ignore"):
                log_ratio = log_factor + proposal.logp - before.logp
            after, info = decide(rng, log_ratio, before, proposal, n_grad=0)
            new = placed(new, own, after)
            moved.append(info)
        back = np.argsort(np.concatenate([first, second]))
        return new, _joined(moved, back, state)

    def _propose(self, rng: np.random.Generator, x: Array, others: Array) -> tuple[Array, Array]:
        """Propose a move of each chain, and the logarithm of what multiplies pi(y) / pi(x)."""
        n, dim = len(x), x.shape[1]
        j = rng.integers(len(others), size=n)
        k = rng.integers(len(others) - 1, size=n)
        k += k >= j  # any but j
        z = np.square(1.0 + (self.scale - 1.0) * rng.random(n)) / self.scale  # eq. 10
        gamma = (1.0 + VARIATION * rng.standard_normal(n)) * 2.38 / np.sqrt(2.0 * dim)
        gamma = np.where(rng.random(n) < WHOLE, 1.0, gamma)
        stretched = others[j] + z[:, None] * (x - others[j])  # eq. 7
        shifted = x + gamma[:, None] * (others[j] - others[k])
        differs = rng.random(n) < self.difference
        y = np.where(differs[:, None], shifted, stretched)
        return y, np.where(differs, 0.0, (dim - 1) * np.log(z))  # eq. 9

    def remarks(self, params: NoParams, stats: dict[str, Array]) -> list[Remark]:
        """Say so if the run is short in view of how long the chains remember."""
        lp = stats["lp"]
        if overstatement(lp, short=max(1, lp.shape[1] // TIMES)) <= SLOW:
            return []
        message = (
            f"The run of {lp.shape[1]} draws is shorter than {TIMES} correlation times of the log "
            "density, so that the chains may not have arrived, and effective sample sizes are "
            "estimates from few independent draws. Raise draws and warmup, or with more than some "
            "20 parameters use a method that follows gradients."
        )
        return [Remark("slow_ensemble", message)]


def _rows(state: State, rows: Array) -> State:
    return State(*(values[rows] for values in state))


def _joined(moved: list[Info], back: Array, previous: State) -> Info:
    """Put what is known of both halves in the order of the chains."""
    columns = zip(*((*info[:4], *info.proposal) for info in moved), strict=True)
    accept_prob, accepted, diverging, n_grad, *proposal = (
        np.concatenate(pair)[back] for pair in columns
    )
    return Info(accept_prob, accepted, diverging, n_grad, previous, State(*proposal), {})
