"""The periodic kernel."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any

from probmodel.distributions.kernels.algebra import Simple
from probmodel.types import Array


class Periodic(Simple):
    r"""Periodic :math:`\exp(-2 \sum_k \sin^2(\pi (x_k - y_k) / p) / \ell^2)`; k runs over the axes.

    As Stan's ``gp_periodic_cov`` and scikit-learn's ``ExpSineSquared`` have it; PyMC's ``Periodic``
    has a factor of 1/2 where this has 2, so that its length scale is half as long.

    Parameters
    ----------
    amplitude : standard deviation of the process, positive
    length_scale : how smooth it is within a period, positive; a number without unit
    period : p, positive
    axes : column of the points that it depends on, or a sequence of these; all unless given

    References
    ----------
    MacKay (1998), Introduction to Gaussian processes, section 5.
    """

    def __init__(
        self, amplitude: Any = 1.0, length_scale: Any = 1.0, period: Any = 1.0, *,
        axes: int | Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(axes, amplitude=amplitude, length_scale=length_scale, period=period)

    def formula(self, xp: Any, x: Array, y: Array, *values: Any) -> Any:
        """Correlations at the differences of the points."""
        length_scale, period = values
        squares: Any = 0.0
        for k in range(x.shape[1]):
            wave = xp.sin(pi * (x[:, None, k] - y[None, :, k]) / period)
            squares = squares + wave * wave
        return xp.exp(-2.0 * squares / (length_scale * length_scale))
