"""Docstrings as Markdown, for the reference.

Formulas and literals are those of RST there, and a parameter is described right after its colon
where its type goes without saying; readers of NumPy's format expect the type there, and no more.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_BLOCK = re.compile(r"^([ ]*)\.\. math:: (.+(?:\n\1[ ]+\S.*)*)", re.MULTILINE)
_PARAMETERS = re.compile(
    r"(^Parameters\n-+\n)(.*?)(?=^\S[^\n]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL
)
_ENTRY = re.compile(r"^(\*{0,2}\w[\w, *]*) : (.+)\n((?:[ ]+\S.*\n?|\n(?=[ ]))*)", re.MULTILINE)
_TYPE = re.compile(r"(int|float|str|bool|number|array|path|function|callable|sequence)\b|\{")
_ROLE = re.compile(r":math:`([^`]+)`")


def to_markdown(text: str) -> str:
    """Return a docstring with its formulas and literals in Markdown."""

    def block(found: re.Match[str]) -> str:
        lines = [found[1] + line.strip() for line in (r"\[", *found[2].splitlines(), r"\]")]
        return "\n".join(lines)

    text = _PARAMETERS.sub(
        lambda found: found[1] + _ENTRY.sub(_described, f"{found[2]}\n")[:-1], text
    )
    text = _BLOCK.sub(block, text)
    text = _ROLE.sub(lambda found: rf"\({' '.join(found[1].split())}\)", text)
    return text.replace("``", "`")


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
