"""Matching the arguments of a distribution to the names of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from probmodel.errors import ModelError


def bind_arguments(
    name: str,
    parameters: Mapping[str, Any],
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
