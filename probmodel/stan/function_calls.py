"""Calls of functions: those of the tables, densities, and what takes functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import prod
from typing import Any

import numpy as np

from probmodel.distributions.base import Distribution
from probmodel.errors import nearest
from probmodel.functions import log_ccdf, log_cdf, log_density
from probmodel.stan.expressions import Expressions
from probmodel.stan.indexing import LanesDifferError, MisfitError, SizeError
from probmodel.stan.library.argument_checks import (
    check_data,
    check_move,
    check_numbers,
    check_sizes,
    check_whole,
)
from probmodel.stan.library.data_functions import CONSTANTS, OF_DATA, SIZES
from probmodel.stan.library.density_names import split_density_name
from probmodel.stan.library.elementwise import ELEMENTWISE, KINDS, WHOLE_NUMBERS
from probmodel.stan.library.entries import Move, Whole
from probmodel.stan.library.moves import MOVES
from probmodel.stan.library.overloads import OPERATORS, TUPLES, meaning
from probmodel.stan.library.rng_functions import (
    draw_kind,
    draw_ranks,
    has_draws,
    hidden_paths,
    random,
)
from probmodel.stan.library.stan_densities import DENSITIES, Density, density_of, raised
from probmodel.stan.library.table_names import TABLE_NAMES
from probmodel.stan.library.whole import WHOLE
from probmodel.stan.operators import Frame
from probmodel.stan.recording import RecordedDensity
from probmodel.stan.stan_values import RANKS, Tuple, Value, integer, kind_of, real, type_text
from probmodel.stan.syntax import nodes as n
from probmodel.stan.traced_graph import Operation, aligned

_SUM = Operation("sum", lambda x: np.sum(x, axis=-1), (1,))
_EXP = Operation("exp", np.exp)
_ADD_UP = {"density": log_density, "lcdf": log_cdf, "lccdf": log_ccdf, "cdf": log_cdf}


@cache
def _elementwise(name: str) -> Operation:
    return Operation(name, ELEMENTWISE[name])


@cache
def _whole(name: str) -> Operation:
    entry = WHOLE[name]
    return Operation(name, entry.function, entry.ranks, None, entry.batched, entry.single)


@cache
def density_operation(name: str, what: str = "density", variant: str = "") -> Operation:
    """Return the log density of a distribution, or log probability, one number for each value."""
    density, function = density_of(name, ("", "", variant)), _ADD_UP[what]

    def evaluate(value: Any, *args: Any) -> Any:
        return function(distribution(density, value, args), value)

    def shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
        if name.endswith("_glm"):
            return shapes[0]
        batches = (s[: len(s) - r] for s, r in zip(shapes, density.ranks, strict=True))
        return np.broadcast_shapes(*batches)

    return Operation(f"{name}_{what}", evaluate, density.ranks, shape)


def distribution(density: Density, value: Any, args: Sequence[Any]) -> Distribution:
    """Return the distribution of a value, given arrays or symbols for its parameters."""
    return density.make(*((value,) if density.takes_value else ()), *args)


class Calls(Expressions):
    """What functions return."""

    rng: np.random.Generator | None = None

    def call(self, node: n.Call, frame: Frame) -> Any:
        """Return what a function returns."""
        special = self.special(node)
        if special is not None:
            with self.at(node):
                return special(node, frame)
        args = [self.evaluate(a, frame) for a in node.args]
        if self.is_own(node.name, args):
            return self.user_function(node.name, args, node)
        return self.named(node.name, args, node)

    def special(self, node: n.Call) -> Callable[[n.Call, Frame], Any] | None:
        """Return what evaluates a call whose arguments are not all values."""
        return None

    def is_own(self, name: str, args: Sequence[Any]) -> bool:
        """Whether a call means a function of the program, and not one of the tables."""
        raise NotImplementedError

    def user_function(self, name: str, args: list[Any], node: n.Node) -> Any:
        """Return what a function of the program returns; None if it has none of that name."""
        raise NotImplementedError

    def own_functions(self) -> list[str]:
        """Return the names of the functions of the program."""
        return []

    def named(self, name: str, values: list[Any], node: n.Node) -> Any:
        """Return what a function of the tables makes of values."""
        with self.at(node):
            if name in CONSTANTS and not values:
                return real(CONSTANTS[name])
            if name in SIZES:
                check_sizes(name, values)
                return self._sizes_of(name, values)
            if not all(isinstance(v, Value) for v in values):
                self.misfit(f"{name}({', '.join(map(type_text, values))}) is not defined.", node)
            if name in TUPLES:
                return Tuple([self.named(part, values, node) for part in TUPLES[name]])
            if name in OPERATORS and len(values) == 2:
                return self.operate(OPERATORS[name], values[0], values[1], node)
            if name == "hmm_latent_rng":
                return self._hidden_path(values, node)
            name = meaning(name, values)
            if name in ELEMENTWISE:
                check_numbers(name, values)
                return self._elementwise(name, values, node)
            if name in WHOLE:
                check_whole(name, WHOLE[name], values)
                return self._whole(WHOLE[name], name, values, node)
            if name in MOVES:
                check_move(name, MOVES[name], values)
                return self.moved(MOVES[name], values, node)
            if name in OF_DATA:
                check_data(name, OF_DATA[name][0], values)
                return self._of_data(name, values, node)
        return self._density(name, values, node)

    def _sizes_of(self, name: str, values: list[Any]) -> Value:
        if isinstance(values[0], list):  # an array of tuples
            return integer(len(values[0]))
        return SIZES[name](*values)

    def _elementwise(self, name: str, values: list[Value], node: n.Node) -> Value:
        widest = max(values, key=lambda v: (v.rank, RANKS[v.kind]))
        if any(v.rank and v.shape != widest.shape for v in values):
            shapes = ", ".join(str(v.shape) for v in values)
            raise SizeError(f"{name} takes containers of one size; got {shapes}")
        whole = all(v.kind == "int" for v in values)
        number = KINDS.get(name, "int" if whole and name in WHOLE_NUMBERS else "real")
        kind = widest.kind if RANKS[widest.kind] else number
        if kind != "int":
            values = [self.real(v) if v.traced else v for v in values]
        return self.apply(_elementwise(name), values, kind, node)

    def _whole(self, entry: Whole, name: str, values: list[Value], node: n.Node) -> Value:
        kind = entry.kind if isinstance(entry.kind, str) else entry.kind(values)
        given = [_flat(v) for v in values] if entry.flat else values
        operation = _whole(name)
        if entry.sizes:
            operation, given = self._sized(operation, entry, values, node)
        return self.apply(operation, given, kind, node)

    def _sized(
        self, operation: Operation, entry: Whole, values: list[Value], node: n.Node
    ) -> tuple[Operation, list[Value]]:
        """Return an operation that has its sizes, and the arguments that are left."""
        sizes = {i: self.common(values[i], node, "a size") for i in entry.sizes if i < len(values)}
        rest = [i for i in range(len(values)) if i not in sizes]

        def function(*arrays: Any) -> Any:
            given = {**sizes, **dict(zip(rest, arrays, strict=True))}
            return entry.function(*(given[i] for i in range(len(values))))

        ranks = operation.own_ranks(len(values))
        sized = Operation(operation.name, function, tuple(ranks[i] for i in rest))
        return sized, [values[i] for i in rest]

    def moved(self, move: Move, values: list[Value], node: n.Node) -> Value:
        """Cut, join or repeat elements."""
        kind = move.kind if isinstance(move.kind, str) else move.kind(values)
        if kind != "int":
            values = [v if i in move.sizes else self.real(v) for i, v in enumerate(values)]
        parts = [v for i, v in enumerate(values) if i not in move.sizes]
        traced, laned = any(v.traced for v in parts), any(v.laned for v in parts)
        offset, given, pools = 0, [], []
        for i, value in enumerate(values):
            if i in move.sizes:
                sizes = self.common(value, node, "a size")
                given.append(int(sizes) if np.ndim(sizes) == 0 else sizes)
                continue
            size = prod(value.shape)
            given.append(offset + np.arange(size).reshape(value.shape))
            offset += size
            pools.append(self.graph.elements(value) if traced else np.asarray(value.array))
        options = {"zero": offset, "one": offset + 1} if move.fills else {}
        where = np.asarray(move.function(*given, **options))
        if move.fills:
            pools += [self.graph.constants(x) if traced else np.asarray(x) for x in (0, 1)]
            parts = [*parts, Value(parts[0].kind, 0), Value(parts[0].kind, 1)]
        array = _gathered(pools, parts, where, laned)
        found = Value(kind_of(kind, array), array, traced, laned)
        if len(parts) == 1 and parts[0].source is not None and not laned:
            name, places = parts[0].source
            found.source = name, np.asarray(places).reshape(-1)[where]
        return found

    def _of_data(self, name: str, values: list[Value], node: n.Node) -> Value:
        function, kinds = OF_DATA[name]
        kind = kinds if isinstance(kinds, str) else kinds(values)
        if any(v.traced for v in values):
            self.fail(f"{name} takes data; this depends on parameters.", node)
        if not any(v.laned for v in values):
            return Value(kind, function(*(v.array for v in values)))
        lanes = next(len(v.array) for v in values if v.laned)
        found = [
            function(*(v.array[i] if v.laned else v.array for v in values)) for i in range(lanes)
        ]
        if len({np.shape(f) for f in found}) > 1:
            raise LanesDifferError
        return Value(kind, np.stack(found), laned=True)

    # -- distributions -----------------------------------------------------------------------------

    def _density(self, name: str, values: list[Value], node: n.Node) -> Value:
        split = split_density_name(name)
        if name in CONSTANTS:
            self.misfit(f"{name} takes no arguments; got {len(values)}.", node)
        if name in DENSITIES:
            suffix = "lpmf" if DENSITIES[name].discrete else "lpdf"
            self.misfit(
                f"{name} is a distribution: write x ~ {name}(...), or {name}_{suffix}(x | ...).",
                node,
            )
        if split is None or split[0] not in DENSITIES:
            self.misfit(no_function(name, self.own_functions()), node)
        with self.at(node):
            if split[1] == "rng":
                return self._random(split[0], values, node)
            return self.log_density(split[0], values, node, split[1])

    def log_density(
        self, name: str, values: list[Value], node: n.Node, what: str = "density"
    ) -> Value:
        """Return the log density of values, or the log probability, added up."""
        values = self.parameters_of(name, values, node)
        operation = density_operation(name, what, _variant(name, values))
        elements = self.apply(operation, values, "real", node)
        total = elements
        if elements.rank:
            total = self.apply(_SUM, [_flat(elements)], "real", node)
        if what == "density" and values[0].traced and not total.laned:
            found = RecordedDensity(self.graph.steps[-1], node, name, values)
            self.densities[int(total.array)] = found
        return self.apply(_EXP, [total], "real", node) if what == "cdf" else total

    def parameters_of(self, name: str, values: Sequence[Any], node: n.Node) -> list[Value]:
        """Return a value and the parameters of a distribution as its entry has them.

        Raises a `MisfitError` if there are too many or too few, or they are numbers where vectors
        are needed.
        """
        density = density_of(name, [v.kind if isinstance(v, Value) else "" for v in values[1:]])
        takes = len(density.ranks) - 1
        if len(values) - 1 != takes:
            raise MisfitError(f"{name} takes {takes} parameters; got {len(values) - 1}")
        found = []
        for i, (value, rank) in enumerate(zip(values, density.ranks, strict=True)):
            what = "its value" if i == 0 else f"parameter {i}"
            if not isinstance(value, Value):
                raise MisfitError(f"{name}: {what} is a {type_text(value)}")
            glm = name.endswith("_glm")
            if value.rank < rank and glm:
                value = value.like(raised(np.asarray(value.array), value.rank, rank))
            if value.rank < rank or (glm and value.rank > rank):
                takes_a = ("number", "vector", "matrix")[rank]
                raise MisfitError(
                    f"{name}: {what} is a {type_text(value)}, and must be a {takes_a}"
                )
            found.append(value)
        if density.discrete and found[0].traced:
            raise MisfitError(f"{name} is discrete, and so its value must come from data")
        if density.discrete and found[0].kind != "int":
            raise MisfitError(
                f"{name} is discrete: its value must be whole numbers, not a {type_text(found[0])}"
            )
        _check_sizes(name, found, density.ranks)
        return found

    def _generator(self, name: str, values: list[Value], node: n.Node) -> np.random.Generator:
        """Return where random numbers come from."""
        if self.rng is None:
            self.fail(f"{name}_rng draws at random, which is for generated quantities.", node)
        if any(v.traced for v in values):
            self.fail(f"{name}_rng takes numbers; this depends on parameters.", node)
        return self.rng

    def _hidden_path(self, values: list[Value], node: n.Node) -> Value:
        rng = self._generator("hmm_latent", values, node)
        if [v.rank for v in values] != [2, 2, 1]:
            self.misfit("hmm_latent_rng takes two matrices and a vector.", node)
        omega, transition, start = (v.array for v in values)
        if self.lanes is not None:  # a path for each draw, even of probabilities that all have
            start = start + np.zeros((self.lanes, 1))
        return Value(
            "int", hidden_paths(rng, omega, transition, start), laned=self.lanes is not None
        )

    def _random(self, name: str, values: list[Value], node: n.Node) -> Value:
        rng = self._generator(name, values, node)
        if not has_draws(name):
            self.misfit(f"there is no {name}_rng.", node)
        ranks = draw_ranks(name)
        if len(values) != len(ranks):
            raise MisfitError(f"{name}_rng takes {len(ranks)} arguments; got {len(values)}")
        for i, (value, rank) in enumerate(zip(values, ranks, strict=True), 1):
            if value.rank < rank:
                takes = ("number", "vector", "matrix")[rank]
                raise MisfitError(
                    f"{name}_rng: argument {i} is a {type_text(value)}, and must be a {takes}"
                )
        given = Operation(name, np.add, ranks or None)
        arrays = aligned(given, [v.array for v in values], [v.laned for v in values])
        axes = max((v.rank - r for v, r in zip(values, ranks, strict=True)), default=0)
        batch = () if self.lanes is None else (self.lanes, *(1,) * axes)
        drawn = random(name, rng, arrays, batch)
        return Value(draw_kind(name), drawn, laned=self.lanes is not None)


def no_function(name: str, own: Iterable[str]) -> str:
    """Say that there is no function of a name, and which one may be meant; ``own`` are others."""
    densities = [f"{d}_{'lpmf' if e.discrete else 'lpdf'}" for d, e in DENSITIES.items()]
    draws = [f"{d}_rng" for d in DENSITIES if has_draws(d)]
    known = [*TABLE_NAMES, *densities, *draws, *own]
    return f"there is no function {name!r} here.{nearest(name, known)}"


def _check_sizes(name: str, values: Sequence[Value], ranks: Sequence[int]) -> None:
    """Raise a `SizeError` if containers are of different sizes."""
    if name.endswith("_glm"):
        return
    batches = [v.shape[: v.rank - r] for v, r in zip(values, ranks, strict=True)]
    if len({b for b in batches if b}) > 1:
        sizes = ", ".join(" x ".join(map(str, b)) if b else "1" for b in batches)
        raise SizeError(f"{name} takes containers of one size, and numbers; got {sizes}")


def _variant(name: str, values: Sequence[Value]) -> str:
    return values[3].kind if name == "gaussian_dlm_obs" else ""


def _flat(value: Value) -> Value:
    """Return the elements as a vector."""
    lead = np.shape(value.array)[: int(value.laned)]
    return value.like(np.reshape(value.array, (*lead, -1)))


def _gathered(pools: list[Any], parts: Sequence[Value], where: Any, laned: bool) -> Any:
    """Return the elements of several arrays at flat positions, in each lane."""
    if not laned:
        flat = np.concatenate([np.reshape(p, -1) for p in pools])
        return flat[where]
    lanes = next(len(p) for p, v in zip(pools, parts, strict=True) if v.laned)
    rows = [
        np.reshape(p, (lanes, -1))
        if v.laned
        else np.broadcast_to(np.reshape(p, -1), (lanes, np.size(p)))
        for p, v in zip(pools, parts, strict=True)
    ]
    return np.concatenate(rows, axis=1)[:, where]
