"""A model as mathematics: plain text with shapes, and LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from probmodel.distributions.printed import distribution_latex, distribution_text
from probmodel.expressions import Expression
from probmodel.expressions.text import latex_name, to_latex, to_text
from probmodel.html_tables import table
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
            rows.append((title if i == 0 else "", left, _shape_text(binding, expression)))
    graph = f"<details open><summary>graph</summary>{to_svg(model)}</details>"
    return f"<div>{table(binding.name, rows)}{graph}</div>"


def _line(declaration: Declaration, binding: Binding) -> str:
    name = str(declaration.name)
    dims = declaration.dims or declaration.axes or ()
    if dims and (declaration.dims or not dims[0].startswith(f"{name}_dim_")):
        name += f"[{', '.join(dims)}]"
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
