"""Entropy-based adaptive Hamiltonian Monte Carlo: the mass matrix is learned by gradients.

    q        position                                                       (chains, dim)
    C        root of the inverse mass matrix, M^-1 = C C'                   see `projections`
    theta    parameters of C                                                one array
    h        step size; one, because C carries the scale                    ()
    L        leapfrog steps, `n_steps`                                      ()
    v, r_L   whitened momentum at the start and the end of a trajectory     (chains, dim)
    Delta    energy at the end less that at the start                       (chains,)
    alpha    acceptance probability, min(1, exp(-Delta))                    (chains,)
    E        loss: max(0, Delta) less beta times the proposal's entropy     (chains,)
    mu       largest eigenvalue, in size, of the D of `entropy_loss`        (chains,)
    beta     weight of the entropy, steered by the acceptance rate          ()
    gamma    weight of the penalty for |mu| above delta                     ()
    lambda   running mean of alpha |q_L - q_0|^power                        ()

    Hirt, Titsias and Dellaportas (2021), "Entropy-based adaptive Hamiltonian Monte Carlo",
    Algorithm 1 and appendices A and D.

Deviations. A proposal that is not finite is left out of the means; where none is finite, h becomes
h (1 - learning rate). gamma rises by `entropy_rate` gamma times the penalty: the paper prints no
rate for it. The published steps of theta have a size chosen for each target, from a C whose scale
is chosen for each target, which is of no use where scales are unknown or differ by orders of
magnitude. `robust`, the default, has instead, in the warm-up alone:

1. C starts as the multiple of the identity with which about half of the proposals are accepted,
   found by trying.
2. Steps of theta are relative to C (see `projections`), so that learning takes the same course
   whatever the scales of the target; those of a dense C are bounded in norm too.
3. Entries of the gradient, whose scale is beta, are clipped at half of it, not only at `clip`:
   after the spikes of the first iterations Adam would hardly take steps for long.
4. In the second half of the warm-up the learning rate falls to zero in a straight line (`decay`):
   at a fixed one C keeps some of the noise of the last gradients.
5. Chains that keep being rejected take shorter steps, and are not learned from, until they move.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from probmodel.adaptation.adam import MOMENTUM
from probmodel.adaptation.roulette import LEAST
from probmodel.errors import SamplerError
from probmodel.samplers.base import Coupling, Info, Need, Remark, Sampler
from probmodel.samplers.hamiltonian.entropy_linear import LinearKernel
from probmodel.samplers.settings import MOST_STEPS, check_number, check_types, check_whole
from probmodel.types import Array, LogDensity

Preconditioner = Literal["diag", "dense", "tridiagonal", "realnvp"]
Objective = Literal["gsm", "esjd", "l2hmc"]

ROBUST_RATE, PUBLISHED_RATE = 0.03, 1e-3  # learning rates
FEW = 0.5  # share of the acceptance rate aimed at, below which there is a remark


@dataclass(frozen=True)
class EntropyHMC(Sampler):
    """Entropy-based adaptive Hamiltonian Monte Carlo.

    Parameters
    ----------
    preconditioner : {"diag", "dense", "tridiagonal", "realnvp"}
        Form of the root C of the inverse mass matrix: a diagonal; a lower triangular matrix; the
        inverse of an upper bidiagonal one, so that the mass matrix is tridiagonal, for a chain of
        parameters each of which depends on its neighbours; or, for an even number of parameters, a
        nonlinear map given by a network.
    objective : {"gsm", "esjd", "l2hmc"}
        Objective of the adaptation: the generalised speed measure, of acceptance and entropy; or,
        for comparison, the expected squared jump, alone or with its inverse.
    n_steps : int
        L, leapfrog steps of a trajectory, at least 1.
    target_accept : float
        Target acceptance rate for beta, between 0 and 1; for ``"gsm"`` only.
    learning_rate : float, optional
        Step size of Adam, above 0. If not given it is 0.03, or 0.001 with ``robust=False`` and for
        ``"realnvp"``.
    decay : bool, optional
        Whether the learning rate falls to zero in the second half of the warm-up; if not given,
        only with ``robust=True``.
    momentum : float
        Weight of the past in Adam's mean gradient, from 0 to below 1.
    clip : float
        Largest entry of a gradient, above 0; ``robust=True`` also bounds it by half of beta.
    entropy_rate : float
        Rate of beta and gamma, between 0 and 1.
    penalty_start : float
        delta, the |mu| above which there is a penalty, between 0 and 1.
    penalty_slope : float
        Slope of the penalty for |mu| above delta + 1, above 0. It is smooth with 2.
    least_terms : int
        n0, the smallest number of terms of the series for the entropy, at least 1.
    exact : bool
        Whether ``"gsm"`` differentiates the energy through the gradients of a trajectory too,
        which takes L more Hessian-vector products.
    jump_power : float
        Power of the length of a jump in ``"esjd"`` and ``"l2hmc"``, above 0.
    initial_scale : float, optional
        Scale of the first C, above 0. If not given it is found by trial steps, or is dim^(-1/3)
        with ``robust=False``, where the first C is random.
    width : int
        Hidden units of the two layers of ``"realnvp"``, at least 1.
    robust : bool
        Whether to add to Algorithm 1 the changes listed at the head of this file, or of
        entropy_flow.py for ``"realnvp"``.
    """

    preconditioner: Preconditioner = "dense"
    objective: Objective = "gsm"
    n_steps: int = 5
    target_accept: float = 0.67
    learning_rate: float | None = None
    decay: bool | None = None
    momentum: float = MOMENTUM
    clip: float = 1e3
    entropy_rate: float = 0.1
    penalty_start: float = 0.75
    penalty_slope: float = 1.0
    least_terms: int = LEAST
    exact: bool = False
    jump_power: float = 2.0
    initial_scale: float | None = None
    width: int = 50
    robust: bool = True

    name: ClassVar[str] = "entropy_hmc"
    summary: ClassVar[str] = "HMC whose mass matrix is learned for acceptance and entropy"
    paper: ClassVar[str] = "Hirt, Titsias and Dellaportas (2021)"
    needs: ClassVar[Need] = "hvp"
    learns: ClassVar[str] = "mass matrix, by gradients"
    cost: ClassVar[str] = "L gradients, 2 L products with C"
    coupling: ClassVar[Coupling] = "pooled_warmup"
    target_is_floor: ClassVar[bool] = True  # where the entropy has its largest weight
    default_warmup: ClassVar[int] = 1000
    default_draws: ClassVar[int] = 1000
    default_chains: ClassVar[int] = 10

    def __post_init__(self) -> None:
        check_types(self.name, self)
        for setting in ("n_steps", "least_terms", "width"):
            check_whole(self.name, setting, getattr(self, setting), least=1, most=MOST_STEPS)
        for setting in ("target_accept", "entropy_rate", "penalty_start"):
            check_number(self.name, setting, getattr(self, setting), above=0.0, below=1.0)
        for setting in ("clip", "penalty_slope", "jump_power"):
            check_number(self.name, setting, getattr(self, setting), above=0.0)
        for setting in ("learning_rate", "initial_scale"):
            check_number(self.name, setting, getattr(self, setting), above=0.0, optional=True)
        if self.momentum != 0.0:
            check_number(self.name, "momentum", self.momentum, above=0.0, below=1.0)
        if self.preconditioner == "realnvp" and (self.objective != "gsm" or self.exact):
            raise SamplerError(
                f'{self.name}: preconditioner="realnvp" is learned with objective="gsm" and '
                f"exact=False only, got {self.objective!r} and {self.exact}.",
                objective=self.objective, exact=self.exact,
            )  # fmt: skip

    @property
    def aim(self) -> float | None:
        """Acceptance rate that beta is steered to; None where an objective has no beta."""
        return self.target_accept if self.objective == "gsm" else None

    @property
    def rate(self) -> float:
        """Learning rate, given or by default."""
        if self.learning_rate is not None:
            return self.learning_rate
        return ROBUST_RATE if self.robust and self.preconditioner != "realnvp" else PUBLISHED_RATE

    def rate_at(self, i: int, n_warmup: int) -> float:
        """Learning rate of iteration ``i`` of the warm-up."""
        decays = self.robust if self.decay is None else self.decay
        return self.rate * (min(1.0, 2.0 * (1.0 - i / n_warmup)) if decays else 1.0)

    @cached_property
    def _kernel(self) -> Any:
        """What does the work: one object for the linear preconditioners, one for the network."""
        if self.preconditioner != "realnvp":
            return LinearKernel(self)
        from probmodel.samplers.hamiltonian.entropy_flow import FlowKernel

        return FlowKernel(self)

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> Any:
        """State at the starting points."""
        return self._kernel.init(rng, density, x)

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: Any, params: Any
    ) -> tuple[Any, Info]:
        """One Hamiltonian transition of every chain."""
        moved: tuple[Any, Info] = self._kernel.step(rng, density, state, params)
        return moved

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: Any) -> Any:
        """Adaptation before the first transition."""
        return self._kernel.adapt_init(rng, density, state)

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: Any,
        state: Any,
        info: Info,
    ) -> Any:
        """Take one step along the gradient of the loss."""
        return self._kernel.adapt(rng, density, i, n_warmup, adaptation, state, info)

    def params(self, adaptation: Any, final: bool = False) -> Any:
        """Root and step size of the next transition."""
        return self._kernel.params(adaptation, final)

    def remarks(self, params: Any, stats: dict[str, Array]) -> list[Remark]:
        """Complain of an acceptance rate that is far too low, and of too large an eigenvalue."""
        remarks = []
        accepted = float(np.mean(stats["acceptance_rate"]))
        if accepted < FEW * self.target_accept:
            aim = "" if self.aim is None else f" where target_accept is {self.aim:g}"
            message = (
                f"{self.name} accepted {accepted:.2f} of its proposals{aim}: what it learned is of "
                "little use. Raise warmup, lower n_steps, or use nuts."
            )
            remarks.append(Remark("low_acceptance", message))
        if getattr(params, "mu", 0.0) >= 1.0:
            message = (
                f"At the end of the warm-up of {self.name} the largest eigenvalue of D was "
                f"{params.mu:.2g} in size: from 1 on its estimate of the entropy is none, and what "
                "it learned may be of little use. Raise warmup, or lower n_steps."
            )
            remarks.append(Remark("large_eigenvalue", message))
        return remarks
