"""Numbers of generated source as arrays without axes.

Of a small array times a number NumPy spends a third on what type the number gives the result. With
an array without axes that question has been answered. The source that people read keeps numbers.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np


def with_named_numbers(source: str, names: dict[str, Any]) -> ast.Module:
    """Return the syntax tree of some source, in which operands of arithmetic are no numbers.

    Parameters
    ----------
    source : Python
    names : what it refers to; each number that is an operand gets a name there
    """
    tree = _Naming(names).visit(ast.parse(source))
    module: ast.Module = ast.fix_missing_locations(tree)
    return module


class _Naming(ast.NodeTransformer):
    """Replaces numbers that are added to, or multiplied with, something else."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names
        self._known: dict[str, str] = {}

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        """Look at both operands."""
        self.generic_visit(node)
        node.left, node.right = self._named(node.left), self._named(node.right)
        return node

    def _named(self, operand: ast.expr) -> ast.expr:
        """Return a name for a number, and anything else as it is."""
        number = operand.operand if isinstance(operand, ast.UnaryOp) else operand
        if not (isinstance(number, ast.Constant) and isinstance(number.value, float)):
            return operand
        text = ast.unparse(operand)
        if text not in self._known:
            self._known[text] = f"c{len(self._known)}"
            self._names[self._known[text]] = np.array(ast.literal_eval(operand))
        return ast.Name(self._known[text], ast.Load())
