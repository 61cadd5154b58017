"""A position in the words of a program, and the complaints of a parser that stands there."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from probmodel.stan.complaints import Sources, complaint
from probmodel.stan.syntax.keywords import KEYWORDS
from probmodel.stan.syntax.nodes import Place
from probmodel.stan.syntax.words import Word

Part = TypeVar("Part")

MOST_NESTED = 100  # brackets in brackets, blocks in blocks: what reads the tree calls itself
LONGEST = 60  # of a word in a message

_CLOSING = {"(": ")", "[": "]", "{": "}"}
# What other languages write, and Stan: a word by itself, and two signs without a space.
_OF_OTHERS = {"and": "&&", "or": "||", "not": "!"}
_DOUBLED = {
    "*": "a power is x ^ 2",
    "+": "to add one, write x += 1",
    "-": "to subtract one, write x -= 1",
}


class Cursor:
    """The words of a program and where among them a parser stands.

    Attributes
    ----------
    word : the next word
    """

    def __init__(self, words: list[Word], sources: Sources) -> None:
        self.word = words[0]
        self._words = words
        self._sources = sources
        self._position = 0
        self._depth = 0

    # -- moving ------------------------------------------------------------------------------------

    def advance(self) -> Word:
        """Step over the next word, and return it; the end of the program stays the next word."""
        word = self.word
        if self._position + 1 < len(self._words):
            self._position += 1
            self.word = self._words[self._position]
        return word

    def ahead(self, n: int) -> Word:
        """Return the word that stands ``n`` behind the next."""
        return self._words[min(self._position + n, len(self._words) - 1)]

    def accept(self, text: str) -> bool:
        """Step over the next word if it is this one; tell whether it was."""
        if self.word.text != text:
            return False
        self.advance()
        return True

    def listed(self, read: Callable[[Cursor], Part]) -> tuple[Part, ...]:
        """Read one part or more with commas between them."""
        found = [read(self)]
        while self.accept(","):
            found.append(read(self))
        return tuple(found)

    def expect(self, text: str, where: str = "") -> Word:
        """Step over this word, which must be the next; ``where`` goes into the complaint."""
        if self.word.text != text:
            self.missing(f"{text!r}{where}")
        return self.advance()

    def close(self, opening: Word) -> None:
        """Step over the bracket that closes ``opening``."""
        closing = _CLOSING[opening.text]
        if not self.accept(closing):
            if self.word.kind == "end":
                self.fail(f"this {opening.text!r} is never closed.", opening.place)
            _, line, column = opening.place
            self.missing(f"{closing!r} for the {opening.text!r} of line {line}, column {column}")

    def semicolon(self, behind: str) -> None:
        """Step over the end of a statement; where it lacks, point at where it should be."""
        if not self.accept(";"):
            before = self._words[self._position - 1]
            said = f"expected ';' behind {behind}, got {self.named()}{self.hint()}."
            self.fail(said, self.word.place if self.hint() else before.end)

    def name(self, of: str) -> Word:
        """Step over a new name ``of`` something, which is neither a keyword nor reserved."""
        word = self.word
        if word.kind != "name":
            self.missing(f"the name of {of}")
        if word.text in KEYWORDS:
            self.fail(f"{word.text!r} is a keyword of Stan, and not free as the name of {of}.")
        if word.text.endswith("__"):
            self.fail(f"{word.text!r}: names that end in two underscores are reserved in Stan.")
        if word.text.startswith("_"):
            self.fail(f"{word.text!r}: a name begins with a letter in Stan.")
        return self.advance()

    def split(self, length: int) -> None:
        """Make two words of the next one, of which the first has this length."""
        kind, text, place = self.word
        behind = place._replace(column=place.column + length)
        parts = [Word(kind, text[:length], place), Word(kind, text[length:], behind)]
        self._words[self._position : self._position + 1] = parts
        self.word = parts[0]

    # -- how deep --------------------------------------------------------------------------------

    def deeper(self) -> None:
        """Note that something is nested in something else."""
        self._depth += 1
        if self._depth > MOST_NESTED:
            self.fail(f"the program is nested more than {MOST_NESTED} levels deep here.")

    def back(self) -> None:
        """Note that what was nested is over."""
        self._depth -= 1

    # -- complaints --------------------------------------------------------------------------------

    def named(self) -> str:
        """Return the next word as messages name it."""
        if self.word.kind == "end":
            return "the end of the program"
        text = self.word.text
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
        return text if self.word.kind == "text" else repr(text)

    def missing(self, what: str) -> NoReturn:
        """Complain that something else was expected here."""
        hint = self.hint()
        if self.word.text == "=":
            hint = "; '==' compares"
        elif self.word.text in KEYWORDS:
            hint = ", a keyword"
        self.fail(f"expected {what}, got {self.named()}{hint}.")

    def hint(self) -> str:
        """Say how Stan writes what stands here, if it is of another language."""
        if self.word.kind == "name" and self.word.text in _OF_OTHERS:
            return f"; Stan writes {_OF_OTHERS[self.word.text]!r}"
        return self.hint_at_doubled(self._position)

    def hint_at_doubled(self, position: int) -> str:
        """Say what to write for a sign that is doubled at a word, or before it."""
        for at in (position, position - 1):
            if at < 1:
                continue
            first, second = self._words[at - 1 : at + 1]
            if first.text == second.text in _DOUBLED and first.end == second.place:
                return f"; Stan has no {2 * first.text!r}: {_DOUBLED[first.text]}"
        return ""

    def fail(self, message: str, place: Place | None = None) -> NoReturn:
        """Complain about a place, or about the next word."""
        raise complaint(message, place or self.word.place, self._sources)
