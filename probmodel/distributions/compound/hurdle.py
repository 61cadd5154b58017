"""Zero with a probability of its own, and a distribution for what is not zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from probmodel.distributions.compound.zeros import WithZeros
from probmodel.numerics.special import log1m_exp, where
from probmodel.types import Array

_TRIES = 1000


class Hurdle(WithZeros):
    r"""Zero with probability ``p``; otherwise a distribution given that it is not zero.

    .. math:: P(0) = p, \qquad p(y) = (1 - p) \frac{f(y)}{1 - f(0)}, \quad y \ne 0

    Parameters
    ----------
    p : probability of zero, :math:`0 \le p \le 1`
    dist : a distribution :math:`f` of counts or of real numbers; for these :math:`f(0)` counts as
        zero in the denominator. Where :math:`f` has zeros alone, what is not zero is impossible.

    Notes
    -----
    With a continuous ``dist`` it is for observed data, for it has a point mass at zero. Stan: two
    terms. SciPy: none.

    References
    ----------
    Mullahy (1986), Specification and testing of some modified count data models. Journal of
    Econometrics 33.

    Raises
    ------
    ModelError
        If a value of ``dist`` is not a single number.
    """

    @property
    def has_atoms(self) -> bool:
        """Zero has a probability of its own."""
        return not self.discrete

    def log_kernel(self, xp: Any, value: Any, *params: Any) -> Any:
        """Log density without the terms of `log_base`; at zero log probability: batch shape."""
        inner, p = self._split(params)
        zero = value == 0
        other = xp.log1p(-where(zero, 0.0, p)) + self.dist.log_kernel(
            xp, self._nonzero(value), *inner
        )
        if self.discrete:
            at_zero = self._log_mass_at_zero(xp, inner)
            # A distribution of nothing but zeros has no other values to divide the rest among.
            other = other - log1m_exp(-where(at_zero == 0.0, -np.inf, at_zero))
        # What makes the distribution invalid has no density at zero either.
        invalid = where(xp.isnan(other), other, 0.0)
        return where(zero, xp.log(where(zero, p, 1.0)) + invalid, other)

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], *params: Array) -> Array:
        """Draw values of shape ``shape``; those of ``dist`` are drawn again until not zero."""
        *inner, p = params
        draws = self.dist.sample(rng, shape, *inner)
        unwanted = rng.random(shape) < p
        for _ in range(_TRIES):
            again = (draws == 0) & ~unwanted
            if not again.any():
                return np.where(unwanted, 0, draws).astype(draws.dtype)
            draws = np.where(again, self.dist.sample(rng, shape, *inner), draws)
        raise self.model_error(
            f"Hurdle: {_TRIES} draws of {self.dist.name} were all zero, so that one that is not "
            "cannot be drawn."
        )
