"""The pages of our gallery, and ``infer(model)`` without settings but a seed.

Volatility has the keyword that its page explains, ``information=0.5``, eight schools is
non-centred, and the field of the Cox process is sampled as it is.
"""

from __future__ import annotations

from typing import Any

from peer_tools import Draws, Run
from peer_tools.cases import GALLERY, Case
from probmodel import Model, infer, load_model, param
from probmodel import data as declared
from probmodel.distributions import Normal

PACKAGES = ("probmodel", "numpy", "llvmlite", "arviz")
DRAWS = 2000  # of the default


class Neal(Model):
    """Independent normal coordinates of very different scales."""

    sd = declared(dims="i")
    x = param(Normal(0, sd), dims="i")


def build(case: Case, data: dict[str, Any]) -> Any:
    """Bind the model to its data."""
    model = Neal if case.model == "neal" else load_model(GALLERY / f"{case.model}.py")
    return model(**data)


def prepare(case: Case, data: dict[str, Any]) -> Run:
    """Return the run: 16 chains, with machine code that is made anew in each."""
    model = build(case, data)

    def run(seed: int, more: float) -> Draws:
        asked = {} if more == 1.0 else {"draws": int(DRAWS * more)}
        posterior = infer(model, seed=seed, quiet=True, **asked).posterior
        return {name: posterior[name].values for name in case.names}

    return run
