"""Checks of what a sampler does: the target it leaves invariant, the regions it stays out of."""

from __future__ import annotations

import numpy as np

from probmodel.inference.counting import Work, counting
from probmodel.inference.groups import sample
from probmodel.samplers.base import Sampler
from probmodel.testing.contract import require_finite
from probmodel.testing.noise import Player, Recorder
from probmodel.testing.runs import (
    DEFAULT,
    FRACTION,
    Effort,
    exact_starts,
    points_of,
    require,
    tuned,
)
from probmodel.testing.statistics import LIMIT, deviations, require_moments, tamed, worst
from probmodel.testing.targets import (
    OUTSIDE,
    Banana,
    Gaussian,
    HalfSpace,
    Outside,
    random_covariance,
)
from probmodel.types import Array

LEAST_SHARE = 0.2  # of the squared distance to independent draws
CHAINS = 7  # more than dimensions, so that an array's axis of chains cannot be mistaken


def check_invariance(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require that draws which are exact stay exact, on a skew target.

    This catches a wrong acceptance ratio that the moments of a long run miss.
    """
    target, rng = Banana(), np.random.default_rng(1)
    params = tuned(sampler, target, rng, effort.warmup)
    alone = sampler.points_per_chain(target.dim) == 1
    chains = effort.starts if alone else effort.starts // FRACTION
    state = sampler.init(rng, target, exact_starts(sampler, target, rng, chains))
    start = points_of(state)
    for _ in range(effort.steps):
        state, _ = sampler.step(rng, target, state, params)
    exact = target.exact(rng, len(start))
    x = tamed(points_of(state), exact)
    share = np.sum((x - start) ** 2) / np.sum((exact - start) ** 2)
    require(
        not share < LEAST_SHARE,
        f"After {effort.steps} transitions the squared distance from the start is {share:.2f} of "
        f"that of independent draws; below {LEAST_SHARE} a wrong kernel would not show. Either "
        "moves are too short or rejected, or the sampler learns slowly: raise warmup of Effort.",
    )
    name, score = worst(deviations(x, exact))
    require(
        abs(score) < LIMIT,
        f"Of {len(x)} points that were exact draws, the {name} is off by {score:.1f} standard "
        f"errors after {effort.steps} transitions: step does not leave the target invariant. Look "
        "at the acceptance ratio, the density of the proposal in both directions above all.",
    )


def check_known_posterior(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require the moments of normal targets in one and two dimensions, from a common start.

    Members of an ensemble are not independent chains; for them there is `check_invariance`.
    """
    for dim in (1, 2):
        _compare_with_gaussian(sampler, dim, seed=2, effort=effort)


def check_ten_dimensions(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require the moments of a normal target in ten dimensions."""
    _compare_with_gaussian(sampler, 10, seed=3, effort=effort)


def _compare_with_gaussian(sampler: Sampler, dim: int, seed: int, effort: Effort) -> None:
    if sampler.coupling == "ensemble":
        return
    rng = np.random.default_rng(seed)
    target = Gaussian(rng.standard_normal(dim), random_covariance(rng, dim))
    x0 = rng.uniform(-2.0, 2.0, (max(8, sampler.min_chains(dim)), dim))
    result = sample(sampler, target, x0, seed, draws=effort.draws, warmup=effort.warmup)
    require_moments(target, result.x)


def check_independence(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require that a chain does alone what it does beside others, given noise and parameters.

    Samplers whose chains are coupled for good are left out.
    """
    if sampler.coupling == "ensemble":
        return
    target, rng = Banana(), np.random.default_rng(5)
    params = tuned(sampler, target, rng, effort.warmup)
    x0 = exact_starts(sampler, target, rng, CHAINS)
    tape = Recorder(6)
    together = _path(sampler, tape, x0, params)
    for c in range(CHAINS):
        alone = _path(sampler, Player(tape.calls, c, CHAINS), x0[c : c + 1], params)
        np.testing.assert_allclose(
            alone[:, 0], together[:, c], rtol=1e-9, atol=1e-9,
            err_msg="A chain moves otherwise when the others are not there. If they are meant to "
            'depend on each other while sampling, the coupling is "ensemble"',
        )  # fmt: skip


def _path(sampler: Sampler, rng: object, x0: Array, params: object) -> Array:
    """Return the first positions of all chains: (steps, chains, dim)."""
    generator: np.random.Generator = rng  # type: ignore[assignment]
    state = sampler.init(generator, Banana(), x0)
    path = []
    for _ in range(8):
        state, _ = sampler.step(generator, Banana(), state, params)
        path.append(state.x)
    return np.stack(path)


def check_half_space(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require that a region without a density is never entered and teaches nothing.

    What is found there is minus infinity, NaN, plus infinity, or a finite value with a gradient
    that is NaN. The last is a region like any other to a sampler that draws without gradients.
    """
    for outside in OUTSIDE:
        _run_in_half_space(sampler, outside)


def _run_in_half_space(sampler: Sampler, outside: Outside) -> None:
    target, rng = HalfSpace(3, outside), np.random.default_rng(7)
    x0 = target.exact(rng, max(4, sampler.min_chains(3)))
    result = sample(sampler, target, x0, 8, draws=150, warmup=150, save_warmup=True)
    require_finite(result.params)
    if outside == "nan gradient" and result.work_sampling.grad == 0:
        return
    for phase, x in (("warm-up", result.warmup_x), ("sampling", result.x)):
        require(
            x is not None and bool(np.isfinite(x).all() and np.all(x[:, :, 0] > 0.0)),
            f"In the {phase} a chain entered a region where the target returns {outside}: reject "
            "proposals whose log density or gradient is not finite. "
            "probmodel.samplers.metropolis.evaluate marks them and decide rejects them.",
        )
    require(
        bool(np.isfinite(result.stats["lp"]).all()),
        f"A saved log density is not finite beside a region where the target returns {outside}.",
    )


def check_cost(sampler: Sampler, effort: Effort = DEFAULT) -> None:
    """Require that ``info.n_grad`` is what the target was asked for, and no more than ``needs``.

    A Hessian-vector product counts as two gradients and a Hessian as many as it has rows. A metric
    may be counted as a Hessian or as less.
    """
    target, rng = Banana(), np.random.default_rng(16)
    counted = counting(target)
    params = tuned(sampler, target, rng, 50, density=counted)
    chains = max(CHAINS, sampler.min_chains(target.dim))
    state = sampler.init(rng, counted, exact_starts(sampler, target, rng, chains))
    for _ in range(5):
        before = counted.work
        state, info = sampler.step(rng, counted, state, params)
        asked = counted.work.minus(before)
        least = asked.grad + 2 * asked.hvp
        most = least + target.dim * asked.hessian
        reported = int(np.sum(info.n_grad))
        exactly = sampler.needs != "metric"
        require(
            reported == most if exactly else least <= reported <= most,
            f"A transition of {chains} chains reports {reported} gradients (info.n_grad) and asked "
            f"the target for {most}: {asked}.",
        )
    _require_within_needs(sampler, counted.work)


def _require_within_needs(sampler: Sampler, work: Work) -> None:
    """Require that nothing was asked for that ``needs`` does not name."""
    allowed = {
        "log density": Work(logp=work.logp),
        "gradient": Work(logp=work.logp, grad=work.grad),
    }.get(sampler.needs, work)
    require(
        work == allowed,
        f"The sampler needs {sampler.needs!r}, by its own account, and asked the target for more: "
        f"{work}.",
    )
