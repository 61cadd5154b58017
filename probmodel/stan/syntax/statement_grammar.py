"""The grammar of statements."""

from __future__ import annotations

from collections.abc import Callable

from probmodel.errors import nearest
from probmodel.stan.syntax import nodes as n
from probmodel.stan.syntax.cursor import Cursor
from probmodel.stan.syntax.expression_grammar import arguments, expression, prefix
from probmodel.stan.syntax.keywords import ASSIGNMENTS, BLOCKS, BOUNDS, KEYWORDS, SAYING, TYPES
from probmodel.stan.syntax.type_grammar import declaration
from probmodel.stan.syntax.words import Word

_ELSE_IFS = ("elif", "elseif", "elsif")  # of other languages


def block(cursor: Cursor, bounded: bool = False) -> n.Block:
    """Read declarations and statements in braces; ``bounded`` if declarations may have bounds."""
    opening = cursor.expect("{")
    body: list[n.Statement] = []
    while not ends(cursor, opening):
        if cursor.accept(";"):
            continue
        if cursor.word.text in TYPES:
            body += declaration(cursor, bounded)
        else:
            body.append(statement(cursor))
    return n.Block(opening.place, tuple(body))


def ends(cursor: Cursor, opening: Word) -> bool:
    """Step over the brace that closes ``opening`` if it comes next, and tell whether it did."""
    if cursor.word.kind == "end":
        cursor.close(opening)
    header = heading(cursor)
    if header:
        _, line, column = opening.place
        cursor.fail(
            f"expected '}}' before the {header} block: "
            f"the '{{' of line {line}, column {column} is not closed."
        )
    return cursor.accept("}")


def heading(cursor: Cursor) -> str:
    """Return the name of the block whose header comes next; empty if none does."""
    one, two, three = cursor.word.text, cursor.ahead(1).text, cursor.ahead(2).text
    if two == "{" and one in BLOCKS:
        return one
    return f"{one} {two}" if three == "{" and f"{one} {two}" in BLOCKS else ""


def statement(cursor: Cursor) -> n.Statement:
    """Read a statement that is no declaration."""
    cursor.deeper()
    word = cursor.word
    read = _KINDS.get(word.text)
    if read is not None:
        found = read(cursor)
    elif _adds(cursor):
        found = _target(cursor)
    elif word.text == "{" and not _is_array(cursor):
        found = block(cursor)
    elif word.text in TYPES:
        cursor.fail("a declaration that is a branch or the body of a loop needs braces around it.")
    else:
        found = _of_expression(cursor)
    cursor.back()
    return found


def _adds(cursor: Cursor) -> bool:
    """Tell whether the statement adds to the log density; ``jacobian`` may be a variable, too."""
    behind = cursor.ahead(1).text
    return (cursor.word.text == "target" and behind != "(") or (
        cursor.word.text == "jacobian" and behind == "+="
    )


def _is_array(cursor: Cursor) -> bool:
    """Tell whether a brace begins an array that has a distribution: ``{a, b} ~ ...``."""
    depth = steps = 0
    while True:
        text = cursor.ahead(steps).text
        depth += (text == "{") - (text == "}")
        steps += 1
        if depth == 0:
            return cursor.ahead(steps).text == "~"
        if text in {";", ""}:
            return False


# -- statements that begin with an expression ------------------------------------------------------


def _of_expression(cursor: Cursor) -> n.Statement:
    """Read an assignment, a statement about a distribution, or a call."""
    start = cursor.word
    if start.text in KEYWORDS and start.text != "target":
        _fail_at_keyword(cursor)
    if start.text in _ELSE_IFS and cursor.ahead(1).text == "(":
        cursor.fail(f"Stan has no {start.text!r}: write 'else if'.")
    if start.text in ("+", "-") and cursor.ahead(1).text == start.text:
        cursor.fail(f"Stan has no {2 * start.text!r}: write 'x {start.text}= 1;'.")
    first = prefix(cursor)
    word = cursor.word
    if word.text in ASSIGNMENTS:
        return _assignment(cursor, first)
    _check_type(cursor, start)
    value = expression(cursor, first)
    if cursor.word.text == "~":
        return _tilde(cursor, value)
    if isinstance(value, n.Call):
        cursor.semicolon(f"the call of {value.name!r}")
        if value.name == "increment_log_prob" and len(value.args) == 1:
            return n.Target(value.place, value.args[0])
        return n.Do(start.place, value)
    if cursor.word.text == ";":
        cursor.fail("this expression does nothing: expected '=' or '~' behind it, got ';'.")
    cursor.missing("'=' or '~' behind the expression that begins the statement")


def _fail_at_keyword(cursor: Cursor) -> None:
    """Complain about a word that begins no statement."""
    if cursor.word.text == "else":
        cursor.fail("'else' without an 'if' before it.")
    cursor.missing("a statement")


def _check_type(cursor: Cursor, start: Word) -> None:
    """Complain if what begins the statement is meant as a type, and is none."""
    word = cursor.word
    bounds = word.text == "<" and cursor.ahead(1).text in BOUNDS and cursor.ahead(2).text == "="
    if start.kind == "name" and (
        bounds or (word.kind == "name" and word.place.line == start.place.line)
    ):
        cursor.fail(f"{start.text!r} is no type of Stan.{nearest(start.text, TYPES)}", start.place)


def _assignment(cursor: Cursor, target: n.Expression) -> n.Assign:
    """Read an assignment from its operator on."""
    _check_target(cursor, target)
    operator = cursor.advance()
    value = expression(cursor)
    cursor.semicolon("the assignment")
    return n.Assign(target.place, target, ASSIGNMENTS[operator.text], value)


def _check_target(cursor: Cursor, target: n.Expression) -> None:
    """Complain about what nothing can be assigned to."""
    if isinstance(target, n.Name):
        if target.name == "lp__":
            cursor.fail("'lp__' is no variable; write 'target += ...;'.", target.place)
    elif isinstance(target, n.TupleOf):
        for item in target.items:
            _check_target(cursor, item)
    elif isinstance(target, n.Index | n.Field):
        _check_target(cursor, target.base)
    else:
        cursor.fail(
            "nothing can be assigned to this; expected a variable, or an element of one, "
            f"before {cursor.named()}.",
            target.place,
        )


def _tilde(cursor: Cursor, value: n.Expression) -> n.Tilde:
    """Read a statement about a distribution from its ``~`` on."""
    cursor.advance()
    name = cursor.name("a distribution")
    args, bar = arguments(cursor, name.text)
    if bar:
        cursor.fail("expected ',' between the arguments of a distribution, got '|'.", name.place)
    truncated, lower, upper = False, None, None
    if cursor.word.text == "T" and cursor.ahead(1).text == "[":
        cursor.advance()
        opening = cursor.advance()
        truncated = True
        lower = None if cursor.word.text == "," else expression(cursor)
        cursor.expect(",", " between the bounds of a truncation")
        upper = None if cursor.word.text == "]" else expression(cursor)
        cursor.close(opening)
    cursor.semicolon(f"'~ {name.text}(...)'")
    return n.Tilde(value.place, value, name.text, args, truncated, lower, upper)


# -- statements that begin with a keyword ----------------------------------------------------------


def _target(cursor: Cursor) -> n.Target:
    word = cursor.advance()
    if cursor.word.text != "+=":
        cursor.fail(f"'target' is only added to: expected '+=', got {cursor.named()}.")
    cursor.advance()
    value = expression(cursor)
    cursor.semicolon(f"'{word.text} += ...'")
    return n.Target(word.place, value, word.text == "jacobian")


def _nothing(cursor: Cursor) -> n.Block:
    return n.Block(cursor.advance().place, ())


def _condition(cursor: Cursor, of: str) -> n.Expression:
    opening = cursor.expect("(", f" and the condition of {of!r}")
    found = expression(cursor)
    cursor.close(opening)
    return found


def _if(cursor: Cursor) -> n.If:
    branches: list[tuple[Word, n.Expression, n.Statement]] = []
    otherwise: n.Statement | None = None
    while True:
        word = cursor.advance()
        condition = _condition(cursor, "if")
        branches.append((word, condition, statement(cursor)))
        if not cursor.accept("else"):
            break
        if cursor.word.text != "if":
            otherwise = statement(cursor)
            break
    for word, condition, then in reversed(branches):
        otherwise = n.If(word.place, condition, then, otherwise)
    assert isinstance(otherwise, n.If)
    return otherwise


def _for(cursor: Cursor) -> n.For | n.ForEach:
    place = cursor.advance().place
    opening = cursor.expect("(", " and what the loop runs over")
    name = cursor.name("the variable of a loop").text
    cursor.expect("in", f" behind {name!r}")
    lower = expression(cursor)
    if cursor.accept(":"):
        upper = expression(cursor)
        cursor.close(opening)
        return n.For(place, name, lower, upper, statement(cursor))
    cursor.close(opening)
    return n.ForEach(place, name, lower, statement(cursor))


def _while(cursor: Cursor) -> n.While:
    place = cursor.advance().place
    return n.While(place, _condition(cursor, "while"), statement(cursor))


def _leave(cursor: Cursor) -> n.Break | n.Continue:
    word = cursor.advance()
    cursor.semicolon(f"'{word.text}'")
    return n.Break(word.place) if word.text == "break" else n.Continue(word.place)


def _return(cursor: Cursor) -> n.Return:
    place = cursor.advance().place
    value = None if cursor.word.text in {";", "}"} else expression(cursor)
    cursor.semicolon("'return'")
    return n.Return(place, value)


def _say(cursor: Cursor) -> n.Say:
    word = cursor.advance()
    args, bar = arguments(cursor, word.text)
    if bar:
        cursor.fail(f"expected ',' between the arguments of {word.text!r}, got '|'.", word.place)
    cursor.semicolon(f"'{word.text}(...)'")
    return n.Say(word.place, word.text, args)


def _profile(cursor: Cursor) -> n.Block:
    cursor.advance()
    opening = cursor.expect("(", " and a name in quotes")
    if cursor.word.kind != "text":
        cursor.missing("a name in quotes")
    cursor.advance()
    cursor.close(opening)
    return block(cursor)


_KINDS: dict[str, Callable[[Cursor], n.Statement]] = {
    ";": _nothing,
    "if": _if,
    "for": _for,
    "while": _while,
    "break": _leave,
    "continue": _leave,
    "return": _return,
    "profile": _profile,
    **dict.fromkeys(SAYING, _say),
}
