"""Running a model forwards: declarations are evaluated in their order, for many draws at once.

What infers a model starts from unconstrained coordinates. Here the parameters on their own scale
are the inputs of the program, or are drawn by it, and so are observed quantities: a draw from a
distribution is a step like any other, whose first argument is where randomness comes from. The
leading axis, that of the chains elsewhere, is that of the draws.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from probmodel.blas import one_blas_thread
from probmodel.density.lowering import Lowering, definitions
from probmodel.density.program import Program
from probmodel.density.reference import Ref
from probmodel.distributions.base import Distribution
from probmodel.errors import ModelError
from probmodel.expressions import Expression, as_expression
from probmodel.model.binding import Binding
from probmodel.model.declarations import Declaration, Observed, Parameter
from probmodel.model.links import linked
from probmodel.model.parameters import FreeParameter
from probmodel.types import Array

CHUNK = 1 << 20  # numbers in flight in one pass over some of the draws: 8 MB


class Source:
    """Where a forward run gets its random numbers from, and how many draws it makes of them.

    Parameters
    ----------
    rng : all randomness
    rows : number of draws
    """

    def __init__(self, rng: np.random.Generator, rows: int) -> None:
        self.rng = rng
        self._rows = rows

    def __len__(self) -> int:
        return self._rows


class Forward(Lowering):
    """Lowers a bound model for a run forwards.

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
        resolve: Callable[[Forward, FreeParameter], Ref | Array],
        observe: Callable[[Forward, Observed], Ref | None] = lambda forward, node: None,
    ) -> None:
        super().__init__(binding.evaluator, (), definitions(binding))
        self.evaluator = binding.evaluator
        self._free = {free.name: free for free in binding.free}
        self._resolve = resolve
        self._observe = observe
        self._source = self._recorder.input(())
        self._given: list[Array] = []

    def _lower_node(self, node: Expression) -> Any:
        if isinstance(node, Parameter):
            return self._resolve(self, self._free[str(node.name)])
        drawn = isinstance(node, Observed) and id(node) not in self._aliases
        if drawn and not self._evaluator.is_constant(node):
            assert isinstance(node, Observed)
            given = self._observe(self, node)
            if given is not None:
                return given
            return self.sample(node, node.distribution, self._evaluator.shape(node))
        return super()._lower_node(node)

    def given(self, values: Array) -> Ref:
        """Add values that are known: (draws, *shape)."""
        self._given.append(values)
        return self._recorder.input(values.shape[1:])

    def set_free(self, free: FreeParameter, ref: Ref) -> Ref | Array:
        """Let the unconstrained value of a parameter be ``ref``; returns the parameter's."""
        self._lowered[id(free.free)] = ref
        return self.lower(free.value)

    def sample(
        self, declaration: Declaration, distribution: Distribution, shape: tuple[int, ...]
    ) -> Ref:
        """Add a draw from a distribution for a declaration: (draws, *shape)."""

        def draw(rng: np.random.Generator, rows: int, *params: Array) -> Array:
            return distribution.sample(rng, (rows, *shape), *params)

        return self.draw(declaration, draw, distribution, shape)

    def draw(
        self,
        declaration: Declaration,
        function: Callable[..., Array],
        distribution: Distribution,
        shape: tuple[int, ...],
        *more: Ref,
    ) -> Ref:
        """Add a step that draws: ``function(rng, rows, *more, *params)`` returns (rows, *shape).

        Parameters
        ----------
        declaration : what it is for; messages name it
        distribution : its parameters are lowered, aligned with a value, and passed on
        more : other operands, of full rank
        """
        params = self.parameters(distribution, len(shape))
        title = declaration.title

        def step(source: Source, *operands: Array) -> Array:
            try:
                with np.errstate(all="ignore"):
                    return np.asarray(function(source.rng, len(source), *operands))
            except (ValueError, np.linalg.LinAlgError) as error:
                raise ModelError(
                    f"{title} cannot be drawn from {distribution.name} with the parameters of some "
                    f"draw: {error}. Priors that allow extreme values are the usual reason.",
                    location=declaration.location,
                ) from error

        return self._recorder.emit(step, self._source, *more, *params, shape=shape)

    def parameters(self, distribution: Distribution, rank: int) -> list[Ref | Array]:
        """Lower the parameters of a distribution, aligned with values of so many axes."""
        lowered = [self.lower(as_expression(arg)) for arg in distribution.args.values()]
        batch = rank - distribution.event_ndim
        return self._with_axes(lowered, [batch + e for e in distribution.event_ndims[1:]])

    def apply(
        self,
        function: Callable[..., Array],
        operands: Sequence[Ref | Array],
        shape: tuple[int, ...],
    ) -> Ref:
        """Add a step without randomness, of operands of which one varies at least."""
        return self._recorder.emit(function, *operands, shape=shape)

    def aligned(self, expressions: Sequence[Expression], rank: int) -> list[Ref | Array]:
        """Lower expressions and give those that vary so many axes."""
        return self._with_axes([self.lower(e) for e in expressions], [rank] * len(expressions))

    def pointwise(
        self, distribution: Distribution, params: Sequence[Expression], value: Expression
    ) -> Ref | Array:
        """Add the log density of each batch element of a value: (draws, *batch)."""
        form, expressions = linked(distribution, tuple(params))
        operands = [self.lower(e) for e in (value, *expressions)]
        shape = self._evaluator.shape(value)
        batch = shape[: len(shape) - form.event_ndim]
        aligned = self._aligned(form, operands)
        if not any(isinstance(o, Ref) for o in aligned):
            return np.broadcast_to(form.log_density(np, *aligned), batch)

        def step(*args: Array) -> Array:
            elements = form.log_density(np, *args)
            rows = max(len(a) for a, o in zip(args, aligned, strict=True) if isinstance(o, Ref))
            return np.broadcast_to(elements, (rows, *batch))

        return self._recorder.emit(step, *aligned, shape=batch)

    def plan(self, outputs: dict[str, Ref | Array]) -> Plan:
        """Return what computes some named outputs."""
        program = self.finish(list(outputs.values()))
        return Plan(program, tuple(outputs), self._given, self._recorder.row_size)


class Plan:
    """A forward run that is ready to be made.

    Parameters
    ----------
    program : computes the outputs
    names : of the outputs
    given : known values, (draws, *shape) each
    row_size : numbers that one draw takes while the program runs
    """

    def __init__(
        self, program: Program, names: tuple[str, ...], given: list[Array], row_size: int
    ) -> None:
        self._program = program
        self._names = names
        self._given = given
        self._step = max(1, CHUNK // max(1, row_size))

    def run(self, rng: np.random.Generator, rows: int) -> dict[str, Array]:
        """Make so many draws: name -> (rows, *shape). Works through them in chunks."""
        whole: dict[str, Array] = {}
        for start in range(0, rows, self._step):
            stop = min(start + self._step, rows)
            source: Any = Source(rng, stop - start)
            with np.errstate(all="ignore"), one_blas_thread():
                values = self._program.values([source, *(g[start:stop] for g in self._given)])
            for name, part in zip(self._names, values, strict=True):
                if name not in whole:
                    whole[name] = np.empty((rows, *np.shape(part)[1:]), np.asarray(part).dtype)
                whole[name][start:stop] = part
        return whole
