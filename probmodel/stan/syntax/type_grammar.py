"""The grammar of types, of declarations, and of functions' arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from probmodel.errors import nearest
from probmodel.stan.syntax.cursor import Cursor
from probmodel.stan.syntax.expression_grammar import bound, expression
from probmodel.stan.syntax.keywords import BOUNDED, BOUNDS, SIZES, TYPES, UNSIZED
from probmodel.stan.syntax.nodes import Argument, Declare, Expression, Type


def declaration(cursor: Cursor, bounded: bool, assigned: str = "") -> list[Declare]:
    """Read a declaration of one variable or more, from a cursor before its type.

    ``bounded`` tells whether that may have bounds, and ``assigned`` where values come from if the
    declaration must not give them.
    """
    start = cursor.word.place
    type_ = sized_type(cursor)
    if not bounded:
        _check_local(cursor, type_)
    found: list[Declare] = []
    while not found or cursor.accept(","):
        name = cursor.name("a variable")
        own = type_
        if cursor.word.text == "[":
            if type_.array:
                cursor.fail("this array has sizes behind 'array' already.")
            own = replace(type_, array=_sizes(cursor))
        if cursor.word.text == "<-":
            cursor.fail("expected '=' before the value of a declaration, got '<-'.")
        value = None
        if cursor.word.text == "=":
            if assigned:
                cursor.fail(f"a variable of this block gets its value {assigned}.")
            cursor.advance()
            value = expression(cursor)
        found.append(Declare(name.place, own, name.text, value))
    cursor.semicolon(f"the declaration of line {start.line}")
    return found


def _check_local(cursor: Cursor, type_: Type) -> None:
    """Complain about bounds of a local variable."""
    if type_.bounds or type_.kind not in (*UNSIZED, "tuple"):
        what = "bounds" if type_.bounds else f"the constraint of {type_.kind!r}"
        cursor.fail(
            f"a local variable cannot have {what}; only variables at the top of a block "
            "other than the model block can.",
            type_.place,
        )
    for item in type_.items:
        _check_local(cursor, item)


def sized_type(cursor: Cursor) -> Type:
    """Read a type with its sizes and bounds, as declarations have it."""
    place = cursor.word.place
    array: tuple[Expression, ...] = ()
    if cursor.accept("array"):
        if cursor.word.text != "[":
            cursor.missing("'[' and the sizes of the array")
        array = _sizes(cursor)
    word = cursor.word
    if cursor.accept("tuple"):
        return Type(place, "tuple", array=array, items=_elements(cursor, sized_type))
    if word.text not in SIZES:
        if word.kind == "name":
            cursor.fail(f"{word.text!r} is no type of Stan.{nearest(word.text, TYPES)}")
        cursor.missing("a type")
    cursor.advance()
    bounds = _bounds(cursor, word.text) if cursor.word.text == "<" else {}
    sizes: tuple[Expression, ...] = ()
    fewest, most = SIZES[word.text]
    opening = cursor.word
    if most:
        if opening.text != "[":
            cursor.missing(f"'[' and the size of {word.text!r}")
        sizes = _sizes(cursor)
        if not fewest <= len(sizes) <= most:
            number = f"{most} size{'s' * (most > 1)}"
            cursor.fail(f"{word.text!r} takes {number}, got {len(sizes)}.", opening.place)
    elif opening.text == "[":
        cursor.fail(
            f"{word.text!r} takes no sizes; an array is declared 'array[...] {word.text} name'."
        )
    return Type(place, word.text, sizes, array, bounds)


def _elements(cursor: Cursor, element: Callable[[Cursor], Type]) -> tuple[Type, ...]:
    """Read the types of a tuple's elements."""
    cursor.deeper()
    opening = cursor.expect("(", " and the types of the tuple's elements")
    found: tuple[Type, ...] = (element(cursor),)
    if cursor.word.text == ")":
        cursor.fail("a tuple of one element has a comma behind it: 'tuple(real, )'.")
    if cursor.accept(",") and cursor.word.text != ")":
        found += cursor.listed(element)
    cursor.close(opening)
    cursor.back()
    return found


def _sizes(cursor: Cursor) -> tuple[Expression, ...]:
    """Read sizes in brackets."""
    opening = cursor.advance()
    if cursor.word.text in {"]", ","}:
        cursor.missing("a size")
    found = cursor.listed(expression)
    cursor.close(opening)
    return found


def _bounds(cursor: Cursor, kind: str) -> dict[str, Expression]:
    """Read bounds, or an offset and a multiplier, between angles."""
    if kind not in BOUNDED:
        cursor.fail(f"{kind!r} takes no bounds, no offset and no multiplier.")
    cursor.advance()
    known = BOUNDS[:2] if kind == "int" else BOUNDS
    found: dict[str, Expression] = {}
    while not found or cursor.accept(","):
        word = cursor.word
        if word.text not in known:
            hint = nearest(word.text, known) if word.kind == "name" else ""
            cursor.fail(f"expected {' or '.join(map(repr, known))}, got {cursor.named()}.{hint}")
        if word.text in found:
            cursor.fail(f"{word.text!r} stands here twice.")
        if any((name in BOUNDS[:2]) != (word.text in BOUNDS[:2]) for name in found):
            cursor.fail("a type has bounds, or an offset and a multiplier, but not both.")
        cursor.advance()
        cursor.expect("=", f" behind {word.text!r}")
        found[word.text] = bound(cursor)
    if cursor.word.text != ">":
        cursor.missing("',' or '>' behind a bound (comparisons and conditions need parentheses)")
    cursor.advance()
    return found


def unsized_type(cursor: Cursor) -> Type:
    """Read the type of an argument or a result, of which the number of axes alone is known."""
    place = cursor.word.place
    axes = 0
    before = cursor.accept("array")
    if before:
        axes = _axes(cursor)
    word = cursor.word
    if cursor.accept("tuple"):
        return Type(place, "tuple", array=(None,) * axes, items=_elements(cursor, unsized_type))
    if word.text not in UNSIZED:
        if word.text in SIZES:
            cursor.fail(
                f"{word.text!r} is no type of arguments and results: give 'vector' or 'matrix'."
            )
        if word.kind == "name":
            cursor.fail(
                f"{word.text!r} is no type of arguments and results.{nearest(word.text, UNSIZED)}"
            )
        cursor.missing("a type")
    cursor.advance()
    if cursor.word.text == "<":
        cursor.fail("types of arguments and results have no bounds.")
    if cursor.word.text == "[" and not before:
        axes = _axes(cursor)
    return Type(place, word.text, array=(None,) * axes)


def _axes(cursor: Cursor) -> int:
    """Read brackets with nothing but commas; return the number of axes that they stand for."""
    opening = cursor.expect("[", " and as many commas as the array has axes but one")
    found = 1
    while cursor.accept(","):
        found += 1
    if cursor.word.text != "]" and cursor.word.kind != "end":
        cursor.fail("types of arguments and results have no sizes: 'array[,] real', 'vector'.")
    cursor.close(opening)
    return found


def argument(cursor: Cursor) -> Argument:
    """Read an argument of a function's definition."""
    data = cursor.accept("data")
    type_ = unsized_type(cursor)
    name = cursor.name("an argument")
    if cursor.word.text == "[":
        cursor.fail("an argument that is an array is declared 'array[] real x'.")
    return Argument(name.place, type_, name.text, data)
