"""Programs, data for them, and what each says by hand: in NumPy and SciPy, from the manual."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np


class Program(NamedTuple):
    """A program and its reference.

    Attributes
    ----------
    name : of the reference, with the variant of the data
    text : in the Stan language
    data : by name
    reference : of the data and constrained parameters as attributes of one object; the log density
        but for Jacobians, or that and a dict of transformed parameters and generated quantities
    observed : names that must be observed data; None where that is not looked at
    tolerance : relative, of the log density
    spread : of unconstrained points at which it is evaluated
    """

    name: str
    text: str
    data: dict[str, Any]
    reference: Callable[[Any], Any]
    observed: tuple[str, ...] | None
    tolerance: float
    spread: float


PROGRAMS: list[Program] = []


def stan(
    text: str,
    *variants: dict[str, Any],
    observed: tuple[str, ...] | None = None,
    tolerance: float = 1e-9,
    spread: float = 0.7,
    **data: Any,
) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Keep a function as the reference of a program, once for each variant of its data."""

    def keep(reference: Callable[[Any], Any]) -> Callable[[Any], Any]:
        for i, variant in enumerate(variants or ({},)):
            name = reference.__name__ + (f"_{i + 1}" if len(variants) > 1 else "")
            every = {**data, **variant}
            PROGRAMS.append(Program(name, text, every, reference, observed, tolerance, spread))
        return reference

    return keep


def _array(value: list[Any]) -> Any:
    """Return a list as an array, unless it is one of tuples."""
    return value if value and isinstance(value[0], tuple) else np.asarray(value)


def evaluated(program: Program, values: dict[str, Any]) -> tuple[float, dict[str, Any]]:
    """Return the log density of a reference, and its quantities, given constrained parameters."""
    data = {k: _array(v) if isinstance(v, list) else v for k, v in program.data.items()}
    found = program.reference(SimpleNamespace(**data, **values))
    total, quantities = found if isinstance(found, tuple) else (found, {})
    return float(total), quantities


def noise(*shape: int, seed: int = 0) -> Any:
    """Return standard normal numbers, the same ones each time."""
    return np.random.default_rng(seed).standard_normal(shape).round(3)


def counts(*shape: int, rate: float = 3.0, seed: int = 0) -> Any:
    """Return whole numbers, the same ones each time."""
    return np.random.default_rng(seed).poisson(rate, shape)


def below(top: int, *shape: int, seed: int = 0) -> Any:
    """Return whole numbers from 0 to below ``top``, the same ones each time."""
    return np.random.default_rng(seed).integers(0, top, shape)
