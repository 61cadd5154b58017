"""The tree of a Stan program: expressions, types, statements, functions, blocks."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple


class Place(NamedTuple):
    """Where something stands in a program's text.

    Attributes
    ----------
    file : name of the file, or ``"<stan>"`` for a program given as text
    line, column : counted from 1
    """

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """Anything of a program that has a place; nodes are told apart by identity."""

    place: Place


# -- expressions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Number(Node):
    """A whole number (``value`` is an int), a real number (a float), or ``2i`` (a complex)."""

    value: int | float | complex


@dataclass(frozen=True, slots=True, eq=False)
class Text(Node):
    """A text in quotes, as ``print`` and ``reject`` take it."""

    value: str


@dataclass(frozen=True, slots=True, eq=False)
class Name(Node):
    """A variable."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Call(Node):
    """A function applied to arguments; ``bar`` where the first is set off: ``f(y | mu)``."""

    name: str
    args: tuple[Expression, ...]
    bar: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Slice(Node):
    """An index ``lower:upper``, of which either side, or both, may be left out."""

    lower: Expression | None
    upper: Expression | None


@dataclass(frozen=True, slots=True, eq=False)
class Index(Node):
    """``base[i, j:k, :]``.

    An index that is left out (``x[]``, ``x[, 2]``) is ``Slice(None, None)``.
    """

    base: Expression
    indices: tuple[Expression | Slice, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Field(Node):
    """An element of a tuple, ``base.2``; ``position`` counts from 1."""

    base: Expression
    position: int


@dataclass(frozen=True, slots=True, eq=False)
class Unary(Node):
    """``-x``, ``+x``, ``!x``, and the transpose ``x'``, whose operator is ``"'"``."""

    operator: str
    operand: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Binary(Node):
    """``a + b`` and the other infix operators, by their Stan spelling: ``.*``, ``%/%``, ``&&``."""

    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Ternary(Node):
    """``condition ? then : otherwise``."""

    condition: Expression
    then: Expression
    otherwise: Expression


@dataclass(frozen=True, slots=True, eq=False)
class ArrayOf(Node):
    """``{a, b}``: an array."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class RowOf(Node):
    """``[a, b]``: a row vector of numbers, or a matrix of row vectors."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TupleOf(Node):
    """``(a, b)``: a tuple."""

    items: tuple[Expression, ...]


Expression = (
    Number | Text | Name | Call | Index | Field | Unary | Binary | Ternary | ArrayOf | RowOf
    | TupleOf
)  # fmt: skip


# -- types -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Type(Node):
    """A type, with the sizes and bounds that a declaration gives it.

    Attributes
    ----------
    kind : ``int``, ``real``, ``complex``, ``vector``, ``row_vector``, ``matrix``,
        ``complex_vector``, ``complex_row_vector``, ``complex_matrix``, ``simplex``,
        ``unit_vector``, ``sum_to_zero_vector``, ``sum_to_zero_matrix``, ``ordered``,
        ``positive_ordered``, ``cov_matrix``, ``corr_matrix``, ``cholesky_factor_cov``,
        ``cholesky_factor_corr``, ``row_stochastic_matrix``, ``column_stochastic_matrix``,
        ``tuple`` or ``void``
    sizes : of the kind itself: one for vectors, one or two for matrices; empty where there are none
        (scalars, and types of functions' arguments)
    array : sizes of the array around it, outermost first; None each for an argument of a function,
        where the number of axes alone is known: ``array[,] real`` has ``(None, None)``
    bounds : by ``lower``, ``upper``, ``offset`` and ``multiplier``
    items : types of a tuple's elements
    """

    kind: str
    sizes: tuple[Expression, ...] = ()
    array: tuple[Expression | None, ...] = ()
    bounds: dict[str, Expression] = field(default_factory=dict)
    items: tuple[Type, ...] = ()


# -- statements ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Declare(Node):
    """``type name;`` or ``type name = value;``; a list of names becomes one of these for each."""

    type: Type
    name: str
    value: Expression | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Assign(Node):
    """``target = value``; ``operator`` is that of ``+=`` and its like without ``=``, else empty.

    The target is a name, an index, a field, or a tuple of these.
    """

    target: Expression
    operator: str
    value: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Tilde(Node):
    """``value ~ distribution(args) T[lower, upper]``; ``truncated`` tells ``T[,]`` from none."""

    value: Expression
    distribution: str
    args: tuple[Expression, ...]
    truncated: bool = False
    lower: Expression | None = None
    upper: Expression | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Target(Node):
    """``target += value``; ``jacobian += value`` where ``jacobian`` is set."""

    value: Expression
    jacobian: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class If(Node):
    """``if (condition) then else otherwise``."""

    condition: Expression
    then: Statement
    otherwise: Statement | None = None


@dataclass(frozen=True, slots=True, eq=False)
class For(Node):
    """``for (name in lower:upper) body``."""

    name: str
    lower: Expression
    upper: Expression
    body: Statement


@dataclass(frozen=True, slots=True, eq=False)
class ForEach(Node):
    """``for (name in container) body``."""

    name: str
    container: Expression
    body: Statement


@dataclass(frozen=True, slots=True, eq=False)
class While(Node):
    """``while (condition) body``."""

    condition: Expression
    body: Statement


@dataclass(frozen=True, slots=True, eq=False)
class Break(Node):
    """``break;``."""


@dataclass(frozen=True, slots=True, eq=False)
class Continue(Node):
    """``continue;``."""


@dataclass(frozen=True, slots=True, eq=False)
class Return(Node):
    """``return value;``, or ``return;``."""

    value: Expression | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Block(Node):
    """``{ ... }``; also ``profile("name") { ... }``, whose name is of no use here."""

    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Say(Node):
    """``print(...)``, ``reject(...)`` or ``fatal_error(...)``, by ``what``."""

    what: str
    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Do(Node):
    """A call as a statement: of a function that returns nothing."""

    call: Call


Statement = (
    Declare | Assign | Tilde | Target | If | For | ForEach | While | Break | Continue | Return
    | Block | Say | Do
)  # fmt: skip


# -- programs --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Argument(Node):
    """An argument of a function's definition; ``data`` where it must not depend on parameters."""

    type: Type
    name: str
    data: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Function(Node):
    """A function of the functions block; ``body`` is None for a declaration without one."""

    returns: Type
    name: str
    arguments: tuple[Argument, ...]
    body: Block | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Program(Node):
    """A program: its functions, and the statements of each block, in their order.

    Declarations and statements of a block may be mixed. ``blocks`` has an entry for each block
    that is there: ``data``, ``transformed data``, ``parameters``, ``transformed parameters``,
    ``model``, ``generated quantities``.
    """

    functions: tuple[Function, ...]
    blocks: dict[str, tuple[Statement, ...]]
