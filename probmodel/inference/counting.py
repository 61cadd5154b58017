"""A log density that counts what it is asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

from probmodel.types import (
    Array,
    CurvedLogDensity,
    Done,
    Dynamics,
    Evaluation,
    LogDensity,
    MetricLogDensity,
    SmoothMetricLogDensity,
    Tempered,
)


class Work(NamedTuple):
    """Evaluations, each of one row: totals over chains.

    Attributes
    ----------
    logp : log densities without a gradient
    grad : log densities with their gradient
    hvp : Hessian-vector products, and gradients of the metric along one direction
    hessian : Hessians and metrics
    """

    logp: int = 0
    grad: int = 0
    hvp: int = 0
    hessian: int = 0

    def plus(self, other: Work) -> Work:
        """Add up two counts."""
        return Work(*(a + b for a, b in zip(self, other, strict=True)))

    def minus(self, other: Work) -> Work:
        """Return what was added since ``other``."""
        return Work(*(a - b for a, b in zip(self, other, strict=True)))


class CountingDensity:
    """Passes everything on to a log density and counts the evaluations.

    Parameters
    ----------
    density : what to count; attributes that are not counted are passed through

    Attributes
    ----------
    work : Work
        Evaluations so far.
    """

    def __init__(self, density: LogDensity) -> None:
        self._density: Any = density
        self.dim = density.dim
        self.coordinate_names = getattr(density, "coordinate_names", ())
        self._simulate_dynamics = getattr(density, "simulate_dynamics", None)
        self._logp = self._grad = self._hvp = self._hessian = 0

    @property
    def work(self) -> Work:
        """Evaluations so far."""
        return Work(self._logp, self._grad, self._hvp, self._hessian)

    @property
    def engine_state(self) -> Any:
        """How far the engine of gradients is; None for a density without engines."""
        return getattr(self._density, "engine_state", None)

    def go_on_from(self, work: Work) -> None:
        """Count on from there."""
        self._logp, self._grad, self._hvp, self._hessian = work

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient at ``x``: (chains, dim)."""
        self._grad += len(x)
        value: Evaluation = self._density(x)
        return value

    def log_density(self, x: Array) -> Array:
        """Log density alone at ``x``: (chains, dim) -> (chains,)."""
        self._logp += len(x)
        value: Array = self._density.log_density(x)
        return value

    def simulate_dynamics(self, dynamics: Dynamics) -> Done | None:
        """Do Hamiltonian dynamics, if the density does."""
        own = self._simulate_dynamics
        done: Done | None = None if own is None else own(dynamics)
        if done is not None:
            self._grad += done.gradients
        return done

    def tempered(self, x: Array, beta: Array) -> Tempered:
        """Log density and gradient at inverse temperatures: (n, dim), (n,)."""
        self._grad += len(x)
        value: Tempered = self._density.tempered(x, beta)
        return value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._density, name)


class _Curved(CountingDensity):
    """The same for a log density with second derivatives."""

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian at ``x`` times ``v``: (chains, dim) each."""
        self._hvp += len(x)
        value: Array = self._density.hvp(x, v)
        return value

    def hessian(self, x: Array) -> Array:
        """Hessian at ``x``: (chains, dim, dim)."""
        self._hessian += len(x)
        value: Array = self._density.hessian(x)
        return value


class _Metric(CountingDensity):
    """The same for a log density with a metric."""

    def metric(self, x: Array) -> Array:
        """Metric at ``x``: (chains, dim, dim)."""
        self._hessian += len(x)
        value: Array = self._density.metric(x)
        return value


class _SmoothMetric(_Metric):
    """The same where the metric has a gradient."""

    def metric_gradient(self, x: Array, vectors: Array, weights: Array) -> Array:
        """Gradient of the metric along ``vectors``: (chains, k, dim), which count one by one."""
        self._hvp += weights.size
        value: Array = self._density.metric_gradient(x, vectors, weights)
        return value


class _CurvedMetric(_Curved, _Metric):
    """The same for a log density with both."""


class _CurvedSmoothMetric(_Curved, _SmoothMetric):
    """The same for a log density with second derivatives and a metric that has a gradient."""


def counting(density: LogDensity) -> CountingDensity:
    """Count the evaluations of ``density``, of second derivatives and metrics if it has them."""
    curved = isinstance(density, CurvedLogDensity)
    if isinstance(density, SmoothMetricLogDensity):
        return _CurvedSmoothMetric(density) if curved else _SmoothMetric(density)
    if isinstance(density, MetricLogDensity):
        return _CurvedMetric(density) if curved else _Metric(density)
    return _Curved(density) if curved else CountingDensity(density)
