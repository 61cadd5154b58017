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
    tree, named = ast.parse(source), _Named()
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            node.left, node.right = named(node.left), named(node.right)
    return compile(tree, title, "exec"), named.numbers


class _Named:
    """Names for the numbers that are added to, or multiplied with, something else."""

    def __init__(self) -> None:
        self.numbers: dict[str, Array] = {}
        self._known: dict[str, str] = {}

    def __call__(self, operand: ast.expr) -> ast.expr:
        """Return a name for a number, and anything else as it is."""
        number = operand.operand if isinstance(operand, ast.UnaryOp) else operand
        if not (isinstance(number, ast.Constant) and isinstance(number.value, float)):
            return operand
        text = ast.unparse(operand)
        if text not in self._known:
            self._known[text] = f"c{len(self._known)}"
            self.numbers[self._known[text]] = np.array(ast.literal_eval(operand))
        return ast.copy_location(ast.Name(self._known[text], ast.Load()), operand)
