"""Trees of programs turned back into Stan text, in the syntax of today's Stan."""

from __future__ import annotations

from collections.abc import Iterable

from probmodel.stan.syntax.keywords import INFIX, POWERS, SUM
from probmodel.stan.syntax.nodes import (
    Argument,
    ArrayOf,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Continue,
    Declare,
    Do,
    Expression,
    Field,
    For,
    ForEach,
    Function,
    If,
    Index,
    Name,
    Node,
    Number,
    Program,
    Return,
    RowOf,
    Say,
    Slice,
    Statement,
    Target,
    Ternary,
    Text,
    Tilde,
    TupleOf,
    Type,
    Unary,
    While,
)

# How tightly what an expression is made of holds together, above the levels of infix operators.
_CONDITION, _PREFIX, _POWER, _POSTFIX, _WHOLE = 0, 8, 9, 10, 11


def text_of(node: Node) -> str:
    """Return the Stan text of an expression, a type, a statement, a function or a program.

    Read again, it gives the same tree.
    """
    match node:
        case Program():
            return "\n".join(_program(node)) + "\n"
        case Function():
            return "\n".join(_function(node))
        case Argument():
            return f"{'data ' * node.data}{text_of(node.type)} {node.name}"
        case Type():
            return _type(node)
        case Slice():
            return f"{_part(node.lower)}:{_part(node.upper)}"
        case (
            Number() | Text() | Name() | Call() | Index() | Field() | Unary() | Binary()
            | Ternary() | ArrayOf() | RowOf() | TupleOf()
        ):  # fmt: skip
            return _expression(node)[0]
    return "\n".join(_statement(node))  # type: ignore[arg-type]


def _part(node: Node | None) -> str:
    return "" if node is None else text_of(node)


def _list(nodes: Iterable[Node]) -> str:
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
            return f"({_list(node.items)})"
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
        return f"{array}tuple({_list(node.items)})"
    bounds = ", ".join(f"{name}={_held(value, SUM)}" for name, value in node.bounds.items())
    own = f"[{_list(node.sizes)}]" if node.sizes else ""
    return f"{array}{node.kind}{f'<{bounds}>' if bounds else ''}{own}"


# -- statements ------------------------------------------------------------------------------------


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _braced(head: str, body: Iterable[Statement]) -> list[str]:
    """Return the lines of statements in braces."""
    return [f"{head}{{", *_indented(line for part in body for line in _statement(part)), "}"]


def _headed(head: str, body: Statement) -> list[str]:
    """Return the lines of a statement that has another for its body."""
    if isinstance(body, Block):
        return _braced(f"{head} ", body.body)
    return [head, *_indented(_statement(body))]


def _statement(node: Statement) -> list[str]:
    match node:
        case Block():
            return _braced("", node.body)
        case If():
            return _if(node)
        case For():
            range_ = f"{text_of(node.lower)}:{text_of(node.upper)}"
            return _headed(f"for ({node.name} in {range_})", node.body)
        case ForEach():
            return _headed(f"for ({node.name} in {text_of(node.container)})", node.body)
        case While():
            return _headed(f"while ({text_of(node.condition)})", node.body)
    return [f"{_simple(node)};"]


def _simple(node: Statement) -> str:
    """Return the text of a statement without statements in it, and without its semicolon."""
    match node:
        case Declare():
            value = "" if node.value is None else f" = {text_of(node.value)}"
            return f"{text_of(node.type)} {node.name}{value}"
        case Assign():
            return f"{text_of(node.target)} {node.operator}= {text_of(node.value)}"
        case Tilde():
            return _tilde(node)
        case Target():
            return f"{'jacobian' if node.jacobian else 'target'} += {text_of(node.value)}"
        case Break():
            return "break"
        case Continue():
            return "continue"
        case Return():
            return "return" if node.value is None else f"return {text_of(node.value)}"
        case Say():
            return f"{node.what}({_list(node.args)})"
        case Do():
            return text_of(node.call)
    raise TypeError(f"expected a part of a program, got {type(node).__name__}")


def _tilde(node: Tilde) -> str:
    value = text_of(node.value)
    if value.startswith("{") and not isinstance(node.value, ArrayOf):
        value = f"({value})"  # a brace that begins a statement begins a block
    bounds = f" T[{_part(node.lower)}, {_part(node.upper)}]" if node.truncated else ""
    return f"{value} ~ {node.distribution}({_list(node.args)}){bounds}"


def _if(node: If) -> list[str]:
    """Return the lines of a condition; its further conditions, which may be many, in turn."""
    lines = _headed(f"if ({text_of(node.condition)})", node.then)
    rest = node.otherwise
    while rest is not None:
        lead = "} else" if lines[-1] == "}" else "else"
        if lines[-1] == "}":
            lines.pop()
        if not isinstance(rest, If):
            return lines + _headed(lead, rest)
        lines += _headed(f"{lead} if ({text_of(rest.condition)})", rest.then)
        rest = rest.otherwise
    return lines


# -- programs --------------------------------------------------------------------------------------


def _function(node: Function) -> list[str]:
    head = f"{text_of(node.returns)} {node.name}({_list(node.arguments)})"
    return [f"{head};"] if node.body is None else _braced(f"{head} ", node.body.body)


def _program(node: Program) -> list[str]:
    lines: list[str] = []
    if node.functions:
        bodies = [line for function in node.functions for line in _function(function)]
        lines += ["functions {", *_indented(bodies), "}"]
    for name, body in node.blocks.items():
        lines += _braced(f"{name} ", body)
    return lines
