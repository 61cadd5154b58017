"""What MkDocs calls while it builds the site: pages made from the repository, and their dialect.

README, changes, gallery, reference and the sources that pages link to become pages here. No page
is written twice: each stands in the repository as it is read there.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import executed_pages
import gallery_pages
import reference_pages
from dialect import to_mkdocs, with_mathml
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from repository_links import ROOT, linked, place, relinked

from probmodel.samplers import SAMPLERS

DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "models/README.md",
    "models/data/README.md",
    "benchmarks/results/README.md",
    "benchmarks/results/papers.md",
)
_origins: dict[str, str] = {}  # path in the repository of each page, by its path in the site


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that follow from the code into the navigation."""
    config.watch.extend(str(ROOT / name) for name in ("README.md", "models", "probmodel"))
    made = {
        "METHODS": [{name: f"methods/{name}.md"} for name in SAMPLERS],
        "MODELS": gallery_pages.navigation(),
        "REFERENCE": [{title: uri} for uri, (title, _) in reference_pages.pages().items()],
    }
    config.nav = _filled(config.nav, made)
    return config


def _filled(entries: list[Any], made: dict[str, list[Any]]) -> list[Any]:
    """Return navigation with the placeholders replaced by what is made."""
    result: list[Any] = []
    for entry in entries:
        if isinstance(entry, str) and entry in made:
            result += made[entry]
        elif isinstance(entry, dict):
            result += [
                {title: _filled(below, made) if isinstance(below, list) else below}
                for title, below in entry.items()
            ]
        else:
            result.append(entry)
    return result


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages and files that stand outside `docs/`."""
    _origins.clear()
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in DOCUMENTS}
    for path, text in texts.items():
        _add(files, config, place(path), text, path)
    for file in files.documentation_pages():
        if file.src_uri not in _origins:
            path = f"docs/{file.src_uri}"
            _origins[file.src_uri] = path
            texts[path] = file.content_string
    for uri, text in gallery_pages.pages().items():
        _add(files, config, uri, text, f"models/{Path(uri).name}")
        texts[f"models/{Path(uri).name}"] = text
    for uri, (_, text) in reference_pages.pages().items():
        _add(files, config, uri, text, f"docs/{uri}")
    for path in sorted(set().union(*(linked(text, path) for path, text in texts.items()))):
        _add_target(files, config, path)
    for name, content in gallery_pages.pictures().items():
        files.append(File.generated(config, f"gallery/pictures/{name}.png", content=content))
    return files


def _add(files: Files, config: MkDocsConfig, uri: str, text: str, path: str) -> None:
    files.append(File.generated(config, uri, content=text))
    _origins[uri] = path


def _add_target(files: Files, config: MkDocsConfig, path: str) -> None:
    """Add what a page links to, if it is a file of the repository that has no page yet."""
    uri, target = place(path), ROOT / path
    if files.get_file_from_path(uri) is not None or not target.is_file():
        return
    if uri.endswith(".md") and not path.endswith(".md"):
        language = "python" if path.endswith(".py") else "text"
        text = target.read_text(encoding="utf-8")
        page = f"# `{path}`\n\n````{language}\n{text}````\n"
        files.append(File.generated(config, uri, content=page))
    else:
        files.append(File.generated(config, uri, content=target.read_bytes()))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn a page as it is read in the repository into one that MkDocs reads."""
    uri, text = page.file.src_uri, markdown
    if uri.startswith("source/"):
        return text
    if uri == "gallery/index.md":
        text = gallery_pages.with_cards(text)
    if uri in _origins and not uri.startswith("reference/"):
        text = relinked(text, _origins[uri], uri)
    text = re.sub(r"^<!-- (generated: [\w ]+|end) -->\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"<!--(= [^>]+ |/)-->", "", text)
    if uri.startswith("tutorials/"):
        text = executed_pages.executed(text, uri, files, config)
    return to_mkdocs(text)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put in what the examples of a page showed, and turn its formulas into MathML."""
    html = executed_pages.with_outputs(html, page.file.src_uri)
    return with_mathml(html, page.file.src_uri)
