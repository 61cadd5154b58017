"""Where each file of the repository stands in the site, and links between them.

Pages are written for the repository: their links are relative paths to files, as a browser of the
repository follows them. Here each such path becomes the page or file of the site that shows it.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PLACES = {
    "README.md": "index.md",
    "docs/README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "LICENSE": "license.md",
    "models": "gallery/index.md",
    "models/README.md": "gallery/index.md",
    "models/data": "gallery/data.md",
    "models/data/README.md": "gallery/data.md",
    "benchmarks": "benchmarks.md",
    "benchmarks/results/README.md": "benchmarks.md",
    "benchmarks/results/papers.md": "papers.md",
    "docs/methods": "methods.md",
}
_FENCED = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?(\))")


def place(path: str) -> str:
    """Return what shows a file of the repository, as a path in the source of the site."""
    if path in PLACES:
        return PLACES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("models/pictures/"):  # made with the site
        return path.replace("models", "gallery", 1)
    model = re.fullmatch(r"models/(\w+)\.py", path)
    if model:
        return f"gallery/{model[1]}.md"
    return f"source/{path}.md" if path.endswith(".py") else f"source/{path}"


def linked(text: str, path: str) -> set[str]:
    """Return the files of the repository that the page at ``path`` links to, without anchors."""
    found = (match[2] for match in _LINK.finditer(_FENCED.sub("", text)))
    return {_resolved(link, path) for link in found if _is_local(link)}


def relinked(text: str, path: str, uri: str) -> str:
    """Return a page's text with its links turned into those of the site.

    Parameters
    ----------
    text : the page in Markdown
    path : where it is in the repository
    uri : where it is in the source of the site
    """

    def new(match: re.Match[str]) -> str:
        if not _is_local(match[2]):
            return match[0]
        target = place(_resolved(match[2], path))
        relative = posixpath.relpath(target, posixpath.dirname(uri) or ".")
        return f"{match[1]}{relative}{match[3] or ''}{match[4]}"

    return outside_fences(text, lambda part: _LINK.sub(new, part))


def outside_fences(text, change):
    """Return a text with its parts outside fenced blocks changed."""
    parts = _FENCED.split(text)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


def _is_local(link: str) -> bool:
    return bool(link) and not re.match(r"[a-z]+:", link)


def _resolved(link: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
