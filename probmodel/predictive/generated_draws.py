"""Generated quantities of a Stan program at the draws of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.arguments import child
from probmodel.model.binding import Groups
from probmodel.types import Array

_KEY = (1 << 31) - 1  # of their random numbers among the children of a seed


class GeneratedDraws:
    """Splits what is wanted of a model into what it declares and what its program generates.

    Parameters
    ----------
    model : a bound model of any kind

    Attributes
    ----------
    names : of the generated quantities; none for other models
    labels : by dim, of the axes of these alone
    """

    def __init__(self, model: Any) -> None:
        self._generated = model._generated
        self._variables = {v.name: v for v in self._generated.variables} if self._generated else {}
        self.names = tuple(self._variables)
        self.labels = {d: c for v in self._variables.values() for d, c in v.coords.items()}

    def needs(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the names of what is declared and wanted, or needed for what is wanted."""
        own = [name for name in names if name not in self._variables]
        more = self._generated.needs if len(own) < len(names) else ()
        return tuple(dict.fromkeys([*own, *more]))

    def completed(
        self, names: Sequence[str], arrays: Groups, seed: np.random.SeedSequence | None
    ) -> Groups:
        """Return what is wanted, by name, from what it ``needs``.

        The seed is of what is drawn at random; None stands for that which the draws decide.
        """
        wanted = [name for name in names if name in self._variables]
        values: Mapping[str, Array] = {}
        if wanted:
            rng = None if seed is None else np.random.default_rng(child(seed, _KEY))
            given = {name: arrays[name][1] for name in self._generated.needs}
            values = self._generated.at(given, rng)
        return {
            name: (self._variables[name].dims, values[name]) if name in wanted else arrays[name]
            for name in names
        }
