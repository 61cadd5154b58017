"""Steps of one group as one step, with a lane for each, but for those that are the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from probmodel.stan.traced_graph import Step
from probmodel.types import Array

_FEWEST_LANES = 8  # from which on equal ones are looked for


class Together(NamedTuple):
    """Operands of a group of steps.

    Attributes
    ----------
    operands, laned : as of a `Step`
    lanes : how many there are
    place : which of these stands for each lane of the steps; None if they do, in their order
    """

    operands: list[Any]
    laned: list[bool]
    lanes: int
    place: Array | None


def together(steps: Sequence[Step], same: Array) -> Together:
    """Return the operands of steps, in the order of their statements.

    The steps are of one operation, with operands of one shape each. An operand that is the same for
    all has no lanes. If all are, one lane is computed. ``same`` has for each element the one that
    stands for it; negative ones count from the end.
    """
    counts = [s.shape[0] if any(s.laned) else 1 for s in steps]
    operands: list[Any] = []
    laned: list[bool] = []
    for j in range(len(steps[0].operands)):
        given = [s.operands[j] for s in steps]
        own = [s.laned[j] for s in steps]
        if not any(own) and all(g is given[0] for g in given):
            operands.append(same[given[0]])
            laned.append(False)
            continue
        rows = [
            np.asarray(g) if lane else np.repeat(np.asarray(g)[None], count, 0)
            for g, lane, count in zip(given, own, counts, strict=True)
        ]
        stacked = same[np.concatenate(rows)]
        alike = bool(np.all(stacked == stacked[:1]))
        operands.append(stacked[0] if alike else stacked)
        laned.append(not alike)
    lanes = sum(counts)
    if not any(laned):
        return Together(operands, laned, lanes, None)
    return _distinct(*_in_turn(operands, laned, steps, counts), laned, lanes)


def _in_turn(
    operands: list[Any], laned: list[bool], steps: Sequence[Step], counts: Sequence[int]
) -> tuple[list[Any], Array | None]:
    """Put lanes in the order of their statements; returns where each is then, if that is new."""
    alike = [
        np.broadcast_to(x if np.size(x) == count else np.min(x), (count,))
        for x, count in zip([s.statement_order for s in steps], counts, strict=True)
    ]
    numbers = np.concatenate(alike)
    if np.all(np.diff(numbers) >= 0):
        return operands, None
    order = np.argsort(numbers, kind="stable")
    turned = [o[order] if lane else o for o, lane in zip(operands, laned, strict=True)]
    return turned, np.argsort(order)


def _distinct(operands: list[Any], where: Array | None, laned: list[bool], lanes: int) -> Together:
    """Leave out lanes whose operands are those of others."""
    if lanes < _FEWEST_LANES:
        return Together(operands, laned, lanes, where)
    rows = [np.reshape(o, (lanes, -1)) for o, lane in zip(operands, laned, strict=True) if lane]
    table = np.concatenate(rows, axis=1)
    weights = np.random.default_rng(0).integers(2**63, size=table.shape[1])
    _, first, place = np.unique(table @ weights, return_index=True, return_inverse=True)
    if 2 * len(first) > lanes or not np.array_equal(table, table[first[place]]):
        return Together(operands, laned, lanes, where)
    order = np.argsort(first)  # as they come
    kept = first[order]
    chosen = [o[kept] if lane else o for o, lane in zip(operands, laned, strict=True)]
    place = np.argsort(order)[place]
    return Together(chosen, laned, len(kept), place if where is None else place[where])
