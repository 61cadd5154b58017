"""Stan's warm-up: a step size by dual averaging, a mass matrix from windows of doubling length.

    M^-1      inverse mass matrix, an estimate of the posterior covariance
    C         root of it, M^-1 = C C'                                          see `numerics.roots`
    h         step size                                                        () or (chains,)
    alpha     acceptance of one transition                                     (chains,)

    Hoffman and Gelman (2014), "The No-U-Turn Sampler", JMLR 15; Stan Development Team, Stan
    reference manual, "HMC algorithm parameters: automatic tuning".

Deviations. The chains of a group share one adaptation: the draws of all make one M^-1, and their
mean acceptance adapts one h. Chains that start far out must not harm the others, and scales far
from one must not cost long trajectories:

1. In the first buffer each chain has an h of its own, found by trying and then steered closely.
2. There M^-1 is learned too, after 8, 16, 32 and 64 iterations: a diagonal, of the variances of
   the draws over those of their gradients, which takes few draws that need not be in the bulk.
3. Draws whose log density lies far below that of the chains that are better off are left out of
   M^-1 (`settled`).
4. A chain that is rejected ten times in a row takes shorter steps until it moves again, and does
   not steer h meanwhile.
5. Stan adds 0.005 / (n + 5) to the variance of n draws. Where the gradients show a scale that is
   far smaller, this is too much, and the inverse variance of the gradients takes the place of
   0.001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.adaptation.dual_averaging import start_averaging
from probmodel.adaptation.low_rank import halves, low_rank, scales
from probmodel.adaptation.steering import Steering, own_steps_first
from probmodel.adaptation.windows import Windows, windows
from probmodel.errors import SamplerError
from probmodel.numerics.roots import Root
from probmodel.samplers.base import Coupling, Info, Sampler, State
from probmodel.samplers.hamiltonian.dynamics import leapfrog, with_momentum
from probmodel.samplers.metropolis import acceptance, check_start, evaluate
from probmodel.samplers.settings import check_number, check_types
from probmodel.types import Array, LogDensity

MetricName = Literal["identity", "diag", "dense", "low_rank"]

CROSSING = 0.8  # acceptance of one leapfrog step that a first step size is looked for at
MOST_DOUBLINGS = 200  # or halvings, of that search
PRELIMINARY = (8, 16, 32, 64)  # iterations of the first buffer after which scales are learned
PRIOR_DRAWS, PRIOR_VARIANCE = 5.0, 1e-3  # what Stan adds to the variances of a window
FAR = 10.0  # standard deviations of the log density below which a draw is far out


class Params(NamedTuple):
    """What a transition uses.

    Attributes
    ----------
    step_size : h, in the warm-up perhaps one for each chain
    root : C
    """

    step_size: float | Array
    root: Root


class Record(NamedTuple):
    """What else is known of a transition.

    Attributes
    ----------
    divergence : (chains, dim), where trajectories diverged; NaN in the rows of those that did not
    """

    divergence: Array


class Adaptation(NamedTuple):
    """State of the adaptation.

    Attributes
    ----------
    root : root of M^-1
    steering : what steers h
    window : states of the present window, one for each iteration
    """

    root: Root
    steering: Steering
    window: tuple[State, ...]


@dataclass(frozen=True)
class WindowedSampler(Sampler):
    """Base of the samplers with Stan's warm-up.

    Parameters
    ----------
    step_size : float, optional
        Initial step size h; found by trial steps if not given.
    target_accept : float, optional
        Target acceptance rate, between 0 and 1; the method's usual one if not given.
    metric : {"identity", "diag", "dense", "low_rank"}
        What the warm-up estimates of the posterior covariance: nothing, its diagonal, all of it, or
        scales and a few directions.
    inv_metric : array, optional
        The covariance, (dim, dim), or its diagonal, (dim,), if it is known: it is then not
        estimated.
    """

    step_size: float | None = None
    target_accept: float | None = None
    metric: MetricName = "diag"
    inv_metric: Array | None = field(default=None, compare=False)

    usual_accept: ClassVar[float] = 0.8  # what is aimed at if no target is given
    coupling: ClassVar[Coupling] = "pooled_warmup"

    def __post_init__(self) -> None:
        check_types(self.name, self)
        check_number(self.name, "step_size", self.step_size, above=0.0, optional=True)
        check_number(
            self.name, "target_accept", self.target_accept, above=0.0, below=1.0, optional=True
        )
        if self.inv_metric is not None:
            given_root(self.name, self.inv_metric)

    @property
    def _target(self) -> float:
        return self.usual_accept if self.target_accept is None else self.target_accept

    @property
    def aim(self) -> float | None:
        """Acceptance rate that the step size is steered to."""
        return self._target

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        """State at the starting points."""
        if self.inv_metric is not None and len(self.inv_metric) != x.shape[1]:
            raise SamplerError(
                f"{self.name}: inv_metric must be of size {x.shape[1]}, the number of "
                f"unconstrained parameters; got shape {np.shape(self.inv_metric)}.",
                setting="inv_metric", dim=x.shape[1], shape=np.shape(self.inv_metric),
            )  # fmt: skip
        return check_start(self.name, evaluate(density, x))

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Start with the given mass matrix or none, and steps that are accepted."""
        root = None if self.inv_metric is None else given_root(self.name, self.inv_metric)
        return Adaptation(root, self._first_steering(rng, density, state, root), ())

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: Adaptation,
        state: State,
        info: Info,
    ) -> Adaptation:
        """Steer the step size; collect draws, and make a mass matrix of them at a window's end."""
        plan = windows(n_warmup)
        steering = adaptation.steering.learned(
            info.accept_prob, info.accepted, np.isfinite(info.proposal.logp)
        )
        if i == joining(plan):
            steering = steering.joined()
        adaptation = adaptation._replace(steering=steering)
        learns = self.inv_metric is None and self.metric != "identity"
        if not learns or not plan.ends or i > plan.ends[-1]:
            return adaptation
        before = () if i == plan.first else adaptation.window
        adaptation = adaptation._replace(window=(*before, state))
        if i in plan.ends:
            return self._renew(rng, density, state, adaptation, self.metric)
        if i < plan.first and i + 1 in PRELIMINARY:
            return self._renew(rng, density, state, adaptation, "scales")
        return adaptation

    def _renew(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        state: State,
        adaptation: Adaptation,
        metric: str,
    ) -> Adaptation:
        """Make a mass matrix of a window, and find the step size, or each chain's, for it."""
        root, steering = learned_root(metric, adaptation.window), adaptation.steering
        present = steering.rule.step_size() if steering.shared else steering.step_sizes()
        start = np.broadcast_to(present, len(state.x))
        steps = find_steps(rng, density, state, root, start)
        return Adaptation(root, steering.restarted(steps), ())

    def _first_steering(
        self, rng: np.random.Generator, density: LogDensity, state: State, root: Root
    ) -> Steering:
        """Begin with the given step size, or with those that are found for each chain."""
        if self.step_size is None:
            steps = find_steps(rng, density, state, root, np.ones(len(state.x)))
        else:
            steps = np.full(len(state.x), self.step_size)
        return own_steps_first(start_averaging(1.0), steps, self._target)

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Step size and mass matrix of the next transition."""
        steering = adaptation.steering
        if final:
            return Params(steering.rule.step_size(final=True), adaptation.root)
        return Params(steering.step_sizes(), adaptation.root)


def joining(plan: Windows) -> int:
    """Return the last iteration in which each chain has a step size of its own."""
    return plan.first if plan.ends else 0


def given_root(sampler: str, inv_metric: Array) -> Array:
    """Root of an inverse mass matrix that a user gave: (dim,) or (dim, dim).

    Raises a `SamplerError` if it is no finite vector or matrix, not symmetric or not positive
    definite.
    """
    given = inv_metric if isinstance(inv_metric, np.ndarray) else np.asarray(inv_metric)
    problem = _problem_of(given)
    if problem:
        raise SamplerError(
            f"{sampler}: inv_metric must be a positive vector (dim,), or a symmetric positive "
            f"definite matrix (dim, dim): the covariance; {problem}.",
            setting="inv_metric", value=inv_metric,
        )  # fmt: skip
    return np.sqrt(given) if given.ndim == 1 else np.linalg.cholesky(given)


def _problem_of(given: Array) -> str:
    """Say what keeps an array from being a covariance; nothing if it can be."""
    if given.ndim not in (1, 2) or given.shape[0] != given.shape[-1] or not given.size:
        return f"got shape {given.shape}"
    if given.dtype.kind not in "fiu" or not np.isfinite(given).all():
        return f"got {given!r}"
    if given.ndim == 1:
        return "" if (given > 0.0).all() else f"its smallest entry is {given.min():g}"
    asymmetry = float(np.max(np.abs(given - given.T)))
    if asymmetry > 1e-8 * np.max(np.abs(given)):
        return f"it differs from its transpose by {asymmetry:.3g}"
    smallest = float(np.linalg.eigvalsh(given)[0])
    return "" if smallest > 0.0 else f"its smallest eigenvalue is {smallest:.3g}"


def find_steps(
    rng: np.random.Generator, density: LogDensity, state: State, root: Root, start: Array
) -> Array:
    """Step size of each chain near which one leapfrog step is accepted with `CROSSING`.

    From ``start``: (chains,), it is doubled as long as the step is accepted that often, or halved
    until it is. A step that is never accepted stays ``start``: there the density has a jump, or its
    gradient is wrong, and no step helps.
    """
    found = _accepted(rng, density, state, root, start)
    growing = found > CROSSING
    factor = np.where(growing, 2.0, 0.5)
    steps, rows = start.copy(), np.arange(len(start))
    for _ in range(MOST_DOUBLINGS):
        trial = steps[rows] * factor[rows]
        good = _accepted(rng, density, State(*(a[rows] for a in state)), root, trial) > CROSSING
        steps[rows] = np.where(good | ~growing[rows], trial, steps[rows])
        rows = rows[good == growing[rows]]
        if not rows.size:
            return steps
    steps[rows] = start[rows]
    return steps


def _accepted(
    rng: np.random.Generator, density: LogDensity, state: State, root: Root, steps: Array
) -> Array:
    """Accept one leapfrog step of each chain, with fresh momenta: the probabilities."""
    start = with_momentum(state, rng.standard_normal(state.x.shape))
    end = leapfrog(density, start, root, steps)
    with np.errstate(invalid="ignore"):
        return acceptance(start.energy - end.energy)


def learned_root(metric: str, window: Sequence[State]) -> Root:
    """Root of M^-1 from the states of a window; of a diagonal one for ``"scales"`` too."""
    kept = settled(np.array([state.logp for state in window]), window[0].x.shape[1])
    x, grad = (
        np.concatenate([values[rows] for values, rows in zip(parts, kept, strict=True)])
        for parts in ([state.x for state in window], [state.grad for state in window])
    )
    if metric == "scales":
        return scales(x, grad)
    if metric == "low_rank":
        return low_rank(x, grad, halves(kept))
    n = len(x)
    weight = n / (n + PRIOR_DRAWS)
    with np.errstate(divide="ignore"):
        prior = np.minimum(PRIOR_VARIANCE, 1.0 / np.var(grad, axis=0))
    ridge = PRIOR_DRAWS / (n + PRIOR_DRAWS) * prior
    if metric == "diag":
        return np.sqrt(weight * np.var(x, axis=0, ddof=1) + ridge)
    e = x - np.mean(x, axis=0)
    return np.linalg.cholesky(weight / (n - 1) * (e.T @ e) + np.diag(ridge))


def settled(logp: Array, dim: int) -> Array:
    """Which draws of a window may be from the bulk: (iterations, chains) -> the same, bool.

    All but those whose log density lies more than `FAR` standard deviations below the median of
    the chain that half of the chains are no better than. Of a normal density in ``dim`` dimensions
    that standard deviation is sqrt(dim / 2); where the chain varies more, it is its own.
    """
    medians = np.median(logp, axis=0)
    chain = np.argsort(medians)[len(medians) // 2]
    spread = max(float(np.std(logp[:, chain])), float(np.sqrt(0.5 * dim)))
    return np.asarray(logp >= medians[chain] - FAR * spread)
