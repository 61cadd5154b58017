"""Times of ``wiener`` that are negative, which Stan refuses: a warning when data are bound.

They are counted as reactions at the lower boundary, as `Wiener` of the modelling language has it,
whose draws have these signs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from probmodel.distributions import Wiener
from probmodel.errors import Location
from probmodel.expressions import Apply, topological
from probmodel.model.binding import Binding
from probmodel.model.data_warnings import warn_of_data
from probmodel.model.density_calls import distribution_of


def check_times(binding: Binding) -> None:
    """Warn of the first distribution of times of which some are negative."""
    for name, value, location in _times(binding):
        known = binding.evaluator.is_constant(value)
        if known and np.any(binding.evaluator.value(value) < 0.0):
            _warn(f"{name!r} ({location})" if location else repr(name))
            return


def _times(binding: Binding) -> Iterator[tuple[str, Any, Location | None]]:
    """Yield the values of ``wiener`` in statements and in formulas."""
    for term in binding.terms:
        if isinstance(term.distribution, Wiener):
            yield term.name, term.expression, term.location
        elif term.distribution is None:
            for node in topological([term.expression]):
                if isinstance(node, Apply) and isinstance(distribution_of(node), Wiener):
                    yield term.name, node.args[0], node.location


def _warn(what: str) -> None:
    message = (
        f"Some times of wiener in {what} are negative, which Stan refuses. Here they are "
        "reactions at the lower boundary, and -y the time. If the signs do not mean that, mend the "
        "data; Stan's way to write it is -y with 1 - beta and -delta."
    )
    warn_of_data(message)
