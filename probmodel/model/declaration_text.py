"""A model as mathematics: plain text with shapes, and LaTeX."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from probmodel.distributions.base import Distribution
from probmodel.distributions.compound.wrapper import Compound
from probmodel.expressions import Expression
from probmodel.expressions.text import latex_name, to_latex, to_text
from probmodel.model.binding import Binding
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    Potential,
)
from probmodel.model.pseudo_data import takes_pseudo_data

if TYPE_CHECKING:
    from probmodel.model.model import Model

_SECTIONS: list[tuple[str, type[Declaration]]] = [
    ("data", Data),
    ("parameters", Parameter),
    ("observed", Observed),
    ("deterministic", Deterministic),
    ("potential", Potential),
]


def model_text(model: Model) -> str:
    """Return the model as text: a section a kind, a line a declaration, shapes on the right."""
    binding = model._binding
    definitions = type(model)._definitions
    rows: list[tuple[str, str]] = []
    for title, kind in _SECTIONS:
        members = [d for d in binding.declarations.values() if isinstance(d, kind)]
        if title == "observed" and definitions:
            rows.append(("  where", ""))
            for name, expression in definitions.items():
                shape = _shape_text(binding, expression)
                rows.append((f"    {name} = {to_text(expression, definition=True)}", shape))
        if members:
            rows.append((f"  {title}", ""))
            rows += [(f"    {_line(d, binding)}", _shape_text(binding, d)) for d in members]
    width = min(72, max(len(left) for left, _ in rows)) + 2
    lines = [f"{left:<{width - 2}}  {right}".rstrip() for left, right in rows]
    return "\n".join([binding.name, *lines])


def model_html(model: Model) -> str:
    """Return the model as a table of its declarations beside its graph, for notebooks."""
    from probmodel.model.drawing import to_svg

    binding, rows = model._binding, []
    cell = 'style="text-align:left;font-family:monospace;white-space:pre-wrap"'
    sections: dict[str, list[tuple[str, Expression]]] = {
        title: [
            (_line(d, binding), d) for d in binding.declarations.values() if isinstance(d, kind)
        ]
        for title, kind in _SECTIONS
    }
    named = type(model)._definitions.items()
    sections["where"] = [(f"{n} = {to_text(e, definition=True)}", e) for n, e in named]
    for title, lines in sections.items():
        for i, (left, expression) in enumerate(lines):
            texts = (title if i == 0 else "", left, _shape_text(binding, expression))
            cells = "".join(f"<td {cell}>{html.escape(text)}</td>" for text in texts)
            rows.append(f"<tr>{cells}</tr>")
    head = f"<caption><b>{html.escape(binding.name)}</b></caption>"
    return (
        f"<div><table>{head}{''.join(rows)}</table>"
        f"<details open><summary>graph</summary>{to_svg(model)}</details></div>"
    )


def _line(declaration: Declaration, binding: Binding) -> str:
    name = str(declaration.name)
    if declaration.dims:
        name += f"[{', '.join(declaration.dims)}]"
    if isinstance(declaration, Data):
        return name + _bounds_text({"lower": declaration.lower, "upper": declaration.upper})
    if isinstance(declaration, Parameter):
        prior = distribution_text(declaration.prior) if declaration.prior else "Flat()"
        extra = " (noncentered)" if declaration.noncentered else ""
        if declaration.information is not None:
            extra = f" (information={to_text(declaration.information)})"
        elif takes_pseudo_data(declaration, binding.evaluator):
            extra = " (standardised)"
        if declaration.constraint is not None:
            extra += f" ({declaration.constraint.name})"
        return f"{name} ~ {prior}{_bounds_text(declaration.bounds)}{extra}"
    if isinstance(declaration, Observed):
        extra = " (missing imputed)" if declaration.missing else ""
        return f"{name} ~ {distribution_text(declaration.distribution)}{extra}"
    if isinstance(declaration, (Deterministic, Potential)):
        return f"{name} = {to_text(declaration.expression, definition=True)}"
    return name


def distribution_text(distribution: Distribution) -> str:
    """Return a distribution with its arguments, as it is written in a model."""
    return f"{distribution.name}({', '.join(_arguments(distribution, latex=False))})"


def _arguments(distribution: Distribution, latex: bool) -> list[str]:
    """Return the printed arguments; a distribution made of others shows those."""
    if isinstance(distribution, Compound):
        return [_argument(name, value, latex) for name, value in distribution.written()]
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


def _bounds_text(bounds: dict[str, Any]) -> str:
    given = [f"{key}={to_text(value)}" for key, value in bounds.items() if value is not None]
    return f", {', '.join(given)}" if given else ""


def _shape_text(binding: Binding, expression: Expression) -> str:
    if isinstance(expression, Potential):
        return ""
    shape = binding.evaluator.shape(expression)
    return f"({', '.join(map(str, shape))})" if shape else ""


def model_latex(model: Model) -> str:
    """Return the model as a LaTeX display, for notebooks."""
    binding = model._binding
    rows = []
    for declaration in binding.declarations.values():
        name = latex_name(str(declaration.name))
        if isinstance(declaration, Parameter):
            prior = distribution_latex(declaration.prior) if declaration.prior else r"\mathrm{Flat}"
            rows.append(rf"{name} &\sim {prior}")
        elif isinstance(declaration, Observed):
            rows.append(rf"{name} &\sim {distribution_latex(declaration.distribution)}")
        elif isinstance(declaration, (Deterministic, Potential)):
            rows.append(rf"{name} &= {to_latex(declaration.expression, definition=True)}")
    for key, expression in type(model)._definitions.items():
        rows.append(rf"{latex_name(key)} &= {to_latex(expression, definition=True)}")
    body = " \\\\\n".join(rows)
    return f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$"


def distribution_latex(distribution: Distribution) -> str:
    """Return a distribution with its arguments as LaTeX."""
    arguments = ", ".join(_arguments(distribution, latex=True))
    return rf"\operatorname{{{distribution.name}}}\left({arguments}\right)"
