"""The grammar of programs: blocks and functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from probmodel.errors import nearest
from probmodel.stan.complaints import complaint
from probmodel.stan.syntax.cursor import Cursor
from probmodel.stan.syntax.includes import read
from probmodel.stan.syntax.keywords import BLOCKS, BOUNDS, KEYWORDS, TYPES
from probmodel.stan.syntax.nodes import Block, Function, Program, Statement, Type
from probmodel.stan.syntax.statement_grammar import block, ends
from probmodel.stan.syntax.type_grammar import argument, declaration, unsized_type

# Blocks that only declare: where values come from, and where statements belong.
_DECLARING = {
    "data": ("from the data", "the transformed data block"),
    "parameters": ("from the sampler", "the transformed parameters and model blocks"),
}


def parse(
    text: str, file: str = "<stan>", folders: Sequence[Path] = ()
) -> tuple[Program, dict[str, str]]:
    """Return the tree of a Stan program, and the text of each file that it is made of.

    ``file`` is its name in messages; where it is a file, ``#include`` looks in its folder first,
    then in ``folders``. Where the text is no program, a `ModelError` has the line, what was
    expected there, and what came.
    """
    words, sources = read(text, file, folders)
    cursor = Cursor(words, sources)
    try:
        return _program(cursor), sources
    except RecursionError:
        message = "the program is nested too deeply here."
        raise complaint(message, cursor.word.place, sources) from None


def _program(cursor: Cursor) -> Program:
    functions: tuple[Function, ...] = ()
    blocks: dict[str, tuple[Statement, ...]] = {}
    seen: list[str] = []
    place = cursor.word.place
    while cursor.word.kind != "end":
        name = _header(cursor, seen)
        seen.append(name)
        if name == "functions":
            functions = _functions(cursor)
        elif name in _DECLARING:
            blocks[name] = _declarations(cursor, name)
        else:
            blocks[name] = block(cursor, bounded=name != "model").body
    return Program(place, functions, blocks)


def _header(cursor: Cursor, seen: list[str]) -> str:
    """Step over the name of a block, given the names of those before it."""
    place = cursor.word.place
    name = cursor.word.text
    if name in {"transformed", "generated"}:
        name = f"{name} {cursor.ahead(1).text}"
    if name not in BLOCKS:
        hint = nearest(name, BLOCKS) if cursor.word.kind == "name" else ""
        if cursor.word.text == "}":
            hint = " It closes more than was opened."
        what = "a block" if seen else "a block, which a Stan program is made of"
        cursor.fail(f"expected {what}, got {cursor.named()}.{hint}")
    if name in seen:
        cursor.fail(f"the {name} block stands here a second time.")
    later = [other for other in seen if BLOCKS.index(other) > BLOCKS.index(name)]
    if later:
        cursor.fail(f"the {name} block must stand before the {later[0]} block.")
    for _ in name.split():
        cursor.advance()
    if cursor.word.text != "{":
        cursor.fail(f"expected '{{' behind {name!r}, got {cursor.named()}.", place)
    return name


def _declarations(cursor: Cursor, name: str) -> tuple[Statement, ...]:
    """Read a block that has nothing but declarations."""
    opening = cursor.advance()
    source, home = _DECLARING[name]
    found: list[Statement] = []
    while not ends(cursor, opening):
        if cursor.accept(";"):
            continue
        if cursor.word.text not in TYPES and not _looks_like_type(cursor):
            cursor.fail(
                f"the {name} block takes only declarations, got {cursor.named()}; "
                f"statements belong in {home}."
            )
        found += declaration(cursor, bounded=True, assigned=source)
    return tuple(found)


def _looks_like_type(cursor: Cursor) -> bool:
    """Tell whether the next word is meant as a type: whether a name, bounds or sizes follow it."""
    if cursor.word.kind != "name" or cursor.word.text in KEYWORDS:
        return False
    n, depth = 1, 0
    while depth or cursor.ahead(n).text == "[":
        word = cursor.ahead(n)
        if word.kind == "end":
            return False
        depth += (word.text == "[") - (word.text == "]")
        n += 1
    word = cursor.ahead(n)
    return word.kind == "name" or (word.text == "<" and cursor.ahead(n + 1).text in BOUNDS)


# -- functions -------------------------------------------------------------------------------------


def _functions(cursor: Cursor) -> tuple[Function, ...]:
    opening = cursor.advance()
    found: list[Function] = []
    while not ends(cursor, opening):
        found.append(_function(cursor))
    return tuple(found)


def _function(cursor: Cursor) -> Function:
    """Read the definition of a function, or its declaration, which has no body."""
    word = cursor.word
    returns = Type(word.place, "void") if cursor.accept("void") else unsized_type(cursor)
    name = cursor.name("a function")
    opening = cursor.expect("(", f" and the arguments of {name.text!r}")
    arguments = () if cursor.word.text == ")" else cursor.listed(argument)
    cursor.close(opening)
    body: Block | None = None
    if not cursor.accept(";"):
        if cursor.word.text != "{":
            cursor.missing(f"'{{' and the body of {name.text!r}")
        body = block(cursor)
    return Function(name.place, returns, name.text, arguments, body)
