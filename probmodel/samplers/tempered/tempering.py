"""Non-reversible parallel tempering, with a ladder that finds itself.

    beta_k    inverse temperatures, 0 = beta_0 < ... < beta_N = 1          (K,), K = N + 1
    x_k       replicas: draws of pi_k, the prior times L^beta_k            (chains, K, dim)
    l_k       their log likelihoods                                        (chains, K)
    r_k       rejection rate of swaps between k and k + 1                  (K - 1,)
    Lambda    communication barrier, the sum of the r_k

Syed, Bouchard-Cote, Deligiannidis and Doucet (2022), "Non-reversible parallel tempering: a
scalable highly parallel MCMC scheme", JRSS B 84. An iteration explores each temperature by itself,
the prior by independent draws, and then proposes swaps between k and k + 1 for even k and odd k in
turn, with probability

    alpha_k = min(1, exp((beta_{k+1} - beta_k) (l_k - l_{k+1})))

so that replicas drift from one end of the ladder to the other instead of diffusing. The warm-up
goes in rounds, each twice as long as the one before. After each, the ladder is laid anew so that
all r_k are alike, and has 2 Lambda + 2 temperatures unless told how many, which is what makes round
trips cheapest where work is what counts.

The normalising constant is a product of bridges between neighbours,

    Z_{k+1} / Z_k = E_k[exp(d l / 2)] / E_{k+1}[exp(-d l / 2)],    d = beta_{k+1} - beta_k

where the paper has the first factor with d instead of d / 2: bridges have a finite variance in
both directions. Meng and Wong (1996), "Simulating ratios of normalizing constants via a simple
identity", Statistica Sinica 6.

Deviations: temperatures are explored by Hamiltonian moves with step sizes and mass matrices of
their own, see `grouped_moves`. Rejection rates are means of 1 - alpha_k over all iterations, also
those in which a pair is not proposed; of two replicas without a likelihood, such as a start has
above the prior, alpha_k is 1. Rates are interpolated by lines, not by splines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from probmodel.samplers.base import Coupling, Info, Need, Remark, Sampler
from probmodel.samplers.metropolis import check_start, evaluate_value
from probmodel.samplers.settings import check_number, check_whole
from probmodel.samplers.tempered.grouped_moves import (
    DENSE,
    Noise,
    drawn_steps,
    evaluate,
    move,
    root_of,
    second_moments,
)
from probmodel.samplers.tempered.weights import next_rise
from probmodel.types import Array, LogDensity

FIRST = 16  # temperatures of the first ladder, unless told how many
COLDEST = 1e-3  # its smallest beta above zero, at most
MOST = 128  # temperatures
ROUNDS = (1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 9 / 10)  # of the warm-up; steps alone after the last
FORGET = 0.6  # step sizes learn at rate t^-FORGET
FEW = 10  # independent starts for each chain, below which weights of modes are not to be trusted
HIGH = 0.75  # rejection rate of swaps from which on a ladder is too short
PILOT = 1000  # draws from the prior, by which the first ladder begins


class State(NamedTuple):
    """State of the chains; all of them have the same ladder.

    Attributes
    ----------
    x, logp, grad : of the replica at beta = 1; the gradient is zeros
    replicas : (chains, K, dim), by temperature
    betas : (chains, K)
    fresh : (chains, K) bool, whether a replica has been a draw from the prior since it was last at
        beta = 1
    odd : (chains,) bool, whether pairs of odd k are next
    up, down : (chains, K - 1), log of sums of exp(d l / 2) and exp(-d l / 2)
    n : (chains,), how many are in the sums
    """

    x: Array
    logp: Array
    grad: Array
    replicas: Array
    betas: Array
    fresh: Array
    odd: Array
    up: Array
    down: Array
    n: Array


class Record(NamedTuple):
    """What an iteration teaches, by temperature.

    Attributes
    ----------
    moments : (K - 1, dim, dim) or (K - 1, dim), means of products of scores, above beta = 0
    acceptance : (K - 1,), of the moves there
    rejection : (K - 1,), of swaps
    """

    moments: Array
    acceptance: Array
    rejection: Array


class Params(NamedTuple):
    """What an iteration uses.

    Attributes
    ----------
    betas : (K,)
    roots, step_sizes : of the moves at beta > 0, see `grouped_moves`
    rejection : (K - 1,), rates of the last round
    sampling : whether the warm-up is over
    """

    betas: Array
    roots: Array
    step_sizes: Array
    rejection: Array
    sampling: bool


class Adaptation(NamedTuple):
    """The ladder, and sums over the ``t`` iterations of a round; `Params` has the rest."""

    params: Params
    log_steps: Array
    mean_log_steps: Array
    moments: Array
    rejection: Array
    t: int


@dataclass(frozen=True)
class ParallelTempering(Sampler):
    """Non-reversible parallel tempering from the prior to the posterior.

    Parameters
    ----------
    temperatures : int, optional
        Temperatures of the ladder, 2 at least, prior and posterior included; by default as many as
        the barrier between them calls for.
    target_accept : float
        Acceptance rate that the moves at each temperature aim at, between 0 and 1.
    """

    temperatures: int | None = None
    target_accept: float = 0.8

    name: ClassVar[str] = "tempering"
    summary: ClassVar[str] = "parallel tempering from the prior, for several modes; gives evidence"
    paper: ClassVar[str] = "Syed et al. (2022)"
    needs: ClassVar[Need] = "prior"
    learns: ClassVar[str] = "ladder; step size and dense mass matrix of each temperature"
    cost: ClassVar[str] = "up to 16 gradients and O(d²) for each temperature"
    coupling: ClassVar[Coupling] = "pooled_warmup"
    evidence_is_ratio: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_whole(self.name, "temperatures", self.temperatures, least=2, optional=True)
        check_number(self.name, "target_accept", self.target_accept, above=0.0, below=1.0)

    @property
    def aim(self) -> None:
        """None: each temperature has a step size of its own, and draws come from swaps too."""
        return None

    @property
    def restarts(self) -> bool:
        """No: chains come from the prior again and again, so that none is lost."""
        return False

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        """Replicas at ``x`` for beta = 1, and draws from the prior for the others."""
        at_x = check_start(self.name, evaluate_value(density, x))
        betas = first_ladder(self.temperatures or FIRST)
        (chains, _), gaps = x.shape, len(betas) - 1
        prior: Any = density
        others = [prior.prior_sample(rng, chains) for _ in range(gaps)]
        sums = np.full((chains, gaps), -np.inf)
        return State(
            at_x.x, at_x.logp, at_x.grad, np.stack([*others, x], axis=1),
            np.tile(betas, (chains, 1)), np.zeros((chains, gaps + 1), dtype=bool),
            np.zeros(chains, dtype=bool), sums, sums, np.zeros(chains, dtype=int),
        )  # fmt: skip

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> tuple[State, Info]:
        """Explore every temperature, then propose swaps."""
        prior: Any = density
        ladder = on_ladder(state, params.betas)
        chains, k, dim = ladder.replicas.shape
        drawn, momenta = prior.prior_sample(rng, chains), rng.standard_normal((chains, k - 1, dim))
        u, v = (rng.random((chains, k - 1)) for _ in range(2))
        n_steps = drawn_steps(rng, params.step_sizes)
        replicas = np.concatenate([drawn[:, None], ladder.replicas[:, 1:]], axis=1)
        start = evaluate(density, np.swapaxes(replicas, 0, 1), params.betas)
        moved, probability = move(
            density, type(start)(*(part[1:] for part in start)), params.betas[1:], params.roots,
            params.step_sizes, n_steps, Noise(np.swapaxes(momenta, 0, 1), u.T),
        )  # fmt: skip
        replicas = np.concatenate([drawn[:, None], np.swapaxes(moved.x, 0, 1)], axis=1)
        likelihood = np.concatenate([start.log_likelihood[:1], moved.log_likelihood]).T
        logp = np.concatenate([start.logp[:1], moved.logp]).T
        log_prior = logp - _product(params.betas, likelihood)
        ladder = _bridged(ladder, likelihood, params)._replace(replicas=replicas)
        new, alpha, arrived = self._swapped(ladder, log_prior, likelihood, params.betas, v)
        accepted = u[:, -1] < probability[-1]
        moments, acceptance = second_moments(moved.score), probability.mean(axis=1)
        stats = {
            "restart": arrived, "swap_rate": alpha.mean(axis=1), "log_evidence": _evidence(new),
        }  # fmt: skip
        n_grad = np.full(chains, k + n_steps.sum())
        calm = np.zeros(chains, dtype=bool)
        record = Record(moments, acceptance, 1.0 - alpha.mean(axis=0))
        return new, Info(probability[-1], accepted, calm, n_grad, state, new, stats, record)

    @staticmethod
    def _swapped(
        state: State, log_prior: Array, likelihood: Array, betas: Array, v: Array
    ) -> tuple[State, Array, Array]:
        """Return the state after swaps, alpha of all pairs, and which chains got a fresh draw."""
        chains, k = likelihood.shape
        with np.errstate(invalid="ignore", over="ignore"):
            log_alpha = np.diff(betas) * (likelihood[:, :-1] - likelihood[:, 1:])
            alpha = np.where(np.isnan(log_alpha), 1.0, np.exp(np.minimum(0.0, log_alpha)))
        due = np.arange(k - 1) % 2 == state.odd[:, None]
        swapped = np.flatnonzero((due & (v < alpha)).ravel())
        chain, pair = np.divmod(swapped, k - 1)
        source = np.tile(np.arange(k), (chains, 1))
        source[chain, pair], source[chain, pair + 1] = pair + 1, pair
        one, rows = np.arange(chains), np.arange(chains)[:, None]
        fresh = state.fresh.copy()
        fresh[:, 0] = True
        fresh, last = fresh[rows, source], source[:, -1]
        arrived = fresh[:, -1].copy()
        fresh[:, -1] = False
        replicas = state.replicas[rows, source]
        logp = log_prior[one, last] + likelihood[one, last]
        new = state._replace(
            x=replicas[:, -1], logp=logp, replicas=replicas, fresh=fresh, odd=~state.odd
        )
        return new, alpha, arrived

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Begin with a ladder of powers, from where draws of the prior tell, and unit matrices."""
        betas = state.betas[0]
        if len(betas) > 2:
            prior: Any = density
            drawn = prior.prior_sample(rng, PILOT)
            with np.errstate(all="ignore"):
                likelihood = prior.tempered(drawn, np.zeros(PILOT)).log_likelihood
            coldest = next_rise(likelihood[None], np.array([COLDEST]), 0.5)[0]
            betas = first_ladder(self.temperatures or FIRST, coldest)
        return self._round(betas, np.ones(state.x.shape[1]), None)

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
        """Steer the step sizes; at the end of a round, lay the ladder and the mass matrices."""
        record: Record = info.record
        t = adaptation.t + 1
        rate = t**-FORGET
        log_steps = adaptation.log_steps + rate * (record.acceptance - self.target_accept)
        mean = (1.0 - rate) * adaptation.mean_log_steps + rate * log_steps
        learned = adaptation._replace(
            log_steps=log_steps, mean_log_steps=mean, t=t,
            moments=adaptation.moments + record.moments,
            rejection=adaptation.rejection + record.rejection,
        )  # fmt: skip
        if i + 1 in {int(share * n_warmup) for share in ROUNDS}:
            return self._next_round(learned, len(state.x))
        return learned

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Return the ladder with the step sizes so far; with their means at the end."""
        steps = np.exp(adaptation.mean_log_steps if final else adaptation.log_steps)
        known = adaptation.params
        if final and adaptation.t:
            known = known._replace(rejection=adaptation.rejection / adaptation.t)
        return known._replace(step_sizes=steps, sampling=final)

    def remarks(self, params: Params, stats: dict[str, Array]) -> list[Remark]:
        """Say whether the prior and the posterior hardly exchange draws."""
        chains, size = stats["restart"].shape
        starts, least = int(stats["restart"].sum()), FEW * chains
        if starts >= least:
            return []
        worst = float(params.rejection.max())
        longer = f"Raise draws, to {size * max(2, -(-least // max(starts, 1)))} for example"
        message = (
            f"{starts} draws from the prior came through to the posterior of these {chains} "
            "chains, too few to find all modes and their weights, for which there should be "
            f"{least}. The ladder has {len(params.betas)} temperatures, a "
            f"barrier of {params.rejection.sum():.1f}, and rejects up to {worst:.0%} of its swaps. "
            + ("It does not mix: raise warmup" if worst > HIGH else longer)
            + ", or give priors with less mass where the data cannot be."
        )
        return [Remark("ladder", message)]

    def _round(self, betas: Array, first: Array, adaptation: Adaptation | None) -> Adaptation:
        """Return an adaptation without sums; with unit mass matrices of (dim,) for a start."""
        gaps, dim = len(betas) - 1, len(first)
        shape = (gaps, dim, dim) if dim <= DENSE else (gaps, dim)
        if adaptation is None:
            roots = np.broadcast_to(np.eye(dim) if dim <= DENSE else first, shape).copy()
            log_steps = np.full(gaps, np.log(0.5) - 0.25 * np.log(dim))
            rejection = np.ones(gaps)
        else:
            roots, log_steps = adaptation.params.roots, adaptation.mean_log_steps
            rejection = adaptation.params.rejection
        params = Params(betas, roots, np.exp(log_steps), rejection, False)
        return Adaptation(params, log_steps, log_steps, np.zeros(shape), np.zeros(gaps), 0)

    def _next_round(self, adaptation: Adaptation, chains: int) -> Adaptation:
        """Lay the ladder anew by the rejection rates, and what moves need by the scores."""
        betas, rates = adaptation.params.betas, adaptation.rejection / adaptation.t
        size = self.temperatures or int(np.clip(np.ceil(2.0 * rates.sum()) + 2, 4, MOST))
        new = next_ladder(betas, rates, size)
        moments = adaptation.moments / adaptation.t
        roots = root_of(moments, adaptation.t * chains)
        nearest = np.clip(np.searchsorted(betas, new[1:], side="left") - 1, 0, len(roots) - 1)
        known = adaptation.params._replace(roots=roots[nearest], rejection=rates)
        told = adaptation._replace(params=known, mean_log_steps=adaptation.mean_log_steps[nearest])
        return self._round(new, np.ones(moments.shape[1]), told)


def first_ladder(size: int, coldest: float = COLDEST) -> Array:
    """Return 0, and powers from the coldest to 1."""
    return np.concatenate([[0.0], np.geomspace(coldest, 1.0, size - 1) if size > 2 else [1.0]])


def next_ladder(betas: Array, rates: Array, size: int) -> Array:
    """Return the ladder of a size by which all rejection rates would be alike.

    ``betas``, (K,), is the one so far, and ``rates``, (K - 1,), are the rejection rates of its
    swaps.
    """
    barrier = np.concatenate([[0.0], np.cumsum(rates + 1e-6 + 1e-3 * np.diff(betas))])
    new = np.interp(np.linspace(0.0, barrier[-1], size), barrier, betas)
    new[0], new[-1] = 0.0, 1.0
    return new


def on_ladder(state: State, betas: Array) -> State:
    """Return the state on another ladder: each temperature goes on from the next hotter one."""
    old = state.betas[0]
    if np.array_equal(old, betas):
        return state
    chains, gaps = len(state.x), len(betas) - 1
    rows = np.clip(np.searchsorted(old, betas, side="right") - 1, 0, len(old) - 1)
    if len(old) == len(betas):
        rows = np.arange(len(betas))
    sums = np.full((chains, gaps), -np.inf)
    return state._replace(
        replicas=state.replicas[:, rows], betas=np.tile(betas, (chains, 1)),
        fresh=np.zeros((chains, gaps + 1), dtype=bool), up=sums, down=sums,
        n=np.zeros(chains, dtype=int),
    )  # fmt: skip


def _product(betas: Array, likelihood: Array) -> Array:
    """Return beta l, and zero where there is no likelihood."""
    return betas * np.where(np.isfinite(likelihood), likelihood, 0.0)


def _bridged(state: State, likelihood: Array, params: Params) -> State:
    """Add to the sums of the bridges; begin them anew while the ladder is not settled."""
    half, known = 0.5 * np.diff(params.betas), np.isfinite(likelihood[:, 1:])
    up, down = half * likelihood[:, :-1], np.where(known, -half * likelihood[:, 1:], -np.inf)
    if not params.sampling:
        return state._replace(up=up, down=down, n=np.ones_like(state.n))
    up, down = np.logaddexp(state.up, up), np.logaddexp(state.down, down)
    return state._replace(up=up, down=down, n=state.n + 1)


def _evidence(state: State) -> Array:
    """Return log Z_N / Z_0 of each chain by all draws so far; both sums have as many terms."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.sum(state.up - state.down, axis=1))
