"""Draws of quantities in blocks: one after another here, or by the workers of an executor.

Each block has random numbers of its own, so that draws depend neither on who makes them nor on how
many workers there are. A plan cannot be sent: workers make it again, from the model and a few draws
of the fit, and are sent the values of the parameters at the draws of their block.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from probmodel.arguments import child
from probmodel.density.forward_runs import Plan
from probmodel.density.programs import typed
from probmodel.errors import SamplingWarning, reason
from probmodel.inference.tasks import check_executor, mapped
from probmodel.types import Array

_FIRST = 1 << 31  # number of the first block among the children of a seed, of which there are fewer
_making = threading.Lock()  # held while a plan is made


class Block(NamedTuple):
    """Some draws in a row.

    Attributes
    ----------
    given : values that are known at these draws
    seed : of their random numbers
    rows : how many
    step : how many are made in one pass
    """

    given: list[Array]
    seed: np.random.SeedSequence
    rows: int
    step: int


def drawn(
    plan: Plan,
    again: Callable[[], Plan],
    seed: np.random.SeedSequence,
    rows: int,
    executor: Any = None,
) -> dict[str, Array]:
    """Make so many draws by a plan: name -> (rows, *shape).

    ``again`` makes a plan of the same program, for a worker; it can be pickled. The executor is
    anything with a method ``submit``; None is this process. Raises a `SamplerError` if it is none,
    or the model cannot be sent to its workers. If workers were lost, a `SamplingWarning` says so,
    and what they were to draw is drawn here.
    """
    check_executor(executor)
    whole = {name: np.empty((rows, *shape)) for name, (shape, _) in plan.kinds.items()}
    blocks = list(_blocks(plan, seed, rows))
    one_by_one = executor is None or len(blocks) == 1
    parts = (
        (_run(plan, block) for block in blocks)
        if one_by_one
        else _sent(plan, again, blocks, executor)
    )
    start = 0
    for block, part in zip(blocks, parts, strict=True):
        for name, values in part.items():
            whole[name][start : start + block.rows] = values
        start += block.rows
    return {name: typed(whole[name], kind) for name, (_, kind) in plan.kinds.items()}


def _blocks(plan: Plan, seed: np.random.SeedSequence, rows: int) -> Iterator[Block]:
    """Split draws; the first ones have the random numbers of the seed itself."""
    for k, start in enumerate(range(0, rows, plan.block)):
        stop = min(start + plan.block, rows)
        own = child(seed, _FIRST + k) if k else seed
        given = [values[start:stop] for values in plan.given]
        yield Block(given, own, stop - start, plan.step)


def _run(plan: Plan, block: Block) -> dict[str, Array]:
    rng = np.random.default_rng(block.seed)
    return plan.of(block.given, block.step).run(rng, block.rows)


class _Worker:
    """Makes blocks elsewhere, with a plan that is made once."""

    def __init__(self, again: Callable[[], Plan]) -> None:
        self._again = again
        self._plan: Plan | None = None

    def __call__(self, block: Block) -> dict[str, Array]:
        """Make one block."""
        with _making:
            plan = self._plan = self._plan or self._again()
        return _run(plan, block)


def _sent(
    plan: Plan, again: Callable[[], Plan], blocks: list[Block], executor: Any
) -> Iterator[dict[str, Array]]:
    """Yield what workers make of each block; what is lost is made here."""
    lost: list[Exception] = []
    for block, found in zip(blocks, mapped(_Worker(again), blocks, executor), strict=True):
        if isinstance(found, Exception):
            yield _run(plan, block)  # what is wrong with the model fails here, too
            lost.append(found)
        else:
            yield found
    if lost:
        message = (
            f"Workers of executor= were lost ({reason(lost[0])}): {len(lost)} of {len(blocks)} "
            "blocks of draws were made here instead. The draws are the same."
        )
        warnings.warn(message, SamplingWarning, stacklevel=4)
