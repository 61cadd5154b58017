"""What a program adds to the log density: distributions of values, and other numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from probmodel.errors import nearest
from probmodel.stan.library.density_names import LAPLACE, no_laplace, split_density_name
from probmodel.stan.library.stan_densities import DENSITIES
from probmodel.stan.operators import BY_ELEMENT, CHOOSE, Frame, in_part
from probmodel.stan.recording import RecordedDensity
from probmodel.stan.stan_values import Value, integer, real
from probmodel.stan.syntax import nodes as n
from probmodel.stan.variables import Variables

_SUMS = {BY_ELEMENT["+"]: 1, BY_ELEMENT["-"]: -1}
_MOST_PARTS = 10000  # of a sum that are told apart


class Term(NamedTuple):
    """A distribution's log density, at values that a program gives it.

    Attributes
    ----------
    node : the statement
    distribution : its name
    value, args : the value and the parameters
    lower, upper : where it is truncated
    guard : the condition on parameters under which it counts
    statement_order : a number, or one for each lane: what has a greater one comes later
    """

    node: n.Node
    distribution: str
    value: Value
    args: tuple[Value, ...]
    lower: Value | None = None
    upper: Value | None = None
    guard: Value | None = None
    statement_order: Any = 0


class Increment(NamedTuple):
    """Something else that a program adds to the log density; attributes as of `Term`."""

    node: n.Node
    value: Value
    guard: Value | None = None
    statement_order: Any = 0


class DensityTerms(Variables):
    """Statements that add to the log density.

    Attributes
    ----------
    terms : what was added
    """

    terms: list[Term | Increment]

    def _tilde(self, node: n.Tilde, frame: Frame) -> None:
        suffixes = ("_lpdf", "_lpmf", "_log")
        own = any(node.distribution + suffix in self.functions for suffix in suffixes)
        if not own and node.distribution not in DENSITIES:
            self.no_density(node)
        values = [self.evaluate(e, frame) for e in (node.value, *node.args)]
        bounds = [None if b is None else self.value(b, frame) for b in (node.lower, node.upper)]
        for suffix in suffixes:
            if self.is_own(node.distribution + suffix, values):
                found = self.user_function(node.distribution + suffix, values, node)
                if any(b is not None for b in bounds):
                    found = self._cut(node, found, values, *bounds)
                self.add(Increment(node, found))
                return
        self.distributed(node, node.distribution, values, *bounds)

    def _cut(
        self,
        node: n.Tilde,
        density: Value,
        values: Sequence[Any],
        lower: Value | None,
        upper: Value | None,
    ) -> Value:
        """Return the log density of a distribution of the program's own between bounds."""
        stem = node.distribution
        if any(v is not None and v.rank for v in (values[0], lower, upper)):
            self.fail(f"{stem} is the program's own, and is truncated for one number alone.", node)
        below = lower  # of whole numbers, the bound itself is inside
        if lower is not None and f"{stem}_lpmf" in self.functions:
            below = self.operate("-", lower, integer(1), node)

        def log_probability(what: str, at: Value | None) -> Value:
            name = f"{stem}_{what}"
            if name not in self.functions:
                self.fail(f"{stem} is truncated here, which takes a function {name}.", node)
            found: Value = self.user_function(name, [at, *values[1:]], node)
            return found

        if lower is None:
            inside = log_probability("lcdf", upper)
        elif upper is None:
            inside = log_probability("lccdf", below)
        else:
            ends = [log_probability("lcdf", end) for end in (upper, below)]
            inside = self.named("log_diff_exp", ends, node)
        found = self.operate("-", density, inside, node)
        for bound, operator in ((lower, "<"), (upper, ">")):
            if bound is not None:
                outside = self.operate(operator, values[0], bound, node)
                found = self.apply(CHOOSE, [outside, real(-np.inf), found], "real", node)
        return found

    def no_density(self, node: n.Tilde) -> NoReturn:
        """Raise an error for a distribution that there is not, with the one that may be meant."""
        if node.distribution.startswith(LAPLACE):
            self.fail(no_laplace(node.distribution), node)
        own = [f.rsplit("_", 1)[0] for f in self.functions if f.endswith(("_lpdf", "_lpmf"))]
        hint = nearest(node.distribution, [*DENSITIES, *own])
        self.misfit(f"there is no distribution {node.distribution!r}.{hint}", node)

    def distributed(
        self,
        node: n.Node,
        name: str,
        values: Sequence[Any],
        lower: Value | None = None,
        upper: Value | None = None,
    ) -> None:
        """Add a distribution's log density."""
        with self.at(node):
            found = self.parameters_of(name, values, node)
        self.add(Term(node, name, found[0], tuple(found[1:]), lower, upper))

    def add(self, term: Term | Increment) -> None:
        """Keep a term: once for each lane, and for the cases that it counts in."""
        if self.guards:
            term = term._replace(guard=self.guards[-1])
        if self._side_by_side and self.lanes is not None:
            term = term._replace(statement_order=self.graph.statement_order)
            parts = [term.value, *(term.args if isinstance(term, Term) else ())]
            if not any(v.laned for v in parts):
                value = term.value
                repeated = np.repeat(np.asarray(value.array)[None], self.lanes, 0)
                term = term._replace(value=Value(value.kind, repeated, value.traced, True))
        else:
            self.graph.statement_order += 1
            term = term._replace(statement_order=self.graph.statement_order)
        if self.counted is None:
            self.terms.append(term)
        elif np.any(self.counted.array):
            self.terms.append(_where(term, np.asarray(self.counted.array, dtype=bool)))

    def _target(self, node: n.Target, frame: Frame) -> None:
        self._add(node.value, frame, node)

    def _add(self, value: n.Expression, frame: Frame, node: n.Node) -> None:
        """Add an expression to the density: sums by their parts, densities as such."""
        if isinstance(value, n.Binary) and value.operator == "+":
            self._add(value.left, frame, value.left)
            self._add(value.right, frame, value.right)
            return
        own = isinstance(value, n.Call) and value.name.replace("_lup", "_lp") in self.functions
        if isinstance(value, n.Call) and not own:
            split = split_density_name(value.name)
            if split is not None and split[1] == "density" and split[0] in DENSITIES:
                values = [self.evaluate(a, frame) for a in value.args]
                self.distributed(value, split[0], values)
                return
        self._add_number(self.value(value, frame), node)

    def _add_number(self, value: Value, node: n.Node) -> None:
        """Add a number: log densities of parameters that it adds up as such, others as they are."""
        counted_once = not self.guards and self.lanes is None
        found, rest = self._parts(value) if counted_once and value.traced else ([], [])
        if not found:
            self.add(Increment(node, value))
            return
        for part in found:
            self.add(Term(part.node, part.distribution, part.values[0], tuple(part.values[1:])))
        total = real(0.0)
        for sign, element in rest:
            known = element < 0
            array = self.graph.numbers(element) if known else element
            operator = "+" if sign > 0 else "-"
            total = self.operate(operator, total, Value("real", array, not known), node)
        if total.traced or total.array != 0.0:
            self.add(Increment(node, total))

    def _parts(self, value: Value) -> tuple[list[RecordedDensity], list[tuple[int, int]]]:
        """Return the log densities of parameters in a sum, and its other parts with their signs."""
        densities: list[RecordedDensity] = []
        others: list[tuple[int, int]] = []
        pending = [] if value.rank else [(1, int(value.array))]
        for _ in range(_MOST_PARTS):
            if not pending:
                return densities, others
            sign, element = pending.pop()
            step, known = self.graph.step_of(element), self.densities.get(element)
            if step is not None and step.operation in _SUMS and not step.shape:
                left, right = map(int, step.operands)
                pending += [(sign * _SUMS[step.operation], right), (sign, left)]
            elif known is not None and known.step is step and sign > 0:
                densities.append(known)
            else:
                others.append((sign, element))
        return [], []


def _where(term: Term | Increment, counted: Any) -> Term | Increment:
    """Return a term in those lanes alone in which it counts."""
    if not np.ndim(counted):
        return term

    def part(value: Any) -> Any:
        return in_part(value, counted)

    order = np.asarray(term.statement_order)
    own = {"statement_order": order[counted] if order.ndim else term.statement_order}
    if isinstance(term, Term):
        own |= {"args": tuple(map(part, term.args))}
        own |= {"lower": part(term.lower), "upper": part(term.upper)}
    return term._replace(value=part(term.value), guard=part(term.guard), **own)
