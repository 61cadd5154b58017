"""Elementary and special functions on LLVM vectors of doubles, for machine code of log densities.

    math = VectorMath(module, lanes=8)
    y = math.call(builder, "exp", x)  # x and y are of type <8 x double>

Functions bear the names of NumPy and `scipy.special`. Elementary functions, in `elementary`, have
code of their own for all lanes at once. Most special functions are SciPy's, called lane by lane.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import llvmlite.ir as ir

from probmodel.compiler.addresses import c_library, scipy_special
from probmodel.compiler.elementary import FUNCTIONS as ELEMENTARY
from probmodel.compiler.elementary import INLINE
from probmodel.compiler.lanes import Lanes, Writer
from probmodel.compiler.special import FUNCTIONS as SPECIAL

# What the C library computes, by NumPy's name.
_C_LIBRARY = {"arccosh": ("acosh", 1), "arctanh": ("atanh", 1), "arctan2": ("atan2", 2)}
_SCIPY = {"betainc": 3, "betaln": 2, "gammainc": 2, "gammaincc": 2, "i0e": 1, "i1e": 1, "ndtri": 1}


def _of_c_library(name: str, w: Writer, *args: Lanes) -> Lanes:
    return w.per_lane(c_library(name), *args)


def _of_scipy(name: str, w: Writer, *args: Lanes) -> Lanes:
    return w.per_lane(scipy_special(name, len(args)), *args)


_BODIES: dict[str, tuple[int, Callable[..., Lanes]]] = {
    **{name: (count, partial(_of_scipy, name)) for name, count in _SCIPY.items()},
    **{name: (count, partial(_of_c_library, c)) for name, (c, count) in _C_LIBRARY.items()},
    **ELEMENTARY,
    **SPECIAL,
}

FUNCTIONS: Mapping[str, int] = MappingProxyType(
    {name: count for name, (count, _) in sorted({**_BODIES, **INLINE}.items())}
)
"""Names of the functions there are, and how many arguments each takes."""

WRITTEN_OUT = 1000  # instructions of a function, at most, in all places where it is called


class VectorMath:
    """Functions on vectors of doubles, each written once into a module, when it is first used.

    Parameters
    ----------
    module : llvmlite.ir.Module
        Where functions are written.
    lanes : int
        Doubles in a vector: 1, 2, 4 or 8.
    """

    def __init__(self, module: Any, lanes: int) -> None:
        self._module = module
        self._lanes = lanes
        self._calls: dict[Any, list[Any]] = {}  # of each function, but those that stay apart

    def call(self, builder: Any, name: str, *args: Any, apart: bool = False) -> Any:
        """Return one of `FUNCTIONS` of vectors of as many doubles as there are lanes.

        Where it stays ``apart`` from what calls it, it is compiled faster.
        """
        if len(args) != FUNCTIONS[name]:
            raise TypeError(f"{name} takes {FUNCTIONS[name]} arguments, not {len(args)}")
        if name in INLINE:
            writer = Writer(self._module, builder, self._lanes, self.call)
            return INLINE[name][1](writer, *(Lanes(writer, arg) for arg in args)).value
        function = self._function(name)
        called = builder.call(function, args, attrs=["noinline"] if apart else ())
        if not apart:
            self._calls.setdefault(function, []).append(called)
        return called

    def write_out(self) -> None:
        """Let functions be written out where they are called, unless that would take much code."""
        for function, calls in self._calls.items():
            size = sum(len(block.instructions) for block in function.blocks)
            if size * len(calls) < WRITTEN_OUT:
                for called in calls:
                    called.attributes.add("alwaysinline")

    def _function(self, name: str) -> Any:
        full = f"vector_math.{name}.v{self._lanes}"
        function = self._module.globals.get(full)
        if function is None:
            vector = ir.VectorType(ir.DoubleType(), self._lanes)
            count, body = _BODIES[name]
            function = ir.Function(self._module, ir.FunctionType(vector, [vector] * count), full)
            function.linkage = "internal"
            function.attributes.add("nounwind")
            function.attributes.add("readnone")
            builder = ir.IRBuilder(function.append_basic_block())
            writer = Writer(self._module, builder, self._lanes, self.call)
            builder.ret(body(writer, *(Lanes(writer, arg) for arg in function.args)).value)
        return function
