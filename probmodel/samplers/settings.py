"""Checks of samplers' settings; every message carries the value and the allowed range."""

from __future__ import annotations

import dataclasses
import math
import numbers
from collections.abc import Collection
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from probmodel.errors import SamplerError

MOST_STEPS = 1_000_000  # of a trajectory, and tries of a proposal: a typing error beyond


def check_number(
    sampler: str,
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    below: float = math.inf,
    optional: bool = False,
) -> None:
    """Raise SamplerError unless ``value`` is a finite number strictly between the two limits."""
    if optional and value is None:
        return
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if is_number and math.isfinite(value) and above < value < below:
        return
    limits = [f"above {above:g}"] * (above > -math.inf) + [f"below {below:g}"] * (below < math.inf)
    allowed = " ".join(["a finite number", " and ".join(limits)]).strip()
    raise must_be(sampler, name, value, f"{allowed}{' or None' if optional else ''}")


def check_share(sampler: str, name: str, value: Any) -> None:
    """Raise SamplerError unless ``value`` is a number from 0 to below 1."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not (is_number and 0.0 <= value < 1.0):
        raise must_be(sampler, name, value, "a number of at least 0 and below 1")


def check_whole(
    sampler: str,
    name: str,
    value: Any,
    *,
    least: int,
    most: float = math.inf,
    optional: bool = False,
) -> None:
    """Raise SamplerError unless ``value`` is a whole number from ``least`` to ``most``."""
    if optional and value is None:
        return
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if is_whole and least <= value <= most:
        return
    if is_whole and value > most:
        raise must_be(sampler, name, value, f"a whole number from {least} to {most:.0f}")
    allowed = f"a whole number of at least {least}{' or None' if optional else ''}"
    raise must_be(sampler, name, value, allowed)


def check_choice(sampler: str, name: str, value: Any, choices: Collection[str]) -> None:
    """Raise SamplerError unless ``value`` is one of ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise must_be(sampler, name, value, f"one of {', '.join(map(repr, choices))}")


def check_flag(sampler: str, name: str, value: Any, *, optional: bool = False) -> None:
    """Raise SamplerError unless ``value`` is True or False."""
    if not (isinstance(value, bool) or (optional and value is None)):
        raise must_be(sampler, name, value, "True, False or None" if optional else "True or False")


def check_types(sampler: str, settings: object) -> None:
    """Raise SamplerError unless flags are flags, and names are among those of their `Literal`.

    ``settings`` is a dataclass, whose annotations say which settings these are.
    """
    kind: Any = type(settings)
    for name, (choices, optional) in _flags_and_names(kind).items():
        value = getattr(settings, name)
        if not choices:
            check_flag(sampler, name, value, optional=optional)
        elif value is not None or not optional:
            check_choice(sampler, name, value, choices)


@cache
def _flags_and_names(kind: type) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Return the names that a setting may be, none of a flag, and whether it may be None."""
    try:
        hints, found = get_type_hints(kind), {}
    except NameError:  # what a class of another package imports for type checkers alone
        return _flags_and_names(kind.__mro__[1])
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        optional = NoneType in get_args(hint)
        own = [each for each in get_args(hint) if each is not NoneType] if optional else [hint]
        if own == [bool] or get_origin(own[0]) is Literal:
            found[field.name] = get_args(own[0]), optional
    return found


def must_be(sampler: str, name: str, value: Any, allowed: str) -> SamplerError:
    """Return the error of a setting that is not what it must be."""
    message = f"{sampler}: {name} must be {allowed}, got {value!r}."
    return SamplerError(message, setting=name, value=value)
