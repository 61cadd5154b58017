"""Numbers of generated source as arrays without axes.

Of a small array times a number NumPy spends a third on what type the number gives the result. With
an array without axes that question has been answered. The source that people read keeps numbers.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from types import CodeType

import numpy as np

from probmodel.types import Array


@lru_cache(maxsize=256)
def compiled(source: str, title: str) -> tuple[CodeType, dict[str, Array]]:
    """Compile some source, in which no operand of arithmetic is a number; kept for the next time.

    A model has the same source whatever its data are, as long as their shapes are.

    Parameters
    ----------
    source : Python
    title : stands for the file in tracebacks

    Returns
    -------
    code : refers to whatever the source does, and to the numbers
    numbers : the numbers that were operands, by the names that they got
    """
    numbers: dict[str, Array] = {}
    tree: ast.Module = _Naming(numbers).visit(ast.parse(source))
    return compile(tree, title, "exec"), numbers


class _Naming(ast.NodeTransformer):
    """Replaces numbers that are added to, or multiplied with, something else."""

    def __init__(self, names: dict[str, Array]) -> None:
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
        return ast.copy_location(ast.Name(self._known[text], ast.Load()), operand)
