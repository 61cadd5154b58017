"""What location-scale families share: a standard density, shifted and stretched."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import NonNegative, Positive, Real
from probmodel.distributions.base import Distribution, InformationMatrix, Parameter
from probmodel.distributions.domain import where_inside
from probmodel.distributions.tail_probabilities import in_lower_tail
from probmodel.types import Array

LOG_2 = float(np.log(2.0))


class LocationScale(Distribution):
    """Distribution of ``loc + scale * z``, with ``z`` from a standard density on the real line.

    Subclasses give the logarithm of the standard density and its slope. A scale that is zero or
    negative makes the density NaN through its logarithm.
    """

    parameters: ClassVar = {"loc": Parameter(Real()), "scale": Parameter(Positive())}
    domain = Real()
    takes_pseudo_data = "elements"

    # Fisher information on location and scale, for the standard density (symmetric about zero).
    standard_information: ClassVar[tuple[float, float] | None] = None

    @staticmethod
    def log_standard(xp: Any, z: Any) -> Any:
        """Log density of the standard member of the family."""
        raise NotImplementedError

    @staticmethod
    def draw_standard(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """Draw variates of the standard member."""
        raise NotImplementedError

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        loc, scale = params
        return self.log_standard(xp, (value - loc) / scale) - xp.log(scale)

    def log_mass_between(self, xp: Any, low: Any, high: Any, *params: Any) -> Any:
        """Log probability between two ends, in the lower tail, of a symmetric family; or None."""
        return in_lower_tail(xp, self, low, high, *params) if self.symmetric else None

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
    domain = NonNegative()
    full: type[LocationScale]

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density: batch shape."""
        (scale,) = params
        logp = self.full.log_standard(xp, value / scale) - xp.log(scale) + LOG_2
        return where_inside(value >= 0, logp)

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

    def base(self) -> Distribution:
        """Return the member of unit scale."""
        return type(self)(1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Stretch a value of unit scale."""
        (scale,) = params
        return scale * z
