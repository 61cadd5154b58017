"""The terms of a model's log density."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from probmodel.distributions.base import Distribution
from probmodel.errors import Located, Location
from probmodel.expressions import Expression, as_expression

Kind = Literal["prior", "likelihood", "jacobian", "potential"]


@dataclass(frozen=True)
class Term(Located):
    """One summand: an expression, or a distribution's log density at a value.

    Attributes
    ----------
    name : the declaration it comes from
    kind : prior, likelihood, jacobian or potential
    expression : what is summed over its elements, or the value of ``distribution``
    distribution : the distribution, if there is one
    params : its parameters as expressions, in declared order
    """

    name: str
    kind: Kind
    expression: Expression
    distribution: Distribution | None = None
    params: tuple[Expression, ...] = field(default=())
    location: Location | None = None

    @classmethod
    def of_distribution(cls, name: str, kind: Kind, distribution: Distribution, value: Any) -> Term:
        """Make the term of a distribution at a value."""
        params = tuple(as_expression(arg) for arg in distribution.args.values())
        return cls(name, kind, as_expression(value), distribution, params, distribution.location)

    @property
    def title(self) -> str:
        """How reports call it: ``prior of beta``."""
        return f"{self.kind} of {self.name}"
