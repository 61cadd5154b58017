"""From a bound model to programs: what its log density, gradient and values are made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import autograd.numpy as anp
import numpy as np
from autograd.tracer import isbox

from probmodel.compiler.called_parts import CALLED, called_density
from probmodel.compiler.differentiation import NotDifferentiableError, alone, gradient_of, taken
from probmodel.compiler.language import OPERATIONS, asked_of
from probmodel.compiler.schedule import ordered
from probmodel.compiler.symbols import Symbol, positions
from probmodel.distributions.base import Distribution
from probmodel.distributions.links import cheapest_form
from probmodel.distributions.sums import batch_shape
from probmodel.expressions import Apply, Expression, as_expression, map_leaves, topological
from probmodel.expressions.known_determinants import known_log_determinant
from probmodel.model.binding import Binding
from probmodel.model.declarations import Deterministic
from probmodel.model.evaluation import Evaluator
from probmodel.model.terms import Term


class Program(NamedTuple):
    """What one chain computes.

    Attributes
    ----------
    inputs : what is given
    outputs : symbols, or numbers that are known
    """

    inputs: tuple[Symbol, ...]
    outputs: tuple[Any, ...]

    @property
    def calls_back(self) -> tuple[str, ...]:
        """Names of the functions in NumPy that are called, as no operations stand for them."""
        calls = [step.index for step in self.steps if step.op == "call"]
        own = [function.name for function in calls if function.problem is None]
        return tuple(dict.fromkeys([*own, *(n for p in self._repeated for n in p.calls_back)]))

    @property
    def operations(self) -> int:
        """How many operations it consists of; those of a step that is repeated count once."""
        return len(self.steps) + sum(program.operations for program in self._repeated)

    @property
    def steps(self) -> list[Symbol]:
        """All operations, operands before what is made of them."""
        return list(ordered(o for o in self.outputs if isinstance(o, Symbol)))

    @property
    def _repeated(self) -> list[Program]:
        """Programs of functions that recurrences and solvers call many times."""
        scans = [step.index for step in self.steps if step.op == "scan"]
        calls = [step.index for step in self.steps if step.op == "call"]
        solved = {f.problem for f in calls if f.problem is not None}
        return [*(s.step.program for s in scans), *(p.function.over_rows.program for p in solved)]


def traced(binding: Binding) -> Program:
    """Write down the log density of a bound model, and its gradient."""
    return gradient_of_terms(binding, binding.terms)


def gradient_of_terms(binding: Binding, terms: Sequence[Term]) -> Program:
    """Write down the sum of some terms of a bound model, and its gradient."""

    def total(trace: Trace, x: Any) -> Any:
        trace.place(binding, x)
        return sum((trace.term(term) for term in terms), 0.0)

    return differentiated(Scope.of(binding), total, [(dimension(binding),)])


def dimension(binding: Binding) -> int:
    """Count the unconstrained coordinates of a bound model."""
    return sum(prod(free.free_shape) for free in binding.free)


class Scope(NamedTuple):
    """Where expressions have their meaning.

    Attributes
    ----------
    evaluator : knows what data alone decide, and shapes
    aliases : what stands behind names, by their ``id``
    """

    evaluator: Evaluator
    aliases: Mapping[int, Expression]

    @classmethod
    def of(cls, binding: Binding) -> Scope:
        """Return the scope of a bound model."""
        declared = binding.declarations
        return cls(
            binding.evaluator,
            {
                **{id(f.declaration): f.value for f in binding.free},
                **{id(d): d.expression for d in declared.values() if isinstance(d, Deterministic)},
                **{id(declared[name]): data.completed for name, data in binding.imputed.items()},
            },
        )

    def resolve(self, expression: Expression) -> Expression:
        """Return what stands behind the name of a parameter or a deterministic quantity."""
        while id(expression) in self.aliases:
            expression = self.aliases[id(expression)]
        return expression


def differentiated(
    scope: Scope, function: Callable[..., Any], shapes: Sequence[tuple[int, ...]]
) -> Program:
    """Write down a function that is one number, and its derivatives in all that it is given.

    It takes a `Trace` of the scope, and what is given, which has these shapes.
    """

    def value_and_slopes(trace: Trace, *given: Any) -> tuple[Any, ...]:
        value, slopes = gradient_of(lambda *xs: function(trace, *xs), *given)
        return value, *slopes

    return evaluated(scope, value_and_slopes, shapes)


def evaluated(
    scope: Scope, function: Callable[..., Sequence[Any]], shapes: Sequence[tuple[int, ...]]
) -> Program:
    """Write down several arrays; parameters are those of `differentiated`."""
    inputs = tuple(Symbol("input", (), np.zeros(shape)) for shape in shapes)
    called: set[int] = set()
    while True:
        trace = Trace(scope, called)
        try:
            with np.errstate(all="ignore"):
                return Program(inputs, tuple(function(trace, *inputs)))
        except NotDifferentiableError as error:
            part = trace.parts.get(error.node)
            if part is None or part in called:
                raise error.cause from None
            called.add(part)


class Trace:
    """Evaluates expressions on what autograd follows.

    Parameters
    ----------
    scope : of the expressions
    called : the ``id`` of terms and expressions whose derivatives cannot be written down: they are
        called

    Attributes
    ----------
    parts : by nodes of autograd's, the term or expression that was written down with them
    """

    def __init__(self, scope: Scope, called: Collection[int]) -> None:
        self._evaluator, self._aliases = scope
        self._called, self.parts = called, dict[Any, int]()
        self._values: dict[int, Any] = {}

    def define(self, expression: Expression, value: Any) -> None:
        """Say what the value of an expression is."""
        self._values[id(expression)] = value

    def place(self, binding: Binding, x: Any) -> None:
        """Say what the unconstrained parameters of a bound model are: (dim,)."""
        start = 0
        for free in binding.free:
            stop = start + prod(free.free_shape)
            where = positions((stop,))[start:].reshape(free.free_shape)
            self.define(free.free, taken(x, where))
            start = stop

    def term(self, term: Term) -> Any:
        """Return a term of the log density."""
        if term.distribution is None:
            return anp.sum(self.value(term.expression))
        distribution, params = cheapest_form(term.distribution, term.params, self._evaluator)
        return self.density(distribution, self.operands(distribution, (term.expression, *params)))

    def density(self, distribution: Distribution, operands: Sequence[Any]) -> Any:
        """Return the log density of a value, added up over its elements.

        The operands are the value and the parameters, with axes that broadcast.
        """
        kernel = self.written(
            distribution,
            lambda: _kernel(distribution, operands),
            lambda: called_density(distribution, operands),
        )
        return kernel + _base(distribution, operands)

    def operands(self, distribution: Distribution, expressions: Sequence[Expression]) -> list[Any]:
        """Return a value and the parameters of a distribution, with axes that broadcast."""
        return aligned([self.value(e) for e in expressions], distribution.event_ndims)

    def written(self, part: Any, plainly: Callable[[], Any], by_call: Callable[[], Any]) -> Any:
        """Write a part of the model down; as a call, where nothing else stands for it."""
        if id(part) in self._called:
            return by_call()
        try:
            with alone():
                found = plainly()
        except Exception:  # a formula may do anything to what it is given
            return by_call()
        pending = [found._node] if isbox(found) else []
        while pending:
            node = pending.pop()
            if node not in self.parts:
                self.parts[node] = id(part)
                pending += node.parents
        return found

    def value(self, expression: Expression) -> Any:
        """Return the value of an expression: a box of autograd's, or an array that is known."""
        if id(expression) in self._values:
            return self._values[id(expression)]
        known = self._evaluator.is_constant  # of a function, what it took from around is one whole
        for node in topological([expression], done=set(self._values), whole=known):
            if id(node) not in self._values:
                self._values[id(node)] = self._node(node)
        return self._values[id(expression)]

    def _node(self, node: Expression) -> Any:
        if self._evaluator.is_constant(node):
            return self._evaluator.value(node)
        if id(node) in self._aliases:
            return self.value(self._aliases[id(node)])
        assert isinstance(node, Apply), f"{node!r} has no value"
        other = self._evaluator.written_out(node)
        if other is not None:
            return self.value(other)
        name = node.operation.name
        options = {key: map_leaves(value, self._static) for key, value in node.kwargs.items()}
        if name == "getitem":
            x = self.value(node.args[0])
            return taken(x, positions(np.shape(x))[self._evaluator.index(node)])
        if name == "log_determinant":
            known = known_log_determinant(as_expression(node.args[0]), self._evaluator)
            if known is not None:
                return self.value(known)
        operands = [map_leaves(arg, self.value) for arg in node.args]
        if name not in CALLED:
            return OPERATIONS[name](*operands, **options)

        def by_call() -> Any:
            return CALLED[name](self._evaluator.shape(node), *operands, **options)

        if name not in OPERATIONS:
            return by_call()
        return self.written(node, lambda: OPERATIONS[name](*operands, **options), by_call)

    def _static(self, leaf: Expression) -> Any:
        value = self._evaluator.value(leaf)
        return int(value) if value.ndim == 0 else value


def aligned(operands: Sequence[Any], event_ndims: Sequence[int]) -> list[Any]:
    """Give the value and the parameters of a distribution axes that broadcast."""
    ranks = [np.ndim(o) - e for o, e in zip(operands, event_ndims, strict=True)]
    return [
        np.asarray(o, dtype=float)
        if isinstance(o, np.ndarray)
        else anp.reshape(o, (1,) * (max(ranks) - rank) + np.shape(o))
        for o, rank in zip(operands, ranks, strict=True)
    ]


def _kernel(distribution: Distribution, operands: Sequence[Any]) -> Any:
    """Sum of a log density over the elements of a batch, but for what data alone decide."""
    with asked_of(distribution):
        kernel = distribution.log_kernel(anp, *operands)
    batch = batch_shape(operands, distribution.event_ndims)
    return anp.sum(kernel) * (prod(batch) // max(1, prod(np.shape(kernel))))


def _base(distribution: Distribution, operands: Sequence[Any]) -> float:
    """Return the part that data alone decide."""
    value, *params = operands
    if not isinstance(value, np.ndarray):
        return 0.0
    known = [p if isinstance(p, np.ndarray) else np.zeros(np.shape(p)) for p in params]
    batch = batch_shape(operands, distribution.event_ndims)
    return float(np.sum(np.broadcast_to(distribution.log_base(value, *known), batch)))
