"""Log posterior densities with gradients, as loops that numba compiles: the limit.

Each is written for one model alone, as one would write C: closed-form derivatives, no temporary
arrays but those that stay in the fastest cache, chains in the outer loop. There are two programs of
each from the same source. The plain one calls the exponentials of the C library, and keeps the
order of all sums. The other one has elementary functions that LLVM can put into vectors, and lets
it: sums over observations may have several partial sums (``reassoc``), and where steps wait for
each other, eight chains go side by side. The faster one counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit

from numba_loops import elementary, lanes, observations

Density = Callable[[Any], tuple[Any, Any]]
PLAIN = partial(njit, fastmath={"contract"}, error_model="numpy", cache=False)
FREE = partial(njit, fastmath={"contract", "reassoc"}, error_model="numpy", cache=False)
OVER_OBSERVATIONS = {
    "eight_schools": observations.eight_schools,
    "logistic_regression": observations.logistic_regression,
    "stochastic_volatility_centered": observations.stochastic_volatility,
    "gaussian_mixture": observations.gaussian_mixture,
}
OVER_LANES = {
    "hidden_markov": lanes.hidden_markov,
    "gaussian_process_regression": lanes.gaussian_process_regression,
}


def programs(model: str, values: dict[str, Any]) -> list[Density]:
    """Return both programs of a model with its data; none if it is not written here."""
    if model in OVER_OBSERVATIONS:
        make = OVER_OBSERVATIONS[model]
        makers = [make(PLAIN, math.exp, math.log1p), make(FREE, elementary.exp, elementary.log1p)]
    elif model in OVER_LANES:
        make = OVER_LANES[model]
        makers = [
            make(PLAIN, math.exp, math.log, 1),
            make(PLAIN, elementary.exp, elementary.log, 8),
        ]
    else:
        return []
    return [of(**values) for of in makers]
