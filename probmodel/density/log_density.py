"""A log density over a batch of chains, from a model or from a plain function."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import autograd.numpy as anp
import numpy as np
from autograd.core import make_vjp

from probmodel.density.allocator import keep_freed_memory
from probmodel.density.initial import initial_points
from probmodel.geometry.hessians import second_derivatives
from probmodel.types import Array, Evaluation, Variable

if TYPE_CHECKING:
    from probmodel.density.function import FunctionDensity


class LogDensity:
    """A log density on unconstrained space, batched over chains.

    Subclasses say how a value and a gradient are computed; this class isolates the rows whose
    result is not finite, and derives Hessians.

    Attributes
    ----------
    dim : number of unconstrained coordinates
    name : shown in reports
    coordinate_names : one name per coordinate, such as ``beta[2]``
    variables : the named quantities that are saved with the draws
    coords, observed_data, constant_data : labels and data for the result
    has_gradient : whether it can be asked for more than its value
    """

    dim: int
    name: str
    coordinate_names: tuple[str, ...]
    variables: tuple[Variable, ...]
    has_gradient: bool = True

    def __init__(self) -> None:
        keep_freed_memory()
        self.coords: dict[str, Array] = {}
        self.observed_data: dict[str, tuple[tuple[str, ...], Array]] = {}
        self.constant_data: dict[str, tuple[tuple[str, ...], Array]] = {}

    @staticmethod
    def from_function(
        function: Callable[[Any], Any],
        dim: int,
        *,
        gradient: Callable[[Array], Array] | Literal[False] | None = None,
        metric: Callable[[Array], Array] | None = None,
        metric_gradient: Callable[[Array, Array], Array] | None = None,
        name: str = "x",
    ) -> FunctionDensity:
        """Make a log density from a plain function, without a model.

        Parameters
        ----------
        function : log density up to a constant: (chains, dim) -> (chains,). Written with
            ``autograd.numpy``, or with any NumPy if ``gradient`` is given.
        dim : number of coordinates
        gradient : its gradient, (chains, dim) -> (chains, dim); by autograd if None. False for a
            function that has none: methods that need the log density alone can sample it.
        metric : a symmetric positive-definite matrix at every point, for the methods that follow
            one: (chains, dim) -> (chains, dim, dim)
        metric_gradient : how that changes, for the methods that ask: from points x, (chains, dim),
            and symmetric matrices M, (chains, dim, dim), the gradient in x of the trace of M G(x)
            with M held fixed, (chains, dim). By differences of the metric if None.
        name : the variable's name in results

        Raises
        ------
        ModelError
            If one of them returns another shape, the function cannot be differentiated, or there
            is a gradient of a metric and no metric.
        """
        from probmodel.density.function import make_density

        return make_density(function, dim, gradient, metric, metric_gradient, name)

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient.

        Parameters
        ----------
        x : (chains, dim)

        Returns
        -------
        Evaluation
            A row that is not finite has ``logp = -inf`` and a zero gradient; other rows are
            not affected.

        Raises
        ------
        ValueError
            If ``x`` has another shape. Values never raise.
        """
        self._check_shape(x)
        logp, grad = self._value_and_gradient(x)
        slopes = grad.reshape(-1)
        with np.errstate(all="ignore"):
            # Squares add up to something finite unless one is not (or, harmlessly, it overflows).
            if math.isfinite(logp.dot(logp) + slopes.dot(slopes)):
                return Evaluation(logp, grad)
        fine = np.isfinite(logp) & np.isfinite(grad).all(axis=1)
        if not fine.all():
            logp = np.where(fine, logp, -np.inf)
            grad = np.where(fine[:, None], grad, 0.0)
        return Evaluation(logp, grad)

    def log_density(self, x: Array) -> Array:
        """Log density alone: (chains, dim) -> (chains,); ``-inf`` where it is not finite."""
        self._check_shape(x)
        with np.errstate(all="ignore"):
            logp = self._value(x)
        return np.where(np.isfinite(logp), logp, -np.inf)

    def unconstrained(self, draws: Mapping[str, Array]) -> Array:
        """Return the points of draws of all variables: name -> (n, *shape) to (n, dim)."""
        raise NotImplementedError

    def snapshot(self) -> dict[str, Any]:
        """Return what has to be known of the density, beside its model, to go on with a run."""
        return {}

    def resumed(self, snapshot: dict[str, Any], x: Array) -> tuple[LogDensity, Array]:
        """Return the density as it was, and its values at points where it is finite, (n, dim)."""
        return self, self.log_density(x)

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density times a vector, by autograd's tracer: (chains, dim)."""
        self._check_shape(x)
        return hessian_product(self._traced, x, v)

    def hessian(self, x: Array) -> Array:
        """Hessian of the log density: (chains, dim) -> (chains, dim, dim)."""
        self._check_shape(x)
        return second_derivatives(self.hvp, x)

    def initial_points(self, rng: np.random.Generator, chains: int, inits: Any = None) -> Array:
        """Return starting points with a finite log density: (chains, dim).

        Parameters
        ----------
        rng : source of random starts
        chains : how many
        inits : None for the best of some places, uniform in (-2, 2) on the unconstrained scale or
            drawn from the prior; a number r for uniform starts in (-r, r), with 0 the centre
            itself; ``"prior"`` for draws from it; a dict of values by variable for all chains, or a
            list of such dicts, one a chain

        Raises
        ------
        InitializationError
            If 100 tries find none; it lists the terms of the log density.
        """
        return initial_points(self, rng, chains, inits)

    def unconstrain(self, values: dict[str, Any], default: Array) -> Array:
        """Return the unconstrained point of some variables' values; ``default`` for the rest."""
        raise NotImplementedError

    def constrain(self, x: Array, names: tuple[str, ...] | None = None) -> dict[str, Array]:
        """Return the saved variables at ``x``: (n, dim) -> {name: (n, *shape)}."""
        raise NotImplementedError

    def explain(self, x: Array) -> str:
        """Return the terms of the log density at one point, (dim,), as text."""
        return f"log density: {self.log_density(x[None])[0]}"

    def _value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        """Return both, finite or not, without warnings."""
        raise NotImplementedError

    def _value(self, x: Array) -> Array:
        raise NotImplementedError

    def _traced(self, x: Any) -> Any:
        """Log density written so that autograd can trace it."""
        raise NotImplementedError

    def _check_shape(self, x: Array) -> None:
        shape = np.shape(x)
        if len(shape) != 2 or shape[1] != self.dim:
            raise ValueError(
                f"{self.name}: expected an array of shape (chains, {self.dim}), got {shape}"
            )


def hessian_product(function: Callable[[Any], Any], x: Array, v: Array) -> Array:
    """Hessian of a traceable function, (chains, dim) -> (chains,), times ``v``: (chains, dim)."""

    # The zeros keep a function that is constant, or has a constant gradient, in autograd's trace.
    def gradient(z: Any) -> Any:
        vjp, value = make_vjp(lambda u: function(u) + anp.sum(0.0 * u, axis=1), z)
        return vjp(np.ones(anp.shape(value)))

    def directional(z: Any) -> Any:
        return anp.sum(gradient(z) * v + 0.0 * z, axis=1)

    with np.errstate(all="ignore"):
        vjp, value = make_vjp(directional, x)
        product = vjp(np.ones(np.shape(value)))
    return np.asarray(product)
