"""Manifold Metropolis-adjusted Langevin: the metric, and so the proposal, depends on the position.

    x, y      position, proposal                                          (chains, dim)
    g         gradient of the log density                                 (chains, dim)
    G, K      metric, and its lower Cholesky factor: G = K K'             (chains, dim, dim)
    w_k       column k of K^-T, of unit length in the metric; G^-1 = sum_k w_k w_k'
    Gamma     1/2 sum_j d_j (G^-1)_ij, how the metric's change bends the path   (chains, dim)
    b         drift, 1/2 G^-1 g, plus Gamma for drift="full"              (chains, dim)
    sigma     step size: a move is sigma^2 b(x) + sigma K^-T eta          ()
    alpha     Metropolis-Hastings probability                             (chains,)

    Girolami and Calderhead (2011), "Riemann manifold Langevin and Hamiltonian Monte Carlo methods",
    JRSS B 73(2). Gamma is that of Xifara et al. (2014), "Langevin diffusions and the
    Metropolis-adjusted Langevin algorithm", Statistics and Probability Letters 91, which corrects
    the first paper. The rule for sigma is that of Titsias (2023), "Optimal preconditioning and
    Fisher adaptive Langevin sampling", Algorithm 1.

Deviations. Gamma comes from central differences of the metric, for a metric of any kind. A proposal
without a positive definite metric is rejected, so that the draws stay where there is one. Far out
the metric is no guide to the bulk, and chains would stay at their starting points:

1. Unless a step size is given each chain looks for one of its own, and steers it for a quarter of
   the warm-up, 500 iterations at most. Their median is then the step size of all.
2. Chains that keep being rejected take shorter steps until they move.
3. Chains that share the step size apply the rule for it once each.

All of it ends with the warm-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.adaptation.own_steps import OwnSteps, rescue, search, share, steer, whole_steps
from probmodel.adaptation.robbins_monro import rm_abs
from probmodel.errors import SamplerError
from probmodel.numerics.linalg import solve_lower
from probmodel.samplers.base import Info, Need, Remark
from probmodel.samplers.metropolis import check_start, decide, evaluate
from probmodel.samplers.riemannian.metrics import Metric, MetricName, colour, solve_metric, whiten
from probmodel.samplers.settings import check_number
from probmodel.samplers.steered import SteeredSampler
from probmodel.types import Array, LogDensity

Drift = Literal["simplified", "full"]

DIFFERENCE = 1e-4  # of the metric's unit of length: 1e-8 off, and above the rounding of a Hessian
BLOCK = 2**22  # entries of the metrics that one block of differences evaluates
FAILED = 0.01  # share of proposals without a metric that is worth a remark
OWN_STEPS = 500  # most iterations in which each chain has a step size of its own


class Params(NamedTuple):
    """Step size, sigma; in the warm-up it may differ between chains, (chains,)."""

    step_size: float | Array


class Adaptation(NamedTuple):
    """State of the adaptation.

    Attributes
    ----------
    log_sigma2 : of the shared step size
    own : the chains' steps, as factors of the shared one
    shared : whether there is a shared step size by now
    """

    log_sigma2: float
    own: OwnSteps
    shared: bool


class MetricState(NamedTuple):
    """Where the chains are, with all that a proposal from there takes.

    Attributes
    ----------
    x : (chains, dim)
    logp : (chains,)
    grad : (chains, dim)
    root : (chains, dim, dim), K
    log_det : (chains,), log |G|
    drift : (chains, dim), b
    """

    x: Array
    logp: Array
    grad: Array
    root: Array
    log_det: Array
    drift: Array


@dataclass(frozen=True)
class ManifoldMALA(SteeredSampler):
    """Manifold Metropolis-adjusted Langevin algorithm.

    Parameters
    ----------
    step_size : float, optional
        Initial step size sigma; found by trial steps if not given.
    target_accept : float
        Target acceptance rate for sigma, between 0 and 1.
    step_rate : float
        Robbins-Monro rate rho, between 0 and 1.
    metric : {"fisher", "neg_hessian", "softabs"}
        G: the metric of the density (for a model the expected Fisher information of what is
        observed, minus the Hessian of the other terms); minus the Hessian of the log density, for
        one that is concave; or that with its eigenvalues made positive.
    drift : {"simplified", "full"}
        Drift without Gamma, or that of the Langevin diffusion of the metric. Both leave the
        posterior invariant; the full drift takes 2 dim more metrics a proposal.
    softness : float
        a of ``metric="softabs"``, above 0: eigenvalues below 1/a in absolute value become 1/a.
    """

    target_accept: float = 0.574
    step_rate: float = 0.015
    metric: MetricName = "fisher"
    drift: Drift = "simplified"
    softness: float = 1e6

    name: ClassVar[str] = "mmala"
    summary: ClassVar[str] = "Langevin preconditioned by a position-dependent metric"
    paper: ClassVar[str] = "Girolami and Calderhead (2011)"
    needs: ClassVar[Need] = "metric"
    learns: ClassVar[str] = "step size"
    cost: ClassVar[str] = "1 gradient, 1 metric, O(d³)"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number(self.name, "softness", self.softness, above=0.0)

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> MetricState:
        """State at the starting points.

        Raises
        ------
        SamplerError
            If the density lacks what the metric is made from, is not finite at a starting point, or
            has no positive definite metric there.
        """
        self._metric.check(self.name, density)
        point, failed = self._evaluate(density, x)
        state = check_start(self.name, point)
        bad = np.flatnonzero(failed)
        if bad.size:
            raise SamplerError(
                f"{self.name} cannot start where the metric ({self.metric!r}) is not positive "
                f"definite: chain {', '.join(map(str, bad[:10]))} of {len(x)}. Start elsewhere "
                f"(inits=){self._other_metric}.",
                chains=bad.tolist(), x=x[bad],
            )  # fmt: skip
        return state

    def step(
        self, rng: np.random.Generator, density: LogDensity, state: MetricState, params: Params
    ) -> tuple[MetricState, Info]:
        """One transition of every chain: y ~ N(x + sigma^2 b(x), sigma^2 G(x)^-1)."""
        dim, sigma = state.x.shape[1], np.reshape(params.step_size, (-1, 1))
        eta = rng.standard_normal(state.x.shape)
        with np.errstate(over="ignore", invalid="ignore"):
            y = state.x + sigma * (sigma * state.drift + colour(state.root, eta))
            proposal, failed = self._evaluate(density, y)
            log_ratio = metropolis_ratio(state, proposal, params.step_size)
        # A log density that is finite stays so: it is the metric that lets the proposal fail.
        log_ratio = np.where(failed, -np.inf, log_ratio)
        metrics = 1 + 2 * dim if self.drift == "full" else 1
        new, info = decide(rng, log_ratio, state, proposal, n_grad=1 + dim * metrics)
        return new, info._replace(stats={"metric_failed": failed})

    def adapt_init(
        self, rng: np.random.Generator, density: LogDensity, state: MetricState
    ) -> Adaptation:
        """Start from ``step_size``, or from one for each chain that it accepts by half."""
        chains = len(state.x)
        if self.step_size is not None:
            return Adaptation(2.0 * float(np.log(self.step_size)), whole_steps(chains), True)

        def acceptance_at(steps: Array) -> Array:
            return self.step(rng, density, state, Params(steps))[1].accept_prob

        return Adaptation(0.0, search(acceptance_at, chains), False)

    def adapt(
        self,
        rng: np.random.Generator,
        density: LogDensity,
        i: int,
        n_warmup: int,
        adaptation: Adaptation,
        state: MetricState,
        info: Info,
    ) -> Adaptation:
        """Steer the acceptance: of each chain at first, then of all."""
        log_sigma2, own, shared = adaptation
        if shared:
            log_sigma2 = self._steer(log_sigma2, own, info)
            return Adaptation(log_sigma2, rescue(own, info.accepted), True)
        if i < min(OWN_STEPS, n_warmup // 4):
            return adaptation._replace(own=steer(own, info.accept_prob, self.target_accept))
        median = float(np.median(own.factor))
        return Adaptation(log_sigma2 + 2.0 * float(np.log(median)), share(own, median), True)

    def _steer(self, log_sigma2: float, own: OwnSteps, info: Info) -> float:
        """Multiply sigma^2 by 1 + rho (alpha - alpha*).

        Chains with shorter steps of their own are left out, and so are proposals that are not
        finite or have no metric. If that is all of them sigma is too long: that is a rejection.
        """
        rows = own.whole & np.isfinite(info.proposal.logp) & ~info.stats["metric_failed"]
        alpha = info.accept_prob[rows] if rows.any() else np.zeros(1)
        return rm_abs(log_sigma2, alpha, self.target_accept, self.step_rate)

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Step size of the next transition."""
        log_sigma2, own, shared = adaptation
        sigma = float(np.exp(0.5 * log_sigma2))
        if final:
            return Params(sigma if shared else sigma * float(np.median(own.factor)))
        return Params(sigma if own.whole.all() else sigma * own.factor)

    def remarks(self, params: Any, stats: dict[str, Array]) -> list[Remark]:
        """Say so if the chains were kept out of a region by their metric."""
        failed = np.asarray(stats["metric_failed"])
        if not failed.size or failed.mean() <= FAILED:
            return []
        advice = self._other_metric or ", or reparameterise: the Hessian is not finite there"
        message = (
            f"The metric ({self.metric!r}) was not positive definite at {failed.mean():.1%} of the "
            "proposals. They were rejected, so the draws leave out the region where it is not"
            f"{advice}."
        )
        return [Remark("metric_not_positive_definite", message)]

    @property
    def _metric(self) -> Metric:
        return Metric(self.metric, self.softness)

    @property
    def _other_metric(self) -> str:
        """Advice for a metric that is not positive definite, to end a sentence with."""
        positive_definite = self.metric == "softabs"
        return "" if positive_definite else ", or use metric='softabs', which is so everywhere"

    def _evaluate(self, density: LogDensity, x: Array) -> tuple[MetricState, Array]:
        """State at ``x``: (chains, dim), and where the log density is finite but has no metric."""
        logp, grad = evaluate(density, x)[1:]
        root, log_det, positive = self._metric.factor(density, x)
        drift = 0.5 * solve_metric(root, grad)
        if self.drift == "full":
            drift = drift + gamma(self._metric, density, x, root)
        return MetricState(x, logp, grad, root, log_det, drift), np.isfinite(logp) & ~positive


def metropolis_ratio(state: MetricState, proposal: MetricState, step_size: float | Array) -> Array:
    """Logarithm of the Metropolis-Hastings ratio: (chains,), for a step size or one for each."""
    forth = _log_proposal(state, proposal.x, step_size)
    back = _log_proposal(proposal, state.x, step_size)
    return np.asarray(proposal.logp - state.logp + back - forth)


def _log_proposal(state: MetricState, y: Array, step_size: float | Array) -> Array:
    """Log density of proposing ``y`` from a state, up to what does not depend on either."""
    sigma = np.reshape(step_size, (-1, 1))
    noise = whiten(state.root, (y - state.x) / sigma - sigma * state.drift)
    return 0.5 * state.log_det - 0.5 * np.sum(noise * noise, axis=1)


def gamma(metric: Metric, density: LogDensity, x: Array, root: Array) -> Array:
    """Correction of the drift, Gamma = -1/2 G^-1 sum_k (dG along w_k) w_k.

    Parameters
    ----------
    metric : evaluates G
    density : the target
    x : (chains, dim)
    root : (chains, dim, dim), K at ``x``

    Returns
    -------
    (chains, dim); zero where a metric nearby is not finite

    Notes
    -----
    The slopes of G are central differences, which leaves the posterior exact: the result is a fixed
    function of ``x``, and any such function may shift the mean of a proposal, as long as the way
    back is shifted by the same function. An error can only cost acceptance. A step has the
    length `DIFFERENCE` in the metric itself, so that it suits every direction.
    """
    chains, dim = x.shape
    columns = solve_lower(root, np.broadcast_to(np.eye(dim), root.shape), transposed=True)
    w = np.moveaxis(columns, 2, 0)
    width = max(1, BLOCK // (2 * chains * dim * dim))
    bend = np.zeros_like(x)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, dim, width):
            block = w[start : start + width]
            ends = np.stack([x + DIFFERENCE * block, x - DIFFERENCE * block])
            G = metric(density, ends.reshape(-1, dim)).reshape(*ends.shape, dim)
            slope = (G[0] - G[1]) / (2.0 * DIFFERENCE)
            bend += (slope @ block[..., None])[..., 0].sum(axis=0)
        result = -0.5 * solve_metric(root, bend)
    return np.where(np.isfinite(result).all(axis=1, keepdims=True), result, 0.0)
