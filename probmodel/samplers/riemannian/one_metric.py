"""Common base of samplers that move in one constant metric and adapt a step size.

    x       position                                                   (chains, dim)
    G, K    metric, and its lower Cholesky factor: G = K K'            (dim, dim)
    R       K^-T, so that R R' = G^-1                                  (dim, dim)
    epsilon step size                                                  ()
    alpha   Metropolis-Hastings probability                            (chains,)

Where G comes from, in this order:

1. what the user gives;
2. the prior average of a density that offers one (`constant_metric`, as latent Gaussian models do);
3. the density's own metric at the posterior mode, if it is positive definite there;
4. minus the Hessian at the mode.

R is an inverse of K, written out once: dim^3 / 3 multiplications. Each product with it then takes
all chains together, dim^2 multiplications a chain. Solving with K would take half of them, but one
block of rows after the other, with little to do at a time for the few chains that there are.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np

from probmodel.adaptation.dual_averaging import DualAveraging, average, start_averaging
from probmodel.adaptation.initial_step import initial_step
from probmodel.adaptation.mode import find_mode
from probmodel.errors import ModelError, SamplerError
from probmodel.numerics.linalg import cholesky, invert_lower
from probmodel.samplers.base import Coupling, Info, Need, Sampler, State
from probmodel.samplers.metropolis import adaptable, check_start, evaluate
from probmodel.samplers.settings import check_number, check_types
from probmodel.types import Array, Evaluation, LogDensity

LatentMean = Literal["paper", "exact", "mode"]

CLIMBS = 4  # starts, the likeliest first, from which a mode is looked for
ASYMMETRY = 1e-8  # of a given metric, relative to its largest entry, that passes for rounding


class Params(NamedTuple):
    """What one transition uses.

    Attributes
    ----------
    step_size : epsilon
    root : (dim, dim), R; (dim,) for a metric that is diagonal
    """

    step_size: float
    root: Array


class Adaptation(NamedTuple):
    """State of the adaptation: the averaging of the step size, and R."""

    averaging: DualAveraging
    root: Array


@dataclass(frozen=True)
class ConstantMetricSampler(Sampler):
    """Base of the samplers that move in one constant metric.

    Parameters
    ----------
    step_size : float, optional
        Initial step size epsilon; found by trial steps if not given.
    target_accept : float
        Target acceptance rate for epsilon, between 0 and 1.
    latent_mean : {"paper", "exact", "mode"}
        Where the expected information of the data is taken: averaged over the Gaussian prior of a
        model (``"exact"``); the same with twice the variance for log rates of counts, as published
        (``"paper"``); or at the posterior mode (``"mode"``), as for every density without a model.
    metric : array, optional
        G itself: (dim, dim), or (dim,) for a diagonal one. No other metric is then computed.
    """

    step_size: float | None = None
    target_accept: float = 0.65
    latent_mean: LatentMean = "paper"
    metric: Array | None = None

    paper: ClassVar[str] = "Girolami and Calderhead (2011)"
    needs: ClassVar[Need] = "metric"
    learns: ClassVar[str] = "step size"
    coupling: ClassVar[Coupling] = "pooled_warmup"
    first_acceptance: ClassVar[float]  # of the first step size, when it is found by trying

    def __post_init__(self) -> None:
        check_types(self.name, self)
        check_number(self.name, "step_size", self.step_size, above=0.0, optional=True)
        check_number(self.name, "target_accept", self.target_accept, above=0.0, below=1.0)
        if self.metric is not None:
            check_metric(self.name, self.metric)

    @abstractmethod
    def first_step(
        self, rng: np.random.Generator, density: LogDensity, state: State, params: Params
    ) -> Info:
        """Try one step from the starting points."""

    def init(self, rng: np.random.Generator, density: LogDensity, x: Array) -> State:
        """State at the starting points.

        Raises
        ------
        SamplerError
            If the given metric has another size, the density offers nothing to make one from, or it
            is not finite at a starting point.
        """
        check_sources(self.name, density, self.metric)
        return check_start(self.name, evaluate(density, x))

    def adapt_init(self, rng: np.random.Generator, density: LogDensity, state: State) -> Adaptation:
        """Find R, and start from ``step_size`` or from one that is accepted often enough.

        Raises
        ------
        SamplerError
            If there is no mode, or the metric is not positive definite.
        """
        root = self._root(density, state)

        def acceptance_at(step_size: float) -> float:
            info = self.first_step(rng, density, state, Params(step_size, root))
            return float(np.mean(info.accept_prob))

        step = self.step_size or initial_step(acceptance_at, crossing=self.first_acceptance)
        return Adaptation(start_averaging(step), root)

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
        """Steer the acceptance; R stays."""
        alpha = adaptable(info.accept_prob, info)
        averaging = average(adaptation.averaging, alpha, self.target_accept)
        return adaptation._replace(averaging=averaging)

    def params(self, adaptation: Adaptation, final: bool = False) -> Params:
        """Step size of the next transition, or the average, and R."""
        return Params(adaptation.averaging.step_size(final), adaptation.root)

    def _root(self, density: Any, state: State) -> Array:
        """Return R of the first metric that there is."""
        if self.metric is not None:
            given = np.asarray(self.metric, dtype=float)
            return self._factored(given, "metric=", "Give one that is.")
        if self.latent_mean != "mode" and _offers(density, "constant_metric"):
            return self._factored(
                np.asarray(density.constant_metric(self.latent_mean)),
                f"the prior average of the metric (latent_mean={self.latent_mean!r})",
                "Give flat parameters a proper prior, or use latent_mean='mode'.",
            )
        return root_at_mode(self.name, density, state)

    def _factored(self, G: Array, what: str, advice: str) -> Array:
        root = inverse_root(G)
        if root is None:
            raise SamplerError(
                f"{self.name}: {what} is not positive definite. {advice}", method=self.name
            )
        return root


def inverse_root(G: Array) -> Array | None:
    """R with R R' = G^-1, for a symmetric (dim, dim) or a diagonal (dim,); None if there is none.

    It is upper triangular, and its transpose is C-ordered.
    """
    if G.ndim == 1:
        with np.errstate(all="ignore"):
            root = 1.0 / np.sqrt(G)
    else:
        K = cholesky(G)
        root = invert_lower(K).T if np.isfinite(K).all() else K
    return root if np.isfinite(root).all() else None


def root_at_mode(sampler: str, density: Any, state: State) -> Array:
    """R of the metric at the mode that is found from the likeliest starts.

    Where the density has no metric, or none that is positive definite, minus the Hessian takes its
    place: at a mode that has a root. Raises a `SamplerError` if no start leads to a mode.
    """
    order = np.argsort(-state.logp)[:CLIMBS]
    climbed: Any = _Climbed(density)
    for c in order:
        mode = find_mode(climbed, state.x[c : c + 1])
        if mode.found[0]:
            root = inverse_root(_metric_at(density, mode.x))
            return mode.root[0] if root is None else root
    raise SamplerError(
        f"{sampler} takes its metric at the posterior mode, and found none from "
        f"{len(order)} starting points: the log density may have no maximum, as those of "
        "hierarchical models in their centred form. Reparameterise, start elsewhere (inits=), "
        "give a metric (metric=), or use a method that learns one, such as nuts or fisher_mala.",
        method=sampler, x=state.x[order],
    )  # fmt: skip


class _Climbed:
    """What `find_mode` asks of a density: bad rows marked, and a Hessian for one that has none.

    There the metric stands in, which makes Newton's method Fisher's scoring.
    """

    def __init__(self, density: Any) -> None:
        self._density = density

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient."""
        _, logp, grad = evaluate(self._density, x)
        return Evaluation(logp, grad)

    def hessian(self, x: Array) -> Array:
        """Hessian, or minus the metric."""
        if _offers(self._density, "hessian"):
            return np.asarray(self._density.hessian(x))
        return -np.asarray(self._density.metric(x))


def _metric_at(density: Any, x: Array) -> Array:
    """Metric at the only row of ``x``; NaN if there is none, or none in closed form."""
    if _offers(density, "metric"):
        try:
            return np.asarray(density.metric(x)[0])
        except ModelError:  # the Fisher information of a model's likelihood is not known
            pass
    return np.full(x.shape[1], np.nan)


def _offers(density: Any, method: str) -> bool:
    return callable(getattr(density, method, None))


def check_sources(sampler: str, density: LogDensity, metric: Array | None) -> None:
    """Check that there is something to take the metric from, of the right size.

    Raises a `SamplerError` if the given metric has another size, or there is none and the density
    offers none.
    """
    if metric is not None:
        if len(metric) != density.dim:
            raise SamplerError(
                f"{sampler}: metric= is of size {len(metric)}, and the target has {density.dim} "
                "unconstrained parameters.",
                method=sampler, size=len(metric), dim=density.dim,
            )  # fmt: skip
        return
    if any(_offers(density, method) for method in ("constant_metric", "metric", "hessian")):
        return
    target = getattr(density, "name", type(density).__name__)
    raise SamplerError(
        f"{sampler} needs a log density with a metric or a Hessian (methods metric or hessian), "
        f"and {target} has neither. A model and LogDensity.from_function have them; or give a "
        "positive-definite matrix, metric=.",
        method=sampler, density=target,
    )  # fmt: skip


def check_metric(sampler: str, metric: Any) -> None:
    """Raise SamplerError unless ``metric`` is a symmetric matrix, or a positive diagonal."""
    wanted = f"{sampler}: metric must be a symmetric positive-definite (dim, dim), or its diagonal"
    try:
        G = np.asarray(metric, dtype=float)
    except (TypeError, ValueError) as error:
        raise SamplerError(f"{wanted}; got {metric!r}.", setting="metric") from error
    square = G.ndim == 2 and G.shape[0] == G.shape[1]
    if not (square or G.ndim == 1) or not G.size:
        raise SamplerError(f"{wanted}; got the shape {G.shape}.", setting="metric", shape=G.shape)
    if not np.isfinite(G).all():
        raise SamplerError(f"{wanted}; got entries that are not finite.", setting="metric")
    if square and np.abs(G - G.T).max() > ASYMMETRY * np.abs(G).max():
        raise SamplerError(
            f"{wanted}; got one that is not symmetric: entries differ by up to "
            f"{np.abs(G - G.T).max():g}.",
            setting="metric",
        )
    diagonal = np.diagonal(G) if square else G
    if not (diagonal > 0.0).all():
        raise SamplerError(
            f"{wanted}; got one that is not positive definite: its diagonal falls to "
            f"{diagonal.min():g}.",
            setting="metric",
        )
