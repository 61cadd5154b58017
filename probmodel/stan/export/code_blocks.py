"""Blocks of a program while they are written: statements, and what has a name in them."""

from __future__ import annotations

from collections.abc import Sequence

from probmodel.expressions import Expression
from probmodel.stan.export.code_forms import Form, Place
from probmodel.stan.export.identifiers import Names


class Block:
    """Statements of a block or of an inner scope of one.

    Attributes
    ----------
    lines : the statements, indented from the beginning of the block
    depth : how many loops are around it
    """

    def __init__(self, outer: Block | None = None, depth: int = 0) -> None:
        self.lines: list[str] = []
        self.depth = depth
        self._outer = outer
        self._locals: set[str] = set()
        self._known: dict[int, Form] = {}
        self._kept: list[Expression] = []  # keeps ids alive

    def know(self, node: Expression, form: Form) -> None:
        """Say that an expression has a name from here on."""
        self._known[id(node)] = form
        self._kept.append(node)

    def find(self, node: Expression) -> Form | None:
        """Return what an expression is called here; None if it has no name."""
        block: Block | None = self
        while block is not None:
            if id(node) in block._known:
                return block._known[id(node)]
            block = block._outer
        return None

    @property
    def outermost(self) -> bool:
        """Whether what is declared here is known everywhere."""
        return self._outer is None

    def declare(self, names: Names, stem: str) -> str:
        """Return an identifier for a new variable."""
        if self.outermost:
            return names.fresh(stem)
        here: set[str] = set()
        block: Block | None = self
        while block is not None:
            here |= block._locals
            block = block._outer
        name = names.local(stem, here)
        self._locals.add(name)
        return name

    def add(self, *lines: str) -> None:
        """Add statements."""
        self.lines += lines

    def inside(self, loops: int = 0) -> Block:
        """Return a scope inside this one."""
        return Block(self, self.depth + loops)

    def state(self) -> tuple[int, dict[int, Form]]:
        """Return what there is so far, for `restore`."""
        return len(self.lines), dict(self._known)

    def restore(self, state: tuple[int, dict[int, Form]]) -> None:
        """Drop what was added since `state`."""
        del self.lines[state[0] :]
        self._known = state[1]


def indented(lines: Sequence[str]) -> list[str]:
    """Return lines further to the right."""
    return [f"  {line}" if line else line for line in lines]


def loops(variables: Sequence[str], sizes: Sequence[Place], body: Sequence[str]) -> list[str]:
    """Return nested loops around statements."""
    lines = list(body)
    for variable, size in reversed(list(zip(variables, sizes, strict=True))):
        head = f"for ({variable} in 1:{size})"
        if len(lines) == 1 and not lines[0].startswith("for "):
            lines = (
                [f"{head} {lines[0]}"] if len(head) + len(lines[0]) < 88 else braced(head, lines)
            )
        else:
            lines = braced(head, lines)
    return lines


def braced(head: str, body: Sequence[str]) -> list[str]:
    """Return statements in braces behind a head, or alone in braces."""
    return [f"{head} {{" if head else "{", *indented(body), "}"]


def declared(kind: str, sizes: Sequence[Place], bounds: str = "") -> str:
    """Return the type of a variable."""
    shape = [str(size) for size in sizes]
    if kind in ("int", "real"):
        return f"{kind}{bounds}"
    if kind == "ints":
        return f"array[{', '.join(shape)}] int{bounds}"
    inner = {"vector": 1, "row_vector": 1, "matrix": 2, "vectors": 2}[kind]
    base = "matrix" if inner == 2 else kind
    own = f"{base}{bounds}[{', '.join(shape[len(shape) - inner :])}]"
    outer = shape[: len(shape) - inner]
    return f"array[{', '.join(outer)}] {own}" if outer else own
