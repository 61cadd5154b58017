"""Pages whose examples are run while the site is built, with what they show below each.

A page becomes a notebook (by Jupytext), which a Jupyter kernel runs from top to bottom in an empty
folder. An error or a warning in it ends the build, unless the block
says ``warns=`` and the warning's name. The notebook, without outputs, is offered beside the page.

What was shown is kept in ``build/``, as long as neither the page nor the package changes.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbclient import NotebookClient
from repository_links import ROOT

KEPT = ROOT / "build" / "shown"
STRICT = (
    "import warnings\n"
    "for kind in (UserWarning, RuntimeWarning, FutureWarning):\n"
    "    warnings.simplefilter('error', kind)\n"
    "warnings.filterwarnings('ignore', r'\\s*ArviZ is undergoing', FutureWarning)\n"
    "import matplotlib.style\n"
    f"matplotlib.style.use({str(Path(__file__).with_name('probmodel.mplstyle'))!r})"
)
LENIENT = (
    "import probmodel, warnings\nwarnings.filterwarnings('{}', category=getattr(probmodel, '{}'))"
)
_FENCE = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "PUT-OUTPUT-{}-HERE"
_NOISE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|^/\S*ipykernel_\S*: ", re.MULTILINE)
_shown: dict[str, list[str]] = {}  # outputs of each page as HTML


def executed(text: str, uri: str, files: Files, config: MkDocsConfig) -> str:
    """Run the examples of a page, and return the page with a mark below each that showed something.

    Files of HTML that the examples write are published beside the page.
    """
    if not _FENCE.search(text):
        return text
    name = Path(uri).stem
    known = KEPT / f"{name}-{_digest(text)}.json"
    if not known.exists():
        known.parent.mkdir(parents=True, exist_ok=True)
        known.write_text(json.dumps(_run(text, uri)), encoding="utf-8")
    result = json.loads(known.read_text(encoding="utf-8"))
    _shown[uri] = result["outputs"]
    for file, content in result["files"].items():
        files.append(File.generated(config, f"tutorials/{file}", content=content))
    notebook = jupytext.writes(_notebook(text), fmt="ipynb")
    files.append(File.generated(config, f"tutorials/{name}.ipynb", content=notebook))
    marks = iter(range(len(_shown[uri])))
    title, _, rest = text.partition("\n")
    offered = [f"[This page as a notebook]({name}.ipynb){{ .notebook }}"]
    offered += [f"[{file}, which it writes]({file}){{ .notebook }}" for file in result["files"]]
    text = f"{title}\n\n{' · '.join(offered)}\n{rest}"
    return _FENCE.sub(lambda found: f"{found[0]}\n\n{_MARK.format(next(marks))}", text)


def with_outputs(page: str, uri: str) -> str:
    """Return a page of HTML with the outputs at their marks."""
    for i, output in enumerate(_shown.get(uri, [])):
        page = page.replace(f"<p>{_MARK.format(i)}</p>", output)
    return page


def _digest(text: str) -> str:
    """Return what changes with a page and the package."""
    digest = hashlib.sha256(text.encode())
    for path in [*sorted((ROOT / "probmodel").rglob("*.py")), Path(__file__)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _notebook(text: str) -> nbformat.NotebookNode:
    """Return a page as a notebook, whose code cells are the page's blocks of Python."""
    notebook = jupytext.reads(_FENCE.sub(r"```python\n\2```", text), fmt="md")
    notebook.metadata["kernelspec"] = {
        "name": "python3", "display_name": "Python 3", "language": "python",
    }  # fmt: skip
    return notebook


def _run(text: str, uri: str) -> dict[str, Any]:
    """Return what each example shows, as HTML, and the pages that they write."""
    options = [found[1].strip() for found in _FENCE.finditer(text)]
    notebook = _notebook(text)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    run: list[nbformat.NotebookNode] = [nbformat.v4.new_code_cell(STRICT)]
    for cell, option in zip(cells, options, strict=True):
        warned = option.removeprefix("warns=") if option.startswith("warns=") else None
        if warned:
            run.append(nbformat.v4.new_code_cell(LENIENT.format("always", warned)))
        run.append(cell)
        if warned:
            run.append(nbformat.v4.new_code_cell(LENIENT.format("error", warned)))
    notebook.cells = run
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],
            timeout=300,
            resources={"metadata": {"path": folder}},
        ).execute()
        written = {
            path.name: path.read_text(encoding="utf-8") for path in Path(folder).glob("*.html")
        }
    return {"outputs": [_as_html(cell.outputs) for cell in cells], "files": written}


def _as_html(outputs: list[Any]) -> str:
    """Return the outputs of one example."""
    shown = "".join(_one(output) for output in outputs)
    return f'<div class="shown">{shown}</div>' if shown else ""


def _one(output: Any) -> str:
    if output.output_type == "stream":
        kind = ' class="warned"' if output.get("name") == "stderr" else ""
        return f"<pre{kind}>{html.escape(_NOISE.sub('', output.text))}</pre>"
    data = output.get("data", {})
    if "text/html" in data:
        return f"<div>{data['text/html']}</div>"
    if "image/png" in data:
        code = data["image/png"].replace("\n", "")
        return f'<img alt="What the example above draws" src="data:image/png;base64,{code}">'
    if "text/plain" in data:
        kind = ' class="warned"' if output.get("name") == "stderr" else ""
        return f"<pre{kind}>{html.escape(data['text/plain'])}</pre>"
    return ""
