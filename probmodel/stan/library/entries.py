"""What the tables of functions say of each function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from probmodel.stan.stan_values import Value

ANYTHING, CONTAINERS = range(99), range(1, 99)  # numbers of axes
NUMBERS, VECTORS, MATRICES = range(1), range(1, 2), range(2, 3)

Kind = str | Callable[[Sequence[Value]], str]


class Whole(NamedTuple):
    """A function of whole vectors and matrices.

    Attributes
    ----------
    function : of arrays, of numbers or symbols, whose last axes are the arguments' own, see
        ``ranks``; axes before these are those of many calls at once. An argument may lack them, so
        that they must broadcast; a number that is given for many is to be indexed ``x[..., None]``
        before it meets the elements of a vector.
    ranks : how many axes each argument has; the last one stands for all that follow
    kind : of the result, as `Value.kind` has it; or a function of the values that are given
    flat : whether all arguments are made vectors first: they may be containers of any kind
    batched : whether it can be called for many at once
    single : the same for one call alone, where that is written shorter
    sizes : which arguments are whole numbers that must be known, counted from 0; they come as they
        are, the same for all calls
    """

    function: Callable[..., Any]
    ranks: tuple[int, ...]
    kind: Kind = "real"
    flat: bool = False
    batched: bool = True
    single: Callable[..., Any] | None = None
    sizes: tuple[int, ...] = ()


class Move(NamedTuple):
    """A function that cuts, joins or repeats elements, and computes nothing.

    Attributes
    ----------
    function : of arrays of flat positions, each in the shape of its argument, to positions in the
        shape of the result; arguments in ``sizes`` are whole numbers. Where ``fills``, it is also
        given the positions of a zero and a one, as the keywords ``zero`` and ``one``.
    kind : of the result
    sizes : which arguments are sizes or indices, counted from 0
    fills : whether it writes zeros and ones
    ranks : how many axes arguments that are no sizes may have
    """

    function: Callable[..., Any]
    kind: Kind
    sizes: tuple[int, ...] = ()
    fills: bool = False
    ranks: range = CONTAINERS


def same(values: Sequence[Value]) -> str:
    """Return the kind of the first argument."""
    return values[0].kind


def number(values: Sequence[Value]) -> str:
    """Return ``int`` for containers of whole numbers, and ``real`` for others."""
    return "int" if values[0].kind == "int" else "real"


def wider(values: Sequence[Value]) -> str:
    """Return the kind of the elements of two arrays, one of which may be of whole numbers."""
    return values[1].kind if values[0].kind == "int" else values[0].kind
