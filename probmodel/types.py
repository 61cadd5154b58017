"""Types that every layer shares: an evaluated log density, and the protocols samplers rely on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Evaluation(NamedTuple):
    """A log density and its gradient at one point per chain.

    Attributes
    ----------
    logp : (chains,)
        Log density; ``-inf`` marks a row whose value or gradient is not finite.
    grad : (chains, dim)
        Gradient; zero in the rows marked by ``-inf`` (a marker, never a slope).
    """

    logp: Array
    grad: Array


@runtime_checkable
class LogDensity(Protocol):
    """All that a first-order sampler may see of a target. It never raises on values.

    A density may also have a method ``simulate_dynamics``, faster than step by step: it follows
    `Trajectories`, to `Followed`, or makes whole `Transitions`, to `Moved`, or those of
    `Doublings`, to `Grown`. It returns None where it cannot.
    """

    dim: int
    coordinate_names: tuple[str, ...]

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient at ``x``: (chains, dim)."""
        ...

    def log_density(self, x: Array) -> Array:
        """Log density alone at ``x``: (chains, dim) -> (chains,)."""
        ...


@runtime_checkable
class CurvedLogDensity(LogDensity, Protocol):
    """A log density that also offers second derivatives."""

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density at ``x`` times ``v``: (chains, dim) each."""
        ...

    def hessian(self, x: Array) -> Array:
        """Hessian of the log density at ``x``: (chains, dim, dim)."""
        ...


@runtime_checkable
class MetricLogDensity(LogDensity, Protocol):
    """A log density with a position-dependent metric of its own."""

    def metric(self, x: Array) -> Array:
        """Metric at ``x``: (chains, dim, dim), symmetric; NaN in the rows that have none.

        For a model: the expected Fisher information of its observed quantities, minus the Hessian
        of the other terms of the log density.
        """
        ...


@runtime_checkable
class SmoothMetricLogDensity(MetricLogDensity, Protocol):
    """A log density whose metric has a gradient."""

    def metric_gradient(self, x: Array, vectors: Array, weights: Array) -> Array:
        """Gradient in ``x`` of ``sum_k weights_k v_k' G(x) v_k``, the vectors v_k being held.

        Parameters
        ----------
        x : (chains, dim)
        vectors : (chains, k, dim), of about unit length in the metric
        weights : (chains, k)

        Returns
        -------
        Array
            (chains, dim); NaN in the rows where it is not finite
        """
        ...


class Tempered(NamedTuple):
    """A posterior at some inverse temperatures; see `density.tempered_density`.

    Attributes
    ----------
    logp : (n,), log prior plus the inverse temperature times the log likelihood; ``-inf`` marks a
        row in which something is not finite
    grad : (n, dim), its gradient; zero in such rows
    log_likelihood : (n,); ``-inf`` in such rows
    """

    logp: Array
    grad: Array
    log_likelihood: Array

    @staticmethod
    def marked(logp: Array, grad: Array, log_likelihood: Array) -> Tempered:
        """Return what was computed, with a mark in the rows that are not finite."""
        fine = np.isfinite(logp) & np.isfinite(log_likelihood) & np.isfinite(grad).all(axis=1)
        if fine.all():
            return Tempered(logp, grad, log_likelihood)
        return Tempered(
            np.where(fine, logp, -np.inf),
            np.where(fine[:, None], grad, 0.0),
            np.where(fine, log_likelihood, -np.inf),
        )


@runtime_checkable
class TemperedLogDensity(LogDensity, Protocol):
    """A log density made of a prior, which can be drawn from, and a likelihood."""

    def prior_sample(self, rng: np.random.Generator, n: int) -> Array:
        """Draw from the prior, exactly: (n, dim)."""
        ...

    def tempered(self, x: Array, beta: Array) -> Tempered:
        """Log density with the likelihood to the power of ``beta``: (n, dim), (n,)."""
        ...


class Halving(NamedTuple):
    """How trajectories are tried with ever shorter steps; see `samplers.hamiltonian.step_halving`.

    Attributes
    ----------
    u : (chains, levels), in [0, 1): a level is kept to if its probability exceeds this; the one
        after the last is kept to if it has any
    most : steps of a trajectory of halved steps, unless it has more before
    tolerated, hopeless : ranges of the energy, up to which a level is always kept to, and beyond
        which it never is
    """

    u: Array
    most: int
    tolerated: float
    hopeless: float


class Trajectories(NamedTuple):
    """Trajectories of Hamiltonian dynamics to be followed; see `samplers.hamiltonian.dynamics`.

    Attributes
    ----------
    x, grad, momentum : (chains, dim), where they begin; the momenta are whitened
    logp : (chains,)
    root : of the inverse mass matrix, see `numerics.roots`
    step_size, n_steps : one for all, or (chains,)
    kicks, drifts : the integrator's, as shares of the step
    halving : if steps may be halved; None if not
    recorded : steps to be recorded, all of them, or 0 for the ends alone
    """

    x: Array
    grad: Array
    momentum: Array
    logp: Array
    root: Any
    step_size: float | Array
    n_steps: int | Array
    kicks: tuple[float, ...]
    drifts: tuple[float, ...]
    halving: Halving | None = None
    recorded: int = 0


class Followed(NamedTuple):
    """Where trajectories led.

    Attributes
    ----------
    x, grad, momentum : (chains, dim), the ends; (steps, chains, dim) if steps were recorded
    logp : (chains,), or (steps, chains)
    before, after : (chains,), energies of both ends
    first, log_weight, level, failed : (chains,), where steps were halved: the probability of level
        0, the log ratio of probabilities, the level, and whether the last failed too
    taken : (chains,) int, gradients
    """

    x: Array
    grad: Array
    momentum: Array
    logp: Array
    before: Array
    after: Array
    first: Array
    log_weight: Array
    level: Array
    failed: Array
    taken: Array

    @property
    def gradients(self) -> int:
        """Gradients taken, over all chains."""
        return int(self.taken.sum())


class Transitions(NamedTuple):
    """Transitions of Hamiltonian Monte Carlo, one after the other, that are to be made.

    All that is random is given. Each begins with a momentum of its own.

    Attributes
    ----------
    x, grad : (chains, dim), where the first begins
    logp : (chains,)
    momenta : (n, chains, dim), whitened
    root, kicks, drifts : as of `Trajectories`
    step_size : (n, chains), or (n, 1)
    n_steps : (n,)
    halving : as of `Trajectories`, but u is (n, chains (levels + 1)): the levels of all chains, one
        chain after the other, then the numbers by which their ends are accepted
    """

    x: Array
    grad: Array
    logp: Array
    momenta: Array
    root: Any
    step_size: Array
    n_steps: Array
    kicks: tuple[float, ...]
    drifts: tuple[float, ...]
    halving: Halving


class Moved(NamedTuple):
    """What transitions did; fields that `Followed` has are of the trajectories: (n, ...) each.

    Attributes
    ----------
    x, grad : (n + 1, chains, dim), the states, that in the beginning first
    logp : (n + 1, chains)
    ends : the trajectories
    accept_prob, accepted : (n, chains)
    """

    x: Array
    grad: Array
    logp: Array
    ends: Followed
    accept_prob: Array
    accepted: Array

    @property
    def gradients(self) -> int:
        """Gradients taken, over all chains."""
        return self.ends.gradients


class Doublings(NamedTuple):
    """Transitions of the No-U-Turn sampler that are to be made; see `samplers.hamiltonian.trees`.

    Attributes
    ----------
    x, logp, grad : (chains, dim) or (chains,), where the first begins
    momenta : (n, chains, dim), whitened, one for each transition
    seeds : of what else is random, (n, chains) unsigned integers of 64 bits
    root : of the inverse mass matrix, see `numerics.roots`
    step_size : one for all, or (chains,)
    max_depth : doublings of a trajectory, at most
    least : log weight below which a leaf has diverged
    """

    x: Array
    logp: Array
    grad: Array
    momenta: Array
    seeds: Array
    root: Any
    step_size: float | Array
    max_depth: int
    least: float


class Grown(NamedTuple):
    """What such transitions did.

    Attributes
    ----------
    x, logp, grad : (n + 1, chains, dim) or (n + 1, chains), the states, that in the beginning first
    energy : (n, chains), of the draw
    accept_prob : (n, chains), mean of min(1, e^w) over the leaves of the trajectory
    n_steps, depth : (n, chains) int, leaves and doublings
    accepted, reached, diverging : (n, chains) bool: whether the chain moved, the trajectory was cut
        off by ``max_depth``, a leaf diverged
    broken : (n, chains, dim), where it did
    """

    x: Array
    logp: Array
    grad: Array
    energy: Array
    accept_prob: Array
    n_steps: Array
    depth: Array
    accepted: Array
    reached: Array
    diverging: Array
    broken: Array

    @property
    def gradients(self) -> int:
        """Gradients taken, over all chains."""
        return int(self.n_steps.sum())


Dynamics = Trajectories | Transitions | Doublings  # what a density may do at once
Done = Followed | Moved | Grown  # what came of it


@runtime_checkable
class StandardisingDensity(LogDensity, Protocol):
    """A log density of a model, parts of which can be sampled on scales that data call for."""

    @property
    def hierarchical(self) -> bool:
        """Whether there are such parts."""
        ...

    def standardised(
        self, visited: Array, rng: np.random.Generator, count: Callable[[Any], Any]
    ) -> StandardisingDensity:
        """Return the density on the scale that suits where chains have been.

        ``visited`` is (times, chains, dim), ``rng`` for what is measured there, and ``count``
        returns a density that counts its evaluations.
        """
        ...

    def put_off_machine_code(self, off: bool) -> None:
        """Make machine code late, where chains only pass through a scale, or soon again."""
        ...

    def translated(self, x: Array, origin: StandardisingDensity) -> Array:
        """Return points of ``origin``, another scale of the same model, on this one's."""
        ...


class Variable(NamedTuple):
    """A named quantity that is saved with the draws.

    Attributes
    ----------
    name : the name in the model and in the ArviZ object
    shape : its shape for one draw
    dims : one name per axis
    coords : labels of those dims that have labels, by dim
    kind : "param" or "deterministic"
    """

    name: str
    shape: tuple[int, ...]
    dims: tuple[str, ...]
    coords: dict[str, Array]
    kind: str


@runtime_checkable
class Posterior(LogDensity, Protocol):
    """A log density that knows its named variables: what `infer` samples and labels."""

    name: str
    variables: tuple[Variable, ...]
    coords: dict[str, Array]
    observed_data: dict[str, tuple[tuple[str, ...], Array]]
    constant_data: dict[str, tuple[tuple[str, ...], Array]]

    def constrain(self, x: Array, names: tuple[str, ...] | None = None) -> dict[str, Array]:
        """Variables on their own scale at unconstrained ``x``: (n, dim) -> {name: (n, *shape)}.

        ``names`` restricts the work to some variables.
        """
        ...

    def initial_points(self, rng: np.random.Generator, chains: int, inits: Any = None) -> Array:
        """Return starting points with a finite log density: (chains, dim).

        Raises
        ------
        InitializationError
            If none is found; it lists every term of the log density.
        """
        ...
