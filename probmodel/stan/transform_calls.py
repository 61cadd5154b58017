"""Stan's transforms of variables as functions, such as ``simplex_jacobian``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np

from probmodel import constraints as c
from probmodel.constraints import Constraint
from probmodel.stan.complaints import complaint
from probmodel.stan.density_terms import Increment
from probmodel.stan.indexing import OperationError
from probmodel.stan.library.recorded import called, of_numbers
from probmodel.stan.operators import Frame
from probmodel.stan.side_by_side import parts
from probmodel.stan.stan_values import Value, type_text
from probmodel.stan.statements import Interpreter
from probmodel.stan.syntax import nodes as n
from probmodel.stan.traced_graph import Operation, aligned


class Transform(NamedTuple):
    """A transform.

    Attributes
    ----------
    make : of the sizes, the constraint
    free, own : how many axes an unconstrained value has, and a constrained one
    bounds : how many numbers come behind the value
    sizes : how many whole numbers come behind the unconstrained value
    by_row : whether Stan's unconstrained vector has the elements of a triangle row by row; here,
        its diagonal comes first
    """

    make: Callable[..., Constraint]
    free: int
    own: int
    bounds: int = 0
    sizes: int = 0
    by_row: bool = False


def _factor(rows: int, columns: int) -> Constraint:
    return c.CholeskyFactor() if rows == columns else c.TallCholeskyFactor(rows, columns)


TRANSFORMS: dict[str, Transform] = {
    "lower_bound": Transform(lambda: c.Lower(0.0), 0, 0, 1),
    "upper_bound": Transform(lambda: c.Upper(0.0), 0, 0, 1),
    "lower_upper_bound": Transform(lambda: c.Interval(0.0, 1.0), 0, 0, 2),
    "offset_multiplier": Transform(c.OffsetMultiplier, 0, 0, 2),
    "ordered": Transform(c.Ordered, 1, 1),
    "positive_ordered": Transform(c.PositiveOrdered, 1, 1),
    "simplex": Transform(c.Simplex, 1, 1),
    "sum_to_zero": Transform(c.SumToZero, 1, 1),
    "unit_vector": Transform(c.UnitVector, 1, 1),
    "stochastic_row": Transform(c.RowStochastic, 2, 2),
    "stochastic_column": Transform(c.ColumnStochastic, 2, 2),
    "cholesky_factor_corr": Transform(lambda _: c.CorrelationCholesky(), 1, 2, 0, 1),
    "cholesky_factor_cov": Transform(_factor, 1, 2, 0, 2, True),
    "corr_matrix": Transform(lambda _: c.Correlation(), 1, 2, 0, 1),
    "cov_matrix": Transform(lambda _: c.PositiveDefinite(), 1, 2, 0, 1, True),
}
_OF_MATRICES = {"sum_to_zero": Transform(c.SumToZeroMatrix, 2, 2)}
WAYS = ("_constrain", "_jacobian", "_unconstrain")


def split_transform(name: str) -> tuple[str, str] | None:
    """Return the transform that a function is of, and which way; None for other functions."""
    for way in WAYS:
        stem = name.removesuffix(way)
        if stem != name and stem in TRANSFORMS:
            return stem, way
    return None


def check_jacobians(program: n.Program, sources: Mapping[str, str]) -> None:
    """Raise a `ModelError` for the first ``_jacobian`` that stands where it must not."""
    own = {function.name for function in program.functions}
    places = [(f.name, f.name.endswith(("_jacobian", "_lp")), f) for f in program.functions]
    allowed = ("transformed parameters", "model")
    places += [(f"the {k} block", k in allowed, v) for k, v in program.blocks.items()]  # type: ignore[misc]
    for title, adjusts, body in places:
        if adjusts:
            continue
        for node in parts(body):
            if isinstance(node, n.Call) and node.name not in own:
                split = split_transform(node.name)
                if split is not None and split[1] == "_jacobian":
                    raise complaint(
                        f"{node.name} adds to the log density, in the transformed parameters block "
                        f"or in functions whose names end in _jacobian; this is {title}. "
                        f"{split[0]}_constrain computes the same and adds nothing.",
                        node.place,
                        sources,
                    )


class Transforms(Interpreter):
    """Runs programs, with the transforms of variables."""

    def special(self, node: n.Call) -> Callable[[n.Call, Frame], Any] | None:
        """Return what evaluates a call of a transform."""
        split = split_transform(node.name)
        if split is None or node.name in self.functions:
            return None
        return partial(self._transform, *split)

    def _transform(self, name: str, way: str, node: n.Call, frame: Frame) -> Value:
        values = [self.evaluate(a, frame) for a in node.args]
        of_matrices = bool(values) and getattr(values[0], "kind", "") == "matrix"
        entry = (_OF_MATRICES if of_matrices and name in _OF_MATRICES else TRANSFORMS)[name]
        free = way != "_unconstrain"
        takes = 1 + entry.bounds + entry.sizes * free
        fits = len(values) == takes and all(isinstance(v, Value) for v in values)
        if not fits or values[0].rank < (entry.free if free else entry.own):
            given = ", ".join(map(type_text, values))
            self.misfit(f"{node.name} takes other arguments than ({given}).", node)
        reals = [self.real(v) for v in values[: 1 + entry.bounds]]
        if any(v.rank and v.shape != reals[0].shape for v in reals[1:]):
            self.fail(f"{node.name} takes bounds of the size of its value, or numbers.", node)
        sizes = tuple(int(self.common(v, node, "a size")) for v in values[1 + entry.bounds :])
        if not free and entry.sizes:
            sizes = reals[0].shape[-2:][: entry.sizes]
        with self.at(node):
            name, bounds = _finite(name, reals[1:])
            if not name:
                return reals[0]
            return self._mapped(name, way, sizes, of_matrices, [reals[0], *bounds], node)

    def _mapped(
        self,
        name: str,
        way: str,
        sizes: tuple[int, ...],
        of_matrices: bool,
        values: list[Value],
        node: n.Call,
    ) -> Value:
        """Map a value one way or the other, and add what that adds to the log density."""
        made = _made(name, sizes, of_matrices)
        rank = made.entry.free if way == "_unconstrain" else made.entry.own
        kind = values[0].kind if not rank else ("vector", "matrix")[rank - 1]
        if way == "_unconstrain":
            made.check(values)
            return self.apply(made.inverse, values, kind, node)
        made.check_length(values[0])
        if way == "_jacobian":
            self.add(Increment(node, self.apply(made.log_det, values, "real", node)))
        return self.apply(made.forward, values, kind, node)


class _Made:
    """The operations of a transform with its sizes."""

    def __init__(self, name: str, entry: Transform, sizes: tuple[int, ...]) -> None:
        self.entry, self._sizes = entry, sizes
        constraint = self._constraint = entry.make(*sizes)
        order = self._order = _diagonal_first(sizes[0], sizes[-1]) if entry.by_row else None
        free, own = ((rank,) if rank else None for rank in (entry.free, entry.own))

        def inverse(*arrays: Any) -> Any:
            found = constraint.inverse(*arrays)
            return found if order is None else found[..., np.argsort(order)]

        refused = of_numbers(f"{name}_unconstrain", inverse) if entry.own else inverse
        self.forward = self._recorded(f"{name}_constrain", constraint.forward, free)
        self.log_det = self._recorded(f"{name}_log_jacobian", constraint.log_det, free)
        self.inverse = Operation(f"{name}_unconstrain", refused, own)

    def _recorded(
        self, name: str, formula: Callable[..., Any], ranks: tuple[int, ...] | None
    ) -> Operation:
        """Return an operation of a formula, which is one call where it needs shapes."""
        if ranks is None:
            return Operation(name, partial(formula, np))
        order = self._order

        def of_arrays(u: Any) -> Any:
            return formula(anp, u if order is None else u[..., order])

        return Operation(name, called(name, of_arrays, ranks), ranks)

    def check_length(self, value: Value) -> None:
        """Raise an error if a vector has another length than that of a matrix of these sizes."""
        if self._sizes:
            shape = (self._sizes[0], self._sizes[-1])
            (takes,) = self._constraint.free_shape(shape)
            if value.shape[-1] != takes:
                raise OperationError(
                    f"a matrix of {shape[0]} by {shape[1]} is made of {takes} numbers; got "
                    f"{value.shape[-1]}"
                )

    def check(self, values: Sequence[Value]) -> None:
        """Raise an error for numbers that are not constrained so."""
        if any(v.traced for v in values):
            return
        operation = Operation("", np.add, (self.entry.own,) if self.entry.own else None)
        arrays = aligned(
            operation, [np.asarray(v.array) for v in values], [v.laned for v in values]
        )
        if not np.all(self._constraint.check(*arrays)):
            raise OperationError("what it is given does not satisfy the constraint")


def _diagonal_first(rows: int, columns: int) -> Any:
    """Return the places that a diagonal, and then what is below it, have in a triangle's rows."""
    row, column = np.tril_indices(rows, 0, columns)
    diagonal = row == column
    return np.concatenate([np.flatnonzero(diagonal), np.flatnonzero(~diagonal)])


@cache
def _made(name: str, sizes: tuple[int, ...], of_matrices: bool) -> _Made:
    entry = (_OF_MATRICES if of_matrices and name in _OF_MATRICES else TRANSFORMS)[name]
    return _Made(name, entry, sizes)


def _finite(name: str, bounds: list[Value]) -> tuple[str, list[Value]]:
    """Return a transform without the bounds that are infinite; an empty name for none."""
    if name not in ("lower_bound", "upper_bound", "lower_upper_bound"):
        return name, bounds
    sides = {"lower_upper_bound": ("lower", "upper")}.get(name, (name.removesuffix("_bound"),))
    kept = []
    for side, bound in zip(sides, bounds, strict=True):
        infinite = np.isinf(bound.array) if not bound.traced else np.zeros(1, bool)
        if np.all(infinite):
            continue
        if np.any(infinite):
            raise OperationError("bounds are finite, or infinite all together")
        kept.append((side, bound))
    if not kept:
        return "", []
    return "_".join([*(side for side, _ in kept), "bound"]), [bound for _, bound in kept]
