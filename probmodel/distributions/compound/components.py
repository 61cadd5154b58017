"""The components of a mixture or of a hidden Markov model: K distributions of one kind of value.

They are a list of distributions, or one distribution whose parameters have an axis of length K
for the component: behind their batch axes, before their event axes. Formulas put that axis first,
so that sums over components add whole arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from autograd.tracer import getval

from probmodel.constraints import IntegerInterval, between
from probmodel.constraints.base import Constraint
from probmodel.distributions.base import Distribution, Parameter
from probmodel.distributions.compound.bounded import is_number, support_bounds
from probmodel.expressions import OPERATIONS, Apply, Expression, call_error
from probmodel.numerics.special import where
from probmodel.types import Array


class Components:
    """Distributions of one kind of value, evaluated together.

    Parameters
    ----------
    owner : name of the distribution made of them, for messages
    label : name of the argument that they come from
    given : one distribution whose parameters have a component axis, or a list of distributions
    time_axes : axes of the owner's event that lie before the component axis

    Attributes
    ----------
    members : the distributions; a single one if it is `stacked`
    stacked : whether parameters have a component axis
    event_ndim, discrete : those of each member
    parameters, args : of all members, named ``"<label>.loc"`` or ``"<label>[0].loc"``

    Raises
    ------
    ModelError
        If something else than distributions of one kind of value is given.
    """

    def __init__(self, owner: str, label: str, given: Any, time_axes: int = 0) -> None:
        self.stacked = isinstance(given, Distribution)
        self.members = _members(owner, label, given)
        self.event_ndim, self.discrete = self.members[0].event_ndim, self.members[0].discrete
        self.parameters: dict[str, Parameter] = {}
        self.args: dict[str, Any] = {}
        self._own: list[list[Parameter]] = []  # each member's parameters, by themselves
        self._axes = time_axes + self.stacked  # put before theirs
        for k, member in enumerate(self.members):
            prefix = label if self.stacked else f"{label}[{k}]"
            for name, spec in member.parameters.items():
                # What is known from data, such as points, has no axes but its own.
                ndim = spec.event_ndim + (0 if spec.known else self._axes)
                full = spec._replace(event_ndim=ndim, default=None)
                self.parameters[f"{prefix}.{name}"] = full
                arg = member.args[name]
                self.args[f"{prefix}.{name}"] = _pad_axes(arg, spec.event_ndim, ndim)
            self._own.append(list(member.parameters.values()))
        supports = [member.support() for member in self.members]
        self._alike = _alike(supports)
        self._inner = [None if self._alike else inner_value(s) for s in supports]

    @property
    def has_cdf(self) -> bool:
        """Whether all of them have a distribution function."""
        return all(member.has_cdf for member in self.members)

    @property
    def shares_base(self) -> bool:
        """Whether `Distribution.log_base` is the same for all of them."""
        member = self.members[0]
        integers = any(spec.constraint.integer for spec in member.parameters.values())
        return not self.discrete or (self.stacked and not integers)

    def support(self) -> Constraint:
        """Values that some component allows, or a set that contains them.

        Raises a `ModelError` if vectors or matrices of different kinds are mixed.
        """
        supports = [member.support() for member in self.members]
        if self._alike:
            return supports[0]
        if self.event_ndim:
            kinds = ", ".join(f"{m.name}: {m.support().name}" for m in self.members)
            raise self.members[0].model_error(
                f"components need the same kind of values; got {kinds}."
            )
        ends = [_ends(support) for support in supports]
        lower = _furthest(min, [low for low, _ in ends])
        upper = _furthest(max, [high for _, high in ends])
        return IntegerInterval(lower, upper) if self.discrete else between(lower, upper)

    def event_shape(self, params: Sequence[Any]) -> tuple[int, ...] | None:
        """Shape of one value, as the parameters of the first one decide it; None if not."""
        if not self.event_ndim:
            return ()
        return self.members[0].event_shape(*params[: len(self._own[0])])

    def log_base(self, value: Array, params: Sequence[Any]) -> Any:
        """Terms that data alone decide, of any component, if they share them."""
        if not self.shares_base or not self.discrete:
            return 0.0
        return self.members[0].log_base(value, *params)

    def evaluate(self, method: str, xp: Any, value: Any, params: Sequence[Any], rank: int) -> Any:
        """Evaluate a method of every component, such as ``"log_cdf"``: (K, *batch).

        The method takes xp, a value and parameters, and has batch shape; ``params`` are those of
        all components, as in ``parameters``. Arrays of fewer than ``rank`` batch axes get axes of
        length one in front.
        """
        rows = []
        for k, (member, own) in enumerate(self._each(xp, params, rank)):
            y, inside = (value, None) if "cdf" in method else self._allowed(k, value)
            row = getattr(member, method)(xp, y, *own)
            rows.append(row if inside is None else where(inside, row, -np.inf))
        result = rows[0] if self.stacked else _stack(xp, rows)
        missing = rank + 1 - np.ndim(result)
        if not missing:
            return result
        shape = np.shape(result)
        return xp.reshape(result, shape[:1] + (1,) * missing + shape[1:])

    def log_densities(self, xp: Any, value: Any, params: Sequence[Any], rank: int) -> Any:
        """Log density of each value under every component: (K, *batch).

        Terms that data alone decide are left out if all components share them.
        """
        method = "log_kernel" if self.shares_base else "log_density"
        return self.evaluate(method, xp, value, params, rank)

    def sample(
        self,
        rng: np.random.Generator,
        shape: tuple[int, ...],
        chosen: Array,
        count: int,
        params: Sequence[Array],
    ) -> Array:
        """Draw variates of shape ``shape`` from the components that are ``chosen``.

        That is a component for each batch element; ``count`` is how many there are.
        """
        rank = chosen.ndim
        each = self._each(np, params, rank)
        if self.stacked:
            member, own = next(each)
            draws = member.sample(rng, (count, *shape), *own)
        else:
            draws = np.stack([member.sample(rng, shape, *own) for member, own in each])
        index = chosen.reshape((1, *chosen.shape) + (1,) * self.event_ndim)
        return np.take_along_axis(draws, index, axis=0)[0]

    def _each(
        self, xp: Any, params: Sequence[Any], rank: int
    ) -> Iterator[tuple[Distribution, list[Any]]]:
        """Yield each member with its parameters, the component axis in front of batch axes."""
        rest = iter(params)
        for member, specs in zip(self.members, self._own, strict=True):
            mine = [
                component_first(xp, p, rank, spec.event_ndim)
                if self.stacked and not spec.known
                else p
                for spec, p in zip(specs, rest, strict=False)
            ]
            yield member, mine

    def _allowed(self, k: int, value: Any) -> tuple[Any, Any]:
        """Return values, each that a component does not allow replaced by one that it does.

        And which of them it allows; None if that need not be asked.
        """
        inner = self._inner[k]
        if inner is None:
            return value, None
        support = self.members[k].support()
        inside = support.check(getval(value), *support.bounds)
        return where(inside, value, inner), inside


def component_first(xp: Any, param: Any, rank: int, event_ndim: int = 0) -> Any:
    """Move the component axis, behind up to ``rank`` batch axes, to the front."""
    missing = rank + 1 + event_ndim - np.ndim(param)
    if missing:
        param = xp.reshape(param, (1,) * missing + np.shape(param))
    order = (rank, *range(rank), *range(rank + 1, np.ndim(param)))
    return xp.transpose(param, order)


def _stack(xp: Any, rows: Sequence[Any]) -> Any:
    """Join arrays that broadcast along a new first axis."""
    shape = np.broadcast_shapes(*(np.shape(row) for row in rows))
    if xp is not np:
        return xp.concatenate([xp.expand_dims(row + np.zeros(shape), 0) for row in rows])
    out = np.empty((len(rows), *shape))
    for k, row in enumerate(rows):
        out[k] = row
    return out


def _pad_axes(arg: Any, least: int, ndim: int) -> Any:
    """Give a parameter axes of length one that stand for "the same for all components"."""
    if ndim == least:
        return arg
    pad = OPERATIONS["pad_axes"]
    if isinstance(arg, Expression):
        return Apply(pad, (arg,), {"least": least, "ndim": ndim})
    return pad.evaluate(arg, least, ndim)


def _members(owner: str, label: str, given: Any) -> list[Distribution]:
    """Check what is given as components, and return them as a list."""
    members = [given] if isinstance(given, Distribution) else given
    if not isinstance(members, list | tuple) or not members:
        raise call_error(
            f"{owner} takes {label} as a list of distributions, or as one distribution whose "
            f"parameters have an axis for them; {type(given).__name__} was given.",
            given=given,
        )
    for k, member in enumerate(members):
        if not isinstance(member, Distribution):
            kind = member.__name__ if isinstance(member, type) else type(member).__name__
            raise call_error(
                f"{owner} takes distributions such as Normal(0, 1) as {label}; {label}[{k}] is "
                f"{kind}.",
                given=member,
            )
    first = members[0]
    for k, other in enumerate(members):
        if (other.discrete, other.event_ndim) != (first.discrete, first.event_ndim):
            raise call_error(
                f"{owner}: all {label} must have values of one kind; {label}[0], {first.name}, has "
                f"{_kind(first)}, {label}[{k}], {other.name}, has {_kind(other)}.",
                given=[first.name, other.name],
            )
        if not other.discrete and other.has_atoms != first.has_atoms:
            raise call_error(
                f"{owner}: of the {label} {first.name} and {other.name} only one has values with a "
                "probability of their own, so that a probability and a density would be added up. "
                "Give all of them the same such values: Censored(..., the same bounds), or "
                "Hurdle(0, dist) beside a Hurdle.",
                given=[first.name, other.name],
            )
    return list(members)


def _kind(dist: Distribution) -> str:
    shape = ["numbers", "vectors", "matrices"][min(dist.event_ndim, 2)]
    return f"{'discrete' if dist.discrete else 'continuous'} values, {shape}"


def _alike(supports: Sequence[Constraint]) -> bool:
    """Whether supports are the same set for certain, whatever their bounds turn out to be."""
    known = all(is_number(bound) for support in supports for bound in support.bounds)
    return known and len({(type(s), len(s.bounds), _ends(s)) for s in supports}) == 1


def _ends(support: Constraint) -> tuple[Any, Any]:
    """Lower and upper end of a set of numbers; None where there is none, or none is known."""
    lower, upper = (end if is_number(end) else None for end in support_bounds(support))
    return lower, upper


def inner_value(support: Constraint) -> float | None:
    """Return a number inside a set of numbers; None if it is the whole line, or is not known."""
    if support.event_ndim or not all(map(is_number, support.bounds)):
        return None
    lower, upper = _ends(support)
    if lower is None and upper is None:
        return None
    if support.integer:
        return lower if upper is None else upper
    if lower is None or upper is None:
        return upper - 1.0 if lower is None else lower + 1.0
    return 0.5 * (lower + upper)


def _furthest(choose: Any, ends: Sequence[Any]) -> Any:
    return None if any(end is None for end in ends) else choose(ends)
