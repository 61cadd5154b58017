"""Initial step size, found by trial: the acceptance of one step from the starting points."""

from __future__ import annotations

from collections.abc import Callable

DECADES = 30  # how far the search goes each way from its start
CROSSING = 0.5


def initial_step(
    acceptance_at: Callable[[float], float], start: float = 1.0, *, crossing: float = CROSSING
) -> float:
    """Step size near which the mean acceptance of one step crosses ``crossing``.

    From ``start`` the step is divided by ten until the acceptance is at least ``crossing``, or
    multiplied by ten until it is below; two halvings of the last decade on the log scale narrow it
    down. The smaller end is returned, so that every step that was tried below it was accepted:
    far out in a tail an island of large accepted steps may follow behind rejected ones, and a step
    from there would be of no use in the bulk.

    Parameters
    ----------
    acceptance_at : mean acceptance probability, over chains, of one step of that size
    start : where to begin
    crossing : acceptance to look for

    Returns
    -------
    float
        The step size; ``start`` if no step in `DECADES` decades is accepted (then the log density
        has a jump or its gradient is wrong, and no step size helps).
    """
    low = _descend(acceptance_at, start, crossing)
    if low is None:
        return start
    if low == start:
        low = _ascend(acceptance_at, start, crossing)
    factor = 10.0**0.5
    for _ in range(2):
        if acceptance_at(low * factor) >= crossing:
            low *= factor
        factor **= 0.5
    return low


def _descend(
    acceptance_at: Callable[[float], float], start: float, crossing: float
) -> float | None:
    """First accepted step going down from ``start`` by decades."""
    for decade in range(DECADES + 1):
        step = start * 10.0**-decade
        if acceptance_at(step) >= crossing:
            return step
    return None


def _ascend(acceptance_at: Callable[[float], float], start: float, crossing: float) -> float:
    """Last accepted step going up from ``start`` by decades."""
    step = start
    for _ in range(DECADES):
        if not acceptance_at(step * 10.0) >= crossing:
            break
        step *= 10.0
    return step
