"""What writers ask of the rules, which are written with writers themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Rules(NamedTuple):
    """How operations and distributions are written; each takes the writer first.

    Attributes
    ----------
    whole : of an operation, the code; None if Stan has it not
    entry : of an operation and the place of an element, the code of that
    statement : of an operation and a declared variable, whether statements were added that fill it
    statements : of a `Quantity`, adds the statements that give its value its distribution
    one : the same, of a single value
    log_density : of a `Quantity`, the code of its log density
    log_probability : of a `Quantity`, and whether that above its value is asked for
    element : of a distribution, a value, parameters, a place and a method, the code of one element
    """

    whole: Callable[..., Any]
    entry: Callable[..., Any]
    statement: Callable[..., Any]
    statements: Callable[..., Any]
    one: Callable[..., Any]
    log_density: Callable[..., Any]
    log_probability: Callable[..., Any]
    element: Callable[..., Any]
