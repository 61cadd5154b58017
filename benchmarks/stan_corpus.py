"""What becomes of a folder of Stan programs: which are read, what they cost, whether Stan agrees.

    python benchmarks/stan_corpus.py FOLDER --out rows.csv
    python benchmarks/stan_corpus.py FOLDER --only garch --oracle httpstan --stan-python PYTHON
    python benchmarks/stan_corpus.py POSTERIORDB --sample --against-own

``FOLDER`` is a checkout of posteriordb, or holds programs with their data beside them: of
``x.stan``, ``x.data.R``, ``x.data.json`` or ``x.json``, or the only data file of its folder.

A line is printed for each program: how far it came, seconds of binding, number of operations of
the compiled density, how many of four starting points have a finite density, and microseconds of a
gradient of one of 16 chains in machine code. Each has a process of its own, for ``--limit``
seconds.

``--oracle httpstan`` compares with the log density that Stan's own compiler makes, in the Python
of ``--stan-python``: at the same values of the parameters, without the Jacobians of constraints,
differences of log densities between points have to agree to a relative 1e-9, and slopes along
random lines to 1e-6; and transformed parameters and generated quantities, unless these are drawn
at random. Parameters are named whose priors bound them though the program does not.
``--sample`` runs ``infer`` as it is and compares means and standard deviations with the reference
draws of posteriordb; the bound of all comparisons of a posterior together is one in a thousand.
``--against-own`` times the gradient by turns with that of the same model of the gallery.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from stan_cases import Case, cases_of

Row = dict[str, Any]
MEASURES = Path(__file__).resolve().parent / "stan_measures.py"
COLUMNS = (
    "name", "stage", "kind", "bind_s", "compile_s", "dim", "operations", "finite", "gradient_us",
    "oracle", "value_gap", "slope_gap", "own_slope_error", "stan_slope_error",
    "derived_gap", "derived_of", "constant",
    "bounded_by_prior", "draws", "worst_z", "worst_of", "bound_z", "compared", "sample_s",
    "warnings", "stan_us", "own_us", "ratio",
    "error",
)  # fmt: skip
SHOWN = {
    "name": 48, "stage": 8, "bind_s": 8, "operations": 7, "finite": 4, "gradient_us": 9,
    "oracle": 8, "value_gap": 9, "slope_gap": 9, "derived_gap": 9, "draws": 8, "worst_z": 7,
    "ratio": 6,
}  # fmt: skip


def row_of(case: Case, options: Mapping[str, Any]) -> Row:
    """Measure one program in a process of its own."""
    asked = {
        "name": case.name, "program": str(case.program), "options": dict(options),
        "data": str(case.data or ""), "reference": str(case.reference or ""),
    }  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(MEASURES)], text=True, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        printed, said = process.communicate(json.dumps(asked), timeout=options["limit"])
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"name": case.name, "stage": "limit", "kind": "TimeLimit", "error": "too long"}
    if process.returncode or not printed:
        return {"name": case.name, "stage": "crash", "kind": "Crash", "error": said[-2000:]}
    return dict(json.loads(printed))


def line_of(row: Row) -> str:
    """Return a line of the table."""
    cells = []
    for name, width in SHOWN.items():
        value = row.get(name, "")
        text = f"{value:.3g}" if isinstance(value, float) else str(value)
        cells.append(text.ljust(width) if name == "name" else text.rjust(width))
    first = (row.get("error") or "").strip().splitlines()[:1]
    notes = [f"bounded by prior: {row['bounded_by_prior']}"] if row.get("bounded_by_prior") else []
    notes += [f"{row.get('kind')}: {first[0]}"] if first else []
    return " ".join(cells) + ("  " + "; ".join(notes) if notes else "")


def header() -> str:
    """Return the first line of the table."""
    return " ".join(n[:w].ljust(w) if n == "name" else n[:w].rjust(w) for n, w in SHOWN.items())


def summary(rows: Sequence[Row]) -> str:
    """Return counts, and how long binding takes."""
    stages = Counter("start" if r["stage"] == "done" and not r.get("finite") else r["stage"]
                     for r in rows)  # fmt: skip
    bound = [row["bind_s"] for row in rows if "bind_s" in row]
    lines = [f"{len(rows)} programs: " + ", ".join(f"{n} {stage}" for stage, n in stages.items())]
    if bound:
        lines.append(
            f"{len(bound)} bound, in {np.median(bound):.3g} s in the median and "
            f"{np.quantile(bound, 0.95):.3g} s in 95 %"
        )
    for name in ("oracle", "draws"):
        said = Counter(row[name] for row in rows if row.get(name))
        if said:
            lines.append(f"{name}: " + ", ".join(f"{n} {what}" for what, n in said.items()))
    ratios = [row["ratio"] for row in rows if row.get("ratio")]
    if ratios:
        lines.append(
            f"gradient over that of the own model: {np.median(ratios):.3g} in the median of "
            f"{len(ratios)}, {max(ratios):.3g} at most"
        )
    return "\n".join(lines)


def write(rows: Sequence[Row], file: Path) -> None:
    """Write all rows: as JSON, or those with data as CSV, in four digits and errors in one line."""
    if file.suffix == ".json":
        file.write_text(json.dumps(list(rows), indent=1) + "\n")
        return
    found = [{name: _brief(v) for name, v in r.items()} for r in rows if r["stage"] != "data"]
    used = [name for name in COLUMNS if any(r.get(name, "") != "" for r in found)]
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, used, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


def _brief(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.4g}"
    return "; ".join(value.strip().splitlines()[:1]) if isinstance(value, str) else value


def chosen(folder: Path, only: Sequence[str]) -> Iterator[Case]:
    """Yield the cases whose names contain one of some words, in their order; all without words."""
    cases = list(cases_of(folder))
    names = dict.fromkeys(c.name for word in only or [""] for c in cases if word in c.name)
    by_name = {case.name: case for case in cases}
    for name in names:
        yield by_name[name]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="parts of names")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds of a program")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    parser.add_argument("--no-cost", action="store_true", help="make no machine code")
    parser.add_argument("--oracle", choices=["httpstan"])
    parser.add_argument("--stan-python", metavar="PATH", help="Python that has httpstan")
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--against-own", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, metavar="FILE", help="CSV, or JSON if it ends so")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print the table; 1 if Stan or reference draws disagree."""
    options = parse(arguments)
    names = ("limit", "oracle", "stan_python", "sample", "against_own", "seed")
    asked = {name: getattr(options, name) for name in names} | {"cost": not options.no_cost}
    print(header())
    rows = []
    with ThreadPoolExecutor(options.jobs) as pool:
        cases = list(chosen(options.folder, options.only))
        for row in pool.map(lambda case: row_of(case, asked), cases):
            row["error"] = row.get("error", "").replace(f"{options.folder}{os.sep}", "")
            rows.append(row)
            print(line_of(row), flush=True)
            if options.out:
                write(rows, options.out)
    print(summary(rows))
    return int(any("DIFFERS" in (row.get("oracle"), row.get("draws")) for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
