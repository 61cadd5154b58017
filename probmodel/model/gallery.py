"""The gallery: models to start from, with their data, wherever the package was installed.

``gallery:radon`` names the page ``radon.py``; where data are asked for, it names the first data
set of that page, and ``gallery:radon.json`` names a data set. In a wheel the pages are in the
folder ``gallery`` of the package, in a checkout they are in ``models`` beside it. The index,
``README.md``, says what each page teaches and which data it is for.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from probmodel.errors import DataError, ModelError, alike

PREFIX = "gallery:"

_PACKAGE = Path(__file__).parents[1]
_LISTED = "`probmodel gallery` lists what there is."
_ROW = re.compile(r"\| \[`(\w+)\.py`\]\([^)]*\) \| (.*) \| (.*) \| \d+ \|")


class Page(NamedTuple):
    """A model of the gallery, as the index describes it.

    Attributes
    ----------
    name : of its file, without ``.py``
    topic : the heading that it stands under
    teaches : what it shows, in one line
    data : names of the files that it takes; the first of them is the one it is shown with
    """

    name: str
    topic: str
    teaches: str
    data: tuple[str, ...]


def is_named(path: Any) -> bool:
    """Whether a name is one of the gallery's, and no path."""
    return str(path).startswith(PREFIX)


def folder() -> Path:
    """Return the folder of the pages.

    Raises a `ModelError` if the package was installed without it.
    """
    for place in _places():
        if (place / "README.md").is_file():
            return place
    places = _places()
    raise ModelError(
        f"the gallery is missing: expected the folder {str(places[0])!r} of an installation or "
        f"{str(places[1])!r} of a checkout. Install probmodel again."
    )


def _places() -> tuple[Path, Path]:
    """Return where the pages are: in an installation, and in a checkout."""
    return _PACKAGE / "gallery", _PACKAGE.parent / "models"


@cache
def pages() -> dict[str, Page]:
    """Return what the index says, by the name of the page."""
    found = {}
    topic = ""
    for line in (folder() / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            topic = line.removeprefix("## ")
        elif row := _ROW.fullmatch(line):
            name, teaches, data = row.groups()
            found[name] = Page(name, topic, teaches, tuple(re.findall(r"\[`([^`]+)`\]", data)))
    return found


def page_of(path: Any) -> Page:
    """Return the page that ``gallery:name``, or ``gallery:name.py``, names.

    Raises a `ModelError` if there is none.
    """
    name = str(path).removeprefix(PREFIX)
    page = pages().get(name.removesuffix(".py"))
    if page is None:
        raise ModelError(
            f"the gallery has no model {name!r}.{alike(name, pages())} {_LISTED}", name=name
        )
    return page


def has_model(path: Any) -> bool:
    """Whether the gallery has the model that a name of its own names."""
    return str(path).removeprefix(PREFIX).removesuffix(".py") in pages()


def model_file(path: Any) -> Path:
    """Return the file of the model that a name of the gallery names; see `page_of`."""
    return folder() / f"{page_of(path).name}.py"


def model_name(file: str) -> str:
    """Return the gallery's name of a file that is a page of it; else the file as it is."""
    path = Path(file)
    is_page = path.parent in _places() and has_model(path.name)
    return f"{PREFIX}{path.stem}" if is_page else file


def data_file(path: Any) -> Path:
    """Return the file of ``gallery:name.json``, or of the first data set of ``gallery:name``.

    Raises a `DataError` if there is none.
    """
    name = str(path).removeprefix(PREFIX)
    known = {file for page in pages().values() for file in page.data}
    file = pages()[name].data[0] if name in pages() else name
    if file not in known:
        raise DataError(
            f"the gallery has no data set {name!r}.{alike(name, known | pages().keys())} {_LISTED}",
            name=name,
        )
    return folder() / "data" / file
