"""What may help a run whose model has hierarchies.

Where a model leaves it open, they are standardised already, and no other way to parameterise them
is left to try. What was written by hand may be worse than that.
"""

from __future__ import annotations

from probmodel.inference.sample_run import SampleRun
from probmodel.model.pseudo_data import is_of_hierarchy

_MOST = 3  # parameters that are named


def hierarchy_advice(run: SampleRun) -> str:
    """Return a part of a sentence; empty where the model has no hierarchies that are known."""
    binding = getattr(getattr(run.density, "model", None), "_binding", None)
    if binding is None:
        return ""
    by_hand = [
        free.name
        for free in binding.free
        if free.declaration.noncentered is not None
        and is_of_hierarchy(free.declaration, binding.evaluator)
    ]
    if by_hand:
        return (
            f"leave out noncentered= of {_named(by_hand)}, so that prior and data decide how it is "
            "standardised"
        )
    centring = getattr(run.density, "centring", None)
    standardised = [] if centring is None else list(centring(run.positions[:1]))
    if standardised:
        return (
            f"integrate {_named(standardised)} out where that has a closed form (it is "
            "standardised by prior and data already)"
        )
    return ""


def _named(names: list[str]) -> str:
    return ", ".join(names[:_MOST]) + " and others" * (len(names) > _MOST)
