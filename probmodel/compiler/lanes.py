"""Arithmetic on LLVM vectors of doubles with Python's operators, written into a function.

A `Lanes` is a vector of doubles that the machine code will hold, a `Mask` a vector of truth values.
Operators and functions of these append instructions to the block that a `Writer` writes to.
Nothing here is faster than IEEE arithmetic allows: infinities, NaN and signed zeros stay exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import llvmlite.ir as ir

from probmodel.compiler.addresses import CFunction
from probmodel.compiler.native import has

DOUBLE = ir.DoubleType()
BITS = ir.IntType(64)
_INT32 = ir.IntType(32)

# A double plus this number has its nearest integer in the lowest bits, in two's complement.
_ROUNDER = 1.5 * 2.0**52
# Two to the 52: its lowest bits take an integer, which subtraction makes a double.
_INTEGER_HOLDER = 0x4330_0000_0000_0000
_ONE = 0x3FF0_0000_0000_0000
_ROOT_HALF = 0x3FE6_A09E_667F_3BCD


@lru_cache(maxsize=4096)
def _in_all_lanes(lanes: int, value: str) -> Any:
    """Return a number in all lanes, given in hexadecimal; its text is written once, and kept."""
    return ir.Constant(ir.VectorType(DOUBLE, lanes), [float.fromhex(value)] * lanes)


class Mask:
    """A truth value for each lane."""

    __slots__ = ("_writer", "value")

    def __init__(self, writer: Writer, value: Any) -> None:
        self._writer = writer
        self.value = value

    def __and__(self, other: Mask) -> Mask:
        return Mask(self._writer, self._writer.builder.and_(self.value, other.value))

    def __or__(self, other: Mask) -> Mask:
        return Mask(self._writer, self._writer.builder.or_(self.value, other.value))

    def differs_from(self, other: Mask) -> Mask:
        """Where one of two holds and the other does not."""
        return Mask(self._writer, self._writer.builder.xor(self.value, other.value))

    def __invert__(self) -> Mask:
        return Mask(self._writer, self._writer.builder.not_(self.value))


Operator = Callable[["Lanes", "Lanes | float"], "Lanes"]


def _arithmetic(operation: str) -> tuple[Operator, Operator]:
    """Return an operator, and the one for operands that are the other way round."""

    def run(left: Lanes, right: Lanes | float) -> Lanes:
        writer = left._writer
        emit = getattr(writer.builder, operation)
        return Lanes(writer, emit(left.value, writer.lift(right).value))

    return run, lambda right, left: run(right._writer.lift(left), right)


def _comparison(
    relation: str, kind: str = "fcmp_ordered"
) -> Callable[[Lanes, Lanes | float], Mask]:
    def run(left: Lanes, right: Lanes | float) -> Mask:
        writer = left._writer
        emit = getattr(writer.builder, kind)
        return Mask(writer, emit(relation, left.value, writer.lift(right).value))

    return run


class Lanes:
    """A vector of doubles; comparisons with NaN are false, but for `differs`."""

    __slots__ = ("_writer", "value")

    def __init__(self, writer: Writer, value: Any) -> None:
        self._writer = writer
        self.value = value

    __add__, __radd__ = _arithmetic("fadd")
    __sub__, __rsub__ = _arithmetic("fsub")
    __mul__, __rmul__ = _arithmetic("fmul")
    __truediv__, __rtruediv__ = _arithmetic("fdiv")

    def __neg__(self) -> Lanes:
        return Lanes(self._writer, self._writer.builder.fneg(self.value))

    def __abs__(self) -> Lanes:
        return self._writer.intrinsic("fabs", self)

    __lt__, __le__, __gt__, __ge__ = map(_comparison, ("<", "<=", ">", ">="))
    equals = _comparison("==")
    differs = _comparison("!=", "fcmp_unordered")  # also where one is NaN

    def is_nan(self) -> Mask:
        """Where these are not numbers."""
        writer = self._writer
        return Mask(writer, writer.builder.fcmp_unordered("uno", self.value, self.value))

    def is_negative(self) -> Mask:
        """Where the sign bit is set, that of a zero too."""
        writer = self._writer
        bits = writer.builder.bitcast(self.value, writer.bits_type)
        return Mask(writer, writer.builder.icmp_signed("<", bits, writer.bits(0)))


class Writer:
    """Writes vector arithmetic through a builder.

    Parameters
    ----------
    module : llvmlite.ir.Module
        Where intrinsic functions are declared.
    builder : llvmlite.ir.IRBuilder
        What appends instructions.
    lanes : int
        Doubles in a vector.
    call : callable
        Appends a call to a function of the module by the builder, the function's name, and vectors.

    Attributes
    ----------
    scales : bool
        Whether there is an instruction for `scaled`.
    """

    def __init__(self, module: Any, builder: Any, lanes: int, call: Callable[..., Any]) -> None:
        self.module = module
        self.builder = builder
        self.lanes = lanes
        self._call = call
        self.scales = lanes == 8 and has("avx512f")
        self.type = ir.VectorType(DOUBLE, lanes)
        self.bits_type = ir.VectorType(BITS, lanes)

    def number(self, value: float) -> Lanes:
        """Return one number in all lanes."""
        return Lanes(self, _in_all_lanes(self.lanes, float(value).hex()))

    def bits(self, value: int) -> Any:
        """Return one integer in all lanes, as an LLVM value."""
        return ir.Constant(self.bits_type, [value] * self.lanes)

    def same(self, number: Any) -> Lanes:
        """Return a double, an LLVM value, in all lanes."""
        undefined = ir.Constant(self.type, ir.Undefined)
        first = self.builder.insert_element(undefined, number, _INT32(0))
        lanes = ir.Constant(ir.VectorType(_INT32, self.lanes), [0] * self.lanes)
        return Lanes(self, self.builder.shuffle_vector(first, undefined, lanes))

    def mask(self, value: bool) -> Mask:
        """Return one truth value in all lanes."""
        kind = ir.VectorType(ir.IntType(1), self.lanes)
        return Mask(self, ir.Constant(kind, [value] * self.lanes))

    def ones(self, where: Mask) -> Lanes:
        """Return one where a mask holds and zero elsewhere."""
        return self.select(where, 1.0, 0.0)

    def lift(self, value: Lanes | float) -> Lanes:
        """Return numbers as lanes."""
        return value if isinstance(value, Lanes) else self.number(value)

    def intrinsic(self, name: str, *args: Lanes | float) -> Lanes:
        """Return an LLVM intrinsic of doubles."""
        full = f"llvm.{name}.v{self.lanes}f64"
        function = self.module.globals.get(full)
        if function is None:
            kind = ir.FunctionType(self.type, [self.type] * len(args))
            function = ir.Function(self.module, kind, full)
        return Lanes(self, self.builder.call(function, [self.lift(arg).value for arg in args]))

    def call(self, name: str, *args: Lanes) -> Lanes:
        """Return a function that the module has."""
        return Lanes(self, self._call(self.builder, name, *(arg.value for arg in args)))

    def fma(self, a: Lanes | float, b: Lanes | float, c: Lanes | float) -> Lanes:
        """Return a b + c, rounded once."""
        return self.intrinsic("fma", a, b, c)

    def select(self, where: Mask, this: Lanes | float, other: Lanes | float) -> Lanes:
        """Return one where a mask holds, the other elsewhere."""
        values = self.lift(this).value, self.lift(other).value
        return Lanes(self, self.builder.select(where.value, *values))

    def copysign(self, size: Lanes | float, sign: Lanes) -> Lanes:
        """Return a size with the sign of another number."""
        return self.intrinsic("copysign", size, sign)

    def clamp(self, x: Lanes, low: float, high: float) -> Lanes:
        """Return the nearest number of an interval; NaN stays."""
        x = self.select(x < low, low, x)
        return self.select(x > high, high, x)

    def polynomial(self, x: Lanes, coefficients: Sequence[float]) -> Lanes:
        """Return a polynomial, lowest power first; odd and even powers side by side."""
        square = x * x
        even = self._horner(square, coefficients[0::2])
        return self.fma(x, self._horner(square, coefficients[1::2]), even)

    def _horner(self, x: Lanes, coefficients: Sequence[float]) -> Lanes:
        result = self.number(coefficients[-1])
        for coefficient in coefficients[-2::-1]:
            result = self.fma(result, x, coefficient)
        return result

    def two_sum(self, a: Lanes | float, b: Lanes) -> tuple[Lanes, Lanes]:
        """Return a sum and what its rounding lost."""
        total = b + a
        part = total - a
        return total, (a - (total - part)) + (b - part)

    def fast_two_sum(self, a: Lanes | float, b: Lanes) -> tuple[Lanes, Lanes]:
        """Return a sum and what its rounding lost, for a not smaller than b in size."""
        total = b + a
        return total, b - (total - a)

    def two_product(self, a: Lanes | float, b: Lanes | float) -> tuple[Lanes, Lanes]:
        """Return a product and what its rounding lost."""
        product = self.lift(a) * b
        return product, self.fma(a, b, -product)

    def divide(
        self, top: Lanes, top_low: Lanes | None, bottom: Lanes, bottom_low: Lanes | None
    ) -> tuple[Lanes, Lanes]:
        """Return a quotient of sums of two, and its own low part, with one division."""
        inverse = 1.0 / bottom
        quotient = top * inverse
        rest = self.fma(-quotient, bottom, top)
        if bottom_low is not None:
            rest = self.fma(-quotient, bottom_low, rest)
        if top_low is not None:
            rest = rest + top_low
        return quotient, rest * inverse

    def nearest(self, x: Lanes, scale: float) -> tuple[Lanes, Any]:
        """Return the integer nearest to x times a scale as doubles and, raw, in low bits.

        The product is below two to the 51 in size.
        """
        holder = self.fma(x, scale, _ROUNDER)
        return holder - _ROUNDER, self.builder.bitcast(holder.value, self.bits_type)

    def bit(self, raw: Any, number: int) -> Mask:
        """Where a bit of raw integers is set."""
        bit = self.builder.and_(raw, self.bits(1 << number))
        return Mask(self, self.builder.icmp_unsigned("!=", bit, self.bits(0)))

    def add_where(self, where: Mask, raw: Any, value: int) -> Any:
        """Return raw integers, with another added where a mask holds."""
        addend = self.builder.select(where.value, self.bits(value), self.bits(0))
        return self.builder.add(raw, addend)

    def power_of_two(self, raw: Any, less: int = 0) -> Lanes:
        """Return two to an integer from `nearest`, less a known one; it is a normal number."""
        builder = self.builder
        shifted = builder.shl(raw, self.bits(52))
        bits = builder.add(shifted, self.bits(_ONE - (less << 52)))
        return Lanes(self, builder.bitcast(bits, self.type))

    def scaled(self, x: Lanes, n: Lanes) -> Lanes:
        """Return x times two to the n, rounded once, by an instruction that few processors have."""
        name = "llvm.x86.avx512.mask.scalef.pd.512"
        kinds = [self.type, self.type, self.type, ir.IntType(8), _INT32]
        function = self.module.globals.get(name)
        if function is None:
            function = ir.Function(self.module, ir.FunctionType(self.type, kinds), name)
        rounding = ir.Constant(ir.IntType(8), 255), ir.Constant(_INT32, 4)  # all lanes, as always
        return Lanes(self, self.builder.call(function, [x.value, n.value, x.value, *rounding]))

    def split(self, x: Lanes) -> tuple[Lanes, Lanes, Lanes]:
        """Return e, m and two to the -e with x = m times two to the e, for normal positive x.

        m lies between the roots of one half and of two.
        """
        builder = self.builder
        bits = builder.bitcast(x.value, self.bits_type)
        # The exponent's field counts from one where the mantissa passes the root of one half.
        field = builder.add(bits, self.bits(_ONE - _ROOT_HALF))
        exponent = builder.lshr(field, self.bits(52))
        held = builder.or_(exponent, self.bits(_INTEGER_HOLDER))
        e = Lanes(self, builder.bitcast(held, self.type)) - float(2**52 + 1023)
        high = builder.shl(exponent, self.bits(52))
        m = Lanes(
            self, builder.bitcast(builder.add(builder.sub(bits, high), self.bits(_ONE)), self.type)
        )
        inverse = Lanes(self, builder.bitcast(builder.sub(self.bits(2 * _ONE), high), self.type))
        return e, m, inverse

    def per_lane(self, function: CFunction, *args: Lanes) -> Lanes:
        """Return a C function called for each lane."""
        builder = self.builder
        extra = [ir.Constant(_INT32, 0)] if function.with_integer else []
        kind = ir.FunctionType(DOUBLE, [DOUBLE] * len(args) + [value.type for value in extra])
        address = ir.Constant(BITS, function.address)
        pointer = builder.inttoptr(address, kind.as_pointer())
        result: Any = ir.Constant(self.type, ir.Undefined)
        for lane in range(self.lanes):
            index = ir.Constant(_INT32, lane)
            numbers = [builder.extract_element(arg.value, index) for arg in args]
            value = builder.call(pointer, [*numbers, *extra])
            result = builder.insert_element(result, value, index)
        return Lanes(self, result)

    def any(self, where: Mask) -> Any:
        """Return whether a mask holds in any lane, as an LLVM truth value."""
        packed = ir.IntType(self.lanes)
        return self.builder.icmp_unsigned(
            "!=", self.builder.bitcast(where.value, packed), ir.Constant(packed, 0)
        )

    def mend(self, result: Lanes, where: Mask, function: CFunction, *args: Lanes) -> Lanes:
        """Return a result with a C function's value where a mask holds.

        The function is called in a branch of its own, taken if the mask holds in any lane.
        """
        builder = self.builder
        before = builder.block
        with builder.if_then(self.any(where), likely=False):
            mended = self.select(where, self.per_lane(function, *args), result)
            inside = builder.block
        merged = builder.phi(self.type)
        merged.add_incoming(result.value, before)
        merged.add_incoming(mended.value, inside)
        return Lanes(self, merged)
