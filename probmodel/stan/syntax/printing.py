"""Trees of types and expressions turned back into Stan text, in the syntax of today's Stan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from probmodel.stan.syntax import nodes as n
from probmodel.stan.syntax.keywords import INFIX, POWERS, SUM

# How tightly what an expression is made of holds together, above the levels of infix operators.
_CONDITION, _PREFIX, _POWER, _POSTFIX, _WHOLE = 0, 8, 9, 10, 11


def text_of(node: n.Expression | n.Slice | n.Type) -> str:
    """Return the Stan text of an expression, an index or a type.

    Read again, it gives the same tree.
    """
    match node:
        case n.Type():
            return _type(node)
        case n.Slice():
            return f"{_part(node.lower)}:{_part(node.upper)}"
    return _expression(node)[0]


def _part(node: n.Expression | None) -> str:
    return "" if node is None else text_of(node)


def _tuple(nodes: Sequence[n.Expression | n.Type]) -> str:
    """Return the elements of a tuple in parentheses; a comma is behind one alone."""
    return f"({_list(nodes)}{',' * (len(nodes) == 1)})"


def _list(nodes: Iterable[n.Expression | n.Slice | n.Type]) -> str:
    return ", ".join(map(text_of, nodes))


# -- expressions -----------------------------------------------------------------------------------


def _held(node: n.Expression, level: int) -> str:
    """Return the text of a part that must hold together this tightly, in parentheses if need be."""
    text, own = _expression(node)
    return text if own >= level else f"({text})"


def _expression(node: n.Expression) -> tuple[str, int]:
    """Return the text of an expression, and how tightly it holds together."""
    match node:
        case n.Binary():
            return _binary(node)
        case n.Unary(operator="'"):
            return f"{_held(node.operand, _POSTFIX)}'", _POSTFIX
        case n.Unary():
            return f"{node.operator}{_held(node.operand, _PREFIX)}", _PREFIX
        case n.Ternary():
            condition, otherwise = _held(node.condition, 1), text_of(node.otherwise)
            return f"{condition} ? {text_of(node.then)} : {otherwise}", _CONDITION
        case n.Index():
            return f"{_held(node.base, _POSTFIX)}[{_list(node.indices)}]", _POSTFIX
        case n.Field():
            base = _held(node.base, _WHOLE + 1 if isinstance(node.base, n.Number) else _POSTFIX)
            return f"{base}.{node.position}", _POSTFIX
    return _whole(node), _WHOLE


def _whole(node: n.Expression) -> str:
    """Return the text of an expression that never needs parentheses."""
    match node:
        case n.Number(value=complex()):
            return f"{node.value.imag!r}i"
        case n.Number():
            return repr(node.value)
        case n.Text():
            return f'"{node.value}"'
        case n.Name():
            return node.name
        case n.Call(bar=True):
            return f"{node.name}({text_of(node.args[0])} | {_list(node.args[1:])})"
        case n.Call():
            return f"{node.name}({_list(node.args)})"
        case n.ArrayOf():
            return f"{{{_list(node.items)}}}"
        case n.RowOf():
            return f"[{_list(node.items)}]"
        case n.TupleOf():
            return _tuple(node.items)
    raise TypeError(f"expected an expression, got {type(node).__name__}")


def _binary(node: n.Binary) -> tuple[str, int]:
    """Return the text of an infix operation; operations to the left, which may be many, in turn."""
    if node.operator in POWERS:
        left, right = _held(node.left, _POSTFIX), _held(node.right, _PREFIX)
        return f"{left} {node.operator} {right}", _POWER
    level = INFIX[node.operator]
    parts = [f" {node.operator} {_held(node.right, level + 1)}"]
    left_most, own = node.left, level
    while isinstance(left_most, n.Binary) and INFIX.get(left_most.operator, _POWER) == own:
        parts.append(f" {left_most.operator} {_held(left_most.right, own + 1)}")
        left_most = left_most.left
    return "".join([_held(left_most, own), *reversed(parts)]), level


# -- types -----------------------------------------------------------------------------------------


def _type(node: n.Type) -> str:
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
