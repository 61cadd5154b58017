"""Running a model forwards: declarations are evaluated in their order, for many draws at once.

What infers a model starts from unconstrained coordinates. Here the parameters on their own scale
are the inputs of the program, or are drawn by it, and so are observed quantities: a draw from a
distribution is a call of a function like any other. The program is of one row, and what is run has
a row for each draw.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import autograd.numpy as anp
import numpy as np

from probmodel.blas import one_blas_thread
from probmodel.compiler.language import asked_of
from probmodel.compiler.numpy_engine import NumpyProgram
from probmodel.compiler.python_calls import Function, called
from probmodel.compiler.symbols import Symbol, spread
from probmodel.compiler.tracing import Program, Scope, Trace, aligned
from probmodel.density.impossible import impossible
from probmodel.density.programs import typed
from probmodel.distributions.base import Distribution
from probmodel.distributions.links import along_known_directions, cheapest_form
from probmodel.expressions import Expression, as_expression
from probmodel.model.binding import Binding
from probmodel.model.declarations import Declaration, Observed, Parameter
from probmodel.model.parameters import FreeParameter
from probmodel.types import Array

CHUNK = 1 << 20  # numbers in flight in one pass over some of the draws: 8 MB
WIDER = 4  # times as many numbers, in runs that draw nothing: results do not depend on it
BLOCK = 16  # passes over draws that have random numbers of their own, and may be made elsewhere


class _Randomness(threading.local):
    """Where the draws of a run get random numbers from; each thread has a run of its own."""

    rng: np.random.Generator


class Forward(Trace):
    """Writes down a run of a bound model forwards.

    Parameters
    ----------
    binding : the bound model
    resolve : says where the value of a parameter comes from, when that is needed: it calls `given`,
        `sample` and the like, and returns what they return
    observe : the same for observed quantities without data; those that it returns None for are
        drawn
    """

    def __init__(
        self,
        binding: Binding,
        resolve: Callable[[Forward, FreeParameter], Any],
        observe: Callable[[Forward, Observed], Symbol | None] = lambda forward, node: None,
    ) -> None:
        super().__init__(Scope.of(binding), ())
        self.evaluator = binding.evaluator
        self._free = {free.name: free for free in binding.free}
        self._resolve = resolve
        self._observe = observe
        self._randomness = _Randomness()
        # Each draw takes the one before it, or else this, which makes their order and has rows.
        self._last = Symbol("input", (), np.zeros(()))
        self._inputs = [self._last]
        self._given: list[Array] = []

    @np.errstate(all="ignore")
    def value(self, expression: Expression) -> Any:
        """Return the value of an expression: a symbol, or an array that is known."""
        return super().value(expression)

    def _node(self, node: Expression) -> Any:
        if isinstance(node, Parameter):
            free = self._free[str(node.name)]
            return self._resolve(self, free) if 0 not in free.shape else np.zeros(free.shape)
        drawn = isinstance(node, Observed) and id(node) not in self._aliases
        if drawn and not self._evaluator.is_constant(node):
            assert isinstance(node, Observed)
            given = self._observe(self, node)
            return self.sample(node, node.distribution) if given is None else given
        return super()._node(node)

    def given(self, values: Array) -> Symbol:
        """Add values that are known: (draws, *shape)."""
        self._given.append(values)
        self._inputs.append(Symbol("input", (), np.asarray(values[0], dtype=float)))
        return self._inputs[-1]

    def set_free(self, free: FreeParameter, value: Any) -> Any:
        """Set the unconstrained value of a parameter; returns the parameter's."""
        self.define(free.free, value)
        return self.value(free.value)

    def sample(self, declaration: Declaration, distribution: Distribution) -> Symbol:
        """Add a draw from a distribution for a declaration, of its shape."""
        shape = self.evaluator.shape(declaration)
        form = along_known_directions(distribution, self.evaluator)

        def draw(rng: np.random.Generator, rows: int, *params: Array) -> Array:
            return form.sample(rng, (rows, *shape), *params)

        return self.draw(declaration, form, draw, self.parameters(form, shape))

    def draw(
        self,
        declaration: Declaration,
        distribution: Distribution,
        function: Callable[..., Array],
        operands: Sequence[Any],
        like: Array | None = None,
    ) -> Symbol:
        """Add a draw, which is made after those that were added before.

        Messages name the declaration and its distribution. ``function`` is of a random generator,
        the number of rows, and the operands, of which those that are known have no rows; the last
        ones are the parameters. It returns (rows, *shape). ``like`` is an example of a row, where
        it is no value of the distribution.
        """
        randomness, count = self._randomness, len(distribution.parameters)

        def draws(rows: int, *operands: Array) -> Array:
            if like is not None or not count:
                return np.asarray(function(randomness.rng, rows, *operands))
            lost = impossible(distribution, operands[-count:])
            drawn = np.asarray(function(randomness.rng, rows, *operands))
            return np.where(lost, np.nan, drawn) if lost.any() else drawn

        def step(before: Array, *operands: Array) -> Array:
            try:
                with np.errstate(all="ignore"):
                    return draws(len(before), *operands)
            except (ValueError, np.linalg.LinAlgError) as error:
                raise declaration.model_error(
                    f"{declaration.title} cannot be drawn from {distribution.name} with the "
                    f"parameters of some draw: {error}. The usual reasons are priors that allow "
                    "extreme values, and new data for which the model makes no sense."
                ) from error

        self._last = self.apply(declaration, step, (self._last, *operands), like)
        return self._last

    def apply(
        self,
        declaration: Declaration,
        function: Callable[..., Array],
        operands: Sequence[Any],
        like: Array | None = None,
    ) -> Symbol:
        """Add a call of a function, of operands of which some have rows; see `draw`.

        It is not called before the run: ``like`` stands for what it returns.
        """
        like = self.evaluator.value(declaration) if like is None else like
        call = Function(declaration.title, function, operands, like.shape)
        unknown = tuple(o for o in operands if isinstance(o, Symbol))
        return Symbol("call", unknown, np.asarray(like, dtype=float), call)

    def parameters(self, distribution: Distribution, shape: tuple[int, ...]) -> list[Any]:
        """Return the parameters of a distribution, with axes that broadcast with its values."""
        given = [as_expression(arg) for arg in distribution.args.values()]
        return self.aligned(given, shape, distribution.event_ndims)

    def aligned(
        self,
        expressions: Sequence[Expression],
        shape: tuple[int, ...],
        event_ndims: Sequence[int] | None = None,
    ) -> list[Any]:
        """Return values of expressions, with axes that broadcast with another value of a shape.

        ``event_ndims`` are those of the other and of the expressions, 0 by default.
        """
        operands = [np.broadcast_to(0.0, shape), *map(self.value, expressions)]
        return aligned(operands, event_ndims or [0] * len(operands))[1:]

    @np.errstate(all="ignore")
    def pointwise(
        self, distribution: Distribution, params: Sequence[Expression], value: Expression
    ) -> Any:
        """Return the log density of each batch element of a value."""
        form, expressions = cheapest_form(distribution, tuple(params), self.evaluator)
        operands = self.operands(form, (value, *expressions))
        shape = self.evaluator.shape(value)
        batch = shape[: len(shape) - form.event_ndim]

        def written() -> Any:
            with asked_of(form):
                return spread(form.log_density(anp, *operands), batch)

        def log_density(*args: Array) -> Array:
            return form.log_density(np, *args)

        return self.written(form, written, lambda: called(form.name, log_density, operands, batch))

    def plan(self, outputs: Mapping[str, Any]) -> Plan:
        """Return what computes named outputs.

        These are expressions, whose results have the types of these, or values, whose results are
        floating-point numbers.
        """
        values, kinds = [], {}
        for name, output in outputs.items():
            declared = isinstance(output, Expression)
            values.append(self.value(output) if declared else output)
            dtype = self.evaluator.value(output).dtype if declared else np.dtype(float)
            kinds[name] = np.shape(values[-1]), dtype
        program = NumpyProgram(Program(tuple(self._inputs), tuple(values)))
        draws = self._last is not self._inputs[0]
        return Plan(program, kinds, self._given, self._randomness, draws)


class Plan:
    """A forward run that is ready to be made, in several threads at the same time if need be.

    Parameters
    ----------
    program : computes the outputs, from a number for each row, and what is given
    kinds : shape and type of each output, by name
    given : known values, (draws, *shape) each
    randomness : where the draws of the program get random numbers from
    draws : whether there are any

    Attributes
    ----------
    kinds, given : as they were given
    step : draws that are made in one pass
    block : draws that are made with random numbers of their own, see `predictive.draws_in_blocks`
    """

    def __init__(
        self,
        program: NumpyProgram,
        kinds: Mapping[str, tuple[tuple[int, ...], np.dtype[Any]]],
        given: Sequence[Array],
        randomness: _Randomness,
        draws: bool = True,
    ) -> None:
        self._program = program
        self.kinds = kinds
        self.given = given
        self._randomness = randomness
        self.step = max(1, CHUNK // max(1, program.numbers))
        self.block = BLOCK * self.step
        if not draws:
            self.step *= WIDER

    def of(self, given: Sequence[Array], step: int) -> Plan:
        """Return the same run with other known values, and passes of so many draws."""
        found = Plan(self._program, self.kinds, given, self._randomness)
        found.step = step
        return found

    def run(self, rng: np.random.Generator, rows: int) -> dict[str, Array]:
        """Make so many draws: name -> (rows, *shape). Works through them in chunks."""
        self._randomness.rng = rng
        whole = {name: np.empty((rows, *shape)) for name, (shape, _) in self.kinds.items()}
        for start in range(0, rows, self.step):
            stop = min(start + self.step, rows)
            with one_blas_thread():
                given = (g[start:stop] for g in self.given)
                parts = self._program(np.zeros(stop - start), *given)
            for values, part in zip(whole.values(), parts, strict=True):
                values[start:stop] = part
        return {name: typed(whole[name], dtype) for name, (_, dtype) in self.kinds.items()}
