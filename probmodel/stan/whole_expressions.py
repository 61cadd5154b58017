"""Integer expressions: which these are is seen from the program alone, without values.

A choice is real if one of its cases is, also where the other is taken: ``(a ? 1 : 0.5) / 2``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from probmodel.stan.library.table_names import returns_whole
from probmodel.stan.operators import COMPARISONS, Frame
from probmodel.stan.stan_values import Tuple, Value
from probmodel.stan.syntax import nodes as n
from probmodel.stan.syntax.keywords import POWERS

_TRUTHS = {*COMPARISONS, "&&", "||"}


def is_whole(
    node: n.Expression, frame: Frame, functions: Mapping[str, Sequence[n.Function]]
) -> bool:
    """Whether an expression is a whole number, or an array of them.

    The variables of the frame, and the functions of the program, are by name.
    """

    def inside(part: n.Expression) -> bool:
        return is_whole(part, frame, functions)

    match node:
        case n.Number():
            return isinstance(node.value, int)
        case n.Unary():
            return node.operator == "!" or inside(node.operand)
        case n.Binary():
            both = inside(node.left) and inside(node.right)
            return node.operator in _TRUTHS or (both and node.operator not in POWERS)
        case n.Ternary():
            return inside(node.then) and inside(node.otherwise)
        case n.ArrayOf():
            return all(map(inside, node.items))
        case n.Call():
            own = functions.get(node.name)
            if own is not None:
                return all(function.returns.kind == "int" for function in own)
            return returns_whole(node.name, [inside(a) for a in node.args])
    value = _variable(node, frame)
    return isinstance(value, Value) and value.kind == "int"


def _variable(node: n.Expression, frame: Frame) -> Any:
    """Return a variable, or one that has elements of the same type."""
    if isinstance(node, n.Name):
        return frame.get(node.name)
    if not isinstance(node, n.Field | n.Index):
        return None
    base = _variable(node.base, frame)
    if isinstance(node, n.Index):
        return base[0] if isinstance(base, list) and base else base
    fits = isinstance(base, Tuple) and 1 <= node.position <= len(base.items)
    return base.items[node.position - 1] if fits else None
