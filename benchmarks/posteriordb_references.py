"""Reference posteriors of posteriordb in one small file, for `posteriordb`.

    python benchmarks/posteriordb_references.py FOLDER

``FOLDER`` holds a folder for each posterior, with

    reference_summary.json   ``name``, and by parameter ``mean``, ``sd``, ``mean_sq``, ``ess_bulk``,
                             ``ess_tail`` and ``mcse_mean``, from 10,000 draws
    reference_draws.npz      ``names`` and some of the ``draws``: (draws, parameters)

What is written has, by posterior, the ``names`` of the parameters and in their order ``mean``,
``mcse_mean``, ``mean_sq``, ``mcse_mean_sq`` and ``sd``. The Monte Carlo standard error of a mean
square is not published: it is the standard deviation of the squares of the draws that are there,
over the root of the effective sample size of all. For this the smaller of bulk and tail size is
taken; the draws are thinned until they are nearly independent, so that all sizes are near 10,000.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from posteriordb import REFERENCES

Summary = dict[str, list[str] | list[float] | bool]
DIGITS = 10


def summary(folder: Path) -> tuple[str, Summary]:
    """Read one posterior: its name, and what is kept of it."""
    stored = json.loads((folder / "reference_summary.json").read_text())
    parameters = stored["parameters"]
    names = list(parameters)
    with np.load(folder / "reference_draws.npz") as file:
        column = {str(name): i for i, name in enumerate(file["names"])}
        draws = file["draws"].astype(np.float64)[:, [column[name] for name in names]]
    size = [min(p["ess_bulk"], p["ess_tail"]) for p in parameters.values()]
    kept: Summary = {"names": names}
    for entry in ("mean", "mcse_mean", "mean_sq"):
        kept[entry] = rounded([p[entry] for p in parameters.values()])
    kept["mcse_mean_sq"] = rounded(np.std(draws**2, axis=0, ddof=1) / np.sqrt(size))
    kept["sd"] = rounded([p["sd"] for p in parameters.values()])
    return stored["name"], kept


def rounded(values: Sequence[float] | np.ndarray) -> list[float]:
    """Keep so many significant digits that no comparison can tell."""
    return [float(f"{value:.{DIGITS}g}") for value in values]


def text(posteriors: Mapping[str, Summary]) -> str:
    """Format as JSON, with a line for each entry of a posterior."""
    blocks = []
    for name, kept in posteriors.items():
        lines = (f"  {json.dumps(key)}: {json.dumps(values)}" for key, values in kept.items())
        blocks.append(f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, default=REFERENCES, metavar="FILE")
    options = parser.parse_args(arguments)
    found = sorted(options.folder.glob("*/reference_summary.json"))
    if not found:
        parser.error(f"no folder in {options.folder} holds a reference_summary.json")
    options.out.write_text(text(dict(summary(path.parent) for path in found)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
