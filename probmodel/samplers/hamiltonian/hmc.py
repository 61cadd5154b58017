"""Hamiltonian Monte Carlo: the end of a trajectory of a fixed number of leapfrog steps.

    q, r      position, whitened momentum                            (chains, dim)
    C         root of the inverse mass matrix, M^-1 = C C'           see `numerics.roots`
    h         step size                                              ()
    L         leapfrog steps of a trajectory; L_r, of a random one   ()
    alpha     Metropolis-Hastings probability of its end             (chains,)
    a         whether the end was accepted                           (chains,)

    Duane, Kennedy, Pendleton and Roweth (1987), "Hybrid Monte Carlo", Physics Letters B 195(2);
    Neal (2011), "MCMC using Hamiltonian dynamics". `windowed` is the warm-up.

``random_steps`` draws L_r uniformly from 1, ..., L for each transition, as in Wang, Mohamed and de
Freitas (2013), "Adaptive Hamiltonian and Riemann manifold Monte Carlo samplers", Algorithm 1; all
chains take the same L_r. ``metric="identity", steering="robbins_monro", random_steps=False`` is the
sampler of the tables of Titsias and Dellaportas (2019), "Gradient-based adaptive Markov chain Monte
Carlo": h starts at 0.5 / dim and is multiplied by 1 + 0.01 (a - target) / target.
``metric="identity", steering="fixed"`` is Hamiltonian Monte Carlo as in textbooks, with nothing
learned.

Deviation: chains that share h apply that rule for it once each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.adaptation.robbins_monro import rm_ratio
from probmodel.adaptation.steering import Steering
from probmodel.errors import SamplerError
from probmodel.numerics.roots import Root
from probmodel.samplers.base import Info, State
from probmodel.samplers.hamiltonian.dynamics import hamiltonian_step
from probmodel.samplers.hamiltonian.windowed import Params, Record, WindowedSampler
from probmodel.samplers.settings import MOST_STEPS, check_whole
from probmodel.types import Array, LogDensity

SteeringName = Literal["dual_averaging", "robbins_monro", "fixed"]

RATE = 0.01  # of the Robbins-Monro rule
FIRST = 0.5  # over dim: where that rule starts


class RobbinsMonro(NamedTuple):
    """Logarithm of h, steered by the published rule."""

    log_step: float

    def step_size(self, final: bool = False) -> float:
        """Step size of the next iteration."""
        return float(np.exp(self.log_step))

    def restarted(self, step_size: float) -> RobbinsMonro:
        """Begin anew."""
        return RobbinsMonro(float(np.log(step_size)))

    def learned(self, accept_prob: Array, accepted: Array, target: float) -> RobbinsMonro:
        """Apply the rule once for every chain."""
        return RobbinsMonro(rm_ratio(self.log_step, accepted.astype(float), target, RATE))


class Fixed(NamedTuple):
    """The step size that was given, whatever comes of it."""

    given: float

    def step_size(self, final: bool = False) -> float:
        """Step size of the next iteration."""
        return self.given

    def restarted(self, step_size: float) -> Fixed:
        """Stay as it is."""
        return self

    def learned(self, accept_prob: Array, accepted: Array, target: float) -> Fixed:
        """Stay as it is."""
        return self


@dataclass(frozen=True)
class HMC(WindowedSampler):
    """Hamiltonian Monte Carlo with a fixed, or random, number of leapfrog steps.

    Parameters
    ----------
    step_size : float, optional
        Initial step size h; found by trial steps if not given. With ``steering="fixed"`` it has to
        be given, and stays.
    target_accept : float, optional
        Target acceptance rate for h, between 0 and 1; 0.65 if not given. (0.651 is optimal in high
        dimension.) With ``steering="fixed"`` there is none.
    metric, inv_metric : as in `WindowedSampler`
    n_steps : int
        Leapfrog steps L of a trajectory; at least 1.
    random_steps : bool
        Whether each trajectory takes a random number of steps, from 1 to ``n_steps``, so that no
        direction returns to its start every time.
    steering : {"dual_averaging", "robbins_monro", "fixed"}
        Rule by which the warm-up adapts h: the second is a published rule, for comparison; the
        third keeps h as it is given.

    Raises
    ------
    SamplerError
        If a setting is out of its range, or does not go with the steering.
    """

    n_steps: int = 10
    random_steps: bool = True
    steering: SteeringName = "dual_averaging"

    name: ClassVar[str] = "hmc"
    summary: ClassVar[str] = "Hamiltonian trajectories of a given number of steps"
    paper: ClassVar[str] = "Duane et al. (1987); Neal (2011)"
    learns: ClassVar[str] = "step size, mass matrix"
    usual_accept: ClassVar[float] = 0.65
    cost: ClassVar[str] = "n_steps gradients, or half of that where random"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole(self.name, "n_steps", self.n_steps, least=1, most=MOST_STEPS)
        if self.steering == "fixed":
            self._check_fixed()

    def _check_fixed(self) -> None:
        """Require the step size, and no target for it."""
        if self.step_size is None:
            raise SamplerError(
                f'{self.name}: steering="fixed" keeps the step size that is given; step_size is '
                "None. Give step_size=, or leave out steering= to have it found.",
                setting="step_size", value=None,
            )  # fmt: skip
        if self.target_accept is not None:
            raise SamplerError(
                f'{self.name}: steering="fixed" keeps step_size, whatever acceptance comes of it; '
                f"got target_accept={self.target_accept!r}. Leave out target_accept= or steering=.",
                setting="target_accept", value=self.target_accept,
            )  # fmt: skip

    @property
    def aim(self) -> float | None:
        """Acceptance rate that the step size is steered to; None if it is fixed."""
        return None if self.steering == "fixed" else self._target

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One trajectory of every chain, whose end is accepted or not."""
        n_steps = int(rng.integers(1, self.n_steps + 1)) if self.random_steps else self.n_steps
        new, info = hamiltonian_step(rng, density, state, params.root, params.step_size, n_steps)
        lost = info.diverging[:, None]
        return new, info._replace(record=Record(np.where(lost, info.proposal.x, np.nan)))

    def _first_steering(
        self, rng: np.random.Generator, density: LogDensity, state: State, root: Root
    ) -> Steering:
        if self.steering == "dual_averaging":
            return super()._first_steering(rng, density, state, root)
        if self.steering == "fixed" and self.step_size is not None:
            return Steering(Fixed(self.step_size), None, np.nan, shared=True)
        rule = RobbinsMonro(float(np.log(self.step_size or FIRST / density.dim)))
        return Steering(rule, None, self._target, shared=True)
