"""What the user's line does with a symbol when NumPy asks for its values, and what to write."""

from __future__ import annotations

import ast
import linecache
from dis import opname
from itertools import islice

import numpy as np

from probmodel.expressions.location import caller_frame

_ARRAYS = (
    "join symbols with np.stack([a, b]) or np.concatenate, and use NumPy's functions; of "
    "probmodel.functions, arange and full take sizes and values that are symbols, and "
    "take(table, index) looks up numbers in an array"
)


def array_refusal() -> tuple[str, str]:
    """Say what needs the values of a symbol, and what to write in its place."""
    code, stored = _running()
    if isinstance(code, ast.Call) and _draws(code.func):
        return f"{ast.unparse(code.func)} of a symbol, which draws numbers once,", (
            "declare what is random with its distribution, as in x = param(Normal(a, 1)) or "
            "y = observed(Poisson(a)); prior_predictive and predict draw what is declared"
        )
    if isinstance(code, ast.Subscript) and not stored:
        array, index = ast.unparse(code.value), ast.unparse(code.slice)
        instead = f"take({array}, {index}) of probmodel.functions looks up numbers in an array"
        if isinstance(code.value, ast.Name):
            instead += _changing(array, index)
        return f"{array}[{index}], an element of an array at a symbol,", instead
    instead = _ARRAYS
    if isinstance(code, ast.Subscript) and isinstance(code.slice, ast.Name | ast.Subscript):
        instead += _changing(ast.unparse(code.value), ast.unparse(code.slice))
    return "turning a symbol into an array", instead


def _draws(function: ast.expr) -> bool:
    """Whether a function is one of NumPy's that draw random numbers, as far as its name tells."""
    name = getattr(function, "attr", getattr(function, "id", ""))
    return hasattr(np.random.Generator, name) or hasattr(np.random, name)


def _changing(array: str, index: str) -> str:
    """Say how an array is written of which one element changes."""
    return (
        f". One that changes, as by {array}[{index}] = new, is a whole array at each step: "
        f"{array} = np.where(arange(n) == {index}, new, {array}), with arange of "
        "probmodel.functions for n elements; scan repeats such a step"
    )


def _running() -> tuple[ast.expr | None, bool]:
    """Return the expression that the user's line evaluates now, and whether it assigns to it.

    The expression is None where that is not known.
    """
    frame = caller_frame()
    if frame is None:
        return None, False
    code = frame.f_code
    positions = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    first, last, start, end = positions
    if first is None or last is None or start is None or end is None:
        return None, False
    stored = opname[code.co_code[frame.f_lasti]].startswith("STORE_")
    lines = [linecache.getline(code.co_filename, n).encode() for n in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    try:
        return ast.parse(b"(" + b"".join(lines) + b")", mode="eval").body, stored
    except SyntaxError:
        return None, False
