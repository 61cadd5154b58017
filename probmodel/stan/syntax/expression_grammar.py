"""The grammar of expressions.

A function of this module reads what it is named after from a cursor, and returns its tree. The
place of an infix operation is that of its operator; of anything else, that of its first word.
"""

from __future__ import annotations

from math import isfinite

from probmodel.errors import nearest
from probmodel.stan.syntax import nodes as n
from probmodel.stan.syntax.cursor import MOST_NESTED, Cursor
from probmodel.stan.syntax.keywords import INFIX, KEYWORDS, POWERS, PREFIX, SAYING, SUM
from probmodel.stan.syntax.words import Word

LARGEST = 2**31 - 1  # of Stan's whole numbers


def expression(cursor: Cursor, first: n.Expression | None = None) -> n.Expression:
    """Read an expression, of which the ``first`` operand may have been read already."""
    cursor.deeper()
    found = infix(cursor, 1, first)
    if cursor.word.text == "?":
        place = cursor.advance().place
        then = expression(cursor)
        cursor.expect(":", " of the condition's other case")
        found = n.Ternary(place, found, then, expression(cursor))
    cursor.back()
    return found


def bound(cursor: Cursor) -> n.Expression:
    """Read an expression without comparisons, as bounds of types take it."""
    return infix(cursor, SUM)


def infix(cursor: Cursor, lowest: int, first: n.Expression | None = None) -> n.Expression:
    """Read operands and the infix operators between them that bind this tightly at least."""
    operands = [prefix(cursor) if first is None else first]
    operators: list[Word] = []
    while True:
        if cursor.word.text == "<-":  # between two operands: less than minus something
            cursor.split(1)
        level = INFIX.get(cursor.word.text, 0)
        while operators and INFIX[operators[-1].text] >= level:
            operator, right, left = operators.pop(), operands.pop(), operands.pop()
            operands.append(n.Binary(operator.place, operator.text, left, right))
        if level < lowest:
            return operands[0]
        operators.append(cursor.advance())
        operands.append(prefix(cursor))


def prefix(cursor: Cursor) -> n.Expression:
    """Read an operand: signs before it, powers, what stands behind it."""
    word = cursor.word
    if word.text in PREFIX:
        cursor.deeper()
        cursor.advance()
        found: n.Expression = n.Unary(word.place, word.text, prefix(cursor))
        cursor.back()
        return found
    found = postfix(cursor)
    operator = cursor.word
    if operator.text in POWERS:
        cursor.deeper()
        cursor.advance()
        found = n.Binary(operator.place, operator.text, found, prefix(cursor))
        cursor.back()
    return found


def postfix(cursor: Cursor) -> n.Expression:
    """Read an operand with the indices, fields and transposes behind it."""
    found = primary(cursor)
    for _ in range(MOST_NESTED):
        word = cursor.word
        if word.text == "[":
            found = n.Index(found.place, found, indices(cursor))
        elif word.text == "'":
            cursor.advance()
            found = n.Unary(found.place, "'", found)
        elif word.kind == "field":
            cursor.advance()
            found = n.Field(found.place, found, _position(cursor, word))
        else:
            return found
    cursor.fail(f"more than {MOST_NESTED} indices and transposes follow each other here.")


def primary(cursor: Cursor) -> n.Expression:
    """Read a name, a call, a number, or something in brackets."""
    word = cursor.word
    match word.kind:
        case "name":
            return _name_or_call(cursor)
        case "integer" | "real" | "imaginary" | "field":
            return _number(cursor)
        case "text":
            cursor.fail(
                f"a text in quotes stands only in {', '.join(SAYING)} and profile, got {word.text}."
            )
    match word.text:
        case "(":
            return _parenthesis(cursor)
        case "[":
            items = _items(cursor) if cursor.ahead(1).text != "]" else _none(cursor)
            return n.RowOf(word.place, items)
        case "{":
            return n.ArrayOf(word.place, _items(cursor))
    cursor.missing("an expression")


def indices(cursor: Cursor) -> tuple[n.Expression | n.Slice, ...]:
    """Read indices in brackets."""
    opening = cursor.advance()
    found = cursor.listed(_index)
    cursor.close(opening)
    return found


def arguments(cursor: Cursor, of: str) -> tuple[tuple[n.Expression, ...], bool]:
    """Read arguments in parentheses ``of`` a function; tell whether a bar sets off the first."""
    opening = cursor.expect("(", f" and the arguments of {of!r}")
    found: tuple[n.Expression, ...] = ()
    bar = False
    if cursor.word.text != ")":
        found = (_argument(cursor, of),)
        bar = cursor.accept("|")
        more = cursor.word.text != ")" if bar else cursor.accept(",")
        if more:
            found += cursor.listed(lambda cursor: _argument(cursor, of))
    cursor.close(opening)
    return found, bar


def _argument(cursor: Cursor, of: str) -> n.Expression:
    word = cursor.word
    if word.kind == "text":
        if of not in SAYING:
            cursor.fail(
                f"{of!r} takes no text in quotes; only {', '.join(SAYING)} and profile do."
                + nearest(of, SAYING)
            )
        cursor.advance()
        return n.Text(word.place, word.text[1:-1])
    return expression(cursor)


def _name_or_call(cursor: Cursor) -> n.Expression:
    word = cursor.word
    called = cursor.ahead(1).text == "("
    if word.text in KEYWORDS and not (word.text == "target" and called):
        if word.text == "target":
            cursor.fail("'target' is read as 'target()' and added to by 'target += ...;'.")
        if word.text in {"true", "false"}:
            cursor.fail(f"Stan has no {word.text!r}: write {int(word.text == 'true')}.")
        cursor.missing("an expression")
    cursor.advance()
    if called:
        return n.Call(word.place, word.text, *arguments(cursor, word.text))
    return n.Name(word.place, word.text)


def _number(cursor: Cursor) -> n.Number:
    word = cursor.advance()
    digits = word.text.replace("_", "")
    value: int | float | complex
    if word.kind == "integer":
        digits = digits.lstrip("0") or "0"
        if len(digits) > len(str(LARGEST)) or int(digits) > LARGEST:
            cursor.fail(
                f"whole numbers go up to {LARGEST} in Stan; a real number has a dot or an "
                "exponent.",
                word.place,
            )
        return n.Number(word.place, int(digits))
    value = float(digits.removesuffix("i"))
    if not isfinite(value):
        cursor.fail(
            "this number is larger than any real number; positive_infinity() is one.", word.place
        )
    return n.Number(word.place, complex(0.0, value) if word.kind == "imaginary" else value)


def _position(cursor: Cursor, word: Word) -> int:
    """Return which element of a tuple ``.2`` names."""
    digits = word.text[1:].replace("_", "").lstrip("0")
    if not digits or len(digits) > 4:
        cursor.fail(f"elements of a tuple count from 1, got {word.text!r}.", word.place)
    return int(digits)


def _parenthesis(cursor: Cursor) -> n.Expression:
    """Read an expression in parentheses, or a tuple; a comma behind it makes one a tuple."""
    opening = cursor.advance()
    first = expression(cursor)
    if cursor.word.text != ",":
        cursor.close(opening)
        return first
    cursor.advance()
    more = () if cursor.word.text == ")" else cursor.listed(expression)
    cursor.close(opening)
    return n.TupleOf(opening.place, (first, *more))


def _items(cursor: Cursor) -> tuple[n.Expression, ...]:
    """Read one expression or more in brackets."""
    opening = cursor.advance()
    found = cursor.listed(expression)
    cursor.close(opening)
    return found


def _none(cursor: Cursor) -> tuple[()]:
    """Read empty brackets."""
    cursor.close(cursor.advance())
    return ()


def _index(cursor: Cursor) -> n.Expression | n.Slice:
    """Read one index, which may be left out."""
    place = cursor.word.place
    if cursor.word.text in {",", "]"}:
        return n.Slice(place, None, None)
    lower = None if cursor.word.text == ":" else expression(cursor)
    if not cursor.accept(":"):
        assert lower is not None
        return lower
    upper = None if cursor.word.text in {",", "]"} else expression(cursor)
    return n.Slice(place, lower, upper)
