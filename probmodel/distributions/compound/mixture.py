"""Finite mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from autograd.tracer import getval

from probmodel.constraints import Simplex
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter, Thunk
from probmodel.distributions.closed_form import closed_form
from probmodel.distributions.compound.components import Components, component_first
from probmodel.distributions.compound.wrapper import Compound
from probmodel.distributions.domain import where_simplex
from probmodel.expressions import caller_location, settle
from probmodel.types import Array


class Mixture(Compound):
    r"""Mixture of K distributions, with the component of each value summed out.

    .. math:: p(y) = \sum_{k=1}^K w_k\, p_k(y)

    Parameters
    ----------
    weights : probabilities :math:`w` of the components, (K,)
    components : a list of K distributions, all discrete or all continuous; or one distribution
        whose parameters have one more axis, of length K, after the axes that number the values,
        such as ``Normal(mu, sigma)`` with vectors ``mu`` and ``sigma``. Parameters without such an
        axis are those of all components.

    Notes
    -----
    The values are of the kind that the components have. Weights of shape (n, K) differ from value
    to value, and so do parameters of shape (n, K). Stan: ``log_mix``. SciPy: none.

    Raises
    ------
    ModelError
        If the components are no distributions, or their values are of different kinds.

    References
    ----------
    McLachlan and Peel (2000), Finite Mixture Models.
    """

    def __init__(self, weights: Any, components: Any) -> None:
        self.location = caller_location()
        self.components = Components(self.name, "components", components)
        self._weights = settle(weights)
        self._given = components if isinstance(components, Distribution) else list(components)
        self._take_form(
            {**self.components.parameters, "weights": Parameter(Simplex(), 1)},
            self.components.event_ndim,
            self.components.discrete,
        )
        vars(self).update(sequential=any(m.sequential for m in self.components.members))
        self.args = {**self.components.args, "weights": weights}

    def written(self) -> list[tuple[str | None, Any]]:
        """Return weights and components."""
        return [(None, self._weights), (None, self._given)]

    def support(self) -> Constraint:
        """Return the support of the components, or a set that contains all of theirs."""
        return self.components.support()

    def event_shape(self, *params: Array) -> tuple[int, ...] | None:
        """Shape of one value of a component."""
        return self.components.event_shape(params[:-1])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape; NaN where the weights are no probabilities."""
        return self._mixed(xp, value, params)

    def log_base(self, value: Array, *params: Any) -> Any:
        """Terms that depend on observed data alone, where all components share them."""
        return self.components.log_base(value, params[:-1])

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``: a component for each, then its value."""
        *inner, weights = params
        batch = shape[: len(shape) - self.event_ndim]
        below = rng.random(batch)[..., None] >= np.cumsum(weights, axis=-1)[..., :-1]
        chosen = np.sum(below, axis=-1)
        return self.components.sample(rng, shape, chosen, np.shape(weights)[-1], inner)

    @property
    def has_cdf(self) -> bool:
        """Whether all components have a distribution function."""
        return self.components.has_cdf

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        return self._mixed(xp, x, params, "log_cdf")

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        return self._mixed(xp, x, params, "log_ccdf")

    def _mixed(self, xp: Any, value: Any, params: Sequence[Any], method: str = "") -> Any:
        """Log of the weighted sum of the components' densities: batch shape.

        ``method`` evaluates something else of the components in the place of log densities.
        """
        *inner, weights = params
        args = zip((value, *params), self.event_ndims, strict=True)
        rank = max(np.ndim(a) - e for a, e in args)
        if method:
            logs = self.components.evaluate(method, xp, value, inner, rank)
        else:
            logs = self.components.log_densities(xp, value, inner, rank)
        count = np.shape(weights)[-1]
        if len(logs) != count:
            raise ValueError(f"there are {count} weights for {len(logs)} components")
        return _log_sum(logs, component_first(xp, where_simplex(xp, weights), rank))


def _formula(xp: Any, logs: Any, weights: Any) -> Any:
    """Logarithm of the sum of densities times weights over the first axis."""
    shares, shift, _ = _weighed(xp, logs, weights)
    return xp.log(xp.sum(shares, axis=0)) + shift[0]


def _slopes(xp: Any, logs: Any, weights: Any) -> Sequence[Thunk]:
    shares, _, densities = _weighed(xp, logs, weights)
    inverse = 1.0 / xp.sum(shares, axis=0)
    return lambda: shares * inverse, lambda: densities * inverse


def _weighed(xp: Any, logs: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Return densities times weights, the logarithm of a factor that was taken out, and densities.

    The greatest density with a weight becomes one, so that none is lost beside a smaller one. Those
    of weight zero add nothing, even if they are so large as to be infinite.
    """
    there = np.not_equal(getval(weights), 0.0)
    greatest = np.max(np.where(there, getval(logs), -np.inf), axis=0, keepdims=True)
    shift = np.where(np.isfinite(greatest), greatest, 0.0)
    densities = xp.exp(logs - shift)
    return xp.where(there, weights * densities, 0.0), shift, densities


# A weight of zero has a slope, which is not zero over zero.
_log_sum = closed_form(_formula, _slopes)
