"""Microcanonical trajectories: a velocity of constant length that turns towards the gradient.

    q, g      position, gradient of the log density                         (chains, dim)
    C         root of the inverse mass matrix, learned                      see `numerics.roots`
    s, e      whitened gradient C'g, and its direction                      (chains, dim)
    u         direction of the velocity, of length one                      (chains, dim)
    h         step size, in time; eps = sqrt(dim) h in whitened distance    () or (chains,)
    delta     eps |s| / (dim - 1)                                           (chains,)
    Delta     energy at the end less that at the start                      (chains,)
    T         length of a trajectory in time; t = T (1 + JITTER v), v ~ U(-1, 1)

    Robnik, Cohn-Gordon and Seljak (2025), "Metropolis adjusted microcanonical Hamiltonian Monte
    Carlo", arXiv:2503.01707: the sampler with exact acceptance.
    Robnik, De Luca, Silverstein and Seljak (2023), "Microcanonical Hamiltonian Monte Carlo", JMLR
    24; Ver Steeg and Galstyan (2021), "Hamiltonian dynamics with non-Newtonian momentum for rapid
    sampling": the dynamics.

Dynamics: dq/dt = C u, and du/dt = (I - u u') s / (dim - 1), which keeps the length of u. A step of
an integrator is made of

    kicks,   u <- (u + e (sinh delta + e'u (cosh delta - 1))) / (cosh delta + e'u sinh delta),
    drifts,  q <- q + eps C u,

and a kick changes the volume of the directions, which counts as kinetic energy: by
(dim - 1) log(cosh delta + e'u sinh delta). With what the log density has lost that makes Delta, and
the end is accepted with probability min(1, exp(-Delta)). Each trajectory begins with a new
direction, uniform on the sphere. One direction leads neither left nor right: with one parameter
there are no kicks, and the method is a random walk. A move is then one step of h (1 + JITTER v), as
several would only add up, and T is not used.

Deviations: the integrator is that of two stages by Blanes, Casas and Sanz-Serna (2014), with
shares close to those of the paper's minimal norm integrator. Step size and mass matrix are learned
as in `windowed`. C has a few directions with scales of their own, where the paper's is a
diagonal. T climbs the criterion of `adaptation.trajectory_length`, in which all chains take part;
the paper takes a multiple of the time between independent draws. All chains take one number of
steps, so that none waits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from probmodel.adaptation.trajectory_length import (
    START,
    Length,
    Trajectories,
    about_centres,
    climb,
    start_length,
)
from probmodel.numerics.roots import Root, inverse_transposed, times, transposed_times
from probmodel.samplers.base import Info, State
from probmodel.samplers.hamiltonian import windowed
from probmodel.samplers.hamiltonian.dynamics import TWO_STAGE
from probmodel.samplers.hamiltonian.windowed import MetricName, WindowedSampler
from probmodel.samplers.metropolis import decide, evaluate
from probmodel.samplers.settings import check_number, check_whole
from probmodel.types import Array, LogDensity

JITTER = 0.2  # relative variation of the length
FIRST_STEPS, EACH = 4.0, 4.0  # steps of the first one at most, and trajectories to one step more
MEMORY = 0.02  # weight of an iteration in the means of the draws, when there have been many


class Params(NamedTuple):
    """What a transition uses.

    Attributes
    ----------
    step_size : h, in the warm-up perhaps one for each chain
    length : T
    root : C
    """

    step_size: float | Array
    length: float
    root: Root


class Record(NamedTuple):
    """What else is known of a transition.

    Attributes
    ----------
    divergence : (chains, dim), where trajectories broke down; NaN in the rows of others
    direction : (chains, dim), u at the end
    time : t
    """

    divergence: Array
    direction: Array
    time: float


class Adaptation(NamedTuple):
    """State of the adaptation.

    Attributes
    ----------
    windowed : what steers h and learns C
    length : what steers T
    means : (chains, dim), of each chain's recent draws
    n : trajectories so far
    """

    windowed: windowed.Adaptation
    length: Length
    means: Array
    n: int


@dataclass(frozen=True)
class MAMS(WindowedSampler):
    """Metropolis-adjusted microcanonical sampler.

    Parameters
    ----------
    step_size, metric, inv_metric : as in `WindowedSampler`
    target_accept : float
        Target acceptance rate for h, between 0 and 1.
    trajectory_length : float, optional
        T, above 0, in units of the whitened posterior; learned if not given.
    max_steps : int
        Largest number of steps of a trajectory, at least 1.
    """

    target_accept: float = 0.9
    metric: MetricName = "low_rank"
    trajectory_length: float | None = None
    max_steps: int = 500

    name: ClassVar[str] = "mams"
    summary: ClassVar[str] = "microcanonical trajectories: a velocity of constant length"
    paper: ClassVar[str] = "Robnik, Cohn-Gordon and Seljak (2025)"
    learns: ClassVar[str] = "step size, trajectory length, mass matrix"
    cost: ClassVar[str] = "2 gradients a step"
    default_chains: ClassVar[int] = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(
            self.name, "trajectory_length", self.trajectory_length, above=0.0, optional=True
        )
        check_whole(self.name, "max_steps", self.max_steps, least=1)

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One trajectory of every chain, whose end is accepted or not."""
        usual = float(np.median(params.step_size))
        jitter = 1.0 + JITTER * rng.uniform(-1.0, 1.0)
        n_steps, share = self._steps(params.length * jitter / usual)
        if state.x.shape[1] == 1:  # nothing turns, so that several steps are one long one
            n_steps, share = 1, jitter
        noise = rng.standard_normal(state.x.shape)
        u = noise / np.sqrt(np.vecdot(noise, noise))[:, None]
        h = np.reshape(np.multiply(params.step_size, share), (-1, 1))
        end, direction, kinetic = follow(density, state, u, params.root, h, n_steps)
        with np.errstate(over="ignore", invalid="ignore"):
            log_ratio = end.logp - state.logp - kinetic  # -Delta
        gradients = TWO_STAGE.gradients * n_steps
        new, info = decide(rng, log_ratio, state, end, n_grad=gradients)
        lost = np.where(info.diverging[:, None], end.x, np.nan)
        record = Record(lost, direction, n_steps * share * usual)
        return new, info._replace(stats={"n_steps": info.n_grad}, record=record)

    def _steps(self, t: float) -> tuple[int, float]:
        """Return how many steps make a length of t steps, and by what share each is shorter."""
        n_steps = int(np.clip(np.ceil(t), 1, self.max_steps))
        return n_steps, min(1.0, t / n_steps)

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Any:
        """Start with the given mass matrix or none, and steps that are accepted."""
        first = super().adapt_init(rng, density, state)
        length = start_length(self.trajectory_length or START)
        return Adaptation(first, length, state.x.copy(), 0)

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: Any,
        state: State,
        info: Info,
    ) -> Any:
        """Learn h and C as Stan does, and T."""
        known: Adaptation = adaptation._replace(n=adaptation.n + 1)
        if self.trajectory_length is None:
            known = self._climbed(known, state, info)
        after = super().adapt(rng, density, i, n_warmup, known.windowed, state, info)
        return known._replace(windowed=after)

    def _climbed(self, known: Adaptation, state: State, info: Info) -> Adaptation:
        """Change T after one trajectory of each chain, about the means before it.

        The mean of a start and an end is as far from both, and leaves rounding errors to climb by.
        """
        weight = 1.0 / (known.n + 1)
        means = known.means + max(MEMORY, weight) * (state.x - known.means)
        dual = inverse_transposed(known.windowed.root)
        variance = max(0.5 * MEMORY, weight)
        z, end = about_centres(dual, info.previous.x, info.proposal.x, known.means, variance)
        speed = np.sqrt(z.shape[1]) * info.record.direction
        seen = Trajectories(z, end, speed, info.accept_prob, info.record.time)
        h = float(np.median(known.windowed.steering.step_sizes()))
        longest = h * min(self.max_steps, FIRST_STEPS + known.n / EACH)
        return known._replace(length=climb(known.length, seen, h, longest), means=means)

    def restarted(self, adaptation: Adaptation, rows: Array) -> Adaptation:
        """Take the means of the chains that others go on from."""
        return adaptation._replace(means=adaptation.means[rows])

    def params(self, adaptation: Any, final: bool = False) -> Any:
        """Step size, length and mass matrix of the next transition."""
        step_size, root = super().params(adaptation.windowed, final)
        return Params(step_size, adaptation.length.length(final), root)


def follow(
    density: LogDensity, state: State, u: Array, root: Root, h: Array, n_steps: int
) -> tuple[State, Array, Array]:
    """Follow the dynamics for ``n_steps`` steps of h: (chains, 1) or (1, 1).

    Returns
    -------
    end : State; its log density is minus infinity where one was on the way
    u : (chains, dim), directions at the end
    kinetic : (chains,), kinetic energy that was gained
    """
    eps, lost = np.sqrt(u.shape[1]) * h, np.zeros(len(u), dtype=bool)
    kinetic, end = np.zeros(len(u)), state
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(n_steps):
            for share, drift in zip(TWO_STAGE.kicks, TWO_STAGE.drifts, strict=False):
                u, gained = kick(u, transposed_times(root, end.grad), share * eps)
                end = evaluate(density, end.x + drift * eps * times(root, u))
                kinetic, lost = kinetic + gained, lost | np.isneginf(end.logp)
            last = TWO_STAGE.kicks[-1] * eps
            u, gained = kick(u, transposed_times(root, end.grad), last)
            kinetic = kinetic + gained
    return end._replace(logp=np.where(lost, -np.inf, end.logp)), u, kinetic


def kick(u: Array, slope: Array, eps: Array) -> tuple[Array, Array]:
    """Turn directions towards slopes, (chains, dim) each: those after it, and what it counts for.

    The hyperbolic functions are divided by exp(delta) / 2, which may be too large for a number.
    """
    dim = u.shape[1]
    if dim == 1:
        return u, np.zeros(len(u))
    size = np.sqrt(np.vecdot(slope, slope))[:, None]
    e = slope / np.where(size > 0.0, size, 1.0)
    along = np.vecdot(e, u)[:, None]
    delta = eps * size / (dim - 1)
    z = np.exp(-delta)
    turned = 2.0 * z * u + e * ((1.0 - z) * (1.0 + z + along * (1.0 - z)))
    scale = (1.0 + along) + (1.0 - along) * z * z
    gained = (dim - 1) * (delta + np.log(0.5 * scale))[:, 0]
    return turned / np.sqrt(np.vecdot(turned, turned))[:, None], gained
