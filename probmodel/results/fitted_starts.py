"""Starting points from the draws of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from probmodel.errors import InitializationError
from probmodel.inference.request import Request
from probmodel.results.arviz_object import groups_of, in_order
from probmodel.types import Posterior


def at_draws(asked: Request, posterior: Posterior) -> Request:
    """Return a request whose ``inits``, if they are a fit, are draws of it."""
    return replace(asked, inits=from_fit(asked.inits, posterior, asked.chains))


def from_fit(inits: Any, posterior: Posterior, chains: int) -> Any:
    """Return draws of a fit where chains are to start, a dict a chain; what is no fit as it is.

    These are the last draws of the chains, if the fit has as many, and draws spread evenly over
    all of it otherwise. Raises an `InitializationError` if it has none of the parameters.
    """
    draws = _draws_of(inits)
    if draws is None:
        return inits
    values = {}
    for variable in posterior.variables:
        if variable.kind == "param" and variable.name in draws:
            array = in_order(draws[variable.name], variable.dims).values
            last = array.shape[0] == chains
            flat = array.reshape(-1, *array.shape[2:])
            spread = np.linspace(0, len(flat) - 1, chains).round().astype(int)
            values[variable.name] = array[:, -1] if last else flat[spread]
    if not values:
        known = ", ".join(v.name for v in posterior.variables if v.kind == "param")
        raise InitializationError(
            f"inits is a fit that has none of the parameters of the model: {known}.", inits=inits
        )
    return [{name: array[chain] for name, array in values.items()} for chain in range(chains)]


def _draws_of(inits: Any) -> Any:
    """Return the draws of a fit, or of its posterior; None for what is no fit."""
    result = getattr(inits, "result", inits)
    if isinstance(result, str | dict | list | tuple | None) or not isinstance(result, Mapping):
        return None
    if {"chain", "draw"} <= set(getattr(result, "dims", ())):
        return result
    return groups_of(result, "posterior").get("posterior")
