"""What location-scale families share: a standard density, shifted and stretched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import NonNegative, Positive, Real
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter, Summed, Thunk
from probmodel.distributions.domain import where_inside
from probmodel.distributions.sums import reduce_to, row_sum
from probmodel.types import Array

LOG_2 = float(np.log(2.0))


class LocationScale(Distribution):
    """Distribution of ``loc + scale * z``, with ``z`` from a standard density on the real line.

    Subclasses give the logarithm of the standard density and its slope. A scale that is zero or
    negative makes the density NaN through its logarithm.
    """

    parameters: ClassVar = {"loc": Parameter(Real()), "scale": Parameter(Positive())}
    takes_pseudo_data = "elements"

    # Fisher information on location and scale, for the standard density (symmetric about zero).
    standard_information: ClassVar[tuple[float, float] | None] = None

    def support(self) -> Constraint:
        """All real numbers."""
        return Real()

    @staticmethod
    def log_standard(xp: Any, z: Any) -> Any:
        """Log density of the standard member of the family."""
        raise NotImplementedError

    @staticmethod
    def slope_standard(xp: Any, z: Any) -> Any:
        """Return the derivative of `log_standard`."""
        raise NotImplementedError

    @staticmethod
    def draw_standard(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw variates of the standard member."""
        raise NotImplementedError

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        loc, scale = params
        return self.log_standard(xp, (value - loc) / scale) - xp.log(scale)

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to value, location and scale."""
        loc, scale = params
        z = (value - loc) / scale
        slope = self.slope_standard(xp, z) / scale
        return (lambda: slope, lambda: -slope, lambda: -(1.0 / scale + z * slope))

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on location and scale, which are orthogonal by symmetry."""
        if self.standard_information is None:
            return {}
        _, scale = params
        in_loc, in_scale = self.standard_information
        return {
            ("loc", "loc"): lambda: in_loc / (scale * scale),
            ("scale", "scale"): lambda: in_scale / (scale * scale),
        }

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        loc, scale = params
        return np.asarray(loc + scale * self.draw_standard(rng, shape))

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of the log density per chain, with partials, from one standardised value."""
        loc, scale = params
        z = (value - loc) / scale
        batch = np.shape(z)
        logp = row_sum(self.log_standard(np, z), batch) - row_sum(np.log(scale), batch)
        if not wanted:
            return logp, []
        slope = self.slope_standard(np, z) / scale
        partials = []
        for i in wanted:
            full = slope if i == 0 else -slope if i == 1 else -(1.0 / scale + z * slope)
            partials.append(reduce_to((value, loc, scale)[i], full, batch, 0))
        return logp, partials

    def prepared(self, known: Sequence[Any]) -> Summed:
        """Work out the terms of a constant location and scale beforehand."""
        value, loc, scale = known
        if value is None and loc is not None and scale is not None:
            return self.fixed(loc, scale)
        return self.summed

    @classmethod
    def fixed(cls, loc: Any, scale: Any, extra: float = 0.0) -> Summed:
        """Return the sum with known parameters, as a function of the value.

        ``extra`` is added to every element.
        """
        return Fixed(cls.log_standard, cls.slope_standard, loc, scale, extra)

    def base(self) -> Distribution:
        """Return the standard member of the family."""
        return type(self)(0.0, 1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Shift and stretch a standard value."""
        loc, scale = params
        return loc + scale * z

    def noncentered_log_det(self, xp: Any, event: tuple[int, ...], *params: Any) -> Any:
        """Return the logarithm of the scale."""
        return xp.log(params[1])

    def informed(self, information: Any, value: Any = 0.0) -> Distribution:
        """Return the member that is nearer to the observations, and narrower."""
        loc, scale = self.args.values()
        return type(self)(*conditional(loc, scale, information, value))


def conditional(loc: Any, scale: Any, information: Any, value: Any) -> tuple[Any, Any]:
    """Location and scale of a normal prior, conditional on a normal observation of each element.

    For other families they are an approximation, which is enough to standardise by.
    """
    gain = information * scale**2
    return (loc + gain * value) / (1.0 + gain), scale / np.sqrt(1.0 + gain)


class HalfFamily(Distribution):
    """Upper half of a location-scale family that is symmetric about zero.

    ``full`` is that family; its standard density is doubled on the positive half-line.
    """

    parameters: ClassVar = {"scale": Parameter(Positive())}
    full: type[LocationScale]

    def support(self) -> Constraint:
        """Numbers from zero up."""
        return NonNegative()

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        (scale,) = params
        logp = self.full.log_standard(xp, value / scale) - xp.log(scale) + LOG_2
        return where_inside(xp, value >= 0, logp)

    def partials(self, xp: Any, value: Any, *params: Any) -> Sequence[Thunk]:
        """Return derivatives with respect to value and scale."""
        (scale,) = params
        z = value / scale
        slope = self.full.slope_standard(xp, z) / scale
        return (lambda: slope, lambda: -(1.0 / scale + z * slope))

    def information_matrix(self, *params: Array) -> InformationMatrix:
        """Information on the scale: that of the whole family."""
        if self.full.standard_information is None:
            return {}
        (scale,) = params
        _, in_scale = self.full.standard_information
        return {("scale", "scale"): lambda: in_scale / (scale * scale)}

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw variates of shape ``shape``."""
        (scale,) = params
        return np.asarray(scale * np.abs(self.full.draw_standard(rng, shape)))

    def prepared(self, known: Sequence[Any]) -> Summed:
        """Work out the terms of a constant scale beforehand."""
        value, scale = known
        if value is None and scale is not None:
            return Inside(self.full.fixed(0.0, scale, LOG_2))
        return self.summed

    def _summed(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Sum of the log density per chain, with partials, from one standardised value."""
        (scale,) = params
        z = value / scale
        batch = np.shape(z)
        logp = row_sum(self.full.log_standard(np, z) + LOG_2, batch)
        logp = logp - row_sum(np.log(scale), batch)
        if value.size and not value.min() >= 0.0:
            logp = logp + row_sum(np.where(value < 0.0, -np.inf, 0.0), batch)
        if not wanted:
            return logp, []
        slope = self.full.slope_standard(np, z) / scale
        partials = []
        for i in wanted:
            full = slope if i == 0 else -(1.0 / scale + z * slope)
            partials.append(reduce_to((value, scale)[i], full, batch, 0))
        return logp, partials

    def base(self) -> Distribution:
        """Return the member of unit scale."""
        return type(self)(1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Stretch a value of unit scale."""
        (scale,) = params
        return scale * z


def is_number(array: Any, number: float) -> bool:
    """Whether an array is one element, and that a certain number.

    Several equal ones are not the same: as many values as there are elements add up.
    """
    return bool(np.size(array) == 1 and np.all(np.equal(array, number)))


class Fixed:
    """Sum of a standard log density at ``(value - loc) / scale`` with constant loc and scale."""

    def __init__(
        self, log_standard: Any, slope_standard: Any, loc: Any, scale: Any, extra: float = 0.0
    ) -> None:
        self.log_standard = log_standard
        self.slope_standard = slope_standard
        self.is_centered = is_number(loc, 0.0)
        self.is_standard = self.is_centered and is_number(scale, 1.0)
        self.loc = np.asarray(loc, dtype=float)
        self.inverse = np.asarray(1.0 / np.asarray(scale, dtype=float))
        self.constant = np.asarray(np.log(self.inverse) + extra)

    def __call__(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivative in the value."""
        z = value if self.is_centered else value - self.loc
        if not self.is_standard:
            z = z * self.inverse
        logp = self.log_standard(np, z) + self.constant
        slope = self.slope_standard(np, z)
        if not self.is_standard:
            slope = slope * self.inverse
        if slope.shape != value.shape:  # the constants have more elements than the value
            slope = reduce_to(value, slope, np.shape(slope), 0)
        return (logp if logp.ndim == 1 else np.add.reduce(logp.reshape(len(logp), -1), axis=1)), [
            slope
        ] * len(wanted)


class Inside:
    """A fixed density on the positive half-line: minus infinity elsewhere."""

    def __init__(self, fixed: Summed) -> None:
        self.fixed = fixed

    def __call__(
        self, wanted: Sequence[int], value: Array, *params: Array
    ) -> tuple[Array, list[Array]]:
        """Return the sum for each chain and its derivative in the value."""
        logp, slopes = self.fixed(wanted, value)
        if not np.minimum.reduce(value, axis=None, initial=0.0) >= 0.0:
            outside = (value < 0.0).reshape(len(value), -1).any(axis=1)
            logp = np.where(outside, -np.inf, logp)
        return logp, slopes
