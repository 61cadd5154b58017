"""Differential equations whose right-hand side compares its time with something, so that it jumps.

A solver steps over a jump with the error that its tolerance allows there, which differs from step
to step: the solution, and with it the log density, is a rough function of the parameters.
"""

from __future__ import annotations

from collections.abc import Iterator

from probmodel.expressions import Apply
from probmodel.expressions.closure import Closure
from probmodel.expressions.graph import children, topological
from probmodel.model.binding import Binding
from probmodel.model.declarations import Declaration

_COMPARISONS = frozenset(
    {"less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "floor", "ceil"}
)
_TIGHT = 1e-9  # relative tolerances up to this leave little of it

_MESSAGE = (
    "the right-hand side of solve_ode compares its time, so that it may jump, and the log density "
    "is rough by what the tolerance leaves of the error there. Solve piece by piece, from one jump "
    "to the next, each from the last state of the piece before, or set rtol=1e-10, atol=1e-10."
)


def jumps_in_time(binding: Binding) -> Iterator[tuple[Declaration, str]]:
    """Yield each declaration that solves such an equation first, and what to do."""
    seen: set[int] = set()
    for term in binding.terms:
        for node in topological([term.expression, *term.params], done=seen):
            if not isinstance(node, Apply) or node.operation.name != "solve_ode":
                continue
            if node.kwargs["rtol"] > _TIGHT and _compares_time(node.kwargs["function"]):
                yield binding.declarations[term.name], _MESSAGE


def _compares_time(closure: Closure) -> bool:
    """Whether a comparison in a function depends on its first argument."""
    timed = {id(closure.arguments[0])}
    for node in topological([closure.body]):
        if any(id(child) in timed for child in children(node)):
            timed.add(id(node))
            if isinstance(node, Apply) and node.operation.name in _COMPARISONS:
                return True
    return False
