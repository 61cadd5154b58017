"""Calls of the five declarations: the class body learns of each, and misfits get an answer."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from probmodel.errors import ModelError, nearest
from probmodel.expressions import call_error
from probmodel.model.class_body import note

Declare = TypeVar("Declare", bound=Callable[..., Any])

_GIVEN = " Data are given when the model is bound, by the name of the declaration: Model(y=...)."
_STARTS = " Starting points are given to infer(..., inits=...)."
# What other languages write, and what is written here instead.
_ELSEWHERE = {
    **dict.fromkeys(("observed", "obs", "value", "data"), _GIVEN),
    **dict.fromkeys(("initval", "init", "inits", "testval"), _STARTS),
    **dict.fromkeys(("min", "minimum", "lb"), " Did you mean 'lower'?"),
    **dict.fromkeys(("max", "maximum", "high", "ub"), " Did you mean 'upper'?"),
    "name": " The name is the class attribute that it is assigned to.",
    "size": " Did you mean 'shape'?",
}


def declares(function: Declare) -> Declare:
    """Tell the class body that runs of what is declared in it.

    A call with arguments that the declaration does not take is a `ModelError` with its line.
    """
    signature = inspect.signature(function)
    known = list(signature.parameters)

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise _misfit(function.__name__, known, kwargs, error) from error
        return note(function(*args, **kwargs))

    return checked  # type: ignore[return-value]


def _misfit(name: str, known: list[str], kwargs: dict[str, Any], error: TypeError) -> ModelError:
    unknown = next((key for key in kwargs if key not in known), None)
    if unknown is None:
        takes = ", ".join(known)
        message = f"{name}(...): {error}. It takes {takes}; its name is the class attribute."
    else:
        hint = _ELSEWHERE.get(unknown) or nearest(unknown, known)
        message = f"{name}(...) has no argument {unknown!r}.{hint}"
    return call_error(message, declaration=name, argument=unknown, expected=known)
