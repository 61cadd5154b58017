"""Assignments to a model that would be lost: it is declared and bound once, and does not change."""

from __future__ import annotations

from typing import Any

from probmodel.errors import DataError, ModelError
from probmodel.expressions import Apply, Symbol, call_error, caller_location


def check_late_declaration(model: Any, name: str, value: Any) -> None:
    """Raise a `ModelError` where a class gets a declaration after its body, or loses one."""
    known = getattr(model, "_declarations", {}).keys() | getattr(model, "_definitions", {}).keys()
    if name not in known and not isinstance(value, Symbol | Apply):
        return
    cls = model.__name__
    raise call_error(
        f"{cls}.{name} = ... would be lost: a model declares in the body of its class. Write it "
        f"there, or derive a class, `class Another({cls})`, that declares {name!r}.",
        name=name,
    )


def check_change(model: Any, name: str, value: Any) -> None:
    """Raise an error where a bound model gets another value of a datum, or a declaration."""
    cls = type(model)
    if isinstance(value, Symbol | Apply):
        raise call_error(
            f"self.{name} = ... would be lost: a model declares in the body of its class, not in a "
            f"method. Write `{name} = ...` in the body of {cls.__name__}.",
            name=name,
        )
    takes = cls._takes()
    if name in takes or name in cls._declarations or name == "coords":
        given = ", ".join(f"{datum}=..." for datum in takes)
        raise DataError(
            f"{name!r} of a bound {cls.__name__} does not change. Bind a new one to other data: "
            f"{cls.__name__}({given}).",
            location=caller_location(),
            name=name,
        )


def not_bound(model: Any) -> ModelError:
    """Make the error of a model whose own ``__init__`` did not bind it."""
    cls = type(model).__name__
    return call_error(
        f"this {cls} has no data: an __init__ of its own must call super().__init__(**data). A "
        "model needs none: it declares in the body of its class, and takes its data by name.",
        model=cls,
    )
