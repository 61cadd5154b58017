"""Names that comprehensions and functions of a class body take from outside the class."""

from __future__ import annotations

import dis
import numbers
from collections.abc import Iterator, Mapping
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from probmodel.errors import Location, ModelError
from probmodel.expressions import Expression
from probmodel.model.declarations import Declaration


class _Use(NamedTuple):
    name: str
    line: int


def check_outer_names(model: str, body: Mapping[str, Any], frame: FrameType) -> None:
    """Raise a `ModelError` where a name of the class means something else inside of it.

    A comprehension, a generator and a function do not see the names of the class body around
    them. Where the module has an array of the name of a datum or a parameter, they would take
    that, and the model would not depend on what it declares.

    Parameters
    ----------
    model : the name of the class
    body : the names of the class body
    frame : the frame that runs the class statement
    """
    code = _code_of(str(body.get("__qualname__")), frame)
    if code is None:
        return
    for called, use in _uses(code, body):
        known = body.get(use.name)
        outer = frame.f_locals if use.name in code.co_freevars else frame.f_globals
        if isinstance(known, Expression) and _is_data(outer.get(use.name)):
            title = (
                known.title if isinstance(known, Declaration) else f"the {use.name!r} of {model}"
            )
            raise ModelError(
                f"{use.name!r} in {called or 'a comprehension'} is the {_type(outer[use.name])} "
                f"of that name outside the class, and not {title}: {_advice(called)}",
                location=Location(code.co_filename, use.line),
                name=use.name,
            )


def _code_of(name: str, frame: FrameType) -> CodeType | None:
    """Return the code of the class body that a frame has just run."""
    bodies = [
        constant
        for constant in frame.f_code.co_consts
        if isinstance(constant, CodeType)
        and constant.co_qualname == name
        and constant.co_firstlineno <= frame.f_lineno
    ]
    return max(bodies, key=lambda code: code.co_firstlineno, default=None)


def _uses(body: CodeType, names: Mapping[str, Any]) -> Iterator[tuple[str, _Use]]:
    """Yield what is taken from outside of a class body, and by which function; "" if by none."""
    # From Python 3.12 on comprehensions run in the code of the class body itself, which takes its
    # own names by other instructions.
    yield from (("", use) for use in _taken(body, set(body.co_freevars)))
    for code in _inside(body):
        if not _is_method(code, names.get(code.co_name)):
            yield from ((_called(code), use) for use in _below(code, set(body.co_freevars)))


def _below(code: CodeType, outer: set[str]) -> Iterator[_Use]:
    outer = outer & set(code.co_freevars)
    yield from _taken(code, outer)
    for inner in _inside(code):
        yield from _below(inner, outer)


def _taken(code: CodeType, outer: set[str]) -> Iterator[_Use]:
    line = code.co_firstlineno
    for step in dis.get_instructions(code):
        line = (step.positions and step.positions.lineno) or line
        if step.opname == "LOAD_GLOBAL" or (step.opname == "LOAD_DEREF" and step.argval in outer):
            yield _Use(step.argval, line)


def _inside(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _called(code: CodeType) -> str:
    """Return what a function is called in a sentence; "" if it is a comprehension."""
    if code.co_name == "<lambda>":
        return "the lambda"
    return "" if code.co_name.startswith("<") else f"the function {code.co_name!r}"


def _is_method(code: CodeType, value: Any) -> bool:
    """Whether a function is one of the class, which runs later, and not of the model."""
    first = code.co_varnames[: min(code.co_argcount, 1)]
    wrapped = value is not None and not isinstance(value, (FunctionType, Expression))
    return first in (("self",), ("cls",)) or wrapped


def _is_data(value: Any) -> bool:
    if isinstance(value, Expression) or callable(value):
        return False
    return isinstance(value, (numbers.Number, list, tuple, dict)) or hasattr(value, "__array__")


def _type(value: Any) -> str:
    return {"ndarray": "array", "int": "number", "float": "number"}.get(
        type(value).__name__, type(value).__name__
    )


def _advice(called: str) -> str:
    if called:
        return "a function does not see the names of the class body. Pass it as an argument."
    return (
        "a comprehension does not see the names of the class body. Write whole arrays, or a `for` "
        "statement, which sees them."
    )
