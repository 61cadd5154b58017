"""One run of a program with its data, up to the end of its model block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from probmodel.errors import DataError, alike
from probmodel.stan.assembling import Assembly, Leaf
from probmodel.stan.complaints import Sources
from probmodel.stan.constrained import CONSTRAINED
from probmodel.stan.data import checked, declared_shape, read_declared, stored_kind
from probmodel.stan.density_terms import Increment
from probmodel.stan.generated import Generated
from probmodel.stan.library.density_names import split_density_name
from probmodel.stan.operators import CHOOSE, COMPARISONS
from probmodel.stan.ranges import Ranges
from probmodel.stan.side_by_side import parts, root
from probmodel.stan.solver_calls import HigherOrder
from probmodel.stan.stan_values import Value, real
from probmodel.stan.syntax import nodes as n
from probmodel.stan.syntax.printing import text_of
from probmodel.stan.traced_graph import Operation
from probmodel.stan.tuple_parts import parts_of, put_together, taken_apart

_SEED = 1  # of what transformed data draw at random, so that a model is the same each time


class Run:
    """What a program makes of data.

    Parameters
    ----------
    program : its tree
    sources : its text, by file
    given : data, by name

    Attributes
    ----------
    assembly : the declarations that come of it
    data : values of what the data block declares, by name
    known : the same with transformed data
    unknown : data that were not given and can be simulated: nothing but a distribution uses them
    """

    def __init__(self, program: n.Program, sources: Sources, given: Mapping[str, Any]) -> None:
        self._program, self._given = program, given
        self.interpreter = HigherOrder(program.functions, sources)
        self._observed, self._simulated = _distributed_names(program)
        self.unknown: list[str] = []
        self._empty: dict[str, Value] = {}  # parameters without elements
        frame: dict[str, Any] = {}
        self._read(frame)
        self.data = dict(frame)
        self._transform_data(frame)
        self.known = dict(frame)
        leaves = self._parameters(frame)
        self._leaves = leaves
        self._places: dict[str, n.Declare] = {}  # of transformed parameters
        self._transformed = self._transform(frame)
        local = dict(frame)
        self.interpreter.run(program.blocks.get("model", ()), local)
        arrays = {k: v.array for k, v in self.known.items() if isinstance(v, Value)}
        self.assembly = Assembly(self.interpreter, leaves, self._transformed, self._places, arrays)

    def _read(self, frame: dict[str, Any]) -> None:
        run = self.interpreter
        for node in self._program.blocks.get("data", ()):
            assert isinstance(node, n.Declare)
            sizes = run.sizes(node.type, frame)
            if node.name not in self._given:
                if node.name not in self._simulated:
                    self._refuse_missing(node)
                self.unknown.append(node.name)
                kind, shape = stored_kind(node.type.kind), declared_shape(node.type, sizes)
                value = Value(kind, np.ones(shape, int if kind == "int" else float)[()])
                frame[node.name] = self._sourced(node.name, value)
                continue
            given = self._given[node.name]
            value = read_declared(node.type, sizes, given, node.name, node.place, run.sources)
            checked(
                value, node.type, self._bounds(node.type, frame), node.name, node.place, run.sources
            )
            frame[node.name] = put_together(node.type, taken_apart(node.type, value, run.stacked))

    def _refuse_missing(self, node: n.Declare) -> NoReturn:
        """Name the data that have to be there and are not; others may be left out."""
        names = [d.name for d in self._program.blocks["data"] if isinstance(d, n.Declare)]
        missing = [m for m in names if m not in self._given and m not in self._simulated]
        listed = ", ".join(repr(name) for name in missing)
        hint = alike(node.name, set(self._given) - set(names))
        self.interpreter.fail(
            f"the data lack {listed}: the program declares {text_of(node.type)} {node.name}.{hint}",
            node,
            DataError,
            needs=missing,
        )

    def _bounds(self, type_: n.Type, frame: dict[str, Any]) -> Any:
        """Return the bounds of a declaration; of a tuple, those of each element."""
        if type_.kind == "tuple":
            return [self._bounds(item, frame) for item in type_.items]
        return {key: self.interpreter.value(e, frame) for key, e in type_.bounds.items()}

    def _sourced(self, name: str, value: Any) -> Any:
        """Let elements of what may follow a distribution remember which they are."""
        if name in self._observed and isinstance(value, Value) and not value.traced:
            shape = np.shape(value.array)
            value.source = name, np.arange(int(np.prod(shape))).reshape(shape)
        return value

    def _transform_data(self, frame: dict[str, Any]) -> None:
        block = self._program.blocks.get("transformed data", ())
        self.interpreter.rng = np.random.default_rng(_SEED)
        self.interpreter.run(block, frame)
        self.interpreter.rng = None
        for node in block:
            if isinstance(node, n.Declare):
                value = frame[node.name]
                if not isinstance(value, list):
                    bounds, sources = self._bounds(node.type, frame), self.interpreter.sources
                    checked(value, node.type, bounds, node.name, node.place, sources)
                frame[node.name] = self._sourced(node.name, value)

    def _parameters(self, frame: dict[str, Any]) -> list[Leaf]:
        leaves = []
        for node in self._program.blocks.get("parameters", ()):
            assert isinstance(node, n.Declare)
            declared = self.interpreter.declared(node.type, frame)
            bounds = self._bounds(node.type, frame)
            shape = declared.shape
            if not int(np.prod(shape)):
                frame[node.name] = self._empty[node.name] = declared
                continue
            elements = self.interpreter.graph.leaf(node.name, shape, node)
            frame[node.name] = Value(declared.kind, elements, True)
            leaves.append(Leaf(node, shape, np.asarray(elements), bounds))
        return leaves

    @property
    def order(self) -> list[str]:
        """Names of parameters and transformed parameters, as the program has them."""
        return [*(leaf.node.name for leaf in self._leaves), *self._transformed]

    def check_simulation(self) -> None:
        """Raise a `ModelError` if data cannot be simulated from what the program says of them."""
        declared = self.assembly.declarations
        for name, of in self.assembly.sources.items():
            whole = name == of and np.size(self.assembly.observed[name]) == np.size(
                self.known[of].array
            )
            if whole and of in self._simulated and of in self.data:
                continue
            raise declared[name].model_error(
                f"{declared[name].title} cannot be simulated: {of!r} must be declared in the data "
                "block, follow one distribution as a whole, and be used for nothing else.",
                name=name,
            )

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of data, parameters and transformed parameters, by name."""
        found = {k: np.shape(v.array) for k, v in self.data.items() if isinstance(v, Value)}
        found |= {leaf.node.name: leaf.shape for leaf in self._leaves}
        return found | {name: value.shape for name, value in self._transformed.items()}

    def generated(self, dims: Mapping[str, tuple[str, ...]]) -> Generated | None:
        """Return the generated quantities, if there are some; ``dims`` has names of axes.

        There are none if they use data that were not given.
        """
        block = self._program.blocks.get("generated quantities", ())
        used = {part.name for part in parts(block) if isinstance(part, n.Name)}
        if used & set(self.unknown):
            return None
        transformed = self._program.blocks.get("transformed parameters", ())
        nodes = [leaf.node for leaf in self._leaves]
        nodes += [node for node in transformed if isinstance(node, n.Declare)]
        given = {node.name: node.type for node in nodes}
        known = self.known | self._empty
        found = Generated(self._program, self.interpreter.sources, known, given, dims)
        return found if found.variables else None

    def _transform(self, frame: dict[str, Any]) -> dict[str, Value]:
        block = self._program.blocks.get("transformed parameters", ())
        self.interpreter.run(block, frame)
        found: dict[str, Value] = {}
        for node in block:
            if isinstance(node, n.Declare):
                types = parts_of(node.type, node.name)
                values = taken_apart(node.type, frame[node.name], self.interpreter.stacked)
                if not values:
                    values = [self.interpreter.declared(t, frame) for t in types.values()]
                found |= dict(zip(types, values, strict=True))
                self._places |= dict.fromkeys(types, node)
                for name, type_ in types.items():
                    self._check_bounds(replace(node, name=name, type=type_), found[name], frame)
        return found

    def _check_bounds(self, node: n.Declare, value: Value, frame: dict[str, Any]) -> None:
        """Give points at which a transformed parameter is not of its type no density, as in Stan.

        Bounds that it cannot leave are not looked at. Those that data decide are checked now.
        """
        run, bounds = self.interpreter, self._bounds(node.type, frame)
        if not value.traced:
            checked(value, node.type, bounds, node.name, node.place, run.sources)
            return
        ranges = Ranges(run.graph, {leaf.node.name: leaf.range() for leaf in self._leaves})
        for side, end, operator in (("lower", 0, "<"), ("upper", 1, ">")):
            bound = bounds.get(side)
            if bound is None or not np.size(value.array):
                continue
            known = ranges.of(run.graph.elements(bound))[1 - end]
            reached = ranges.of(value.array)[end]
            if reached >= known if side == "lower" else reached <= known:
                continue
            self._forbid(run.apply(COMPARISONS[operator], [value, bound], "int", node), node)
        entry = CONSTRAINED.get(node.type.kind)
        for function in entry.violated if entry is not None else ():
            operation = Operation(node.type.kind, function, (2 if value.kind == "matrix" else 1,))
            self._forbid(run.apply(operation, [value], "int", node), node)

    def _forbid(self, outside: Value, node: n.Declare) -> None:
        """Give points at which some of these are true no density."""
        run = self.interpreter
        if np.size(outside.array):
            counted = run.apply(CHOOSE, [outside, real(-np.inf), real(0.0)], "real", node)
            run.add(Increment(node, counted))


def _distributed_names(program: n.Program) -> tuple[set[str], set[str]]:
    """Return the variables whose elements are given a distribution, and those with no other use."""
    found: set[str] = set()
    uses: dict[str, int] = {}
    lone: dict[str, int] = {}
    blocks = {k: v for k, v in program.blocks.items() if k != "generated quantities"}
    for node in parts(tuple(blocks.values())):
        value = None
        if isinstance(node, n.Tilde):
            value = node.value
        elif isinstance(node, n.Call) and node.args:
            split = split_density_name(node.name)
            value = node.args[0] if split and split[1] == "density" else None
            if node.name in ("size", "num_elements", "rows", "cols", "dims"):
                _count(lone, [root(node.args[0])])
        elif isinstance(node, n.Name):
            _count(uses, [node.name])
        found |= {p.name for p in parts(value) if isinstance(p, n.Name)}
        if isinstance(value, n.Name | n.Index):
            _count(lone, [root(value)])
    return found, {name for name in found if uses.get(name) == lone.get(name)}


def _count(counts: dict[str, int], names: list[str]) -> None:
    for name in names:
        counts[name] = counts.get(name, 0) + 1
