"""Names of the functions that are in the tables, and which of them return whole numbers."""

from __future__ import annotations

from collections.abc import Sequence

from probmodel.stan.library.data_functions import CONSTANTS, OF_DATA, SIZES
from probmodel.stan.library.density_names import split_density_name
from probmodel.stan.library.elementwise import ELEMENTWISE, KINDS, WHOLE_NUMBERS
from probmodel.stan.library.entries import Kind, number, same, wider
from probmodel.stan.library.moves import MOVES
from probmodel.stan.library.overloads import OPERATORS, TUPLES
from probmodel.stan.library.stan_densities import DENSITIES
from probmodel.stan.library.whole import WHOLE


def _names(table: Sequence[str]) -> frozenset[str]:
    """Return names without what tells the meanings of one apart."""
    return frozenset(name.partition(":")[0] for name in table)


TABLE_NAMES = frozenset().union(
    *(
        _names([*table])
        for table in (CONSTANTS, ELEMENTWISE, MOVES, OF_DATA, OPERATORS, SIZES, TUPLES, WHOLE)
    )
)
_OF_ARGUMENTS: dict[str, Kind] = {
    **{name: entry.kind for name, entry in MOVES.items()},
    **{name: entry.kind for name, entry in WHOLE.items()},
    **{name: kind for name, (_, kind) in OF_DATA.items()},
}
# What returns whole numbers always, and where all arguments that are no sizes are whole.
_ALWAYS = frozenset(
    {*SIZES, *(k for k, kind in {**KINDS, **_OF_ARGUMENTS}.items() if kind == "int")}
)
_OF_WHOLE = _names([*WHOLE_NUMBERS, *OPERATORS]) | _names(
    [name for name, kind in _OF_ARGUMENTS.items() if kind in (same, number, wider)]
)


def is_built_in(name: str) -> bool:
    """Whether a name is that of a function of the tables."""
    return name in TABLE_NAMES or split_density_name(name) is not None


def returns_whole(name: str, whole: Sequence[bool]) -> bool:
    """Whether a function of the tables returns whole numbers.

    ``whole`` tells of each argument whether it is a whole number, or an array of them.
    """
    split = split_density_name(name)
    if split is not None:
        return split[1] == "rng" and DENSITIES[split[0]].discrete
    return name in _ALWAYS or name == "hmm_latent_rng" or (name in _OF_WHOLE and all(whole))
