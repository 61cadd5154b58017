"""What a model does with its data and its deterministic quantities."""

from __future__ import annotations

from collections.abc import Iterable

from probmodel.expressions import Apply, Expression, as_expression, leaves, topological
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
from probmodel.stan.export.stan_families import family_of


def used_by_density(binding: Binding) -> set[int]:
    """Return the ``id`` of the deterministic quantities that the log density depends on."""
    roots: list[Expression] = []
    for declaration in binding.declarations.values():
        if isinstance(declaration, Parameter | Observed | Potential):
            roots += expressions_of(declaration)
    found: set[int] = set()
    done: set[int] = set()
    while roots:
        for node in topological([roots.pop()], done=done):
            if isinstance(node, Deterministic):
                found.add(id(node))
                roots.append(node.expression)
    return found


def counted_from_one(binding: Binding) -> set[str]:
    """Return names of whole numbers that are nothing but indices, or categories, from 0."""
    declarations = binding.declarations.values()
    indices, others = _uses(declarations)
    names = set()
    for declaration in declarations:
        name = str(declaration.name)
        if isinstance(declaration, Data) and declaration.dtype is int:
            if id(declaration) in indices and id(declaration) not in others:
                names.add(name)
        elif isinstance(declaration, Observed) and id(declaration) not in indices | others:
            dist = declaration.distribution
            family = family_of(type(dist).__name__, dist.parameters)
            if family is not None and family.from_one:
                names.add(name)
    return names


def _uses(declarations: Iterable[Declaration]) -> tuple[set[int], set[int]]:
    """Return the ``id`` of what is used as an index, and of what is used otherwise."""
    roots: list[Expression] = []
    others: set[int] = set()
    for declaration in declarations:
        found = expressions_of(declaration)
        others |= {id(node) for node in found}
        roots += found
    indices: set[int] = set()
    for node in topological(roots):
        if not isinstance(node, Apply):
            continue
        if node.operation.name == "getitem":
            index = node.args[1] if isinstance(node.args[1], tuple) else (node.args[1],)
            for part in index:
                if isinstance(part, Expression):
                    indices.add(id(part))
                else:
                    others |= {id(leaf) for leaf in leaves(part)}
            others.add(id(as_expression(node.args[0])))
        else:
            others |= {
                id(leaf) for arg in (*node.args, *node.kwargs.values()) for leaf in leaves(arg)
            }
    return indices, others
