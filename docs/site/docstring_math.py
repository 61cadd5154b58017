"""Docstrings as Markdown, for the reference.

Formulas and literals are those of RST there, and a parameter is described right after its colon
where its type goes without saying; readers of NumPy's format expect the type there, and no more.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_BLOCK = re.compile(r"^([ ]*)\.\. math:: (.+(?:\n\1[ ]+\S.*)*)", re.MULTILINE)
_SECTION = re.compile(
    r"^(Parameters|Attributes|Returns)\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL
)
_ENTRY = re.compile(r"^(\*{0,2}\w[\w, *]*) : (.+)\n((?:[ ]+\S.*\n?|\n(?=[ ]))*)", re.MULTILINE)
_HEAD = re.compile(r"^\w[^\n]*\n---+\n", re.MULTILINE)
_IS_ENTRY = re.compile(r"\*{0,2}\w[\w, *]* : ")
_TYPE = re.compile(r"(int|float|str|bool|number|array|path|function|callable|sequence)\b|\{")
_ROLE = re.compile(r":math:`([^`]+)`")


def to_markdown(text: str) -> str:
    """Return a docstring with its formulas and literals in Markdown."""

    def block(found: re.Match[str]) -> str:
        lines = [found[1] + line.strip() for line in (r"\[", *found[2].splitlines(), r"\]")]
        return "\n".join(lines)

    text = _sections(text)
    text = _BLOCK.sub(block, text)
    text = _ROLE.sub(lambda found: rf"\({' '.join(found[1].split())}\)", text)
    return text.replace("``", "`")


def _sections(text: str) -> str:
    """Return a docstring with the entries of its sections as NumPy's format has them.

    What is written beside the entries stands before all sections: there is no other place for it.
    """
    beside: list[str] = []

    def section(found: re.Match[str]) -> str:
        name, parts = found[1], re.split(r"\n\n(?=\S)", found[2].rstrip())
        entries = [part for part in parts if _IS_ENTRY.match(part) or "\n    " in part]
        others = [part for part in parts if part not in entries]
        if name == "Returns" and others:
            others[0] = f"**Returns:** {others[0]}"
        beside.extend(others)
        if not entries:
            return ""
        listed = _ENTRY.sub(_described, "\n\n".join(entries) + "\n")
        return f"{name}\n{'-' * len(name)}\n{listed}\n"

    text = _SECTION.sub(section, text)
    first = _HEAD.search(f"{text}\n")
    start = first.start() if first else len(text)
    return "\n\n".join(p for p in (text[:start].rstrip(), *beside, text[start:]) if p)


def _described(found: re.Match[str]) -> str:
    """Return the entry of a parameter with its description where readers look for it."""
    name, first, rest = found[1], found[2], found[3]
    body, plain = rest.strip(), not re.search(r"[.;:,]$|[.;] ", first)
    is_type = bool(body) and plain and (body[0].isupper() or bool(_TYPE.match(first)))
    if is_type:
        return found[0]
    indent = re.match(r"[ ]*", rest)[0] if rest.strip() else "    "  # type: ignore[index]
    return f"{name}\n{indent}{first}\n{rest}"


class DocstringMath(griffe.Extension):
    """Rewrites each docstring when it is collected."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)
