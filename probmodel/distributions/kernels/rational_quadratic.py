"""The rational quadratic kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from probmodel.distributions.kernels.algebra import Simple, distances
from probmodel.types import Array


class RationalQuadratic(Simple):
    r"""Rational quadratic :math:`(1 + s^2 / (2 \alpha))^{-\alpha}`, s = distance / length_scale.

    A mixture of `ExpQuad` of many length scales; it tends to `ExpQuad` as alpha grows.

    Parameters
    ----------
    amplitude : standard deviation of the process, positive
    length_scale : distance over which it varies, positive
    alpha : how alike the length scales of the mixture are, positive
    axes : column of the points that it depends on, or a sequence of these; all unless given
    """

    def __init__(
        self, amplitude: Any = 1.0, length_scale: Any = 1.0, alpha: Any = 1.0, *,
        axes: int | Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(axes, amplitude=amplitude, length_scale=length_scale, alpha=alpha)

    def formula(self, xp: Any, x: Array, y: Array, *values: Any) -> Any:
        """Correlations at the distances of the points."""
        length_scale, alpha = values
        s = distances(x, y) / length_scale
        return xp.exp(-alpha * xp.log1p(0.5 * s * s / alpha))
