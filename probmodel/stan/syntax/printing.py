"""Trees of types and expressions turned back into Stan text, in the syntax of today's Stan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from probmodel.stan.syntax.keywords import INFIX, POWERS, SUM
from probmodel.stan.syntax.nodes import (
    ArrayOf,
    Binary,
    Call,
    Expression,
    Field,
    Index,
    Name,
    Number,
    RowOf,
    Slice,
    Ternary,
    Text,
    TupleOf,
    Type,
    Unary,
)

# How tightly what an expression is made of holds together, above the levels of infix operators.
_CONDITION, _PREFIX, _POWER, _POSTFIX, _WHOLE = 0, 8, 9, 10, 11


def text_of(node: Expression | Slice | Type) -> str:
    """Return the Stan text of an expression, an index or a type.

    Read again, it gives the same tree.
    """
    match node:
        case Type():
            return _type(node)
        case Slice():
            return f"{_part(node.lower)}:{_part(node.upper)}"
    return _expression(node)[0]


def _part(node: Expression | None) -> str:
    return "" if node is None else text_of(node)


def _tuple(nodes: Sequence[Expression | Type]) -> str:
    """Return the elements of a tuple in parentheses; a comma is behind one alone."""
    return f"({_list(nodes)}{',' * (len(nodes) == 1)})"


def _list(nodes: Iterable[Expression | Slice | Type]) -> str:
    return ", ".join(map(text_of, nodes))


# -- expressions -----------------------------------------------------------------------------------


def _held(node: Expression, level: int) -> str:
    """Return the text of a part that must hold together this tightly, in parentheses if need be."""
    text, own = _expression(node)
    return text if own >= level else f"({text})"


def _expression(node: Expression) -> tuple[str, int]:
    """Return the text of an expression, and how tightly it holds together."""
    match node:
        case Binary():
            return _binary(node)
        case Unary(operator="'"):
            return f"{_held(node.operand, _POSTFIX)}'", _POSTFIX
        case Unary():
            return f"{node.operator}{_held(node.operand, _PREFIX)}", _PREFIX
        case Ternary():
            condition, otherwise = _held(node.condition, 1), text_of(node.otherwise)
            return f"{condition} ? {text_of(node.then)} : {otherwise}", _CONDITION
        case Index():
            return f"{_held(node.base, _POSTFIX)}[{_list(node.indices)}]", _POSTFIX
        case Field():
            base = _held(node.base, _WHOLE + 1 if isinstance(node.base, Number) else _POSTFIX)
            return f"{base}.{node.position}", _POSTFIX
    return _whole(node), _WHOLE


def _whole(node: Expression) -> str:
    """Return the text of an expression that never needs parentheses."""
    match node:
        case Number(value=complex()):
            return f"{node.value.imag!r}i"
        case Number():
            return repr(node.value)
        case Text():
            return f'"{node.value}"'
        case Name():
            return node.name
        case Call(bar=True):
            return f"{node.name}({text_of(node.args[0])} | {_list(node.args[1:])})"
        case Call():
            return f"{node.name}({_list(node.args)})"
        case ArrayOf():
            return f"{{{_list(node.items)}}}"
        case RowOf():
            return f"[{_list(node.items)}]"
        case TupleOf():
            return _tuple(node.items)
    raise TypeError(f"expected an expression, got {type(node).__name__}")


def _binary(node: Binary) -> tuple[str, int]:
    """Return the text of an infix operation; operations to the left, which may be many, in turn."""
    if node.operator in POWERS:
        left, right = _held(node.left, _POSTFIX), _held(node.right, _PREFIX)
        return f"{left} {node.operator} {right}", _POWER
    level = INFIX[node.operator]
    parts = [f" {node.operator} {_held(node.right, level + 1)}"]
    left_most, own = node.left, level
    while isinstance(left_most, Binary) and INFIX.get(left_most.operator, _POWER) == own:
        parts.append(f" {left_most.operator} {_held(left_most.right, own + 1)}")
        left_most = left_most.left
    return "".join([_held(left_most, own), *reversed(parts)]), level


# -- types -----------------------------------------------------------------------------------------


def _type(node: Type) -> str:
    array = ""
    if node.array:
        known = [size for size in node.array if size is not None]
        sizes = _list(known) if known else "," * (len(node.array) - 1)
        array = f"array[{sizes}] "
    if node.kind == "tuple":
        return f"{array}tuple{_tuple(node.items)}"
    bounds = ", ".join(f"{name}={_held(value, SUM)}" for name, value in node.bounds.items())
    own = f"[{_list(node.sizes)}]" if node.sizes else ""
    return f"{array}{node.kind}{f'<{bounds}>' if bounds else ''}{own}"
