"""What the pages write in the manner of repository browsers, as MkDocs and HTML have it.

Formulas are turned into MathML while the site is built, so that a page needs no script, and a
formula that cannot be read ends the build.
"""

from __future__ import annotations

import html
import re

from math_core import LatexError, LatexToMathML
from repository_links import outside_fences

TABS = {"python": "probmodel", "stan": "Stan", "python pymc": "PyMC"}
_HEAD = re.compile(r"^```([^\n`]+)$", re.MULTILINE)
_SIDE_BY_SIDE = re.compile(
    r"^```python\n(?:(?!```).*\n)*```\n\n```stan\n(?:(?!```).*\n)*```\n\n```python pymc\n"
    r"(?:(?!```).*\n)*```$",
    re.MULTILINE,
)
_BLOCK = re.compile(r"^```([^\n]*)\n((?:(?!```).*\n)*)```$", re.MULTILINE)
_FORMULA = re.compile(
    r'<(span|div) class="arithmatex">(?:\\\((.*?)\\\)|\\\[(.*?)\\\])</\1>', re.DOTALL
)
_TO_MATHML = LatexToMathML(annotation=False, fancy_error=False)


def to_mkdocs(text: str) -> str:
    """Return a page with its formulas, fences and examples side by side as MkDocs reads them."""
    text = _SIDE_BY_SIDE.sub(lambda found: _tabs(found[0]), text)
    text = re.sub(
        r"^```math\n(.*?)\n```$",
        lambda found: f"\\[\n{found[1]}\n\\]",
        text,
        flags=re.MULTILINE | re.DOTALL,
    )
    text = outside_fences(text, lambda part: re.sub(r"\$`([^`]+)`\$", r"\\(\1\\)", part))
    return _HEAD.sub(lambda found: f"```{found[1].split()[0]}", text)


def _tabs(text: str) -> str:
    """Return adjacent blocks as tabs."""
    tabs = []
    for head, code in _BLOCK.findall(text):
        language = head.split()[0]
        body = "".join(f"    {line}\n" if line else "\n" for line in code.splitlines())
        tabs.append(f'=== "{TABS[head]}"\n\n    ```{language}\n{body}    ```\n')
    return "\n".join(tabs)


def with_mathml(page: str, where: str) -> str:
    """Return a page of HTML with its formulas in MathML."""

    def new(found: re.Match[str]) -> str:
        inline = found[2] is not None
        source = html.unescape(found[2] if inline else found[3]).strip()
        try:
            return _TO_MATHML.convert_with_local_state(source, displaystyle=not inline)
        except LatexError as error:
            raise ValueError(f"{where}: the formula {source!r} cannot be read: {error}") from error

    return _FORMULA.sub(new, page)
