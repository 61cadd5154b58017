"""Random number streams of the sampling, and their current positions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Place(NamedTuple):
    """Position of the streams: after ``used`` of ``together`` transitions drawn from ``states``.

    Attributes
    ----------
    states : of the generators
    together : transitions whose numbers were drawn together from there on
    used : how many of these have been made
    """

    states: tuple[Any, ...]
    together: int = 0
    used: int = 0


class Streams:
    """Generators of what is random while sampling, one for each kind of number.

    Parameters
    ----------
    *generators : the first is the one that the warm-up used

    Attributes
    ----------
    place : from where the numbers that have not been used yet can be drawn again
    """

    def __init__(self, *generators: np.random.Generator) -> None:
        self.generators = generators
        self.place = Place(self.states())

    def states(self) -> tuple[Any, ...]:
        """Return the states of the generators after what has been drawn."""
        return tuple(generator.bit_generator.state for generator in self.generators)

    def at(self, place: Place) -> Streams:
        """Go back to a place."""
        for generator, state in zip(self.generators, place.states, strict=True):
            generator.bit_generator.state = state
        self.place = place
        return self
