"""Generated quantities: what a program computes from draws, some of it at random."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from probmodel.errors import ProbmodelError, SamplingWarning
from probmodel.stan.axis_names import default_dims
from probmodel.stan.complaints import Sources
from probmodel.stan.data import stored_kind
from probmodel.stan.indexing import LanesDifferError
from probmodel.stan.solver_calls import HigherOrder
from probmodel.stan.stan_values import Value
from probmodel.stan.syntax import nodes as n
from probmodel.stan.trial import EnoughError, Trial, plausible
from probmodel.stan.tuple_parts import parts_of, put_together, taken_apart
from probmodel.types import Array, Variable


class Generated:
    """The generated quantities of a program with its data.

    They are computed for all draws side by side, or for one after another where draws take
    different ways through the program. What is drawn at random depends on the draws alone, unless
    a generator is given: the same ones give the same quantities.

    Parameters
    ----------
    program, sources : the program
    known : data and transformed data, by name
    given : types of parameters and transformed parameters, by name
    dims : names of axes, by name, of those that have some

    Attributes
    ----------
    needs : the parameters and transformed parameters that it is computed from, by part
    variables : what it is
    """

    def __init__(
        self,
        program: n.Program,
        sources: Sources,
        known: Mapping[str, Any],
        given: Mapping[str, n.Type],
        dims: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._program, self._sources = program, sources
        self._known, self._given, self._dims = known, given, dims
        self._block = program.blocks.get("generated quantities", ())
        self.needs = tuple(part for name, t in given.items() for part in parts_of(t, name))
        self.variables = tuple(self._variables())

    def _variables(self) -> list[Variable]:
        run = HigherOrder(self._program.functions, self._sources)
        found, frame = [], dict(self._known)
        for node in self._block:
            if not isinstance(node, n.Declare):
                continue
            for name, type_ in parts_of(node.type, node.name).items():
                shape = run.shape(type_, frame)
                dims = self._dims.get(name) or default_dims(name, len(shape))
                found.append(Variable(name, shape, dims, {}, "deterministic"))
        return found

    def at(
        self, draws: Mapping[str, Array], rng: np.random.Generator | None = None
    ) -> dict[str, Array]:
        """Compute the quantities, by name, (n, *shape), of draws of what the block ``needs``.

        ``rng`` is of what is drawn at random; by default one that the draws decide. Where it fails
        for some draws, they are NaN, with a warning. Raises a `ProbmodelError` if it fails for all
        draws, or by ``fatal_error``.
        """
        rng = rng or np.random.default_rng(self._seed(draws))
        errors: list[ProbmodelError] = []
        parts = self._parts(draws, rng, errors)
        if errors:
            if len(errors) == len(next(iter(draws.values()))):
                raise errors[0]
            warnings.warn(
                f"Generated quantities are NaN at draws where they cannot be computed: {errors[0]}",
                SamplingWarning,
                stacklevel=2,
            )
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def check(self) -> None:
        """Raise an error if the block is wrong whatever the draws are: in a type, a name or a size.

        It is run once, with values that the types of the parameters allow, and up to a limit. What
        goes wrong because of these values may go right with others, and is left for the draws.
        """
        run = Trial(self._program.functions, self._sources)
        try:
            draws = {
                part: plausible(t, run.shape(t, dict(self._known)))[None]
                for name, whole in self._given.items()
                for part, t in parts_of(whole, name).items()
            }
            self._run(draws, np.random.default_rng(1), run)
        except (LanesDifferError, EnoughError):
            return
        except ProbmodelError as error:
            wrong = error.values.get("wrong")
            if wrong == "type" or (wrong == "size" and not run.by_draws):
                raise

    def _parts(
        self, draws: Mapping[str, Array], rng: np.random.Generator, errors: list[ProbmodelError]
    ) -> list[dict[str, Array]]:
        """Compute the quantities of parts of the draws that can be run together, in order."""
        count = len(next(iter(draws.values())))
        starts: Sequence[int] = range(count)
        try:
            return [self._run(draws, rng)]
        except LanesDifferError:
            pass
        except ProbmodelError as error:
            if error.values.get("fatal"):
                raise
            if count == 1:
                errors.append(error)
                return [{v.name: np.full((1, *v.shape), np.nan) for v in self.variables}]
            starts = (0, count // 2)
        found = []
        for start, stop in zip(starts, (*starts[1:], count), strict=True):
            found += self._parts({k: v[start:stop] for k, v in draws.items()}, rng, errors)
        return found

    def _seed(self, draws: Mapping[str, Array]) -> int:
        digest = hashlib.sha256()
        for name in self.needs:
            digest.update(np.ascontiguousarray(draws[name]).tobytes())
        return int.from_bytes(digest.digest()[:16], "little")

    def _run(
        self, draws: Mapping[str, Array], rng: np.random.Generator, run: HigherOrder | None = None
    ) -> dict[str, Array]:
        """Run the block, with draws in the lanes."""
        run = run or HigherOrder(self._program.functions, self._sources)
        run.lanes, run.rng = len(next(iter(draws.values()))), rng
        frame: dict[str, Any] = dict(self._known)
        for name, whole in self._given.items():
            types = parts_of(whole, name)
            parts = [
                Value(stored_kind(t.kind), np.asarray(draws[part]), laned=True)
                for part, t in types.items()
            ]
            frame[name] = put_together(whole, parts)
        with np.errstate(all="ignore"):
            run.run(self._block, frame)
        return self._saved(run, frame)

    def _saved(self, run: HigherOrder, frame: dict[str, Any]) -> dict[str, Array]:
        """Return what the block declares, tuples and complex numbers by part."""
        found: dict[str, Array] = {}
        shapes = {v.name: v.shape for v in self.variables}
        for node in self._block:
            if not isinstance(node, n.Declare):
                continue
            names = list(parts_of(node.type, node.name))
            parts = taken_apart(node.type, frame[node.name], run.stacked)
            if parts:
                found |= {k: np.asarray(v.array) for k, v in zip(names, parts, strict=True)}
            else:  # of an empty array of tuples
                found |= {k: np.empty((run.lanes or 0, *shapes[k])) for k in names}
        return found
