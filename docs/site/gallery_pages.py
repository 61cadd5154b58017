"""Pages of the gallery: an overview in pictures, and a page for each model of `models/`.

Text comes from `models/README.md` and from the docstrings of the models. Pictures are drawn by
`gallery_pictures.py` while the site is built, and kept in ``build/`` as long as neither the model,
nor what draws it, nor the package changes.
"""

from __future__ import annotations

import ast
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import gallery_pictures
from repository_links import ROOT

from probmodel import load_model, read_data

KEPT = ROOT / "build" / "pictures"
MODELS = ROOT / "models"
_ROW = re.compile(r"^\| \[`(\w+)\.py`\]\(\w+\.py\) \| (.+?) \| (.+?) \| (\d+) \|$", re.MULTILINE)
_TABLE = re.compile(r"^\| page .*\n\| ---.*\n((?:\| .*\n)+)", re.MULTILINE)


class Entry(NamedTuple):
    """What the overview says of a model."""

    name: str
    section: str
    lesson: str
    data: str  # links in Markdown
    dim: str


@cache
def entries() -> tuple[Entry, ...]:
    """Return the models in the order of the overview."""
    found = []
    parts = (MODELS / "README.md").read_text(encoding="utf-8").split("\n## ")[1:]
    for part in parts:
        section, _, text = part.partition("\n")
        found += [Entry(row[0], section, *row[1:]) for row in _ROW.findall(text)]
    return tuple(found)


def navigation() -> list[Any]:
    """Return the pages of the models, by section."""
    sections: dict[str, list[Any]] = {}
    for entry in entries():
        sections.setdefault(entry.section, []).append({entry.name: f"gallery/{entry.name}.md"})
    return [{section: pages} for section, pages in sections.items()]


def pages() -> dict[str, str]:
    """Return the text of each model's page by its path."""
    return {f"gallery/{entry.name}.md": _page(entry) for entry in entries()}


def with_cards(text: str) -> str:
    """Return the overview with its tables as cards with pictures."""

    def cards(found: re.Match[str]) -> str:
        shown = "\n".join(
            f'<a class="card" href="{name}/"><img alt="{alternative(name)}" loading="lazy" '
            f'src="pictures/{name}.png"><b>{name}</b><span>{_plain(lesson)}</span></a>'
            for name, lesson, _, _ in _ROW.findall(found[1])
        )
        return f'<div class="cards">\n{shown}\n</div>\n'

    return _TABLE.sub(cards, text)


def alternative(name: str) -> str:
    """Return what a picture shows, in words."""
    return f"{name}: {gallery_pictures.PICTURES[name].caption}"


def _plain(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text)


def _page(entry: Entry) -> str:
    """Return the page of a model: what it is, a picture of its fit, and the file."""
    source = (MODELS / f"{entry.name}.py").read_text(encoding="utf-8")
    doc = ast.get_docstring(ast.parse(source)) or ""
    title, _, text = doc.partition("\n")
    code = source.partition('"""\n\n')[2]
    picture = gallery_pictures.PICTURES[entry.name]
    text = re.sub(r"docs/([\w-]+)\.md", r"[\g<0>](../docs/\1.md)", text.strip())
    text = text.replace("``", "`")
    return (
        f"# {title.rstrip('.')}\n\n"
        f"{text}\n\n"
        f"![{alternative(entry.name)}](pictures/{entry.name}.png)\n\n"
        f"{picture.caption}\n\n"
        "## The model\n\n"
        f"```python\n{code}```\n\n"
        f"Data: {entry.data}, [described here](data/README.md). "
        f"Sampled are {entry.dim} coordinates.\n"
    )


def bound(name: str) -> Any:
    """Return a model with the data that its page names first."""
    path = MODELS / f"{name}.py"
    data = re.search(r"--data (\S+)", path.read_text(encoding="utf-8"))
    assert data is not None, f"{path} names no data"
    return load_model(path)(**read_data(data[1]))


def pictures() -> dict[str, bytes]:
    """Return the picture of each model as a PNG file."""
    KEPT.mkdir(parents=True, exist_ok=True)
    package = _digest((ROOT / "probmodel").rglob("*.py"))
    found = {}
    for entry in entries():
        sources = (MODELS / f"{entry.name}.py", Path(gallery_pictures.__file__))
        known = KEPT / f"{entry.name}-{package}-{_digest(sources)}.png"
        if not known.exists():
            known.write_bytes(gallery_pictures.drawn(entry.name, bound(entry.name)))
        found[entry.name] = known.read_bytes()
    return found


def _digest(paths: Any) -> str:
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
