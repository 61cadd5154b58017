"""Hamiltonian Monte Carlo in the coordinates of a learned map, for `entropy_hmc`.

    x, z     position, and where the map takes it from: x = f(z)              (chains, dim)
    f        RealNVP with parameters theta, as in `probmodel.adaptation.realnvp`
    c        scales of its last layer                                         (dim,)
    g        gradient of the log density at x                                 (chains, dim)
    U~       potential in z: -log density(f(z)) - log|det Df(z)|
    s        -grad U~(z) = Df(z)'g + grad log|det Df(z)|                      (chains, dim)
    r        momentum, standard normal                                        (chains, dim)
    h, L     step size, leapfrog steps
    E        loss of one trajectory, as in `probmodel.adaptation.flow_loss`   (chains,)
    mu       largest eigenvalue of D, in size                                 (chains,)

The dynamics run in z, with U~ and a mass matrix that is the identity, and are accepted or rejected
there: a draw z from the pulled-back density gives a draw x = f(z) from the target. The state holds
x. Each transition begins with z = f^-1(x), so that theta may change from one to the next.

    Hirt, Titsias and Dellaportas (2021), "Entropy-based adaptive Hamiltonian Monte Carlo",
    section 4.5, Algorithm 1 and appendix C.

Deviations. A proposal that is not finite is left out of the loss; where none is finite, h becomes
h (1 - learning rate). The published run starts at h = 0.1 and c = exp(-1), which suit the scales of
one target. ``robust`` does this instead, in the warm-up alone:

1. c starts as the multiple of the identity that half of the proposals are accepted with, found by
   trying. h is such that z has about unit variance once theta is learned: the entropy of a normal
   target is largest where D = -I/3.
2. A trajectory that diverges, or is not finite, contributes only the curvature at its start:
   where the leapfrog steps are unstable, the slope of the loss is immense and points anywhere.
3. A gradient that is too large is shortened, where the published run cuts its entries.
4. In the second half of the warm-up the learning rate falls to zero in a straight line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from probmodel.adaptation.adam import Adam, direction, start_adam
from probmodel.adaptation.entropy_loss import Weights, penalty, steer
from probmodel.adaptation.flow_loss import FlowPath, expand_flow, flow_gradient
from probmodel.adaptation.initial_step import initial_step
from probmodel.adaptation.realnvp import FlowPoint, RealNVP
from probmodel.adaptation.roulette import draw_signs, draw_weights
from probmodel.samplers.base import Info, State
from probmodel.samplers.metropolis import DIVERGENCE, check_start, decide, evaluate, placed
from probmodel.types import Array, CurvedLogDensity, LogDensity

if TYPE_CHECKING:
    from probmodel.samplers.hamiltonian.entropy_hmc import EntropyHMC

PUBLISHED_STEP = 0.1  # h of a run that is not robust
RECENT = 0.02  # weight of the last iteration in the mean of |mu|


class Phase(NamedTuple):
    """A point of phase space for each chain, on both sides of the map.

    Attributes
    ----------
    z : (chains, dim)
    x, logp, grad : position, log density and its gradient g, as in `State`
    log_det : (chains,), log|det Df(z)|
    slope : (chains, dim), s
    momentum : (chains, dim), r
    """

    z: Array
    x: Array
    logp: Array
    grad: Array
    log_det: Array
    slope: Array
    momentum: Array

    @property
    def state(self) -> State:
        """Position alone."""
        return State(self.x, self.logp, self.grad)

    @property
    def energy(self) -> Array:
        """U~ and kinetic energy: (chains,); plus infinity in marked rows."""
        with np.errstate(over="ignore"):
            kinetic = 0.5 * np.einsum("ij,ij->i", self.momentum, self.momentum)
        return np.asarray(kinetic - self.logp - self.log_det)


def begin(flow: RealNVP, weights: Any, state: State, momentum: Array) -> Phase:
    """Put states and momenta, (chains, dim), together; the target is not evaluated."""
    return _phase(flow, weights, flow.inverse(weights, state.x), state, momentum)


def _phase(flow: RealNVP, weights: Any, point: FlowPoint, state: State, momentum: Array) -> Phase:
    slope = flow.gradient(weights, point, state.grad)
    return Phase(point.z, *state, point.log_det, slope, momentum)


def leapfrog(density: LogDensity, flow: RealNVP, weights: Any, phase: Phase, h: float) -> Phase:
    """One leapfrog step of every chain in z."""
    with np.errstate(over="ignore", invalid="ignore"):
        r = phase.momentum + 0.5 * h * phase.slope
        point = flow.forward(weights, phase.z + h * r)
        new = _phase(flow, weights, point, evaluate(density, point.x), r)
        return new._replace(momentum=r + 0.5 * h * new.slope)


def simulate(
    density: LogDensity, flow: RealNVP, weights: Any, start: Phase, h: float, n_steps: int
) -> tuple[list[Phase], Array]:
    """Follow the dynamics: return the trajectories, L + 1 points with both ends, and its steps.

    A row that meets a point without a density stays there. The leapfrog steps, of one gradient
    each, are (chains,).
    """
    points, taken = [start], np.zeros(len(start.logp), dtype=int)
    for _ in range(n_steps):
        phase = points[-1]
        moving = np.isfinite(phase.logp)
        if moving.all():
            points.append(leapfrog(density, flow, weights, phase, h))
        elif moving.any():
            rows = np.flatnonzero(moving)
            some = Phase(*(a[rows] for a in phase))
            points.append(placed(phase, rows, leapfrog(density, flow, weights, some, h)))
        else:
            points.append(phase)
        taken += moving
    return points, taken


class Params(NamedTuple):
    """What one transition uses.

    Attributes
    ----------
    theta : (size,), parameters of the map
    step_size : h
    mu : recent mean of |mu|
    """

    theta: Array
    step_size: float
    mu: float


class Adaptation(NamedTuple):
    """State of the adaptation: theta and its optimiser, beta and gamma, h and the mean of |mu|."""

    theta: Array
    adam: Adam
    weights: Weights
    step_size: float
    mu: float


class FlowKernel:
    """The kernel of the preconditioner that is a RealNVP.

    Parameters
    ----------
    settings : of the sampler
    """

    def __init__(self, settings: EntropyHMC) -> None:
        self._settings = settings

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        """State at the starting points; an odd number of parameters is refused."""
        self._flow(x)
        return check_start(self._settings.name, evaluate(density, x))

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """One transition; ``info.record`` holds the points of the trajectory, each a `Phase`."""
        flow = self._flow(state.x)
        weights = flow.weights(params.theta)
        start = begin(flow, weights, state, rng.standard_normal(state.x.shape))
        n_steps = self._settings.n_steps
        points, taken = simulate(density, flow, weights, start, params.step_size, n_steps)
        before, after = start.energy, points[-1].energy
        with np.errstate(invalid="ignore"):
            log_ratio = before - after
        new, info = decide(rng, log_ratio, state, points[-1].state, n_grad=0)
        stats = {"n_steps": taken, "energy": np.where(info.accepted, after, before)}
        return new, info._replace(n_grad=taken, stats=stats, record=tuple(points))

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Start with a map that is nearly a scaling."""
        s, flow = self._settings, self._flow(state.x)
        theta, h = flow.start(rng), PUBLISHED_STEP
        if s.robust:
            h = float(np.sqrt(2.0 / max(s.n_steps**2 - 1, 1)))

            def acceptance_at(scale: float) -> float:
                params = Params(_rescaled(flow, theta, scale), h, 0.0)
                return float(np.mean(self.step(rng, density, state, params)[1].accept_prob))

            theta = _rescaled(flow, theta, s.initial_scale or initial_step(acceptance_at))
        elif s.initial_scale is not None:
            theta = _rescaled(flow, theta, s.initial_scale)
        return Adaptation(theta, start_adam(theta.shape), Weights(), h, 0.0)

    def adapt(
        self,
        rng: np.random.Generator,
        density: CurvedLogDensity,
        i: int,
        n_warmup: int,
        adaptation: Adaptation,
        state: State,
        info: Info,
    ) -> Adaptation:
        """Take one step down the loss, then steer beta and gamma (Algorithm 1)."""
        s, flow, rate = self._settings, self._flow(state.x), self._settings.rate_at(i, n_warmup)
        theta, adam, weights, h, mu = adaptation
        eps, terms = draw_signs(rng, state.x.shape), draw_weights(rng, s.least_terms)
        path, rows = path_of(density, info.record, h, s.robust)
        if not path.whole.any():
            adaptation = adaptation._replace(step_size=h * (1.0 - rate))
        if not rows.size:
            return adaptation
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            expansion = expand_flow(flow, theta, path, eps[rows], terms)
            size = np.abs(expansion.mu)
            penalties, bend = penalty(size, s.penalty_start, s.penalty_slope)
            gradient = flow_gradient(flow, theta, path, expansion, eps[rows], weights, bend)
        adam, step = direction(adam, self._clipped(gradient), s.momentum)
        accepted = float(np.mean(info.accept_prob[rows]))
        weights = steer(weights, accepted, s.target_accept, s.entropy_rate, penalties)
        mu += RECENT * (float(np.mean(size)) - mu)
        return Adaptation(theta - rate * step, adam, weights, adaptation.step_size, mu)

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Map and step size of the next transition."""
        return Params(adaptation.theta, adaptation.step_size, adaptation.mu)

    def _flow(self, x: Array) -> RealNVP:
        """Return the map for positions like ``x``."""
        return RealNVP(x.shape[1], self._settings.width)

    def _clipped(self, gradient: Array) -> Array:
        """Bound the entries of a gradient; a robust run keeps its direction."""
        gradient, limit = np.nan_to_num(gradient), self._settings.clip
        if self._settings.robust:
            return gradient * min(1.0, limit / max(float(np.max(np.abs(gradient))), limit))
        return np.clip(gradient, -limit, limit)


def path_of(
    density: CurvedLogDensity, points: tuple[Phase, ...], h: float, robust: bool
) -> tuple[FlowPath, Array]:
    """Return what the loss takes from trajectories, and the chains it takes it from.

    These are the chains whose trajectories are finite. In a robust run they are all chains, and
    those whose trajectories diverge are taken to have stayed where they were.
    """
    first, last, middle = points[0], points[-1], points[(len(points) - 1) // 2]
    delta = last.energy - first.energy
    whole = np.isfinite(last.logp) & (delta < -DIVERGENCE if robust else True)
    rows = np.arange(len(whole)) if robust else np.flatnonzero(whole)
    x = np.where(whole[:, None], middle.x, first.x)[rows]
    hessian = np.zeros((*x.shape, x.shape[1]))
    if len(points) > 2 and rows.size:
        hessian = density.hessian(x)
        good = np.isfinite(hessian).all(axis=(1, 2))
        x, rows, hessian = x[good], rows[good], hessian[good]
    z, grad = (
        np.stack([np.where(whole[:, None], getattr(p, name), getattr(first, name)) for p in points])
        for name in ("z", "grad")
    )
    path = FlowPath(
        z[:, rows], grad[:, rows], first.x[rows], x, hessian, first.momentum[rows],
        (whole & (delta > 0.0))[rows], whole[rows], h,
    )  # fmt: skip
    return path, rows


def _rescaled(flow: RealNVP, theta: Array, scale: float) -> Array:
    """Return theta with that ``scale`` for c."""
    theta = theta.copy()
    flow.weights(theta).log_scale[:] = np.log(scale)
    return theta
