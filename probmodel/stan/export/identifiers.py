"""Identifiers of a program: the model's own names where Stan allows them, and new ones."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from probmodel.stan.syntax.keywords import KEYWORDS

# Words of C++ that Stan keeps free, beyond its own.
_CPP = frozenset(
    {
        "alignas", "alignof", "and", "and_eq", "asm", "bitand", "bitor", "bool", "case", "catch",
        "char", "class", "compl", "const", "constexpr", "const_cast", "decltype", "default",
        "delete", "do", "double", "dynamic_cast", "enum", "explicit", "float", "friend", "goto",
        "inline", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
        "operator", "or", "or_eq", "private", "protected", "public", "register",
        "reinterpret_cast", "short", "signed", "sizeof", "static_assert", "static_cast", "switch",
        "template", "this", "thread_local", "throw", "try", "typeid", "typename", "union",
        "unsigned", "using", "virtual", "volatile", "wchar_t", "xor", "xor_eq", "fvar",
    }
)  # fmt: skip


class Names:
    """Identifiers that are taken, and those of the model's names.

    Parameters
    ----------
    own : names of the model, which come first
    taken : functions that the program calls

    Attributes
    ----------
    taken : identifiers of the program's variables
    """

    def __init__(self, own: Iterable[str], taken: Iterable[str] = ()) -> None:
        self.taken: set[str] = set()
        self._functions = frozenset(taken)
        self._reserved = KEYWORDS | _CPP | self._functions
        self._taken = set(self._reserved)
        self._local: set[str] = set()
        self._own: dict[str, str] = {}
        for name in own:
            self._own[name] = self.fresh(_plain(name))
        self._loops = [self.fresh(letter) for letter in "ijkl"]

    def of(self, name: str) -> str:
        """Return the identifier of a name of the model."""
        return self._own[name]

    def function(self, stem: str) -> str:
        """Return an identifier for a function."""
        found = self.fresh(stem)
        self.taken.discard(found)
        return found

    def fresh(self, stem: str) -> str:
        """Return an identifier that is not taken, such as ``stem``, and take it."""
        found = self._found(stem, self._taken | self._local)
        self._taken.add(found)
        self.taken.add(found)
        return found

    def local(self, stem: str, here: set[str]) -> str:
        """Return an identifier for a scope; others may have it too, but for those in ``here``."""
        found = self._found(stem, self._taken | here)
        self._local.add(found)
        self.taken.add(found)
        return found

    def _found(self, stem: str, taken: set[str]) -> str:
        plain, count = _plain(stem), 1
        if plain in self._reserved:
            plain += "_value"
        found = plain
        while found in taken:
            count += 1
            found = f"{plain}_{count}"
        return found

    def scope(self) -> Names:
        """Return names for the arguments of a function."""
        return Names((), self._functions)

    def loop(self, depth: int) -> str:
        """Return the variable of a loop inside ``depth`` others."""
        while depth >= len(self._loops):
            self._loops.append(self.fresh(f"i{len(self._loops)}"))
        return self._loops[depth]


def _plain(name: str) -> str:
    """Return a name in the letters that Stan takes: Greek ones are spelt out."""
    letters = (
        c if c.isascii() else unicodedata.name(c, "letter").rpartition(" ")[2].lower() for c in name
    )
    text = re.sub(r"\W", "_", "".join(letters))
    text = text if text[:1].isalpha() else f"x{text}"
    return text.rstrip("_") if text.endswith("__") else text


def called_functions(code: str) -> set[str]:
    """Return the names that a program calls as functions."""
    return set(re.findall(r"(?<!~ )\b(\w+)\(", code))
