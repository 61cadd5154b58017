"""The declarations of a program that was run: parameters, likelihoods, and what else it adds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from probmodel import constraints as c
from probmodel.constraints import Constraint
from probmodel.distributions import Truncated
from probmodel.distributions.base import Distribution
from probmodel.errors import Location
from probmodel.expressions import Apply, Expression
from probmodel.functions import log_density
from probmodel.model.declarations import Declaration, Deterministic, Observed, Parameter, Potential
from probmodel.stan.density_terms import Increment, Term
from probmodel.stan.function_calls import density_operation, distribution
from probmodel.stan.indexing import OperationError
from probmodel.stan.lowering import CycleError, Lowering
from probmodel.stan.merging import (
    Merged,
    by_statement,
    chosen_rows,
    increments_of,
    merged,
    reordered,
)
from probmodel.stan.operators import CHOOSE
from probmodel.stan.ranges import ALL, KINDS, Range
from probmodel.stan.solver_calls import HigherOrder
from probmodel.stan.stan_values import Value, real
from probmodel.stan.syntax import nodes as n
from probmodel.types import Array

_CONSTRAINTS: dict[str, Any] = {
    "simplex": c.Simplex, "unit_vector": c.UnitVector, "ordered": c.Ordered,
    "positive_ordered": c.PositiveOrdered, "sum_to_zero_vector": c.SumToZero,
    "sum_to_zero_matrix": c.SumToZeroMatrix, "cov_matrix": c.PositiveDefinite,
    "corr_matrix": c.Correlation, "cholesky_factor_cov": c.CholeskyFactor,
    "cholesky_factor_corr": c.CorrelationCholesky, "row_stochastic_matrix": c.RowStochastic,
    "column_stochastic_matrix": c.ColumnStochastic,
}  # fmt: skip


class Leaf(NamedTuple):
    """A parameter of a program.

    Attributes
    ----------
    node : its declaration
    shape : of its value
    elements : their numbers in the graph
    bounds : by ``lower``, ``upper``, ``offset`` and ``multiplier``
    """

    node: n.Declare
    shape: tuple[int, ...]
    elements: Array
    bounds: dict[str, Value]

    def range(self) -> Range:
        """Return the limits that its declaration gives."""
        low, high = KINDS.get(self.node.type.kind, ALL)
        lower, upper = self.bounds.get("lower"), self.bounds.get("upper")
        if lower is not None and not lower.traced:
            low = max(low, float(np.min(lower.array)))
        if upper is not None and not upper.traced:
            high = min(high, float(np.max(upper.array)))
        return low, high


class Assembly:
    """Makes declarations of what a program that was run says.

    Parameters
    ----------
    run : that ran it
    leaves : its parameters
    transformed : values of its transformed parameters
    places : declarations of these, by name
    data : arrays of data, by name

    Attributes
    ----------
    declarations : by name, in an order in which each uses earlier ones
    observed : the data of observed quantities, by name
    sources : the variable that each of them is elements of, by name
    """

    def __init__(
        self,
        run: HigherOrder,
        leaves: Sequence[Leaf],
        transformed: dict[str, Value],
        places: dict[str, n.Declare],
        data: dict[str, Any],
    ) -> None:
        self._run, self._data = run, data
        self._leaves = {leaf.node.name: leaf for leaf in leaves}
        self.declarations: dict[str, Declaration] = {}
        self.observed: dict[str, Any] = {}
        self.sources: dict[str, str] = {}
        self._priors: dict[str, Merged] = {}
        self._pending: set[str] = set()
        self._transformed = transformed
        likelihoods, others, increments = self._sorted(run.terms)
        roots = [v.array for v in transformed.values() if v.traced]
        for leaf in leaves:
            roots += [v.array for v in leaf.bounds.values() if v.traced]
        for found in [*likelihoods, *others, *self._priors.values()]:
            parts = [found.value, *found.args, *found.bounds]
            roots += [v.array for v in parts if v is not None and v.traced]
        roots += [v.array for _, v in increments]
        self._lowering = Lowering(run.graph, roots, self._leaf, run.sources)
        for name in self._leaves:
            self._leaf(name)
        for name, value in transformed.items():
            expression = self._of(value)
            if isinstance(expression, Apply) and expression.name is None:
                expression.name = name  # so that what uses it is printed with the name
            self._declare(name, Deterministic(expression, None), places[name])
        for found in likelihoods:
            self._observe(found)
        for found in [*others, *(self._late)]:
            self._add(found)
        for node, value in increments:
            self._declare(self._name_at(node), Potential(self._of(value)), node)

    # -- what kind of term each is -----------------------------------------------------------------

    def _sorted(
        self, terms: Sequence[Term | Increment]
    ) -> tuple[list[Merged], list[Merged], list[tuple[n.Node, Value]]]:
        """Return likelihoods, other distributions, and what else is added; priors are kept."""
        self._late: list[Merged] = []
        graph = self._run.graph
        plain = [t for t in terms if isinstance(t, Term) and t.guard is None]
        guarded = [self._guarded(t) for t in terms if isinstance(t, Term) and t.guard is not None]
        rest = [t for t in terms if isinstance(t, Increment)]
        likelihoods, others, partial = [], [], []
        for group in by_statement(plain):
            found = merged(group, graph)
            if not found.value.array.size:
                continue
            if not found.value.traced:
                likelihoods.append(found)
                continue
            for part in self._by_leaf(found):
                name = self._leaf_of(part)
                if name is None:
                    others.append(part)
                elif part.value.array.size < self._leaves[name].elements.size:
                    partial.append((name, part))
                else:
                    self._take_prior(name, part, others)
        self._take_parts(partial, others)
        return likelihoods, others, self._totals([*rest, *guarded])

    def _guarded(self, term: Term) -> Increment:
        """Return the log density of a term inside a condition as a number that is added."""
        value = term.value
        if value.traced:
            value = self._run.graph.apply(CHOOSE, [term.guard, value, real(0.5)], value.kind)  # type: ignore[list-item]
        operation = density_operation(term.distribution)
        log = self._run.graph.apply(operation, [value, *term.args], "real", (), term.node)
        return Increment(term.node, log, term.guard)

    def _by_leaf(self, found: Merged) -> list[Merged]:
        """Return the distributions of each parameter, where values are elements of several."""
        rank = found.density.ranks[0]
        array = found.value.array
        if array.ndim == rank or found.distribution.endswith("_glm"):
            return [found]
        rows = array.reshape(-1, *array.shape[array.ndim - rank :])
        leaves = [leaf for leaf in self._leaves.values() if leaf.elements.size]
        starts = np.array([leaf.elements.flat[0] for leaf in leaves])
        stops = np.array([leaf.elements.flat[-1] for leaf in leaves])
        first = rows.reshape(len(rows), -1)
        owner = np.searchsorted(starts, first[:, 0], side="right") - 1
        whole = (first >= starts[owner][:, None]) & (first <= stops[owner][:, None])
        if not whole.all() or np.all(owner == owner[0]):
            return [found]
        return [chosen_rows(found, np.flatnonzero(owner == i)) for i in np.unique(owner)]

    def _leaf_of(self, found: Merged) -> str | None:
        """Return the parameter that values are elements of, if they are of one, each once."""
        elements = np.sort(found.value.array.reshape(-1))
        for name, leaf in self._leaves.items():
            if not leaf.elements.size:
                continue
            start, stop = int(leaf.elements.flat[0]), int(leaf.elements.flat[-1])
            if start <= elements[0] and elements[-1] <= stop:
                return name if np.all(np.diff(elements) > 0) else None
        return None

    def _take_prior(self, name: str, found: Merged, others: list[Merged]) -> None:
        """Make a distribution the prior of a parameter, if it has none yet."""
        leaf, rank = self._leaves[name], found.density.ranks[0]
        batch = leaf.shape[: len(leaf.shape) - rank]
        elements = found.value.array.reshape(-1, *found.value.array.shape[-rank:] if rank else ())
        order = np.argsort(elements.reshape(len(elements), -1)[:, 0])
        turned = np.array_equal(elements[order].reshape(-1), leaf.elements.reshape(-1))
        fits = not rank or found.value.array.shape[-rank:] == leaf.shape[-rank:]
        if name in self._priors or not (turned and fits) or found.distribution.endswith("_glm"):
            others.append(found)
            return
        self._priors[name] = reordered(found, order, batch)

    def _take_parts(self, partial: list[tuple[str, Merged]], others: list[Merged]) -> None:
        """Join distributions of single elements, where they are of one family and all are there."""
        for name in dict.fromkeys(name for name, _ in partial):
            parts = [found for of, found in partial if of == name]
            joined = _joined(parts, self._run)
            size = self._leaves[name].elements.size
            if joined is None or joined.value.array.size != size or _repeats(joined.value.array):
                others += parts
            else:
                self._take_prior(name, joined, others)

    def _totals(self, increments: Sequence[Increment]) -> list[tuple[n.Node, Value]]:
        """Return what each statement adds, as arrays that are to be added up."""
        totals = []
        graph = self._run.graph
        for group in increments_of(increments):
            parts = []
            for increment in group:
                value = increment.value
                if increment.guard is not None:
                    value = graph.apply(CHOOSE, [increment.guard, value, real(0.0)], "real")
                if not value.traced and not np.all(np.isfinite(value.array)):
                    self._run.fail(
                        f"the log density is {np.sum(value.array)} here, whatever the parameters.",
                        increment.node,
                    )
                parts.append(np.reshape(graph.elements(value), -1))
            if parts:
                totals.append((group[0].node, Value("real", np.concatenate(parts), True)))
        return totals

    # -- expressions -------------------------------------------------------------------------------

    def _of(self, value: Value) -> Any:
        """Return the expression of a value, or its numbers."""
        return self._lowering.expression(value.array) if value.traced else value.array

    def _made(self, found: Merged) -> Distribution:
        """Return the distribution, with expressions for its parameters."""
        args = [self._of(a) for a in found.args]
        bounds = [None if b is None else self._of(b) for b in found.bounds]
        with self._run.at(found.node):
            made = distribution(found.density, found.value.array, args)
            if found.truncated and (made.event_ndim or not made.has_cdf):
                raise OperationError(f"{found.distribution} has no distribution function to cut")
            made = Truncated(made, *bounds) if found.truncated else made
        made.location = self._location(found.node)
        return made

    def _location(self, node: n.Node) -> Location:
        return Location(node.place.file, node.place.line)

    def _declare(self, name: str, declaration: Declaration, node: n.Node) -> None:
        declaration.name = name
        declaration.location = self._location(node)
        self.declarations[name] = declaration

    def _name_at(self, node: n.Node, stem: str = "line") -> str:
        name = base = f"{stem}_{node.place.line}"
        count = 1
        while name in self.declarations or name in self._data or name in self._transformed:
            count += 1
            name = f"{base}_{count}"
        return name

    # -- parameters --------------------------------------------------------------------------------

    def _leaf(self, name: str) -> Expression:
        """Return a parameter, declared once what it needs is declared."""
        if name in self.declarations:
            return self.declarations[name]
        if name in self._pending:
            raise CycleError
        if name in self._run.targets:
            self._run.no_target(name)
        leaf, prior = self._leaves[name], None
        found = self._priors.get(name)
        self._pending.add(name)
        try:
            bounds = {key: self._of(value) for key, value in leaf.bounds.items()}
            if found is not None:
                with suppress(CycleError):
                    prior = self._made(found)
        finally:
            self._pending.discard(name)
        kind = leaf.node.type.kind
        constraint = _CONSTRAINTS[kind]() if kind in _CONSTRAINTS else None
        if kind == "cholesky_factor_cov" and leaf.shape[-1] != leaf.shape[-2]:
            constraint = c.TallCholeskyFactor(*leaf.shape[-2:])
        if prior is not None and not _agrees(prior, constraint, bounds):
            prior = None
        if found is not None and prior is None:
            self._late.append(found)
        shape = leaf.shape or None
        declared = Parameter(prior, None, shape, bounds, constraint, None, None)
        self._declare(name, declared, leaf.node)
        return declared

    # -- the other terms ---------------------------------------------------------------------------

    def _observe(self, found: Merged) -> None:
        """Declare data that follow a distribution."""
        name = of = None
        if found.source is not None:
            name = of = found.source[0]
            found = self._in_order(found, of, found.source[1])
        elif isinstance(found.node, n.Tilde) and isinstance(found.node.value, n.Name):
            name = found.node.value.name
        if name is None or name in self.declarations:
            name = self._name_at(found.node, name or "line")
        if of is not None:
            self.sources[name] = of
        declared = Observed(self._made(found), None)
        declared.of_program = True
        self._declare(name, declared, found.node)
        self.observed[name] = found.value.array

    def _in_order(self, found: Merged, name: str, places: Array) -> Merged:
        """Return a likelihood in the order of its data, if it is of all of them."""
        data = np.asarray(self._data[name])
        rank = found.density.ranks[0]
        flat = places.reshape(-1, *places.shape[places.ndim - rank :] if rank else ())
        order = np.argsort(flat.reshape(len(flat), -1)[:, 0])
        if data.size != places.size or not np.array_equal(
            flat[order].reshape(-1), np.arange(data.size)
        ):
            return found
        return reordered(found, order, data.shape[: data.ndim - rank])

    def _add(self, found: Merged) -> None:
        """Add the log density of values that parameters decide."""
        made = self._made(found)
        value = self._of(found.value)
        declared = Potential(log_density(made, value))
        self._declare(self._name_at(found.node), declared, found.node)


def _joined(parts: Sequence[Merged], run: HigherOrder) -> Merged | None:
    """Join distributions of one family and of one size of vectors, or return None."""
    first = parts[0]
    alike = all(
        p.density is first.density and p.distribution == first.distribution and not p.truncated
        for p in parts
    )
    if not alike or first.distribution.endswith("_glm") or len(set(map(_events, parts))) > 1:
        return None
    terms = [Term(first.node, p.distribution, p.value, p.args) for p in parts]
    return merged(terms, run.graph)


def _events(found: Merged) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of a value and of the parameters, without the batch."""
    arrays = [v.array for v in (found.value, *found.args)]
    pairs = zip(arrays, found.density.ranks, strict=True)
    return tuple(np.shape(a)[np.ndim(a) - rank :] for a, rank in pairs)


def _repeats(elements: Array) -> bool:
    return len(np.unique(elements)) < elements.size


def _agrees(prior: Distribution, constraint: Constraint | None, bounds: dict[str, Any]) -> bool:
    """Whether a prior's support is what a parameter's type says; tightens the bounds to it."""
    support = prior.support()
    if constraint is not None:
        return isinstance(support, c.Real | type(constraint))
    if not support.bijective:
        return False
    if isinstance(support, c.Real):
        return True
    limits = None if support.event_ndim or support.integer else support.limits
    if limits is None or "offset" in bounds or "multiplier" in bounds:
        return False
    if not bounds:
        return True
    for name, limit, tighter in zip(
        ("lower", "upper"), limits, (np.maximum, np.minimum), strict=True
    ):
        if limit is None:
            continue
        given = bounds.get(name)
        if given is None:
            bounds[name] = limit
        elif not isinstance(given, Expression) and not isinstance(limit, Expression):
            bounds[name] = tighter(given, limit)
    return True
