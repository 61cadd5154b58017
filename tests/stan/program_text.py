"""Trees of programs turned back into Stan text, in the syntax of today's Stan."""

from __future__ import annotations

from collections.abc import Iterable

from probmodel.stan.syntax import printing
from probmodel.stan.syntax.nodes import (
    Argument,
    ArrayOf,
    Assign,
    Block,
    Break,
    Continue,
    Declare,
    For,
    ForEach,
    Function,
    If,
    Node,
    Program,
    Return,
    Say,
    Statement,
    Target,
    Tilde,
    While,
)


def text_of(node: Node) -> str:
    """Return the Stan text of a program or of a part of one.

    Read again, it gives the same tree.
    """
    match node:
        case Program():
            return "\n".join(_program(node)) + "\n"
        case Function():
            return "\n".join(_function(node))
        case Argument():
            return f"{'data ' * node.data}{text_of(node.type)} {node.name}"
    return "\n".join(_statement(node)) if isinstance(node, Statement) else printing.text_of(node)


def _part(node: Node | None) -> str:
    return "" if node is None else text_of(node)


def _list(nodes: Iterable[Node]) -> str:
    return ", ".join(map(text_of, nodes))


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
    return text_of(node.call)


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
