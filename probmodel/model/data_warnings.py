"""Warnings about data, at the line of the user that binds them."""

from __future__ import annotations

import warnings
from typing import Any

from probmodel.errors import Location, SamplingWarning
from probmodel.expressions import caller_location

_shown: dict[Any, Any] = {}  # by which Python shows the same warning at the same line once


def warn_of_data(message: str) -> None:
    """Warn at the line of the user that binds the model."""
    place = caller_location() or Location("<model>", 1)
    warnings.warn_explicit(message, SamplingWarning, *place, registry=_shown)
