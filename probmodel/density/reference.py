"""References to values of a program that is being recorded."""

from __future__ import annotations

from typing import NamedTuple


class Ref(NamedTuple):
    """A value of the program that depends on parameters.

    Attributes
    ----------
    slot : where the program keeps it
    shape : its shape without the chain axis
    active : whether derivatives flow through it (not through comparisons and the like)
    """

    slot: int
    shape: tuple[int, ...]
    active: bool = True
