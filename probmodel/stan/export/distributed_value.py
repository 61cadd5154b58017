"""A value and the distribution that it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from probmodel.distributions.base import Distribution
from probmodel.expressions import Expression, as_expression

Arguments = dict[str, Expression]


class Quantity:
    """A distribution, the value that has it, and its parameters as they are here.

    Attributes
    ----------
    dist : the distribution
    value : what is distributed so
    args : its parameters, by name
    """

    def __init__(self, dist: Distribution, value: Any, args: Mapping[str, Any]) -> None:
        self.dist, self.value = dist, as_expression(value)
        self.args: Arguments = {name: as_expression(arg) for name, arg in args.items()}

    @property
    def kind(self) -> str:
        """Name of the distribution."""
        return type(self.dist).__name__

    def inner(self, dist: Distribution, prefix: str, value: Any = None) -> Quantity:
        """Return the distribution inside this one, at the same value unless another is given."""
        args = {name: self.args[prefix + name] for name in dist.parameters}
        return Quantity(dist, self.value if value is None else value, args)
