"""The declarations of a model as a graph: who depends on whom, and the text that draws it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from probmodel.distributions.base import Distribution
from probmodel.errors import ModelError
from probmodel.expressions import Apply
from probmodel.expressions.graph import children, each_once
from probmodel.model.binding import Binding
from probmodel.model.declarations import (
    Data,
    Declaration,
    Deterministic,
    Observed,
    Parameter,
    Potential,
    expressions_of,
)

_STYLES: dict[type[Declaration], str] = {
    Data: 'shape=box, style=filled, fillcolor="lightgrey"',
    Parameter: "shape=ellipse",
    Observed: 'shape=ellipse, style=filled, fillcolor="lightgrey"',
    Deterministic: "shape=box, style=rounded",
    Potential: "shape=octagon",
}


def dependencies(declarations: Mapping[str, Declaration]) -> dict[str, list[str]]:
    """Return the declarations that each one uses itself, in declared order."""
    order = {name: i for i, name in enumerate(declarations)}
    return {
        name: sorted(_used_by(declaration, declarations), key=order.__getitem__)
        for name, declaration in declarations.items()
    }


def _used_by(user: Declaration, declarations: Mapping[str, Declaration]) -> set[str]:
    """Return the declarations that one uses, and deterministic ones whose expressions it has."""
    found: set[str] = set()
    pending = expressions_of(user)
    for node in each_once(pending):
        named = declarations.get(node.name) if isinstance(node, Apply) and node.name else None
        if isinstance(node, Declaration):
            found.add(str(node.name))
        elif isinstance(named, Deterministic) and named.expression is node and named is not user:
            found.add(str(named.name))
        else:
            pending += children(node)
    return found


def reachable(roots: Iterable[str], edges: Mapping[str, Iterable[str]]) -> set[str]:
    """Return what can be reached from some names along the edges, themselves included."""
    seen: set[str] = set()
    pending = list(roots)
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += edges[name]
    return seen


def to_dot(model: Any) -> str:
    """Return a model's graph in Graphviz's DOT language.

    Data are shaded boxes, parameters ellipses, observed quantities shaded ellipses, deterministic
    ones boxes with round corners and potentials octagons. Declarations with the same dims stand on
    one plate. Expressions that the class body names are part of what uses them.

    Parameters
    ----------
    model : Model or subclass of Model
        A bound model shows sizes too.

    Raises
    ------
    ModelError
        If it is neither, or the class of a Stan program, which declares nothing without data.

    Examples
    --------
    ``dot -Tsvg model.dot > model.svg`` draws what ``print(to_dot(model))`` wrote to ``model.dot``.
    """
    name, declarations, binding = declared_in("to_dot", model)
    lines = [f"digraph {_quoted(name)} {{", "  rankdir=TB;"]
    plates: dict[tuple[str, ...], list[str]] = {}
    for name, declaration in declarations.items():
        label = _quoted("\n".join(label_lines(declaration, binding)))
        node = f"{_quoted(name)} [label={label}, {_STYLES[type(declaration)]}];"
        plates.setdefault(declaration.dims or (), []).append(node)
    lines += [f"  {node}" for node in plates.pop((), [])]
    for i, (dims, nodes) in enumerate(plates.items()):
        label = _quoted(plate_text(dims, binding))
        lines += [f"  subgraph cluster_{i} {{", f"    label={label};"]
        lines += [f"    {node}" for node in nodes]
        lines.append("  }")
    for name, parents in dependencies(declarations).items():
        lines += [f"  {_quoted(parent)} -> {_quoted(name)};" for parent in parents]
    return "\n".join([*lines, "}"])


def declared_in(function: str, model: Any) -> tuple[str, Mapping[str, Declaration], Binding | None]:
    """Return the name of a model class, or of a bound model, its declarations and its binding.

    Raises a `ModelError` if it is neither; ``function`` says who asked.
    """
    kind: Any = model if isinstance(model, type) else type(model)
    declarations = getattr(kind, "_declarations", None)
    if declarations is None:
        raise ModelError(
            f"{function} takes a model class or a bound model; got {type(model).__name__}.",
            given=model,
        )
    if kind is not model:
        bound = model._binding.declarations
        if kind._needs_data:  # its data are numbers in expressions, which no edge leads to
            bound = {name: d for name, d in bound.items() if not isinstance(d, Data)}
        return kind.__name__, bound, model._binding
    if kind._needs_data:
        raise ModelError(
            f"{function} needs a bound model here: what {kind.__name__} declares depends on its "
            f"data. Write {function}({kind.__name__}({_arguments(kind)})).",
            model=kind.__name__,
        )
    return kind.__name__, declarations, None


def _arguments(kind: Any) -> str:
    return ", ".join(f"{name}=..." for name in kind._takes())


def label_lines(declaration: Declaration, binding: Binding | None) -> list[str]:
    """Return the name, the distribution, and the shape where no plate says it."""
    name = str(declaration.name)
    parts = [name]
    if isinstance(declaration, Parameter):
        parts.append(f"~ {_family(declaration.prior) if declaration.prior else 'Flat'}")
    elif isinstance(declaration, Observed):
        parts.append(f"~ {_family(declaration.distribution)}")
    if binding is not None and not declaration.dims and not isinstance(declaration, Potential):
        shape = binding.evaluator.shape(declaration)
        parts[0] += f" ({', '.join(map(str, shape))})" if shape else ""
    return parts


def _family(distribution: Distribution) -> str:
    """Return the name of a distribution, with that of the one inside a wrapper."""
    inside = getattr(distribution, "dist", None)
    return f"{distribution.name}({_family(inside)})" if inside is not None else distribution.name


def plate_text(dims: tuple[str, ...], binding: Binding | None) -> str:
    """Return dims with their sizes, if these are known."""
    sizes = binding.dimensions.sizes if binding is not None else {}
    return " × ".join(f"{dim} ({sizes[dim]})" if dim in sizes else dim for dim in dims)


def _quoted(text: str) -> str:
    """Return a DOT string, with quotes, backslashes and line ends escaped."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
