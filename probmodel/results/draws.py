"""Named draws: unconstrained positions turned into variables, and the labels of their elements."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from probmodel.arguments import names_among
from probmodel.errors import reason
from probmodel.inference.sample_run import Allocate, array_in_memory
from probmodel.inference.signals import attempt
from probmodel.results.findings import Finding
from probmodel.threads import shared
from probmodel.types import Array, Posterior, Variable

_CHUNK = 1 << 20  # numbers in flight while draws are transformed: 8 MB


def named_draws(
    posterior: Posterior,
    x: Array,
    names: Sequence[str] | None = None,
    allocate: Allocate = array_in_memory,
) -> dict[str, Array]:
    """Variables on their own scale at every draw.

    Parameters
    ----------
    posterior : knows how to turn a position into variables
    x : (chains, draws, dim), unconstrained
    names : the variables wanted; all by default
    allocate : makes the arrays of the result

    Returns
    -------
    dict
        name -> (chains, draws, *shape), in the order of ``posterior.variables``. The work is done
        in chunks of draws, so that memory beyond the result stays bounded.
    """
    wanted = [v for v in posterior.variables if names is None or v.name in names]
    chains, draws, dim = x.shape
    if not wanted or not x.size:
        return {v.name: np.empty((chains, draws, *v.shape)) for v in wanted}
    row_size = dim + sum(int(np.prod(v.shape)) for v in wanted)
    step = max(1, _CHUNK // max(1, row_size * chains))
    keys = tuple(v.name for v in wanted)
    wider: set[str] = set()  # integers in one chunk, and too large for that in another

    def values(start: int) -> dict[str, Array]:
        return posterior.constrain(x[:, start : start + step].reshape(-1, dim), keys)

    first = values(0)  # what it says of types: a few draws may take as long as a chunk of them
    types = {k: np.asarray(v).dtype for k, v in first.items()}

    def fill(start: int) -> None:
        part = x[:, start : start + step]
        for name, found in (values(start) if start else first).items():
            if np.can_cast(np.asarray(found).dtype, whole[name].dtype):
                shaped = np.reshape(found, (*part.shape[:2], *np.shape(found)[1:]))
                whole[name][:, start : start + step] = shaped
            else:
                wider.add(name)

    shapes = {v.name: (chains, draws, *v.shape) for v in wanted}
    whole = {name: allocate(name, shape, types[name]) for name, shape in shapes.items()}
    shared(fill, range(0, draws, step))
    if wider:
        again = {name: allocate(name, shapes[name], float) for name in keys if name in wider}
        keys, whole = tuple(again), {**whole, **again}
        shared(fill, range(0, draws, step))
    return whole


def variable_names(names: str | Sequence[str] | None, posterior: Posterior) -> tuple[str, ...]:
    """Return the names of the variables to keep, in the order of the model.

    Raises a `SamplerError` if there is no such variable, or none at all.
    """
    known = [variable.name for variable in posterior.variables]
    return names_among(known, names, of=posterior.name)


class Kept(NamedTuple):
    """Variables that could be computed.

    Attributes
    ----------
    draws : name -> (chains, draws, *shape)
    findings : one that names the others, if there are any
    interrupted : whether there are others because of an interrupt
    """

    draws: dict[str, Array]
    findings: list[Finding]
    interrupted: bool


def kept_draws(
    posterior: Posterior, x: Array, names: Sequence[str], allocate: Allocate = array_in_memory
) -> Kept:
    """Do what `named_draws` does; what fails or is interrupted costs no more than it must.

    Then the variables are computed one by one. After an interrupt deterministic ones, which can be
    computed later, are left out, and parameters are not.
    """
    draws, error = attempt(lambda: named_draws(posterior, x, names, allocate))
    if draws is not None:
        return Kept(draws, [], False)
    draws, lost = {}, []
    interrupted = isinstance(error, KeyboardInterrupt)
    for variable in posterior.variables:
        if variable.name not in names:
            continue
        part, problem = None, error
        if variable.kind == "param" or not interrupted:
            part, problem = _one(posterior, x, variable)
        if part is None:
            lost.append((variable, problem))
            interrupted |= isinstance(problem, KeyboardInterrupt)
        else:
            draws.update(part)
    return Kept(draws, [_left_out(lost)] if lost else [], interrupted)


def _one(
    posterior: Posterior, x: Array, variable: Variable
) -> tuple[dict[str, Array] | None, BaseException | None]:
    """Compute one variable; those computed later anyway can be interrupted."""
    return attempt(
        lambda: named_draws(posterior, x, [variable.name]), stoppable=variable.kind != "param"
    )


def _left_out(lost: Sequence[tuple[Variable, BaseException | None]]) -> Finding:
    """Say what is missing, why, and how to come by it."""
    whys = {v.name: "left out" if error is None else reason(error) for v, error in lost}
    listed = ", ".join(f"{name} ({why})" for name, why in whys.items())
    advice = "compute_deterministics(model, result) computes it from the parameters."
    if any(v.kind == "param" for v, _ in lost):
        advice = (
            "The group unconstrained_posterior holds the draws before they were transformed, and "
            "probmodel.density.as_posterior(model).constrain computes variables from them."
        )
    return Finding("variables_left_out", f"Not computed: {listed}. {advice}", tuple(whys))


def dim_labels(variable: Variable, labels: Mapping[str, Array]) -> dict[str, Array]:
    """Labels of each dim of a variable, whole numbers from 0 where there are none.

    ``labels`` are those of the model; the variable's own come first.
    """
    known = {**labels, **variable.coords}
    return {
        dim: plain_labels(known.get(dim, np.arange(size)))
        for dim, size in zip(variable.dims, variable.shape, strict=True)
    }


def plain_labels(labels: Array) -> Array:
    """Labels of a type that files can hold: objects become text."""
    labels = np.asarray(labels)
    return labels.astype(str) if labels.dtype.kind == "O" else labels


def element_labels(variable: Variable, labels: Mapping[str, Array]) -> list[str]:
    """Names of the elements of a variable in C order, such as ``beta[age]`` or ``L[0, 1]``."""
    if not variable.shape:
        return [variable.name]
    axes = [[str(label) for label in axis] for axis in dim_labels(variable, labels).values()]
    return [f"{variable.name}[{', '.join(index)}]" for index in itertools.product(*axes)]


def coordinate_labels(posterior: Posterior, coordinates: Sequence[int] | Array) -> tuple[str, ...]:
    """Names of unconstrained coordinates: those of the elements, where each has one of its own."""
    names = list(posterior.coordinate_names)
    owners = [name.partition("[")[0] for name in names]
    for variable in posterior.variables:
        own = [i for i, owner in enumerate(owners) if owner == variable.name]
        if variable.kind == "param" and len(own) == int(np.prod(variable.shape)):
            for i, label in zip(own, element_labels(variable, posterior.coords), strict=True):
                names[i] = label
    return tuple(names[int(i)] for i in coordinates)
