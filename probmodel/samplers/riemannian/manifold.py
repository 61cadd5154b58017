"""Hamiltonian trajectories in a position-dependent metric, shared by `rmhmc` and `armhmc`.

    x, p      position, momentum: p ~ N(0, G(x))                          (chains, dim)
    g         gradient of the log density; the potential is U = -log density
    G, K, W   metric, its root, and K^-T, as in `metrics`                 (chains, dim, dim)
    z         whitened momentum, W'p, standard normal                     (chains, dim)
    y         move seen from where it starts, K'(x' - x)                  (chains, dim)
    h         step size                                                   () or (chains,)
    L         steps of a trajectory                                       () or (chains,)
    H         U(x) + 1/2 log |G(x)| + 1/2 p' G(x)^-1 p                    (chains,)

Girolami and Calderhead (2011), "Riemann manifold Langevin and Hamiltonian Monte Carlo methods",
JRSS B 73(2). A step of the generalised leapfrog (their eq. 16 to 18) is

    p_half = p - h/2 dH/dx(x, p_half)                                     by a fixed point
    x'     = x + h/2 (G(x)^-1 + G(x')^-1) p_half                          by a fixed point
    p'     = p_half - h/2 dH/dx(x', p_half)

It is its own inverse when the momentum is turned round, and keeps volumes, because the forces on
position and momentum belong to one H. Of dH/dx only the part that depends on the momentum matters
for that: an error e in the derivative of 1/2 p'G^-1 p changes a volume by the order of h e at a
step, where the derivatives by differences have errors of 1e-8 or less; an error in the rest of
dH/dx costs acceptance alone.

Brofos and Lederman (2021), "Evaluating the implicit midpoint integrator for Riemannian manifold
Hamiltonian Monte Carlo", ICML; Noble, De Bortoli and Durmus (2023), "Unbiased constrained sampling
with self-concordant barrier Hamiltonian Monte Carlo", NeurIPS. The equations may have several
solutions, or the iteration may find one from one side alone, so that the way back need not end
where the way forth began; no acceptance rule corrects that. So both equations of each step are
solved from its other end, too, and the trajectory is rejected unless that leads to where the step
began. What is left of the proposals is its own inverse.

Deviations. The fixed points are iterated in z and y, whose scale is 1 whatever the units of the
parameters, by Anderson's accelerated iteration (`fixed_point`). A chain whose iteration does not
converge, or meets a point without a positive definite metric, rejects the whole trajectory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from probmodel.errors import SamplerError
from probmodel.samplers.base import Info, Remark
from probmodel.samplers.metropolis import check_start, decide, evaluate, placed
from probmodel.samplers.riemannian.fixed_point import fixed_point
from probmodel.samplers.riemannian.metrics import Frame, Metric
from probmodel.types import Array, LogDensity

RETURN = 1e-6  # distance from the start within which the way back has to end
FAILED = 0.01  # share of trajectories given up that is worth a remark


class RiemannianState(NamedTuple):
    """Where the chains are, with all that a step from there takes.

    Attributes
    ----------
    x : (chains, dim)
    logp : (chains,)
    grad : (chains, dim)
    root : (chains, dim, dim), K
    columns : (chains, dim, dim), W
    log_det : (chains,), log |G|
    volume : (chains, dim), gradient of 1/2 log |G|
    memory : (chains, ...), what `Metric.bend` keeps
    """

    x: Array
    logp: Array
    grad: Array
    root: Array
    columns: Array
    log_det: Array
    volume: Array
    memory: Array

    def rows(self, rows: Array) -> RiemannianState:
        """Take some of the chains."""
        return RiemannianState(*(a[rows] for a in self))

    def energy(self, z: Array) -> Array:
        """H for whitened momenta: (chains,)."""
        with np.errstate(over="ignore"):
            kinetic = 0.5 * np.einsum("ij,ij->i", z, z)
        return np.asarray(kinetic + 0.5 * self.log_det - self.logp)


class Step(NamedTuple):
    """One step of the integrator.

    Attributes
    ----------
    state : where it ends; anything in rows that are not fine
    half : (chains, dim), p_half
    momentum : (chains, dim), p'
    fine : (chains,) bool, whether the fixed points converged and the end has a metric
    n_grad : (chains,) int
    """

    state: RiemannianState
    half: Array
    momentum: Array
    fine: Array
    n_grad: Array


def riemannian_start(
    sampler_name: str, metric: Metric, density: LogDensity, x: Array
) -> RiemannianState:
    """State at the starting points ``x``: (chains, dim).

    Raises a `SamplerError` if the density lacks what the metric is made from, is not finite at a
    starting point, or has no positive definite metric there, and a `ModelError` if the information
    of an observed distribution is not known in closed form.
    """
    metric.check(sampler_name, density)
    state, positive, _ = locate(metric, density, x)
    check_start(sampler_name, state)
    bad = np.flatnonzero(~positive)
    if bad.size:
        other = "" if metric.name == "softabs" else ", or use metric='softabs'"
        raise SamplerError(
            f"{sampler_name} cannot start where the metric ({metric.name!r}) is not positive "
            f"definite: chain {', '.join(map(str, bad[:10]))} of {len(x)}. Start elsewhere "
            f"(inits=){other}.",
            chains=bad.tolist(), x=x[bad],
        )  # fmt: skip
    return state


def locate(metric: Metric, density: LogDensity, x: Array) -> tuple[RiemannianState, Array, Array]:
    """State at ``x``: (chains, dim), whether it has a metric, and the gradients it took."""
    dim = x.shape[1]
    logp, grad = evaluate(density, x)[1:]
    frame = metric.frame(density, x)
    volume, memory, n_grad = metric.curvature(density, x, grad, frame)
    state = RiemannianState(x, logp, grad, frame.root, frame.columns, frame.log_det, volume, memory)
    return state, frame.positive, 1 + dim + n_grad


def riemannian_step(
    rng: np.random.Generator,
    density: LogDensity,
    state: RiemannianState,
    metric: Metric,
    step_size: float | Array,
    n_steps: int | Array,
    check_reversibility: bool = True,
) -> tuple[RiemannianState, Info]:
    """One transition of Riemannian manifold Hamiltonian Monte Carlo for every chain.

    Parameters
    ----------
    rng : gives the momenta, then one uniform number a chain
    density : the target
    state : where the chains are
    metric : G
    step_size : h; one for all, or (chains,)
    n_steps : L; one for all, or (chains,) with entries of 1 or more
    check_reversibility : whether each step is also solved from its end, and rejected if that does
        not lead to where it began

    Returns
    -------
    state : RiemannianState
    info : Info
        ``stats`` holds ``n_steps``, ``energy`` and ``fixed_point_failed``, the chains whose
        trajectory was given up. ``n_grad`` counts a metric as ``dim`` gradients, and each
        direction of `Metric.contraction` as a Hessian-vector product, or by its own gradients.
    """
    z = rng.standard_normal(state.x.shape)
    end, momentum, failed, taken, n_grad = simulate(
        density, state, z, metric, step_size, n_steps, check_reversibility
    )
    before, after = state.energy(z), end.energy(_times(end.columns, momentum, transposed=True))
    with np.errstate(invalid="ignore"):
        log_ratio = before - after
    proposal = end._replace(logp=np.where(failed, -np.inf, end.logp))
    new, info = decide(rng, log_ratio, state, proposal, n_grad=0)
    stats = {
        "n_steps": taken,
        "energy": np.where(info.accepted, after, before),
        "fixed_point_failed": failed,
    }
    return new, info._replace(n_grad=n_grad, stats=stats)


def simulate(
    density: LogDensity,
    state: RiemannianState,
    z: Array,
    metric: Metric,
    step_size: float | Array,
    n_steps: int | Array,
    check_reversibility: bool,
) -> tuple[RiemannianState, Array, Array, Array, Array]:
    """Follow the dynamics from whitened momenta ``z``; see `riemannian_step`.

    Returns
    -------
    state, momentum : where each chain ends; for one that fails, where it was last
    failed : (chains,) bool
    taken : (chains,) int, steps
    n_grad : (chains,) int
    """
    chains = len(z)
    wanted = np.broadcast_to(np.asarray(n_steps), (chains,))
    h = np.broadcast_to(np.asarray(step_size, dtype=float), (chains,))
    taken, n_grad = np.zeros(chains, dtype=int), np.zeros(chains, dtype=int)
    failed = np.zeros(chains, dtype=bool)
    momentum = _times(state.root, z)
    for step in range(int(wanted.max())):
        rows = np.flatnonzero((wanted > step) & ~failed & np.isfinite(state.logp))
        if not rows.size:
            break
        here = state.rows(rows)
        new = generalised_leapfrog(density, here, momentum[rows], metric, h[rows])
        if check_reversibility:
            new = checked(density, here, metric, h[rows], new)
        taken[rows] += 1
        n_grad[rows] += new.n_grad
        failed[rows] = ~new.fine
        moved = rows[new.fine]
        after = new.state.rows(new.fine)
        state = after if len(moved) == chains else placed(state, moved, after)
        momentum[moved] = new.momentum[new.fine]
    return state, momentum, failed, taken, n_grad


def generalised_leapfrog(
    density: LogDensity, state: RiemannianState, momentum: Array, metric: Metric, h: Array
) -> Step:
    """One step of every chain; a negative ``h``, (chains,), goes back in time."""
    integrator = _Integrator(density, metric, state, h)
    with np.errstate(over="ignore", invalid="ignore"):
        z, fine, n_grad = integrator.kick(momentum)
        half = _times(state.root, z)
        y, fine, cost = integrator.drift(z, half, fine)
        n_grad = n_grad + cost
        x = np.where(fine[:, None], state.x + _times(state.columns, y), state.x)
        end, positive, cost = locate(metric, density, x)
        bend, more = metric.bend(
            density, x, end.grad, _frame(end), end.memory,
            _times(end.columns, half, transposed=True),
        )  # fmt: skip
        p = half + 0.5 * h[:, None] * (end.grad - end.volume - bend)
    fine = fine & positive & np.isfinite(p).all(axis=1)
    return Step(end, half, p, fine, n_grad + cost + more)


class _Integrator:
    """The two implicit equations of a step from given states."""

    def __init__(
        self, density: LogDensity, metric: Metric, state: RiemannianState, h: Array
    ) -> None:
        self._density, self._metric, self._state = density, metric, state
        self._half = 0.5 * h[:, None]

    def kick(self, momentum: Array) -> tuple[Array, Array, Array]:
        """Whitened momentum half a step later: the value, whether it converged, gradients."""
        state, half = self._state, self._half
        start = _times(state.columns, momentum, transposed=True)
        pushed = start + half * _times(state.columns, state.grad - state.volume, transposed=True)

        def equation(rows: Array, z: Array) -> tuple[Array, Array]:
            here = state.rows(rows)
            bend, n_grad = self._metric.bend(
                self._density, here.x, here.grad, _frame(here), here.memory, z
            )
            turned = _times(here.columns, bend, transposed=True)
            return pushed[rows] - half[rows] * turned, n_grad

        return fixed_point(equation, start, np.ones(len(start), dtype=bool))

    def drift(self, z: Array, momentum: Array, rows: Array) -> tuple[Array, Array, Array]:
        """Move y of some chains with that momentum: the value, whether it converged, gradients."""
        state, half = self._state, self._half
        dim = z.shape[1]

        def equation(rows: Array, y: Array) -> tuple[Array, Array]:
            root, columns = state.root[rows], state.columns[rows]
            frame = self._metric.frame(self._density, state.x[rows] + _times(columns, y))
            there = _times(frame.columns, momentum[rows], transposed=True)
            velocity = _times(root, _times(frame.columns, there), transposed=True)
            velocity = np.where(frame.positive[:, None], velocity, np.nan)
            return half[rows] * (z[rows] + velocity), np.full(len(rows), dim)

        return fixed_point(equation, 2.0 * half * z, rows)


def checked(
    density: LogDensity, start: RiemannianState, metric: Metric, h: Array, step: Step
) -> Step:
    """Solve the two equations of a step from its end, and keep it only if that leads back.

    What is left of the way back is explicit: from the same place with the same momentum between the
    kicks, it ends at the start.
    """
    rows = np.flatnonzero(step.fine)
    begin, half = start.rows(rows), step.half[rows]
    end = step.state.rows(rows)
    integrator = _Integrator(density, metric, end, -h[rows])
    with np.errstate(over="ignore", invalid="ignore"):
        z, fine, n_grad = integrator.kick(step.momentum[rows])
        y, fine, cost = integrator.drift(z, _times(end.root, z), fine)
        away = _times(end.columns, y) + end.x - begin.x
        away = _times(begin.root, away, transposed=True)
        turn = z - _times(end.columns, half, transposed=True)
        returned = np.maximum(np.abs(away), np.abs(turn)).max(axis=1) < RETURN
    kept, total = step.fine.copy(), step.n_grad.copy()
    kept[rows] = fine & returned
    total[rows] += n_grad + cost
    return step._replace(fine=kept, n_grad=total)


def failure_remarks(metric: Metric, failed: Array, shorter: str) -> list[Remark]:
    """Say so if many trajectories were given up, those that ``failed``.

    ``shorter`` tells how shorter steps are had, a sentence without its end.
    """
    share = np.mean(failed) if np.size(failed) else 0.0
    if share <= FAILED:
        return []
    other = "" if metric.name == "softabs" else ', or use metric="softabs"'
    message = (
        f"{share:.1%} of the trajectories were given up: an implicit step did not converge or did "
        f"not lead back to where it began, or met a point where the metric ({metric.name!r}) is "
        "not positive definite. They were rejected, so the draws may leave out the region behind. "
        f"{shorter}{other}."
    )
    return [Remark("fixed_point_failed", message)]


def _frame(state: RiemannianState) -> Frame:
    """Metric of a state."""
    positive = np.ones(len(state.x), dtype=bool)
    return Frame(state.root, state.columns, state.log_det, state.memory, positive)


def _times(a: Array, v: Array, transposed: bool = False) -> Array:
    """Product of each chain's matrix, or its transpose, with its vector: (chains, dim)."""
    if transposed:
        return np.asarray((v[:, None, :] @ a)[:, 0])
    return np.asarray((a @ v[:, :, None])[:, :, 0])
