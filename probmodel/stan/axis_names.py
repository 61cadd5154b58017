"""Names of the axes of a program's variables, as `load_stan(..., dims=)` gives them, and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from probmodel.errors import DataError, ModelError, nearest
from probmodel.model.declarations import Data, Declaration, Deterministic
from probmodel.model.dimensions import Dimensions
from probmodel.stan.data import stored_kind
from probmodel.stan.stan_values import RANKS
from probmodel.stan.syntax import nodes as n
from probmodel.stan.tuple_parts import parts_of
from probmodel.types import Array

Dims = Mapping[str, str | Sequence[str]] | None
_BLOCKS = ("data", "parameters", "transformed parameters", "generated quantities")


def read_dims(dims: Dims, program: n.Program) -> dict[str, tuple[str, ...]]:
    """Return the names of axes by variable.

    Raises a `ModelError` if the program has no such variable, or not so many axes; or for what is
    no name.
    """
    if dims is None:
        return {}
    if not isinstance(dims, Mapping):
        raise ModelError(
            "dims must be a dict of names of axes by variable, such as {'theta': 'school'}; got "
            f"{type(dims).__name__}.",
            dims=dims,
        )
    known: dict[str, n.Type] = {}
    for block in _BLOCKS:
        for node in program.blocks.get(block, ()):
            if isinstance(node, n.Declare):
                whole = block == "data" and node.type.kind != "tuple"
                known |= {node.name: node.type} if whole else parts_of(node.type, node.name)
    return {name: _named(name, given, known) for name, given in dims.items()}


def _named(name: str, given: Any, known: Mapping[str, n.Type]) -> tuple[str, ...]:
    if name not in known:
        raise ModelError(
            f"dims: the program declares no {name!r}.{nearest(str(name), known)}", name=name
        )
    type_ = known[name]
    try:
        names = Deterministic(None, given).dims or ()
    except ModelError as error:
        raise ModelError(f"dims of {name!r}: {error.message}", name=name, dims=given) from None
    rank = len(type_.array) + RANKS[stored_kind(type_.kind)]
    if len(names) != rank:
        raise ModelError(
            f"dims: {name!r} has {rank} {'axis' if rank == 1 else 'axes'}; {len(names)} "
            f"{'name is' if len(names) == 1 else 'names are'} given: {', '.join(names)}.",
            name=name,
            dims=names,
        )
    for dim in names:
        if dim in known:
            raise ModelError(
                f"dims: the axis {dim!r} of {name!r} has the name of a variable of the program. "
                "Labelled arrays need different names; choose another.",
                name=name,
                dims=names,
            )
    return names


def default_dims(name: str, rank: int) -> tuple[str, ...]:
    """Return the names of axes that were given none."""
    return tuple(f"{name}_dim_{i}" for i in range(rank))


def name_axes(
    declarations: Mapping[str, Declaration],
    shapes: Mapping[str, tuple[int, ...]],
    dims: Mapping[str, tuple[str, ...]],
) -> None:
    """Name the axes of declarations; ``declarations``, ``shapes`` and ``dims`` are by name.

    What is observed of a part of the data keeps names of its own.
    """
    for name, declaration in declarations.items():
        if not isinstance(declaration, Data) and name in shapes:
            axes = dims.get(name) or default_dims(name, len(shapes[name]))
            declaration.axes = axes if len(axes) == len(shapes[name]) else None


def read_labels(
    coords: Any, shapes: Mapping[str, tuple[int, ...]], dims: Mapping[str, tuple[str, ...]]
) -> dict[str, Array]:
    """Return the labels that the user gave as ``coords``, by dim.

    ``shapes`` and ``dims`` are those of all variables, by name. Raises a `DataError` if a dim is
    unknown, or labels are none, and a `ShapeError` if sizes along a dim differ.
    """
    axes = {name: dims.get(name) or default_dims(name, len(shapes[name])) for name in shapes}
    places = Dimensions()
    places.label(coords, [dim for names in axes.values() for dim in names])
    for name, shape in shapes.items():
        places.measure_axes(name, axes[name], shape)
    return places.coords


def check_data_names(names: Iterable[str], title: str) -> None:
    """Raise a `DataError` for a datum whose name is taken."""
    if "coords" in names:
        raise DataError(
            f"{title} declares the datum 'coords', which is taken: coords=... gives labels of "
            "axes. Give it another name in the program.",
            name="coords",
        )
