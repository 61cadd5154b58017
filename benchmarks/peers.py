"""The default of this package against other tools, cold and warm, on the same posteriors.

    python benchmarks/peers.py --csv benchmarks/results/peers.csv
    python benchmarks/peers.py --only eight_schools pima --tools probmodel nutpie --repeats 1
    python benchmarks/peers.py --rows benchmarks/results/peers.csv

``infer(model)`` without settings runs against NumPyro's NUTS, nutpie with PyMC's models, and
BlackJAX's ChEES-HMC. Each tool has its usual number of chains and of iterations, and its model as
its users write it: the files of `peer_tools` say which form that is. All have double precision and
all cores of the machine. Every run is a process of its own; tools take turns within a repeat.
Shown are medians over the repeats, which differ in their seeds, of

- cold s: seconds from the start of a process, with all imports, ArviZ among them, until the
  smallest bulk effective sample size (ESS) over all parameters is 400. Where the draws of the
  default do not suffice, the tool runs once more in the same process, with as many as it takes;
  both runs count, and a > tells that it is still too few. Caches that a tool keeps on disk stay,
- bulk/s, tail/s: smallest bulk and tail ESS over the seconds of a second run in one process, with
  its warm-up, and with what the tool compiled in the first where it keeps that,
- / ours: cold seconds over ours, and ours over their bulk/s and tail/s: above 1, ours is better,
- R-hat: the largest, over all runs,
- worst z: the largest distance of a mean from ours, in Monte Carlo standard errors, over all draws
  of the warm runs. A race is void if that is too large, with 1 % for all parameters together, or
  if R-hat is above 1.05.

Effective sample sizes, R-hat and errors are ArviZ's, for all tools alike, on the same parameters.
A tool that is not installed, fails, or exceeds the time limit has a row that says so.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from measures import Row, r_hat, recorded, stored
from peer_run import ENOUGH, MODES
from peer_tools import OURS, TOOLS
from peer_tools.cases import CASES
from report import environment, markdown, number, processor_name
from scipy.stats import norm

WORKER = Path(__file__).resolve().parent / "peer_run.py"
LEVEL, AGREED = 0.01, 1.05
COLUMNS = (
    "case", "tool", "mode", "repeat", "chains", "draws", "runs", "seconds", "first_seconds",
    "first_ess", "ess_bulk", "ess_tail", "bulk_per_second", "tail_per_second", "rhat", "worst_z",
    "void", "error", "versions", "machine", "threads", "date",
)  # fmt: skip
WORDS = ("case", "tool", "mode", "void", "error", "versions", "machine", "threads", "date")


def measure(case: str, tool: str, mode: str, repeat: int, limit: float) -> Row:
    """Run a tool once in a process of its own; what goes wrong is the row's ``error``."""
    row: Row = {"case": case, "tool": tool, "mode": mode, "repeat": repeat, "error": ""}
    row |= {
        "machine": f"{processor_name()}, {len(os.sched_getaffinity(0))} cores",
        "threads": f"OPENBLAS_NUM_THREADS={os.environ.get('OPENBLAS_NUM_THREADS')}",
        "date": time.strftime("%Y-%m-%d"),
    }
    with tempfile.TemporaryDirectory() as folder:
        data, into = Path(folder) / "data.npz", Path(folder) / "found.json"
        np.savez(data, **CASES[case].data())
        command = [sys.executable, str(WORKER), tool, case, "--data", str(data)]
        command += ["--mode", mode, "--seed", str(repeat + 1), "--into", str(into)]
        try:
            done = subprocess.run(
                [*command, "--started", repr(time.time())],
                capture_output=True, text=True, timeout=limit,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return row | {"error": f"more than {limit:g} s"}
        if done.returncode or not into.exists():
            said = done.stderr.strip().splitlines()
            return row | {"error": said[-1][:200] if said else f"exit {done.returncode}"}
        return row | json.loads(into.read_text())


def rows_of(case: str, tools: Sequence[str], options: argparse.Namespace) -> Iterator[Row]:
    """Run all tools on a posterior by turns, and compare them."""
    rows = []
    for repeat in range(options.repeats):
        for mode in options.modes:
            for tool in tools:
                row = measure(case, tool, mode, repeat, options.time_limit)
                found = row["error"] or f"{row['seconds']:.3g} s, bulk ESS {row['ess_bulk']:.0f}"
                print(f"{case}, {mode}, {tool}, {repeat}: {found}", file=sys.stderr, flush=True)
                rows.append(row)
    for tool in tools:
        verdict = compared(rows, tool)
        for row in rows:
            if row["tool"] == tool and not row["error"]:
                row |= verdict
    yield from rows


def compared(rows: Sequence[Row], tool: str) -> Row:
    """Tell how far the means of a tool are from ours, and whether its race is void."""
    ours, theirs = pooled(rows, OURS), pooled(rows, tool)
    rhats = [row["rhat"] for row in rows if row["tool"] == tool and not row["error"]]
    void = "chains disagree" if rhats and max(rhats) > AGREED else ""
    if ours is None or theirs is None or tool == OURS:
        return {"worst_z": np.nan, "void": void}
    z = np.abs(ours[0] - theirs[0]) / np.hypot(ours[1], theirs[1])
    far = float(z.max()) > norm.isf(0.5 * LEVEL / z.size)
    return {"worst_z": float(z.max()), "void": void or ("means disagree" if far else "")}


def pooled(rows: Sequence[Row], tool: str) -> tuple[Any, Any] | None:
    """Return the means of the last mode's runs of a tool, and their errors; None without any."""
    good = [row for row in rows if row["tool"] == tool and not row["error"]]
    good = [row for row in good if row["mode"] == good[-1]["mode"]]
    if not good:
        return None
    means, errors = (np.array([row[name] for row in good]) for name in ("means", "errors"))
    return means.mean(axis=0), np.sqrt((errors**2).sum(axis=0)) / len(good)


def table(rows: Sequence[Row]) -> str:
    """Format the medians as Markdown."""
    keys = dict.fromkeys((row["case"], row["tool"]) for row in rows)
    lines = [line_of(rows, *key) for key in keys]
    header = ("posterior", "tool", "chains", "draws", "cold s", "/ ours", "bulk/s", "/ ours",
              "tail/s", "/ ours", "R-hat", "worst z", "void")  # fmt: skip
    return markdown(header, lines)


def line_of(rows: Sequence[Row], case: str, tool: str) -> list[str]:
    """Return the cells of a tool on a posterior."""

    def median(who: str, mode: str, name: str) -> float:
        found = [r[name] for r in rows if (r["case"], r["tool"], r["mode"]) == (case, who, mode)
                 and not r["error"]]  # fmt: skip
        return float(np.median(found)) if found else np.nan

    own = [row for row in rows if (row["case"], row["tool"]) == (case, tool)]
    good = [row for row in own if not row["error"]]
    if not good:
        return [case, tool, *["–"] * 10, own[0]["error"]]
    cold = median(tool, "cold", "seconds")
    short = median(tool, "cold", "ess_bulk") < ENOUGH
    cells = [(">" if short else "") + number(cold), number(cold / median(OURS, "cold", "seconds"))]
    for name in ("bulk_per_second", "tail_per_second"):
        rate = median(tool, "warm", name)
        cells += [number(rate), number(median(OURS, "warm", name) / rate)]
    lost = f"{len(own) - len(good)} of {len(own)} runs failed" if len(own) > len(good) else ""
    notes = ", ".join(filter(None, (good[0]["void"], lost)))
    most = max(row["rhat"] for row in good)
    chains, draws = (f"{good[-1][name]:.0f}" for name in ("chains", "draws"))
    return [case, tool, chains, draws, *cells, r_hat(most), number(good[0]["worst_z"]), notes]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--tools", nargs="+", default=list(TOOLS), choices=list(TOOLS))
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=list(MODES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=900.0, help="seconds of a run")
    parser.add_argument("--csv", type=Path, metavar="FILE")
    parser.add_argument("--rows", nargs="+", type=Path, metavar="FILE", help="report; run nothing")
    options = parser.parse_args(arguments)
    if options.rows:
        print(table(list(stored(options.rows, WORDS))))
        return 0
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # tools run their chains on all cores
    print("\n".join(f"- {line}" for line in environment()), flush=True)
    every = chain.from_iterable(rows_of(case, options.tools, options) for case in options.only)
    rows = list(recorded(options.csv, COLUMNS, every))
    for versions in dict.fromkeys(row["versions"] for row in rows if not row["error"]):
        print(f"- {versions}")
    print(f"\n{table(rows)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
