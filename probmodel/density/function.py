"""A log density given by a plain function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from autograd.core import make_vjp

from probmodel.density.log_density import LogDensity
from probmodel.errors import ModelError
from probmodel.geometry.hessians import symmetric
from probmodel.types import Array, Variable


class FunctionDensity(LogDensity):
    """A log density given by a function; see `LogDensity.from_function`."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        dim: int,
        gradient: Callable[[Array], Array] | Literal[False] | None = None,
        name: str = "x",
    ) -> None:
        super().__init__()
        if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)) or dim < 1:
            raise ModelError(f"dim must be a positive integer; got {dim!r}.", dim=dim)
        self.function = function
        self.gradient = gradient or None
        self.has_gradient = gradient is not False
        self.dim = int(dim)
        self.name = getattr(function, "__name__", "function")
        self.coordinate_names = tuple(f"{name}[{i}]" for i in range(self.dim))
        self.variables = (Variable(name, (self.dim,), (f"{name}_dim_0",), {}, "param"),)
        self._check_function()
        if self.has_gradient:
            self._check_gradient()

    def _check_function(self) -> None:
        """Evaluate once, so that a function of the wrong shape is refused here.

        There are not as many chains as coordinates, which a function of one point would take.
        """
        chains, words = (3, "three") if self.dim == 2 else (2, "two")
        takes = f"the function {self.name!r} must map (chains, {self.dim}) to (chains,)"
        one = (
            "Sum over the last axis only; coordinates are x[:, 0], x[:, 1]. A function of one "
            "point can be mapped: lambda x: np.stack([f(row) for row in x])."
        )
        try:
            with np.errstate(all="ignore"):
                value = np.shape(self.function(np.zeros((chains, self.dim))))
        except Exception as error:
            raise ModelError(
                f"{takes}; for {words} chains it raised {type(error).__name__}: {error}. {one}",
                function=self.name,
            ) from error
        if value != (chains,):
            raise ModelError(
                f"{takes}; for {words} chains it returned shape {value}. {one}", shape=value
            )

    def _check_gradient(self) -> None:
        try:
            with np.errstate(all="ignore"):
                slope = np.shape(self._value_and_gradient(np.full((2, self.dim), 0.1))[1])
        except Exception as error:
            raise ModelError(
                f"the gradient of the function {self.name!r} cannot be computed: "
                f"{type(error).__name__}: {error}. Write the function with autograd.numpy, without "
                "assignment in place, or give gradient=; gradient=False says that there is none."
            ) from error
        if slope != (2, self.dim):
            raise ModelError(
                f"gradient= of {self.name!r} must keep the shape (chains, {self.dim}); for two "
                f"chains it returned shape {slope}.",
                shape=slope,
            )

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density times a vector, by autograd's tracer: (chains, dim).

        Raises a `ModelError` if it was made with ``gradient=False``.
        """
        self._require_gradient()
        return super().hvp(x, v)

    def unconstrained(self, draws: Mapping[str, Array]) -> Array:
        """Return the draws of the one variable."""
        return np.asarray(draws[self.variables[0].name])

    def constrain(self, x: Array, names: tuple[str, ...] | None = None) -> dict[str, Array]:
        """Return ``x`` under the variable's name."""
        return {self.variables[0].name: x}

    def unconstrain(self, values: dict[str, Any], default: Array) -> Array:
        """Return the given value of the only variable."""
        given = values.get(self.variables[0].name, default)
        return np.broadcast_to(np.asarray(given, dtype=float), (self.dim,)).copy()

    def _require_gradient(self) -> None:
        if not self.has_gradient:
            raise ModelError(
                f"{self.name!r} was made without derivatives (gradient=False) and was asked for "
                "them. Call log_density(x), or make it with gradient=None or a gradient.",
                density=self.name,
            )

    def _value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        self._require_gradient()
        with np.errstate(all="ignore"):
            if self.gradient is not None:
                return np.asarray(self.function(x)), np.asarray(self.gradient(x))
            vjp, value = make_vjp(self.function, x)
            return value, vjp(np.ones(np.shape(value)))

    def _value(self, x: Array) -> Array:
        return np.asarray(self.function(x))

    def _traced(self, x: Any) -> Any:
        return self.function(x)


def make_density(
    function: Callable[[Any], Any],
    dim: int,
    gradient: Callable[[Array], Array] | Literal[False] | None,
    metric: Callable[[Array], Array] | None,
    metric_gradient: Callable[[Array, Array], Array] | None,
    name: str,
) -> FunctionDensity:
    """Make a log density that offers what was given; see `LogDensity.from_function`."""
    if metric is None:
        if metric_gradient is not None:
            raise ModelError("metric_gradient= was given without the metric= that it belongs to.")
        return FunctionDensity(function, dim, gradient, name)
    if metric_gradient is None:
        return MetricFunctionDensity(function, dim, metric, gradient, name)
    return SmoothMetricFunctionDensity(function, dim, metric, metric_gradient, gradient, name)


class MetricFunctionDensity(FunctionDensity):
    """A log density given by a function, with a metric given by another one."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        dim: int,
        metric: Callable[[Array], Array],
        gradient: Callable[[Array], Array] | Literal[False] | None = None,
        name: str = "x",
    ) -> None:
        super().__init__(function, dim, gradient, name)
        self._metric = metric
        with np.errstate(all="ignore"):
            shape = np.shape(metric(np.full((2, self.dim), 0.1)))
        if shape != (2, self.dim, self.dim):
            raise ModelError(
                f"metric= of {self.name!r} must map (chains, {self.dim}) to (chains, {self.dim}, "
                f"{self.dim}); for two chains it returned shape {shape}. Give a metric that is the "
                "same everywhere to each chain, with np.broadcast_to.",
                shape=shape,
            )

    def metric(self, x: Array) -> Array:
        """Metric at ``x``: (chains, dim) -> (chains, dim, dim); NaN in rows that are not finite."""
        self._check_shape(x)
        with np.errstate(all="ignore"):
            G = np.asarray(self._metric(x))
        return symmetric(G)


class SmoothMetricFunctionDensity(MetricFunctionDensity):
    """The same with the gradient of the metric, by another function again."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        dim: int,
        metric: Callable[[Array], Array],
        metric_gradient: Callable[[Array, Array], Array],
        gradient: Callable[[Array], Array] | Literal[False] | None = None,
        name: str = "x",
    ) -> None:
        super().__init__(function, dim, metric, gradient, name)
        self._metric_gradient = metric_gradient
        x = np.full((2, self.dim), 0.1)
        with np.errstate(all="ignore"):
            shape = np.shape(metric_gradient(x, np.stack([np.eye(self.dim)] * 2)))
        if shape != x.shape:
            raise ModelError(
                f"metric_gradient= of {self.name!r} must map points, (chains, {self.dim}), and "
                f"matrices M, (chains, {self.dim}, {self.dim}), to the gradient of the trace of "
                f"M G(x): (chains, {self.dim}); for two chains it returned shape {shape}.",
                shape=shape,
            )

    def metric_gradient(self, x: Array, vectors: Array, weights: Array) -> Array:
        """Gradient in x of ``sum_k weights_k v_k' G(x) v_k``: (chains, dim)."""
        self._check_shape(x)
        with np.errstate(all="ignore"):
            M = np.swapaxes(vectors * weights[:, :, None], 1, 2) @ vectors
            slope = np.asarray(self._metric_gradient(x, M))
        return np.where(np.isfinite(slope).all(axis=1, keepdims=True), slope, np.nan)
