"""Words of a Stan program: names, numbers, texts in quotes and signs, each with its place."""

from __future__ import annotations

import re
from typing import NamedTuple

from probmodel.stan.complaints import Sources, complaint
from probmodel.stan.syntax.nodes import Place

_DIGITS = "[0-9]+(?:_[0-9]+)*"
_EXPONENT = f"[eE][+-]?{_DIGITS}"
_REAL = rf"{_DIGITS}\.(?:{_DIGITS})?(?:{_EXPONENT})?|\.{_DIGITS}{_EXPONENT}|{_DIGITS}{_EXPONENT}"
_PATTERN = re.compile(
    rf"""
      (?P<space>[ \t\f\v]+)
    | (?P<newline>\n)
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<comment>//[^\n]*|/\*[\s\S]*?\*/)
    | (?P<imaginary>(?:{_REAL}|\.?{_DIGITS})i(?![A-Za-z0-9_]))
    | (?P<real>{_REAL})
    | (?P<field>\.{_DIGITS})
    | (?P<integer>{_DIGITS})
    | (?P<text>"[^"\n]*")
    | (?P<include>\#include(?=[\s"<]|\Z)[ \t]*(?:"[^"\n]*"|<[^>\n]*>|[^\s"<]\S*)?)
    | (?P<remark>\#[^\n]*)
    | (?P<unclosed>"|/\*)
    | (?P<sign>%/%|\.\*=|\./=|[-+*/]=|<-|[<>=!]=|&&|\|\||\.[*/^]|[-+*/%\\^'!<>=~?:|,;()\[\]{{}}])
    | (?P<strange>\w+|[\s\S])
    """,
    re.VERBOSE,
)
_NUMBERS = {"imaginary", "real", "field", "integer"}


class Word(NamedTuple):
    """The smallest part of a program.

    Attributes
    ----------
    kind : ``name``, ``integer``, ``real``, ``imaginary``, ``field`` (``.1``: an element of a tuple
        or a real number), ``text`` (with its quotes), ``sign``, ``include`` or ``end``
    text : as the program has it; empty for the end
    place : where it begins
    """

    kind: str
    text: str
    place: Place

    @property
    def end(self) -> Place:
        """The place right behind the word."""
        return self.place._replace(column=self.place.column + len(self.text))


def words_of(text: str, file: str, sources: Sources) -> list[Word]:
    """Return the words of a text, without the comments and without a word for the end.

    Lines end with a line feed alone. ``file`` is the name of the text in places; messages have the
    texts of all ``sources``.
    """
    found: list[Word] = []
    line, start = 1, 0  # the current line, and where in the text it begins
    for match in _PATTERN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "space" or kind == "remark":
            continue
        if kind == "newline":
            line, start = line + 1, match.end()
        elif kind == "comment":
            breaks = match.group().count("\n")
            if breaks:
                line, start = line + breaks, text.rindex("\n", 0, match.end()) + 1
        else:
            word = Word(kind, match.group(), Place(file, line, match.start() - start + 1))
            if kind in {"unclosed", "strange"} or (
                kind in _NUMBERS and _goes_on(text, match.end())
            ):
                raise complaint(_wrong(word, text[match.end() :]), word.place, sources)
            found.append(word)
    return found


def _goes_on(text: str, end: int) -> bool:
    """Tell whether a letter follows a number at once, as in ``2x``."""
    return end < len(text) and (text[end] == "_" or text[end].isalpha())


def _wrong(word: Word, rest: str) -> str:
    """Say what is wrong with a word that makes no sense, given the text behind it."""
    if word.text == "/*":
        return "this comment is never closed: expected '*/' before the end of the program."
    if word.text == '"':
        return "this text is never closed: expected '\"' before the end of the line."
    if word.kind in _NUMBERS:
        tail = re.match(r"\w*", rest)
        whole = word.text + (tail.group() if tail else "")
        return f"{whole!r} is neither a number nor a name: a name begins with a letter."
    if word.text in {"&", "."}:
        hint = "'&&' is the logical and" if word.text == "&" else "names have no dots in Stan"
        return f"{word.text!r} has no meaning in Stan; {hint}."
    if word.text[0].isalpha():
        return (
            f"{word.text!r} is no name in Stan: names are made of the letters a-z and A-Z, digits "
            "and underscores."
        )
    return f"the character {word.text[0]!a} has no meaning in Stan outside comments and texts."
