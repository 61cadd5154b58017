"""Statements in some of the lanes, and why what follows is not run in all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from probmodel.stan.density_terms import DensityTerms
from probmodel.stan.indexing import LanesDifferError
from probmodel.stan.operators import Frame, in_part, restricted
from probmodel.stan.side_by_side import assigned, mentioned
from probmodel.stan.stan_values import Tuple, Value
from probmodel.stan.syntax import nodes as n
from probmodel.types import Array


class Flow(NamedTuple):
    """Why what follows a statement is not run.

    Attributes
    ----------
    kind : ``break``, ``continue`` or ``return``
    value : what is returned; if lanes decide, it has those of the lanes that return
    condition : on parameters, or by lane, where it is so in a part of the cases
    """

    kind: str
    value: Any = None
    condition: Value | None = None

    @property
    def by_parameters(self) -> bool:
        """Whether parameters decide."""
        return self.condition is not None and self.condition.traced


class Lanes(DensityTerms):
    """Statements in some of the lanes."""

    _own: tuple[str, dict[str, int]] = "", {}  # of a loop: its variable, its `own_axes`

    @contextmanager
    def in_lanes(self, chosen: Array) -> Iterator[None]:
        """Run what is inside in some of the lanes alone."""
        before, order = (self.lanes, self.guards, self.counted), self.graph.statement_order
        self.lanes = int(np.sum(chosen))
        self.guards = [in_part(g, chosen) for g in self.guards]
        self.counted = in_part(self.counted, chosen)
        if self._side_by_side:
            self.graph.statement_order = order[chosen]
        try:
            yield
        except LanesDifferError as error:
            if error.lanes is not None:
                kinds = np.full(len(chosen), -1)
                kinds[chosen] = error.lanes
                error.lanes = kinds
            raise
        finally:
            self.lanes, self.guards, self.counted = before
            self.graph.statement_order = order

    def in_some(
        self,
        chosen: Array,
        run: Callable[[Frame], Flow | None],
        node: n.Node | tuple[n.Node, ...],
        frame: Frame,
    ) -> Flow | None:
        """Run something of a frame in the ``chosen`` lanes, (lanes,), alone."""
        if chosen.all():
            return run(frame)
        inside = restricted(frame, chosen, {*mentioned(node), self._own[0]})
        with self.in_lanes(chosen):
            flow = run(inside)
        for name in assigned(node):
            if name in frame:
                frame[name] = self._filled(frame[name], chosen, inside[name])
        if flow is None:
            return None
        if flow.by_parameters:
            raise LanesDifferError
        where = np.zeros(len(chosen), dtype=bool)
        where[chosen] = True if flow.condition is None else flow.condition.array
        return flow._replace(condition=Value("int", where, laned=True))

    def either_left(self, first: Flow | None, later: Flow | None) -> Flow | None:
        """Return why what follows is not run, where two reasons hold in different lanes."""
        if first is None or later is None:
            return first or later
        if first.kind != later.kind or first.condition is None or later.condition is None:
            raise LanesDifferError
        left = np.asarray(first.condition.array, dtype=bool)
        where = left | np.asarray(later.condition.array, dtype=bool)
        value = None
        if first.value is not None or later.value is not None:
            if not (isinstance(first.value, Value) and isinstance(later.value, Value)):
                raise LanesDifferError
            value = self.by_lane(left[where], first.value, later.value)
        condition = None if where.all() else Value("int", where, laned=True)
        return Flow(first.kind, value, condition)

    def _filled(self, value: Any, chosen: Array, new: Any) -> Any:
        """Return a value that is another one in some lanes."""
        if isinstance(value, Tuple) and isinstance(new, Tuple):
            pairs = zip(value.items, new.items, strict=True)
            return Tuple([self._filled(a, chosen, b) for a, b in pairs])
        if isinstance(value, list) and isinstance(new, list):
            return [self._filled(a, chosen, b) for a, b in zip(value, new, strict=True)]
        if not value.laned:  # elements, of which each lane changes its own
            return new
        return self.by_lane(chosen, new, in_part(value, ~chosen))
