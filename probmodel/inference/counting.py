"""A log density that counts the gradients it is asked for.

A transition reports its own gradients; what the adaptation evaluates besides, to find a step size
for example, is counted here.
"""

from __future__ import annotations

from typing import Any

from probmodel.types import Array, CurvedLogDensity, Evaluation, LogDensity


class CountingDensity:
    """Passes everything on to a log density and counts gradients.

    Parameters
    ----------
    density : what to count; attributes that are not counted are passed through

    Attributes
    ----------
    gradients : int
        Rows evaluated. A Hessian-vector product counts as 2, a Hessian as dim.
    """

    def __init__(self, density: LogDensity) -> None:
        self._density: Any = density
        self.dim = density.dim
        self.coordinate_names = getattr(density, "coordinate_names", ())
        self.gradients = 0

    def __call__(self, x: Array) -> Evaluation:
        """Log density and gradient at ``x``: (chains, dim)."""
        self.gradients += len(x)
        value: Evaluation = self._density(x)
        return value

    def log_density(self, x: Array) -> Array:
        """Log density alone at ``x``: (chains, dim) -> (chains,)."""
        value: Array = self._density.log_density(x)
        return value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._density, name)


class CountingCurvedDensity(CountingDensity):
    """The same for a log density with second derivatives."""

    def hvp(self, x: Array, v: Array) -> Array:
        """Hessian at ``x`` times ``v``: (chains, dim) each."""
        self.gradients += 2 * len(x)
        value: Array = self._density.hvp(x, v)
        return value

    def hessian(self, x: Array) -> Array:
        """Hessian at ``x``: (chains, dim, dim)."""
        self.gradients += self.dim * len(x)
        value: Array = self._density.hessian(x)
        return value


def counting(density: LogDensity) -> CountingDensity:
    """Count the gradients of ``density``, with second derivatives if it has them."""
    curved = isinstance(density, CurvedLogDensity)
    return CountingCurvedDensity(density) if curved else CountingDensity(density)
