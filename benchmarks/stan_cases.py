"""Folders of Stan programs and their data, for `stan_corpus`."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from probmodel import read_data
from probmodel.types import Array

DATA = (".data.R", ".data.json", ".json", ".R.dump")  # ends of names, the first that is there
NO_DATA = (".init.R", ".init.json", ".info.json")


class Case(NamedTuple):
    """A program with its data.

    Attributes
    ----------
    name : in the table
    program : its file
    data : a file that `read_data` reads, or a ZIP archive of one in JSON; None without data
    reference : a ZIP archive of reference draws, as posteriordb has them; None without
    """

    name: str
    program: Path
    data: Path | None
    reference: Path | None = None

    def read(self) -> dict[str, Any]:
        """Read the data."""
        if self.data is None:
            return {}
        if self.data.suffix == ".zip":
            return dict(_unzipped(self.data))
        return read_data(self.data)


def _unzipped(file: Path) -> Any:
    with zipfile.ZipFile(file) as archive:
        return json.loads(archive.read(archive.namelist()[0]))


def draws_of(reference: Path) -> dict[str, Array]:
    """Read reference draws: by name, (chains, draws)."""
    import numpy as np

    chains = _unzipped(reference)
    return {name: np.array([chain[name] for chain in chains]) for name in chains[0]}


def cases_of(folder: Path) -> Iterator[Case]:
    """Find the programs of a folder, or of posteriordb."""
    for place in (folder, folder / "posterior_database"):
        if (place / "posteriors").is_dir() and (place / "models" / "stan").is_dir():
            yield from _posteriordb(place)
            return
    for program in sorted(folder.rglob("*.stan")):
        name = program.relative_to(folder).with_suffix("").as_posix()
        yield Case(name, program, data_of(program))


def _posteriordb(place: Path) -> Iterator[Case]:
    draws = place / "reference_posteriors" / "draws" / "draws"
    for file in sorted((place / "posteriors").glob("*.json")):
        about = json.loads(file.read_text())
        program = place / "models" / "stan" / f"{about['model_name']}.stan"
        data = place / "data" / "data" / f"{about['data_name']}.json.zip"
        reference = draws / f"{about.get('reference_posterior_name')}.json.zip"
        yield Case(
            file.stem,
            program,
            data if data.exists() else None,
            reference if reference.exists() else None,
        )


def data_of(program: Path) -> Path | None:
    """Return the data file of a program: that of its name, or the only one of its folder."""
    for end in DATA:
        if (own := program.with_name(program.stem + end)).exists():
            return own
    ends = (".data.R", ".json")
    others = [f for f in program.parent.iterdir() if f.name.endswith(ends) and not _is_none(f)]
    stems = {f.name.split(".")[0] for f in others}
    return sorted(others, key=lambda f: f.suffix)[0] if len(stems) == 1 else None


def _is_none(file: Path) -> bool:
    return file.name.endswith(NO_DATA)
