"""The linear kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from probmodel.distributions.kernels.algebra import Simple
from probmodel.types import Array


class Linear(Simple):
    r"""Linear :math:`\sum_k (x_k - c) (y_k - c)`: straight lines through zero at the centre c.

    Parameters
    ----------
    amplitude : standard deviation of the slope, positive
    center : where all lines are zero, any number
    axes : column of the points that it depends on, or a sequence of these; all unless given
    """

    signed = ("center",)
    stationary = False

    def __init__(
        self, amplitude: Any = 1.0, center: Any = 0.0, *, axes: int | Sequence[int] | None = None
    ) -> None:
        super().__init__(axes, amplitude=amplitude, center=center)

    def formula(self, xp: Any, x: Array, y: Array, *values: Any) -> Any:
        """Products of the coordinates of the points."""
        total: Any = 0.0
        for k in range(x.shape[1]):
            total = total + (x[:, None, k] - values[0]) * (y[None, :, k] - values[0])
        return total
