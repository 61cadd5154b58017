"""Normal vectors that sum to zero."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from probmodel.constraints import Positive, SumToZero
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.scalar.normal import Normal
from probmodel.expressions import as_expression
from probmodel.numerics.special import LOG_2PI
from probmodel.types import Array


class ZeroSumNormal(Distribution):
    r"""Normal distribution on the plane of vectors that sum to zero.

    .. math:: p(y) = (2\pi\sigma^2)^{-(n-1)/2} \exp\{-\tfrac12 \sum y_i^2 / \sigma^2\}, \qquad
              \sum y_i = 0

    Parameters
    ----------
    scale : :math:`\sigma > 0`, one number for each vector; each of the n elements has the standard
        deviation :math:`\sigma \sqrt{1 - 1/n}`

    Notes
    -----
    What is left of n independent normal values when their mean is taken off. The density is with
    respect to volume on the plane, which has n - 1 dimensions. Stan: ``normal(0, scale)`` of a
    ``sum_to_zero_vector``, up to a factor ``scale``. SciPy: ``multivariate_normal`` with the
    covariance ``scale**2 * (np.eye(n) - 1 / n)`` and ``allow_singular=True``.
    """

    parameters: ClassVar = {"scale": Parameter(Positive())}
    domain = SumToZero()
    event_ndim = 1
    symmetric = True
    takes_pseudo_data = "elements"

    def event_shape(self, *params: Array) -> None:
        """Return None: any length."""
        return

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density, for values in the support: batch shape."""
        (scale,) = params
        squares = xp.sum(value * value, axis=-1) / (scale * scale)
        return -(value.shape[-1] - 1) * (xp.log(scale) + 0.5 * LOG_2PI) - 0.5 * squares

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw vectors: ``shape`` ends with their length."""
        return np.asarray(self.noncentered(np, rng.standard_normal(shape), *params))

    def central(self, value: Array, known: Array, *params: Array) -> Array:
        """Return zeros beside known elements, which have to sum to zero."""
        return np.where(known, value, 0.0)

    @property
    def stand_in(self) -> Distribution:
        """Independent normal coordinates of the plane."""
        return Normal(0.0, as_expression(self.args["scale"])[..., None])

    def base(self) -> Distribution:
        """Return the same distribution of scale one."""
        return ZeroSumNormal(1.0)

    def noncentered(self, xp: Any, z: Any, *params: Any) -> Any:
        """Take the mean off, which changes no vector of the plane, and scale."""
        (scale,) = params
        return xp.expand_dims(scale, -1) * (z - xp.mean(z, axis=-1, keepdims=True))

    def standardise(self, value: Array, *params: Any) -> Array:
        """Undo the scale."""
        return np.asarray(value / np.expand_dims(params[0], -1))
