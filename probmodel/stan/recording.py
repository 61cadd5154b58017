"""Operations as they are recorded, under conditions and by lane, and errors with places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, NoReturn

import numpy as np

from probmodel.errors import DataError, ModelError, ProbmodelError
from probmodel.stan.complaints import Sources, complaint, placed
from probmodel.stan.harmless_operands import FINITE, HARMLESS, harmless
from probmodel.stan.indexing import LanesDifferError, MisfitError, OperationError, SizeError
from probmodel.stan.operators import AND, AS_NUMBER, CHOOSE, CHOOSE_BY_DATA, SAFE, as_complex
from probmodel.stan.stan_values import Tuple, Value, is_complex_type, kind_of, real
from probmodel.stan.syntax import nodes as n
from probmodel.stan.traced_graph import Graph, Keywords, Operation, Step


class RecordedDensity(NamedTuple):
    """The log density of a distribution at what parameters decide.

    Attributes
    ----------
    step : that computes it
    node : the call
    distribution, values : its name, and the value and the parameters
    """

    step: Step
    node: n.Node
    distribution: str
    values: list[Value]


class Recording:
    """What operations make of values, and where in the program they stand.

    Parameters
    ----------
    sources : the text of the program, by file

    Attributes
    ----------
    graph : where operations are recorded
    guards : conditions on parameters that hold where what is evaluated counts, the last one of all
    counted : where data let the branch count that is run, a number or one for each lane; None
        for everywhere
    densities : log densities that functions were asked for, by the numbers of their elements
    """

    lanes: int | None = None
    _calls = 0  # of functions of the program, inside each other
    _side_by_side = False  # whether lanes are iterations of a loop

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.graph = Graph()
        self.guards: list[Value] = []
        self.counted: Value | None = None
        self.densities: dict[int, RecordedDensity] = {}

    def fail(
        self,
        message: str,
        node: n.Node | None,
        kind: type[ProbmodelError] = ModelError,
        **values: Any,
    ) -> NoReturn:
        """Raise an error that points at a node."""
        raise complaint(message, node.place if node else None, self.sources, kind, **values)

    def misfit(self, message: str, node: n.Node | None) -> NoReturn:
        """Raise an error of what is wrong whatever the numbers are."""
        self.fail(message, node, wrong="type")

    @contextmanager
    def at(self, node: n.Node) -> Iterator[None]:
        """Say of what goes wrong inside that it does so at a node."""
        try:
            yield
        except LanesDifferError:
            raise
        except ProbmodelError as error:
            raise placed(error, node.place, self.sources) from error
        except np.linalg.LinAlgError as error:
            source = "" if self.lanes is not None else " The matrix comes from data alone."
            self.fail(f"{error}.{source}", node, DataError)
        except (OperationError, ValueError, IndexError, TypeError, ArithmeticError) as error:
            wrong = "type" if isinstance(error, MisfitError) else "value"
            self.fail(f"{error}.", node, wrong="size" if isinstance(error, SizeError) else wrong)
        except (RecursionError, MemoryError) as error:
            if self._calls and isinstance(error, RecursionError):  # said where it is called
                raise
            self.fail(f"this takes too much ({type(error).__name__}).", node)

    def apply(
        self,
        operation: Operation,
        values: Sequence[Value],
        kind: str,
        node: n.Node | None,
        keywords: Keywords = (),
    ) -> Value:
        """Compute an operation, or record it; inside a branch, where the branch is taken."""
        if self.guards and operation.name in SAFE and any(v.traced for v in values):
            safe = real(SAFE[operation.name])
            values = [self._guarded(v, safe) if v.traced else v for v in values]
        if self.counted is not None and any(v.traced for v in values):
            values = self._where_it_counts(operation, self.counted, values)
        return self.graph.apply(operation, values, kind, keywords, node)

    def _where_it_counts(
        self, operation: Operation, counted: Value, values: Sequence[Value]
    ) -> list[Value]:
        """Return operands with harmless ones where data say that a result does not count.

        Raises a `LanesDifferError` if the operation is none of which these are known.
        """
        safe, found = HARMLESS.get(operation.name), []
        if safe is None and operation.name not in FINITE:
            raise LanesDifferError
        for value in values:
            if not value.traced:
                found.append(harmless(value, counted, safe is not None))
                continue
            elements = np.asarray(value.array)
            if not np.isfinite(self.graph.numbers(elements[elements < 0])).all():
                raise LanesDifferError
            if safe is not None:
                operands = [counted, value, real(safe)]
                value = self.graph.apply(CHOOSE_BY_DATA, operands, value.kind)
            found.append(value)
        return found

    def _guarded(self, value: Value, safe: Value) -> Value:
        guard = self.guards[-1]
        return self.graph.apply(CHOOSE, [guard, value, safe], value.kind)

    def real(self, value: Value) -> Value:
        """Return whole numbers as real ones; truth values that parameters decide as 0 and 1."""
        if value.kind != "int":
            return value
        if value.traced:
            return self.graph.apply(AS_NUMBER, [value], "real")
        array = np.asarray(value.array, dtype=float)[()]
        return Value("real", array, laned=value.laned, source=value.source)

    def promoted(self, value: Any, declared: n.Type) -> Any:
        """Return a value as a type of real or complex numbers has it; others as they are."""
        if isinstance(value, Tuple):
            pairs = zip(value.items, declared.items, strict=True)
            return Tuple([self.promoted(item, own) for item, own in pairs])
        if isinstance(value, list):
            return [self.promoted(item, declared) for item in value]
        if is_complex_type(declared.kind):
            return as_complex(value)
        return self.real(value) if declared.kind == "real" else value

    @contextmanager
    def in_lanes(self, chosen: Any) -> Iterator[None]:
        """Run what is inside in some of the lanes alone."""
        yield

    def by_lane(self, truth: Any, then: Value, otherwise: Value) -> Value:
        """Put values of two sorts of lanes together again."""
        if then.shape != otherwise.shape:
            raise LanesDifferError
        traced = then.traced or otherwise.traced
        parts = [self.graph.elements(v) if traced else v.array for v in (then, otherwise)]
        kind = then.kind if otherwise.kind == "int" else otherwise.kind
        array = np.empty((len(truth), *then.shape), np.result_type(*map(np.asarray, parts)))
        array[truth], array[~truth] = parts
        return Value(kind_of(kind, array), array, traced, True)

    @contextmanager
    def guarded(self, condition: Value) -> Iterator[None]:
        """Evaluate what is inside for where a condition on parameters holds."""
        if self.guards:
            condition = self.graph.apply(AND, [self.guards[-1], condition], "int")
        self.guards.append(condition)
        try:
            yield
        finally:
            self.guards.pop()

    @contextmanager
    def counting(self, holds: Value) -> Iterator[None]:
        """Evaluate what is inside as what counts where a condition on data holds."""
        before = self.counted
        if before is not None:
            both = np.logical_and(before.array, holds.array)[()]
            holds = Value("int", both, laned=before.laned or holds.laned)
        self.counted = holds
        try:
            yield
        finally:
            self.counted = before

    def choose(self, condition: Value, then: Any, otherwise: Any, node: n.Node) -> Any:
        """Return one value where a condition holds, and another where not."""
        if isinstance(then, Tuple):
            pairs = zip(then.items, otherwise.items, strict=True)
            return Tuple([self.choose(condition, a, b, node) for a, b in pairs])
        if isinstance(then, list):
            both = zip(then, otherwise, strict=True)
            return [self.choose(condition, a, b, node) for a, b in both]
        if then.shape != otherwise.shape:
            raise SizeError(
                f"both branches must have one shape; they have {then.shape} and {otherwise.shape}"
            )
        kind = then.kind if otherwise.kind == "int" else otherwise.kind
        if condition.laned or then.laned or otherwise.laned or not then.rank:
            return self.graph.apply(CHOOSE, [condition, then, otherwise], kind, (), node)
        first, second = (np.array(self.graph.elements(v)) for v in (then, otherwise))
        differ = first != second
        holds = condition.like(condition.array[differ]) if condition.rank else condition
        sides = [Value("real", e[differ], True) for e in (first, second)]
        chosen = self.graph.apply(CHOOSE, [holds, *sides], "real", (), node)
        first[differ] = chosen.array
        return Value(kind, first, True)

    def stacked(self, items: Sequence[Value]) -> Value:
        """Return values of one shape as an array."""
        kinds = {v.kind for v in items}
        if not (len(kinds) == 1 or kinds <= {"int", "real", "complex"}):
            raise MisfitError(f"the elements are of different types: {', '.join(sorted(kinds))}")
        traced, laned = any(v.traced for v in items), any(v.laned for v in items)
        kind = kinds.pop() if len(kinds) == 1 else "complex" if "complex" in kinds else "real"
        if kind == "real":
            items = [self.real(v) for v in items]
        arrays = [self.graph.elements(v) if traced else np.asarray(v.array) for v in items]
        if laned:
            most = max(len(a) for a, v in zip(arrays, items, strict=True) if v.laned)
            arrays = [
                a if v.laned else np.broadcast_to(a, (most, *np.shape(a)))
                for a, v in zip(arrays, items, strict=True)
            ]
        if len({np.shape(a) for a in arrays}) > 1:
            raise SizeError("the elements have different sizes")
        array = np.stack(arrays, axis=int(laned))
        if kind != "int" and not traced:
            array = array.astype(np.result_type(array, float))
        return Value(kind, array, traced, laned)
