"""Docstrings as Markdown, for the reference: their formulas and literals are those of RST."""

from __future__ import annotations

import re
from typing import Any

import griffe

_BLOCK = re.compile(r"^([ ]*)\.\. math:: (.+(?:\n\1[ ]+\S.*)*)", re.MULTILINE)
_ROLE = re.compile(r":math:`([^`]+)`")


def to_markdown(text: str) -> str:
    """Return a docstring with its formulas and literals in Markdown."""

    def block(found: re.Match[str]) -> str:
        lines = [found[1] + line.strip() for line in (r"\[", *found[2].splitlines(), r"\]")]
        return "\n".join(lines)

    text = _BLOCK.sub(block, text)
    text = _ROLE.sub(lambda found: rf"\({' '.join(found[1].split())}\)", text)
    return text.replace("``", "`")


class DocstringMath(griffe.Extension):
    """Rewrites each docstring when it is collected."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite the docstring of one object."""
        if obj.docstring is not None:
            obj.docstring.value = to_markdown(obj.docstring.value)
