"""Types of parameters: constraints as Stan declares them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from probmodel.constraints import OffsetMultiplier, Real
from probmodel.constraints.base import Constraint
from probmodel.stan.export.code_blocks import Block, declared
from probmodel.stan.export.code_forms import SUM, Form, Place, kind_of
from probmodel.stan.export.code_writer import Writer
from probmodel.stan.export.elementwise_rules import spread
from probmodel.stan.export.no_spelling import NoSpellingError

# Types of vectors and matrices, with how many of their sizes are written.
_VECTORS = {
    "Ordered": "ordered",
    "PositiveOrdered": "positive_ordered",
    "Simplex": "simplex",
    "UnitVector": "unit_vector",
    "SumToZero": "sum_to_zero_vector",
}
_SQUARE = {
    "CholeskyFactor": "cholesky_factor_cov",
    "PositiveDefinite": "cov_matrix",
    "CorrelationCholesky": "cholesky_factor_corr",
    "Correlation": "corr_matrix",
}


def parameter_type(
    writer: Writer, constraint: Constraint, sizes: Sequence[Place]
) -> tuple[str, str]:
    """Return the type of a parameter, and the kind of its value.

    Raises a `NoSpellingError` if Stan has no such type.
    """
    kind, name, rank = kind_of(len(sizes)), type(constraint).__name__, len(sizes)
    if isinstance(constraint, Real):
        return declared(kind, sizes), kind
    if isinstance(constraint, OffsetMultiplier):
        offset, multiplier = (_bound(writer, bound, sizes) for bound in constraint.bounds)
        return declared(kind, sizes, f"<offset={offset}, multiplier={multiplier}>"), kind
    if constraint.limits is not None:
        return declared(kind, sizes, bounds(writer, constraint, sizes)), kind
    if name == "RowStochastic" or name in _VECTORS:
        own = _VECTORS.get(name, "simplex")
        outer = f"array[{', '.join(map(str, sizes[:-1]))}] " if rank > 1 else ""
        return f"{outer}{own}[{sizes[-1]}]", "vectors" if rank > 1 else "vector"
    if name in _SQUARE:
        outer = f"array[{', '.join(map(str, sizes[:-2]))}] " if rank > 2 else ""
        return f"{outer}{_SQUARE[name]}[{sizes[-1]}]", kind
    if name == "SumToZeroMatrix" and rank == 2:
        return f"sum_to_zero_matrix[{sizes[0]}, {sizes[1]}]", kind
    if name == "ColumnStochastic" and rank == 2:
        return f"column_stochastic_matrix[{sizes[0]}, {sizes[1]}]", kind
    raise NoSpellingError(
        f"the constraint {constraint.name}", "Choose one of docs/modelling-language.md."
    )


def bounds(writer: Writer, constraint: Constraint, sizes: Sequence[Place]) -> str:
    """Return the bounds of an interval as Stan declares them."""
    assert constraint.limits is not None
    lower, upper = constraint.limits
    given = [
        f"{name}={_bound(writer, bound, sizes)}"
        for name, bound in (("lower", lower), ("upper", upper))
        if bound is not None
    ]
    return f"<{', '.join(given)}>" if given else ""


def _bound(writer: Writer, bound: Any, sizes: Sequence[Place]) -> str:
    """Return a bound, without statements: there are none among parameters."""
    shape = writer.shape(bound)
    inner = Writer(writer.shared, Block(writer.block))
    form: Form | None
    if shape:
        full = tuple(_size(writer, place) for place in sizes)
        form = spread(inner, bound, full, sizes)
    else:
        form = inner.whole(bound)
    if form is None or inner.block.lines:
        raise NoSpellingError(
            f"the bound {bound!r}", "Stan takes one formula: write it without named parts, or "
            "let the parameter be without bound and transform it.",
        )  # fmt: skip
    return form.inside(SUM)


def _size(writer: Writer, place: Place) -> int:
    known = writer.shared.data.get(place.variable, 0)
    return int(known) + place.offset
