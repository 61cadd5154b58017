"""Advice on a model that can be sampled but may not say what was meant.

After the pedantic mode of Stan's compiler (Stan User's Guide, chapter "Using the Stan Compiler").
A rule speaks only where it can tell: a false alarm costs more trust than a miss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from probmodel.constraints import (
    Correlation,
    CorrelationCholesky,
    Interval,
    Simplex,
    SumToZero,
    UnitVector,
)
from probmodel.constraints.containment import limits
from probmodel.distributions import Flat, Gamma, InverseGamma, Normal, Uniform
from probmodel.distributions.base import Distribution
from probmodel.distributions.printed import distribution_text
from probmodel.errors import Location
from probmodel.expressions import Apply, Constant, Symbol
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    Potential,
)
from probmodel.model.jumps_in_time import jumps_in_time
from probmodel.model.model import Model
from probmodel.model.model_graph import dependencies, reachable
from probmodel.model.pairings import unasked_pairs
from probmodel.model.parameters import FreeParameter

_LARGE, _SMALL = 1e3, 1e-3  # scales and rates beyond these are named
_VAGUE = 0.01  # gamma priors with both parameters up to this are named
_SCALES = frozenset({"scale", "sigma", "rate"})
_SPREADS = frozenset({"scale", "sigma"})
_SPREAD_NAMES = frozenset({"sigma", "sd", "std", "scale"})
_REARRANGING = frozenset({
    "getitem", "reshape", "ravel", "transpose", "swapaxes", "expand_dims", "squeeze",
    "broadcast_to", "repeat", "flip", "roll", "pad_axes",
})  # fmt: skip
_COMPACT = (Interval, Simplex, UnitVector, Correlation, CorrelationCholesky)
_NATURAL = ((0, 1), (-1, 1), (0, math.pi), (0, 2 * math.pi), (-math.pi, math.pi),
            (-math.pi / 2, math.pi / 2), (0, 360), (-180, 180), (-90, 90))  # fmt: skip


@dataclass(frozen=True)
class Advice:
    """What may not be meant, and what to do.

    Attributes
    ----------
    kind : a short name of the rule, such as ``"unused data"``
    declaration : the name of the declaration
    location : where it was written
    message : what was seen and what to do
    """

    kind: str
    declaration: str
    location: Location | None
    message: str

    def __str__(self) -> str:
        place = f" ({Path(self.location.file).name}:{self.location.line})" if self.location else ""
        return f"{self.declaration}{place}: {self.message}"


Said = Iterator[tuple[str, Declaration, str]]
Rule = Callable[["_View"], Said]


def lint(model: Model, rules: Sequence[Rule] | None = None) -> list[Advice]:
    """Return advice on a bound model, in declared order: by all rules, or by some of them."""
    view = _View(model)
    said = [found for rule in rules or _RULES for found in rule(view)]
    order = {name: i for i, name in enumerate(view.declarations)}
    said.sort(key=lambda found: order[str(found[1].name)])
    return [Advice(kind, str(d.name), d.location, text) for kind, d, text in said]


def mistakes(model: Model) -> list[Advice]:
    """Return the advice without which a result may be taken for what it is not.

    `infer` warns of a parameter whose prior is cut off without a word where a distribution takes
    it, a variance in the place of a standard deviation, a scale that is counted once too often, and
    a sum over pairs of rows. The rest is a matter of judgement, and left to the pedantic `lint`.
    """
    return lint(model, (_ranges, _variances, _zero_sums, _pairs))


class _View:
    """A bound model as the rules look at it."""

    def __init__(self, model: Model) -> None:
        self.binding = model._binding
        self.declarations = model._binding.declarations
        self.uses = type(model)._uses
        free = model._binding.free  # missing data among them, which is nobody's declaration
        self.free = {f.name: f for f in free if f.name in self.declarations}
        self.parents = dependencies(self.declarations)
        self.children: dict[str, list[str]] = {name: [] for name in self.declarations}
        for name, parents in self.parents.items():
            for parent in parents:
                self.children[parent].append(name)
        self.terms = set(self.names(Observed)) | set(self.names(Potential))

    def names(self, kind: type[Declaration]) -> list[str]:
        """Names of the declarations of a kind."""
        return [name for name, d in self.declarations.items() if isinstance(d, kind)]

    def informed(self, name: str) -> bool:
        """Whether a likelihood or potential depends on a declaration, by whatever way."""
        return not self.terms.isdisjoint(reachable([name], self.children))

    def parameters_above(self, name: str) -> set[str]:
        """Return the parameters that a declaration depends on, by whatever way."""
        above = reachable(self.parents[name], self.parents)
        return above & set(self.names(Parameter))

    def distributions(self) -> Iterator[tuple[Declaration, Distribution]]:
        """Every declared distribution, with the declaration that it belongs to."""
        for declaration in self.declarations.values():
            if isinstance(declaration, Parameter) and declaration.prior is not None:
                yield declaration, declaration.prior
            elif isinstance(declaration, Observed):
                yield declaration, declaration.distribution


# -- priors ------------------------------------------------------------------------------------


def _flat_priors(view: _View) -> Said:
    for free in view.free.values():
        declaration = free.declaration
        if not (declaration.prior is None or isinstance(declaration.prior, Flat)):
            continue
        if isinstance(free.constraint, _COMPACT) or _has_potential(view, free.name):
            continue
        lower, upper = limits(free.constraint) or (None, None)
        half = (lower is None) != (upper is None)
        bounded = f", bounded {'above' if lower is None else 'below'} only" * half
        instead = "HalfNormal(1)" if _number(lower) == 0 else "Normal(0, 1)"
        yield (
            "flat prior",
            declaration,
            f"its prior is flat{bounded}, which is improper: the posterior may be so too. Give "
            f"it a prior on the scale of the problem, such as {instead}.",
        )


def _has_potential(view: _View, name: str) -> bool:
    """Whether a potential uses a parameter directly: it may be its prior."""
    pending, potentials = [name], False
    for used in pending:
        for child in view.children[used]:
            declaration = view.declarations[child]
            potentials |= isinstance(declaration, Potential)
            if isinstance(declaration, Deterministic) and child not in pending:
                pending.append(child)
    return potentials


def _hard_bounds(view: _View) -> Said:
    for free in view.free.values():
        ends = _uniform_ends(free)
        if ends is None or any(np.allclose(ends, natural) for natural in _NATURAL):
            continue
        low, high = ends
        instead = (
            f"HalfNormal({high / 2:g})"
            if low == 0
            else f"Normal({(low + high) / 2:g}, {(high - low) / 4:g})"
        )
        yield (
            "hard bounds",
            free.declaration,
            f"its prior is uniform from {low:g} to {high:g}: no data can move it out. Unless "
            f"nature sets these bounds, give it a prior without edges, such as {instead}.",
        )


def _uniform_ends(free: FreeParameter) -> tuple[float, float] | None:
    """Return the ends of a uniform prior that are written in the model as numbers."""
    prior = free.declaration.prior
    if isinstance(prior, Uniform):
        ends = prior.args["low"], prior.args["high"]
    elif (prior is None or isinstance(prior, Flat)) and isinstance(free.constraint, Interval):
        ends = free.constraint.limits
    else:
        return None
    low, high = map(_number, ends)
    return None if low is None or high is None else (low, high)


def _extreme_constants(view: _View) -> Said:
    for declaration, prior in view.distributions():
        if not isinstance(declaration, Parameter):
            continue
        numbers = {
            name.rpartition(".")[2]: value
            for name, arg in prior.args.items()
            if (value := _number(arg)) is not None
        }
        shown = distribution_text(prior)
        inner = getattr(prior, "dist", prior)
        if isinstance(inner, Gamma | InverseGamma) and len(numbers) >= 2:
            if max(list(numbers.values())[:2]) <= _VAGUE:
                yield (
                    "vague gamma prior",
                    declaration,
                    f"{shown} puts nearly all of its mass next to 0 or far out, which "
                    "is not vague where the data are few. Write a prior on the scale of the "
                    "problem, such as HalfNormal(1) for a standard deviation.",
                )
            continue
        for name, value in numbers.items():
            if name in _SCALES and (value >= _LARGE or 0 < value <= _SMALL):
                yield (
                    "extreme constant",
                    declaration,
                    f"{shown} has the {name} {value:g}: a prior so "
                    f"{'wide' if (value >= _LARGE) == (name != 'rate') else 'narrow'} is seldom "
                    "meant. Write what is plausible, or measure in other units.",
                )


# -- distributions -----------------------------------------------------------------------------


def _ranges(view: _View) -> Said:
    for declaration, distribution in view.distributions():
        for (name, spec), arg in zip(
            distribution.parameters.items(), distribution.args.values(), strict=True
        ):
            needed = limits(spec.constraint)
            parameter = _elements_of(arg)
            if parameter is None or needed is None or spec.event_ndim:
                continue
            own = limits(view.free[str(parameter.name)].constraint)
            beyond = [] if own is None else list(_beyond(own, needed))
            if beyond:
                role = name.rpartition(".")[2]
                yield (
                    "range",
                    parameter,
                    f"as {role} of the {distribution.name} of {declaration.name} it must be "
                    f"{' and '.join(beyond)}, but its range goes further: the rest is cut off, and "
                    "its prior is not what it says. Give it a prior with that support, or bounds.",
                )


def _elements_of(arg: Any) -> Parameter | None:
    """Return the parameter whose elements an argument is, in whatever order or shape."""
    while not isinstance(arg, Parameter):
        if isinstance(arg, Deterministic):
            arg = arg.expression
        elif isinstance(arg, Apply) and arg.operation.name in _REARRANGING:
            arg = arg.args[0]
        else:
            return None
    return arg


def _beyond(own: tuple[Any, Any], needed: tuple[Any, Any]) -> Iterator[str]:
    """Say which of the needed limits a range of numbers is known to pass."""
    least, most = map(_number, needed)
    low = -np.inf if own[0] is None else _number(own[0])
    high = np.inf if own[1] is None else _number(own[1])
    if least is not None and low is not None and low < least:
        yield f"above {least:g}"
    if most is not None and high is not None and high > most:
        yield f"below {most:g}"


def _variances(view: _View) -> Said:
    for declaration, distribution in view.distributions():
        for name, arg in distribution.args.items():
            squared = _squared(arg)
            words = set((squared or "").lower().split("_"))
            if name.rpartition(".")[2] in _SPREADS and words & _SPREAD_NAMES:
                yield (
                    "variance as scale",
                    declaration,
                    f"the {name.rpartition('.')[2]} of {distribution.name} is the square of "
                    f"{squared!r}, but it takes a standard deviation, not a variance. Write "
                    f"{squared} itself.",
                )


def _squared(arg: Any) -> str | None:
    """Return the name of what an expression is the square of."""
    if not isinstance(arg, Apply) or not arg.args or not isinstance(arg.args[0], Symbol):
        return None
    base, name = arg.args[0], arg.operation.name
    power = name == "power" and _number(arg.args[1]) == 2
    product = name == "multiply" and arg.args[1] is base
    return base.name if power or product or name == "square" else None


def _zero_sums(view: _View) -> Said:
    for free in view.free.values():
        prior = free.declaration.prior
        if not (isinstance(free.declaration.constraint, SumToZero) and isinstance(prior, Normal)):
            continue
        fixed = view.binding.evaluator.is_constant(prior.args["scale"])
        if not fixed and not any(_has_potential(view, name) for name in view.parents[free.name]):
            yield (
                "zero sum",
                free.declaration,
                "its sum is zero, so that its prior counts the scale once too often: the posterior "
                "may grow without bound as that goes to 0. Write ZeroSumNormal(scale), or add "
                "np.log(scale) by potential (target += in Stan).",
            )


def _pairs(view: _View) -> Said:
    for declaration, message in unasked_pairs(view.binding):
        yield "pairs", declaration, message


def _ode_jumps(view: _View) -> Said:
    for declaration, message in jumps_in_time(view.binding):
        yield "jumps in time", declaration, message


# -- who depends on whom -----------------------------------------------------------------------


def _unused_data(view: _View) -> Said:
    for name in view.names(Data):
        declaration = view.declarations[name]
        others = [d for key, d in view.declarations.items() if key != name]
        carried = {dim for d in others if isinstance(d, Data | Observed) for dim in d.dims or ()}
        used = {dim for d in others for dim in d.dims or ()}
        gives_size = set(declaration.dims or ()) & used - carried
        if not view.children[name] and not gives_size and not view.uses(name):
            yield ("unused data", declaration, "nothing uses it. Use it or leave it out.")


def _unused_parameters(view: _View) -> Said:
    if not view.terms:
        return
    for name in view.names(Parameter):
        if view.informed(name) or any(map(view.informed, view.parameters_above(name))):
            continue  # what depends on informed parameters alone is a prediction
        how = "no likelihood depends on it" if view.children[name] else "nothing uses it"
        yield (
            "unused parameter",
            view.declarations[name],
            f"{how}, so that it keeps its prior. Use it or leave it out.",
        )


def _constant_terms(view: _View) -> Said:
    for name in view.declarations:
        if name in view.terms and not view.parameters_above(name):
            declaration = view.declarations[name]
            what = "likelihood" if isinstance(declaration, Observed) else "term"
            yield (
                "constant term",
                declaration,
                f"its {what} depends on no parameter, so that it changes nothing. Was a "
                "parameter left out?",
            )


def _number(value: Any) -> float | None:
    """Return a number that is written in the model, None for anything else."""
    value = value.value if isinstance(value, Constant) else value
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return float(value)
    return None


_RULES: tuple[Rule, ...] = (
    _flat_priors,
    _hard_bounds,
    _extreme_constants,
    _ranges,
    _variances,
    _zero_sums,
    _pairs,
    _ode_jumps,
    _unused_data,
    _unused_parameters,
    _constant_terms,
)
