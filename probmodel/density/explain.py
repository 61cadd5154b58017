"""The terms of a model's log density at one point, in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from probmodel.constraints import Constraint
from probmodel.expressions import Expression
from probmodel.expressions.expression import Apply
from probmodel.expressions.graph import children, topological
from probmodel.expressions.text import to_text
from probmodel.model.binding import Binding
from probmodel.model.terms import Term
from probmodel.types import Array

if TYPE_CHECKING:
    from probmodel.density.posterior import ModelDensity


def explain_point(binding: Binding, density: ModelDensity, x: Array) -> str:
    """Return one line for each term at an unconstrained point, (dim,).

    A term that is not finite says where and with what values.
    """
    lines = []
    values = density.terms(x[None])
    width = max(map(len, values))
    for term, (title, value) in zip(binding.terms, values.items(), strict=True):
        detail = _detail(density, term, x, value[0])
        lines.append(f"  {title:<{width}}  {value[0]: .6g}{detail}")
    logp, _grad = density(x[None])
    if np.isfinite([v[0] for v in values.values()]).all() and not np.isfinite(logp[0]):
        lines.append(f"  every term is finite but the gradient is not{_bad_gradient(density, x)}")
        lines += _turned(np.isfinite, binding, density, x)
    if any(np.isnan(value[0]) for value in values.values()):
        lines += _turned(_is_number, binding, density, x)
    if density.calls_back:
        lines.append(f"  machine code calls NumPy for {', '.join(density.calls_back)}")
    if length := density.about_length():
        lines.append(f"  {length}")
    return "\n".join(lines)


def _detail(density: ModelDensity, term: Term, x: Array, value: float) -> str:
    if np.isfinite(value):
        return ""
    values = density.values_at(x[None], [term.expression, *term.params])
    arrays = [value[0] for value in values]
    if term.distribution is None:
        return _first_bad(arrays[0])
    with np.errstate(all="ignore"):
        elements = np.asarray(term.distribution.log_density(np, *arrays))
    if np.isfinite(elements).all():
        return ""
    index = tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(~np.isfinite(elements))))
    shown, faults = [], ""
    distribution = term.distribution
    names = ("value", *distribution.args)
    sets = (distribution.support(), *(s.constraint for s in distribution.parameters.values()))
    for name, array, event, allowed in zip(
        names, arrays, distribution.event_ndims, sets, strict=True
    ):
        found = _at(array, elements.shape, index, event)
        shown.append(f"{name} {_text(found)}")
        faults += _fault(name, found, allowed)
    place = f" at {list(index)}" if elements.ndim else ""
    return f"{place}: {distribution.name} with {', '.join(shown)}{faults}"


def _at(array: Array, shape: tuple[int, ...], index: tuple[int, ...], event: int) -> Array:
    """Return the element that broadcasts to ``index``: a number, a vector or a matrix."""
    size = array.shape[array.ndim - event :]
    return np.broadcast_to(array, (*shape, *size))[index if shape else ()]


def _text(found: Array) -> str:
    """Return a number, or the first numbers of a vector or matrix."""
    if found.size == 1:
        return f"{found.reshape(-1)[0]:.6g}"
    text = np.array2string(found.reshape(-1)[:4], precision=4)
    return text + ("..." if found.size > 4 else "")


def _fault(name: str, found: Array, allowed: Constraint) -> str:
    """Say what a value must be, if it is not; empty where parameters decide that."""
    bounds = allowed.bounds
    if not np.isfinite(found).all() or any(isinstance(b, Expression) for b in bounds):
        return ""
    if found.ndim != allowed.event_ndim or np.all(allowed.check(found, *bounds)):
        return ""
    fault = allowed.fault(found)
    return f"; {name} must be {allowed.name}" + (f": {fault}" if fault else "")


def _first_bad(array: Array) -> str:
    """Say where the first element is that is not finite; empty if there is none, or one element."""
    bad = ~np.isfinite(array)
    if not array.ndim or not bad.any():
        return ""
    return f" at {[int(i[0]) for i in np.nonzero(bad)]}"


def _bad_gradient(density: ModelDensity, x: Array) -> str:
    with np.errstate(all="ignore"):
        _, grad = density._value_and_gradient(x[None])
    bad = np.nonzero(~np.isfinite(grad[0]))[0]
    names = [density.coordinate_names[i] for i in bad[:5]]
    return f" in {', '.join(names)}" if names else ""


def _is_number(values: Array) -> Array:
    return ~np.isnan(values)


def _turned(
    sound: Callable[[Array], Array], binding: Binding, density: ModelDensity, x: Array
) -> list[str]:
    """Say which operation first makes unsound numbers of sound ones; empty if none does.

    Where a term itself is unsound, only what it is unsound by counts: no branch that is not taken.
    """
    roots = [e for term in binding.terms for e in (term.expression, *term.params)]
    nodes = topological(roots)
    values = [value[0] for value in density.values_at(x[None], nodes)]
    good = {id(node): sound(v).all() for node, v in zip(nodes, values, strict=True)}
    at_fault = [e for e in roots if isinstance(e, Expression) and not good[id(e)]]
    blamed = {id(e) for e in topological(at_fault, whole=lambda e: bool(good[id(e)]))}
    for node, value in zip(nodes, values, strict=True):
        if good[id(node)] or not isinstance(node, Apply) or (blamed and id(node) not in blamed):
            continue
        numbers = [] if node.doubt else [a for a in node.args if isinstance(a, float | np.ndarray)]
        if not all(good[id(c)] for c in children(node)):
            continue
        if sound(np.array([*map(np.sum, numbers)])).all():
            bad = ~sound(value)
            place = f" at {[int(i[0]) for i in np.nonzero(bad)]}" if value.ndim else ""
            text = node.doubt or to_text(node, definition=True)
            return [f"  on the way, {text} is {value[bad].reshape(-1)[0]}{place} ({node.location})"]
    return []
