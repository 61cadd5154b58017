"""A log density over a batch of chains, from a model or from a plain function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.core import make_vjp

from probmodel.density.initial import initial_points
from probmodel.errors import ModelError
from probmodel.types import Array, Evaluation, Variable

_HESSIAN_ROWS = 4096  # rows of one Hessian-vector product while a Hessian is put together


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
    """

    dim: int
    name: str
    coordinate_names: tuple[str, ...]
    variables: tuple[Variable, ...]

    def __init__(self) -> None:
        self.coords: dict[str, Array] = {}
        self.observed_data: dict[str, tuple[tuple[str, ...], Array]] = {}
        self.constant_data: dict[str, tuple[tuple[str, ...], Array]] = {}

    @staticmethod
    def from_function(
        function: Callable[[Any], Any],
        dim: int,
        *,
        gradient: Callable[[Array], Array] | None = None,
        name: str = "x",
    ) -> FunctionDensity:
        """Make a log density from a plain function, without a model.

        Parameters
        ----------
        function : log density up to a constant: (chains, dim) -> (chains,). Written with
            ``autograd.numpy``, or with any NumPy if ``gradient`` is given.
        dim : number of coordinates
        gradient : its gradient, (chains, dim) -> (chains, dim); by autograd if None
        name : the variable's name in results
        """
        return FunctionDensity(function, dim, gradient, name)

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
        with np.errstate(all="ignore"):
            logp, grad = self._value_and_gradient(x)
            # One sum is finite unless something in it is not (or, harmlessly, it overflows).
            if math.isfinite(np.add.reduce(logp) + np.add.reduce(grad, axis=None)):
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

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian of the log density times a vector, by autograd's tracer: (chains, dim)."""
        self._check_shape(x)

        def gradient(z: Any) -> Any:
            vjp, value = make_vjp(self._traced, z)
            return vjp(np.ones(anp.shape(value)))

        def directional(z: Any) -> Any:
            return anp.sum(gradient(z) * v, axis=1)

        with np.errstate(all="ignore"):
            vjp, value = make_vjp(directional, x)
            product = vjp(np.ones(np.shape(value)))
        return np.asarray(product)

    def hessian(self, x: Array) -> Array:
        """Hessian of the log density: (chains, dim) -> (chains, dim, dim)."""
        self._check_shape(x)
        chains, dim = x.shape
        columns = max(1, _HESSIAN_ROWS // max(chains, 1))
        out = np.empty((dim, chains, dim))
        for start in range(0, dim, columns):
            stop = min(start + columns, dim)
            width = stop - start
            directions = np.repeat(np.eye(dim)[start:stop], chains, axis=0)
            product = self.hvp(np.tile(x, (width, 1)), directions)
            out[start:stop] = product.reshape(width, chains, dim)
        return out.transpose(1, 2, 0)

    def initial_points(self, rng: np.random.Generator, chains: int, inits: Any = None) -> Array:
        """Return starting points with a finite log density: (chains, dim).

        Parameters
        ----------
        rng : source of random starts
        chains : how many
        inits : None for uniform starts in (-2, 2) on the unconstrained scale; a number r for
            (-r, r), with 0 the centre itself; a dict of values by variable for all chains, or a
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
        raise NotImplementedError

    def _value(self, x: Array) -> Array:
        raise NotImplementedError

    def _traced(self, x: Any) -> Any:
        """Log density written so that autograd can trace it."""
        raise NotImplementedError

    def _check_shape(self, x: Array) -> None:
        if np.ndim(x) != 2 or np.shape(x)[1] != self.dim:
            raise ValueError(
                f"{self.name}: expected an array of shape (chains, {self.dim}), got {np.shape(x)}"
            )


class FunctionDensity(LogDensity):
    """A log density given by a function; see `LogDensity.from_function`."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        dim: int,
        gradient: Callable[[Array], Array] | None = None,
        name: str = "x",
    ) -> None:
        super().__init__()
        if isinstance(dim, bool) or not isinstance(dim, (int, np.integer)) or dim < 1:
            raise ModelError(f"dim must be a positive integer; got {dim!r}.", dim=dim)
        self.function = function
        self.gradient = gradient
        self.dim = int(dim)
        self.name = getattr(function, "__name__", "function")
        self.coordinate_names = tuple(f"{name}[{i}]" for i in range(self.dim))
        self.variables = (Variable(name, (self.dim,), (f"{name}_dim_0",), {}, "param"),)
        self._check_function()

    def _check_function(self) -> None:
        """Evaluate once, so that a function of the wrong shape is refused here."""
        with np.errstate(all="ignore"):
            value = np.shape(self.function(np.zeros((2, self.dim))))
        if value != (2,):
            raise ModelError(
                f"the function {self.name!r} must map (chains, {self.dim}) to (chains,); for two "
                f"chains it returned shape {value}. Sum over the last axis only.",
                shape=value,
            )
        try:
            with np.errstate(all="ignore"):
                slope = np.shape(self._value_and_gradient(np.full((2, self.dim), 0.1))[1])
        except Exception as error:
            raise ModelError(
                f"the gradient of the function {self.name!r} cannot be computed: "
                f"{type(error).__name__}: {error}. Write the function with autograd.numpy, without "
                "assignment in place, or give gradient=.",
            ) from error
        if slope != (2, self.dim):
            raise ModelError(
                f"gradient= of {self.name!r} must keep the shape (chains, {self.dim}); for two "
                f"chains it returned shape {slope}.",
                shape=slope,
            )

    def constrain(self, x: Array, names: tuple[str, ...] | None = None) -> dict[str, Array]:
        """Return ``x`` under the variable's name."""
        return {self.variables[0].name: x}

    def unconstrain(self, values: dict[str, Any], default: Array) -> Array:
        """Return the given value of the only variable."""
        given = values.get(self.variables[0].name, default)
        return np.broadcast_to(np.asarray(given, dtype=float), (self.dim,)).copy()

    def _value_and_gradient(self, x: Array) -> tuple[Array, Array]:
        if self.gradient is not None:
            return np.asarray(self.function(x)), np.asarray(self.gradient(x))
        vjp, value = make_vjp(self.function, x)
        return value, vjp(np.ones(np.shape(value)))

    def _value(self, x: Array) -> Array:
        return np.asarray(self.function(x))

    def _traced(self, x: Any) -> Any:
        return self.function(x)
