"""Riemannian manifold Hamiltonian Monte Carlo: the mass matrix depends on the position.

    x, p      position, momentum: p ~ N(0, G(x))                          (chains, dim)
    G         metric                                                      (chains, dim, dim)
    U         minus the log density
    H         U(x) + 1/2 log |G(x)| + 1/2 p' G(x)^-1 p                    (chains,)
    epsilon   step size                                                   ()
    L         most steps of a trajectory; L_r are taken                   ()
    alpha     min(1, exp(H before - H after))                             (chains,)

    Girolami and Calderhead (2011), "Riemann manifold Langevin and Hamiltonian Monte Carlo methods",
    JRSS B 73(2), with the generalised leapfrog of `riemannian`. A new L_r from 1 to L for every
    trajectory is as in Wang, Mohamed and de Freitas (2013), "Adaptive Hamiltonian and Riemann
    manifold Monte Carlo samplers", ICML. Dual averaging of the step size: Hoffman and Gelman
    (2014), "The No-U-Turn Sampler", JMLR 15.

Deviations. The papers choose the step size by hand; here the warm-up adapts it, unless
``adapt_step_size=False``. A trajectory that was given up counts as acceptance 0: its step was too
long. Gradients of the metric come from the density, or by differences where it has none or these
take less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from probmodel.adaptation.dual_averaging import DualAveraging, average, start_averaging
from probmodel.errors import SamplerError
from probmodel.samplers.base import Coupling, Info, Need, Remark, Sampler
from probmodel.samplers.riemannian.manifold import (
    RiemannianState,
    failure_remarks,
    riemannian_start,
    riemannian_step,
)
from probmodel.samplers.riemannian.metrics import Metric, MetricName
from probmodel.samplers.settings import MOST_STEPS, check_number, check_types, check_whole
from probmodel.types import Array, LogDensity

FIRST_STEP = 0.5  # that of the papers


class Params(NamedTuple):
    """Step size, epsilon."""

    step_size: float


@dataclass(frozen=True)
class RiemannianHMC(Sampler):
    """Riemannian manifold Hamiltonian Monte Carlo.

    Parameters
    ----------
    step_size : float, optional
        Initial step size epsilon; 0.5 if not given.
    adapt_step_size : bool
        Whether the warm-up adapts epsilon; otherwise it keeps its initial value, as in the papers.
    n_steps : int
        L, the largest number of leapfrog steps of a trajectory, at least 1.
    random_steps : bool
        Whether each trajectory has a random length, from 1 to L steps, or always L.
    target_accept : float
        Target acceptance rate for epsilon, between 0 and 1; without ``adapt_step_size`` there is
        none.
    metric : {"fisher", "neg_hessian", "softabs"}
        G: the metric of the density (for a model the expected Fisher information of what is
        observed, minus the Hessian of the other terms); minus the Hessian of the log density, for
        one that is concave; or that with its eigenvalues made positive.
    softness : float
        a of ``metric="softabs"``, above 0: eigenvalues below 1/a in absolute value become 1/a.
    check_reversibility : bool
        Whether the equations of every step are also solved from its end, at almost twice the cost,
        and the trajectory rejected if that does not lead to where it began. Without, the draws may
        be biased.

    Raises
    ------
    SamplerError
        If a setting is out of its range, or a target is given for a step size that stays.
    """

    step_size: float | None = None
    adapt_step_size: bool = True
    n_steps: int = 6
    random_steps: bool = True
    target_accept: float = 0.8
    metric: MetricName = "fisher"
    softness: float = 1e6
    check_reversibility: bool = True

    name: ClassVar[str] = "rmhmc"
    summary: ClassVar[str] = "Hamiltonian trajectories in a position-dependent metric"
    paper: ClassVar[str] = "Girolami and Calderhead (2011)"
    needs: ClassVar[Need] = "metric"
    learns: ClassVar[str] = "step size"
    cost: ClassVar[str] = "L gradients, about 12 L metrics, O(L d³)"
    coupling: ClassVar[Coupling] = "pooled_warmup"
    default_warmup: ClassVar[int] = 500

    def __post_init__(self) -> None:
        check_types(self.name, self)
        check_number(self.name, "step_size", self.step_size, above=0.0, optional=True)
        check_whole(self.name, "n_steps", self.n_steps, least=1, most=MOST_STEPS)
        check_number(self.name, "target_accept", self.target_accept, above=0.0, below=1.0)
        check_number(self.name, "softness", self.softness, above=0.0)
        if not self.adapt_step_size and self.target_accept != type(self).target_accept:
            raise SamplerError(
                f"{self.name}: adapt_step_size=False keeps the step size, whatever acceptance "
                f"comes of it; got target_accept={self.target_accept!r}. Leave out target_accept= "
                "or adapt_step_size=.",
                setting="target_accept", value=self.target_accept,
            )  # fmt: skip

    @property
    def aim(self) -> float | None:
        """Acceptance rate that the step size is steered to; None if it is not adapted."""
        return self.target_accept if self.adapt_step_size else None

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> RiemannianState:
        """State at the starting points.

        Raises
        ------
        SamplerError
            If the density lacks what the metric is made from, is not finite at a starting point, or
            has no positive definite metric there.
        ModelError
            If the information of an observed distribution is not known in closed form.
        """
        return riemannian_start(self.name, self._metric, density, x)

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: RiemannianState, params: Params
    ) -> tuple[RiemannianState, Info]:
        """One trajectory of every chain, all of one length."""
        length = int(rng.integers(1, self.n_steps + 1)) if self.random_steps else self.n_steps
        return riemannian_step(
            rng, density, state, self._metric, params.step_size, length, self.check_reversibility
        )

    def adapt_init(
        self, rng: np.random.Generator, density: LogDensity, state: RiemannianState
    ) -> DualAveraging:
        """Start from ``step_size``, or from 0.5."""
        return start_averaging(self.step_size or FIRST_STEP)

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: DualAveraging,
        state: RiemannianState,
        info: Info,
    ) -> DualAveraging:
        """Learn from the mean acceptance."""
        if not self.adapt_step_size:
            return adaptation
        return average(adaptation, info.accept_prob, self.target_accept)

    def params(self, adaptation: DualAveraging, final: bool = False) -> Params:
        """Step size of the next transition."""
        return Params(adaptation.step_size(final))

    def remarks(self, params: Any, stats: dict[str, Array]) -> list[Remark]:
        """Say so if many trajectories were given up."""
        shorter = "Take shorter steps (step_size)"
        if self.aim is not None:
            shorter = "Raise target_accept for shorter steps"
        return failure_remarks(self._metric, stats["fixed_point_failed"], shorter)

    @property
    def _metric(self) -> Metric:
        return Metric(self.metric, self.softness)
