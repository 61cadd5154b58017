"""Hamiltonian Monte Carlo with a learned mass matrix, for `entropy_hmc`.

    C        root of the inverse mass matrix, M^-1 = C C'                     see `numerics.roots`
    theta    parameters of C, as in `probmodel.adaptation.projections`        one array
    h, L     step size (one, because C carries the scale), leapfrog steps
    E        loss of one trajectory, as in `probmodel.adaptation.entropy_loss`   (chains,)
    mu       largest eigenvalue of D, in size                                 (chains,)
    beta     weight of the proposal's entropy
    gamma    weight of the penalty for |mu| above delta
    lambda   running mean of jumps, weighed by their acceptance
    l, r     factors of a gradient in C, the sum of l r'                      (k, chains, dim)

Each transition of the warm-up gives the gradient of the mean loss of all chains in C, as a sum of
outer products; it is projected on theta, and Adam takes a step.

    Hirt, Titsias and Dellaportas (2021), "Entropy-based adaptive Hamiltonian Monte Carlo",
    Algorithm 1 and appendices A and D.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probmodel.adaptation import leapfrog_adjoint
from probmodel.adaptation.adam import Adam, direction, start_adam
from probmodel.adaptation.entropy_loss import (
    Path,
    Weights,
    energy_outer,
    entropy_outer,
    loss,
    penalty,
    steer,
)
from probmodel.adaptation.initial_step import initial_step
from probmodel.adaptation.leapfrog_adjoint import (
    Curve,
    adjoint_outer,
    esjd,
    jump_slopes,
    jumps,
    l2hmc,
    mean_jump,
)
from probmodel.adaptation.own_steps import OwnSteps, rescue, whole_steps
from probmodel.adaptation.projections import FLOOR, FORMS, split
from probmodel.adaptation.roulette import curvature_factor, draw_signs, draw_weights, expand
from probmodel.numerics.roots import InverseBidiagonal, Root, transposed_times
from probmodel.samplers.base import Info, State
from probmodel.samplers.hamiltonian.dynamics import Phase, metropolise, trace, with_momentum
from probmodel.samplers.metropolis import check_start, evaluate
from probmodel.types import Array, LogDensity

if TYPE_CHECKING:
    from probmodel.samplers.hamiltonian.entropy_hmc import EntropyHMC

LARGEST = 1e75  # of an entry of a factor: products of four are still finite
CLIP_SHARE = 0.5  # of beta: largest entry of a gradient in a robust run
RECENT = 0.02  # weight of the last iteration in the mean of |mu|


class Params(NamedTuple):
    """What one transition uses.

    Attributes
    ----------
    root : C
    step_size : h; in a robust warm-up it may differ between chains, (chains,)
    mu : recent mean of |mu|
    """

    root: Root
    step_size: float | Array
    mu: float


class Adaptation(NamedTuple):
    """State of the adaptation.

    Attributes
    ----------
    theta, adam : parameters of C, and their optimiser
    step_size : h
    weights, mean_jump : beta and gamma, and lambda
    mu : recent mean of |mu|
    own : the chains that lag behind
    least : smallest diagonal of theta after an additive step
    """

    theta: Array
    adam: Adam
    step_size: float
    weights: Weights
    mean_jump: float
    mu: float
    own: OwnSteps
    least: float


class Lesson(NamedTuple):
    """What trajectories contribute to the gradient in theta.

    Attributes
    ----------
    left, right : (k, chains, dim), factors of the gradients of the losses in C
    loss : (chains,)
    direct : gradient in theta of what does not depend on the trajectory
    size : (chains,), |mu|; or alpha times the jump, for an objective made of it
    """

    left: Array
    right: Array
    loss: Array
    direct: Array
    size: Array

    @property
    def good(self) -> Array:
        """Chains all of whose numbers are finite: (chains,)."""
        factors = np.isfinite(self.left) & np.isfinite(self.right)
        return np.asarray(np.isfinite(self.loss) & factors.all(axis=(0, 2)))


class LinearKernel:
    """The kernel of the preconditioners that are matrices.

    Parameters
    ----------
    settings : of the sampler
    """

    def __init__(self, settings: EntropyHMC) -> None:
        self._settings = settings
        self._form = FORMS[settings.preconditioner]

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        """State at the starting points."""
        return check_start(self._settings.name, evaluate(density, x))

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One transition; ``info.record`` holds the points of the trajectory, each a `Phase`."""
        start = with_momentum(state, rng.standard_normal(state.x.shape))
        points, taken = trace(density, start, params.root, params.step_size, self._settings.n_steps)
        new, info = metropolise(rng, start, points[-1], state, taken)
        return new, info._replace(record=points)

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Start with a safe C, or with a random one."""
        s, dim = self._settings, state.x.shape[1]
        if s.robust:
            theta = self._form.start(s.initial_scale or self._find_scale(rng, density, state), dim)
        else:
            theta = self._form.random_start(rng, s.initial_scale or dim ** (-1.0 / 3.0), dim)
        least = FLOOR * min(1.0, float(np.min(np.abs(self._form.diagonal(theta)))))
        return Adaptation(
            theta, start_adam(theta.shape), 1.0, Weights(), leapfrog_adjoint.FIRST_SCALE, 0.0,
            whole_steps(len(state.x)), least,
        )  # fmt: skip

    def _find_scale(self, rng: np.random.Generator, density: LogDensity, state: State) -> float:
        """Return a multiple of the identity that about half of the chains accept."""

        def acceptance_at(scale: float) -> float:
            root = np.full(state.x.shape[1], scale)
            _, info = self.step(rng, density, state, Params(root, 1.0, 0.0))
            return float(np.mean(info.accept_prob))

        return initial_step(acceptance_at)

    def adapt(
        self,
        rng: np.random.Generator,
        density: Any,
        i: int,
        n_warmup: int,
        adaptation: Adaptation,
        state: State,
        info: Info,
    ) -> Adaptation:
        """Take one step along the gradient, then steer beta and gamma (Algorithm 1)."""
        s, rate = self._settings, self._settings.rate_at(i, n_warmup)
        eps, series = draw_signs(rng, state.x.shape), draw_weights(rng, s.least_terms)
        teachers = adaptation.own.whole & np.isfinite(info.proposal.logp)
        if s.robust:
            adaptation = adaptation._replace(own=rescue(adaptation.own, info.accepted))
        if not teachers.any():
            return _shortened(adaptation, rate)
        path = path_of(info.record, teachers, self.params(adaptation).root, adaptation.step_size)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            if s.objective == "gsm":
                lesson = self._speed(density, adaptation, path, eps[teachers], series)
            else:
                lesson = self._jump(density, adaptation, path)
            good = lesson.good
            if not good.any():
                return _shortened(adaptation, rate)
            adaptation = self._descend(adaptation, lesson, good, rate)
            return self._steer(adaptation, lesson, good, info.accept_prob[teachers])

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Root and step size of the next transition."""
        theta: Array = adaptation.theta
        is_band = self._settings.preconditioner == "tridiagonal"
        root = InverseBidiagonal(*split(theta)) if is_band else theta
        h, own = adaptation.step_size, adaptation.own
        return Params(root, h if final or own.whole.all() else h * own.factor, adaptation.mu)

    def _most(self, weights: Weights) -> float:
        """Largest entry of a gradient."""
        s = self._settings
        bounded = s.robust and s.objective == "gsm"
        return min(s.clip, CLIP_SHARE * weights.beta) if bounded else s.clip

    def _speed(
        self, density: Any, adaptation: Adaptation, path: Path, eps: Array, series: Array
    ) -> Lesson:
        """Gradient of E, in which D and the penalty share one series of products."""
        s, theta = self._settings, adaptation.theta
        h, weights = adaptation.step_size, adaptation.weights
        C, kappa = self._form.products(theta), curvature_factor(h, s.n_steps)

        def curve(v: Array) -> Array:
            return -density.hvp(path.middle, v)

        expansion = expand(curve if s.n_steps > 1 else np.zeros_like, C, kappa, eps, series)
        penalties, bend = penalty(np.abs(expansion.mu), s.penalty_start, s.penalty_slope)
        if s.exact:
            slopes = leapfrog_adjoint.energy_slopes(path)
            energy = adjoint_outer(path, h, C, _curvature(density), *slopes)
        else:
            energy = energy_outer(path, h, C)
        left, right = map(
            np.concatenate,
            zip(energy, entropy_outer(expansion, eps, kappa, weights, bend), strict=True),
        )
        value = loss(path.delta, self._form.log_det(theta), expansion, weights, penalties)
        direct = -weights.beta * self._form.log_det_gradient(theta)
        return Lesson(left, right, value, direct, np.abs(expansion.mu))

    def _jump(self, density: Any, adaptation: Adaptation, path: Path) -> Lesson:
        """Gradient of the objectives that are made of jumps (appendix D)."""
        s, h = self._settings, adaptation.step_size
        C, size = self._form.products(adaptation.theta), jumps(path, s.jump_power)
        value, by_jump = esjd(size) if s.objective == "esjd" else l2hmc(size, adaptation.mean_jump)
        slopes = jump_slopes(path, s.jump_power, by_jump)
        left, right = adjoint_outer(path, h, C, _curvature(density), *slopes)
        return Lesson(left, right, value, np.zeros_like(adaptation.theta), size)

    def _descend(
        self, adaptation: Adaptation, lesson: Lesson, good: Array, rate: float
    ) -> Adaptation:
        """Take Adam's step of theta, along the mean gradient of the chains that have one."""
        s, form, theta = self._settings, self._form, adaptation.theta
        dim = lesson.left.shape[2]
        left, right = (
            np.clip(rows[:, good].reshape(-1, dim), -LARGEST, LARGEST)
            for rows in (lesson.left, lesson.right)
        )
        gradient = form.project(theta, left, right) / np.sum(good) + lesson.direct
        if s.robust:
            gradient = form.relative(theta, gradient)
        most = self._most(adaptation.weights)
        gradient = np.clip(np.nan_to_num(gradient), -most, most)
        adam, step = direction(adaptation.adam, gradient, s.momentum)
        if s.robust:
            theta = form.move(theta, -rate * step)
        else:
            theta = form.add(theta, -rate * step, adaptation.least)
        return adaptation._replace(theta=theta, adam=adam)

    def _steer(
        self, adaptation: Adaptation, lesson: Lesson, good: Array, accept_prob: Array
    ) -> Adaptation:
        """Update what the objective weighs its parts by."""
        s, size = self._settings, lesson.size[good]
        if s.objective != "gsm":
            return adaptation._replace(mean_jump=mean_jump(adaptation.mean_jump, size))
        penalties, _ = penalty(size, s.penalty_start, s.penalty_slope)
        weights = steer(
            adaptation.weights, float(np.mean(accept_prob)), s.target_accept, s.entropy_rate,
            penalties,
        )  # fmt: skip
        mu = adaptation.mu + RECENT * (float(np.mean(size)) - adaptation.mu)
        return adaptation._replace(weights=weights, mu=mu)


def _shortened(adaptation: Adaptation, rate: float) -> Adaptation:
    """Shorten all steps where no trajectory has a finite loss: there is nothing to learn from."""
    return adaptation._replace(step_size=adaptation.step_size * (1.0 - rate))


def path_of(points: tuple[Phase, ...], rows: Array, root: Root, step_size: float) -> Path:
    """Return the trajectories of some of the chains, as `entropy_loss` takes them."""
    x, grads, momenta = (
        np.stack([getattr(point, name)[rows] for point in points])
        for name in ("x", "grad", "momentum")
    )
    slopes = np.stack([transposed_times(root, grad) for grad in grads[:-1]])
    halves = momenta[:-1] + 0.5 * step_size * slopes
    delta = (points[-1].energy - points[0].energy)[rows]
    return Path(x, -grads, halves, momenta[0], momenta[-1], delta)


def _curvature(density: Any) -> Curve:
    """Hessian-vector products with the potential."""
    return lambda x, v: -density.hvp(x, v)
