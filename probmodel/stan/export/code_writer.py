"""Expressions as Stan code: as a whole where Stan has the operation, element by element else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from probmodel.expressions import Apply, Constant, Expression, Symbol, as_expression, leaves
from probmodel.model.declarations import Deterministic
from probmodel.stan.export.code_blocks import Block, declared, loops
from probmodel.stan.export.code_forms import (
    ATOM,
    NUMBERS,
    Form,
    Place,
    call,
    kind_of,
    number,
    real,
    transposed,
)
from probmodel.stan.export.no_spelling import NoSpellingError
from probmodel.stan.export.shared_parts import Shared

_DEEP = 40  # operations inside each other, after which one gets a name of its own
_CHEAP = {"getitem", "transpose", "negative", "positive", "pad_axes", "expand_dims", "squeeze"}
_LISTED = 8  # elements of an array that is written out
_INDEXED = re.compile(r"\w+\[[^\[\]]*\]")


class Writer:
    """Writes expressions into a block.

    Parameters
    ----------
    shared : what all blocks have in common
    block : where statements go, and names are looked up
    """

    def __init__(self, shared: Shared, block: Block) -> None:
        self.shared, self.rules = shared, shared.rules
        self.block = block

    # -- what an expression is -----------------------------------------------------------------

    def shape(self, node: Any) -> tuple[int, ...]:
        """Shape of an expression."""
        return self.shared.evaluator.shape(node)

    def sizes(self, node: Any) -> tuple[Place, ...]:
        """Sizes of an expression as they are written."""
        return self.shared.sizes.of(as_expression(node))

    def is_whole(self, node: Expression) -> bool:
        """Whether an expression is of whole numbers or of truth values."""
        return self.shared.evaluator.value(node).dtype.kind in "iub"

    def value(self, node: Any) -> Any:
        """Value of an expression of data."""
        return self.shared.evaluator.value(node)

    def is_constant(self, node: Any) -> bool:
        """Whether an expression depends on data alone."""
        return self.shared.evaluator.is_constant(node)

    # -- as a whole ----------------------------------------------------------------------------

    def whole(self, value: Any) -> Form:
        """Return the code of an expression, after the statements that it needs.

        Raises a `NoSpellingError` if there is none.
        """
        node = as_expression(value)
        self._name_parts(node)
        return self._whole(node)

    def reals(self, value: Any) -> Form:
        """Return the code of an expression as a real number, a vector, a matrix or an array."""
        node = as_expression(value)
        form, rank = self.whole(node), len(self.shape(node))
        if form.kind == "row_vector":
            return Form(transposed(form), "vector")
        if form.kind == "ints" and rank < 3:
            return call("to_vector" if rank == 1 else "to_matrix", form.text, kind=kind_of(rank))
        if form.kind in ("ints", "vectors") and (rank < 3 or form.kind == "ints"):
            return self.define(node, "rows", kind_of(rank))
        return form

    def written(self, node: Expression) -> Form | None:
        """Return the code of an expression as real numbers, or None if statements fill it."""
        self._name_parts(node)
        if isinstance(node, Apply) and self.block.find(node) is None and not node.operation.static:
            form = self.spelt(node)
            if form is None or form.kind in (*NUMBERS, kind_of(len(self.shape(node)))):
                return form
            return None
        return self.reals(node)

    def scalar(self, value: Any) -> str:
        """Return the code of a number."""
        return self.whole(value).text

    def _whole(self, node: Expression) -> Form:
        found = self.block.find(node)
        if found is not None:
            return found
        if isinstance(node, Constant):
            return self._constant(node)
        if isinstance(node, Deterministic):
            return self.whole(node.expression)
        if not isinstance(node, Apply):
            raise NoSpellingError(f"{node!r}", "It is not known here.")
        if node.operation.static:
            return self.as_data(node)
        if not self.shape(node) and self.is_constant(node) and _is_written(node):
            return number(self.value(node))
        return self.spelt(node) or self.define(node)

    def spelt(self, node: Apply) -> Form | None:
        """Return the code of an operation, or None if it takes statements."""
        if not self.shape(node):
            form = self.rules.entry(self, node, ())
            if form is not None:
                return form
        return self.rules.whole(self, node)

    def _constant(self, node: Constant) -> Form:
        value = np.asarray(self.value(node))
        if not value.ndim:
            return number(value)
        if value.ndim == 2 and len(value) > 1 and np.array_equal(value, np.eye(len(value))):
            return call("identity_matrix", str(len(value)), kind="matrix")
        if value.size > _LISTED or value.ndim > 2 or not value.size:
            return self.as_data(node)
        if value.ndim == 1:
            return Form(f"[{', '.join(number(v).text for v in value)}]'", "vector")
        rows = (f"[{', '.join(number(v).text for v in row)}]" for row in value)
        return Form(f"[{', '.join(rows)}]", "matrix")

    def as_data(self, node: Expression) -> Form:
        """Return what data alone decide as data of their own, computed here."""
        form = self.shared.given(node, np.asarray(self.value(node)))
        self.shared.constants.know(node, form)
        return form

    # -- names ---------------------------------------------------------------------------------

    def _name_parts(self, root: Expression) -> None:
        """Give names to parts that the model named, and that are used more than once."""
        found = self.block.find(root)
        if found is not None or not isinstance(root, Apply):
            return
        order = self._parts(root)
        uses: dict[int, int] = {}
        for node in order:
            for part in operands(node):
                uses[id(part)] = uses.get(id(part), 0) + 1
        depth: dict[int, int] = {}
        for node in order:
            below = max((depth.get(id(part), 0) for part in operands(node)), default=0)
            depth[id(node)] = below + 1
            if node is not root and self._wants_name(node, uses, below + 1):
                depth[id(node)] = 0
                self.define(node)

    def _parts(self, root: Apply) -> list[Apply]:
        """Operations that an expression is made of and that have no name, each after its own."""
        seen, order = {id(root)}, list[Apply]()
        stack = [(root, iter(operands(root)))]
        while stack:
            node, pending = stack[-1]
            for part in pending:
                if not isinstance(part, Apply) or id(part) in seen:
                    continue
                if self.block.find(part) is None:
                    seen.add(id(part))
                    stack.append((part, iter(operands(part))))
                    break
            else:
                order.append(node)
                stack.pop()
        return order

    def _wants_name(self, node: Apply, uses: dict[int, int], depth: int) -> bool:
        if node.operation.static or node.name is not None or depth > _DEEP:
            return True
        return uses.get(id(node), 0) > 1 and node.operation.name not in _CHEAP

    def named(self, node: Expression) -> Form:
        """Return what an expression is called here, and give it a name if it has none."""
        return self.block.find(node) or self.define(node)

    def define(self, node: Expression, stem: str = "term", kind: str | None = None) -> Form:
        """Give an expression a name: what data decide in transformed data, else here."""
        constant = self.is_constant(node)
        block = self.shared.constants if constant else self.block
        if kind is None:
            found = block.find(node)
            if found is not None:
                return found
        writer = Writer(self.shared, block)
        state = block.state()
        try:
            form = writer._defined(node, stem, kind)
        except NoSpellingError:
            if not constant:
                raise
            block.restore(state)
            return self.as_data(node)
        if kind is None:
            block.know(node, form)
        return form

    def _defined(self, node: Expression, stem: str, kind: str | None) -> Form:
        sizes = self.sizes(node)
        form = None
        if isinstance(node, Constant):
            return self.as_data(node)
        if kind is None and isinstance(node, Apply):
            if node.operation.static:
                return self.as_data(node)
            form = self.spelt(node)
        if form is None:
            whole = kind is None and self.is_whole(node)
            kind = kind or kind_of(len(sizes), whole)
            name = self._fresh(node, stem)
            at = len(self.block.lines)
            self.fill(node, name, kind)
            self.block.lines.insert(at, "")  # the declaration comes before what fills it
            self.block.lines[at] = f"{declared(kind, sizes)} {name};"
            return Form(name, kind)
        name = self._fresh(node, stem)
        self.block.add(f"{declared(form.kind, sizes)} {name} = {form.text};")
        return Form(name, form.kind)

    def fresh(self, stem: str) -> str:
        """Return an identifier for a variable of this block."""
        return self.block.declare(self.shared.names, stem)

    def _fresh(self, node: Expression, stem: str) -> str:
        own = getattr(node, "name", None)
        return self.fresh(own if isinstance(own, str) else stem)

    def fill(self, node: Expression, name: str, kind: str) -> None:
        """Add statements that give a declared variable the value of an expression."""
        if isinstance(node, Apply) and self.rules.statement(self, node, name):
            return
        sizes = self.sizes(node)
        places = self.places(len(sizes))
        form = self.entry(node, places, fresh=True)
        target = f"{name}[{', '.join(map(str, places))}]" if places else name
        variables = [place.variable for place in places]
        self.block.add(*loops(variables, sizes, [f"{target} = {form.text};"]))

    def let(self, symbol: Symbol, form: Form, shape: tuple[int, ...]) -> Symbol:
        """Say what a symbol is called here that stands for a value of some shape."""
        kind = int if form.kind in ("int", "ints") else float
        self.shared.evaluator.define(symbol, np.zeros(shape, kind), random=True)
        self.block.know(symbol, form)
        return symbol

    def places(self, rank: int) -> tuple[Place, ...]:
        """Return the variables of loops over so many axes."""
        return tuple(Place(self.shared.names.loop(self.block.depth + k)) for k in range(rank))

    # -- element by element --------------------------------------------------------------------

    def entry(self, value: Any, places: Sequence[Place], fresh: bool = False) -> Form:
        """Return the code of one element; places count from 1.

        ``fresh`` asks for the element's formula also where the expression would get a name.
        """
        node = as_expression(value)
        if not fresh:
            self._name_parts(node)
        if not places:
            if fresh and isinstance(node, Apply):
                form = self.rules.entry(self, node, ())
                if form is not None:
                    return form
            return self._whole(node)
        found = self.block.find(node)
        if found is not None:
            return element(found, places)
        if isinstance(node, Deterministic):
            return self.entry(node.expression, places)
        if isinstance(node, Apply) and not node.operation.static:
            form = self.rules.entry(self, node, tuple(places))
            if form is not None:
                return form
            if fresh:
                raise NoSpellingError(
                    f"{node.operation.name}(...)", _INSTEAD, operation=node.operation
                )
            return element(self.define(node), places)
        if isinstance(node, Symbol):
            raise NoSpellingError(f"{node!r}", "It is not known here.")
        return element(self.as_data(node), places)


_INSTEAD = "Write it out with operations that Stan has, or compute it before the model is bound."


def element(form: Form, places: Sequence[Place]) -> Form:
    """Return an element of something that has a name."""
    index = ", ".join(map(str, places))
    whole = "int" if form.kind == "ints" else "real"
    if _INDEXED.fullmatch(form.text):
        return Form(f"{form.text[:-1]}, {index}]", whole)
    return Form(f"{form.inside(ATOM)}[{index}]", whole)


def operands(node: Apply) -> list[Expression]:
    """Return what an operation is written with: no indices, axes and shapes, which data decide."""
    if node.operation.static:
        return []
    return list(leaves(node.args[:1] if node.operation.name == "getitem" else node.args))


def _is_written(node: Expression) -> bool:
    """Whether an expression is of numbers alone that are written in the model."""
    if isinstance(node, Apply):
        return all(map(_is_written, operands(node)))
    return isinstance(node, Constant) and not np.ndim(node.value)


def as_number(form: Form) -> Form:
    """Return a number as a real one."""
    return real(form) if form.kind in NUMBERS else form
