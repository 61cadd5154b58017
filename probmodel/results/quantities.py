"""The scalar quantities whose convergence is checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from probmodel.results.convergence import (
    ESS_LIMIT,
    RHAT_LIMIT,
    Convergence,
    convergence,
    ensemble_convergence,
    screened,
    screening_stride,
)
from probmodel.results.draws import element_labels
from probmodel.threads import shared
from probmodel.types import Array, Posterior

if TYPE_CHECKING:
    from probmodel.inference.sample_run import SampleRun

_MOST_DERIVED = 20_000_000  # numbers in derived quantities that are checked: a few seconds of work
_MANY = 4_000_000  # numbers, from which on not all draws tell what divergences depend on
_SLAB = 16  # rows copied at a time: neighbours in memory are read together


class Quantities(NamedTuple):
    """Named scalar quantities with their draws and diagnostics.

    Attributes
    ----------
    names : one per quantity
    blocks : arrays (rows, chains, draws), in the order of ``names``
    convergence : R-hat and effective sample sizes, one per quantity
    """

    names: list[str]
    blocks: list[Array]
    convergence: Convergence

    def row(self, index: int) -> Array:
        """Draws of one quantity: (chains, draws)."""
        for block in self.blocks:
            if index < len(block):
                return np.asarray(block[index], dtype=np.float64)
            index -= len(block)
        raise IndexError(index)


def slabs(blocks: list[Array]) -> list[Array]:
    """Cut blocks, (rows, chains, draws), into parts of a few rows, to be copied one at a time."""
    return [
        block[start : start + _SLAB] for block in blocks for start in range(0, len(block), _SLAB)
    ]


def quantities(
    run: SampleRun, posterior: Posterior, draws: Mapping[str, Array], ensemble: bool = False
) -> Quantities:
    """All saved parameters, the derived quantities that were saved, and what was not saved.

    Parameters that were left out of ``draws`` are checked as unconstrained coordinates, so that
    saving less hides nothing. Derived quantities are skipped when they are too many to be checked
    in seconds. ``ensemble`` says that only the groups of chains are independent.
    """
    derived = sum(
        draws[v.name].size for v in posterior.variables if v.kind != "param" and v.name in draws
    )
    names, blocks = rows_of(posterior, run.x, draws, derived=derived <= _MOST_DERIVED)
    stride = screening_stride(*run.x.shape[:2])
    if run.divergences.chain.size and sum(block.size for block in blocks) < _MANY:
        stride = 1  # their number is judged by the effective sizes
    found = convergence_of(blocks, run.groups if ensemble else None, stride)
    return Quantities(names, blocks, found)


def element_rows(values: Array) -> Array:
    """Put the elements of a variable first: (chains, draws, *shape) -> (rows, chains, draws)."""
    return np.moveaxis(values.reshape(*values.shape[:2], -1), 2, 0)


def rows_of(
    posterior: Posterior, x: Array, draws: Mapping[str, Array], *, derived: bool
) -> tuple[list[str], list[Array]]:
    """Names of scalar quantities, and their values: arrays (rows, chains, draws) of views.

    ``x`` is for the parameters that are not in ``draws``; what is no parameter is taken if
    ``derived``.
    """
    names: list[str] = []
    blocks: list[Array] = []
    for variable in posterior.variables:
        if variable.name not in draws or (variable.kind != "param" and not derived):
            continue
        values = draws[variable.name]
        names += element_labels(variable, posterior.coords)
        blocks.append(element_rows(values))
    hidden = _hidden_coordinates(posterior, draws)
    if hidden.size:
        names += [posterior.coordinate_names[i] for i in hidden]
        blocks.append(element_rows(x)[hidden])
    return names, blocks


def _hidden_coordinates(posterior: Posterior, draws: Mapping[str, Array]) -> Array:
    """Positions of the coordinates of parameters that were not saved."""
    parameters = {v.name for v in posterior.variables if v.kind == "param"}
    unsaved = parameters - set(draws)
    owners = [name.split("[")[0] for name in posterior.coordinate_names]
    return np.array([i for i, owner in enumerate(owners) if owner in unsaved], dtype=np.intp)


def convergence_of(
    blocks: list[Array],
    groups: int | None,
    stride: int,
    rhat: float = RHAT_LIMIT,
    ess: float = ESS_LIMIT,
) -> Convergence:
    """Diagnostics of blocks of rows, arrays (rows, chains, draws), on several cores.

    ``groups`` are those of chains that are members of an ensemble; None if chains are independent.
    ``stride`` is that of the draws that are looked at first, see `screened`; beyond ``rhat`` and
    ``ess`` figures have to be exact.
    """

    def compute(slab: Array) -> Convergence:
        slab = np.ascontiguousarray(slab)
        if groups is not None:
            return ensemble_convergence(slab, groups)
        return convergence(slab) if stride == 1 else screened(slab, stride, rhat, ess)

    parts = shared(compute, slabs(blocks))
    empty = Convergence(*(np.empty(0) for _ in Convergence._fields))
    return Convergence(*(np.concatenate(column) for column in zip(empty, *parts, strict=True)))
