"""A log density that counts what it is asked for."""

from __future__ import annotations

from typing import Any

from probmodel.types import Array, Evaluation, LogDensity


class CountingDensity:
    """Passes everything on to a log density and counts gradients.

    A transition reports its own gradients; what the adaptation evaluates besides, to find a step
    size for example, is counted here.

    Parameters
    ----------
    density : what to count; other attributes are passed through

    Attributes
    ----------
    gradients : int
        Rows evaluated. A Hessian-vector product counts as 2, a Hessian as dim.
    """

    def __init__(self, density: LogDensity) -> None:
        self._density: Any = density
        self.gradients = 0

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient at ``x``: (chains, dim)."""
        self.gradients += len(x)
        return self._density(x)

    def __getattr__(self, name: str) -> Any:
        """Give second derivatives, counted, if the density has them, and anything else as it is."""
        value = getattr(self._density, name)
        if name == "hvp":
            return self._counted(value, 2)
        if name == "hessian":
            return self._counted(value, self._density.dim)
        return value

    def _counted(self, function: Any, cost: int) -> Any:
        def call(x: Array, *args: Array) -> Array:
            self.gradients += cost * len(x)
            return function(x, *args)

        return call
