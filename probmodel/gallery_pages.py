"""What `probmodel gallery` shows: the list of models, or one of them, and copies of it."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from itertools import groupby
from pathlib import Path

from probmodel.errors import OutputError, reason
from probmodel.model.gallery import PREFIX, Page, data_file, model_file, page_of, pages

# What a page shows, with the lines that it goes on over.
_COMMAND = re.compile(r"^    (probmodel sample .*)$", re.MULTILINE)


def list_text() -> str:
    """Return the models by topic: name, what each teaches, its data."""
    wide = max(map(len, pages()))
    lines = []
    for topic, group in groupby(pages().values(), key=lambda page: page.topic):
        lines.append(topic)
        for page in group:
            lines.append(f"  {page.name:{wide}}  {page.teaches.replace('`', '')}")
            lines.append(f"  {'':{wide}}  data: {', '.join(page.data)}")
        lines.append("")
    lines.append("`probmodel gallery NAME` shows a model, `probmodel sample gallery:NAME` runs it.")
    return "\n".join(lines)


def page_text(name: str) -> str:
    """Return the file of a model, and the commands that run and copy it."""
    page = page_of(name)
    model, data = f"{PREFIX}{page.name}", [f"{PREFIX}{file}" for file in page.data]
    source = model_file(name).read_text(encoding="utf-8")
    return "\n".join(
        [
            f"{model}: {page.teaches.replace('`', '')}",
            f"data: {', '.join(data)}",
            "",
            source,
            "In a shell:",
            f"    {_COMMAND.findall(source)[0]}",
            f"    probmodel gallery {page.name} --copy FOLDER",
            "In Python:",
            f'    infer(load_model("{model}")(**read_data("{data[0]}")))',
        ]
    )


def copy_page(name: str, folder: str | os.PathLike[str]) -> str:
    """Copy a model and its data to a folder, and return what was written and how it is run.

    The command that the page shows is that of the copy. Raises an `OutputError` if one of the files
    is there already, or cannot be written; then nothing is replaced.
    """
    page, place = page_of(name), Path(folder).expanduser()
    model = place / f"{page.name}.py"
    copies = {place / file: data_file(f"{PREFIX}{file}") for file in page.data}
    try:
        for file in (model, *copies):
            if os.path.lexists(file):
                raise OutputError(
                    f"{str(file)!r} is there already, and is not replaced. Name another folder.",
                    path=str(file),
                )
        place.mkdir(parents=True, exist_ok=True)
        with model.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(_renamed(page))
        for file, origin in copies.items():
            shutil.copyfile(origin, file)
    except OSError as error:
        raise OutputError(
            f"cannot copy the model {page.name!r} to {str(place)!r}: {reason(error)}.",
            path=str(place),
        ) from error
    written = "\n".join(f"Written to {file}" for file in (model, *copies))
    return f"{written}\nRun it: {_COMMAND.findall(_renamed(page, str(place)))[0]}"


def _renamed(page: Page, folder: str = "") -> str:
    """Return the text of a page whose command names copies in a folder; beside it by default."""
    text = model_file(page.name).read_text(encoding="utf-8")
    for file in page.data:
        text = text.replace(f"{PREFIX}{file}", shlex.quote(os.path.join(folder, file)))
    copy = shlex.quote(os.path.join(folder, f"{page.name}.py"))
    return text.replace(f"{PREFIX}{page.name} ", f"{copy} ")
