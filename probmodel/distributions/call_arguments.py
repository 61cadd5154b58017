"""Matching the arguments of a distribution to its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from probmodel.constraints.base import Constraint
from probmodel.distributions.other_names import parameters_here
from probmodel.errors import ModelError, alike
from probmodel.expressions import Expression, call_error


class Parameter(NamedTuple):
    """One parameter of a distribution.

    Attributes
    ----------
    constraint : the values it may take
    event_ndim : axes of one parameter value: 0 a number, 1 a vector, 2 a matrix
    default : its value when it is not given; None means required
    known : whether it must come from data; a known parameter has no derivative and no batch axes
    along : of a known parameter, the event axis of the value that each of its axes runs along, None
        for one that runs along none; empty if it speaks of the value as a whole
    spreads : whether a number may stand for a vector or matrix of equal elements
    """

    constraint: Constraint
    event_ndim: int = 0
    default: float | None = None
    known: bool = False
    along: tuple[int | None, ...] = ()
    spreads: bool = False


def signature_of(
    constructor: Callable[..., None],
    parameters: Mapping[str, Parameter],
    forms: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> inspect.Signature | None:
    """Return what a constructor that takes any arguments really takes; None for one that does not.

    It has ``*args``, and maybe keywords of its own. The parameters of the distribution are in
    order; ``forms`` are other names, by that of the parameter in whose place one of them may be
    given.
    """
    own = inspect.signature(constructor).parameters.values()
    if all(p.kind is not inspect.Parameter.VAR_POSITIONAL for p in own):
        return None
    found, optional = [], False
    for name, spec in parameters.items():
        optional |= spec.default is not None or bool(forms.get(name))
        default = spec.default if optional else inspect.Parameter.empty
        found.append(
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
        )
    keywords = [p.replace(annotation=p.empty) for p in own if p.kind is p.KEYWORD_ONLY]
    for name in (name for others in forms.values() for name in others):
        keywords.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None))
    return inspect.Signature([*found, *keywords])


def bind_arguments(
    name: str, parameters: dict[str, Parameter], args: Sequence[Any], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Match positional and keyword arguments to parameter names, with errors in plain words."""
    signature = ", ".join(
        p if spec.default is None else f"{p}={spec.default:g}" for p, spec in parameters.items()
    )
    if len(args) > len(parameters):
        raise call_error(
            f"{name}({signature}) takes {len(parameters)} parameters, {len(args)} were given."
            f"{parameters_here(name, (), parameters)}",
            expected=list(parameters),
            given=len(args),
        )
    bound = dict(zip(parameters, args, strict=False))
    unknown = [key for key in kwargs if key not in parameters]
    for key, value in kwargs.items():
        if key not in parameters:
            raise call_error(
                f"{name} has no parameter {key!r}. Its parameters: {signature or 'none'}."
                f"{parameters_here(name, unknown, parameters)}{_others_with(name, key)}",
                expected=list(parameters),
                given=key,
            )
        if key in bound:
            raise call_error(
                f"{name} was given {key!r} twice.{parameters_here(name, (), parameters)}", given=key
            )
        bound[key] = value
    for key, spec in parameters.items():
        if key not in bound:
            if spec.default is None:
                raise call_error(
                    f"{name} needs {key!r}. Its parameters: {signature}.",
                    expected=list(parameters),
                    missing=key,
                )
            bound[key] = spec.default
    return {key: bound[key] for key in parameters}


def prepare_class(cls: Any) -> None:
    """Give a class of distributions errors in plain words, and the signature that help shows."""
    if "__init__" in vars(cls):
        cls.__init__ = _with_plain_errors(cls.__init__)
    if "__new__" in vars(cls):
        cls.__new__ = staticmethod(_with_plain_errors(cls.__new__))
    if hasattr(cls, "parameters"):
        cls.__signature__ = signature_of(cls.__init__, cls.parameters)


def _with_plain_errors(constructor: Callable[..., Any]) -> Callable[..., Any]:
    """Return a constructor that takes named arguments, with errors in plain words of others."""
    known = inspect.signature(constructor)
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in known.parameters.values()):
        return constructor

    @wraps(constructor)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            known.bind(self, *args, **kwargs)
        except TypeError as error:
            own = dict(list(known.parameters.items())[1:])
            kind = self if isinstance(self, type) else type(self)
            raise _misfit(kind.__name__, own, kwargs, str(error)) from None
        return constructor(self, *args, **kwargs)

    return checked


def _misfit(
    name: str, own: dict[str, inspect.Parameter], kwargs: dict[str, Any], problem: str
) -> ModelError:
    """Make the error of arguments that a constructor does not take."""
    unknown = [key for key in kwargs if key not in own]
    taken = [str(p.replace(annotation=p.empty)) for p in own.values()]
    signature = f"Its parameters: {', '.join(taken)}."
    if unknown:
        here = parameters_here(name, unknown, own) or alike(unknown[0], own)
        return call_error(
            f"{name} has no parameter {unknown[0]!r}. {signature}{here}",
            expected=list(own),
            given=unknown[0],
        )
    return call_error(f"{name}: {problem}. {signature}", expected=list(own))


def _others_with(name: str, key: str) -> str:
    """Say which distributions of the same kind, by their names, have a parameter, or one of it."""
    from probmodel import distributions

    found = [
        f"{other}({', '.join(kind.parameters)})"
        for other, kind in distributions.DISTRIBUTIONS.items()
        if other.startswith(name)
        and not {key, key.removesuffix("s")}.isdisjoint(getattr(kind, "parameters", {}))
    ]
    return f" There is {' and '.join(found)}." if found else ""


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
