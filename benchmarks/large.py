"""Runs in thousands of dimensions: do the chains agree, how long does it take, how much memory.

    python benchmarks/large.py --csv benchmarks/results/large.csv

    cox_64           log-Gaussian Cox process on 64 x 64 cells, hyperparameters fixed: d = 4096
    cox_joint_64     the same with mean, variance and length scale, by FFT: d = 16387
    volatility_2515  stochastic volatility of the gallery on ten years of returns: d = 2518

`cox_64` samples its field by the white noise that drives it, which `--method rm_const_hmc` cannot
take; its own way to the same posterior is `cox_64_field`. Each run is a process of its own, whose
largest size counts: interpreter, data, draws and diagnostics included. R-hat is the largest over
all unconstrained coordinates, bulk and tail are the smallest effective sample sizes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from latent_targets import cox_process, joint_cox, white_cox
from measures import Row, r_hat, recorded
from race import Sizes, gallery, measure
from report import environment, markdown, number

from probmodel.types import LogDensity

TARGETS: dict[str, Callable[[], LogDensity]] = {
    "cox_64": partial(white_cox, 64),
    "cox_64_field": partial(cox_process, 64),
    "cox_joint_64": partial(joint_cox, 64),
    "cox_joint_16": partial(joint_cox, 16),
    "volatility_2515": partial(gallery, "stochastic_volatility.py", "sp500.csv"),
}
DEFAULT = ("cox_64", "cox_joint_64", "volatility_2515")
COLUMNS = (
    "target", "dim", "method", "chains", "warmup", "draws", "rhat", "ess_bulk", "ess_tail",
    "gradients_warmup", "gradients_sampling", "acceptance_rate", "seconds", "megabytes", "error",
)  # fmt: skip


def run(target: str, method: str, sizes: Sizes, seed: int) -> Row:
    """Build a target, sample it, and judge the draws."""
    start = time.perf_counter()
    row = measure(target, TARGETS[target](), method, seed, sizes)
    seconds = time.perf_counter() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return row | {"seconds": seconds, "megabytes": megabytes}


def rows_of(targets: Sequence[str], method: str, sizes: Sizes, seed: int) -> Iterator[Row]:
    """Run the targets one after another, each in a fresh process."""
    for target in targets:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            yield pool.submit(run, target, method, sizes, seed).result()


def table(rows: Sequence[Row]) -> str:
    """Format the runs as Markdown."""
    header = ("target", "d", "method", "chains", "warm-up + draws", "R-hat", "bulk", "tail",
              "gradients a chain", "minutes", "GB")  # fmt: skip
    lines = []
    for row in rows:
        start = (row["target"], str(row["dim"]), row["method"])
        if row["error"]:
            lines.append((*start, "–", "–", row["error"], *["–"] * 3, *_cost(row)))
            continue
        spent = (row["gradients_warmup"] + row["gradients_sampling"]) / row["chains"]
        lines.append((
            *start, str(row["chains"]), f"{row['warmup']} + {row['draws']}", r_hat(row["rhat"]),
            number(row["ess_bulk"]), number(row["ess_tail"]), number(spent), *_cost(row),
        ))  # fmt: skip
    return markdown(header, lines)


def _cost(row: Row) -> tuple[str, str]:
    return f"{row['seconds'] / 60:.1f}", f"{row['megabytes'] / 1024:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--targets", nargs="+", default=list(DEFAULT), choices=list(TARGETS))
    parser.add_argument("--method", default="fisher_hmc", metavar="NAME[:METRIC]")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--csv", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    print("\n".join(f"- {line}" for line in environment()) + "\n")
    sizes = Sizes(options.chains, options.draws, options.warmup)
    rows = rows_of(options.targets, options.method, sizes, options.seed)
    print(table(list(recorded(options.csv, COLUMNS, rows))))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
