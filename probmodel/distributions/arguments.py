"""Matching the arguments of a distribution to its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from probmodel.errors import ModelError
from probmodel.expressions import Expression

if TYPE_CHECKING:
    from probmodel.distributions.base import Parameter


def bind_arguments(
    name: str,
    parameters: dict[str, Parameter],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    location: Any,
) -> dict[str, Any]:
    """Match positional and keyword arguments to parameter names, with errors in plain words."""
    signature = ", ".join(
        p if spec.default is None else f"{p}={spec.default:g}" for p, spec in parameters.items()
    )
    if len(args) > len(parameters):
        raise ModelError(
            f"{name}({signature}) takes {len(parameters)} parameters, {len(args)} were given.",
            location=location,
            expected=list(parameters),
            given=len(args),
        )
    bound = dict(zip(parameters, args, strict=False))
    for key, value in kwargs.items():
        if key not in parameters:
            raise ModelError(
                f"{name} has no parameter {key!r}. Its parameters: {signature or 'none'}.",
                location=location,
                expected=list(parameters),
                given=key,
            )
        if key in bound:
            raise ModelError(f"{name} was given {key!r} twice.", location=location, given=key)
        bound[key] = value
    for key, spec in parameters.items():
        if key not in bound:
            if spec.default is None:
                raise ModelError(
                    f"{name} needs {key!r}. Its parameters: {signature}.",
                    location=location,
                    expected=list(parameters),
                    missing=key,
                )
            bound[key] = spec.default
    return {key: bound[key] for key in parameters}


def check_numbers(name: str, args: dict[str, Any], location: Any) -> None:
    """Raise a `ModelError` for the first argument that is neither symbolic nor numbers."""
    for key, value in args.items():
        if isinstance(value, Expression):
            continue
        try:
            kind = np.asarray(value).dtype.kind
        except ValueError:  # rows that differ in length
            kind = "O"
        if kind not in "biuf":
            what = f"the class {value.__name__}" if isinstance(value, type) else repr(value)
            shown = what if " at 0x" not in what else f"of type {type(value).__name__}"
            raise ModelError(
                f"{name}'s {key} is {shown}, which is not a number, a numeric array or a symbol "
                "of the model.",
                location=location,
                parameter=key,
                given=value,
            )
