"""Calls of the functions in `routines`: what they are given, and what comes back."""

from __future__ import annotations

import ctypes
from functools import cache, cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from probmodel.compiler.blocks import FIELDS, REALS
from probmodel.compiler.native import compiled
from probmodel.compiler.no_u_turn import routines as of_trees
from probmodel.compiler.routines import DECIDED
from probmodel.compiler.routines import routines as written
from probmodel.compiler.rows import SIDE_BY_SIDE
from probmodel.compiler.trajectories import FOUND, GIVEN, RESULTS
from probmodel.compiler.tree_writer import COUNTS, NUMBERS, WIDTH, tree_rows
from probmodel.compiler.tree_writer import RESULTS as OF_TREES
from probmodel.numerics.roots import LowRank
from probmodel.types import (
    Array,
    Doublings,
    Dynamics,
    Followed,
    Grown,
    Moved,
    Trajectories,
    Transitions,
)

ALIGNED = 512  # bytes; of the widest vectors
_MOST_RANK = 512  # of a root


class Routines:
    """The functions for vectors of some lanes, as Python calls them."""

    def __init__(self, lanes: int) -> None:
        self._lanes = lanes
        engine = self._engine = compiled(str(written(lanes)))
        self.evaluate = _function(engine, "evaluate", 3, 2)
        self.follow = _function(engine, "follow", 7, 3)
        self.move = _function(engine, "move", 6, 4)

    @cached_property
    def grow(self) -> Any:
        """That of the No-U-Turn sampler, which few runs need."""
        self._trees = compiled(str(of_trees(self._lanes)))
        return _function(self._trees, "grow", 9, 5)


def _function(engine: Any, name: str, arrays: int, numbers: int) -> Any:
    whole = ctypes.c_void_p  # as large as an integer of 64 bits, and faster to convert
    kinds: list[Any] = [whole, *[ctypes.py_object] * arrays, *[whole] * numbers]
    return ctypes.CFUNCTYPE(None, *kinds)(engine.get_function_address(name))


routines = cache(Routines)  # one a process


def address(array: Array) -> int:
    """Return where an array lies."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(cast(Any, array)))
    except (TypeError, ValueError):  # read-only, or without elements
        return int(array.ctypes.data)


def aligned(buffer: Array) -> int:
    """Return the first place in a buffer at which vectors may begin."""
    start = address(buffer)
    return start + -start % ALIGNED


class Fields:
    """What the functions are told besides their arguments; see `blocks.LAYOUT`.

    Attributes
    ----------
    address : where they lie
    steps : kicks and drifts, to which they refer
    setting : the last that was put
    """

    def __init__(self, values: dict[str, int | float]) -> None:
        self.values = np.zeros(len(FIELDS), dtype=np.int64)
        self._reals = self.values.view(np.float64)
        self.address = address(self.values)
        self.steps = np.empty(0)
        self.setting: Setting | None = None
        self.put(values)

    def put(self, values: dict[str, int | float]) -> None:
        """Change some of them."""
        for name, value in values.items():
            (self._reals if name in REALS else self.values)[FIELDS[name]] = value


def fields(
    block: int, places: dict[str, int], memory: int, dim: int, lanes: int
) -> tuple[Fields, int]:
    """Lay out the memory for a program's function that itself takes so many numbers.

    Returns the fields, and the numbers in all.
    """
    padded = dim + -dim % SIDE_BY_SIDE
    laid: dict[str, int | float] = {"block": block, "dim": dim, **places}
    rows = {
        "momentum": padded, "slope": padded, "product": padded, "weights": _MOST_RANK,
        "found": len(FOUND), "tree": len(NUMBERS),
    }  # fmt: skip
    for name, length in rows.items():
        laid[name] = memory
        memory += length * lanes
    return Fields(laid), memory


class PackedRoot(NamedTuple):
    """A root of the inverse mass matrix, as the functions read it.

    Attributes
    ----------
    source : the root
    fields : addresses and numbers
    arrays : what lies there
    """

    source: Any
    fields: dict[str, int | float]
    arrays: tuple[Array, ...]


def packed(root: Any, dim: int) -> PackedRoot | None:
    """Pack a root; None if it is of a kind that the functions do not know."""
    scale, basis, matrix = np.ones(dim), np.empty((dim, 0)), None
    factors = np.empty(0)
    if isinstance(root, LowRank):
        scale, basis, factors = root.scale, root.basis, root.factors
    elif isinstance(root, np.ndarray):
        scale, matrix = (root, None) if root.ndim == 1 else (scale, root)
    elif root is not None:
        return None
    if len(factors) > _MOST_RANK:
        return None
    arrays = {"scale": np.ascontiguousarray(scale, dtype=float)}
    rank = len(factors) + -len(factors) % SIDE_BY_SIDE
    if matrix is not None:
        arrays |= {"matrix": _side_by_side(matrix), "transposed": _side_by_side(matrix.T)}
    if rank:
        arrays["basis"] = _side_by_side(basis.T)
        arrays["factors"] = np.pad(factors - 1.0, (0, rank - len(factors)))
    numbers: dict[str, int | float] = {name: address(a) for name, a in arrays.items()}
    none = {"matrix": 0, "transposed": 0, "basis": 0, "factors": 0}
    return PackedRoot(root, {**none, **numbers, "rank": rank}, tuple(arrays.values()))


def _side_by_side(matrix: Array) -> Array:
    """Put the rows of a matrix side by side, some at a time, with rows of zeros for the last."""
    rows, columns = matrix.shape
    whole = rows // SIDE_BY_SIDE
    tiles = np.zeros((-(-rows // SIDE_BY_SIDE), columns, SIDE_BY_SIDE))
    tiles[:whole] = matrix[: whole * SIDE_BY_SIDE].reshape(-1, SIDE_BY_SIDE, columns).mT
    tiles[whole:, :, : rows - whole * SIDE_BY_SIDE] = matrix[whole * SIDE_BY_SIDE :].T
    return tiles


class Integrator(NamedTuple):
    """How trajectories are simulated, whatever the root and the arrays are.

    Attributes
    ----------
    kicks, drifts : of the integrator
    finest, recorded : halvings of the step, and steps that are written down
    limits : `REALS`
    """

    kicks: tuple[float, ...] = ()
    drifts: tuple[float, ...] = ()
    finest: int = 0
    recorded: int = 0
    limits: tuple[float, ...] = (0.0, np.inf, np.inf, -np.inf)


class Setting(NamedTuple):
    """What many calls have in common."""

    root: PackedRoot
    integrator: Integrator

    def is_of(self, work: Dynamics) -> bool:
        """Whether some work has it."""
        return self.root.source is work.root and self.integrator == _integrator(work)

    def put(self, fields: Fields) -> None:
        """Write it to the fields."""
        kicks, drifts, finest, recorded, limits = self.integrator
        steps = np.array([*kicks, *drifts])
        fields.steps, fields.setting = steps, self
        fields.put({
            **self.root.fields, "stages": len(drifts), "kicks": address(steps),
            "drifts": address(steps) + 8 * len(kicks), "finest": finest, "recorded": recorded,
            **dict(zip(REALS, limits, strict=True)),
        })  # fmt: skip


def setting(work: Dynamics) -> Setting | None:
    """Return what to tell of some work; None if its root is of an unknown kind."""
    root = packed(work.root, work.x.shape[1])
    return None if root is None else Setting(root, _integrator(work))


def _integrator(work: Dynamics) -> Integrator:
    if isinstance(work, Doublings):
        return Integrator(limits=(*Integrator().limits[:3], work.least))
    found = Integrator(work.kicks, work.drifts)
    if isinstance(work, Trajectories):
        found = found._replace(recorded=work.recorded)
    if work.halving is None:
        return found
    finest = work.halving.u.shape[-1]
    if isinstance(work, Transitions):
        finest = finest // len(work.x) - 1
    return found._replace(finest=finest, limits=(*work.halving[1:], -np.inf))


class Call:
    """One call of ``follow``, and what it fills in.

    Attributes
    ----------
    arrays : that the function takes
    gradients : that a block will take, about; one at least
    """

    def __init__(self, t: Trajectories) -> None:
        chains, dim = t.x.shape
        given = np.empty((len(GIVEN), chains))
        given[0], given[1], given[2] = t.logp, t.step_size, t.n_steps
        u = given if t.halving is None else _plain(t.halving.u)
        rows = max(1, t.recorded) * chains
        self._recorded = t.recorded
        self._out = np.empty(3 * rows * dim + t.recorded * chains)
        self._results = np.empty((len(RESULTS), chains))
        points = _plain(t.x), _plain(t.grad), _plain(t.momentum)
        self.arrays = *points, given, u, self._out, self._results
        self._shape = chains, dim
        self.gradients = len(t.drifts) * max(1.0, float(np.max(t.n_steps)))

    def followed(self) -> Followed:
        """Return what was filled in."""
        chains, dim = self._shape
        if self._recorded:
            size = 3 * self._recorded * chains * dim
            x, grad, momentum = self._out[:size].reshape(3, self._recorded, chains, dim)
            logp = self._out[size:].reshape(self._recorded, chains)
            return _followed((x, grad, momentum), self._results)._replace(logp=logp)
        return _followed(self._out.reshape(3, chains, dim), self._results)


def _followed(points: Any, results: Any) -> Followed:
    """Put together the ends of trajectories, and `RESULTS`."""
    x, grad, momentum = points
    logp, before, after, first, log_weight, level, failed, taken = results
    return Followed(
        x, grad, momentum, logp, before, after, first, log_weight,
        level.astype(int), failed > 0.0, taken.astype(int),
    )  # fmt: skip


class MoveCall:
    """One call of ``move``, and what it fills in.

    Attributes
    ----------
    arrays : that the function takes
    gradients : that a block will take, about; one at least
    """

    def __init__(self, t: Transitions) -> None:
        n, chains, dim = t.momenta.shape
        self._states = np.empty((n + 1, 2, chains, dim))
        self._states[0, 0], self._states[0, 1] = t.x, t.grad
        self._given = np.empty((n + 1, len(GIVEN), chains))
        self._given[0, 0] = t.logp
        self._given[:n, 1], self._given[:n, 2] = t.step_size, t.n_steps[:, None]
        self._out = np.empty((n, 3, chains, dim))
        self._results = np.empty((n, len(DECIDED), chains))
        points, u = (self._states, _plain(t.momenta)), _plain(t.halving.u)
        self.arrays = *points, self._given, u, self._out, self._results
        self._accepts = u[:, -chains:]
        self.gradients = len(t.drifts) * max(1.0, float(np.sum(t.n_steps)))

    def moved(self) -> Moved:
        """Return what was filled in."""
        *results, accept_prob = self._results.swapaxes(0, 1)
        ends = _followed(self._out.swapaxes(0, 1), results)
        x, grad = self._states.swapaxes(0, 1)
        return Moved(x, grad, self._given[:, 0], ends, accept_prob, self._accepts < accept_prob)


class GrowCall:
    """One call of ``grow``, and what it fills in.

    Attributes
    ----------
    arrays : that the function takes
    gradients : that a block will take, at least
    """

    def __init__(self, d: Doublings, trees: Array) -> None:
        n, chains, dim = d.momenta.shape
        self._logp, self.gradients = d.logp, float(n)
        self._states = np.empty((n + 1, 2, chains, dim))
        self._states[0, 0], self._states[0, 1] = d.x, d.grad
        self._results, self._broken = np.empty((n, len(OF_TREES), chains)), np.empty_like(d.momenta)
        steps = np.full(chains, d.step_size, dtype=float)
        counts = np.zeros((chains, len(COUNTS)), dtype=np.int64)
        self.arrays = (
            _plain(d.logp), self._states, _plain(d.momenta), np.ascontiguousarray(d.seeds), steps,
            trees, counts, self._results, self._broken,
        )  # fmt: skip

    @staticmethod
    def room(d: Doublings) -> tuple[int, ...]:
        """Return the shape of an array for the trees: of zeros at first."""
        chains, dim = d.x.shape
        return chains, tree_rows(d.max_depth), dim + -dim % WIDTH

    def grown(self) -> Grown:
        """Return what was filled in."""
        x, grad = self._states.swapaxes(0, 1)
        logp, energy, accept_prob, *whole = self._results.swapaxes(0, 1)
        n_steps, depth = (column.astype(int) for column in whole[:2])
        accepted, reached, diverging = (column > 0.0 for column in whole[2:])
        logp = np.concatenate([self._logp[None], logp])
        return Grown(
            x, logp, grad, energy, accept_prob, n_steps, depth, accepted, reached, diverging,
            self._broken,
        )  # fmt: skip


def _plain(array: Array) -> Array:
    """Return an array as the functions read it: row by row."""
    return np.ascontiguousarray(array, dtype=np.float64)
