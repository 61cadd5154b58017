"""Sample-adaptive MCMC: each chain is an ensemble of points, and proposes from their normal fit.

    S = theta_1..theta_N   points of a chain's ensemble            (chains, N, dim)
    theta_(N+1)            proposed point                          (chains, dim)
    S_-n                   the N points without theta_n
    q(. | S)               proposal density fitted to S
    lambda_n               q(theta_n | S_-n) / pi(theta_n)         (chains, N + 1), in logarithms
    j                      the point that leaves, with probability lambda_j / sum lambda
    q_0                    scale of the first ensemble             ()

    Zhu (2019), "Sample adaptive MCMC", Algorithm 1.

The law of the N points is the product of N posteriors and stays so from any such start: the
proposal is a function of the state, so nothing is frozen, and the warm-up only forgets the start.

A chain reports one of its points, each in turn; every one has the posterior as its law, at every
iteration. Points live for about N iterations, and the ensemble as a whole may drift for longer.
That dependence sits at lags of N and more and is spread over many of them, where estimates of
effective sizes, which look at small lags until they find none, do not see it. With a new slot at
every iteration they are overstated by 3 for a normal posterior and by 16 for a curved one. So each
slot is reported for ``hold`` iterations in a row: repetition that is seen, in place of dependence
that is not. `remarks` compares short stretches of draws with long ones and reports what remains.

An ensemble that reaches around the posterior contracts onto it; one that does not shrinks before it
gets there, and then creeps, for about N z^2 iterations from z posterior standard deviations away.
A start at the mode spares it both, so that it is the default wherever the density has a Hessian.

A normal proposal has lighter tails than many posteriors. What lies far out is then next to never
proposed, and would stay for ever if it were, so that a run of any length that is in use has too
light tails. A share ``tails`` of the proposals comes from Student's t distributions, the safeguard
that section 3 of the paper names and its experiments do without. `remarks` judges by the weights
target / q, which have to have a mean.

Deviations: the paper reports all N points at every iteration. It starts from N(0, q_0^2 I) with
q_0 = 1, or around a mode with the same covariance. `first_ensembles` says where chains start here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.adaptation.ensemble import (
    ONE_WIDTH,
    WIDTHS,
    choose,
    diagonal_draw,
    diagonal_log_fit,
    diagonal_root,
    full_fit,
    full_log_fit,
    overstatement,
    tail_index,
)
from probmodel.errors import SamplerError
from probmodel.samplers.base import Coupling, Info, Need, Remark, State
from probmodel.samplers.metropolis import DIVERGENCE, check_start, evaluate_value
from probmodel.samplers.random_walk.first_ensembles import (
    Start,
    draw_ensembles,
    find_source,
    given_ensembles,
)
from probmodel.samplers.settings import check_number, check_share, check_types, check_whole
from probmodel.samplers.untuned import NoParams, UntunedSampler
from probmodel.types import Array, LogDensity

Covariance = Literal["full", "diag", "diag_normal"]

OVERSTATED = 2.5  # factor on effective sizes that is remarked on
HEAVY = 1.5  # tail index of the weights that is remarked on: they have no mean


class Ensemble(NamedTuple):
    """State of the chains.

    Attributes
    ----------
    x, logp, grad : the point each chain reports, its log density, and zeros
    points : (chains, N, dim)
    log_densities : (chains, N)
    initial : (chains, N) bool
        Which points are those of the start.
    iteration : (chains,) int
    """

    x: Array
    logp: Array
    grad: Array
    points: Array
    log_densities: Array
    initial: Array
    iteration: Array


@dataclass(frozen=True)
class SampleAdaptive(UntunedSampler):
    """Sample-adaptive MCMC.

    Parameters
    ----------
    covariance : {"full", "diag", "diag_normal"}
        Distribution fitted to the points: a normal with all covariances, a scale mixture of normals
        with none, or a single normal with none.
    ensemble : int, optional
        N, the number of points of one chain: at least dim + 2, or 3 without covariances. By default
        15 a dimension (4 without covariances), and 40 at least.
    start : {"normal", "prior", "mode"}, optional
        Distribution of the initial points: N(x, q_0^2 I) around each starting point x, the prior,
        or q_0 times the normal approximation at the mode that Newton's method finds from x. By
        default the mode, if the density has a Hessian and there is one; else "normal".
    initial_scale : float, optional
        q_0, above 0: better too large than too small. By default 3, and 1 at a mode.
    hold : int
        Iterations for which one slot is reported before the next, at least 1. With 1 the draws hold
        most information, but effective sample sizes are overstated.
    tails : float
        Share of the proposals that have fat tails, from 0 to below 1: they come from t
        distributions with one degree of freedom, of all coordinates together or of one. With 0, as
        in the paper's experiments, heavy tails of a posterior are lost.
    """

    covariance: Covariance = "full"
    ensemble: int | None = None
    start: Start | None = None
    initial_scale: float | None = None
    hold: int = 5
    tails: float = 0.05

    name: ClassVar[str] = "sa_mcmc"
    summary: ClassVar[str] = "normal proposal fitted to an ensemble of points, no gradients"
    paper: ClassVar[str] = "Zhu (2019)"
    needs: ClassVar[Need] = "log density"
    learns: ClassVar[str] = "nothing: its proposal follows the ensemble"
    cost: ClassVar[str] = "1 log density, O(N d²)"
    coupling: ClassVar[Coupling] = "independent"
    default_warmup: ClassVar[int] = 20_000
    default_draws: ClassVar[int] = 10_000
    default_chains: ClassVar[int] = 8

    def __post_init__(self) -> None:
        check_types(self.name, self)
        check_whole(self.name, "ensemble", self.ensemble, least=3, optional=True)
        check_number(self.name, "initial_scale", self.initial_scale, above=0.0, optional=True)
        check_whole(self.name, "hold", self.hold, least=1)
        check_share(self.name, "tails", self.tails)

    def points_per_chain(self, dim: int) -> int:
        """N, the points of one chain's ensemble.

        Raises
        ------
        SamplerError
            If ``ensemble`` is too small for ``dim``: the points left by any one have to span space.
        """
        full = self.covariance == "full"
        if self.ensemble is None:
            return max(40, (15 if full else 4) * dim)
        least = dim + 2 if full else 3
        if self.ensemble < least:
            raise SamplerError(
                f"{self.name}: {dim} unconstrained parameters need ensembles of at least {least} "
                f"points, better {15 * dim}; got ensemble={self.ensemble}. Raise it, or use "
                'covariance="diag".',
                ensemble=self.ensemble, least=least,
            )  # fmt: skip
        return self.ensemble

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> Ensemble:
        """Ensembles around the starting points, (chains, dim), or those given as (chains, N, dim).

        Raises
        ------
        SamplerError
            If the log density is not finite at a starting point, or ``start`` asks for something
            that the density does not offer.
        """
        dim = x.shape[-1]
        shape = (len(x), self.points_per_chain(dim), dim)
        if x.ndim == 3:
            return self._begin(*given_ensembles(self.name, density, x, shape))
        check_start(self.name, evaluate_value(density, x))
        source = find_source(self.name, rng, density, x, shape, self.start, self.initial_scale)
        return self._begin(*draw_ensembles(self.name, density, source, shape))

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: Ensemble, params: NoParams
    ) -> tuple[Ensemble, Info]:
        """One iteration of Algorithm 1 for every chain: one point comes in, or none."""
        proposal, log_fit = self._propose(rng, density, state)
        log_densities = np.concatenate([state.log_densities, proposal.logp[:, None]], axis=1)
        with np.errstate(over="ignore"):
            log_lambda = log_fit - log_densities
        leaves, log_odds = choose(rng, log_lambda)
        new = self._replaced(state, proposal, leaves)
        slot = self._slot(new.iteration, new.initial.shape[1])
        with np.errstate(over="ignore"):
            accept_prob = 1.0 / (1.0 + np.exp(-log_odds))
        info = Info(
            accept_prob=accept_prob,
            accepted=leaves < state.points.shape[1],
            diverging=~(log_odds >= DIVERGENCE),
            n_grad=np.zeros(len(leaves), dtype=int),
            previous=state,
            proposal=proposal,
            stats={
                "initial_point": new.initial[np.arange(len(slot)), slot],
                "log_weight": self._log_weight(state, log_lambda),
            },
        )
        return new, info

    def remarks(self, params: NoParams, stats: dict[str, Array]) -> list[Remark]:
        """Say whether points of the start are left, ensembles drift, and tails are too light."""
        found = []
        initial = stats["initial_point"]
        if initial.any():
            message = (
                f"{np.mean(initial):.2%} of the draws are points with which the ensembles began: "
                "the warm-up is too short to forget the start. Raise warmup."
            )
            found.append(Remark("initial_points", message))
        factor = overstatement(stats["lp"], short=4 * self.hold)
        if factor > OVERSTATED:
            message = (
                "The ensembles move slowly as a whole: effective sample sizes are overstated, by "
                f"a factor of about {factor:.0f} for the log density. If they have not arrived "
                'yet, raise warmup or use start="mode"; if they have, reparameterise towards a '
                f"normal posterior, enlarge the ensemble, or raise hold (it is {self.hold})."
            )
            found.append(Remark("slow_ensemble", message))
        index = tail_index(stats["log_weight"])
        if index > HEAVY:
            remedy = "raise tails" if self.tails else "set tails, to 0.05 for example"
            message = (
                "The proposals do not reach into the tails of the posterior: the weights of target "
                f"over proposal have a tail index of {index:.1f}, and no mean from 1 on. Draws far "
                f"out are too rare or stay for too long: {remedy}, or reparameterise towards a "
                "normal posterior."
            )
            found.append(Remark("light_tails", message))
        return found

    def _begin(self, points: Array, log_densities: Array) -> Ensemble:
        """Return the state before the first iteration, if every ensemble has a proposal."""
        spread = full_fit(points).root if self.covariance == "full" else diagonal_root(points)[1]
        flat = np.flatnonzero(~np.isfinite(spread).reshape(len(points), -1).all(axis=1))
        if flat.size:
            raise SamplerError(
                f"{self.name}: the points with which chain {flat[0]} of {len(points)} starts span "
                "no volume up to rounding, so that nothing can be fitted to them. Give points in "
                "general position.",
                chains=flat.tolist(),
            )  # fmt: skip
        initial, iteration = np.full(log_densities.shape, True), np.zeros(len(points), dtype=int)
        return self._report(points, log_densities, initial, iteration)

    def _propose(
        self, rng: np.random.Generator, density: LogDensity, state: Ensemble
    ) -> tuple[State, Array]:
        """Draw from each ensemble's fit: the point, and log q_n of all N + 1 points.

        Where there is no fit, the log density is marked.
        """
        if self.covariance == "full":
            fit = full_fit(state.points)
            proposal = self._evaluate(density, state, fit.draw(rng, self.tails))
            return proposal, full_log_fit(fit, proposal.x, self.tails)
        widths = WIDTHS if self.covariance == "diag" else ONE_WIDTH
        y = diagonal_draw(rng, state.points, self.tails, widths)
        proposal = self._evaluate(density, state, y)
        return proposal, diagonal_log_fit(_with(state.points, proposal.x), self.tails, widths)

    @staticmethod
    def _evaluate(density: LogDensity, state: Ensemble, y: Array) -> State:
        """Evaluate proposed points; where there are none, the log density is minus infinity."""
        fitted = np.asarray(np.isfinite(y).all(axis=1))
        proposal = evaluate_value(density, np.where(fitted[:, None], y, state.x))
        return proposal._replace(logp=np.where(fitted, proposal.logp, -np.inf))

    def _log_weight(self, state: Ensemble, log_lambda: Array) -> Array:
        """Log of target over proposal at the reported points; q / pi has a mean of one there."""
        old = log_lambda[:, :-1]
        slot = self._slot(state.iteration, old.shape[1])
        with np.errstate(invalid="ignore"):  # NaN where there is no fit
            mean = np.logaddexp.reduce(old, axis=1) - np.log(old.shape[1])
            return np.asarray(mean - old[np.arange(len(old)), slot])

    def _replaced(self, state: Ensemble, proposal: State, leaves: Array) -> Ensemble:
        """Put the proposed point in place of the one that leaves, and report the next slot."""
        rows = np.flatnonzero(leaves < state.points.shape[1])
        slots = leaves[rows]
        points, log_densities = state.points.copy(), state.log_densities.copy()
        initial = state.initial.copy()
        points[rows, slots] = proposal.x[rows]
        log_densities[rows, slots] = proposal.logp[rows]
        initial[rows, slots] = False
        return self._report(points, log_densities, initial, state.iteration + 1)

    def _report(
        self, points: Array, log_densities: Array, initial: Array, iteration: Array
    ) -> Ensemble:
        """Put a state together; it reports one slot of each ensemble."""
        chain, slot = np.arange(len(points)), self._slot(iteration, points.shape[1])
        x, logp = points[chain, slot], log_densities[chain, slot]
        return Ensemble(x, logp, np.zeros_like(x), points, log_densities, initial, iteration)

    def _slot(self, iteration: Array, size: int) -> Array:
        """Slot that is reported: each for ``hold`` iterations."""
        return iteration // self.hold % size


def _with(points: Array, point: Array) -> Array:
    """Ensembles with one more point each: (chains, N + 1, dim)."""
    return np.concatenate([points, point[:, None]], axis=1)
