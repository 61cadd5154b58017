"""Terms of one statement, put together: what a loop adds one by one becomes one distribution."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from probmodel.stan.density_terms import Increment, Term
from probmodel.stan.library.stan_densities import Density, density_of
from probmodel.stan.stan_values import Value
from probmodel.stan.syntax.nodes import Node
from probmodel.stan.traced_graph import Graph, Operation, aligned


class Merged(NamedTuple):
    """A distribution at all values that a statement gives it.

    Attributes
    ----------
    node : the statement
    distribution : its name
    density : its entry in the table
    value, args, bounds : arrays, batch axes first; bounds are None where it is not truncated there
    source : of data, the variable that the values are elements of, and their flat positions
    truncated : whether it is
    """

    node: Node
    distribution: str
    density: Density
    value: Value
    args: tuple[Value, ...]
    bounds: tuple[Value | None, Value | None]
    source: tuple[str, Any] | None

    @property
    def truncated(self) -> bool:
        """Whether it is truncated on a side."""
        return any(b is not None for b in self.bounds)


def by_statement(terms: Iterable[Term]) -> list[list[Term]]:
    """Return terms in groups of one statement each, and of one size of vectors."""
    groups: dict[Any, list[Term]] = {}
    for term in terms:
        ranks = _entry(term).ranks
        events = tuple(
            v.shape[v.rank - r :] for v, r in zip((term.value, *term.args), ranks, strict=True)
        )
        bounds = term.lower is None, term.upper is None
        key = id(term.node), term.distribution, events, bounds, term.value.traced
        groups.setdefault(key, []).append(term)
    return list(groups.values())


def _entry(term: Term) -> Density:
    return density_of(term.distribution, [v.kind for v in term.args])


def merged(terms: Sequence[Term], graph: Graph) -> Merged:
    """Put the terms of one statement together."""
    first = terms[0]
    density = _entry(first)
    ranks = (*density.ranks, 0, 0)
    slots = [[t.value, *t.args, t.lower, t.upper] for t in terms]
    count = len(slots[0])
    given = [[s for s in slot if s is not None] for slot in slots]
    at = [j for j in range(count) if slots[0][j] is not None]
    own = tuple(ranks[j] for j in at)
    operation = Operation("together", np.add, own)
    arrays = [
        aligned(operation, [np.asarray(v.array) for v in values], [v.laned for v in values])
        for values in given
    ]
    found: list[Value | None] = [None] * count
    batches = [_batch(row, own) for row in arrays]
    for place, j in enumerate(at):
        values = [row[place] for row in given]
        parts = [row[place] for row in arrays]
        found[j] = _joined(values, parts, own[place], batches, graph, keep=j == 0)
    source = _source(terms, batches, own[0], arrays)
    value, *rest = found
    assert value is not None
    args = tuple(v for v in rest[:-2] if v is not None)
    bounds = rest[-2], rest[-1]
    made = Merged(first.node, first.distribution, density, value, args, bounds, source)
    return made if len(terms) == 1 else _in_turn(made, terms, batches)


def _in_turn(found: Merged, terms: Sequence[Term], batches: Sequence[tuple[int, ...]]) -> Merged:
    """Return a distribution with its batch in the order of the program's iterations."""
    numbers = [np.asarray(t.statement_order) for t in terms]
    alike = [
        np.broadcast_to(x.reshape((*x.shape, *(1,) * (len(batch) - x.ndim))), batch).reshape(-1)
        for x, batch in zip(numbers, batches, strict=True)
    ]
    order = np.argsort(np.concatenate(alike), kind="stable")
    if np.all(np.diff(order) > 0):
        return found
    turned = chosen_rows(found, order)
    if found.source is None:
        return turned
    return turned._replace(source=(found.source[0], found.source[1][order]))


def _batch(arrays: Sequence[Any], own: Sequence[int]) -> tuple[int, ...]:
    return np.broadcast_shapes(*(a.shape[: a.ndim - r] for a, r in zip(arrays, own, strict=True)))


def _joined(
    values: Sequence[Value],
    parts: Sequence[Any],
    rank: int,
    batches: Sequence[tuple[int, ...]],
    graph: Graph,
    keep: bool,
) -> Value:
    """Return one argument of all terms, with a batch axis that runs over these.

    It has none if all its elements along the batch are the same, unless that is to be kept.
    """
    kind = "int" if all(v.kind == "int" for v in values) else "real"
    traced = any(v.traced for v in values)
    arrays = [
        graph.constants(p) if traced and not v.traced else p
        for v, p in zip(values, parts, strict=True)
    ]
    if len(arrays) == 1:
        array = np.asarray(arrays[0])
        if keep:
            array = np.broadcast_to(array, (*batches[0], *array.shape[array.ndim - rank :]))
    else:
        rows = []
        for array, batch in zip(arrays, batches, strict=True):
            event = np.shape(array)[np.ndim(array) - rank :]
            rows.append(np.broadcast_to(array, (*batch, *event)).reshape(-1, *event))
        array = np.concatenate(rows)
    if not keep and array.ndim > rank and array.size:
        flat = array.reshape(-1, *array.shape[array.ndim - rank :])
        if np.all(flat == flat[:1]):
            array = flat[0]
    return Value(kind, array, traced)


def _source(
    terms: Sequence[Term], batches: Sequence[tuple[int, ...]], rank: int, arrays: Any
) -> tuple[str, Any] | None:
    """Return which data the values are, if all are elements of one variable."""
    names = {t.value.source[0] if t.value.source else None for t in terms}
    if len(names) != 1 or None in names:
        return None
    rows = []
    for term, batch, row in zip(terms, batches, arrays, strict=True):
        assert term.value.source is not None
        places = np.asarray(term.value.source[1]).reshape(row[0].shape)
        event = places.shape[places.ndim - rank :]
        rows.append(np.broadcast_to(places, (*batch, *event)))
    if len(rows) == 1:
        return str(names.pop()), rows[0]
    flat = [r.reshape(-1, *r.shape[r.ndim - rank :]) for r in rows]
    return str(names.pop()), np.concatenate(flat)


def reordered(found: Merged, order: Any, shape: tuple[int, ...]) -> Merged:
    """Return a distribution with elements of its batch in another order, flat, and shape.

    It has one batch axis, or more that are taken as one.
    """
    ranks = found.density.ranks
    batch = found.value.array.ndim - ranks[0]
    size = prod(found.value.array.shape[:batch])

    def turned(value: Value | None, rank: int) -> Value | None:
        if value is None or value.array.ndim == rank:
            return value
        event = value.array.shape[value.array.ndim - rank :]
        lead = found.value.array.shape[:batch]
        array = np.broadcast_to(value.array, (*lead, *event)).reshape(size, *event)
        return Value(value.kind, array[order].reshape((*shape, *event)), value.traced)

    value, *args = (turned(v, r) for v, r in zip((found.value, *found.args), ranks, strict=True))
    bounds = tuple(turned(b, 0) for b in found.bounds)
    return found._replace(value=value, args=tuple(args), bounds=bounds)  # type: ignore[arg-type]


def chosen_rows(found: Merged, rows: Any) -> Merged:
    """Return a distribution at some of its values, with one batch axis."""
    return reordered(found, rows, (len(rows),))


def increments_of(terms: Iterable[Term | Increment]) -> list[list[Increment]]:
    """Return what is added otherwise, in groups of one statement each."""
    groups: dict[int, list[Increment]] = {}
    for term in terms:
        if isinstance(term, Increment):
            groups.setdefault(id(term.node), []).append(term)
    return list(groups.values())
