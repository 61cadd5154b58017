"""Loops and variables of functions in machine code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import llvmlite.ir as ir

INT = ir.IntType(64)


def plus(b: Any, x: Any, y: Any) -> Any:
    """Add whole numbers; what is known of the sum is not written down."""
    if isinstance(x, ir.Constant) and isinstance(y, ir.Constant):
        return INT(x.constant + y.constant)
    for one, other in ((x, y), (y, x)):
        if isinstance(one, ir.Constant) and one.constant == 0:
            return other
    return b.add(x, y)


def times(b: Any, x: Any, n: int) -> Any:
    """Multiply a whole number by one that is known."""
    if isinstance(x, ir.Constant):
        return INT(x.constant * n)
    return x if n == 1 else b.mul(x, INT(n))


class FunctionWriter:
    """Writes a function.

    Parameters
    ----------
    module : where
    name, kinds : of the function, and of its arguments; it returns nothing
    internal : whether only other functions of the module call it

    Attributes
    ----------
    function : what is written
    b : the builder at its end
    entry : a builder before all else
    """

    def __init__(
        self, module: Any, name: str, kinds: Sequence[Any], *, internal: bool = False
    ) -> None:
        kind = ir.FunctionType(ir.VoidType(), kinds)
        self.function = ir.Function(module, kind, name)
        if internal:
            self.function.linkage = "internal"
            self.function.attributes.add("noinline")
        self.entry = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.b = ir.IRBuilder(self.function.append_basic_block("start"))

    def end(self) -> None:
        """Return from the function; nothing is written to it afterwards."""
        self.b.ret_void()
        self.entry.branch(self.function.blocks[1])

    def variable(self, value: Any) -> Any:
        """Make a place for what changes as the code runs; registers hold it in the end."""
        place = self.entry.alloca(value.type)
        self.b.store(value, place)
        return place

    @contextmanager
    def count_to(self, n: Any, step: int = 1, down: bool = False, start: Any = 0) -> Iterator[Any]:
        """Write a loop over start, start + step, ... below n; from 0, if ``down``.

        There is at least one, unless n is known to be 0.
        """
        known = n.constant if isinstance(n, ir.Constant) and start == 0 else None
        if known == 0:
            with self.b.if_then(ir.IntType(1)(0)):
                yield INT(0)
            return
        if known == 1:
            yield INT(0)
            return
        before = self.b.block
        body = self.function.append_basic_block()
        self.b.branch(body)
        self.b.position_at_end(body)
        i = self.b.phi(INT)
        i.add_incoming(INT(0) if isinstance(start, int) else start, before)
        yield self.b.sub(self.b.sub(n, INT(1)), i) if down else i
        following = self.b.add(i, INT(step), flags=["nsw", "nuw"])
        i.add_incoming(following, self.b.block)
        after = self.function.append_basic_block()
        self.b.cbranch(self.b.icmp_signed("<", following, n), body, after)
        self.b.position_at_end(after)

    @contextmanager
    def repeat(self) -> Iterator[list[Any]]:
        """Write a loop that goes on while the truth value that is put in the list holds."""
        body = self.function.append_basic_block()
        self.b.branch(body)
        self.b.position_at_end(body)
        condition: list[Any] = []
        yield condition
        after = self.function.append_basic_block()
        self.b.cbranch(condition[0], body, after)
        self.b.position_at_end(after)
