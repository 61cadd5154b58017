"""A distribution shifted and stretched."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from probmodel.constraints import Interval, Lower, Positive, Real, Upper
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.compound.wrapper import Wrapper
from probmodel.types import Array


class Affine(Wrapper):
    r"""Distribution of ``loc + scale * x`` with ``x`` from another distribution.

    .. math:: p(y) = p_x\{(y - \mu) / \sigma\} / \sigma^k

    Parameters
    ----------
    dist : a continuous distribution on the line, a half-line or an interval
    loc : shift :math:`\mu`, one number for each value
    scale : stretch :math:`\sigma > 0`, one number for each value

    Notes
    -----
    :math:`k` is the number of elements of one value. Stan: a transformed parameter, or ``offset``
    and ``multiplier``. SciPy: ``loc`` and ``scale`` of every distribution.

    Raises
    ------
    ModelError
        If ``dist`` is discrete, has values with a probability of their own, such as those that are
        censored, or its support has no image of the same kind.
    """

    def __init__(self, dist: Distribution, loc: Any = 0.0, scale: Any = 1.0) -> None:
        super().__init__(
            dist,
            {"loc": Parameter(Real()), "scale": Parameter(Positive())},
            {"loc": loc, "scale": scale},
        )
        if dist.discrete:
            raise self.model_error(
                f"Affine takes a continuous distribution, {dist.name} is discrete.", given=dist.name
            )
        if dist.has_atoms:
            raise self.model_error(
                f"Affine stretches densities; {dist.name} has values with a probability of their "
                f"own. Put Affine into {dist.name}, around what has a density.",
                given=dist.name,
            )
        vars(self).update(is_noisy=dist.is_noisy)
        self.support()

    def support(self) -> Constraint:
        """Image of the support of ``dist``."""
        loc, scale = self.args["loc"], self.args["scale"]
        limits = self.dist.support().limits
        if limits is not None:
            low, high = (None if limit is None else loc + scale * limit for limit in limits)
            if low is None:
                return Real() if high is None else Upper(high)
            return Lower(low) if high is None else Interval(low, high)
        raise self.model_error(
            f"Affine cannot shift and stretch {self.dist.name}, of {self.dist.support().name}. "
            "Expected values on the real line, a half-line or an interval.",
            given=self.dist.name,
        )

    def event_shape(self, *params: Array) -> tuple[int, ...] | None:
        """Shape of one value of ``dist``."""
        return self.dist.event_shape(*params[:-2])

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        *inner, loc, scale = params
        x = self._standardise(xp, value, loc, scale)
        size = prod(np.shape(value)[np.ndim(value) - self.event_ndim :])
        return self.dist.log_kernel(xp, x, *inner) - size * xp.log(scale)

    def information(self, xp: Any, changes: Sequence[Any], *params: Array) -> Any:
        """Quadratic form of the information on the parameters of ``dist``: that of ``dist``."""
        *inner, loc, scale = changes
        unknown = [name for name, c in (("loc", loc), ("scale", scale)) if c is not None]
        if unknown:
            raise self._without_information(unknown)
        return self.dist.information(xp, inner, *params[:-2])

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        *inner, loc, scale = params
        x = self.dist.sample(rng, shape, *inner)
        return np.asarray(self._over_event(np, loc) + self._over_event(np, scale) * x)

    def condition(self, free: Array, value: Array, known: Array, *params: Array) -> Array:
        """Condition values of ``dist``, and shift and stretch these."""
        *inner, loc, scale = params
        x, given = (self._standardise(np, a, loc, scale) for a in (free, value))
        shifted = self.noncentered(np, self.dist.condition(x, given, known, *inner), loc, scale)
        return np.where(known, value, shifted)

    def complete_without_noise(
        self, rng: np.random.Generator, value: Array, known: Array, *params: Array
    ) -> Array:
        """Shift and stretch the process without noise of ``dist``."""
        *inner, loc, scale = params
        given = self._standardise(np, value, loc, scale)
        process = self.dist.complete_without_noise(rng, given, known, *inner)
        return np.asarray(self.noncentered(np, process, loc, scale))

    def moments(self, event: tuple[int, ...], *params: Array) -> tuple[Array, Array] | None:
        """Shift and stretch those of ``dist``."""
        *inner, loc, scale = params
        known = self.dist.moments(event, *inner)
        if known is None:
            return None
        stretch = np.asarray(scale)[..., None]
        mean = np.asarray(loc)[..., None] + stretch * known[0]
        return mean, stretch[..., None] ** 2 * known[1]

    @property
    def has_center(self) -> bool:
        """Whether the distribution inside has a centre."""
        return self.dist.has_center

    def center(self, shape: tuple[int, ...], *params: Array) -> Array:
        """Shift and stretch the centre of ``dist``."""
        return np.asarray(self.noncentered(np, self.dist.center(shape, *params[:-2]), *params))

    @property
    def has_cdf(self) -> bool:
        """Whether the distribution inside has a distribution function."""
        return self.dist.has_cdf

    def log_cdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values up to ``x``."""
        *inner, loc, scale = params
        return self.dist.log_cdf(xp, (x - loc) / scale, *inner)

    def log_ccdf(self, xp: Any, x: Any, *params: Any) -> Any:
        """Log probability of values above ``x``."""
        *inner, loc, scale = params
        return self.dist.log_ccdf(xp, (x - loc) / scale, *inner)

    def base(self) -> Distribution:
        """Return the distribution that is shifted and stretched."""
        return self.dist

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Shift and stretch a value of ``dist``."""
        *_, loc, scale = params
        return self._over_event(xp, loc) + self._over_event(xp, scale) * z

    def _standardise(self, xp: Any, value: Any, loc: Any, scale: Any) -> Any:
        return (value - self._over_event(xp, loc)) / self._over_event(xp, scale)
