"""A distribution as text, as LaTeX, and as a table for notebooks."""

from __future__ import annotations

import inspect
import re
from typing import Any

from probmodel.distributions.base import Distribution
from probmodel.expressions.text import to_latex, to_text
from probmodel.html_tables import table


def distribution_text(distribution: Distribution) -> str:
    """Return a distribution with its arguments, as it is written in a model."""
    return f"{distribution.name}({', '.join(_arguments(distribution, latex=False))})"


def distribution_latex(distribution: Distribution) -> str:
    """Return a distribution with its arguments as LaTeX."""
    arguments = ", ".join(_arguments(distribution, latex=True))
    return rf"\operatorname{{{distribution.name}}}\left({arguments}\right)"


def distribution_html(distribution: Distribution) -> str:
    """Return a table of what a distribution was given, its support and its density."""
    positions = iter(inspect.signature(type(distribution)).parameters)
    rows = [
        (name or next(positions), _argument(None, value, latex=False), *_may_be(distribution, name))
        for name, value in _written(distribution)
    ]
    rows.append(("support", distribution.support().name))
    documented = type(distribution).__doc__ or ""  # which python -OO takes away
    formula = re.search(r"\.\. math:: (.*?)(\n\s*\n|\Z)", documented, re.DOTALL)
    if formula:
        rows.append(("density", f"${' '.join(formula.group(1).split())}$"))
    summary = documented.strip().partition("\n")[0]
    return table(distribution_text(distribution), rows, about=summary)


def _may_be(distribution: Distribution, name: str | None) -> tuple[str, ...]:
    """Say which values a parameter may take."""
    spec = distribution.parameters.get(name or "")
    return () if spec is None else (spec.constraint.name,)


def _written(distribution: Distribution) -> list[tuple[str | None, Any]]:
    """Return the arguments by name; of a distribution made of others, as it was written."""
    written = getattr(distribution, "written", None)
    return list(distribution.args.items()) if written is None else list(written())


def _arguments(distribution: Distribution, latex: bool) -> list[str]:
    """Return the printed arguments; a distribution made of others shows those."""
    if hasattr(distribution, "written"):
        return [_argument(name, value, latex) for name, value in _written(distribution)]
    kernel = getattr(distribution, "kernel", None)
    if kernel is not None:
        named = [_argument(name, value, latex) for name, value in distribution.args.items()]
        return [str(kernel), *named]
    return [_argument(None, value, latex) for value in distribution.args.values()]


def _argument(name: str | None, value: Any, latex: bool) -> str:
    """Return ``name=value``, or a value: an expression, a distribution or a list of those."""
    if name is not None:
        shown = name.replace("_", r"\_") if latex else name
        return f"{shown}={_argument(None, value, latex)}"
    if isinstance(value, Distribution):
        return distribution_latex(value) if latex else distribution_text(value)
    if isinstance(value, list | tuple) and any(isinstance(v, Distribution) for v in value):
        inside = ", ".join(_argument(None, v, latex) for v in value)
        return rf"\left[{inside}\right]" if latex else f"[{inside}]"
    return to_latex(value) if latex else to_text(value)
