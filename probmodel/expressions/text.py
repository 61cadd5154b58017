"""Expressions as plain text and as LaTeX.

Expressions of more than a hundred parts are shown in outline: operations that are nested deeply,
and the middle of long lists, become ``...``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from probmodel.expressions.closure import Closure
from probmodel.expressions.expression import Apply, Constant, Expression, Symbol

_COMPARISON, _NEGATIVE, _ATOM = 1, 6, 9
_LOGIC = {"logical_or": -1, "logical_and": 0}  # in mathematics comparisons bind tighter
# Operator: (text, LaTeX, precedence). Higher binds tighter; in Python, whose precedences these are,
# `|` and `&` bind tighter than comparisons.
_INFIX: dict[str, tuple[str, str, int]] = {
    "logical_or": ("|", r"\lor", 2),
    "logical_and": ("&", r"\land", 3),
    "less": ("<", "<", _COMPARISON),
    "less_equal": ("<=", r"\le", _COMPARISON),
    "greater": (">", ">", _COMPARISON),
    "greater_equal": (">=", r"\ge", _COMPARISON),
    "equal": ("==", "=", _COMPARISON),
    "not_equal": ("!=", r"\ne", _COMPARISON),
    "add": ("+", "+", 4),
    "subtract": ("-", "-", 4),
    "multiply": ("*", r"\,", 5),
    "divide": ("/", "/", 5),
    "matmul": ("@", r"\,", 5),
    "remainder": ("%", r"\bmod", 5),
    "power": ("**", "^", 7),
}
_MOST, _OUTLINE = 100, 40  # parts of an expression that is shown as it is, and of an outline
_DEEPEST = 50  # operations inside each other
_FIRST, _LAST = 3, 1  # items of a long list that an outline shows
# What prints the expression that another one, printed by itself, is a part of.
_AROUND: ContextVar[_Printer | None] = ContextVar("around", default=None)
_GREEK = {
    "alpha",
    "beta",
    "gamma",
    "delta",
    "epsilon",
    "zeta",
    "eta",
    "theta",
    "iota",
    "kappa",
    "lambda",
    "mu",
    "nu",
    "xi",
    "pi",
    "rho",
    "sigma",
    "tau",
    "upsilon",
    "phi",
    "chi",
    "psi",
    "omega",
    "Gamma",
    "Delta",
    "Theta",
    "Lambda",
    "Xi",
    "Pi",
    "Sigma",
    "Phi",
    "Psi",
    "Omega",
}


def to_text(value: Any, *, definition: bool = False) -> str:
    """Return an expression as the Python that would write it.

    An expression that the model named is shown by its name, unless ``definition`` asks for what
    the name stands for. Long ones are shown in outline.
    """
    return _Printer(_text_name, 0).print(value, definition)


def to_latex(value: Any, *, definition: bool = False) -> str:
    """Return an expression as LaTeX mathematics; ``definition`` as in `to_text`."""
    return _Printer(latex_name, 1).print(value, definition)


def latex_name(name: str) -> str:
    """Return a variable's name as LaTeX: Greek letters by name, ``_`` as a subscript."""
    head, _, tail = name.partition("_")
    shown = rf"\{head}" if head in _GREEK else (head if len(head) == 1 else rf"\mathrm{{{head}}}")
    subscript = tail.replace("_", r"\_")
    return rf"{shown}_{{\mathrm{{{subscript}}}}}" if tail else shown


def _text_name(name: str) -> str:
    return name


class _Printer:
    """Prints with the fewest parentheses; ``language`` 0 is text, 1 is LaTeX."""

    def __init__(self, name: Callable[[str], str], language: int) -> None:
        self.name = name
        self.language = language
        self.levels: int | None = None  # of operations that may be shown yet; None for all
        self.left_out = r"\ldots" if language else "..."

    def print(self, value: Any, definition: bool) -> str:
        """Return the printed form of a whole expression."""
        expand = definition and isinstance(value, Apply)
        around = _AROUND.get()
        self.levels = _levels(value, expand) if around is None else around.levels
        return (self._apply(value) if expand else self.show(value))[0]

    def show(self, value: Any) -> tuple[str, int]:
        """Return the printed form and its precedence."""
        if isinstance(value, Symbol):
            return self.name(value.name or "?"), _ATOM
        if isinstance(value, Constant):
            return self.show(value.value)
        if isinstance(value, Apply):
            return (self.name(value.name), _ATOM) if value.name else self._nested(value)
        return _constant(value)

    def _nested(self, node: Apply) -> tuple[str, int]:
        """Show an operation, unless it is too deep inside others."""
        if self.levels is None:
            return self._apply(node)
        if self.levels <= 0:
            return self.left_out, _ATOM
        self.levels -= 1
        try:
            return self._apply(node)
        finally:
            self.levels += 1

    def _apply(self, node: Apply) -> tuple[str, int]:
        name, args = node.operation.name, node.args
        if name == "pad_axes":
            return self.show(args[0])
        if name in _INFIX and len(args) == 2:
            return self._infix(name, args)
        if name == "negative":
            return "-" + self._inside(args[0], _NEGATIVE), _NEGATIVE
        if name == "getitem":
            return self._getitem(args)
        if name == "transpose" and not node.kwargs:
            base = self._inside(args[0], _ATOM)
            return (base + (r"^\top" if self.language else ".T")), _ATOM
        return self._call(node), _ATOM

    def _infix(self, name: str, args: tuple[Any, ...]) -> tuple[str, int]:
        *symbols, precedence = _INFIX[name]
        symbol = symbols[self.language]
        if self.language:
            precedence = _LOGIC.get(name, precedence)
        if self.language and name == "power":
            base = self._inside(args[0], 8)
            base = rf"\left({base}\right)" if base.startswith(r"\frac") else base
            return f"{base}^{{{self.show(args[1])[0]}}}", precedence
        if self.language and name == "divide":
            return rf"\frac{{{self.show(args[0])[0]}}}{{{self.show(args[1])[0]}}}", _ATOM
        comparison = precedence == _COMPARISON  # which Python would chain: a < b < c
        left = self._inside(args[0], precedence + (comparison or name == "power"))
        right = self._inside(args[1], precedence + (name != "power"))
        return f"{left} {symbol} {right}", precedence

    def _getitem(self, args: tuple[Any, ...]) -> tuple[str, int]:
        index = args[1] if isinstance(args[1], tuple) else (args[1],)
        shown = ", ".join(self._index(i) for i in index)
        base = self._inside(args[0], _ATOM)
        return (rf"{base}_{{[{shown}]}}" if self.language else f"{base}[{shown}]"), _ATOM

    def _index(self, index: Any) -> str:
        if isinstance(index, slice):
            parts = ["" if p is None else self.show(p)[0] for p in (index.start, index.stop)]
            return ":".join(parts) + ("" if index.step is None else f":{self.show(index.step)[0]}")
        return (
            r"\ldots"
            if index is Ellipsis and self.language
            else ("..." if index is Ellipsis else self._argument(index))
        )

    def _call(self, node: Apply) -> str:
        name = node.operation.name
        closures = [v for v in node.kwargs.values() if isinstance(v, Closure)]
        if closures:
            parts = [*(self.name(c.name) for c in closures), self._argument(node.args[0]), "..."]
            return self._called(name, parts)
        if name == "call":
            function = node.kwargs["function"]
            name = function.__name__
            if hasattr(function, "shown"):  # a method of a distribution, which shows its arguments
                with self._around():
                    values = map(self._argument, node.args[: function.values])
                    parts = [function.shown(bool(self.language)), *values]
                return self._called(name, parts)
        parts = [self._argument(arg) for arg in node.args]
        if node.operation.name != "call":
            options = node.operation.options
            with self._around():  # symbols and arrays are told apart by how they look
                given = [(k, v) for k, v in node.kwargs.items() if repr(v) != repr(options.get(k))]
                parts += [f"{k}={_option(v)}" for k, v in given]
        return self._called(name, parts)

    @contextmanager
    def _around(self) -> Iterator[None]:
        """Let what is printed meanwhile be a part of this expression."""
        before = _AROUND.set(self)
        try:
            yield
        finally:
            _AROUND.reset(before)

    def _called(self, name: str, parts: list[str]) -> str:
        if not self.language:
            return f"{name}({', '.join(parts)})"
        if name == "sqrt":
            return rf"\sqrt{{{parts[0]}}}"
        shown = (
            rf"\{name}"
            if name in {"exp", "log", "sin", "cos", "tan", "max", "min"}
            else (r"\operatorname{" + name.replace("_", r"\_") + "}")
        )
        return rf"{shown}\left({', '.join(parts)}\right)"

    def _argument(self, arg: Any) -> str:
        if isinstance(arg, (list, tuple)):
            if self.levels is None or len(arg) <= _FIRST + _LAST + 1:
                shown = [self._argument(a) for a in arg]
            else:
                first, last = ([self._argument(a) for a in part] for part in _ends(arg))
                shown = [*first, self.left_out, *last]
            return "[" + ", ".join(shown) + "]"
        return self.show(arg)[0]

    def _inside(self, value: Any, at_least: int) -> str:
        text, precedence = self.show(value)
        if precedence >= at_least:
            return text
        return rf"\left({text}\right)" if self.language else f"({text})"


def _ends(items: Any) -> tuple[Any, Any]:
    """Return the first and the last items of a long list."""
    return items[:_FIRST], items[-_LAST:]


def _levels(value: Any, expand: bool) -> int | None:
    """Return how many levels of operations are shown: None if all are.

    An outline has as many levels as have no more than forty parts together, one at least.
    """
    if _count(value, expand, False, _DEEPEST, _MOST)[1]:
        return None
    return max(1, _count(value, expand, True, _DEEPEST, _OUTLINE)[0] - int(expand))


def _count(value: Any, expand: bool, outline: bool, deepest: int, most: int) -> tuple[int, bool]:
    """Return how many levels of an expression have few parts, and whether these are all."""
    level, total = [value], 1
    for depth in range(deepest + 1):
        below: list[Any] = []
        for node in level:
            if isinstance(node, Apply) and (node.name is None or (expand and node is value)):
                below += _parts(node, outline)
            if total + len(below) > most:
                return depth, False
        if not below:
            return depth, True
        level, total = below, total + len(below)
    return deepest, False


def _parts(node: Apply, outline: bool) -> Iterator[Any]:
    """Yield what is shown inside an operation."""
    for arg in (*node.args, *node.kwargs.values()):
        if outline and isinstance(arg, (list, tuple)) and len(arg) > _FIRST + _LAST + 1:
            arg = [item for end in _ends(arg) for item in end]
        yield from arg if isinstance(arg, (list, tuple)) else (arg,)


def _option(value: Any) -> str:
    """Return an option of an operation as text."""
    if isinstance(value, str):
        return f'"{value}"'
    long = isinstance(value, np.ndarray) and value.size > 4
    return _constant(value)[0] if long else str(value)


def _constant(value: Any) -> tuple[str, int]:
    if value is None or isinstance(value, (str, bool, complex)):
        return str(value), _ATOM
    if np.ndim(value) == 0:
        number = float(value)
        return f"{number:g}", _ATOM if number >= 0 else _NEGATIVE
    array = np.asarray(value)
    if array.size <= 4 and array.ndim == 1:
        return "[" + ", ".join(f"{v:g}" for v in array) + "]", _ATOM
    return f"<{'x'.join(map(str, array.shape))} array>", _ATOM


Expression.__repr__ = to_text  # type: ignore[method-assign]
