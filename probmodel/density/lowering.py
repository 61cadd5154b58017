"""Lowering: from a bound model's expressions to a program over a batch of chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np

from probmodel.density.alignment import align, shape_of
from probmodel.density.batching import RULES
from probmodel.density.program import Program, Recorder
from probmodel.density.reference import Ref
from probmodel.density.sums import total
from probmodel.distributions.base import Distribution
from probmodel.errors import ModelError
from probmodel.expressions import (
    Apply,
    Expression,
    map_leaves,
    topological,
)
from probmodel.model.arithmetic import OVERFLOWING, number
from probmodel.model.binding import Binding
from probmodel.model.declarations import Deterministic
from probmodel.model.evaluation import Evaluator
from probmodel.model.links import linked
from probmodel.model.terms import Term
from probmodel.types import Array


class Observation(NamedTuple):
    """A likelihood term, taken apart: its distribution and where the parameters are.

    Attributes
    ----------
    term : the term
    distribution : the form that takes the parameters on their linked scales
    expressions : those parameters
    params : what they are lowered to, aligned with each other; a `Ref` where it varies
    batch : shape of the elements, without the chain axis
    """

    term: Term
    distribution: Distribution
    expressions: tuple[Expression, ...]
    params: tuple[Ref | Array, ...]
    batch: tuple[int, ...]

    @property
    def varying(self) -> tuple[int, ...]:
        """Positions of the parameters that are not data."""
        return tuple(i for i, p in enumerate(self.params) if isinstance(p, Ref))


class Lowering:
    """Lowers expressions into one recorder.

    Parameters
    ----------
    evaluator : shapes, and values of what does not change
    inputs : the symbols whose values the program takes, in this order
    aliases : what stands behind a symbol, by its ``id``
    """

    def __init__(
        self,
        evaluator: Evaluator,
        inputs: Sequence[Expression],
        aliases: Mapping[int, Expression] | None = None,
    ) -> None:
        self._evaluator = evaluator
        self._recorder = Recorder()
        self._lowered: dict[int, Any] = {}
        self._aliases = dict(aliases or {})
        for symbol in inputs:
            self._lowered[id(symbol)] = self._recorder.input(evaluator.shape(symbol))

    @classmethod
    def of(cls, binding: Binding) -> Lowering:
        """Lower expressions of a bound model; the inputs are its unconstrained parameters."""
        parameters: dict[int, Expression] = {id(f.declaration): f.value for f in binding.free}
        aliases = {**parameters, **definitions(binding)}
        return cls(binding.evaluator, [f.free for f in binding.free], aliases)

    def input(self, shape: tuple[int, ...]) -> Ref:
        """Add an input of the program that no derivative is wanted for."""
        return self._recorder.input(shape, active=False)

    def finish(self, outputs: Sequence[Ref | Array]) -> Program:
        """Return the program that computes ``outputs``."""
        return self._recorder.finish(outputs)

    def resolve(self, expression: Expression) -> Expression:
        """Return what stands behind the name of a parameter or a deterministic quantity."""
        while id(expression) in self._aliases:
            expression = self._aliases[id(expression)]
        return expression

    def lower(self, expression: Expression) -> Ref | Array:
        """Return where the program keeps an expression, or its value if data alone decides it."""
        for node in topological([expression], done=set(self._lowered)):
            if id(node) not in self._lowered:  # a node before it may have needed it, too
                self._lowered[id(node)] = self._lower_node(node)
        return self._lowered[id(expression)]

    def _lower_node(self, node: Expression) -> Any:
        if self._evaluator.is_constant(node):
            return self._evaluator.value(node)
        if id(node) in self._aliases:
            return self.lower(self._aliases[id(node)])
        assert isinstance(node, Apply), f"{node!r} has no value"
        return self._lower_apply(node)

    def _lower_apply(self, node: Apply) -> Any:
        rule = RULES[node.operation.name]
        kwargs = {key: map_leaves(value, self._static) for key, value in node.kwargs.items()}
        if node.operation.name == "getitem":
            operands = [self.lower(node.args[0]), self._evaluator.index(node)]
        else:
            operands = [map_leaves(arg, self.lower) for arg in node.args]
            operands = _constants_as_numbers(node.operation.name, operands)
        return rule(self._recorder, self._evaluator.shape(node), *operands, **kwargs)

    def _static(self, leaf: Expression) -> Any:
        value = self._evaluator.value(leaf)
        return int(value) if value.ndim == 0 else value

    def term(self, term: Term) -> Ref | Array:
        """Lower one term of the log density to one number for each chain."""
        if term.distribution is None:
            return self.total(self.lower(term.expression))
        distribution, params = linked(term.distribution, term.params)
        return self._density(distribution, [self.lower(e) for e in (term.expression, *params)])

    def observation(self, term: Term) -> Observation:
        """Lower the parameters of a likelihood term on their linked scales.

        Links are seen through names here: the scale ``sigma`` is the exponential of its
        unconstrained value.

        Raises
        ------
        ModelError
            If the observed quantity has imputed elements: it is no datum then.
        """
        assert term.distribution is not None
        if not self._evaluator.is_constant(term.expression):
            raise ModelError(
                f"the expected information of {term.name} is not known here, as some of its "
                "elements are imputed; use metric='neg_hessian' or metric='softabs'.",
                location=term.location,
                name=term.name,
            )
        resolved = tuple(self.resolve(param) for param in term.params)
        distribution, expressions = linked(term.distribution, resolved)
        value = self._evaluator.value(term.expression)
        operands = [value, *(self.lower(e) for e in expressions)]
        shapes = [
            shape_of(o)[: len(shape_of(o)) - e]
            for o, e in zip(operands, distribution.event_ndims, strict=True)
        ]
        batch = np.broadcast_shapes(*shapes)
        params = tuple(self._aligned(distribution, operands)[1:])
        return Observation(term, distribution, expressions, params, batch)

    def emit(
        self,
        function: Callable[..., Any],
        operands: Sequence[Ref | Array],
        shape: tuple[int, ...] = (),
    ) -> Ref:
        """Add a function of some operands; ``shape`` is that of its result for each chain."""
        return self._recorder.emit(function, *operands, shape=shape)

    def total(self, operand: Ref | Array) -> Ref | Array:
        """Sum over the elements: one number for each chain."""
        return total(self._recorder, operand)

    def _density(self, distribution: Distribution, operands: list[Any]) -> Ref | Array:
        if not any(isinstance(o, Ref) for o in operands):
            known = [np.asarray(o, dtype=np.float64) for o in operands]
            return np.asarray(np.sum(distribution.log_density(np, *known)))
        aligned = self._aligned(distribution, operands)
        kernel = self._recorder.emit_density(distribution, aligned)
        base = self._base(distribution, operands)
        if not base:
            return kernel
        return self._recorder.emit(anp.add, kernel, base, shape=())

    def _aligned(self, distribution: Distribution, operands: list[Any]) -> list[Any]:
        """Give the value and the parameters of a distribution axes that broadcast."""
        event_ndims = distribution.event_ndims
        rank = max(len(shape_of(o)) - e for o, e in zip(operands, event_ndims, strict=True))
        return self._with_axes(operands, [rank + e for e in event_ndims])

    def _with_axes(self, operands: Sequence[Ref | Array], ranks: Sequence[int]) -> list[Any]:
        """Give operands that vary so many axes behind the chain axis; others become numbers."""
        return [
            align(self._recorder, o, rank)
            if isinstance(o, Ref)
            else np.asarray(o, dtype=np.float64)
            for o, rank in zip(operands, ranks, strict=True)
        ]

    def _base(self, distribution: Distribution, operands: list[Any]) -> float:
        """Return the part of a log mass that data alone decides: added up once."""
        value, *params = operands
        if isinstance(value, Ref):
            return 0.0
        known = [
            np.zeros(p.shape) if isinstance(p, Ref) else np.asarray(p, dtype=np.float64)
            for p in params
        ]
        base = distribution.log_base(np.asarray(value, dtype=np.float64), *known)
        batch = value.shape[: value.ndim - distribution.event_ndim]
        return float(np.sum(np.broadcast_to(base, batch)))


def _constants_as_numbers(name: str, operands: Sequence[Any]) -> list[Any]:
    """Give constants 64 bits.

    Beside what varies and is no float, a comparison for instance, they are floats, so that their
    arithmetic does not overflow.
    """
    whole = any(isinstance(o, Ref) and not o.active for o in operands)
    as_floats = whole and name in OVERFLOWING

    def plain(operand: Any) -> Any:
        if isinstance(operand, np.ndarray):
            array = number(operand)
            return array.astype(np.float64) if as_floats and array.dtype.kind == "i" else array
        if isinstance(operand, int) and not isinstance(operand, bool):
            return float(operand) if as_floats or abs(operand) >= 2**63 else operand
        return operand

    return [plain(operand) for operand in operands]


def definitions(binding: Binding) -> dict[int, Expression]:
    """Return what stands behind deterministic quantities and imputed data, by their ``id``."""
    declared = binding.declarations
    return {
        **{id(d): d.expression for d in declared.values() if isinstance(d, Deterministic)},
        **{id(declared[name]): data.completed for name, data in binding.imputed.items()},
    }
