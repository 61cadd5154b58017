"""Check that every link of a built site leads somewhere: to a file, and to an anchor of its page.

    python docs/site/check_links.py build/site

MkDocs checks the links of Markdown; this checks what the pages hold in the end, pictures too.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and anchors of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of what a tag points to, and of its name."""
        for name, value in attrs:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and name in ("id", "name"):
                self.anchors.add(value)


def broken(site: Path) -> list[str]:
    """Return the links that lead nowhere, each with the page that has it."""
    # 404.html is served for any address, so its links are those of a site at the root.
    paths = [path for path in site.rglob("*.html") if path.name != "404.html"]
    pages = {path: Page(path) for path in paths}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = path
            if parts.path:
                target = (path.parent / unquote(parts.path)).resolve()
            if target.is_dir():
                target = target / "index.html"
            anchor = unquote(parts.fragment)
            known = pages[target].anchors if target in pages else set()
            if not target.exists() or (anchor and target in pages and anchor not in known):
                found.append(f"{path.relative_to(site)}: {link}")
    return found


if __name__ == "__main__":
    places = broken(Path(sys.argv[1]).resolve())
    print(*places, sep="\n")
    sys.exit(f"{len(places)} broken links" if places else 0)
