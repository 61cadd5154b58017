"""Stan's warm-up: a step size by dual averaging, a mass matrix from windows of doubling length.

    M^-1      inverse mass matrix, an estimate of the posterior covariance
    C         root of it, M^-1 = C C'                                          see `roots`
    h         step size                                                        () or (chains,)
    alpha     acceptance of one transition                                     (chains,)

    Hoffman and Gelman (2014), "The No-U-Turn Sampler", JMLR 15; Stan Development Team, Stan
    reference manual, "HMC algorithm parameters: automatic tuning".

Deviations. The chains of a group learn together: the draws of all make one M^-1, and their mean
acceptance steers one h. Chains that start far out must not spoil it for the others, and none is to
pay for scales far from one:

1. In the first buffer each chain has an h of its own, found by trying and then steered closely.
2. There M^-1 is learned too, after 8, 16, 32 and 64 iterations: a diagonal, of the variances of
   the draws over those of their gradients, which takes few draws that need not be in the bulk.
3. Draws whose log density lies far below that of the chains that are better off are left out of
   M^-1 (`settled`).
4. A chain that is rejected ten times in a row takes shorter steps until it moves again, and does
   not steer h meanwhile.
5. Stan adds 0.005 / (n + 5) to the variance of n draws. Where the gradients tell of a scale that
   is smaller by far, this is too much, and the inverse variance of the gradients takes the place
   of 0.001.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.adaptation.dual_averaging import average, start_averaging
from probmodel.adaptation.low_rank import low_rank, scales
from probmodel.adaptation.own_steps import OwnSteps, rescue, share, steer, whole_steps
from probmodel.adaptation.windows import windows
from probmodel.errors import SamplerError
from probmodel.samplers.base import Coupling, Info, Sampler, State
from probmodel.samplers.hamiltonian import leapfrog, with_momentum
from probmodel.samplers.metropolis import acceptance, check_start, evaluate
from probmodel.samplers.roots import LowRank, Root
from probmodel.samplers.settings import check_choice, check_number
from probmodel.types import Array, LogDensity

MetricName = Literal["identity", "diag", "dense", "low_rank"]
METRICS = ("identity", "diag", "dense", "low_rank")

CROSSING = 0.8  # acceptance of one leapfrog step that a first step size is looked for at
MOST_DOUBLINGS = 200  # or halvings, of that search
PRELIMINARY = (8, 16, 32, 64)  # iterations of the first buffer after which scales are learned
PRIOR_DRAWS, PRIOR_VARIANCE = 5.0, 1e-3  # what Stan adds to the variances of a window
FAR = 10.0  # standard deviations of the log density below which a draw is far out


class Params(NamedTuple):
    """Step size, in the warm-up perhaps one for each chain, and the root of M^-1."""

    step_size: float | Array
    root: Root


class Breakdown(NamedTuple):
    """Where trajectories diverged.

    Attributes
    ----------
    divergence : (chains, dim); NaN in the rows of trajectories that did not
    """

    divergence: Array


class Adaptation(NamedTuple):
    """State of the adaptation.

    Attributes
    ----------
    root : root of M^-1
    step : what steers the step size that the chains share
    own : the chains' own, as factors of it
    window : states of the present window, one for each iteration
    told : acceptance, so far, of the transitions whose step size is the present one
    """

    root: Root
    step: Any
    own: OwnSteps
    window: tuple[State, ...]
    told: tuple[Array, ...] = ()


@dataclass(frozen=True)
class WindowedSampler(Sampler):
    """Base of the samplers that are warmed up as Stan's are.

    Parameters
    ----------
    step_size : float, optional
        Where the step size starts; found by trying if not given.
    target_accept : float
        Acceptance that it aims at, between 0 and 1.
    metric : {"identity", "diag", "dense", "low_rank"}
        What is learned of the posterior covariance.
    inv_metric : array, optional
        The covariance, (dim, dim), or its diagonal, (dim,); given, it is not learned.

    Raises
    ------
    SamplerError
        If a setting is out of its range.
    """

    step_size: float | None = None
    target_accept: float = 0.8
    metric: MetricName = "diag"
    inv_metric: Array | None = field(default=None, compare=False)

    coupling: ClassVar[Coupling] = "pooled_warmup"

    def __post_init__(self) -> None:
        check_number(self.name, "step_size", self.step_size, above=0.0, optional=True)
        check_number(self.name, "target_accept", self.target_accept, above=0.0, below=1.0)
        check_choice(self.name, "metric", self.metric, METRICS)
        if self.inv_metric is not None:
            given_root(self.name, self.inv_metric)

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
        step_size, own = self._first_step(rng, density, state, root)
        return Adaptation(root, self._steered_from(step_size), own, ())

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
        begin = plan.first if plan.ends else 0
        if i > begin:
            adaptation = self._steer(adaptation, info, last=self.renewed_after(i, n_warmup) == 1)
        else:
            adaptation = self._settle(adaptation, info, last=i == begin)
        learns = self.inv_metric is None and self.metric != "identity"
        if not learns or not plan.ends or i > plan.ends[-1]:
            return adaptation
        before = () if i == plan.first else adaptation.window
        adaptation = adaptation._replace(window=(*before, state))
        if i in plan.ends:
            return self._renew(rng, density, state, adaptation, self.metric, shared=True)
        if i < plan.first and i + 1 in PRELIMINARY:
            return self._renew(rng, density, state, adaptation, "scales", shared=False)
        return adaptation

    def _renew(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        state: State,
        adaptation: Adaptation,
        metric: str,
        shared: bool,
    ) -> Adaptation:
        """Make a mass matrix of a window, and find the step size, or each chain's, for it."""
        root = learned_root(metric, adaptation.window)
        present = adaptation.step.step_size()
        if shared:
            steps = find_steps(rng, density, state, root, np.full(len(state.x), present))
            step = self._steered_from(float(np.median(steps)))
            return Adaptation(root, step, adaptation.own, ())
        steps = find_steps(rng, density, state, root, present * adaptation.own.factor)
        own = adaptation.own._replace(factor=steps / present)
        return Adaptation(root, adaptation.step, own, ())

    def _first_step(
        self, rng: np.random.Generator, density: LogDensity, state: State, root: Root
    ) -> tuple[float, OwnSteps]:
        """Step size to start with, and the chains' own as factors of it."""
        own = whole_steps(len(state.x))
        if self.step_size is not None:
            return self.step_size, own
        steps = find_steps(rng, density, state, root, np.ones(len(state.x)))
        median = float(np.median(steps))
        return median, own._replace(factor=steps / median)

    def _settle(self, adaptation: Adaptation, info: Info, last: bool) -> Adaptation:
        """Steer each chain's own step size; at last, find one for all."""
        own = steer(adaptation.own, info.accept_prob, self.target_accept)
        if not last:
            return adaptation._replace(own=own)
        median = float(np.median(own.factor))
        step = self._steered_from(adaptation.step.step_size() * median)
        return adaptation._replace(step=step, own=share(own, median))

    def _steer(self, adaptation: Adaptation, info: Info, last: bool) -> Adaptation:
        """Steer the shared step size by the chains that use it, after the ``last`` move with it.

        Where none does with a finite end, the step is too long for all of them.
        """
        rows = adaptation.own.whole & np.isfinite(info.proposal.logp)
        alpha = info.accept_prob[rows] if rows.any() else np.zeros(1)
        told, own = (*adaptation.told, alpha), rescue(adaptation.own, info.accepted)
        if not last:
            return adaptation._replace(own=own, told=told)
        step = average(adaptation.step, np.concatenate(told), self.target_accept)
        return adaptation._replace(step=step, own=own, told=())

    def _steered_from(self, step_size: float) -> Any:
        """Return what steers a step size, at its beginning."""
        return start_averaging(step_size)

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Step size and mass matrix of the next transition."""
        shared = adaptation.step.step_size(final)
        own = adaptation.own
        same = final or bool(own.whole.all())
        return Params(shared if same else shared * own.factor, adaptation.root)


def given_root(sampler: str, inv_metric: Array) -> Array:
    """Root of an inverse mass matrix that a user gave: (dim,) or (dim, dim).

    Raises
    ------
    SamplerError
        If it is no finite vector or matrix, not symmetric or not positive definite.
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
    start = with_momentum(state, root, rng.standard_normal(state.x.shape))
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
        return LowRank(*low_rank(x, grad))
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
