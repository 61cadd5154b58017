"""A model as mathematics: plain text with shapes, and LaTeX."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from probmodel.distributions.base import Distribution
from probmodel.expressions import Expression
from probmodel.expressions.printing import latex_name, to_latex, to_text
from probmodel.model.binding import Binding
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    Potential,
)

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
            rows += [(f"    {_line(d)}", _shape_text(binding, d)) for d in members]
    width = min(72, max(len(left) for left, _ in rows)) + 2
    lines = [f"{left:<{width - 2}}  {right}".rstrip() for left, right in rows]
    return "\n".join([binding.name, *lines])


def _line(declaration: Declaration) -> str:
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
    parts = _arguments(distribution, distribution_text, to_text)
    return f"{distribution.name}({', '.join(parts)})"


def _arguments(
    distribution: Distribution,
    show_distribution: Callable[[Distribution], str],
    show: Callable[[Any], str],
) -> list[str]:
    """Return the printed arguments; a wrapper shows the distribution inside, and names its own."""
    inside = getattr(distribution, "dist", None)
    if isinstance(inside, Distribution):
        own = {k: v for k, v in distribution.args.items() if not k.startswith("dist.")}
        return [show_distribution(inside), *_named(own, show)]
    kernel = getattr(distribution, "kernel", None)
    if kernel is not None:
        return [type(kernel).__name__, *_named(distribution.args, show)]
    return [show(argument) for argument in distribution.args.values()]


def _named(arguments: dict[str, Any], show: Callable[[Any], str]) -> list[str]:
    escaped = {k: k.replace("_", r"\_") if show is to_latex else k for k in arguments}
    return [f"{escaped[k]}={show(v)}" for k, v in arguments.items()]


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
    arguments = ", ".join(_arguments(distribution, distribution_latex, to_latex))
    return rf"\operatorname{{{distribution.name}}}\left({arguments}\right)"
