"""Reading the format of R's ``dump``, as Stan's users have it: assignments of numbers and arrays.

A file is parsed, never run: of R's functions those are known that write an array down.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import NamedTuple

import numpy as np

from probmodel.model.archives import check_size
from probmodel.types import Array

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)
    |(?P<number>0[xX][0-9a-fA-F]{1,15}L?|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?L?)
    |(?P<name>(?:[^\W\d]|\.(?!\d))[\w.]*|`[^`\n]+`)
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<mark><<-|<-|.)""",
    re.VERBOSE | re.DOTALL,
)
_NUMBERS = re.compile(r"c\(([-+\d.eE,\sL]*)\)")  # a list of plain numbers, read at one go
_CONSTANTS = {
    "NA": np.nan,
    "NA_integer_": np.nan,
    "NA_real_": np.nan,
    "NaN": np.nan,
    "Inf": np.inf,
    "TRUE": 1,
    "FALSE": 0,
    "T": 1,
    "F": 0,
}
_BYTES = 8  # that a number takes


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


class _Named(NamedTuple):
    """An argument of a function, with its name, which is empty where there is none."""

    name: str
    value: Array


def parse_dump(text: str, max_bytes: int) -> dict[str, Array]:
    """Return the arrays of a file by name.

    A vector of length one is a number, as R writes it; one with dimensions keeps them. Numbers
    without a point or an exponent are integers. Raises a ValueError with the line, and what was
    expected.
    """
    return _Parser(text, max_bytes).file()


class _Parser:
    """A parser by recursive descent; ``token`` is the next one."""

    def __init__(self, text: str, max_bytes: int) -> None:
        self.text, self.max_bytes, self.end = text, max_bytes, 0
        self.token = self._next()

    # -- tokens ------------------------------------------------------------------------------------

    def _next(self) -> _Token:
        while self.end < len(self.text):
            match = _TOKEN.match(self.text, self.end)
            assert match is not None  # the last alternative takes any character
            start, self.end = self.end, match.end()
            if match.lastgroup != "space":
                return _Token(str(match.lastgroup), match[0], start)
        return _Token("end", "", len(self.text))

    def take(self) -> _Token:
        """Return the next token, and go on to the one after it."""
        token, self.token = self.token, self._next()
        return token

    def takes(self, mark: str) -> bool:
        """Go on if the next token is this mark."""
        found = self.token.kind == "mark" and self.token.text == mark
        if found:
            self.take()
        return found

    def need(self, mark: str, after: str) -> None:
        """Go beyond a mark that has to come."""
        if not self.takes(mark):
            raise self.error(f"expected {mark!r} {after}, found {self._shown()}")

    def _shown(self) -> str:
        return repr(self.token.text[:40]) if self.token.text else "the end of the file"

    def error(self, message: str, start: int | None = None) -> ValueError:
        """Return an error that names the line of the next token, or of a place."""
        place = self.token.start if start is None else start
        line = self.text.count("\n", 0, place) + 1
        return ValueError(f"line {line}: {message}")

    # -- assignments -------------------------------------------------------------------------------

    def file(self) -> dict[str, Array]:
        """Read all assignments."""
        arrays: dict[str, Array] = {}
        while self.token.kind != "end":
            if self.takes(";"):
                continue
            start = self.token.start
            name = self._target()
            if name in arrays:
                raise self.error(f"{name!r} is there more than once", start)
            arrays[name] = self.value()
        return arrays

    def _target(self) -> str:
        if self.token.kind not in ("name", "text"):
            raise self.error(
                f"expected an assignment such as N <- 5, found {self._shown()}. Nothing is computed"
            )
        name = _unquoted(self.take().text)
        if not any(self.takes(mark) for mark in ("<-", "=", "<<-")):
            raise self.error(f"expected '<-' after {name!r}, found {self._shown()}")
        return name

    # -- values ------------------------------------------------------------------------------------

    def value(self) -> Array:
        """Read a number, an array, or a range."""
        start = self.token.start
        first = self._signed()
        if not self.takes(":"):
            return first
        last = self._signed()
        low, high = (self._whole(x, "an end of a range", start) for x in (first, last))
        self.fits(abs(high - low) + 1, start)
        step = 1 if high >= low else -1
        return _plain(np.arange(low, high + step, step))

    def _signed(self) -> Array:
        sign = 1
        while self.token.kind == "mark" and self.token.text in "+-":
            sign = -sign if self.take().text == "-" else sign
        start = self.token.start
        value = self._primary()
        if sign == 1:
            return value
        if value.dtype.kind not in "if":
            raise self.error("expected a number after '-'", start)
        return -value

    def _primary(self) -> Array:
        token = self.token
        if token.kind == "number":
            return np.asarray(_number(self.take().text))
        if token.kind == "text":
            return np.asarray(_unquoted(self.take().text))
        if token.kind == "name":
            return self._named()
        if self.takes("("):
            value = self.value()
            self.need(")", "after a value")
            return value
        raise self.error(f"expected a number or an array, found {self._shown()}")

    def _named(self) -> Array:
        plain = _NUMBERS.match(self.text, self.token.start)
        if plain is not None and (numbers := _at_one_go(plain[1])) is not None:
            self.end = plain.end()
            self.take()
            return _plain(numbers)
        token = self.take()
        name = token.text
        if self.takes("("):
            if name not in _FUNCTIONS:
                raise self.error(
                    f"{name}(...) is not read here: write the numbers themselves, as dump does",
                    token.start,
                )
            return _FUNCTIONS[name](self, self._arguments(name), token.start)
        if name == "NULL":
            return np.zeros(0)
        if name not in _CONSTANTS:
            raise self.error(f"expected a number or an array, found {name!r}", token.start)
        return np.asarray(_CONSTANTS[name])

    def _arguments(self, function: str) -> list[_Named]:
        """Read the arguments of a function, whose parenthesis is open."""
        found: list[_Named] = []
        while not self.takes(")"):
            if found:
                self.need(",", f"between the arguments of {function}(...)")
            found.append(self._argument())
        return found

    def _argument(self) -> _Named:
        if self.token.kind not in ("name", "text"):
            return _Named("", self.value())
        rest = _TOKEN.match(self.text, self.end)
        after = rest.end() if rest is not None and rest.lastgroup == "space" else self.end
        if self.text[after : after + 1] != "=":
            return _Named("", self.value())
        name = _unquoted(self.take().text)
        self.take()
        if name in (".Dimnames", "dimnames", ".Names", "names"):
            self._skip()
            return _Named(name, np.zeros(0))
        return _Named(name, self.value())

    def _skip(self) -> None:
        """Go beyond an argument whose value is of no interest."""
        depth = 0
        while depth or self.token.text not in (",", ")"):
            if self.token.kind == "end":
                raise self.error("expected ')', found the end of the file")
            depth += {"(": 1, ")": -1}.get(self.take().text, 0)

    # -- checks ------------------------------------------------------------------------------------

    def _whole(self, value: Array, what: str, start: int) -> int:
        if value.size != 1 or value.dtype.kind not in "if" or float(value.item()) % 1:
            raise self.error(f"{what} must be a whole number", start)
        return int(value.item())

    def fits(self, count: int, start: int) -> None:
        """Raise an error for more numbers than may be read."""
        try:
            check_size("the array takes", count * _BYTES, self.max_bytes)
        except ValueError as error:
            raise self.error(str(error), start) from error

    def count(self, value: Array, what: str, start: int) -> int:
        """Return a number of elements, which has to fit into memory."""
        number = self._whole(value, what, start)
        if number < 0:
            raise self.error(f"{what} must not be negative; got {number}", start)
        self.fits(number, start)
        return number

    def shaped(self, values: Array, dims: Array, start: int, by_row: bool = False) -> Array:
        """Return values in an array whose first index runs fastest; a number fills it."""
        dims = np.asarray(dims).reshape(-1)
        shape = tuple(self.count(n, "a dimension", start) for n in dims)
        size = prod(shape)
        self.fits(size, start)
        values = np.asarray(values).reshape(-1)
        if values.size == 1:
            values = np.repeat(values, size)
        if values.size != size:
            raise self.error(
                f"{values.size} elements do not fill an array of {' by '.join(map(str, shape))}",
                start,
            )
        return np.ascontiguousarray(values.reshape(shape, order="C" if by_row else "F"))


def _unquoted(text: str) -> str:
    return text[1:-1] if text[0] in "\"'`" else text


def _number(text: str) -> int | float:
    """Return what a number says; ``5L`` and ``5`` are integers."""
    plain = text.removesuffix("L")
    if plain[:2] in ("0x", "0X"):
        return int(plain, 16)
    if plain.isdigit() and len(plain) < 19:  # 64 bits hold these
        return int(plain)
    number = float(plain)
    return int(number) if text != plain and number.is_integer() and number < 2**63 else number


def _at_one_go(text: str) -> Array | None:
    """Return the numbers of a list that has nothing else; None if one is malformed."""
    if not text.strip():
        return None
    try:
        parts = text.replace("L", "").split(",")
        return np.array(parts, dtype=float if any(c in text for c in ".eE") else np.int64)
    except (ValueError, OverflowError):
        return None


def _plain(values: Array) -> Array:
    """Return a vector, or a number for a vector of length one."""
    return values.reshape(()) if values.size == 1 else values


# -- R's functions ---------------------------------------------------------------------------------


def _matched(
    parser: _Parser, given: list[_Named], names: tuple[str, ...], function: str, start: int
) -> dict[str, Array]:
    """Return the arguments by name; those without one are in order."""
    found = {each.name: each.value for each in given if each.name}
    free = [name for name in names if name not in found]
    loose = [each.value for each in given if not each.name]
    wrong = [name for name in found if name not in names]
    if wrong or len(loose) > len(free) or len(found) + len(loose) < len(given):
        detail = f"; {wrong[0]!r} is none of them" if wrong else ""
        raise parser.error(f"{function}(...) takes {', '.join(names)}{detail}", start)
    return {**found, **dict(zip(free, loose, strict=False))}


def _c(parser: _Parser, given: list[_Named], start: int) -> Array:
    if not given:
        return np.zeros(0)
    if len({each.value.dtype.kind == "U" for each in given}) > 1:
        raise parser.error("c(...) has both numbers and text", start)
    values = np.concatenate([each.value.reshape(-1) for each in given])
    parser.fits(values.size, start)
    return _plain(values)


def _structure(parser: _Parser, given: list[_Named], start: int) -> Array:
    if not given or given[0].name not in ("", ".Data"):
        raise parser.error("structure(...) takes an array first", start)
    attributes = {each.name: each.value for each in given[1:]}
    if ".Label" in attributes or "levels" in attributes:
        raise parser.error("it is a factor. Write as.integer(x) of it, or its labels", start)
    dims = attributes.get(".Dim", attributes.get("dim"))
    value = given[0].value
    return value if dims is None else parser.shaped(value, dims, start)


def _zeros(function: str, kind: type) -> Callable[[_Parser, list[_Named], int], Array]:
    def zeros(parser: _Parser, given: list[_Named], start: int) -> Array:
        length = _matched(parser, given, ("length",), function, start).get("length", np.array(0))
        return _plain(np.zeros(parser.count(length, "a length", start), dtype=kind))

    return zeros


def _rep(parser: _Parser, given: list[_Named], start: int) -> Array:
    names = ("x", "times", "each")
    args = _matched(parser, given, names, "rep", start)
    if "x" not in args:
        raise parser.error("rep(...) needs what is to be repeated", start)
    values, one = args["x"].reshape(-1), np.array(1)
    times, each = (parser.count(args.get(n, one), f"{n} of rep", start) for n in names[1:])
    parser.fits(values.size * times * each, start)
    return _plain(np.tile(np.repeat(values, each), times))


def _matrix(parser: _Parser, given: list[_Named], start: int) -> Array:
    args = _matched(parser, given, ("data", "nrow", "ncol", "byrow", "dimnames"), "matrix", start)
    values = args.get("data", np.array(np.nan)).reshape(-1)
    rows, columns = (
        parser.count(args[n], n, start) if n in args else None for n in ("nrow", "ncol")
    )
    if rows is None:
        rows = -(-values.size // (columns or 1)) if columns != 0 else 0
    if columns is None:
        columns = -(-values.size // rows) if rows else 0
    by_row = bool(args.get("byrow", np.array(0)).all())
    return parser.shaped(values, np.array([rows, columns]), start, by_row)


def _array(parser: _Parser, given: list[_Named], start: int) -> Array:
    args = _matched(parser, given, ("data", "dim", "dimnames"), "array", start)
    values = args.get("data", np.array(np.nan))
    return parser.shaped(values, args.get("dim", np.array(values.size)), start)


def _same(parser: _Parser, given: list[_Named], start: int) -> Array:
    return _matched(parser, given, ("x",), "as.vector", start).get("x", np.zeros(0))


def _integer(parser: _Parser, given: list[_Named], start: int) -> Array:
    value = _same(parser, given, start)
    if value.dtype.kind == "f" and np.isfinite(value).all() and (abs(value) < 2**63).all():
        return value.astype(np.int64)
    return value


_FUNCTIONS: dict[str, Callable[[_Parser, list[_Named], int], Array]] = {
    "c": _c,
    "structure": _structure,
    "integer": _zeros("integer", int),
    "double": _zeros("double", float),
    "numeric": _zeros("numeric", float),
    "rep": _rep,
    "matrix": _matrix,
    "array": _array,
    "as.vector": _same,
    "as.numeric": _same,
    "as.double": _same,
    "as.integer": _integer,
}
